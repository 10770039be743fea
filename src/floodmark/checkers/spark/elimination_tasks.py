"""Elimination on the workers: facts, changes of a partition's marks, and the messages between partitions.

A task opens the states as a task of the search does, and beside them the facts and marks that the driver accepted.
These must have the accepted seals, and the states must still be in the order in which the facts were written; otherwise
the partition is lost. Nothing accepted is ever changed: new marks are a new file (``marks.py``).
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from floodmark.checkers.spark import elimination_loops as loops
from floodmark.checkers.spark import tasks
from floodmark.checkers.spark.ledger import AcceptedLevels, Array
from floodmark.checkers.spark.marks import opened, written
from floodmark.checkers.spark.outboxes import Arrivals, Outboxes, lost_ends
from floodmark.checkers.spark.reader import Packed
from floodmark.checkers.spark.shard import PartitionLost, Shard
from floodmark.checkers.spark.step_code import StepCode, Steps
from floodmark.checkers.spark.tasks import Record, SearchContext
from floodmark.language.plurals import counted

if TYPE_CHECKING:
    from pyspark import Broadcast

SURVEYED = 1 << 16
"""The number of states whose facts are computed together."""
ASKING = 1 << 15
"""The number of states that send requests in one call."""
MAX_CACHE_BITS = 20
MAX_GROUPS = 4096
"""The maximum number of different sets of enabled labels that a partition reports."""


@dataclass(frozen=True, slots=True)
class StateSelection:
    """The states in whose first fact the bits of ``care`` are those of ``want``."""

    care: int = 0
    want: int = 0


@dataclass(frozen=True, slots=True)
class FairRunQuery:
    """Whether a fair run stays ``inside`` and visits ``chosen`` states again and again. ``weak`` and ``strong`` have
    a word for each 64 labels.

    For a lasso, whether a walk from some ``layer`` helps (``lasso.py``): by a step with a label in ``weak``, or into a
    state that is chosen, is the ``goal``, or does not enable a label in ``strong``.
    """

    inside: StateSelection
    chosen: StateSelection
    weak: tuple[int, ...]
    strong: tuple[int, ...]
    layer: int = 0
    goal: Packed | None = None


@dataclass(frozen=True, slots=True)
class EliminationInput:
    """The input of an elimination's tasks: its code, its name, and the seals that the driver accepted.

    Of each partition ``orders`` identifies the order of the states, ``facts`` and ``marks`` are the seals of the files,
    of which that of the marks has a ``number``.
    """

    run: SearchContext
    code: Broadcast[StepCode]
    accepted: AcceptedLevels
    name: str
    orders: tuple[str, ...] = ()
    facts: tuple[int, ...] = ()
    number: int = 0
    marks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskReport:
    """The result of a task on a partition. ``lost`` says why there is none."""

    partition: int
    lost: str = ""
    seal: int = 0
    counts: tuple[int, ...] = ()
    order: str = ""
    ever: int = 0
    """The conditions that hold in some state."""
    state: Packed | None = None
    """The state that was asked for, or in which compiled code failed."""
    enabled: frozenset[tuple[int, ...]] = frozenset()
    """The sets of labels that are enabled in a chosen state that is left, as words; see ``MAX_GROUPS``."""


_STEPS: OrderedDict[str, Steps] = OrderedDict()


def _steps(sieve: EliminationInput) -> Steps:
    key = sieve.code.value.identity
    if key not in _STEPS:
        _STEPS[key] = sieve.code.value.load()
        while len(_STEPS) > tasks.MAX_KEPT_SEARCHES:
            _STEPS.popitem(last=False)
    return _STEPS[key]


class OpenPartition:
    """A partition's states, looked up by machine code, while a task has them open."""

    def __init__(self, sieve: EliminationInput, shard: Shard, partition: int) -> None:
        self.sieve = sieve
        self.shard = shard
        self.partition = partition
        self.steps = _steps(sieve)
        code = self.steps.code
        self.count = shard.header.count
        self.label_words = code.label_words
        self._rows = np.zeros((code.most_successors + 1) * (code.words + 2), dtype=np.uint64)
        self._context = np.zeros(code.context_words + 1, dtype=np.uint64)
        self._kept: dict[int, Array] = {}
        self.fields = np.zeros(loops.ELIMINATION_FIELDS, dtype=np.uint64)
        for place, value in {
            loops.ROWS: self._rows.ctypes.data,
            loops.STEP_CONTEXT: self._context.ctypes.data,
            loops.STEP_EXPAND: self.steps.expand,
            loops.STEP_CHECK: self.steps.check,
            loops.LABEL_WORDS: code.label_words,
            loops.INITIAL_END: shard.header.end(0),
            loops.STATES: self.count,
            loops.HERE: partition,
        }.items():
            self.fields[place] = value

    @property
    def most(self) -> int:
        return self.steps.code.most_successors

    @property
    def words(self) -> int:
        return self.steps.code.words

    def path(self, kind: str, number: int = 0) -> Path:
        return self.shard.folder / f"{kind}-{self.sieve.name}-{number}"

    def give(self, place: int, array: Array) -> Array:
        """Stores an array in a field of the loops."""
        self._kept[place] = array
        self.fields[place] = array.ctypes.data
        return array

    def set_query(self, question: FairRunQuery, mode: int = 0, word: int = 0) -> None:
        """Passes the query to the loops."""
        self.give(loops.WEAK, np.array(question.weak, dtype=np.uint64))
        self.give(loops.STRONG, np.array(question.strong, dtype=np.uint64))
        for place, value in {
            loops.INSIDE_CARE: question.inside.care,
            loops.INSIDE_WANT: question.inside.want,
            loops.CHOSEN_CARE: question.chosen.care,
            loops.CHOSEN_WANT: question.chosen.want,
            loops.MODE: mode,
            loops.WORD: word,
            loops.LAYER: question.layer,
            loops.GOAL: loops.MISSING if question.goal is None else self.find(question.goal),
            loops.HIT: 0,
        }.items():
            self.fields[place] = value

    def find(self, state: Packed) -> int:
        """The position of a state, ``MISSING`` if it is another partition's."""
        words = np.array(state, dtype=np.uint64)
        return self.of_states("find", words.ctypes.data)

    @property
    def hit(self) -> Packed | None:
        """The smallest state that helped."""
        place = int(self.fields[loops.HIT])
        return None if not place else self.state(place - 1)

    def state(self, position: int) -> Packed:
        """The words of a state."""
        return tuple(int(word) for word in self.shard.states(position, position + 1))

    def seal(self, array: Array) -> int:
        return self.steps.loop("seal", array.ctypes.data, len(array))

    def of_partition(self, name: str, *numbers: int) -> int:
        """Calls a loop that needs neither states nor their table."""
        return self.steps.loop(name, self.fields.ctypes.data, *numbers)

    def of_states(self, name: str, *numbers: int) -> int:
        """Calls a loop that looks at states."""
        return self.steps.loop(name, self.shard.fields.ctypes.data, self.fields.ctypes.data, *numbers)

    # Files.

    def facts_words(self) -> int:
        return self.count * (1 + self.label_words)

    def read(self, mark_words: int) -> Array:
        """Opens the accepted facts and marks; returns the marks, zero where there are none. Raises PartitionLost."""
        self.facts = self.give(loops.FACTS, self._sealed("facts", 0, self.facts_words(), self.sieve.facts))
        if not self.sieve.marks:
            return np.zeros(mark_words, dtype=np.uint64)
        return self.give(loops.MARKS, self._sealed("marks", self.sieve.number, mark_words, self.sieve.marks))

    def _sealed(self, kind: str, number: int, words: int, seals: tuple[int, ...]) -> Array:
        array = opened(self.path(kind, number), words)
        if self.seal(array) != seals[self.partition]:
            raise PartitionLost(f"the {kind} in {self.shard.folder} are not those that were accepted")
        return array

    @contextlib.contextmanager
    def changed(self, old: Array) -> Iterator[Array]:
        """The next marks, at first as the old ones; the ones before those are removed."""
        with written(self.path("marks", self.sieve.number + 1), len(old)) as new:
            new[:] = old
            yield self.give(loops.MARKS, new)
        for path in self.shard.folder.glob("marks-*"):
            _, name, number = path.name.split(".")[0].split("-")
            if name != self.sieve.name or int(number) < self.sieve.number:
                path.unlink(missing_ok=True)


