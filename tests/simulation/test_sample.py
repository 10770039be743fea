"""Tests the sample of visited states and its estimates against the walks themselves, taken one by one."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import pytest

from floodmark.checkers.kernel.loops import SEED_1
from floodmark.checkers.search_result import Estimate
from floodmark.checkers.simulation import sample, walker
from floodmark.checkers.simulation.compiled_walks import build_walk_code
from floodmark.checkers.simulation.sample import DEVIATIONS, MORE, Sample
from floodmark.checkers.simulation.walk_loops import TAG_BITS
from floodmark.checkers.simulation.walker import GROUP, Walker, WalkPlan, WalkStrategy
from floodmark.compiler.layout import fingerprint
from floodmark.language.reference import initial_states
from tests.simulation.test_walks import Ring, walked

MODEL = Ring(nodes=4)
WALKS, STEPS, SEED = 150, 40, 3


def a_walker(strategy: WalkStrategy = WalkStrategy.ACTIONS, seed: int = SEED) -> Walker:
    code = build_walk_code(MODEL, {}, good=False)
    begin = [code.interface.layout.pack(state) for _, state in initial_states(MODEL)]
    return Walker(code, begin, WalkPlan(WALKS, STEPS, seed, strategy), 0, False)


def walks_of_each_state(strategy: WalkStrategy = WalkStrategy.ACTIONS) -> dict[int, set[int]]:
    """The numbers of the walks that visit a state, by the part of its fingerprint that a sample has."""
    found: dict[int, set[int]] = defaultdict(set)
    for number, rows in enumerate(a_walker(strategy).paths(WALKS)):
        for row in rows.tolist():
            found[fingerprint(row, SEED_1) >> TAG_BITS].add(number)
    return found


def taken(first: int, last: int) -> Sample:
    """The sample of some walks."""
    mine = a_walker()
    mine.take(first, last, lambda: False)
    return mine.sample()


def require_counts(found: Sample, walks: dict[int, set[int]]) -> None:
    assert found.fingerprints.tolist() == sorted(walks)
    assert found.times.tolist() == [min(len(walks[each]), MORE) for each in sorted(walks)]
    alone = found.times == 1
    assert found.walks[alone].tolist() == [min(walks[each]) for each in found.fingerprints[alone].tolist()]


def test_a_sample_says_how_many_walks_visited_each_state() -> None:
    walks = walks_of_each_state()
    assert {1, 2, 3} <= {min(len(each), 3) for each in walks.values()}
    require_counts(taken(0, WALKS), walks)


def test_samples_of_several_workers_are_that_of_one() -> None:
    parts = [taken(0, 50), taken(50, 64), taken(64, WALKS)]
    require_counts(Sample.union(parts), walks_of_each_state())


def test_paths_are_the_walks_that_are_taken_in_groups() -> None:
    for strategy in WalkStrategy:
        together, alone = a_walker(strategy), a_walker(strategy)
        for first in range(0, WALKS, GROUP):
            together.take(first, min(first + GROUP, WALKS), lambda: False)
        assert sum(len(rows) for rows in alone.paths(WALKS)) == together.visits
        assert alone.sample().fingerprints.tolist() == together.sample().fingerprints.tolist()


def test_new_states_are_estimated_from_the_states_that_one_walk_alone_visited() -> None:
    walks = walks_of_each_state()
    alone = Counter(min(each) for each in walks.values() if len(each) == 1)
    pairs = sum(len(each) == 2 for each in walks.values())
    estimate = taken(0, WALKS).new_states(WALKS)
    assert estimate is not None
    assert estimate.mean == pytest.approx(alone.total() / WALKS)
    squares = sum((alone[walk] - estimate.mean) ** 2 for walk in range(WALKS))
    deviation = math.sqrt(squares * (1 + 2 * pairs / alone.total())) / WALKS
    assert estimate.high - estimate.mean == pytest.approx(DEVIATIONS * deviation)
    assert estimate.low == pytest.approx(max(estimate.mean - DEVIATIONS * deviation, 0))


def test_intervals_contain_the_truth_where_it_is_known() -> None:
    others = a_walker(seed=SEED + 1)
    further = [{tuple(row) for row in rows.tolist()} for rows in others.paths(1000)]
    right = 0
    for seed in range(20):
        mine = a_walker(seed=100 + seed)
        seen = {tuple(row) for rows in mine.paths(100) for row in rows.tolist()}
        truth = sum(len(each - seen) for each in further) / len(further)
        estimate = mine.sample().new_states(100)
        assert estimate is not None
        right += estimate.low <= truth <= estimate.high
    assert right >= 17  # 19 are expected


def test_a_small_sample_has_an_interval_around_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = taken(0, WALKS)
    monkeypatch.setattr(walker, "SAMPLE_CELLS", 128)
    monkeypatch.setattr(sample, "MAX_SAMPLE", 64)
    small = taken(0, WALKS)
    assert small.level > 1
    assert exact.distinct() == Estimate(*[len(exact.fingerprints)] * 3)
    assert small.distinct().low <= exact.distinct().mean <= small.distinct().high
    kept = exact.at(small.level)
    assert kept.fingerprints.tolist() == small.fingerprints.tolist()
    assert (kept.times.tolist(), kept.walks.tolist()) == (small.times.tolist(), small.walks.tolist())


def test_walks_say_so_where_nothing_can_be_said_of_new_states() -> None:
    few = walked(MODEL, walks=3)
    assert few.walked is not None and few.walked.new_states is None
    dependent = walked(MODEL, WalkStrategy.NOVEL, walks=200, steps=30)
    assert dependent.walked is not None and dependent.walked.new_states is None
    some = walked(MODEL, walks=200, steps=30)
    assert some.walked is not None and some.walked.new_states is not None
    assert any(note.startswith("a further walk visits about") for note in some.notes)
    said = "nothing can be said of the states that a further walk would add: "
    assert [note.removeprefix(said) for it in (few, dependent) for note in it.notes if note.startswith(said)] == [
        "fewer than 30 walks visited a state that no other walk visited",
        "walks for novel states depend on each other",
    ]
