"""The protocols' pure functions far beyond what a search can hold: dozens of brokers, logs of thousands of records."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from floodmark import Seq, Set
from floodmark.language.reference import initial_states
from floodmark.language.values import running
from model.kraft.quorum import Kraft, Replica
from model.reassignment.kip455 import Assignment as Reassigned
from model.reassignment.kip455 import Kip455Reassignment, is_under_way, origin_of, reassigned, target_of
from model.reassignment.replicas import Broker, Partition
from model.replica_log import diverges, end_offset_for_epoch, epoch_up_to, truncation_offset
from model.replica_sets import followed_by, is_consistent, origin, target, without
from model.under_replicated.metric import Assignment, MiddleDraft, ShippedMetric, UnderReplicated, told, understood
from model.under_replicated.metric import Broker as Reported
from specs.claims.kip_236 import Broker as Dropping
from specs.claims.kip_236 import dropped_excluding, dropped_including, existing
from specs.claims.kip_497 import high_watermark
from specs.claims.kip_595 import BACKOFF_MAX_MS, delay, majority

BROKERS = 48


def seq(*numbers: int, of: type[Any] = Broker) -> Any:
    return Seq(of(number) for number in numbers)


def some(*numbers: int, of: type[Any] = Broker) -> Any:
    return Set(of(number) for number in numbers)


# Logs: runs of epochs, given by their lengths, so that long ones are cheap to draw.

RUNS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 400)), max_size=12)


def log_of(runs: list[tuple[int, int]]) -> Seq[int]:
    return Seq(epoch for epoch, length in sorted(runs) for _ in range(length))


def follower_of(leader: Seq[int], common: int, runs: list[tuple[int, int]]) -> Seq[int]:
    """A log that parts from the leader's at offset ``common``."""
    kept = leader[:common]
    last = kept[-1] if kept else 1
    return Seq([*kept, *(epoch for epoch in log_of(runs) if epoch >= last)])


def common_prefix(first: Seq[int], second: Seq[int]) -> int:
    both = zip(first, second, strict=False)
    return next((offset for offset, (a, b) in enumerate(both) if a != b), min(len(first), len(second)))


@pytest.mark.slow
@given(RUNS, st.integers(0, 61))
def test_end_offset_is_where_a_later_epoch_starts(runs: list[tuple[int, int]], epoch: int) -> None:
    log = log_of(runs)
    starts = [(first, sum(1 for other in log if other < first)) for first, _ in groupby(log)]
    later = [start for first, start in starts if first > epoch]
    assert end_offset_for_epoch(log, epoch) == min(later, default=len(log))
    known = [first for first, _ in starts if first <= epoch]
    assert epoch_up_to(log, epoch) == max(known, default=epoch)


@given(RUNS, st.integers(0, 2000), RUNS)
def test_truncation_ends_at_most_one_round_for_each_epoch(
    leader_runs: list[tuple[int, int]], common: int, runs: list[tuple[int, int]]
) -> None:
    leader = log_of(leader_runs)
    log = follower_of(leader, common, runs)
    shared = common_prefix(leader, log)
    rounds = 0
    while diverges(leader, log):
        cut = truncation_offset(leader, log)
        assert shared <= cut < len(log)
        log = log[:cut]
        rounds += 1
    assert rounds <= len(set(leader) | {epoch for epoch, _ in runs}) + 1
    if log and len(log) > 0:
        assert epoch_up_to(leader, log[-1]) == log[-1]
        assert len(log) <= end_offset_for_epoch(leader, log[-1])


@given(RUNS, st.integers(0, 2000))
def test_a_prefix_of_the_leaders_log_never_diverges(runs: list[tuple[int, int]], end: int) -> None:
    leader = log_of(runs)
    assert not diverges(leader, leader[:end])
    assert truncation_offset(leader, leader[:end]) == len(leader[:end])


# The quorum.

OFFSETS = st.lists(st.integers(0, 10**12), min_size=1, max_size=35)


class Quorum(Kraft):
    """A quorum whose leader knows of these end offsets."""

    def end_offset(self, leader: Replica, replica: Replica) -> int:
        return KNOWN[replica.number - 1]


KNOWN: list[int] = []


def majority_offset(offsets: list[int]) -> int:
    """What the model commits at most when its leader knows of these end offsets, one for each voter."""
    KNOWN[:] = offsets
    model = Quorum(voters=len(offsets))
    with running(model):
        model.current_voters = Set(Replica)
        return model.majority_offset(Replica(1))


@given(OFFSETS)
def test_the_quorum_high_watermark_is_the_largest_offset_of_a_majority(offsets: list[int]) -> None:
    offset = majority_offset(offsets)

    def holders(of: int) -> int:
        return sum(1 for other in offsets if other >= of)

    assert offset in offsets
    assert holders(offset) >= majority(len(offsets))
    assert all(holders(other) < majority(len(offsets)) for other in offsets if other > offset)


