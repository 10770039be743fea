"""``python -m floodmark`` and the command ``floodmark``.

The command is imported in here, so that an interrupt meanwhile ends as any other.
"""

import sys

from floodmark.checkers.interrupts import end_command, tell

INTERRUPTED = 130


def main() -> None:
    """Runs the command and ends the process with one of the exit codes."""
    try:
        end_command(INTERRUPTED)
        from floodmark.checkers.command_line.cli import main as run

        run()
    except KeyboardInterrupt:
        tell("interrupted")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
