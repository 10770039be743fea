"""The command line.

``cli.py`` is the command ``floodmark``, ``options/`` has the options and the help of each subcommand. The other files
run one subcommand each and print what came of it.
"""