@given(OFFSETS, st.integers(0, 98), st.integers(0, 10**12))
def test_the_quorum_high_watermark_rises_with_any_end_offset(offsets: list[int], voter: int, more: int) -> None:
    voter %= len(offsets)
    grown = [offset + more * (index == voter) for index, offset in enumerate(offsets)]
    assert majority_offset(grown) >= majority_offset(offsets)


@given(st.integers(1, 15), st.data())
def test_successors_back_off_in_their_order(successors: int, data: st.DataObject) -> None:
    earlier, later = sorted(data.draw(st.tuples(*[st.integers(0, successors - 1)] * 2)))
    assert 0 <= delay(earlier, successors) <= delay(later, successors) < BACKOFF_MAX_MS
    if earlier < later and successors <= 10:
        assert delay(earlier, successors) < delay(later, successors)


def test_eleven_successors_are_too_many() -> None:
    assert delay(0, 11) == delay(1, 11) == 0
    assert [delay(position, 4) for position in range(4)] == [0, 125, 250, 500]


# Reassignments.

MEMBERS = st.sets(st.integers(1, BROKERS), min_size=1)
ORDERED = st.lists(st.integers(1, BROKERS), min_size=1, max_size=BROKERS, unique=True)


@given(ORDERED, ORDERED)
def test_a_reassignment_knows_both_of_its_ends(old: list[int], wanted: list[int]) -> None:
    before, after = seq(*old), seq(*wanted)
    now = reassigned(before, after)
    assert Set(origin_of(now)) == Set(before)
    assert target_of(now) == after
    assert is_under_way(now) == (set(old) != set(wanted))
    assert is_consistent(Set(now.replicas), now.adding, now.removing)
    assert len(now.replicas) == len(Set(now.replicas)) == len(set(old) | set(wanted))


@given(ORDERED, ORDERED, ORDERED)
def test_an_override_forgets_the_first_target_only(old: list[int], first: list[int], second: list[int]) -> None:
    halfway = reassigned(seq(*old), seq(*first))
    overridden = reassigned(origin_of(halfway), seq(*second))
    assert Set(origin_of(overridden)) == some(*old)
    assert target_of(overridden) == seq(*second)
    assert Set(overridden.replicas) == some(*old, *second)


@given(ORDERED, ORDERED)
def test_normalisation_keeps_the_order_of_replicas(first: list[int], rest: list[int]) -> None:
    both = followed_by(seq(*first), seq(*rest))
    assert both[: len(first)] == seq(*first)
    assert Set(both) == some(*first, *rest)
    assert without(both, some(*first)) == seq(*(number for number in rest if number not in first))


GOLDEN_OVERRIDES = [
    # replicas, first target, second target, then replicas, adding, removing
    (seq(1, 2, 3), seq(4, 5, 6), None, seq(4, 5, 6, 1, 2, 3), some(4, 5, 6), some(1, 2, 3)),
    (seq(1, 2, 3), seq(4, 5, 6), seq(4, 5, 7), seq(4, 5, 7, 1, 2, 3), some(4, 5, 7), some(1, 2, 3)),
    (seq(1, 2, 3), seq(3, 4, 2), None, seq(3, 4, 2, 1), some(4), some(1)),
]


@pytest.mark.parametrize(("old", "first", "second", "replicas", "adding", "removing"), GOLDEN_OVERRIDES)
def test_reassignments_give_the_golden_results(
    old: Seq[Broker], first: Seq[Broker], second: Seq[Broker] | None, replicas: Seq[Broker], adding: Set[Broker],
    removing: Set[Broker],
) -> None:
    now = reassigned(old, first)
    if second is not None:
        now = reassigned(without(old, now.adding), second)
    assert Set(now.replicas) == Set(replicas)
    assert now.replicas[: len(replicas) - len(old)] == replicas[: len(replicas) - len(old)]
    assert (now.adding, now.removing) == (adding, removing)


def test_an_override_that_starts_from_where_the_first_was_going_forgets_the_origin() -> None:
    """KRaft: [1, 2, 3] to [4, 5, 6] to [4, 5, 7]; a cancellation then leaves six replicas."""
    now = reassigned(reassigned(seq(1, 2, 3), seq(4, 5, 6)).replicas, seq(4, 5, 7))
    assert (now.adding, now.removing) == (some(7), some(1, 2, 3, 6))
    assert Set(now.replicas) == some(1, 2, 3, 4, 5, 6, 7)
    assert Set(origin_of(now)) == some(1, 2, 3, 4, 5, 6)


# Elections.

PARTITION = Partition(1)


