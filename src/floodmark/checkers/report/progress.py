"""Shows the progress of a search, of a proof, or of jobs: one line updated in place on a terminal, elsewhere a
plain line now and then. Random walks have a table below their line on a terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

import click

from floodmark.checkers import interrupts
from floodmark.checkers.search_result import ClusterProgress, Progress, Proportion, WalkProgress
from floodmark.checkers.verdict.check import Check, variant_name
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.plurals import counted

if TYPE_CHECKING:
    from rich.live import Live

    from floodmark.checkers.symbolic.methods.induction import InductionProgress


PLAIN_EVERY = 10.0
"""Seconds between two lines without a terminal."""
LIVE_EVERY = 0.1


class ProgressRow(NamedTuple):
    """A row of the table: a kind of items, the share that was taken, and the items that were not."""

    what: str
    share: str
    missing: str


class StatusLine:
    """A line on standard error, so that standard output has only results. A terminal updates it in place; other outputs
    get a new line now and then. Rich is loaded with the first line on a terminal, so that small checks start fast."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self.is_on_terminal = sys.stderr.isatty()
        self._live: Live | None = None

    def say(
        self, text: Callable[[], str], at_once: bool = False, rows: Callable[[], Sequence[ProgressRow]] = tuple
    ) -> None:
        """Shows a text, unless another was shown a moment ago; a terminal also shows the rows of a table below it."""
        now = time.monotonic()
        if not at_once and now - self._last < (LIVE_EVERY if self.is_on_terminal else PLAIN_EVERY):
            return
        self._last = now
        if not self.is_on_terminal:
            print(text(), file=sys.stderr, flush=True)
            return

        from rich.console import Console, Group
        from rich.live import Live
        from rich.table import Table
        from rich.text import Text

        if self._live is None:
            self._live = Live(console=Console(stderr=True), transient=True, auto_refresh=False)
            self._live.start()
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        for what, share, missing in rows():
            table.add_row(what, share, Text(missing, no_wrap=True, overflow="ellipsis"))
        self._live.update(Group(Text(text(), no_wrap=True, overflow="ellipsis"), table), refresh=True)

    def clear(self) -> None:
        """Clears the line for other output."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()


class SearchProgress:
    """Shows the progress of a search. ``total`` is the number of states that it will find, if known."""

    def __init__(self, total: Callable[[Check], int | None]) -> None:
        self.line = StatusLine()
        self.total = total
        self.figures: tuple[Check, Progress] | None = None

    def show(self, check: Check, at: Progress) -> None:
        self.figures = (check, at)
        walked = at.walked
        if walked is None:
            self.line.say(lambda: describe(check, at, self.total(check)), at_once=at.level == 0)
        elif self.line.is_on_terminal:
            self.line.say(lambda: _heading(check, at, walked), rows=lambda: walk_rows(walked))
        else:
            self.line.say(lambda: describe(check, at))

    def clear(self) -> str:
        """Makes room for a result, and returns the last figures since it was last called."""
        self.line.clear()
        figures, self.figures = self.figures, None
        return "" if figures is None or (figures[1].level == 0 and figures[1].walked is None) else describe(*figures)


def describe(check: Check, at: Progress, total: int | None = None) -> str:
    """The progress of a search, the most important first, as a terminal cuts what does not fit.

    ``alter_isr/core AlterIsr: 42 %, 3 min left, 1,204,332 states, 3.1 M/s, level 17 of 92,105, 212 MB, ...``
    """
    name = _name(check)
    if at.walked is not None:
        shares = (f"{row.what} {row.share}{f' ({row.missing})' if row.missing else ''}" for row in walk_rows(at.walked))
        return ", ".join((_heading(check, at, at.walked), *shares))
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


def _name(check: Check) -> str:
    return f"{check.spec.name} {variant_name(check)}"


def _heading(check: Check, at: Progress, walked: WalkProgress) -> str:
    """``kraft/quorum Kraft: 12,800 of 100,000 walks, 2.9 M steps/s, at most 100 steps``"""
    rate = at.generated / at.seconds if at.seconds > 0 else 0.0
    walks = walked.walks
    return (
        f"{_name(check)}: {walks.taken:,} of {counted(walks.of, 'walk')}, {_short(rate)} steps/s, "
        f"at most {counted(walked.longest, 'step')}"
    )


def walk_rows(at: WalkProgress) -> list[ProgressRow]:
    """The coverage of walks so far: actions, kinds of their arguments, goals, and the lines, branches, guards and
    values of the source."""
    idle = [name for name, steps in at.actions.items() if not steps]
    missed = [name for name, reached in at.goals.items() if not reached]
    rows = [_row("actions", Proportion(len(at.actions) - len(idle), len(at.actions)), "never", idle)]
    if at.goals:
        rows.append(_row("goals", Proportion(len(at.goals) - len(missed), len(at.goals)), "not reached", missed))
    if at.arguments:
        every = Proportion(sum(it.taken for it in at.arguments.values()), sum(it.of for it in at.arguments.values()))
        fewest = sorted(at.arguments.items(), key=lambda item: item[1].taken / item[1].of)
        short = [f"{name} {it.taken} of {it.of}" for name, it in fewest if it.taken < it.of]
        rows.append(_row("arguments", every, "fewest", short))
    return rows + [_row(_WHAT.get(name, name), share, "", ()) for name, share in at.covered.items()]


def _row(what: str, share: Proportion, text: str, missing: Sequence[str]) -> ProgressRow:
    more = f" and {len(missing) - _MAX_NAMES} more" if len(missing) > _MAX_NAMES else ""
    names = f"{text}: {', '.join(missing[:_MAX_NAMES])}{more}" if missing else ""
    return ProgressRow(what, f"{share.taken:,} of {share.of:,}", names)


_WHAT = {"guards": "guards that refuse"}
_MAX_NAMES = 3
"""The maximum number of names in a row; beyond it, only their number is shown."""


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


class CountingLine(StatusLine):
    """Counts on standard error, within a ``with`` block.

    If the block is interrupted, it reports the progress, and the command ends. Call ``clear`` before printing anything.
    """

    def __init__(self, total: int, what: str, where: str = "") -> None:
        super().__init__()
        self.total = total
        self.what = what
        self.where = f"{where}: " if where else ""
        self.done = 0
        self.started = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if isinstance(error, KeyboardInterrupt):
            interrupts.tell(f"interrupted: {self.where}{self._done()} ended")
            raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None

    def one(self) -> None:
        """Counts one more job."""
        self.done += 1
        if self.done < self.total:
            self.say(lambda: f"{self.where}{self._done()}{self._left()}")

    def _done(self) -> str:
        return f"{self.done:,} of {counted(self.total, self.what)}"

    def _left(self) -> str:
        left = time_left(time.monotonic() - self.started, self.done, self.total)
        return f", {left} left" if left else ""


class ProofProgress(StatusLine):
    """Shows on standard error, within a ``with`` block, the current obligation, how many remain, and which are open."""

    def show(self, at: InductionProgress) -> None:
        """Shows the progress of a proof, unless it has just been shown."""
        self.say(lambda: described(at))


def described(at: InductionProgress) -> str:
    """The progress of a proof: how many obligations remain, the current one, and the open ones."""
    action, name = at.current
    left = f"{at.total - at.done:,} left of {counted(at.total, 'obligation')}"
    text = f"{left}, asking whether {action} preserves {name}"
    if at.open:
        shown = ", ".join(f"{action} preserves {name}" for action, name in at.open[:3])
        text += f"; {len(at.open)} open: {shown}" + (", ..." if len(at.open) > 3 else "")
    return text
