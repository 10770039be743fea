"""The command line.

``cli.py`` is the command ``floodmark``; ``options/`` has the options and help of each subcommand. The other files each
run one subcommand and print its results.
"""
