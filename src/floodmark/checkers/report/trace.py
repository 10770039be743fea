"""The steps of a counterexample, each with only what it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.search_result import TraceState
from floodmark.checkers.value_text import show, show_step
from floodmark.language.model import Model, State
from floodmark.language.values import Bag, Identifier, Map, Record, Seq, Set


@dataclass(frozen=True, slots=True)
class StateChange:
    """What a step changed at one place: ``old`` is the text of what was there, None if ``new`` was added to a set or a
    bag; ``new`` is None for what was removed. ``owner`` is the identifier, such as a broker, whose map entry it is."""

    path: str
    old: str | None
    new: str | None
    owner: Identifier | None = None

    def __str__(self) -> str:
        if self.old is None:
            return f"{self.path}: + {self.new}"
        return f"{self.path}: - {self.old}" if self.new is None else f"{self.path}: {self.old} -> {self.new}"


def trace_lines(model: Model, trace: Sequence[TraceState], mark: Callable[[int], str] = lambda _: "") -> list[str]:
    """The numbered steps of a trace: the first with its whole state, the others with what they change.

    ``mark`` is what stands next to a step, which is counted from 1.
    """
    names = list(model.variable_types)
    width = len(str(len(trace)))
    lines: list[str] = []
    before: State | None = None
    for number, entry in enumerate(trace, 1):
        lines.append(f"{number:>{width}}  {marked(show_step(entry.step), mark(number))}")
        state = entry.state
        shown = state_lines(names, state) if before is None else change_lines(names, before, state)
        lines += [f"{' ' * width}    {text}" for text in shown or ["nothing changes"]]
        before = state
    return lines


def marked(step: str, mark: str) -> str:
    """A step with its note."""
    return f"{step}  <- {mark}" if mark else step


def state_lines(names: Sequence[str], state: State) -> list[str]:
    """A whole state, one line for each variable; a map of records has a line for each entry, grouped by identifier."""
    lines: list[tuple[Identifier | None, str]] = []
    for name, value in zip(names, state, strict=True):
        if isinstance(value, Map) and _of_records(value.values()):
            owners = [key if isinstance(key, Identifier) else None for key in value]
            texts = [f"{name}[{show(key)}]: {show(item)}" for key, item in value.items()]
            lines += zip(owners, texts, strict=True)
        else:
            lines.append((None, f"{name}: {show(value)}"))
    return [text for _, text in sorted(lines, key=lambda line: _group(line[0]))]


def change_lines(names: Sequence[str], before: State, after: State) -> list[str]:
    """The differences between two states, a line each."""
    return [str(change) for change in changes(names, before, after)]


def changes(names: Sequence[str], before: State, after: State) -> list[StateChange]:
    """The differences between two states: first those that belong to no identifier, then grouped by identifier."""
    found: list[StateChange] = []
    for name, old, new in zip(names, before, after, strict=True):
        found += _changes(name, old, new, None)
    return sorted(found, key=lambda change: _group(change.owner))


def owners(names: Sequence[str], before: State, after: State) -> list[Identifier]:
    """The identifiers whose map entries differ between two states."""
    found: dict[Identifier, None] = {}
    for name, old, new in zip(names, before, after, strict=True):
        found.update({change.owner: None for change in _changes(name, old, new, None) if change.owner is not None})
    return list(found)


def _group(owner: Identifier | None) -> tuple[str, int]:
    return ("", 0) if owner is None else (type(owner).__name__, owner.number)


def _changes(path: str, old: Any, new: Any, owner: Identifier | None) -> Iterator[StateChange]:
    if old == new and type(old) is type(new):
        return
    match old, new:
        case Map(), Map():
            for key in new:
                inner = key if isinstance(key, Identifier) and owner is None else owner
                yield from _changes(f"{path}[{show(key)}]", old[key], new[key], inner)
        case Record(), Record() if type(old) is type(new):
            for name, value in new._values.items():
                yield from _changes(f"{path}.{name}", old._values[name], value, owner)
        case (Set(), Set()) if _of_records(old) or _of_records(new):
            yield from (StateChange(path, show(item), None, owner) for item in old - new)
            yield from (StateChange(path, None, show(item), owner) for item in new - old)
        case Bag(), Bag():
            yield from (StateChange(path, show(item), None, owner) for item in surplus(old, new))
            yield from (StateChange(path, None, show(item), owner) for item in surplus(new, old))
        case (Seq(), Seq()) if len(old) == len(new) and _of_records(old):
            for index, (a, b) in enumerate(zip(old, new, strict=True)):
                yield from _changes(f"{path}[{index}]", a, b, owner)
        case _:
            yield StateChange(path, show(old), show(new), owner)


def _of_records(items: Any) -> bool:
    return any(isinstance(item, Record) for item in items)


def surplus(bag: Iterable[Any], other: Iterable[Any]) -> list[Any]:
    """The occurrences that ``bag`` has in excess of ``other``."""
    left = list(other)
    more = []
    for item in bag:
        if item in left:
            left.remove(item)
        else:
            more.append(item)
    return more
