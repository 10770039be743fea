"""The bits of a packed state that an expression reads.

An entry of a map counts whole unless a field of it is read, and all entries count where the key is not a constant. A
part of a sequence or of an optional value counts as the whole of it. So a bit that does not count cannot change the
value of the expression: equal values have equal codes.
"""

from __future__ import annotations

from dataclasses import dataclass

from floodmark.checkers.codegen.expressions import field_place
from floodmark.compiler.ir import Const, Expr, Field, MapGet, StateVar, Which, children
from floodmark.compiler.layout import Layout
from floodmark.language.types import WORD, MapType, RecordType, Type
from floodmark.language.universe import universe


def footprint(node: Expr, which: Which, layout: Layout) -> tuple[int, ...]:
    """For each word of the state before or after a step, the bits that an expression reads."""
    masks = [0] * layout.words
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        place = _place(part)
        if place is None:
            waiting += children(part)
            continue
        waiting += place.keys
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
class _VariablePart:
    """A part of a variable, at some offsets of its code: at one of them, which only the keys decide."""

    variable: StateVar
    kind: Type
    offsets: tuple[int, ...]
    keys: tuple[Expr, ...]


def _place(node: Expr) -> _VariablePart | None:
    """The part of a variable that an expression is; None if it is not one."""
    match node:
        case StateVar():
            return _VariablePart(node, node.type, (0,), ())
        case Field(record=record, name=name):
            outer = _place(record)
            if outer is None:
                return None
            assert isinstance(outer.kind, RecordType)
            offset, kind = field_place(outer.kind, name)
            return _VariablePart(outer.variable, kind, tuple(it + offset for it in outer.offsets), outer.keys)
        case MapGet(map=of, key=key):
            outer = _place(of)
            if outer is None:
                return None
            assert isinstance(outer.kind, MapType)
            kind = outer.kind.value
            values = list(universe(outer.kind.key))
            known = isinstance(key, Const)
            ranks = [values.index(key.value)] if isinstance(key, Const) and key.value in values else range(len(values))
            offsets = tuple(it + rank * kind.bits for it in outer.offsets for rank in ranks)
            return _VariablePart(outer.variable, kind, offsets, outer.keys if known else (*outer.keys, key))
    return None
