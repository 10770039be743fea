"""The time limit on z3's work."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from floodmark.language.plurals import counted_seconds


@dataclass(slots=True)
class Deadline:
    """When time for queries runs out: ``seconds`` after the deadline was created, or never."""

    seconds: float | None = None
    started: float = field(default_factory=time.perf_counter)

    @property
    def taken(self) -> float:
        return time.perf_counter() - self.started

    @property
    def ended(self) -> bool:
        return self.seconds is not None and self.taken >= self.seconds

    @property
    def reason(self) -> str:
        return f"the limit of {counted_seconds(self.seconds)}"

    def limit(self, solver: Any, most: float | None = None) -> None:
        """Gives a solver the remaining time, but at most ``most`` seconds."""
        left = None if self.seconds is None else self.seconds - self.taken
        limits = [limit for limit in (left, most) if limit is not None]
        if limits:
            solver.set("timeout", max(1, int(min(limits) * 1000)))
