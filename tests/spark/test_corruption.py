"""Tests that what is changed in files, in memory or on the way of a distributed search is noticed, or changes nothing.

`python -m benchmarks.corruption` tries thousands of changes.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.corruption import (
    BEFORE_A_TASK,
    FILES,
    SHUFFLED,
    STATES_OF_A_REPORT,
    SUBJECTS,
    Corrupted,
    Outcome,
    Plan,
    Subject,
    campaign,
    drawn,
    searched,
)

QUICK = range(24)
MANY = range(len(QUICK), 600)
MEANT = {"the same", "named", "refused"}
WALK, COUNTERS = SUBJECTS[:2]


def faults(outcomes: list[Outcome]) -> list[Outcome]:
    return [one for one in outcomes if one.what not in MEANT]


@pytest.mark.slow
def test_changes_are_noticed_or_change_nothing(tmp_path: Path) -> None:
    outcomes = list(campaign(QUICK, tmp_path))
    assert faults(outcomes) == []
    assert sum(one.done != "" for one in outcomes) > len(QUICK) / 2
    assert {one.what for one in outcomes} >= {"the same", "named"}


@pytest.mark.slow
def test_many_changes_are_noticed_or_harmless(tmp_path: Path) -> None:
    assert faults(list(campaign(MANY, tmp_path))) == []


def test_every_kind_of_change_is_drawn() -> None:
    assert {drawn(random.Random(seed)).kind for seed in range(1000)} == {*FILES, *SHUFFLED, STATES_OF_A_REPORT}


@pytest.mark.parametrize("afterwards", ["stays", "is as before", "is lost"])
@pytest.mark.parametrize("moment", ["when its files are open", "before a piece is copied"])
@pytest.mark.parametrize("subject", [WALK, COUNTERS], ids=["one word", "two words"])
def test_a_state_that_is_another_when_it_is_expanded(
    subject: Subject, moment: str, afterwards: str, tmp_path: Path
) -> None:
    """At the end nothing of it is left to be seen: the word is as before, or its file was computed again."""
    plan = Plan("low bit of a state", moment, 0.5, afterwards, 9)
    machines = Corrupted(tmp_path / "changed", random.Random(1), faults=(), plan=plan)
    machines.expected = subject.moments(tmp_path)[moment]
    what, said = searched(subject, machines)
    assert machines.done and what in MEANT, said


def test_what_is_damaged_is_named(tmp_path: Path) -> None:
    """Also where a violation is found meanwhile, and the way to it is looked for in files of which one has changed."""
    said = []
    for seed in range(8):
        plan = Plan("bit of a state", BEFORE_A_TASK, 0.5 + seed / 16, "stays", 0)
        machines = Corrupted(tmp_path / str(seed), random.Random(seed), faults=(), plan=plan)
        machines.expected = WALK.moments(tmp_path)[BEFORE_A_TASK]
        what, why = searched(WALK, machines)
        assert what in MEANT, why
        said += [why] if what == "named" else []
    assert said
    assert all("states on " in why and "run again" in why for why in said)
