"""The steps of a counterexample, each with its changes alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.part_kinds import argument_kinds
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.value_text import plain, show, show_step
from floodmark.language.model import Model, State
from floodmark.language.reference import Step
from floodmark.language.values import Bag, Identifier, Map, Record, Seq, Set

_LINE = 100
"""A value with a longer text has a line for each of its parts."""


@dataclass(frozen=True, slots=True)
class StateChange:
    """A change at one place of a state: ``old`` is the old text, None for an element that was added to a set, a bag or
    a list; ``new`` is None for one that was removed. ``owner`` is the identifier, such as a broker, whose map entry
    changed."""

    path: str
    old: str | None
    new: str | None
    owner: Identifier | None = None

    def __str__(self) -> str:
        if self.old is None:
            return f"{self.path}: + {self.new}"
        return f"{self.path}: - {self.old}" if self.new is None else f"{self.path}: {self.old} -> {self.new}"


def trace_lines(model: Model, trace: Sequence[TraceState], mark: Callable[[int], str] = lambda _: "") -> list[str]:
    """The numbered steps of a trace: the first with its whole state, the others with their changes.

    ``mark`` gives the note next to a step, which is counted from 1.
    """
    names = list(model.variable_types)
    width = len(str(len(trace)))
    lines: list[str] = []
    before: State | None = None
    for number, entry in enumerate(trace, 1):
        lines.append(f"{number:>{width}}  {step_with_note(show_step(entry.step), mark(number))}")
        state = entry.state
        shown = state_lines(names, state) if before is None else change_lines(names, before, state)
        lines += [f"{' ' * width}    {text}" for text in shown or ["nothing changes"]]
        before = state
    return lines


def step_with_note(step: str, mark: str) -> str:
    """A step with its note."""
    return f"{step}  <- {mark}" if mark else step


def state_lines(names: Sequence[str], state: State) -> list[str]:
    """A whole state, one line for each variable. A map of records or of maps, and a value that does not fit into a
    line, has a line for each entry; lines about an identifier stand together."""
    return [str(part) for part in state_parts(names, state)]


@dataclass(frozen=True, slots=True)
class StatePart:
    """A part of a state with a line of its own: its place, its value as text, and the identifier that it is about."""

    path: str
    value: str
    owner: Identifier | None

    def __str__(self) -> str:
        return f"{self.path}: {self.value}"


def state_parts(names: Sequence[str], state: State) -> list[StatePart]:
    """The parts of a state, in the order of its lines."""
    parts = [part for name, value in zip(names, state, strict=True) for part in _parts(name, value, None)]
    return sorted(parts, key=lambda part: _group(part.owner))


def _parts(path: str, value: Any, owner: Identifier | None) -> Iterator[StatePart]:
    whole = f"{path}: {show(value)}"
    nested = isinstance(value, Map) and any(isinstance(item, (Record, Map)) for item in value.values())
    if isinstance(value, Map) and value and (len(whole) > _LINE or (nested and owner is None)):
        for key, item in value.items():
            mine = key if isinstance(key, Identifier) and owner is None else owner
            yield from _parts(f"{path}[{show(key)}]", item, mine)
    elif isinstance(value, Record) and len(whole) > _LINE and type(value).__str__ is object.__str__:
        for name, item in value._values.items():
            yield from _parts(f"{path}.{name}", item, owner)
    else:
        yield StatePart(path, show(value), owner)


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
        case (Seq(), Seq()) if (ends := _ends(old, new)) is not None:
            yield from (StateChange(f"{path}[{index}]", show(old[index]), None, owner) for index in ends[0])
            yield from (StateChange(f"{path}[{index}]", None, show(new[index]), owner) for index in ends[1])
        case _:
            yield StateChange(path, show(old), show(new), owner)


def _ends(old: Seq[Any], new: Seq[Any]) -> tuple[range, range] | None:
    """The indices of the elements that were removed from a list and of those that were appended to it, if nothing else
    changed. A list of several elements that became empty, or was empty, reads better as a whole."""
    shared = min(len(old), len(new))
    if len(old) == len(new) or (shared == 0 and abs(len(old) - len(new)) > 1):
        return None
    if old[:shared] == new[:shared]:
        return range(shared, len(old)), range(shared, len(new))
    if old[len(old) - shared :] == new:
        return range(len(old) - shared), range(0)
    return None


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


def trace_entries(model: Model | None, trace: Sequence[TraceState]) -> list[dict[str, Any]]:
    """The steps of a trace with the state that each leads to."""
    return [] if model is None else [trace_entry(model, at) for at in trace]


def trace_entry(model: Model, at: TraceState) -> dict[str, Any]:
    """A step with the state that it leads to."""
    return {**step_entry(model, at.step), "state": state_entry(model, at.state)}


def state_entry(model: Model, state: State) -> dict[str, Any]:
    """The value of each variable."""
    values = zip(model.variable_types.items(), state, strict=True)
    return {name: plain(value, kind) for (name, kind), value in values}


def step_entry(model: Model, step: Step) -> dict[str, Any]:
    """A step: its action and arguments."""
    kinds = argument_kinds(model, step)
    return {
        "action": step.action,
        "arguments": {name: plain(value, kinds.get(name)) for name, value in step.arguments.items()},
    }
