"""The arguments, options and help of each command, a file for each.

``parameters.py`` has what several share, ``epilog.py`` the end of every help text, ``listing.py`` the commands
``floodmark list`` and ``floodmark show``.

These modules import what they run only when they run it: help and completion need no engine.
"""
