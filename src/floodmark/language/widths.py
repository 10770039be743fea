"""The widths of the containers that a model gives no capacity, and the sizes that containers have.

CPython needs none. In a packed state, each such container has room for a limited number of elements, as if its width
were its capacity. The difference is the reaction to a step that needs more room: instead of a model error, it raises
``WidthExceeded``, and the search restarts with twice the width (``floodmark.checkers.adaptive_capacity``). No run is
cut: wherever CPython or compiled code would have to leave out an element, it stops.

A container is known by its place: a variable by its name, a nested container as ``logs[...]`` or ``an element of
sent``. A field of a record is known as ``the field entries``, in whichever class it stands: records of several classes
may become one union, in which a field has one type. The parameter of an action has no place and no width of its own; it
is drawn from a container of the state, whose elements it is one of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from floodmark.language.plurals import counted
from floodmark.language.types import UNLIMITED, BagType, MapType, OptionalType, RecordType, SeqType, SetType, Type

START = 2
"""The width with which a search begins."""


class WidthExceeded(BaseException):
    """A container without a capacity would hold more elements than its width.

    It is no ``Exception``, so that no handler takes it for a failure of the model.
    """

    def __init__(self, place: str, name: str, size: int, width: int) -> None:
        super().__init__(f"{name} would hold {counted(size, 'element')}, more than its width of {width}")
        self.place = place
        self.width = width


@dataclass(frozen=True, slots=True)
class Widths:
    """The width of each container without a capacity, by its place. Widths are doubled, so they depend on the largest
    sizes alone, not on the order in which they were met."""

    chosen: Mapping[str, int] = field(default_factory=dict)
    limited: bool = True

    def of(self, place: str) -> int:
        """The width at a place; a parameter has none."""
        return self.chosen.get(place, START) if place and self.limited else UNLIMITED

    @property
    def doublings(self) -> int:
        """The number of times that a width was doubled, which is the number of restarts of the search."""
        return sum((width // START).bit_length() - 1 for width in self.chosen.values())

    def grown(self, place: str) -> Widths:
        """The same widths, with the width at a place doubled."""
        return Widths({**self.chosen, place: 2 * self.of(place)})


FIRST_WIDTHS = Widths()
NO_WIDTHS = Widths(limited=False)
"""The widths of a model that CPython runs."""


def least_widths(largest: Mapping[str, int]) -> Widths:
    """The final widths of a search that meets sizes up to these."""
    chosen = {}
    for place, size in largest.items():
        width = START
        while width < size:
            width *= 2
        if width > START:
            chosen[place] = width
    return Widths(chosen)


def sizes(kind: Type, value: Any, name: str) -> Iterator[tuple[str, int]]:
    """The size of each such container in the value of a variable, with its place in the model's words.

    The entries of a map share a place. The content of a container's elements is not considered.
    """
    match kind:
        case SetType(_, int()) | BagType() | SeqType():
            yield name, len(value)
        case OptionalType(inner) if value is not None:
            yield from sizes(inner, value, name)
        case RecordType(_, fields):
            parts = kind.parts(value)
            for field, of in fields:
                yield from sizes(of, parts[field], f"{name}.{field}")
        case MapType(_, of):
            for item in value.values():
                yield from sizes(of, item, f"{name}[...]")


def capacities(kind: Type, name: str) -> Iterator[tuple[str, int]]:
    """The capacity, or the width, of each of these containers."""
    match kind:
        case SetType(_, int() as capacity) | BagType(_, capacity) | SeqType(_, capacity):
            yield name, capacity
        case OptionalType(inner):
            yield from capacities(inner, name)
        case RecordType(_, fields):
            for field, of in fields:
                yield from capacities(of, f"{name}.{field}")
        case MapType(_, of):
            yield from capacities(of, f"{name}[...]")
