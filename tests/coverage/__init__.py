"""Coverage by source line: compiled counts against CPython's, and what reports say of them."""
