"""``python -m checkers`` is the command ``floodmark``."""

from checkers.cli import main

main()
