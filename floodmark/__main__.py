"""``python -m floodmark`` runs the command ``floodmark``."""

from floodmark.checkers.commands.cli import main

if __name__ == "__main__":
    main()
