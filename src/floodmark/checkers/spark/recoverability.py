"""Decides whether a goal is reachable from every state of a distributed search.

A state can if it is a goal or has a successor that can: the least such set. Predecessors are not stored, only
successors can be recomputed, so states query: those that are not marked recompute their successors and ask the
partitions that own them whether one is marked. In the order of the search a goal is mostly later than a state, so
levels query from the last to the first, narrow ones together; then most states are marked in the first sweep. In a
sweep that marks nothing, all remaining states have queried all their successors, and no mark came too late for any: the
remaining states cannot lead to a goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from floodmark.checkers.spark import elimination_tasks as tasks
from floodmark.checkers.spark.elimination_tasks import StateSelection, TaskReport
from floodmark.checkers.spark.rounds import EliminationRounds

MIN_STATES_OF_JOB = 50_000
"""The minimum number of requesting states of a job: neighbouring levels with fewer are combined."""


def all_lead_to_goals(rounds: EliminationRounds, missed: StateSelection) -> bool:
    """Whether every state leads to one that is not ``missed``. Raises PartitionMismatch when a partition was lost."""
    rounds.begin()
    left = _of_levels(rounds.change(lambda sieve: partial(tasks.mark_goals, sieve, missed)))
    while any(left):
        before = sum(left)
        for levels in _neighbours(left):
            left = _of_levels(_exchange_requests(rounds, levels))
        if sum(left) == before:
            return False
    return True


def _exchange_requests(rounds: EliminationRounds, levels: tuple[int, int]) -> list[TaskReport]:
    """The reports of partitions after the states of some levels sent their requests."""
    return rounds.exchange(
        lambda sieve: partial(tasks.request, sieve, levels),
        lambda sieve: partial(tasks.respond, sieve),
        lambda sieve: partial(tasks.apply_responses, sieve),
    )


def _of_levels(reports: Sequence[TaskReport]) -> list[int]:
    """The number of unmarked states of each level."""
    return [sum(counts) for counts in zip(*(report.counts for report in reports), strict=True)]


def _neighbours(left: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of levels that ask together, from the last levels on; all that have states left."""
    last, asking = len(left) - 1, 0
    for level in range(len(left) - 1, -1, -1):
        asking += left[level]
        if asking >= MIN_STATES_OF_JOB or (level == 0 and asking):
            yield level, last
            last, asking = level - 1, 0
