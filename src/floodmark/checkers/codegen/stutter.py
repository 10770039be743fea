"""The outcome of an expression over all steps that leave some bits of the state as they are.

A property of steps says something of what changes: ``all(new.logs[b][:n] == old.logs[b] for b in Broker if new.logs[b]
!= old.logs[b])`` reads much, and is true of every step that changes no log. So it depends on fewer bits than it reads
(``footprint``). Of one state before, and of all steps that leave its ``extent`` as it is, an expression has one
outcome: it fails or not, meets the same premises, and has the same value. A known ``truth`` is that value wherever it
does not fail. A ``silent`` expression neither fails nor meets a premise.

Why that is so, for each kind of expressions:

- Everything that is not named below depends on what it reads, and counts with that. Where the key of a map is itself a
  part of the state, as in ``new.states[new.replicas[b].partition_epoch]``, a step that leaves the key as it is reads
  the entry that the state before selects, and no other (``Entry``).
- Two sides that read the same of the states before and after (``_correspond``) are equal where these agree. A sequence
  up to its own length is the sequence.
- The operands of an ``and`` are evaluated up to the first that is false. Where one is false, the ``and`` is. What the
  operands before it say decides at most whether those between are evaluated; if all of these are silent, nothing
  depends on it, so a silent operand before them need not be the same. ``or``, the premise and the conclusion of
  ``implies``, and the rounds of ``any`` and ``all`` are alike: a round in which a domain is empty, a condition is false
  or the body does not decide, adds nothing.
- A call whose statements follow one another without a branch evaluates each of them once. What it stores in a variable
  is the same where the stored expression is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

from floodmark.checkers.codegen.expressions import field_place
from floodmark.compiler.failures import may_stop
from floodmark.compiler.ir import (
    And,
    Applied,
    Assert,
    Choose,
    Compare,
    Const,
    Convert,
    Domain,
    Equal,
    Expr,
    Field,
    For,
    Implies,
    Inline,
    IsNone,
    Local,
    MapGet,
    Marked,
    Not,
    Or,
    Range,
    Reduce,
    Return,
    SeqSlice,
    SetBinary,
    SetLocal,
    Size,
    StateVar,
    Stmt,
    Universe,
    Witness,
    children,
    flat,
    walk,
)
from floodmark.compiler.layout import Layout, encode
from floodmark.language.types import WORD, MapType, RecordType, Type
from floodmark.language.universe import universe


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """A variable that is bound once, and its value."""

    variable: Local
    value: Any


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """The entry of a map that a key in the state selects: the key's word, offset and width; and for each code that this
    can have, the bits of the entry, word by word."""

    word: int
    offset: int
    width: int
    bits: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """Bits of a state, word by word, and those of the entries that a state selects."""

    bits: tuple[int, ...]
    entries: tuple[Entry, ...] = ()

    def __or__(self, other: Extent) -> Extent:
        entries = tuple(sorted({*self.entries, *other.entries}))
        return Extent(tuple(map(or_, self.bits, other.bits)), entries)

    def reaches(self, word: int) -> bool:
        """Whether there may be bits of a word."""
        return bool(self.bits[word]) or any(bits[word] for entry in self.entries for bits in entry.bits)

    @property
    def size(self) -> int:
        """The number of bits."""
        selected = sum(max(sum(map(int.bit_count, bits)) for bits in entry.bits) for entry in self.entries)
        return sum(map(int.bit_count, self.bits)) + selected


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an expression over the steps that leave an extent as it is."""

    extent: Extent
    truth: bool | None
    silent: bool


@dataclass(frozen=True, slots=True)
class _Key:
    """A part of a state, at one offset from the beginning of all words."""

    kind: Type
    offset: int


@dataclass(frozen=True, slots=True)
class _Place:
    """A part of a variable, at one of some offsets from the beginning of all words: the one that a key selects by its
    code; or, without such a key, any of them, as other ``keys`` say."""

    variable: StateVar
    kind: Type
    offsets: tuple[int, ...]
    selected_by: _Key | None = None
    keys: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """An expression that others may follow, and its outcome. ``ends`` is whether none is evaluated after it, or none
    matters; ``always_silent``, whether it is silent whatever the step changes."""

    outcome: Outcome
    ends: bool
    always_silent: bool


