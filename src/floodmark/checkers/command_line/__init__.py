"""The command ``floodmark``: ``cli.py``, and the arguments, options and help of each subcommand, one file for each.

``parameters.py`` has what several commands share, ``engine.py`` the option ``--engine``, ``listing.py`` the commands
``floodmark list`` and ``floodmark show``.

These modules import what they run only when they run it, because help and completion need no engine.
"""
