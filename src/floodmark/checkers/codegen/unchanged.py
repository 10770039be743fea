"""Leaves out what properties of steps were asked before, of another step from the same state.

Most steps change a few bits. The properties of steps are divided into clauses: what an ``all`` over a small type asks
of each of its values, and every other property as a whole. A clause has a bit, which it shares with those that depend
on the same bits of the state.

The state before is the same for all steps that ``expand`` takes. So of all steps that leave certain bits as they are, a
clause has one outcome (``stutter.py``). ``STILL`` has the bits of the clauses of which there was such a step earlier,
of which every property was true and nothing had failed; so the clause is true again, has met the premises that it
meets, and does not fail. A step of which something is false leaves no bit there. Some clauses are true of every such
step, whatever the state before, and meet no premise: ``trivial`` has their bits, with which ``expand`` begins.

An action that is called by itself may be called for another state next, so no bit is set then: ``SHARED`` is zero.
``TODO`` has the bits of the clauses that the present step is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I64, Value, const, table
from floodmark.checkers.codegen.stutter import BoundVariable, Entry, Extent, Outcome, Stutter
from floodmark.compiler.ir import And, Generator, Predicate, Reduce, Universe, Witness
from floodmark.compiler.layout import Layout, encode
from floodmark.language.types import WORD
from floodmark.language.universe import universe

STILL, SHARED, TODO = range(8, 11)
"""Places in the context."""
MAX_VALUES = 8
ALL_ONES = (1 << WORD) - 1
_LANES = 8
"""The number of clauses that are compared side by side."""


@dataclass(frozen=True, slots=True)
class DividedReduction:
    """An ``all`` of a property that is divided. The clause of the value with code 0 has the bit ``first``, and those
    of the other values have the bits after that, by their codes."""

    reduce: Reduce
    first: int


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a property: it has one outcome of all steps that leave its extent as it is. A ``trivial`` one is then
    true, without failing or meeting a premise, whatever the state before."""

    extent: Extent
    trivial: bool


@dataclass
class Clauses:
    """The clauses of some properties of steps, by their bits; and for each property how it is divided, if it is, and
    the bits of its clauses, none where it is always asked."""

    clauses: list[Clause] = field(default_factory=list)
    divided: list[DividedReduction | None] = field(default_factory=list)
    bits: list[int] = field(default_factory=list)
    _places: dict[tuple[Clause, ...], int] = field(default_factory=dict)

    @property
    def extents(self) -> list[Extent]:
        return [clause.extent for clause in self.clauses]

    @property
    def trivial(self) -> int:
        return sum(1 << bit for bit, clause in enumerate(self.clauses) if clause.trivial)

    @property
    def groups(self) -> list[list[Extent]]:
        """The extents that are compared side by side; the last one fills the last group."""
        found = [self.extents[first : first + _LANES] for first in range(0, len(self.clauses), _LANES)]
        return [group + group[-1:] * (_LANES - len(group)) for group in found]

    @property
    def mask_words(self) -> int:
        """The words in which ``expand`` keeps the masks of the state that it expands; none where all states have the
        same."""
        if not any(extent.entries for extent in self.extents):
            return 0
        return _LANES * sum(len(_words_of(group)) for group in self.groups)

    def add(self, predicate: Predicate, layout: Layout) -> None:
        """Divides a property into clauses. It is always asked if no bit is left for it, or if it depends on most of a
        state as a whole."""
        reduce = _outermost(predicate)
        if reduce is not None:
            rest, *values = _of_values(predicate, reduce, layout)
            if len(set(values)) > 1 and len(self.clauses) + len(values) < WORD:
                first = self._place(tuple(values))
                self.divided.append(DividedReduction(reduce, first))
                bits = ((1 << len(values)) - 1) << first
                self.bits.append(bits if rest == _nothing(layout) else bits | 1 << self._place((rest,)))
                return
        whole = _clause(Stutter(layout, predicate.value).outcome(predicate.value))
        is_asked = 2 * whole.extent.size > layout.bits or len(self.clauses) == WORD
        self.divided.append(None)
        self.bits.append(0 if is_asked else 1 << self._place((whole,)))

    def _place(self, clauses: tuple[Clause, ...]) -> int:
        """The bit of the first of some clauses, which other properties may have in common."""
        if clauses not in self._places:
            self._places[clauses] = len(self.clauses)
            self.clauses += clauses
        return self._places[clauses]


def clauses_of(properties: Sequence[Predicate], layout: Layout) -> Clauses:
    """The clauses of properties of steps."""
    found = Clauses()
    for predicate in properties:
        found.add(predicate, layout)
    return found


