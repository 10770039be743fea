"""``python -m floodmark`` and the command ``floodmark``.

The command is imported in here, so that an interrupt meanwhile ends as any other.
"""

import sys


def main() -> None:
    """Runs the command and ends the process with one of the exit codes."""
    try:
        from floodmark.checkers.command_line.cli import main as run
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