@contextlib.contextmanager
def _opened(sieve: EliminationInput, partition: int) -> Iterator[OpenPartition]:
    """A partition, open for a task. Raises PartitionLost unless its states are in the accepted order."""
    shard = tasks.shard_of(sieve.run, partition)
    accepted = sieve.accepted
    with tasks.holding_files(accepted, shard.looking_up(accepted.levels, accepted.seal(partition))):
        if sieve.orders and shard.header.order != sieve.orders[partition]:
            raise PartitionLost(f"the states in {shard.folder} were written again, perhaps in another order")
        yield OpenPartition(sieve, shard, partition)


def reported(
    sieve: EliminationInput, partition: int, do: Callable[[OpenPartition], TaskReport]
) -> Iterator[TaskReport]:
    """The report of a task that sends nothing."""
    try:
        with _opened(sieve, partition) as files:
            report = do(files)
    except PartitionLost as lost:
        report = TaskReport(partition, str(lost))
    yield report


# The facts.


def compute_facts(sieve: EliminationInput, partition: int) -> Iterator[TaskReport]:
    """Writes the facts of all states; ``counts`` are those of each level."""

    def do(files: OpenPartition) -> TaskReport:
        shard, ever = files.shard, 0
        for path in [*shard.folder.glob("facts-*"), *shard.folder.glob("marks-*")]:
            if path.name.split("-")[1] != sieve.name:
                path.unlink(missing_ok=True)
        with written(files.path("facts"), files.facts_words()) as facts:
            files.give(loops.FACTS, facts)
            table = facts.reshape(-1, 1 + files.label_words)
            for at in range(0, files.count, SURVEYED):
                stop = min(at + SURVEYED, files.count)
                failed = files.of_states("compute_facts", at, stop)
                if failed:
                    return TaskReport(partition, order=shard.header.order, state=files.state(failed - 1))
                ever |= int(np.bitwise_or.reduce(table[at:stop, 0]))
            seal = files.seal(facts)
        return TaskReport(partition, seal=seal, order=shard.header.order, ever=ever)

    yield from reported(sieve, partition, do)


