"""``floodmark lsp``: shows errors, violations and weaknesses at their lines in an editor (Language Server Protocol).

- ``server.py``: begin here. The server, with the package ``pygls``.
- ``diagnostics.py``: from the answers of checks to lines with messages, and descriptions of variables.

A file is checked when it is opened and when it is saved, each spec in a process of its own and within a budget, as for
assistants (``checkers/assistants/budget.py``).
"""
