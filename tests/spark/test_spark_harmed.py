"""Tests searches on a disturbed cluster: kill -9, files that vanish, stages that run again, speculation.

`python -m benchmarks.losses` runs any number of the same schedules.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import losses
from benchmarks.harm import SET_ASIDE, WEIGHTS, drawn
from benchmarks.losses import END, PAGE, START, Outcome, Rig, differs, harmed, keep, lines, page, read, schedules

MANY = range(24, 400, 20)


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with harmed(tmp_path_factory.mktemp("harmed")) as known:
        yield known


@pytest.mark.slow
def test_every_kind_of_loss_changes_nothing(rig: Rig) -> None:
    outcomes = list(schedules(rig, range(MANY.start)))
    assert [one for one in outcomes if one.differs] == []
    happened: Counter[str] = sum((one.done for one in outcomes), Counter())
    assert set(happened) == {*WEIGHTS, SET_ASIDE, "driver killed"}
    assert happened.total() > 2 * len(outcomes)
    assert sum(one.repaired > 0 for one in outcomes) > len(outcomes) / 4


@pytest.mark.slow
@pytest.mark.parametrize("first", MANY)
def test_results_are_equal_under_many_schedules_of_losses(rig: Rig, first: int) -> None:
    assert [one for one in schedules(rig, range(first, first + MANY.step)) if one.differs] == []


def test_losses_are_drawn_within_the_search() -> None:
    for seed in range(100):
        found = drawn(random.Random(seed), 4, 20)
        assert len(found) >= 4
        assert all(2 <= loss.job <= 20 + 3 * 3 + 4 and 0 <= loss.part < 1 for loss in found)
        assert [loss.job for loss in found] == sorted(loss.job for loss in found)


def test_a_difference_is_told() -> None:
    assert differs({"depth": 3}, {"depth": 4, "digest": "a"}) == "depth: 3, not 4; digest: None, not a"
    assert differs({"depth": 3, "more": 1}, {"depth": 3}) == ""


def test_the_figures_of_many_outcomes_are_summed() -> None:
    outcomes = [
        Outcome(0, Counter({"executor killed": 2}), repaired=3, slower=2.0),
        Outcome(1, Counter({"executor killed": 1, "driver killed": 1}), slower=4.5, differs="depth: 3, not 4"),
    ]
    said = list(lines(outcomes))
    assert said[0] == "2 schedules, 4 losses, 3 repairs. Results equal to the native search's: 1; different: 1."
    assert "| executor killed | 3 | 2 |" in said
    assert "took 2.0 times as long" in said[-1]


def test_outcomes_are_stored_and_read_again(tmp_path: Path) -> None:
    known = {seed: Outcome(seed, Counter({"executor killed": seed}), repaired=3, slower=2.0) for seed in (4, 7)}
    for one in known.values():
        keep(one, tmp_path / "kept")
    assert read(tmp_path / "kept") == known


def test_the_page_has_a_place_for_them() -> None:
    text = PAGE.read_text()
    assert page(text, text.split(START)[1].split(END)[0].strip().splitlines()) == text
    assert losses.PATIENCE < 600