# Marks of states that are left.


def change(
    sieve: EliminationInput, question: FairRunQuery, steps: tuple[tuple[str, int], ...], partition: int
) -> Iterator[TaskReport]:
    """Changes a partition's marks, without the others, by some loops, each for a word of labels."""

    def do(files: OpenPartition) -> TaskReport:
        with files.changed(files.read(files.count * loops.MARK_WORDS)) as marks:
            for name, word in steps:
                files.set_query(question, loops.LEAVING, word)
                files.of_partition(name)
            return count_statuses(files, marks)

    yield from reported(sieve, partition, do)


def count_statuses(files: OpenPartition, marks: Array) -> TaskReport:
    files.of_partition("count_statuses")
    counts = tuple(int(files.fields[place]) for place in (loops.LEFT_STATES, loops.TELLING_STATES, loops.ALONE))
    return TaskReport(files.partition, seal=files.seal(marks), counts=counts, state=files.hit)


def send(sieve: EliminationInput, question: FairRunQuery, mode: int, word: int, partition: int) -> Iterator[Record]:
    """Sends the marks of the states that have to send to their successors."""
    try:
        with _opened(sieve, partition) as files:
            files.read(files.count * loops.MARK_WORDS)
            files.set_query(question, mode, word)
            files.of_partition("count_statuses")
            boxes = Outboxes(sieve.run, files.words + 1, files.most)
            if files.fields[loops.TELLING_STATES]:
                yield from _sent(files, boxes)
            yield from boxes.ends(partition, False)
    except PartitionLost:
        yield from lost_ends(sieve.run, partition)


