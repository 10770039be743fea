"""Shows the progress of a search: one line updated in place on a terminal, elsewhere a plain line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from floodmark.checkers.search_result import ClusterProgress, Progress
from floodmark.checkers.verdict.check import Check, variant_name
from floodmark.language.plurals import counted

if TYPE_CHECKING:
    from rich.live import Live

PLAIN_EVERY = 10.0
"""Seconds between two lines without a terminal."""
LIVE_EVERY = 0.1


class StatusLine:
    """A line on standard error, so that results on standard output stay clean: updated in place on a terminal,
    elsewhere a new one now and then. Rich is loaded with the first line on a terminal, so that small checks start fast.
    """

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._live: Live | None = None

    def say(self, text: Callable[[], str], at_once: bool = False) -> None:
        """Shows a text, unless something has just been shown."""
        now = time.monotonic()
        if not at_once and now - self._last < (LIVE_EVERY if self._terminal else PLAIN_EVERY):
            return
        self._last = now
        if not self._terminal:
            print(text(), file=sys.stderr, flush=True)
            return

        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        if self._live is None:
            self._live = Live(console=Console(stderr=True), transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(Text(text(), no_wrap=True, overflow="ellipsis"), refresh=True)

    def clear(self) -> None:
        """Makes room for what is printed next."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class SearchProgress:
    """Says how far a search is. ``total`` is how many states it will find in all, if that is known."""

    def __init__(self, total: Callable[[Check], int | None]) -> None:
        self.line = StatusLine()
        self.total = total
        self.figures: tuple[Check, Progress] | None = None

    def show(self, check: Check, at: Progress) -> None:
        self.figures = (check, at)
        self.line.say(lambda: describe(check, at, self.total(check)), at_once=at.level == 0)

    def clear(self) -> str:
        """Makes room for a result, and returns the last figures since it was last called."""
        self.line.clear()
        figures, self.figures = self.figures, None
        return "" if figures is None or figures[1].level == 0 else describe(*figures)


def describe(check: Check, at: Progress, total: int | None = None) -> str:
    """The progress of a search, the most important first, as a terminal cuts what does not fit.

    ``alter_isr/core AlterIsr: 42 %, 3 min left, 1,204,332 states, 3.1 M/s, level 17 of 92,105, 212 MB, ...``
    """
    name = f"{check.spec.name} {variant_name(check)}"
    if at.level == 0:
        return f"{name}: {at.note}"
    new = at.distinct - at.resumed
    rate = new / at.seconds if at.seconds > 0 else 0.0
    share = f"{100 * at.distinct // total} %, " if total and at.distinct <= total else ""
    left = time_left(at.seconds, new, (total or 0) - at.resumed)
    shuffled = f", {_short(at.shuffled)}B shuffled" if at.shuffled else ""
    tasks = "" if at.cluster is None else _of_cluster(at.cluster)
    return (
        f"{name}: {share}{f'{left} left, ' if left else ''}{counted(at.distinct, 'state')}, {_short(rate)}/s, "
        f"level {at.level} of {at.frontier:,}{tasks}, {_short(at.memory)}B, {at.generated:,} generated{shuffled}"
        + (f"; {at.note}" if at.note else "")
    )


def _of_cluster(at: ClusterProgress) -> str:
    """``, 13 of 32 tasks, largest of 32 at 1.1 of the mean, slowest at 1.4, 12.3 GB on 4 disks, ...``"""
    tasks = f", {at.done} of {counted(at.tasks, 'task')}" if at.tasks else ""
    failed = f", {at.failed} failed" if at.failed else ""
    skew = f", largest of {at.partitions} at {at.largest:.1f} of the mean, slowest at {at.slowest:.1f}"
    if not at.disks:
        return tasks + failed + skew
    used = _short(sum(disk.used for disk in at.disks.values()))
    name, least = min(at.disks.items(), key=lambda item: item[1].free)
    disks = f"{used}B on {counted(len(at.disks), 'disk')}, of which {name} has {_short(least.free)}B free"
    return f"{tasks}{failed}{skew}, {disks}"


def time_left(seconds: float, done: float, total: float) -> str:
    """The remaining time, extrapolated from ``seconds`` so far; empty while the estimate would be too vague."""
    left = seconds_left(seconds, done, total)
    if left is None:
        return ""
    if left < 90:
        return f"{left:.0f} s"
    return f"{left / 60:.0f} min" if left < 5400 else f"{left / 3600:.1f} h"


def seconds_left(seconds: float, done: float, total: float) -> float | None:
    """The remaining seconds, extrapolated from those so far; None while the estimate would be too vague."""
    if seconds < _MIN_SECONDS or done <= 0 or done > total or done < _MIN_PART * total:
        return None
    return seconds * (total - done) / done


_MIN_SECONDS, _MIN_PART = 2.0, 0.02
"""The least seconds, and share of the whole, after which the remaining time is estimated."""


def _short(number: float) -> str:
    for unit in ("", "k", "M", "G"):
        if number < 1000:
            return f"{number:.0f} {unit}" if not unit else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} T"
