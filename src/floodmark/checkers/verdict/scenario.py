"""The outcome of a scenario of a spec."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """What became of a scenario, which begins at ``line`` of its spec. ``taken`` is how many of its steps are possible;
    ``problem`` says what is not as it must be, and is empty if all is."""

    name: str
    line: int | None
    taken: int
    problem: str = ""
