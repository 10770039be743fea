"""The bits of a packed state that an expression reads.

An entry of a map counts whole unless a field of it is read, and all entries count where the key is not a constant. A
part of a sequence or of an optional value counts as the whole of it. So a bit that does not count cannot change the
value of the expression: equal values have equal codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from floodmark.checkers.codegen.expressions import field_place
from floodmark.compiler.ir import Applied, Const, Expr, Field, Local, MapGet, StateVar, Which, children
from floodmark.compiler.layout import Layout
from floodmark.language.types import WORD, MapType, RecordType, Type
from floodmark.language.universe import universe


@dataclass(frozen=True, slots=True)
class Given:
    """A variable that is bound once, and its value."""

    variable: Local
    value: Any


def footprint(node: Expr, which: Which, layout: Layout, given: Given | None = None) -> tuple[int, ...]:
    """For each word of the state before or after a step, the bits that an expression reads where a variable has the
    value that is ``given``."""
    masks = [0] * layout.words
    seen: set[tuple[int, bool]] = set()
    waiting: list[tuple[Expr, Given | None]] = [(node, given)]
    while waiting:
        part, known = waiting.pop()
        if (id(part), known is None) in seen:
            continue
        seen.add((id(part), known is None))
        if isinstance(part, Applied):  # the variables of a shared function are its own, whatever their numbers
            waiting += [(argument, known) for argument in part.arguments]
            known = None
        place = _place(part, known)
        if place is None:
            waiting += [(child, known) for child in children(part)]
            continue
        waiting += [(key, known) for key in place.keys]
        if place.variable.which == which:
            slot = layout.slots[place.variable.name]
            width = (1 << place.kind.bits) - 1
            for offset in place.offsets:
                bits = width << (slot.offset + offset)
                for word in range(slot.word, layout.words):
                    masks[word] |= bits & ((1 << WORD) - 1)
                    bits >>= WORD
    return tuple(masks)


@dataclass(frozen=True, slots=True)
class _Place:
    """A part of a variable, at some offsets of its code: at one of them, which only the keys decide."""

    variable: StateVar
    kind: Type
    offsets: tuple[int, ...]
    keys: tuple[Expr, ...]


def _place(node: Expr, given: Given | None) -> _Place | None:
    """The part of a variable that an expression is; None if it is not one."""
    match node:
        case StateVar():
            return _Place(node, node.type, (0,), ())
        case Field(record=record, name=name):
            outer = _place(record, given)
            if outer is None:
                return None
            assert isinstance(outer.kind, RecordType)
            offset, kind = field_place(outer.kind, name)
            return _Place(outer.variable, kind, tuple(it + offset for it in outer.offsets), outer.keys)
        case MapGet(map=of, key=key):
            outer = _place(of, given)
            if outer is None:
                return None
            assert isinstance(outer.kind, MapType)
            kind = outer.kind.value
            values = list(universe(outer.kind.key))
            if given is not None and isinstance(key, Local) and key.slot == given.variable.slot:
                key = Const(key.type, key.at, given.value)
            known = isinstance(key, Const)
            ranks = [values.index(key.value)] if isinstance(key, Const) and key.value in values else range(len(values))
            offsets = tuple(it + rank * kind.bits for it in outer.offsets for rank in ranks)
            return _Place(outer.variable, kind, offsets, outer.keys if known else (*outer.keys, key))
    return None