def _sent(files: OpenPartition, boxes: Outboxes) -> Iterator[Record]:
    width = (files.words + 1) * 8
    fitting = max(files.sieve.run.buffers // 2 // width, 1).bit_length() - 1
    bits = min(MAX_CACHE_BITS, fitting, int(files.fields[loops.TELLING_STATES]).bit_length() + 3)
    files.give(loops.CACHE, np.zeros((files.words + 1) << bits, dtype=np.uint64))
    files.fields[loops.CACHE_MASK] = (1 << bits) - 1
    at = 0
    while at < files.count:
        at = files.of_states("send", boxes.address, at, files.count)
        yield from boxes.drained(boxes.room // 2)
    at = 0
    while at < 1 << bits:
        at = files.of_partition("flush", boxes.address, at, 1 << bits)
        yield from boxes.drained(boxes.room // 2)
    yield from boxes.drained(1)


def receive(
    sieve: EliminationInput, question: FairRunQuery, mode: int, word: int, partition: int, records: Iterable[Record]
) -> Iterator[TaskReport]:
    """Marks the receivers of messages, and determines which states have to send next."""
    arriving = iter(records)

    def do(files: OpenPartition) -> TaskReport:
        arrivals = Arrivals(sieve.run)
        with files.changed(files.read(files.count * loops.MARK_WORDS)) as marks:
            files.set_query(question, mode, word)
            files.of_partition("finish_sending")
            strange = 0
            for _, payload in arriving:
                rows = arrivals.rows(payload)
                if rows is not None:
                    strange += files.of_states("receive", rows.ctypes.data, len(rows) // (files.words + 1))
            arrivals.require_all()
            _require_known(files, strange)
            if mode in (loops.COUNTING, loops.LEAVING):
                files.of_partition("eliminate_sources")
            return count_statuses(files, marks)

    yield from reported(sieve, partition, do)
    for _ in arriving:
        pass


def _require_known(files: OpenPartition, strange: int) -> None:
    if strange:
        files.shard.compare()
        raise RuntimeError(f"the search did not find where {counted(strange, 'step')} within the bounds would lead")


def enabled_sets(sieve: EliminationInput, question: FairRunQuery, partition: int) -> Iterator[TaskReport]:
    """The sets of labels that are enabled in some chosen state that is left."""
    care, want = np.uint64(question.chosen.care), np.uint64(question.chosen.want)

    def do(files: OpenPartition) -> TaskReport:
        marks = files.read(files.count * loops.MARK_WORDS).reshape(-1, loops.MARK_WORDS)
        facts = files.facts.reshape(-1, 1 + files.label_words)
        found: set[tuple[int, ...]] = set()
        for at in range(0, files.count, SURVEYED):
            some = slice(at, at + SURVEYED)
            left = marks[some, 1] & np.uint64(loops.STATUS) != loops.GONE
            rows = np.unique(facts[some, 1:][left & (facts[some, 0] & care == want)], axis=0)
            found.update(tuple(int(word) for word in row) for row in rows)
            if len(found) > MAX_GROUPS:
                break
        return TaskReport(partition, enabled=frozenset(found))

    yield from reported(sieve, partition, do)


# Marks of states from which a goal was found to be reached.


def mark_goals(sieve: EliminationInput, inside: StateSelection, partition: int) -> Iterator[TaskReport]:
    """Marks the goal states; ``inside`` are the others. ``counts``: how many of each level are not marked."""

    def do(files: OpenPartition) -> TaskReport:
        with files.changed(files.read(_bit_words(files))) as marks:
            files.set_query(FairRunQuery(inside, StateSelection(), (), ()))
            files.of_partition("mark_goals")
            return _unmarked(files, marks)

    yield from reported(sieve, partition, do)


def _bit_words(files: OpenPartition) -> int:
    return -(-files.count // 64)


def _unmarked(files: OpenPartition, marks: Array) -> TaskReport:
    levels = [files.shard.slice(level) for level in range(files.shard.header.levels)]
    counts = tuple(files.of_partition("count_unmarked", *level) for level in levels)
    return TaskReport(files.partition, seal=files.seal(marks), counts=counts)


@dataclass(frozen=True, slots=True)
class LocalPredecessors:
    """The positions of a partition's own states that found a marked successor without asking another partition."""

    positions: bytes


def request(sieve: EliminationInput, levels: tuple[int, int], partition: int) -> Iterator[Record]:
    """Sends requests about the successors of unmarked states of some levels."""
    try:
        with _opened(sieve, partition) as files:
            marks = files.give(loops.MARKS, files.read(_bit_words(files)).copy())
            assert len(marks) == _bit_words(files)
            boxes = Outboxes(sieve.run, files.words + 1, files.most)
            own = files.give(loops.OWN, np.zeros(ASKING, dtype=np.uint64))
            start, stop = files.shard.slice(levels[0])[0], files.shard.slice(levels[1])[1]
            while start < stop:
                files.fields[loops.OWN_COUNT] = 0
                start = files.of_states("request", boxes.address, start, min(start + ASKING, stop))
                found = own[: int(files.fields[loops.OWN_COUNT])]
                if len(found):
                    boxes.sent[partition].add(found)
                    yield partition, LocalPredecessors(found.tobytes())
                yield from boxes.drained(boxes.room // 2)
            yield from boxes.drained(1)
            yield from boxes.ends(partition, False)
    except PartitionLost:
        yield from lost_ends(sieve.run, partition)


def respond(sieve: EliminationInput, partition: int, records: Iterable[Record]) -> Iterator[Record]:
    """Responds to requests about marked states."""
    arriving = iter(records)
    try:
        with _opened(sieve, partition) as files:
            files.read(_bit_words(files))
            arrivals = Arrivals(sieve.run)
            boxes = Outboxes(sieve.run, 1, 0)
            strange = 0
            for _, payload in arriving:
                if isinstance(payload, LocalPredecessors):
                    positions = arrivals.rows(payload.positions)
                    assert positions is not None
                    boxes.sent[partition].add(positions)
                    yield partition, payload.positions
                    continue
                rows = arrivals.rows(payload)
                if rows is not None:
                    strange += yield from _responded(files, boxes, rows)
            arrivals.require_all()
            _require_known(files, strange)
            yield from boxes.ends(partition, False)
    except PartitionLost:
        for _ in arriving:
            pass
        yield from lost_ends(sieve.run, partition)


def _responded(files: OpenPartition, boxes: Outboxes, rows: Array) -> Generator[Record, None, int]:
    """Responds to requests; returns how many of the requested states are not stored."""
    width = files.words + 1
    strange = 0
    for at in range(0, len(rows) // width, boxes.room):
        some = rows[at * width : (at + boxes.room) * width]
        strange += files.of_states("respond", boxes.address, some.ctypes.data, len(some) // width)
        yield from boxes.drained(1)
    return strange


def apply_responses(sieve: EliminationInput, partition: int, records: Iterable[Record]) -> Iterator[TaskReport]:
    """Marks the states that got a response. ``counts``: how many of each level are not marked."""
    arriving = iter(records)

    def do(files: OpenPartition) -> TaskReport:
        arrivals = Arrivals(sieve.run)
        with files.changed(files.read(_bit_words(files))) as marks:
            for _, payload in arriving:
                positions = arrivals.rows(payload)
                if positions is not None:
                    files.of_partition("apply_responses", positions.ctypes.data, len(positions))
            arrivals.require_all()
            return _unmarked(files, marks)

    yield from reported(sieve, partition, do)
    for _ in arriving:
        pass


def clean(sieve: EliminationInput, partition: int) -> Iterator[int]:
    """Removes what elimination wrote beside a partition."""
    folder = tasks.scratch_folder(sieve.run, partition) / f"{partition:05}"
    for kind in ("facts", "marks"):
        for path in folder.glob(f"{kind}-*"):
            path.unlink(missing_ok=True)
    yield partition
