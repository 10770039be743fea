"""Tests searches on a disturbed cluster: kill -9, files that vanish, stages that run again, speculation.

`python -m benchmarks.losses` runs any number of the same schedules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from benchmarks import losses
from benchmarks.losses import END, PAGE, START, Outcome, differs, harmed, lines, page, schedule
from benchmarks.standalone import Standalone

QUICK = (0, 1)
MANY = range(2, 300)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with harmed(tmp_path_factory.mktemp("harmed")) as known:
        yield known


@pytest.mark.parametrize("seed", QUICK)
def test_what_happens_changes_nothing(cluster: Standalone, seed: int) -> None:
    outcome = schedule(cluster, seed)
    assert outcome.differs == "", outcome
    assert outcome.done


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_many_schedules(cluster: Standalone, seed: int) -> None:
    assert schedule(cluster, seed).differs == ""


def test_a_difference_is_told() -> None:
    assert differs({"depth": 3}, {"depth": 4, "digest": "a"}) == "depth: 3, not 4; digest: None, not a"
    assert differs({"depth": 3, "more": 1}, {"depth": 3}) == ""


def test_the_figures_of_many() -> None:
    outcomes = [
        Outcome(0, Counter({"executor killed": 2}), repaired=3, slower=2.0),
        Outcome(1, Counter({"executor killed": 1, "driver killed": 1}), slower=4.5, differs="depth: 3, not 4"),
    ]
    said = list(lines(outcomes))
    assert said[0] == "2 schedules, 4 losses, 3 repairs. Results equal to the native search's: 1; different: 1."
    assert "| executor killed | 3 | 2 |" in said
    assert "took 2.0 times as long" in said[-1]


def test_the_page_has_a_place_for_them() -> None:
    text = PAGE.read_text()
    assert page(text, text.split(START)[1].split(END)[0].strip().splitlines()) == text
    assert losses.PATIENCE < 600
