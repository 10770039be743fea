"""The log functions give the answers that the protocol's documents give for these pairs of logs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floodmark import Seq
from model.replica_log import diverges, end_offset_for_epoch, epoch_up_to, truncation_offset

GOLDEN = [
    # leader log, follower log, the leader's diverging answer (epoch, end offset), the follower's log after one round
    ([1, 1, 2, 2], [1, 1], None, [1, 1]),
    ([1, 1], [1, 1, 1, 1], (1, 2), [1, 1]),
    ([1, 1], [1, 1, 2], (1, 2), [1, 1]),
    ([1, 1, 3], [1, 1, 2, 2], (1, 2), [1, 1]),
    ([1, 1, 1, 3], [1, 2, 2], (1, 3), [1]),
    ([1, 3, 3], [2, 2], (1, 1), []),
    ([2, 2], [1, 1], (1, 0), []),
    ([1, 1, 4], [1, 2, 3], (1, 2), [1]),
]


@pytest.mark.parametrize(("leader_log", "log", "answer", "after"), GOLDEN)
def test_one_round_of_truncation_gives_the_golden_log(
    leader_log: list[int], log: list[int], answer: tuple[int, int] | None, after: list[int]
) -> None:
    leader, follower = Seq(leader_log), Seq(log)
    assert diverges(leader, follower) == (answer is not None)
    if answer is not None:
        asked = log[-1]
        assert (epoch_up_to(leader, asked), end_offset_for_epoch(leader, asked)) == answer
    assert follower[: truncation_offset(leader, follower)] == after


def test_an_empty_log_never_diverges() -> None:
    assert not diverges(Seq([1, 2]), Seq())
    assert not diverges(Seq(), Seq())
    assert truncation_offset(Seq([1, 2]), Seq()) == 0


def test_a_leader_without_records_answers_with_its_log_start() -> None:
    assert (epoch_up_to(Seq(), 2), end_offset_for_epoch(Seq(), 2)) == (2, 0)
    assert diverges(Seq(), Seq([2]))
    assert truncation_offset(Seq(), Seq([2])) == 0


LOGS = st.lists(st.integers(0, 4), max_size=6).map(lambda epochs: Seq(sorted(epochs)))


@given(LOGS, LOGS)
def test_rounds_of_truncation_end_in_a_log_that_does_not_diverge(leader: Seq[int], follower: Seq[int]) -> None:
    while diverges(leader, follower):
        cut = truncation_offset(leader, follower)
        assert cut < len(follower)
        follower = follower[:cut]
    assert truncation_offset(leader, follower) == len(follower)


@given(LOGS, LOGS)
def test_truncation_keeps_the_common_prefix(leader: Seq[int], follower: Seq[int]) -> None:
    common = 0
    while common < min(len(leader), len(follower)) and leader[common] == follower[common]:
        common += 1
    assert truncation_offset(leader, follower) >= common
