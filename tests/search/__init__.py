"""The search in threads and in plain Python: verdicts, counts, memory, and containers that grow."""
