"""The workers' tasks for a lasso: colors and layers of the states that elimination left, and queries about a state.

Colors and layers are in the first word of a state's marks. Everything here is a function of accepted files, as in
elimination, so the result does not depend on which attempt at a task is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from floodmark.checkers.spark import elimination_loops as loops
from floodmark.checkers.spark.elimination_tasks import (
    EliminationInput,
    FairRunQuery,
    OpenPartition,
    StateSelection,
    TaskReport,
    count_statuses,
    reported,
)
from floodmark.checkers.spark.ledger import Array
from floodmark.checkers.spark.reader import Packed

_COLOR_STEP = 0x9E3779B97F4A7C15
"""Odd, so that multiplying by it modulo 2**64 mixes numbers and keeps them apart."""
_BACK = pow(_COLOR_STEP, -1, 1 << 64)
_STATUS = np.uint64(loops.STATUS)
_POSITION = (1 << loops.POSITION_BITS) - 1


def _left(marks: Array) -> Array:
    """Flags of the states that are left."""
    left: Array = marks[:, 1] & _STATUS != loops.GONE
    return left


def _set_status(marks: Array, which: Array, status: int) -> None:
    marks[which, 1] = marks[which, 1] & ~_STATUS | np.uint64(status)


def start_coloring(sieve: EliminationInput, question: FairRunQuery, partition: int) -> Iterator[TaskReport]:
    """Gives each state that is left a color of its own, which it has to send."""

    def do(files: OpenPartition) -> TaskReport:
        with files.changed(files.read(files.count * loops.MARK_WORDS)) as marks:
            table = marks.reshape(-1, loops.MARK_WORDS)
            left = _left(table)
            numbers = np.flatnonzero(left).astype(np.uint64) + np.uint64((partition << loops.POSITION_BITS) + 1)
            table[left, 0] = numbers * np.uint64(_COLOR_STEP)
            _set_status(table, left, loops.TELLING)
            files.set_query(question)
            return count_statuses(files, marks)

    yield from reported(sieve, partition, do)


def least_color(sieve: EliminationInput, partition: int) -> Iterator[TaskReport]:
    """``counts``: the least color of a state that is left, if there is one."""

    def do(files: OpenPartition) -> TaskReport:
        table = files.read(files.count * loops.MARK_WORDS).reshape(-1, loops.MARK_WORDS)
        colors = table[_left(table), 0]
        return TaskReport(partition, counts=(int(colors.min()),) if len(colors) else ())

    yield from reported(sieve, partition, do)


def keep_color(sieve: EliminationInput, question: FairRunQuery, color: int, partition: int) -> Iterator[TaskReport]:
    """Leaves the states of a color. ``state`` is the one whose own color it was, if it is this partition's."""

    def do(files: OpenPartition) -> TaskReport:
        with files.changed(files.read(files.count * loops.MARK_WORDS)) as marks:
            table = marks.reshape(-1, loops.MARK_WORDS)
            table[table[:, 0] != np.uint64(color), 1] = loops.GONE
            files.set_query(question)
            owner, position = divmod((color * _BACK - 1) & loops.MISSING, _POSITION + 1)
            files.fields[loops.HIT] = position + 1 if owner == partition else 0
            return count_statuses(files, marks)

    yield from reported(sieve, partition, do)


def start_layers(
    sieve: EliminationInput, question: FairRunQuery, start: Packed | StateSelection, partition: int
) -> Iterator[TaskReport]:
    """Begins a breadth-first search among the states that are left, in a state or in those of a selection."""

    def do(files: OpenPartition) -> TaskReport:
        with files.changed(files.read(files.count * loops.MARK_WORDS)) as marks:
            table = marks.reshape(-1, loops.MARK_WORDS)
            left = _left(table)
            table[:, 0] = 0
            _set_status(table, left, loops.LEFT)
            if isinstance(start, StateSelection):
                facts = files.facts.reshape(-1, 1 + files.label_words)[:, 0]
                begun = left & (facts & np.uint64(start.care) == np.uint64(start.want))
            else:
                begun = np.zeros(files.count, dtype=np.bool_)
                position = files.find(start)
                if position != loops.MISSING:
                    begun[position] = left[position]
            table[begun, 0] = 1
            _set_status(table, begun, loops.TELLING)
            files.set_query(question)
            return count_statuses(files, marks)

    yield from reported(sieve, partition, do)