@given(ORDERED, MEMBERS, MEMBERS, st.integers(0, BROKERS), MEMBERS)
def test_an_election_takes_the_first_replica_that_may_lead(
    replicas: list[int], in_sync: set[int], live: set[int], leading: int, wanted: set[int]
) -> None:
    model = Kip455Reassignment(brokers=BROKERS, largest_target=BROKERS)
    model.load(next(state for _, state in initial_states(model)))
    leader = Broker(leading) if leading else None
    with running(model):
        model.live = some(*live)
        model.assignment[PARTITION] = Reassigned(replicas=seq(*replicas), adding=Set(), removing=Set())
        model.replication[PARTITION] = model.replication[PARTITION].replace(isr=some(*in_sync), leader=leader)
        model.elect(PARTITION, some(*wanted))
        elected, isr = model.replication[PARTITION].leader, model.replication[PARTITION].isr
    able = [number for number in replicas if number in in_sync & live & wanted]
    assert isr == some(*in_sync)
    if leading in in_sync & live & wanted or not able:
        assert elected == leader
    else:
        assert elected == Broker(able[0])


def test_a_cancelled_reassignment_may_change_the_preferred_leader() -> None:
    assert origin_of(reassigned(seq(1, 2, 3), seq(3, 4, 2))) == seq(3, 2, 1)


# Dropping replicas (KIP-236).

Dropped = Callable[[Seq[Dropping], Set[Dropping], Dropping | None, int], Set[Dropping]]


@pytest.mark.parametrize(("drop", "kept"), [(dropped_including, 0), (dropped_excluding, -1)])
@given(assigned=ORDERED, in_sync=MEMBERS, top=st.integers(1, BROKERS), data=st.data())
def test_dropping_keeps_the_leader_and_the_most_in_sync(
    drop: Dropped, kept: int, assigned: list[int], in_sync: set[int], top: int, data: st.DataObject
) -> None:
    leader = Dropping(data.draw(st.sampled_from(assigned)))
    replicas, isr = seq(*assigned, of=Dropping), some(*in_sync, leader.number, of=Dropping)
    assert Set(existing(replicas, isr, leader)) == Set(replicas)
    dropped = drop(replicas, isr, leader, top)
    left = Set(replicas) - dropped
    assert len(left) == min(len(assigned), top + kept)
    assert leader in left or top + kept == 0
    assert left <= isr or isr & Set(replicas) <= left


GOLDEN_DROPS = [
    # replicas, ISR, leader, top, then who is dropped
    (dropped_excluding, (1, 2), (1, 2), 1, 2, (2,)),
    (dropped_excluding, (1,), (1,), 1, 1, (1,)),
    (dropped_excluding, (1, 2, 3), (1, 2), 1, 2, (2, 3)),
    (dropped_including, (1, 2, 3), (1, 2), 1, 2, (3,)),
    (dropped_including, (1, 2), (1,), 2, 1, (1,)),
    (dropped_including, (4, 5, 6, 1, 2, 3), (1, 4, 5), 4, 3, (2, 3, 6)),
]


@pytest.mark.parametrize(("drop", "assigned", "in_sync", "leader", "top", "dropped"), GOLDEN_DROPS)
def test_drop_sets_are_the_golden_ones(
    drop: Dropped, assigned: tuple[int, ...], in_sync: tuple[int, ...], leader: int, top: int, dropped: tuple[int, ...]
) -> None:
    replicas, isr = seq(*assigned, of=Dropping), some(*in_sync, of=Dropping)
    assert drop(replicas, isr, Dropping(leader), top) == some(*dropped, of=Dropping)


# Under-replicated partitions (KIP-352).


@given(MEMBERS, MEMBERS, st.sets(st.integers(1, BROKERS), min_size=1))
def test_the_adopted_metric_is_the_weakest(before: set[int], after: set[int], in_sync: set[int]) -> None:
    assume(in_sync <= before | after)
    old, new, isr = (some(*numbers, of=Reported) for numbers in (before, after, in_sync))
    now = Assignment(leader=next(iter(isr)), isr=isr, replicas=old | new, adding=new - old, removing=old - new)
    seed = UnderReplicated(brokers=BROKERS).is_under_replicated(now)
    middle = MiddleDraft(brokers=BROKERS).is_under_replicated(now)
    adopted = ShippedMetric(brokers=BROKERS).is_under_replicated(now)
    assert middle == seed
    assert seed or not adopted
    assert len(now.replicas) > len(isr) or not seed
    assert understood(told(now)) == now
    assert (origin(now.replicas, now.adding), target(now.replicas, now.removing)) == (old, new)


# The high watermark of a partition (KIP-497).


@given(st.dictionaries(st.integers(1, BROKERS), st.integers(0, 10**9), min_size=1), st.data())
def test_a_larger_isr_never_has_a_larger_high_watermark(ends: dict[int, int], data: st.DataObject) -> None:
    log_end = {Broker(number): end for number, end in ends.items()}
    maximal = data.draw(st.sets(st.sampled_from(sorted(ends)), min_size=1))
    isr = data.draw(st.sets(st.sampled_from(sorted(maximal)), min_size=1))
    assert high_watermark(some(*maximal), log_end) <= high_watermark(some(*isr), log_end)  # type: ignore[arg-type]
    held = high_watermark(some(*maximal), log_end)  # type: ignore[arg-type]
    assert all(ends[number] >= held for number in isr)
