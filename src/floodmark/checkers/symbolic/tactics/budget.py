"""The limits on z3's work: the user's limit in seconds, and effort in z3's own units.

Units are the same on a busy machine as on an idle one, so every limit that the user did not set is in units: the load
of a machine must not decide what is proved.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from floodmark.checkers.search_result import Limit, Stop

MAX_EFFORT = 150_000_000
"""z3's resource limit for a model at given constants: some 20 seconds without quantifiers."""


@dataclass(slots=True)
class Deadline:
    """The end of z3's work: ``seconds`` after the deadline was created, or after ``effort`` units; or never."""

    seconds: float | None = None
    effort: int | None = None
    spent: int = 0
    started: float = field(default_factory=time.perf_counter)

    @property
    def seconds_used(self) -> float:
        return time.perf_counter() - self.started

    @property
    def left(self) -> float | None:
        """The remaining seconds; None without a limit."""
        return None if self.seconds is None else max(0.0, self.seconds - self.seconds_used)

    @property
    def ended(self) -> bool:
        return self._is_late or (self.effort is not None and self.spent >= self.effort)

    @property
    def reason(self) -> Stop:
        """The limit that stopped z3."""
        if self._is_late or self.effort is None:
            assert self.seconds is not None
            return Stop(Limit.SECONDS, self.seconds)
        return Stop(Limit.EFFORT, self.effort)

    @property
    def _is_late(self) -> bool:
        return self.seconds is not None and self.seconds_used >= self.seconds

    def check(self, solver: Any, *assumed: Any, most: int | None = None) -> Any:
        """A solver's answer within the rest of the budget, and at most ``most`` units."""
        if self.left is not None:
            solver.set("timeout", max(1, int(self.left * 1000)))
        units = [it for it in (None if self.effort is None else self.effort - self.spent, most) if it is not None]
        if units:
            solver.set("rlimit", max(1, min(units)))
        before = 0 if self.effort is None else _units(solver)
        found = solver.check(*assumed)
        if self.effort is not None:
            self.spent += (_units(solver) - before) % _COUNTED
        return found


def gave_up(solver: Any) -> Stop:
    """A stop because z3 gave up by itself."""
    return Stop(Limit.SOLVER, detail=f"z3's answer {solver.reason_unknown()!r}")


_COUNTED = 1 << 32
"""z3's counter of units wraps around at this value."""


def _units(solver: Any) -> int:
    """The number of units that z3 has used so far in this process; unknown before its first query."""
    counters = {name: value for name, value in solver.statistics() if name == "rlimit count"}
    return int(counters.get("rlimit count", 0))
