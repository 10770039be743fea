"""Runs each engine and a plain search in CPython on a generated model, and compares what they find.

An engine is a function of a model and its properties. Those of ``ENGINES`` run every model; Spark, which takes a second
for each, runs some; z3 joins in ``tests/support/symbolic_agreement.py``.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from floodmark.checkers.codegen import memory
from floodmark.checkers.native import search as native_engine
from floodmark.checkers.project.properties import Property, collect
from floodmark.checkers.reference import search as reference_engine
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.spark import search as spark_engine
from floodmark.compiler.layout import digest, lay_out
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, State, largest_sizes, sized
from floodmark.language.reference import choices, fire, holds, initial_states, within_boundary
from floodmark.language.source import _parsed
from floodmark.language.types import growing
from floodmark.language.values import Record
from floodmark.language.widths import NO_WIDTHS, WidthExceeded, Widths, least_widths

Engine = Callable[[Model, Sequence[Property]], SearchResult]

MAX_STATES = 150
MAX_GENERATED = 3000
MAX_ELEMENTS = 64
"""The most elements in a container without a capacity: a loop over a sequence that appends it to itself soon makes it
larger than any memory."""


def _reference(model: Model, properties: Sequence[Property]) -> SearchResult:
    return reference_engine.search_states(model, properties, Options())


def _native(workers: int) -> Engine:
    def search_states(model: Model, properties: Sequence[Property]) -> SearchResult:
        return native_engine.search_states(model, properties, Options(workers=workers))

    return search_states


ENGINES: dict[str, Engine] = {
    "reference": _reference,
    "native, 1 worker": _native(1),
    "native, 2 workers": _native(2),
}


def on_spark(model: Model, properties: Sequence[Property]) -> SearchResult:
    """Every level distributed, in the session of this process."""
    how = spark_engine.Distribution(master="local[1]", partitions=2, wide=0)
    return spark_engine.search_states(model, properties, Options(workers=1), None, how)


class TooMany(Exception):  # noqa: N818 - it is no error
    """A model has more states than CPython should look at; ``levels`` were finished."""

    def __init__(self, levels: int) -> None:
        super().__init__(levels)
        self.levels = levels


@dataclass
class Outcome:
    """The result of a search, as far as every engine has to agree. ``shortest`` is in states; None without a violation.
    ``widths`` is the number of doublings of widths.

    The last two are CPython's errors too, and the depth, in states, at which a property came true.
    """

    verdict: str
    shortest: int | None = None
    broken: frozenset[tuple[str, str]] = frozenset()
    reached: frozenset[str] = frozenset()
    distinct: int = 0
    generated: int = 0
    depth: int = 0
    cut: int = 0
    digest: str = ""
    widths: int = 0
    actions: Mapping[str, int] = field(default_factory=dict)
    first_bad: int | None = field(default=None, compare=False)
    reached_at: Mapping[str, int] = field(default_factory=dict, compare=False)


def outcome(search_states: Engine, model: Model, properties: Sequence[Property]) -> Outcome:
    """The result of an engine."""
    try:
        found = search_states(model, properties)
    except ModelError as error:
        if type(error) is ModelError and not _is_run_time(error):
            raise
        return Outcome("error", 0)
    except SourceError:
        return Outcome("error", 0)
    result = Outcome("holds", None, frozenset(), frozenset(found.reached), found.distinct, found.generated, found.depth,
                     found.cut, found.digest, Widths(found.widths).doublings, dict(found.actions))
    if not found.violations:
        return result
    shortest = min(len(violation.trace) for violation in found.violations)
    if any(v.kind == "error" and v.failed_step is None and len(v.trace) <= 1 for v in found.violations):
        return Outcome("error", 0)
    failed = any(v.kind == "error" for v in found.violations)
    result.verdict, result.shortest = ("error", None) if failed else ("violated", shortest)
    if failed:
        result.reached, result.broken, result.cut = frozenset(), frozenset({("error", "")}), 0
        return _uncounted(result) if _grows(model) else result
    result.broken = frozenset((v.kind, v.property) for v in found.violations)
    return result


def _grows(model: Model) -> bool:
    """Whether containers without a capacity are anywhere in a model, also in records that no variable holds."""
    beside = vars(sys.modules[type(model).__module__]).values()
    records = [cls for cls in beside if isinstance(cls, type) and issubclass(cls, Record) and cls is not Record]
    kinds = [*model.variable_types.values(), *map(model.declared_type, records)]
    return any(any(growing(kind)) for kind in kinds)


def _uncounted(result: Outcome) -> Outcome:
    """A model error where containers have no capacity. The search ends with it, whether or not other steps of that
    level would have needed more room, so what it counts there depends on the engine."""
    result.distinct = result.generated = result.depth = result.widths = 0
    result.digest, result.actions = "", {}
    return result


def _is_run_time(error: ModelError) -> bool:
    return "initial" in error.message


def plain_search(model: Model, properties: Sequence[Property]) -> tuple[Outcome, set[State]]:
    """A search level by level that uses nothing but the reference meaning. Raises TooMany."""
    model = sized(model, NO_WIDTHS)
    noted = model.note_size

    def note_size(place: str, size: int) -> None:
        noted(place, size)
        if size > MAX_ELEMENTS:
            raise WidthExceeded(place, place, size, MAX_ELEMENTS)

    vars(model)["note_size"] = note_size
    seen: set[State] = set()
    outside: set[State] = set()
    found = Outcome("holds")
    actions = dict.fromkeys(type(model).methods("action"), 0)
    broken: dict[tuple[str, str], int] = {}
    reached: dict[str, int] = {}
    frontier: list[State] = []
    depth = 0

    def breaks(kind: str, name: str, length: int) -> None:
        broken[kind, name] = min(length, broken.get((kind, name), length))

    def arrive(state: State, into: list[State]) -> None:
        found.generated += 1
        if state in seen:
            return
        try:
            inside = within_boundary(model, state)
        except SourceError:
            breaks("error", "", depth + 1)
            return
        if inside:
            seen.add(state)
            into.append(state)
        else:
            found.cut += 1
            outside.add(state)
        for prop in properties:
            if prop.kind != "transition":
                try:
                    true = holds(model, prop.function, state)
                except SourceError:
                    breaks("error", "", depth + 1)
                    continue
                if prop.kind == "reachable" and true and inside:
                    reached.setdefault(prop.name, depth + 1)
                elif prop.kind == "invariant" and not true:
                    breaks("invariant", prop.name, depth + 1)

    try:
        for _, state in initial_states(model):
            for prop in properties:
                if prop.is_refinement and not holds(model, prop.function, state):
                    breaks("transition", prop.name, 1)
            arrive(state, frontier)
    except SourceError:
        return Outcome("error", 0), seen
    if found.generated == 0 or ("error", "") in broken:
        return Outcome("error", 0), seen
    while frontier and not broken:
        depth += 1
        level: list[State] = []
        for old in frontier:
            steps = []
            for name in type(model).methods("action"):
                try:
                    steps += choices(model, old, name)
                except SourceError as error:  # in a guard; the other actions are taken all the same
                    if "possible values; draw it" in error.message:
                        raise ModelError(error.message, error.file, error.line) from None
                    breaks("error", "", depth)
            for step in steps:
                if len(seen) > MAX_STATES or found.generated > MAX_GENERATED:
                    raise TooMany(depth - 1)
                try:
                    new = fire(model, old, step)
                except WidthExceeded:
                    raise TooMany(depth - 1) from None
                except SourceError:
                    breaks("error", "", depth)
                    continue
                if new is None:
                    continue
                actions[step.action] += 1
                for prop in properties:
                    if prop.kind == "transition":
                        try:
                            if not holds(model, prop.function, old, new):
                                breaks("transition", prop.name, depth + 1)
                        except SourceError:
                            breaks("error", "", depth + 1)
                arrive(new, level)
        frontier = level
    if broken and frontier:
        depth += 1
    widths = least_widths(largest_sizes(model))
    found.widths = widths.doublings
    layout = lay_out(sized(model, widths).variable_types)
    found.actions, found.depth, found.distinct = actions, depth, len(seen)
    found.reached, found.reached_at = frozenset(reached), reached
    found.first_bad = min(broken.values(), default=None)
    packed = {layout.pack(state) for state in seen}
    assert {layout.unpack(words) for words in packed} == seen, "packing loses something"
    found.digest = digest(packed)
    if broken:
        failed = any(kind == "error" for kind, _ in broken)
        found.verdict, found.shortest = ("error", None) if failed else ("violated", min(broken.values()))
        found.broken = frozenset({("error", "")}) if failed else frozenset(broken)
        found.reached, found.cut = (frozenset(), 0) if failed else (found.reached, found.cut)
        if failed and _grows(model):
            _uncounted(found)
    return found, seen


_numbers = itertools.count()


@contextlib.contextmanager
def imported(source: str, name: str, directory: Path) -> Iterator[type[Model]]:
    """The class ``name`` of a module with this source, written to a file and imported; forgotten afterwards."""
    module_name = f"generated_model_{next(_numbers)}"
    path = directory / f"{module_name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
        yield getattr(module, name)
    finally:
        del sys.modules[module_name]
        linecache.cache.pop(str(path), None)
        _parsed.cache_clear()
        path.unlink()


def states_of(model: Model) -> set[State]:
    """The states that the native engine reaches."""
    rows, packed = native_engine.reachable_set(model, Options(workers=1))
    layout = lay_out(packed.variable_types)
    return {layout.unpack(int(word) for word in row) for row in rows}


def properties_of(cls: type[Model]) -> list[Property]:
    return list(collect(cls, []).values())


def remember_in(room: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets code that is compiled from now on remember what it has judged in so many bytes; it is kept in a folder."""
    for name in ("_STEPS", "_IMAGES", "_PAIRS"):
        monkeypatch.setattr(memory, name, room)
    monkeypatch.setenv("FLOODMARK_CACHE", str(folder / "cache"))