def drop_layers(sieve: EliminationInput, question: FairRunQuery, partition: int) -> Iterator[TaskReport]:
    """Eliminates the states that have a layer."""

    def do(files: OpenPartition) -> TaskReport:
        with files.changed(files.read(files.count * loops.MARK_WORDS)) as marks:
            table = marks.reshape(-1, loops.MARK_WORDS)
            table[table[:, 0] != 0, 1] = loops.GONE
            files.set_query(question)
            return count_statuses(files, marks)

    yield from reported(sieve, partition, do)


def origin(
    sieve: EliminationInput, question: FairRunQuery, target: Packed, anyhow: bool, partition: int
) -> Iterator[TaskReport]:
    """``state``: the smallest of the question's layer with a step to the target, ``anyhow`` or with a wanted label."""

    def do(files: OpenPartition) -> TaskReport:
        files.read(files.count * loops.MARK_WORDS)
        files.set_query(question)
        words = np.array(target, dtype=np.uint64)
        files.of_states("find_origins", words.ctypes.data, int(anyhow))
        return TaskReport(partition, state=files.hit)

    yield from reported(sieve, partition, do)


def smallest_alone(sieve: EliminationInput, question: FairRunQuery, partition: int) -> Iterator[TaskReport]:
    """``state``: the smallest, of those first found, where a run may stay forever; ``counts``: its level."""
    pressing = np.array(question.weak, dtype=np.uint64) | np.array(question.strong, dtype=np.uint64)
    care, want = np.uint64(question.chosen.care), np.uint64(question.chosen.want)

    def do(files: OpenPartition) -> TaskReport:
        table = files.read(files.count * loops.MARK_WORDS).reshape(-1, loops.MARK_WORDS)
        facts = files.facts.reshape(-1, 1 + files.label_words)
        alone = _left(table) & ~(facts[:, 1:] & pressing).any(axis=1) & (facts[:, 0] & care == want)
        return _smallest_of_first_level(files, alone)

    yield from reported(sieve, partition, do)


def smallest_unmarked(sieve: EliminationInput, partition: int) -> Iterator[TaskReport]:
    """``state``: the smallest, of those first found, that was not found to lead to a goal; ``counts``: its level."""

    def do(files: OpenPartition) -> TaskReport:
        bits = files.read(-(-files.count // 64))
        marked = np.unpackbits(bits.view(np.uint8), bitorder="little")[: files.count]
        return _smallest_of_first_level(files, marked == 0)

    yield from reported(sieve, partition, do)


def _smallest_of_first_level(files: OpenPartition, which: Array) -> TaskReport:
    for level in range(files.shard.header.levels):
        start, stop = files.shard.slice(level)
        places = start + np.flatnonzero(which[start:stop])
        if len(places):
            return TaskReport(files.partition, counts=(level,), state=min(files.state(int(place)) for place in places))
    return TaskReport(files.partition)


def about(sieve: EliminationInput, state: Packed, partition: int) -> Iterator[TaskReport]:
    """``counts``: the level of a state and its first fact, if it is this partition's."""

    def do(files: OpenPartition) -> TaskReport:
        files.read(files.count * loops.MARK_WORDS)
        position = files.find(state)
        if position == loops.MISSING:
            return TaskReport(partition)
        level = next(it for it in range(files.shard.header.levels) if position < files.shard.header.end(it))
        return TaskReport(partition, counts=(level, int(files.facts[position * (1 + files.label_words)])))

    yield from reported(sieve, partition, do)
