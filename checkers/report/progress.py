"""Shows the progress of a search: one line updated in place on a terminal, elsewhere a plain line now and then."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Protocol

from floodmark.checkers.check import Check, variant_name
from floodmark.checkers.exploration import Progress

if TYPE_CHECKING:
    from rich.live import Live

PLAIN_EVERY = 10.0
"""Seconds between two lines without a terminal."""
LIVE_EVERY = 0.1


class Line(Protocol):
    """Shows progress. ``clear`` makes room for a result, and returns the last figures since it was last called."""

    def show(self, check: Check, at: Progress) -> None: ...

    def clear(self) -> str: ...


def progress() -> Line:
    """Progress on standard error, so that results on standard output stay clean."""
    return _Live() if sys.stderr.isatty() else _Plain()


def describe(check: Check, at: Progress) -> str:
    """``alter_isr/core: 1,204,332 states of 8,120,551 generated, level 17 of 92,105, 3.1 M states/s, 212 MB``."""
    rate = at.distinct / at.seconds if at.seconds > 0 else 0.0
    shuffled = f", {_short(at.shuffled)}B shuffled" if at.shuffled else ""
    return (
        f"{check.spec.name} {variant_name(check)}: {at.distinct:,} states of {at.generated:,} generated, "
        f"level {at.level} of {at.frontier:,}, {_short(rate)} states/s, {_short(at.memory)}B{shuffled}"
        + (f"; {at.note}" if at.note else "")
    )


def _short(number: float) -> str:
    for unit in ("", "k", "M", "G"):
        if number < 1000:
            return f"{number:.0f} {unit}" if not unit else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} T"


class _Plain:
    def __init__(self) -> None:
        self.last = time.monotonic()
        self.figures: tuple[Check, Progress] | None = None

    def show(self, check: Check, at: Progress) -> None:
        self.figures = (check, at)
        if time.monotonic() - self.last >= PLAIN_EVERY:
            self.last = time.monotonic()
            print(describe(check, at), file=sys.stderr, flush=True)

    def clear(self) -> str:
        figures, self.figures = self.figures, None
        return "" if figures is None else describe(*figures)


class _Live(_Plain):
    """The line that is updated in place. It loads rich only after a moment, so that small checks start fast."""

    def __init__(self) -> None:
        super().__init__()
        self.live: Live | None = None

    def show(self, check: Check, at: Progress) -> None:
        self.figures = (check, at)
        now = time.monotonic()
        if now - self.last < LIVE_EVERY:
            return
        self.last = now

        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        if self.live is None:
            self.live = Live(console=Console(stderr=True), transient=True, auto_refresh=False)
            self.live.start()
        self.live.update(Text(describe(check, at), no_wrap=True, overflow="ellipsis"), refresh=True)

    def clear(self) -> str:
        if self.live is not None:
            self.live.stop()
            self.live = None
        return super().clear()
