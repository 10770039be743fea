"""The arguments, options and help of each command, one file per command.

``parameters.py`` has what several commands share, ``engine.py`` the option ``--engine``, ``epilog.py`` the end of every
help text, ``listing.py`` the commands ``floodmark list`` and ``floodmark show``.

These modules import what they run only when they run it, because help and completion need no engine.
"""