class Stutter:
    """The outcomes of expressions, where a variable has the value that is ``given``, and where the expression
    ``without`` is true, and silent, of every step."""

    def __init__(
        self, layout: Layout, whole: Expr, given: BoundVariable | None = None, without: Expr | None = None
    ) -> None:
        """``whole`` has every assignment of the variables in the expressions that are to come."""
        self._layout = layout
        self._given = given
        self._known = {} if without is None else {id(without): Outcome(self._none(), True, True)}
        self._values = _assigned_once(whole)

    def outcome(self, node: Expr) -> Outcome:
        if id(node) not in self._known:  # several expressions may share one
            self._known[id(node)] = self._outcome(node)
        return self._known[id(node)]

    def _outcome(self, node: Expr) -> Outcome:
        match node:
            case Equal(left=left, right=right):
                return self._comparison(node, left, right, True)
            case Compare(op=op, left=left, right=right):
                return self._comparison(node, left, right, op in ("<=", ">="))
            case Not(operand=operand):
                it = self.outcome(operand)
                return Outcome(it.extent, None if it.truth is None else not it.truth, it.silent)
            case And(operands=operands) | Or(operands=operands):
                return self._operands(operands, isinstance(node, Or))
            case Implies(premise=premise, conclusion=conclusion):
                return self._implication(premise, conclusion)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return self._choice(self.outcome(condition), self.outcome(then), self.outcome(otherwise))
            case Witness(operand=operand, condition=condition):
                return self._witness(self.outcome(operand), None if condition is None else self.outcome(condition))
            case Reduce(kind="any" | "all"):
                return self._rounds(node)
            case Inline(result=Local()) if _is_straight(node):
                return self._call(node)
        return self._reads(node)

    def _reads(self, *nodes: Expr) -> Outcome:
        extent = self._none()
        waiting = [(node, False) for node in nodes]
        seen: set[tuple[int, bool]] = set()
        while waiting:
            part, is_shared = waiting.pop()
            if (id(part), is_shared) in seen:
                continue
            seen.add((id(part), is_shared))
            if isinstance(part, Applied):  # the variables of a shared function are its own, whatever their numbers
                waiting += [(argument, is_shared) for argument in part.arguments]
                is_shared = True
            place = self._place(part, is_shared)
            if place is None:
                waiting += [(child, is_shared) for child in children(part)]
            else:
                waiting += [(key, is_shared) for key in place.keys]
                extent |= self._extent(place)
        return Outcome(extent, None, all(map(_is_silent, nodes)))

    def _none(self) -> Extent:
        return Extent((0,) * self._layout.words)

    def _extent(self, place: _Place) -> Extent:
        """What of the state after a step has to stay for a part of a variable to stay."""
        if place.variable.which == "old":
            return self._none()
        bits = tuple(self._bits(offset, place.kind.bits) for offset in place.offsets)
        key = place.selected_by
        if key is None:
            return Extent(tuple(reduce(or_, column) for column in zip(*bits, strict=True)))
        word, offset = divmod(key.offset, WORD)
        return Extent(self._none().bits, (Entry(word, offset, key.kind.bits, bits),))

    def _bits(self, offset: int, width: int) -> tuple[int, ...]:
        bits = ((1 << width) - 1) << offset
        return tuple(bits >> WORD * word & ((1 << WORD) - 1) for word in range(self._layout.words))

    def _place(self, node: Expr, is_shared: bool) -> _Place | None:
        """The part of a variable that an expression is; None if it is not one. In a shared function, nothing is known
        of variables."""
        match node:
            case StateVar(name=name):
                slot = self._layout.slots[name]
                return _Place(node, node.type, (WORD * slot.word + slot.offset,))
            case Field(record=record, name=name):
                outer = self._place(record, is_shared)
                if outer is None:
                    return None
                assert isinstance(outer.kind, RecordType)
                offset, kind = field_place(outer.kind, name)
                return replace(outer, kind=kind, offsets=tuple(it + offset for it in outer.offsets))
            case MapGet(map=of, key=key):
                outer = self._place(of, is_shared)
                if outer is None:
                    return None
                assert isinstance(outer.kind, MapType)
                return self._entry(outer, outer.kind, key, is_shared)
        return None

    def _entry(self, outer: _Place, map_type: MapType, key: Expr, is_shared: bool) -> _Place:
        """The entry of a map that is a part of a variable."""
        kind, values = map_type.value, list(universe(map_type.key))
        given = None if is_shared else self._given
        if given is not None and isinstance(key, Local) and key.slot == given.variable.slot:
            key = Const(key.type, key.at, given.value)
        if isinstance(key, Const) and key.value in values:
            by = values.index(key.value) * kind.bits
            return replace(outer, kind=kind, offsets=tuple(it + by for it in outer.offsets))
        offsets = tuple(it + rank * kind.bits for it in outer.offsets for rank in range(len(values)))
        place = None if is_shared else self._key(key)
        if place is None or len(outer.offsets) > 1 or place.kind != map_type.key or not _is_selector(place):
            place = None
        return replace(outer, kind=kind, offsets=offsets, selected_by=place, keys=(*outer.keys, key))

    def _key(self, node: Expr) -> _Key | None:
        """Where in a state a key is; None if that is not known. What a variable stands for is read where the variable
        is assigned."""
        while isinstance(node, Local) and node.slot in self._values and self._values[node.slot].type == node.type:
            node = self._values[node.slot]
        place = self._place(node, False)
        if place is None or len(place.offsets) > 1:
            return None
        return _Key(place.kind, place.offsets[0])


    def _comparison(self, node: Expr, left: Expr, right: Expr, equal: bool) -> Outcome:
        read = self._reads(node)
        return Outcome(read.extent, equal, read.silent) if _correspond(left, right, {}) else read

    def _operands(self, operands: Sequence[Expr], decisive: bool) -> Outcome:
        outcomes = [self.outcome(operand) for operand in operands]
        parts = [
            _Part(it, it.truth is decisive, _is_silent(operand)) for operand, it in zip(operands, outcomes, strict=True)
        ]
        decided = all(it.truth is (not decisive) for it in outcomes)
        return self._in_order(parts, decisive, not decisive if decided else None)

    def _in_order(self, parts: Sequence[_Part], ended: bool, otherwise: bool | None) -> Outcome:
        """The outcome of parts that are evaluated one after the other: ``ended`` where one of them ends this."""
        found = [self._up_to(parts[: index + 1], ended) for index, part in enumerate(parts) if part.ends]
        if found:
            return min(found, key=lambda it: (not it.silent, it.extent.size))
        extent = self._none()
        for part in parts:
            extent = extent | part.outcome.extent
        return Outcome(extent, otherwise, all(part.outcome.silent for part in parts))

    def _up_to(self, parts: Sequence[_Part], ended: bool) -> Outcome:
        *before, last = parts
        extent, silent = last.outcome.extent, last.outcome.silent
        for part in reversed(before):
            if not (part.always_silent and silent):
                extent = extent | part.outcome.extent
                silent = silent and part.outcome.silent
        return Outcome(extent, ended, silent)

    def _implication(self, premise: Expr, conclusion: Expr) -> Outcome:
        one, other = self.outcome(premise), self.outcome(conclusion)
        found = []
        for it, is_true, rest, outcome in (
            (one, one.truth is False, conclusion, other), (other, other.truth is True, premise, one),
        ):
            if is_true:
                alone = _is_silent(rest)
                extent = it.extent if alone else it.extent | outcome.extent
                found.append(Outcome(extent, True, it.silent and (alone or outcome.silent)))
        if found:
            return min(found, key=lambda it: (not it.silent, it.extent.size))
        return Outcome(one.extent | other.extent, other.truth if one.truth else None, one.silent and other.silent)

    def _choice(self, condition: Outcome, then: Outcome, otherwise: Outcome) -> Outcome:
        branches = [then, otherwise] if condition.truth is None else [then if condition.truth else otherwise]
        extent = condition.extent
        for each in branches:
            extent = extent | each.extent
        truths = {each.truth for each in branches}
        truth = truths.pop() if len(truths) == 1 else None
        return Outcome(extent, truth, condition.silent and all(each.silent for each in branches))

    def _witness(self, operand: Outcome, condition: Outcome | None) -> Outcome:
        if condition is None:
            return Outcome(operand.extent, operand.truth, False)
        silent = condition.truth is False and condition.silent and operand.silent
        return Outcome(condition.extent | operand.extent, operand.truth, silent)

    def _rounds(self, node: Reduce) -> Outcome:
        holds = node.kind == "all"
        parts = []
        for generator in node.generators:
            parts.append(self._domain(generator.domain))
            for condition in generator.conditions:
                it = self.outcome(condition)
                parts.append(_Part(it, it.truth is False, _is_silent(condition)))
        body = self.outcome(node.body)
        parts.append(_Part(body, body.truth is holds, _is_silent(node.body)))
        return self._in_order(parts, holds, None)

    def _domain(self, domain: Domain) -> _Part:
        match domain:
            case Universe():
                return _Part(Outcome(self._none(), None, True), False, True)
            case Range(low=low, high=high):
                it = self._reads(low, high)
                return _Part(it, False, it.silent)
            case _:
                it = self._reads(domain)
                return _Part(it, _is_empty(domain), it.silent)

    def _call(self, node: Inline) -> Outcome:
        extent, silent = self._none(), True
        truth = None
        for statement in node.body:
            match statement:
                case Assert(condition=condition):
                    it = self.outcome(condition)
                    silent = silent and it.truth is True
                case SetLocal(value=value) | Return(value=Expr() as value):
                    it = self.outcome(value)
                    truth = it.truth
                case _:
                    raise AssertionError(statement)
            extent, silent = extent | it.extent, silent and it.silent
        return Outcome(extent, truth, silent)


