"""States as tables: identifiers have columns of their own, and changes are marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element

from floodmark.checkers.explanation import trace
from floodmark.checkers.explanation.false_property import RefutedStep, nearest_lines
from floodmark.checkers.explanation.trace import StateChange
from floodmark.checkers.report.html.markup import Part, code, tag
from floodmark.checkers.value_text import show, show_step
from floodmark.language.model import State
from floodmark.language.values import Identifier, Map, Record

_Cells = dict[str, Any]


def changes(names: Sequence[str], before: State, after: State) -> Element:
    """The changes of a step, one line each."""
    found = trace.changes(names, before, after)
    if not found:
        return tag("p", "Nothing changes.", class_="quiet")
    return tag("ul", [tag("li", _change(it)) for it in found], class_="changes")


def _change(it: StateChange) -> list[Part]:
    path = tag("b", it.path)
    if it.old is None:
        return [path, " ", tag("mark", code(f"+ {it.new}"))]
    if it.new is None:
        return [path, " ", tag("mark", code(f"- {it.old}"))]
    return [path, " ", tag("span", code(it.old), class_="old"), " → ", tag("mark", code(it.new))]


def whole(names: Sequence[str], state: State, before: State | None) -> Element:
    """A whole state; differences from ``before`` are marked."""
    olds: Sequence[Any] = [None] * len(state) if before is None else before
    shared: list[Element] = []
    columns: dict[type[Identifier], list[Element]] = {}
    for name, value, old in zip(names, state, olds, strict=True):
        kind = _identified(value)
        if kind is None:
            shared.append(tag("tr", tag("th", _name(name), scope="row"), _cell(value, old, before is not None)))
            continue
        rows = columns.setdefault(kind, [_header(value)])
        for path, cells in _fields(name, value).items():
            before_cells = cells if before is None else _fields(name, old).get(path, {})
            rows.append(_row(path, cells, before_cells))
    tables = [_table(rows) for rows in columns.values()]
    return tag("div", _table(shared) if shared else None, tables, class_="state")


def _table(rows: Sequence[Element]) -> Element:
    return tag("div", tag("table", rows), class_="scroll")


def _identified(value: Any) -> type[Identifier] | None:
    """The class of identifiers that a map is keyed by."""
    if isinstance(value, Map) and len(value) > 0:
        keys = list(value)
        if all(isinstance(key, Identifier) for key in keys):
            return type(keys[0])
    return None


def _header(entries: Map[Any, Any]) -> Element:
    return tag("tr", tag("td"), [tag("th", show(key), scope="col") for key in entries])


def _fields(name: str, entries: Map[Any, Any]) -> dict[str, _Cells]:
    """A map's rows: one, or one for each field of its records, or for each key of the maps in it."""
    if all(isinstance(item, Record) for item in entries.values()):
        fields = dict.fromkeys(field for item in entries.values() for field in item._values)
        return {
            f"{name}.{field}": {show(key): item._values.get(field) for key, item in entries.items()} for field in fields
        }
    if entries and all(isinstance(item, Map) for item in entries.values()):
        held = {show(key): dict(item) for key, item in entries.items()}
        inner = dict.fromkeys(key for item in held.values() for key in item)
        return {f"{name}[…][{show(each)}]": {key: item.get(each) for key, item in held.items()} for each in inner}
    return {name: {show(key): item for key, item in entries.items()}}


def _row(path: str, cells: _Cells, before: _Cells) -> Element:
    known = [_cell(value, before.get(key), key in before) for key, value in cells.items()]
    return tag("tr", tag("th", _name(path), scope="row"), known)


def _name(path: str) -> list[Part]:
    """A name that may be broken behind a dot or an underscore."""
    pieces = re.split(r"(?<=[._])", path)
    return [pieces[0], *(part for piece in pieces[1:] for part in (tag("wbr"), piece))]


def _cell(value: Any, old: Any, known: bool) -> Element:
    """A value; a map is a table of its own with differences marked key by key."""
    if isinstance(value, Map) and value:
        before = dict(old) if isinstance(old, Map) else {}
        rows = [tag("tr", tag("th", show(key)), _cell(item, before.get(key), known)) for key, item in value.items()]
        return tag("td", tag("table", rows, class_="inner"))
    return tag("td", tag("mark", code(show(value))) if known and value != old else code(show(value)))


def side_by_side(found: RefutedStep) -> list[Element]:
    """A table with a row for each variable, in which each change from one column to the next is marked."""
    step = found.nearest
    columns: list[tuple[Part, State]] = [("begins with", found.states[0])]
    if len(found.states) == 2:
        columns = [("before", found.states[0]), ("after", found.states[1])]
    if step is not None:
        columns.append((tag("code", code(show_step(step.step))), step.state))
    rows = [tag("tr", tag("th", found.name, scope="col"), [tag("th", head, scope="col") for head, _ in columns])]
    for place, name in enumerate(found.variables):
        values = [state[place] for _, state in columns]
        cells = [
            tag("td", tag("mark", code(show(value))) if number and value != values[number - 1] else code(show(value)))
            for number, value in enumerate(values)
        ]
        rows.append(tag("tr", tag("th", name, scope="row"), cells))
    table = tag("div", tag("table", rows), class_="scroll state", tabindex="0", role="region", aria_label=found.name)
    return [table, *(tag("p", line.strip(), class_="quiet") for line in nearest_lines(found))]
