"""``floodmark mcp``: the commands as tools of the Model Context Protocol, for assistants that write models.

- ``server.py``: begin here. The tools, with the ``mcp`` package, over standard input and output.
- ``confinement.py``: which files a call may name.
- ``budget.py``: a call in a process of its own, ended after its time or when it takes more than its memory.
- ``worker.py``: what that process does. ``answers.py``: its answers as data.

A tool runs the same code as the command of its name. What it adds is for a reader that is a program: the guard that
came nearest to each action that never fires, places in the sources, and everything that makes a result weak.
"""
