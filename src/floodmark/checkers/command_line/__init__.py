"""The command ``floodmark``: ``cli.py``, and the arguments, options and help of each subcommand.

``parameters.py`` has what several commands share, ``engine.py`` the option ``--engine``. Short commands share a file:
``listing.py`` has those that check nothing, ``writers.py`` those that write files, ``servers.py`` those that serve.

These modules import a command's code only when it runs, because help and completion need no engine.
"""
