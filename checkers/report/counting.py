"""Shows how many of a number of things are done, while they are: one line in place on a terminal, else now and then."""

from __future__ import annotations

import shutil
import sys
import time
from types import TracebackType

import click

from floodmark.checkers.report.progress import LIVE_EVERY, PLAIN_EVERY
from floodmark.checkers.result import ExitCode
from floodmark.language.plurals import counted

_LEAST = 3.0
"""Seconds before anything is said of the time that is left."""


class Counting:
    """Counts on standard error, within a ``with`` block.

    If the block is interrupted, it says how far it came, and the command ends. Call ``clear`` before printing anything.
    """

    def __init__(self, total: int, what: str, where: str = "") -> None:
        self.total = total
        self.what = what
        self.where = f"{where}: " if where else ""
        self.done = 0
        self.started = self.last = time.monotonic()
        self.live = sys.stderr.isatty()
        self.visible = False

    def __enter__(self) -> Counting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
        if isinstance(error, KeyboardInterrupt):
            click.echo(f"interrupted: {self.where}{self._done()} ended", err=True)
            raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None

    def one(self) -> None:
        """One more is done."""
        self.done += 1
        now = time.monotonic()
        if self.done == self.total or now - self.last < (LIVE_EVERY if self.live else PLAIN_EVERY):
            return
        self.last = now
        line = f"{self.where}{self._done()}{self._left(now)}"
        if self.live:
            click.echo(f"\r\033[K{line[: shutil.get_terminal_size().columns - 1]}", nl=False, err=True)
            self.visible = True
        else:
            click.echo(line, err=True)

    def clear(self) -> None:
        """Erases the line in place."""
        if self.visible:
            click.echo("\r\033[K", nl=False, err=True)
            self.visible = False

    def _done(self) -> str:
        return f"{self.done:,} of {counted(self.total, self.what)}"

    def _left(self, now: float) -> str:
        taken = now - self.started
        if taken < _LEAST:
            return ""
        left = taken * (self.total - self.done) / self.done
        return f", {left:.0f} s left" if left < 90 else f", {left / 60:.0f} min left"
