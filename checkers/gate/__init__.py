"""The regression gate: everything that a repository checks, in one run, held against what was found before."""
