"""Tests that deleting a guard changes what the gate compares with the lock: a verdict, a figure, or only a hash.

That the lock has a hash of every guard's source is tested with the lock.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path

import pytest

from floodmark.checkers.mutation.change import DROPPED
from floodmark.checkers.mutation.mutant import Mutant, mutants
from floodmark.checkers.project.spec import Spec, read
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import Check, CheckSettings

SPECS = Path(__file__).parents[2] / "specs"
CORE_BY_HASH_ALONE = [
    "leader_appends: - require(self.leading)",
    "leader_appends: - require(len(self.isr) >= self.min_insync_replicas)",
    "follower_fetches: - require(follower != self.leader)",
    "leader_advances_high_watermark: - require(self.leading)",
    "leader_advances_high_watermark: - require(self.may_advance())",
    "leader_proposes_shrink: - require(self.leading)",
    "controller_fences_last_replica: - require(self.controller.leader == self.leader)",
    "controller_fences_last_replica: - require(self.controller.leader_epoch < self.max_leader_epoch)",
    "controller_elects: - require(self.controller.leader == self.leader)",
    "controller_elects: - require(self.controller.leader_epoch < self.max_leader_epoch)",
]
"""Guards that another one, or the size of the spec, implies. A broker that does not lead has an empty ISR, one epoch
needs one election, and the bounds of ``min_insync_replicas`` are those of alter_isr/min_isr."""


@dataclass(frozen=True)
class Figures:
    """What the lock says of a search."""

    verdict: str
    property: str | None
    distinct: int
    generated: int
    depth: int
    digest: str
    actions: dict[str, int]


def figures(spec: Spec, most: int | None = None) -> Figures | None:
    """The figures of the spec's model, None when it is no model; those of a search that grows too large are partial."""
    limits = Limits() if most is None else Limits(states=most)
    result = run_check(Check(spec, None, CheckSettings(engine="native", workers=1, limits=limits)))
    found = result.search_result
    if found is None:
        return None
    assert result.verdict != "error" or result.violation is not None
    return Figures(result.verdict, result.property, found.distinct, found.generated, found.depth, found.digest,
                   found.actions)


def guards(spec: Spec) -> list[Mutant]:
    """A mutant for each guard of the model, and for each part of one, that lacks it."""
    return [each for each in mutants(spec.model_class()) if each.kind == "guard" and each.change.endswith(DROPPED)]


def unnoticed(spec: Spec) -> list[str]:
    """The guards whose absence changes no figure."""
    before = figures(spec)
    assert before is not None and before.verdict == "holds"
    found = []
    for mutant in guards(spec):
        with mutant.planted():
            after = figures(spec, before.distinct + 1)
        if after is not None and astuple(after) == astuple(before):
            found.append(mutant.change.partition(".")[2].partition("  +")[0])
    return found


@pytest.mark.parametrize("name", ["two_phase_commit", "philosophers"])
def test_every_guard_of_an_example_changes_a_figure(name: str) -> None:
    spec = read(SPECS / "examples" / f"{name}.toml")
    assert guards(spec)
    assert unnoticed(spec) == []


@pytest.mark.slow
def test_guards_of_a_real_model_change_a_figure() -> None:
    assert unnoticed(read(SPECS / "alter_isr/core.toml")) == CORE_BY_HASH_ALONE