MAX_CODES = 64
"""The codes of a key for which there is a table."""


def _is_selector(key: _Key) -> bool:
    """Whether the code of a key is the rank of its entry, and lies within a word."""
    codes = [encode(key.kind, value) for value in universe(key.kind)] if key.kind.codes <= MAX_CODES else []
    fits = key.offset % WORD + key.kind.bits <= WORD
    return len(codes) > 1 and codes == list(range(len(codes))) and fits


def _assigned_once(whole: Expr) -> dict[int, Expr]:
    """The values of the variables that have one assignment, outside of shared functions."""
    values: dict[int, Expr] = {}
    assigned: Counter[int] = Counter()
    seen: set[int] = set()
    waiting = [whole]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        waiting += part.arguments if isinstance(part, Applied) else children(part)
        if isinstance(part, Reduce):
            assigned.update(generator.variable.slot for generator in part.generators)
        if isinstance(part, Inline):
            for statement in flat(part.body):
                match statement:
                    case SetLocal(target=target, value=value) | Return(value=Expr() as value, into=Local() as target):
                        assigned[target.slot] += 1
                        values[target.slot] = value
                    case For(variable=variable):
                        assigned[variable.slot] += 1
    return {slot: value for slot, value in values.items() if assigned[slot] == 1}


def _is_silent(node: Expr) -> bool:
    """Whether an expression neither fails nor meets a premise, whatever its operands are."""
    return not may_stop(node) and not any(isinstance(part, Witness | Marked) for part in walk(node))


