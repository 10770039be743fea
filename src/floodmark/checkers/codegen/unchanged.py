"""Leaves out what properties of steps were asked before, of another step from the same state.

Most steps change a few bits. The properties of steps are divided into clauses: what an ``all`` over a type asks of each
of its values, and every other property as a whole. The clauses of one value, of all properties, have a bit together.

The state before is the same for all steps that ``expand`` takes, so what a clause says of a step depends on nothing
but the bits that it reads of the state after. Where a step leaves those as they are, and an earlier step from this
state did so, too, the clause was evaluated of the same values. ``STILL`` has the bits for which there was such an
earlier step, of which every property was true and nothing had failed; so the clause is true again, has met the
premises that it meets, and does not fail. A step of which something is false leaves no bit there.

``expand`` clears ``STILL``. An action that is called by itself may be called for another state next, so no bit is set
then: ``SHARED`` is zero. ``TODO`` has the bits of the clauses that the present step is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I64, Value, const
from floodmark.checkers.codegen.footprint import Given, footprint
from floodmark.compiler.ir import Generator, Predicate, Reduce, Universe, Witness
from floodmark.compiler.layout import Layout, encode
from floodmark.language.types import WORD
from floodmark.language.universe import universe

STILL, SHARED, TODO = range(8, 11)
"""Places in the context."""
MOST_VALUES = 8
ALL_ONES = (1 << WORD) - 1


@dataclass(frozen=True)
class Clauses:
    """The clauses of some properties of steps. ``divided`` has the ``all`` of each property that is divided; ``bits``
    are the bits of each in ``TODO``, none where it is always asked. ``masks`` has for each bit what its clauses read
    of the state after a step, word by word."""

    divided: list[Reduce | None]
    bits: list[int]
    masks: dict[int, list[int]]


def clauses_of(properties: Sequence[Predicate], layout: Layout) -> Clauses:
    """The clauses of properties of steps. An ``all`` is divided only if no bit is read for several values: such a bit
    would have every clause asked again. A property that reads most of a state is always asked."""
    asked = [_outermost(predicate) for predicate in properties]
    kinds = Counter(each.generators[0].variable.type for each in asked if each is not None)
    kind = kinds.most_common(1)[0][0] if kinds else None
    values = [] if kind is None else [(encode(kind, value), value) for value in universe(kind)]
    next_bit = 0 if kind is None else kind.codes
    found = Clauses([], [], {})
    for predicate, each in zip(properties, asked, strict=True):
        whole = footprint(predicate.value, "new", layout)
        read = {}
        if each is not None and each.generators[0].variable.type == kind:
            variable = each.generators[0].variable
            read = {code: footprint(each, "new", layout, Given(variable, value)) for code, value in values}
        is_divided = bool(read) and _are_apart(list(read.values()), whole)
        if not is_divided:
            reads_little = 2 * sum(mask.bit_count() for mask in whole) <= layout.bits
            read = {next_bit: whole} if reads_little else {}
            next_bit = min(next_bit + len(read), WORD - 1)
        found.divided.append(each if is_divided else None)
        found.bits.append(sum(1 << bit for bit in read))
        for bit, masks in read.items():
            known = found.masks.get(bit, [0] * layout.words)
            found.masks[bit] = [one | other for one, other in zip(known, masks, strict=True)]
    return found


def _are_apart(parts: Sequence[Sequence[int]], whole: Sequence[int]) -> bool:
    """Whether each bit that is read at all is read for exactly one value."""
    columns = zip(zip(*parts, strict=True), whole, strict=True)
    return all(sum(column) == together == reduce(or_, column) for column, together in columns)


def _outermost(predicate: Predicate) -> Reduce | None:
    """The ``all`` over a small type that a property is, but for premises that are asked before it."""
    value = predicate.value
    while isinstance(value, Witness):
        value = value.operand
    match value:
        case Reduce(kind="all", generators=[Generator(variable=over, domain=Universe(of)), *_]):
            return value if of == over.type and of.codes <= MOST_VALUES else None
    return None


def emit_todo(
    builder: ir.IRBuilder, clauses: Clauses, state: Value, place: Value, context: Value
) -> tuple[Value, Value]:
    """Enters the clauses that are to be asked of a step; returns these, and those whose bits it leaves as they are."""
    words = sorted({word for masks in clauses.masks.values() for word, mask in enumerate(masks) if mask})
    changed = {
        word: builder.xor(*(builder.load(builder.gep(at, [const(word)])) for at in (state, place))) for word in words
    }
    still: Value = const(0)
    for bit, masks in clauses.masks.items():
        differs: Value = const(0)
        for word, difference in changed.items():
            differs = builder.or_(differs, builder.and_(difference, const(masks[word])))
        same = builder.zext(builder.icmp_unsigned("==", differs, const(0)), I64)
        still = builder.or_(still, builder.shl(same, const(bit)))
    known = builder.and_(still, builder.load(builder.gep(context, [const(STILL)])))
    every = sum(1 << bit for bit in clauses.masks)
    todo = builder.xor(known, const(every))
    builder.store(todo, builder.gep(context, [const(TODO)]))
    return todo, still


def emit_known(builder: ir.IRBuilder, still: Value, context: Value) -> None:
    """Enters the clauses that are known of a step of which every property was true."""
    shared = builder.load(builder.gep(context, [const(SHARED)]))
    place = builder.gep(context, [const(STILL)])
    builder.store(builder.or_(builder.load(place), builder.and_(still, shared)), place)
