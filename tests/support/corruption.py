"""Changes what a simulated search (`losses.py`) has written: words, lengths, headers, order, at any moment of any task.

A change stays, is as before a few moments later, or its partition is lost then. Whatever is changed, the search has to
end with the native search's result, or with an error that says what was damaged and where.

The files of the simulated machines are mapped, so a changed byte of a file is also changed in the page that tasks
have in memory. What arrives through the shuffle, and what a merge sends the driver, is changed on its way.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

import numpy as np

from floodmark import Between, Model, action, invariant, require
from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.spark import cluster, search, shard, tasks
from floodmark.checkers.spark.code_transfer import KernelCode, LoadedKernel, build_code
from floodmark.checkers.spark.frontier import MAX_BYTES
from floodmark.checkers.spark.jobs import JobFailed
from floodmark.checkers.spark.reader import StateReader
from floodmark.checkers.spark.shard import FilesChangedError, Header, Shard
from specs.examples.philosophers import Philosophers
from tests.spark.test_elimination import Ring
from tests.spark.test_spark_losses import Walk
from tests.support.losses import Machines, Simulated, search_states

FIGURES = (
    "complete", "distinct", "generated", "depth", "digest", "levels", "actions", "violations", "values_seen",
    "liveness",
)  # fmt: skip
BEFORE_A_TASK = "before a task"
IN_A_TASK = (
    "when its files are open", "before a piece is copied", "after a piece was copied", "after states were added",
    "before new states are checked", "before a header is written", "after a header was written",
)  # fmt: skip
AFTERWARDS = ("stays", "is as before", "is as before at once", "is lost")
LATEST = 40
"""The maximum number of moments after which a change is undone."""


class Unaltered(Exception):  # noqa: N818 - what was to be changed is not there yet
    """There is nothing to change."""


@dataclass(frozen=True)
class Plan:
    """One change: what, at which moment of all those of its kind, and what becomes of it after some more moments."""

    kind: str
    moment: str
    part: float
    afterwards: str
    later: int


@dataclass
class Corrupted(Machines):
    """Machines to which one change happens."""

    plan: Plan | None = None
    expected: int = 1
    """The number of moments of the plan's kind in an undisturbed search."""
    moments: Counter[str] = field(default_factory=Counter)
    total: int = 0
    current: int = 0
    run: Any = None
    undo: Callable[[], None] | None = None
    undo_at: int = 0
    done: str = ""
    kept_headers: dict[Path, list[bytes]] = field(default_factory=dict)

    def between_tasks(self, cluster: Simulated) -> None:
        super().between_tasks(cluster)
        self.run = cluster.run
        self.now = self.draw.randrange(2) if self.faults else 0
        self.current = self.draw.randrange(cluster.partitions)
        self.pass_moment(BEFORE_A_TASK)

    @contextlib.contextmanager
    def at(self, partition: int) -> Iterator[None]:
        with super().at(partition):
            self.current = partition
            yield

    def pass_moment(self, moment: str) -> None:
        """Something may change now."""
        self.moments[moment] += 1
        self.total += 1
        if self.undo is not None and self.total >= self.undo_at:
            self.undo()
            self.undo = None
        plan = self.due(moment)
        if plan is not None:
            with contextlib.suppress(Unaltered):
                self._change(plan)

    def due(self, moment: str) -> Plan | None:
        """The change, if it is to happen at such a moment, now or as soon as there is something to change."""
        plan = self.plan
        if plan is None or self.done or plan.moment != moment:
            return None
        return plan if self.moments[moment] > plan.part * self.expected else None

    def _change(self, plan: Plan) -> None:
        folder = self.folder(self.run) / f"{self.current:05}"
        path, old = FILES[plan.kind](self, folder)
        self.done = f"{plan.kind} {plan.moment}; {plan.afterwards}"
        self.undo_at = self.total + (1 if plan.afterwards == "is as before at once" else plan.later)
        match plan.afterwards:
            case "is as before" | "is as before at once":
                known = path.stat().st_ino
                self.undo = lambda: _put_back(path, known, old)
            case "is lost":
                self.undo = lambda: shutil.rmtree(folder, ignore_errors=True)

    # Where states are.

    def header(self, folder: Path) -> Header:
        """The header of a partition. Raises Unaltered if there are no states."""
        try:
            found = shard.unpacked((folder / "header").read_bytes())
        except (OSError, ValueError):
            raise Unaltered from None
        if not found.levels or not found.count or found.file != shard._file_of(folder / "states"):
            raise Unaltered
        return found

    def state(self, folder: Path) -> tuple[int, int]:
        """A state of a partition, of the newest level more often than of another: its place and its size, in bytes."""
        header = self.header(folder)
        known = self.processes.get((self.now, self.run.folder))
        opened = None if known is None else known.shards.get(int(folder.name))
        size = self.code.code.words * 8
        ends = [0, *(header.end(level) for level in range(header.levels))]
        if opened is not None and opened._file is not None and shard._stat_of(opened._file) == header.file:
            ends.append(max(ends[-1], opened.count))  # those that a merge is adding
        levels = [(first, last) for first, last in pairwise(ends) if last > first]
        first, last = levels[-1] if self.draw.random() < 0.6 else self.draw.choice(levels)
        return self.draw.randrange(first, last) * size, size