def _is_straight(call: Inline) -> bool:
    """Whether a call evaluates each of its statements once, and then has the result of the last one."""
    *before, last = call.body
    if call.remembered or call.images or not (isinstance(last, Return) and last.value is not None):
        return False
    return all(isinstance(statement, SetLocal | Assert) for statement in before)


def _is_empty(domain: Expr) -> bool:
    """Whether a set is empty where the states before and after a step agree."""
    return isinstance(domain, SetBinary) and domain.op in "-^" and _correspond(domain.left, domain.right, {})


def _correspond(one: Expr, other: Expr, variables: dict[int, int]) -> bool:
    """Whether two expressions differ at most in which state they read, and in the ``variables`` of their own calls."""
    one, other = _whole(one), _whole(other)
    match one, other:
        case (StateVar(), StateVar()):
            return one.name == other.name
        case (Local(), Local()):
            return variables.get(one.slot, one.slot) == other.slot
        case (Const(), Const()):
            return one.type == other.type and bool(one.value == other.value)
        case (Field(), Field()):
            return one.name == other.name and _correspond(one.record, other.record, variables)
        case (MapGet(), MapGet()):
            return _correspond(one.map, other.map, variables) and _correspond(one.key, other.key, variables)
        case (Convert(), Convert()):
            return one.type == other.type and _correspond(one.operand, other.operand, variables)
        case (Size(), Size()):
            return _correspond(one.container, other.container, variables)
        case (Not(), Not()):
            return _correspond(one.operand, other.operand, variables)
        case (IsNone(), IsNone()):
            return _correspond(one.operand, other.operand, variables)
        case (SetBinary(), SetBinary()):
            sides = _correspond(one.left, other.left, variables) and _correspond(one.right, other.right, variables)
            return one.op == other.op and sides
        case (Inline(result=Local() as result), Inline(result=Local() as its)) if _is_straight(one):
            alike = _is_straight(other) and _correspond_in_order(one.body, other.body, variables)
            return alike and variables.get(result.slot) == its.slot
    return False


def _whole(node: Expr) -> Expr:
    """The sequence that an expression is a slice of, if it goes up to the length that this has after a stutter."""
    match node:
        case SeqSlice(seq=seq, low=None, high=Size(container=measured)) if _correspond(measured, seq, {}):
            return _whole(seq)
    return node


def _correspond_in_order(ones: Sequence[Stmt], others: Sequence[Stmt], variables: dict[int, int]) -> bool:
    """Whether statements without branches correspond; enters what they assign into ``variables``."""
    if len(ones) != len(others):
        return False
    for pair in zip(ones, others, strict=True):
        match pair:
            case (SetLocal(target=target, value=value), SetLocal(target=its, value=other)):
                alike = _correspond(value, other, variables)
            case (
                Return(value=Expr() as value, into=Local() as target),
                Return(value=Expr() as other, into=Local() as its),
            ):
                alike = _correspond(value, other, variables)
            case (Assert(condition=value), Assert(condition=other)):
                if not _correspond(value, other, variables):
                    return False
                continue
            case _:
                return False
        if not alike:
            return False
        variables[target.slot] = its.slot
    return True
