"""The outcome of a scenario of a spec."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """The outcome of a scenario, which begins at ``line`` of its spec. ``taken`` is the number of its steps that are
    enabled; ``problem`` describes the failure, and is empty without one."""

    name: str
    line: int | None
    taken: int
    problem: str = ""