def _outermost(predicate: Predicate) -> Reduce | None:
    """An ``all`` over a small type that has to be true for a property to be true: the property itself or one of its
    conjuncts, but for premises that are met before it."""
    waiting = [predicate.value]
    while waiting:
        match waiting.pop():
            case Witness(operand=operand):
                waiting.append(operand)
            case And(operands=operands):
                waiting += reversed(operands)
            case Reduce(kind="all", generators=[Generator(variable=over, domain=Universe(of)), *_]) as reduce:
                if of == over.type and of.codes <= MAX_VALUES:
                    return reduce
    return None


def _of_values(predicate: Predicate, reduce: Reduce, layout: Layout) -> list[Clause]:
    """A property without one of its ``all``, and that for each code of its variable; a code that no value has is asked
    nothing."""
    variable, whole = reduce.generators[0].variable, predicate.value
    found = [_nothing(layout)] * variable.type.codes
    for value in universe(variable.type):
        clause = _clause(Stutter(layout, whole, BoundVariable(variable, value)).outcome(reduce))
        found[encode(variable.type, value)] = clause
    return [_clause(Stutter(layout, whole, without=reduce).outcome(whole)), *found]


def _clause(outcome: Outcome) -> Clause:
    return Clause(outcome.extent, outcome.truth is True and outcome.silent)


def _nothing(layout: Layout) -> Clause:
    return Clause(Extent((0,) * layout.words), True)


def emit_masks(builder: ir.IRBuilder, clauses: Clauses, state: Value, masks: Value) -> None:
    """Writes the masks of a state: for each group and word, what a step may not change of it."""
    entries = dict.fromkeys(entry for extent in clauses.extents for entry in extent.entries)
    selected = {entry: _emit_entry(builder, entry, state, number) for number, entry in enumerate(entries)}
    place = 0
    for group in clauses.groups:
        for word in _words_of(group):
            found = builder.lanes(I64, [extent.bits[word] for extent in group])
            for entry, bits in selected.items():
                chosen = [ALL_ONES * (entry in extent.entries) for extent in group]
                if any(chosen) and any(each[word] for each in entry.bits):
                    part = builder.and_(builder.splat(bits[word], _LANES), builder.lanes(I64, chosen))
                    found = builder.or_(found, part)
            builder.store(found, builder.gep(masks, [const(place)]), align=8)
            place += _LANES


def _emit_entry(builder: ir.IRBuilder, entry: Entry, state: Value, number: int) -> list[Value]:
    """The bits of the entry that a state selects, word by word."""
    code = builder.lshr(builder.load(builder.gep(state, [const(entry.word)])), const(entry.offset))
    code = builder.and_(code, const((1 << entry.width) - 1))
    found: list[Value] = []
    for word in range(len(entry.bits[0])):
        column = [bits[word] for bits in entry.bits]
        if not any(column):
            found.append(const(0))
            continue
        name = f"{builder.function.name}.entry.{number}.{word}"
        entries = table(builder.function.module, name, column)
        found.append(builder.load(builder.gep(entries, [const(0), code])))
    return found


def _words_of(group: Sequence[Extent]) -> list[int]:
    """The words of a state that the clauses of a group depend on."""
    return [word for word in range(len(group[0].bits)) if any(extent.reaches(word) for extent in group)]


def emit_todo(
    builder: ir.IRBuilder, clauses: Clauses, state: Value, place: Value, context: Value, masks: Value
) -> tuple[Value, Value]:
    """Enters the clauses that are to be asked of a step; returns these, and those whose bits it leaves as they are."""
    width = len(clauses.clauses[0].extent.bits)
    changed = [
        builder.xor(*(builder.load(builder.gep(at, [const(word)])) for at in (state, place))) for word in range(width)
    ]
    vector = ir.VectorType(I64, _LANES)
    still: Value = const(0)
    at = 0
    for number, group in enumerate(clauses.groups):
        differs: Value | None = None
        for word in _words_of(group):
            known: Value = builder.lanes(I64, [extent.bits[word] for extent in group])
            if clauses.mask_words:
                known = builder.load(ir.Value(vector.as_pointer(), builder.gep(masks, [const(at)]).text), align=8)
            part = builder.and_(builder.splat(changed[word], _LANES), known)
            differs = part if differs is None else builder.or_(differs, part)
            at += _LANES
        nothing = builder.lanes(I64, [0] * _LANES)
        same = builder.zext(builder.same_lanes(differs or nothing, nothing), I64)
        still = builder.or_(still, builder.shl(same, const(_LANES * number)))
    every = (1 << len(clauses.clauses)) - 1
    still = builder.and_(still, const(every))
    before = builder.load(builder.gep(context, [const(STILL)]))
    todo = builder.xor(builder.and_(still, before), const(every))
    builder.store(todo, builder.gep(context, [const(TODO)]))
    return todo, still


def emit_known(builder: ir.IRBuilder, still: Value, context: Value) -> None:
    """Enters the clauses that are known of a step of which every property was true."""
    shared = builder.load(builder.gep(context, [const(SHARED)]))
    place = builder.gep(context, [const(STILL)])
    builder.store(builder.or_(builder.load(place), builder.and_(still, shared)), place)