Old = list[tuple[int, bytes]]
"""The former content at some places of a file."""


def _put_back(path: Path, known: int, old: Old) -> None:
    with contextlib.suppress(OSError), open(path, "r+b") as file:
        if os.fstat(file.fileno()).st_ino == known:
            for place, content in old:
                file.seek(place)
                file.write(content)


def _read(path: Path, place: int, size: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(place)
        return file.read(size)


def _write(path: Path, *new: tuple[int, bytes]) -> Old:
    """Writes to places of a file; returns what was there. Raises Unaltered if that is the same."""
    try:
        with open(path, "r+b") as file:
            old = []
            for place, content in new:
                file.seek(place)
                old.append((place, file.read(len(content))))
                file.seek(place)
                file.write(content)
    except FileNotFoundError:
        raise Unaltered from None
    if old == list(new):
        raise Unaltered
    return old


def _flipped(content: bytes, draw: random.Random) -> bytes:
    """The content with another bit."""
    place = draw.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]


# Files.

Change = Callable[[Corrupted, Path], tuple[Path, Old]]


def bit_of_a_state(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    place, size = machines.state(folder)
    content = _read(folder / "states", place, size)
    return folder / "states", _write(folder / "states", (place, _flipped(content, machines.draw)))


def low_bit_of_a_state(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    """Changes a bit of a variable: often the result is another reachable state."""
    place, _ = machines.state(folder)
    content = _read(folder / "states", place, 1)
    return folder / "states", _write(folder / "states", (place, bytes([content[0] ^ 1 << machines.draw.randrange(7)])))


def word_is_zero(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    place, size = machines.state(folder)
    return folder / "states", _write(folder / "states", (place + machines.draw.randrange(0, size, 8), bytes(8)))


def state_is_another(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    """A state becomes one that the search has found elsewhere."""
    place, size = machines.state(folder)
    other = machines.draw.choice(sorted(folder.parent.glob("0*")))
    there, _ = machines.state(other)
    return folder / "states", _write(folder / "states", (place, _read(other / "states", there, size)))


def states_change_places(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    (one, size), (other, _) = machines.state(folder), machines.state(folder)
    path = folder / "states"
    return path, _write(path, (one, _read(path, other, size)), (other, _read(path, one, size)))


def words_change_places(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    (one, size), (other, _) = machines.state(folder), machines.state(folder)
    one, other = (place + machines.draw.randrange(0, size, 8) for place in (one, other))
    path = folder / "states"
    return path, _write(path, (one, _read(path, other, 8)), (other, _read(path, one, 8)))


def states_are_cut_off(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    place, size = machines.state(folder)
    path = folder / "states"
    old = _read(path, place, path.stat().st_size)
    os.truncate(path, place + machines.draw.randrange(size))
    return path, [(place, old)]


def file_is_longer(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    machines.header(folder)
    path = folder / "states"
    size = path.stat().st_size
    with open(path, "ab") as file:
        file.write(machines.draw.randbytes(machines.draw.randrange(1, 10_000)))
    return path, [(size, b"")]


def bit_of_the_header(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    machines.header(folder)
    path = folder / "header"
    return path, _write(path, (0, _flipped(path.read_bytes(), machines.draw)))


def header_is_cut_off(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    machines.header(folder)
    path = folder / "header"
    old = path.read_bytes()
    os.truncate(path, machines.draw.randrange(len(old)))
    return path, [(0, old)]


def header_is_older(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    machines.header(folder)
    known = machines.kept_headers.get(folder, [])
    return _whole(folder / "header", machines.draw.choice(known) if known else b"")


def header_is_of_another(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    machines.header(folder)
    others = [path for path in sorted(folder.parent.glob("*/header")) if path.parent != folder]
    return _whole(folder / "header", machines.draw.choice(others).read_bytes() if others else b"")


def _whole(path: Path, content: bytes) -> tuple[Path, Old]:
    """Writes a whole file, in place."""
    old = path.read_bytes()
    if not content or old == content:
        raise Unaltered
    with open(path, "r+b") as file:
        file.write(content)
        file.truncate()
    return path, [(0, old)]


def _table(machines: Corrupted, folder: Path) -> tuple[Path, list[int]]:
    """The table of a partition, and the places of the cells that are taken."""
    machines.header(folder)
    for path in folder.glob("table-*"):
        taken = np.nonzero(np.fromfile(path, dtype=np.uint32)[: -2 * shard.ORDER_WORDS])[0]
        if len(taken):
            return path, [4 * int(cell) for cell in taken]
    raise Unaltered


def bit_of_the_table(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    path, taken = _table(machines, folder)
    place = machines.draw.choice(taken)
    return path, _write(path, (place, _flipped(_read(path, place, 4), machines.draw)))


def cell_is_empty(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    path, taken = _table(machines, folder)
    return path, _write(path, (machines.draw.choice(taken), bytes(4)))


def cells_change_places(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    path, taken = _table(machines, folder)
    one, other = machines.draw.choice(taken), machines.draw.choice(taken)
    return path, _write(path, (one, _read(path, other, 4)), (other, _read(path, one, 4)))


def cell_is_taken(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    """An empty cell of the table points somewhere."""
    path, taken = _table(machines, folder)
    place = 4 * machines.draw.randrange(path.stat().st_size // 4)
    return path, _write(path, (place, _read(path, machines.draw.choice(taken), 4)))


def table_is_cut_off(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    path, taken = _table(machines, folder)
    place = machines.draw.choice(taken)
    old = _read(path, place, path.stat().st_size)
    os.truncate(path, place)
    return path, [(place, old)]


def bit_of_a_seed(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    """The states that a partition begins with, before they are its own."""
    return _bit_of_any(machines, sorted(folder.glob("seed-*")))


def bit_of_facts_or_marks(machines: Corrupted, folder: Path) -> tuple[Path, Old]:
    return _bit_of_any(machines, sorted([*folder.glob("facts-*"), *folder.glob("marks-*")]))


def _bit_of_any(machines: Corrupted, paths: Sequence[Path]) -> tuple[Path, Old]:
    known = [path for path in paths if path.stat().st_size]
    if not known:
        raise Unaltered
    path = machines.draw.choice(known)
    return path, _write(path, (0, _flipped(path.read_bytes(), machines.draw)))


FILES: dict[str, Change] = {
    change.__name__.replace("_", " "): change
    for change in (
        bit_of_a_state, low_bit_of_a_state, word_is_zero, state_is_another, states_change_places, words_change_places,
        states_are_cut_off, file_is_longer, bit_of_the_header, header_is_cut_off, header_is_older, header_is_of_another,
        bit_of_the_table, cell_is_empty, cells_change_places, cell_is_taken, table_is_cut_off, bit_of_a_seed,
        bit_of_facts_or_marks,
    )
}  # fmt: skip
BETWEEN_TASKS = {
    "states are cut off", "file is longer", "table is cut off", "bit of a seed", "bit of facts or marks",
}
"""Faults that are possible only while no process has mapped the file: otherwise the system ends the process."""


# On the way.

Records = list[tuple[int, Any]]


def _piece(machines: Corrupted, records: Records, of: type = bytes) -> int:
    places = [place for place, (_, payload) in enumerate(records) if isinstance(payload, of) and payload]
    if not places:
        raise Unaltered
    return machines.draw.choice(places)


def _replaced(records: Records, place: int, payload: object) -> None:
    if records[place][1] == payload:
        raise Unaltered
    records[place] = (records[place][0], payload)


def bit_of_a_piece(machines: Corrupted, records: Records) -> None:
    place = _piece(machines, records)
    _replaced(records, place, _flipped(records[place][1], machines.draw))


def words_of_a_piece_change_places(machines: Corrupted, records: Records) -> None:
    place = _piece(machines, records)
    words = np.frombuffer(records[place][1], dtype=np.uint64).copy()
    one, other = (machines.draw.randrange(len(words)) for _ in range(2))
    words[one], words[other] = words[other], words[one]
    _replaced(records, place, words.tobytes())


def bits_of_two_words_of_a_piece(machines: Corrupted, records: Records) -> None:
    """One word is more by what the other one is less."""
    place = _piece(machines, records)
    words = np.frombuffer(records[place][1], dtype=np.uint64).copy()
    one, other = (machines.draw.randrange(len(words)) for _ in range(2))
    bit = np.uint64(1 << machines.draw.randrange(64))
    words[one : one + 1] += bit
    words[other : other + 1] -= bit
    _replaced(records, place, words.tobytes())


def piece_is_cut_off(machines: Corrupted, records: Records) -> None:
    place = _piece(machines, records)
    _replaced(records, place, records[place][1][: -8 * machines.code.code.words])


def piece_is_missing(machines: Corrupted, records: Records) -> None:
    del records[_piece(machines, records)]


def piece_comes_twice(machines: Corrupted, records: Records) -> None:
    records.append(records[_piece(machines, records)])


def end_is_missing(machines: Corrupted, records: Records) -> None:
    del records[_piece(machines, records, tasks.EndOfExpansion)]


def end_is_of_another(machines: Corrupted, records: Records) -> None:
    one, other = (_piece(machines, records, tasks.EndOfExpansion) for _ in range(2))
    _replaced(records, one, replace(records[one][1], sent=records[other][1].sent))


def report_is_changed(machines: Corrupted, records: Records) -> None:
    place = _piece(machines, records, tasks.SealedReport)
    sealed = records[place][1]
    _replaced(records, place, replace(sealed, content=_flipped(sealed.content, machines.draw)))


SHUFFLED: dict[str, Callable[[Corrupted, Records], None]] = {
    change.__name__.replace("_", " "): change
    for change in (
        bit_of_a_piece, words_of_a_piece_change_places, bits_of_two_words_of_a_piece, piece_is_cut_off,
        piece_is_missing, piece_comes_twice, end_is_missing, end_is_of_another, report_is_changed,
    )
}  # fmt: skip
ARRIVING = "on the way to a merge"
TO_THE_DRIVER = "on the way to the driver"
STATES_OF_A_REPORT = "states of a report"


def drawn(draw: random.Random) -> Plan:
    """A change at a random moment."""
    kind = draw.choice([*FILES, *SHUFFLED, STATES_OF_A_REPORT, *FILES])
    if kind in SHUFFLED or kind == STATES_OF_A_REPORT:
        return Plan(kind, ARRIVING if kind in SHUFFLED else TO_THE_DRIVER, draw.random(), "stays", 0)
    moment = BEFORE_A_TASK if kind in BETWEEN_TASKS else draw.choice([BEFORE_A_TASK, *IN_A_TASK])
    return Plan(kind, moment, draw.random(), draw.choice(AFTERWARDS), draw.randint(2, LATEST))


# Searches.


@dataclass(frozen=True)
class Subject:
    """A search, with what decides who expands which levels. ``judged`` says that the partitions judge runs."""

    cls: type[Model]
    constants: tuple[tuple[str, int], ...]
    partitions: int
    narrow: int
    judged: bool = False

    def of(self) -> tuple[Model, list[Any]]:
        return self.cls(**dict(self.constants)), list(collect(self.cls, []).values())

    @cache  # noqa: B019 - there are few of them
    def wanted(self) -> SearchResult:
        return native.search_states(*self.of(), Options(workers=1))

    @cache  # noqa: B019 - as above
    def moments(self, root: Path) -> Counter[str]:
        """The number of moments of each kind in an undisturbed search."""
        machines = Corrupted(root / "undisturbed", random.Random(0), faults=())
        assert searched(self, machines) == ("the same", "")
        return machines.moments


_LOADED: dict[Subject, LoadedKernel] = {}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a search: ``the same``, ``named``, ``refused``, ``other`` or ``unclear``. ``done`` describes the
    change and its moment; it is empty if the search ended before there was anything to change."""

    seed: int
    kind: str
    done: str
    what: str
    said: str


def run(subject: Subject, root: Path, seed: int) -> Outcome:
    """One search with one change."""
    draw = random.Random(seed)
    plan = drawn(draw)
    expected = subject.moments(root)[plan.moment]
    faults = ("files are lost", "worker is killed") if seed % 4 == 3 else ()
    machines = Corrupted(root / str(seed), draw, faults=faults, plan=plan, expected=expected)
    what, said = searched(subject, machines)
    shutil.rmtree(root / str(seed), ignore_errors=True)
    return Outcome(seed, plan.kind, machines.done, what, said)


def searched(subject: Subject, machines: Corrupted) -> tuple[str, str]:
    machines.code = _LOADED.get(subject)

    def build(*given: Any) -> KernelCode:
        """Compiles what is searched once."""
        if machines.code is None:
            machines.code = _LOADED[subject] = build_code(*given).load()
        known: KernelCode = machines.code.code
        return known

    with (
        _moments(machines),
        patch.object(cluster, "MAX_BYTES", subject.narrow),
        patch.object(search, "build_code", build),
        patch.object(search, "MAX_STATES_FOR_DRIVER", 0 if subject.judged else search.MAX_STATES_FOR_DRIVER),
    ):
        try:
            found, _ = search_states(*subject.of(), machines, partitions=subject.partitions)
        except FilesChangedError as error:
            return ("named" if "does not hold what was written" in str(error) else "unclear"), str(error)
        except JobFailed as error:
            return ("named" if "does not hold what was written" in error.message else "refused"), error.message
        except Exception as error:
            return "unclear", f"{type(error).__name__}: {error}"
    wanted = subject.wanted()
    here, there = figures(found), figures(wanted)
    said = "; ".join(f"{name}: {here[name]}, not {there[name]}" for name in FIGURES if here[name] != there[name])
    return ("other" if said else "the same"), said


def figures(found: SearchResult) -> dict[str, Any]:
    """The figures that must be the same, without lassos: the partitions find others, which CPython replays."""
    figures = {name: getattr(found, name) for name in FIGURES}
    figures["violations"] = [it for it in found.violations if it.kind != "liveness"]
    figures["liveness"] = [(it.name, it.verdict, it.bounds, it.needs) for it in found.liveness]
    return figures


@contextlib.contextmanager
def _moments(machines: Corrupted) -> Iterator[None]:
    """Tells the machines of every moment of a task."""
    believe, copy, insert, check, name = Shard._believe, StateReader.copy, Shard.insert, Shard.check, Shard._name
    merged = Simulated._merged

    def believed(self: Shard, *given: Any) -> None:
        believe(self, *given)
        machines.pass_moment("when its files are open")

    def copied(self: StateReader, states: Any) -> None:
        machines.pass_moment("before a piece is copied")
        copy(self, states)
        machines.pass_moment("after a piece was copied")

    def inserted(self: Shard, states: Any) -> None:
        insert(self, states)
        machines.pass_moment("after states were added")

    def checked(self: Shard, *given: Any) -> None:
        machines.pass_moment("before new states are checked")
        check(self, *given)

    def named(self: Shard, *given: Any) -> None:
        machines.pass_moment("before a header is written")
        name(self, *given)
        machines.kept_headers.setdefault(self.folder, []).append((self.folder / "header").read_bytes())
        machines.pass_moment("after a header was written")

    def arrived(self: Simulated, partition: int, task: Any, records: Records) -> list[Any]:
        machines.moments[ARRIVING] += 1
        records = records[:]
        plan = machines.due(ARRIVING)
        if plan is not None:
            with contextlib.suppress(Unaltered):
                SHUFFLED[plan.kind](machines, records)
                machines.done = plan.kind
        found = merged(self, partition, task, records)
        for report in found:
            if getattr(report, "states", None):
                machines.moments[TO_THE_DRIVER] += 1
                if machines.due(TO_THE_DRIVER) is not None:
                    report.states = _flipped(report.states, machines.draw)
                    machines.done = STATES_OF_A_REPORT
        return found

    with contextlib.ExitStack() as stack:
        for place, attribute, new in (
            (Shard, "_believe", believed), (StateReader, "copy", copied), (Shard, "insert", inserted),
            (Shard, "check", checked), (Shard, "_name", named), (Simulated, "_merged", arrived),
            (shard, "READ_BYTES", 64),
        ):  # fmt: skip
            stack.enter_context(patch.object(place, attribute, new))
        yield


class Wide(Model):
    """Two counters, each in a word of its own, of which one never overtakes the other."""

    slow: Annotated[int, Between(0, 1 << 40)] = 0
    fast: Annotated[int, Between(0, 1 << 40)] = 0

    @action
    def fast_goes_on(self) -> None:
        require(self.fast < 9663676416)
        self.fast += 1073741824

    @action
    def slow_goes_on(self) -> None:
        require(self.slow < self.fast)
        self.slow += 1073741824

    @invariant
    def is_slower(self) -> bool:
        return self.slow <= self.fast


SUBJECTS = (
    Subject(Walk, (), 3, -1),
    Subject(Wide, (), 2, -1),
    Subject(Philosophers, (("last", 2),), 3, -1),
    Subject(Ring, (), 2, -1, judged=True),
    Subject(Walk, (), 2, MAX_BYTES),
    Subject(Philosophers, (("last", 1),), 2, 40),
)
"""Violated and not; with states of one word and of two; expanded by the partitions, by the driver, and by both."""


def campaign(seeds: Iterable[int], root: Path) -> Iterator[Outcome]:
    """The outcomes of searches, each of the next subject."""
    for seed in seeds:
        yield run(SUBJECTS[seed % len(SUBJECTS)], root, seed)
