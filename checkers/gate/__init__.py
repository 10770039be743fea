"""The regression gate: checks everything in a repository in one run and compares the results with the lock."""
