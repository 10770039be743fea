"""The command ``floodmark``: ``cli.py``, and the arguments, options and help of each subcommand, one file for each.

``parameters.py`` has what several commands share, ``engine.py`` the option ``--engine``, ``listing.py`` the commands
``floodmark list`` and ``floodmark show``.

These modules import a command's code only when it runs, because help and completion need no engine.
"""
