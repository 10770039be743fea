"""Shows the progress of a number of jobs as a count."""

from __future__ import annotations

import time
from types import TracebackType

import click

from floodmark.checkers import interrupts
from floodmark.checkers.report.progress import StatusLine, time_left
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.plurals import counted


class Counting:
    """Counts on standard error, within a ``with`` block.

    If the block is interrupted, it reports the progress, and the command ends. Call ``clear`` before printing anything.
    """

    def __init__(self, total: int, what: str, where: str = "") -> None:
        self.total = total
        self.what = what
        self.where = f"{where}: " if where else ""
        self.done = 0
        self.started = time.monotonic()
        self.line = StatusLine()

    def __enter__(self) -> Counting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
        if isinstance(error, KeyboardInterrupt):
            interrupts.tell(f"interrupted: {self.where}{self._done()} ended")
            raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None

    def one(self) -> None:
        """Counts one more job."""
        self.done += 1
        if self.done < self.total:
            self.line.say(lambda: f"{self.where}{self._done()}{self._left()}")

    def clear(self) -> None:
        """Clears the line for other output."""
        self.line.clear()

    def _done(self) -> str:
        return f"{self.done:,} of {counted(self.total, self.what)}"

    def _left(self) -> str:
        left = time_left(time.monotonic() - self.started, self.done, self.total)
        return f", {left} left" if left else ""
