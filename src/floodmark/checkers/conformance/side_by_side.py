"""Model and implementation side by side at the first difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from floodmark.checkers.conformance.lockstep import Mismatch
from floodmark.checkers.value_text import plain, show

ABSENT = "(nothing)"
MAX_WIDTH = 70


def side_by_side(mismatch: Mismatch) -> list[str]:
    """A table with a line for each place where model and implementation differ."""
    rows = [("", "model", "implementation")]
    for name, expected, shown in mismatch.differences:
        rows += [(place, _text(one), _text(other)) for place, one, other in _apart(name, plain(expected), plain(shown))]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return [f"{place:{widths[0]}}  {one:{widths[1]}}  {other}" for place, one, other in rows]


class _AbsentValue:
    """Represents a value that only the other side has."""


def _apart(place: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """The innermost places where two values differ."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            yield from _apart(f"{place}[{key}]", one.get(key, _AbsentValue), other.get(key, _AbsentValue))
    elif isinstance(one, list) and isinstance(other, list):
        for index in range(max(len(one), len(other))):
            yield from _apart(f"{place}[{index}]", _item(one, index), _item(other, index))
    elif one != other or type(one) is not type(other):
        yield place, one, other


def _item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else _AbsentValue


def _text(value: Any) -> str:
    if value is _AbsentValue:
        return ABSENT
    text = show(value) if not isinstance(value, str) else value
    return text if len(text) <= MAX_WIDTH else text[: MAX_WIDTH - 4] + " ..."
