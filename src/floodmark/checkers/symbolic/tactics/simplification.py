"""Simplifies terms by the ranges that a query states for its numbers.

A state is of the declared types: ``0 <= len logs(r)`` and ``len logs(r) <= 2`` for every replica. Within these ranges,
the conditionals that encode Python's negative indices and clipped slices have only one possible outcome: ``log[:end]``
tests whether ``end`` is negative. z3 would decide that again for each instance of each quantified statement, so it is
done once beforehand.

Only assertions of the query itself are used, and the statements of the ranges stay as they are. So the simplified query
has the same models: each term is replaced by one that is equal within the asserted ranges. The other conjuncts may be
used within a conjunct, and the negations of the other disjuncts within a disjunct. They are processed one after the
other, each using the present form of the others, so that no two are dropped because of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import z3

from floodmark.checkers.symbolic.terms import structure
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, is_same, unbound
from floodmark.checkers.symbolic.terms.structure import kind_of, node_of, parts_of

Range = tuple[int | None, int | None]
"""The smallest and the largest value, where they are known."""
ANY_NUMBER: Range = (None, None)


@dataclass(frozen=True, slots=True)
class Ranges:
    """The ranges of functions, by their declarations, and the statements that assert them, by their ids."""

    of: Mapping[int, Range]
    assertions: Mapping[int, Any]


def ranges_in(statements: Iterable[Any]) -> Ranges:
    """The ranges of functions that some of the statements assert for all arguments."""
    found: dict[int, Range] = {}
    stated: dict[int, Any] = {}
    for statement in statements:
        body = statement.body() if z3.is_quantifier(statement) and statement.is_forall() else statement
        lines = [bound for part in conjuncts(body) if (bound := _bound(part)) is not None]
        for term, limits in lines:
            key = term.decl().get_id()
            found[key] = _both(found.get(key, ANY_NUMBER), limits)
        if lines:
            stated[statement.get_id()] = statement
    return Ranges(found, stated)


def conjuncts(term: Any) -> Iterator[Any]:
    waiting = [term]
    while waiting:
        part = waiting.pop()
        if z3.is_and(part):
            waiting += reversed(part.children())
        else:
            yield part


def _bound(part: Any) -> tuple[Any, Range] | None:
    """The function in a comparison with a number, applied to distinct variables or to none."""
    denied = z3.is_not(part)
    limited = _limit(part.arg(0) if denied else part, not denied)
    if limited is None:
        return None
    term, limits = limited
    if not z3.is_app(term) or term.decl().kind() != z3.Z3_OP_UNINTERPRETED:
        return None
    given = [z3.get_var_index(it) for it in term.children() if z3.is_var(it)]
    return (term, limits) if len({*given}) == term.num_args() else None


def _limit(comparison: Any, true: bool) -> tuple[Any, Range] | None:
    """The range of a term that is compared with a number, if the comparison is true or if it is false."""
    kind = kind_of(comparison)
    if kind not in (z3.Z3_OP_LE, z3.Z3_OP_GE):
        return None
    least, most = parts_of(comparison) if kind == z3.Z3_OP_LE else reversed(parts_of(comparison))
    if kind_of(least) == z3.Z3_OP_ANUM and z3.is_int_value(least):
        return most, ((least.as_long(), None) if true else (None, least.as_long() - 1))
    if kind_of(most) == z3.Z3_OP_ANUM and z3.is_int_value(most):
        return least, ((None, most.as_long()) if true else (most.as_long() + 1, None))
    return None


def _both(one: Range, other: Range) -> Range:
    """The intersection of two ranges."""
    lows = [it for it in (one[0], other[0]) if it is not None]
    highs = [it for it in (one[1], other[1]) if it is not None]
    return max(lows, default=None), min(highs, default=None)


def _either(one: Range, other: Range) -> Range:
    """The smallest range that contains two ranges."""
    low = None if one[0] is None or other[0] is None else min(one[0], other[0])
    high = None if one[1] is None or other[1] is None else max(one[1], other[1])
    return low, high


@dataclass(frozen=True, slots=True)
class TermContext:
    """The context of a term: terms that are true or false there, and ranges of terms, all by their ids."""

    truths: Mapping[int, bool] = field(default_factory=dict)
    limits: Mapping[int, Range] = field(default_factory=dict)
    key: frozenset[tuple[int, bool]] = frozenset()


NO_CONTEXT = TermContext()
_CONNECTIVES = (z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_TRUE, z3.Z3_OP_FALSE)
MAX_WRITTEN = 1_000
"""The maximum size of terms that are simplified by their context: in different contexts, the same term may become
different ones."""
MAX_DEPTH = 100
"""Terms that are nested more deeply are left as they are."""


class Simplifier:
    """Simplifies closed terms of one context, given the ranges of numbers."""

    def __init__(self, ranges: Ranges, same: Simplifier | None = None) -> None:
        """``same`` has the same ranges of functions, and simpler terms already."""
        self._ranges = ranges
        self._within: dict[tuple[int, frozenset[tuple[int, bool]] | None], Range] = {}
        self._done: dict[tuple[int, frozenset[tuple[int, bool]] | None], Any] = {}
        self._alive: list[Any] = []  # z3 reuses the ids of terms that are gone
        if same is not None:
            self._within, self._done, self._alive = same._within, same._done, same._alive

    def of(self, term: Any) -> Any:
        """An equivalent term within the ranges; the statement of a range is left as it is."""
        if term.get_id() in self._ranges.assertions or _extent(term)[1] > MAX_DEPTH:
            return term
        found = z3.simplify(self._in(term, None))
        written, deep = _extent(found)
        if written > MAX_WRITTEN or deep > MAX_DEPTH:
            return found
        return z3.simplify(self._in(found, NO_CONTEXT))

    def _in(self, term: Any, known: TermContext | None) -> Any:
        """A term in a context; None for no context."""
        key = term.get_id(), None if known is None else known.key
        if key not in self._done:
            self._alive.append(term)
            self._done[key] = self._rewritten(term, known)
        return self._done[key]

    def _rewritten(self, term: Any, known: TermContext | None) -> Any:
        node = node_of(term)
        match node.kind:
            case structure.QUANTIFIER:
                return self._quantified(term, known)
            case z3.Z3_OP_AND | z3.Z3_OP_OR:
                return self._joined(term, node.kind == z3.Z3_OP_AND, known)
            case z3.Z3_OP_IMPLIES:
                return self._in(z3.Or(z3.Not(term.arg(0)), term.arg(1)), known)
            case z3.Z3_OP_ITE:
                return self._choice(term, known)
        old = [it.term for it in node.parts]
        parts = [self._in(part, known) for part in old]
        made = term if all(map(is_same, parts, old)) else _remade(term, parts)
        if z3.is_bool(made) and known is not None and made.get_id() in known.truths:
            return z3.BoolVal(known.truths[made.get_id()], made.ctx)
        return self._compared(made, known)

    def _quantified(self, term: Any, known: TermContext | None) -> Any:
        if term.is_lambda():
            return term
        own, body = unbound(term)
        body = self._in(body, known)
        if z3.is_true(body) or z3.is_false(body):
            return body
        patterns = [z3.substitute_vars(term.pattern(at), *reversed(own)) for at in range(term.num_patterns())]
        make = z3.ForAll if term.is_forall() else z3.Exists
        return make(own, body, patterns=[z3.MultiPattern(*it.children()) for it in patterns])

    def _joined(self, term: Any, true: bool, known: TermContext | None) -> Any:
        """A conjunction, each conjunct in a context where the others are true; or a disjunction."""
        decides = z3.Z3_OP_FALSE if true else z3.Z3_OP_TRUE
        parts = parts_of(term)
        for at, part in enumerate(parts):
            others = [*parts[:at], *parts[at + 1 :]]
            parts[at] = self._in(part, self._where(known, others, true))
            if kind_of(parts[at]) == decides:
                return parts[at]
        kept = [it for it in parts if not _is_truth(it)]
        if len(kept) == 1:
            return kept[0]
        return z3.And(*kept, term.ctx) if true else z3.Or(*kept, term.ctx)

    def _choice(self, term: Any, known: TermContext | None) -> Any:
        asked, one, other = parts_of(term)
        condition = self._in(asked, known)
        if _is_truth(condition):
            return self._in(one if kind_of(condition) == z3.Z3_OP_TRUE else other, known)
        then = self._in(one, self._where(known, [condition], True))
        otherwise = self._in(other, self._where(known, [condition], False))
        if is_same(then, otherwise):
            return then
        if z3.is_int(then) and z3.is_le(condition):
            smaller = is_same(condition.arg(0), then) and is_same(condition.arg(1), otherwise)
            if smaller and self._ordered(otherwise, then, known):
                return otherwise
        return z3.If(condition, then, otherwise)

    # Comparisons.

    def _compared(self, term: Any, known: TermContext | None) -> Any:
        """A term; if it is a comparison that the ranges decide, whether it is true."""
        kind = kind_of(term)
        if kind == z3.Z3_OP_EQ and z3.is_int(parts_of(term)[0]):
            one, other = parts_of(term)
            apart = self._apart(one, other, known) or self._apart(other, one, known)
            if apart:
                return z3.BoolVal(False, term.ctx)
            return self._of_options(one, other, lambda a, b: a == b, term, known)
        if kind not in (z3.Z3_OP_LE, z3.Z3_OP_GE):
            return term
        least, most = parts_of(term) if kind == z3.Z3_OP_LE else reversed(parts_of(term))
        if self._ordered(least, most, known):
            return z3.BoolVal(True, term.ctx)
        if self._apart(most, least, known):
            return z3.BoolVal(False, term.ctx)
        return self._of_options(least, most, lambda a, b: a <= b, term, known)

    def _of_options(
        self, one: Any, other: Any, compare: Callable[[Any, Any], Truth], term: Any, known: TermContext | None
    ) -> Any:
        """A comparison of a choice, as a choice between comparisons, if one of these is decided."""
        for turned, choice, given in ((False, one, other), (True, other, one)):
            if kind_of(choice) != z3.Z3_OP_ITE:
                continue
            condition, *options = parts_of(choice)
            compared = [as_term(compare(given, it) if turned else compare(it, given)) for it in options]
            then, otherwise = (
                z3.simplify(self._in(z3.simplify(it), self._where(known, [condition], chosen)))
                for it, chosen in zip(compared, (True, False), strict=True)
            )
            if any(map(_is_truth, (then, otherwise))):
                return z3.simplify(z3.And(z3.Or(z3.Not(condition), then), z3.Or(condition, otherwise)))
        return term

    def _ordered(self, least: Any, most: Any, known: TermContext | None) -> bool:
        """Whether one number is at most the other in the ranges."""
        high, low = self._range(least, known)[1], self._range(most, known)[0]
        return high is not None and low is not None and high <= low

    def _apart(self, least: Any, most: Any, known: TermContext | None) -> bool:
        """Whether one number is less than the other in the ranges."""
        high, low = self._range(least, known)[1], self._range(most, known)[0]
        return high is not None and low is not None and high < low

    # The context.

    def _where(self, known: TermContext | None, terms: Iterable[Any], true: bool) -> TermContext | None:
        """A context in which further terms are true, or false."""
        if known is None:
            return None
        truths, limits, key = dict(known.truths), dict(known.limits), set(known.key)
        waiting = [(term, true) for term in terms]
        while waiting:
            term, value = waiting.pop()
            kind = kind_of(term)
            if kind == z3.Z3_OP_NOT:
                waiting.append((parts_of(term)[0], not value))
            elif kind == (z3.Z3_OP_AND if value else z3.Z3_OP_OR):
                waiting += ((part, value) for part in parts_of(term))
            elif kind >= 0 and kind not in _CONNECTIVES:
                self._alive.append(term)
                truths[term.get_id()] = value
                key.add((term.get_id(), value))
                bound = _value(term) if value else None
                bound = _limit(term, value) if bound is None else bound
                if bound is not None:
                    number, limit = bound[0].get_id(), bound[1]
                    limits[number] = _both(limits.get(number, ANY_NUMBER), limit)
                elif not value and kind in (z3.Z3_OP_LE, z3.Z3_OP_GE):  # then they are not the same, either
                    one, other = parts_of(term)
                    waiting += ((z3.simplify(it), False) for it in (one == other, other == one))
        return TermContext(truths, limits, frozenset(key))

    def _range(self, term: Any, known: TermContext | None) -> Range:
        """The range of a number."""
        key = term.get_id(), None if known is None else known.key
        if key not in self._within:
            self._alive.append(term)
            self._within[key] = self._range_of(term, known)
        return self._within[key]

    def _range_of(self, term: Any, known: TermContext | None) -> Range:
        own = ANY_NUMBER if known is None else known.limits.get(term.get_id(), ANY_NUMBER)
        node = node_of(term)
        match node.kind:
            case z3.Z3_OP_ANUM if z3.is_int_value(term):
                return term.as_long(), term.as_long()
            case z3.Z3_OP_UNINTERPRETED:
                return _both(own, self._ranges.of.get(term.decl().get_id(), ANY_NUMBER))
            case z3.Z3_OP_ITE:
                _, then, otherwise = node.parts
                return _both(own, _either(self._range(then.term, known), self._range(otherwise.term, known)))
            case z3.Z3_OP_ADD:
                return _both(own, _total([self._range(part.term, known) for part in node.parts]))
            case z3.Z3_OP_IDIV if z3.is_int_value(term.arg(1)) and term.arg(1).as_long() > 0:
                by = term.arg(1).as_long()
                low, high = (None if it is None else it // by for it in self._range(term.arg(0), known))
                return _both(own, (low, high))
        return own


def _value(equality: Any) -> tuple[Any, Range] | None:
    """The range of a number."""
    if kind_of(equality) != z3.Z3_OP_EQ:
        return None
    one, other = parts_of(equality)
    for number, term in ((one, other), (other, one)):
        if kind_of(number) == z3.Z3_OP_ANUM and z3.is_int_value(number):
            return term, (number.as_long(), number.as_long())
    return None


def _total(parts: Iterable[Range]) -> Range:
    low: int | None = 0
    high: int | None = 0
    for least, most in parts:
        low = None if low is None or least is None else low + least
        high = None if high is None or most is None else high + most
    return low, high


def _is_truth(term: Any) -> bool:
    return kind_of(term) in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE)


def _extent(term: Any) -> tuple[int, int]:
    """The size of a term as a tree, and its depth."""
    waiting = [node_of(term)]
    while waiting:
        node = waiting[-1]
        missing = [it for it in node.parts if it.extent is None]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        of_parts = [it.extent for it in node.parts if it.extent is not None]
        node.extent = 1 + sum(it for it, _ in of_parts), 1 + max((it for _, it in of_parts), default=0)
    assert node.extent is not None
    return node.extent


def _remade(term: Any, parts: list[Any]) -> Any:
    """A term with other parts."""
    match term.decl().kind():
        case z3.Z3_OP_ADD:
            return z3.Sum(parts)
        case z3.Z3_OP_MUL:
            return z3.Product(parts)
        case z3.Z3_OP_DISTINCT:
            return z3.Distinct(parts)
    return term.decl()(*parts)
