"""The places in the source that coverage counts, for all actions and properties together, and the covered share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from floodmark.checkers.search_result import Coverage, CoverageCount, Proportion

BRANCHES = ("if", "choice", "and", "or", "condition", "premise")
REFUSALS = ("guard", "require")
ACTION = "action "
"""The prefix of the part of an action."""


@dataclass(frozen=True, slots=True)
class OutcomeCoverage:
    """A place in the source with one of its outcomes: the counts of all actions, and of all properties."""

    kind: str
    file: str
    line: int
    column: int
    outcome: bool | None
    text: str
    steps: int
    evaluations: int
    in_actions: bool

    @property
    def taken(self) -> bool:
        return bool(self.steps or self.evaluations)

    @property
    def is_branch(self) -> bool:
        """Whether it is a branch whose missing outcome is informative. A property that holds is never false, so the
        conditions that would make it false are not."""
        if self.kind not in BRANCHES:
            return False
        return self.in_actions or self.kind in ("if", "choice") or (
            self.kind in ("premise", "condition") and self.outcome is True
        )


def places(coverage: Coverage) -> list[OutcomeCoverage]:
    """The lines and conditions of all actions and properties together, in the order of the source."""
    together: dict[tuple[str, str, int, int, bool | None, str], list[CoverageCount]] = {}
    for it in coverage.counts:
        if it.kind not in ("argument", "value"):
            together.setdefault((it.kind, it.file, it.line, it.column, it.outcome, it.text), []).append(it)
    found = []
    for key, counts in together.items():
        of_actions = [it for it in counts if it.part.startswith(ACTION)]
        steps = sum(it.count for it in of_actions)
        evaluations = sum(it.count for it in counts if not it.part.startswith(ACTION))
        found.append(OutcomeCoverage(*key, steps, evaluations, bool(of_actions)))
    return sorted(found, key=lambda it: (it.file, it.line, it.column, it.kind, it.outcome is not True))


def shares(coverage: Coverage) -> dict[str, Proportion]:
    """The covered shares of lines, branches and values, and of guards that disabled a step."""
    every = places(coverage)
    return {
        "lines": _share([it.taken for it in every if it.kind == "line"]),
        "branches": _share([it.taken for it in every if it.is_branch]),
        "guards": _share([it.taken for it in every if it.kind in REFUSALS]),
        "values": _share([it.count > 0 for it in coverage.counts if it.kind == "value"]),
    }


def arguments(coverage: Coverage) -> dict[str, Proportion]:
    """For each action, the share of the kinds of arguments that its steps had."""
    found: dict[str, list[bool]] = {}
    for it in coverage.counts:
        if it.kind == "argument":
            found.setdefault(it.part.removeprefix(ACTION), []).append(it.count > 0)
    return {name: _share(taken) for name, taken in found.items()}


def _share(taken: Sequence[bool]) -> Proportion:
    return Proportion(sum(taken), len(taken))
