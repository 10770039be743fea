"""Terms in simpler terms, by what a question says of the ranges of its numbers.

A state is of the declared types: ``0 <= len logs(r)`` and ``len logs(r) <= 2`` for every replica. Python's rules for
positions that count from the end, and for slices that reach beyond it, become choices about numbers that can go only
one way then: ``log[:end]`` asks whether ``end`` is negative. z3 would find that out again for each instance of each
statement with a quantifier, so it is done once before.

Only what is asserted in a question itself is used, and what says the ranges is left as it is. So a simpler question has
the same models: a term is replaced by one that is equal where the ranges are as asserted, and what stands beside a term
in a conjunction may be used within it, as may the denial of what stands beside it in a disjunction. These are taken one
after the other, each as it has become, so that no two are left out because of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import z3

from floodmark.checkers.symbolic.terms import Truth, as_term, is_same, unbound

Range = tuple[int | None, int | None]
"""The least and the largest value, where they are known."""
ANY: Range = (None, None)


@dataclass(frozen=True, slots=True)
class Ranges:
    """The ranges of functions, by their declarations, and the statements that say them."""

    of: Mapping[int, Range]
    stated: frozenset[int]


def ranges_in(statements: Iterable[Any]) -> Ranges:
    """The ranges of functions that some of the statements say, whatever the arguments are."""
    found: dict[int, Range] = {}
    stated = set()
    for statement in statements:
        body = statement.body() if z3.is_quantifier(statement) and statement.is_forall() else statement
        said = [bound for part in parts_of(body) if (bound := _bound(part)) is not None]
        for term, limits in said:
            key = term.decl().get_id()
            found[key] = _both(found.get(key, ANY), limits)
        if said:
            stated.add(statement.get_id())
    return Ranges(found, frozenset(stated))


def parts_of(term: Any) -> Iterator[Any]:
    """The parts that are true together, if a term is."""
    waiting = [term]
    while waiting:
        part = waiting.pop()
        if z3.is_and(part):
            waiting += reversed(part.children())
        else:
            yield part


def _bound(part: Any) -> tuple[Any, Range] | None:
    """The function that a comparison with a number is about, applied to distinct variables or to none."""
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
    """What a comparison of a term with a number says of the term, if it is true or if it is false."""
    if not (z3.is_le(comparison) or z3.is_ge(comparison)):
        return None
    least, most = comparison.children() if z3.is_le(comparison) else reversed(comparison.children())
    if z3.is_int_value(least):
        return most, ((least.as_long(), None) if true else (None, least.as_long() - 1))
    if z3.is_int_value(most):
        return least, ((None, most.as_long()) if true else (most.as_long() + 1, None))
    return None


def _both(one: Range, other: Range) -> Range:
    """What lies in two ranges."""
    lows = [it for it in (one[0], other[0]) if it is not None]
    highs = [it for it in (one[1], other[1]) if it is not None]
    return max(lows, default=None), min(highs, default=None)


def _either(one: Range, other: Range) -> Range:
    """What lies in one of two ranges."""
    low = None if one[0] is None or other[0] is None else min(one[0], other[0])
    high = None if one[1] is None or other[1] is None else max(one[1], other[1])
    return low, high


@dataclass(frozen=True, slots=True)
class Known:
    """What is known where a term stands: which terms are true or false, and ranges of terms, all by their ids."""

    truths: Mapping[int, bool] = field(default_factory=dict)
    limits: Mapping[int, Range] = field(default_factory=dict)
    key: frozenset[tuple[int, bool]] = frozenset()


NOTHING = Known()
MOST_WRITTEN = 1_000
"""What stands beside a term counts in terms that take at most so many symbols to write: it makes the same term another
one in another place.
"""
MOST_DEEP = 100
"""Terms in which more terms are within each other are left as they are."""


class Simpler:
    """Says closed terms in simpler terms, where the numbers are in given ranges."""

    def __init__(self, ranges: Ranges) -> None:
        self._ranges = ranges
        self._done: dict[tuple[int, frozenset[tuple[int, bool]] | None], Any] = {}
        self._alive: list[Any] = []  # z3 reuses the ids of terms that are gone

    def of(self, term: Any) -> Any:
        """A term that is the same in the ranges; one that says a range is left as it is."""
        if term.get_id() in self._ranges.stated or _extent(term)[1] > MOST_DEEP:
            return term
        found = z3.simplify(self._in(term, None))
        written, deep = _extent(found)
        if written > MOST_WRITTEN or deep > MOST_DEEP:
            return found
        return z3.simplify(self._in(found, NOTHING))

    def _in(self, term: Any, known: Known | None) -> Any:
        """A term where something is known; None says that what stands beside it does not count."""
        key = term.get_id(), None if known is None else known.key
        if key not in self._done:
            self._alive.append(term)
            self._done[key] = self._rewritten(term, known)
        return self._done[key]

    def _rewritten(self, term: Any, known: Known | None) -> Any:
        if z3.is_quantifier(term):
            return self._quantified(term, known)
        if z3.is_and(term) or z3.is_or(term):
            return self._joined(term, z3.is_and(term), known)
        if z3.is_implies(term):
            return self._in(z3.Or(z3.Not(term.arg(0)), term.arg(1)), known)
        if term.decl().kind() == z3.Z3_OP_ITE:
            return self._choice(term, known)
        parts = [self._in(part, known) for part in term.children()]
        made = term if all(map(is_same, parts, term.children())) else _remade(term, parts)
        if z3.is_bool(made) and known is not None and made.get_id() in known.truths:
            return z3.BoolVal(known.truths[made.get_id()], made.ctx)
        return self._compared(made, known)

    def _quantified(self, term: Any, known: Known | None) -> Any:
        if term.is_lambda():
            return term
        own, body = unbound(term)
        body = self._in(body, known)
        if z3.is_true(body) or z3.is_false(body):
            return body
        patterns = [z3.substitute_vars(term.pattern(at), *reversed(own)) for at in range(term.num_patterns())]
        make = z3.ForAll if term.is_forall() else z3.Exists
        return make(own, body, patterns=[z3.MultiPattern(*it.children()) for it in patterns])

    def _joined(self, term: Any, true: bool, known: Known | None) -> Any:
        """A conjunction, each part of which stands where the others are true; or a disjunction."""
        decides = z3.is_false if true else z3.is_true
        parts = list(term.children())
        for at, part in enumerate(parts):
            others = [*parts[:at], *parts[at + 1 :]]
            parts[at] = self._in(part, self._where(known, others, true))
            if decides(parts[at]):
                return parts[at]
        kept = [it for it in parts if not _is_truth(it)]
        if len(kept) == 1:
            return kept[0]
        return z3.And(*kept, term.ctx) if true else z3.Or(*kept, term.ctx)

    def _choice(self, term: Any, known: Known | None) -> Any:
        condition = self._in(term.arg(0), known)
        if z3.is_true(condition) or z3.is_false(condition):
            return self._in(term.arg(1 if z3.is_true(condition) else 2), known)
        then = self._in(term.arg(1), self._where(known, [condition], True))
        otherwise = self._in(term.arg(2), self._where(known, [condition], False))
        if is_same(then, otherwise):
            return then
        if z3.is_int(then) and z3.is_le(condition):
            smaller = is_same(condition.arg(0), then) and is_same(condition.arg(1), otherwise)
            if smaller and self._ordered(otherwise, then, known):
                return otherwise
        return z3.If(condition, then, otherwise)

    # Comparisons.

    def _compared(self, term: Any, known: Known | None) -> Any:
        """A term; if it is a comparison that the ranges decide, whether it is true."""
        if z3.is_eq(term) and z3.is_int(term.arg(0)):
            one, other = term.children()
            apart = self._apart(one, other, known) or self._apart(other, one, known)
            if apart:
                return z3.BoolVal(False, term.ctx)
            return self._of_options(one, other, lambda a, b: a == b, term, known)
        if not (z3.is_le(term) or z3.is_ge(term)):
            return term
        least, most = term.children() if z3.is_le(term) else reversed(term.children())
        if self._ordered(least, most, known):
            return z3.BoolVal(True, term.ctx)
        if self._apart(most, least, known):
            return z3.BoolVal(False, term.ctx)
        return self._of_options(least, most, lambda a, b: a <= b, term, known)

    def _of_options(
        self, one: Any, other: Any, compare: Callable[[Any, Any], Truth], term: Any, known: Known | None
    ) -> Any:
        """A comparison of a choice, as a choice between comparisons, if one of these is decided."""
        for turned, choice, given in ((False, one, other), (True, other, one)):
            if not z3.is_app(choice) or choice.decl().kind() != z3.Z3_OP_ITE:
                continue
            condition, *options = choice.children()
            compared = [as_term(compare(given, it) if turned else compare(it, given)) for it in options]
            then, otherwise = (
                z3.simplify(self._in(z3.simplify(it), self._where(known, [condition], chosen)))
                for it, chosen in zip(compared, (True, False), strict=True)
            )
            if any(map(_is_truth, (then, otherwise))):
                return z3.simplify(z3.And(z3.Or(z3.Not(condition), then), z3.Or(condition, otherwise)))
        return term

    def _ordered(self, least: Any, most: Any, known: Known | None) -> bool:
        """Whether one number is at most the other in the ranges."""
        high, low = self._range(least, known)[1], self._range(most, known)[0]
        return high is not None and low is not None and high <= low

    def _apart(self, least: Any, most: Any, known: Known | None) -> bool:
        """Whether one number is less than the other in the ranges."""
        high, low = self._range(least, known)[1], self._range(most, known)[0]
        return high is not None and low is not None and high < low

    # What is known.

    def _where(self, known: Known | None, terms: Iterable[Any], true: bool) -> Known | None:
        """What is known where some terms are true as well, or false."""
        if known is None:
            return None
        truths, limits, key = dict(known.truths), dict(known.limits), set(known.key)
        waiting = [(term, true) for term in terms]
        while waiting:
            term, value = waiting.pop()
            if z3.is_not(term):
                waiting.append((term.arg(0), not value))
            elif z3.is_and(term) if value else z3.is_or(term):
                waiting += ((part, value) for part in term.children())
            elif z3.is_app(term) and not (z3.is_and(term) or z3.is_or(term) or _is_truth(term)):
                self._alive.append(term)
                truths[term.get_id()] = value
                key.add((term.get_id(), value))
                said = _value(term) if value else None
                said = _limit(term, value) if said is None else said
                if said is not None:
                    number, limit = said[0].get_id(), said[1]
                    limits[number] = _both(limits.get(number, ANY), limit)
                elif not value and (z3.is_le(term) or z3.is_ge(term)):  # then they are not the same, either
                    one, other = term.children()
                    waiting += ((z3.simplify(it), False) for it in (one == other, other == one))
        return Known(truths, limits, frozenset(key))

    def _range(self, term: Any, known: Known | None) -> Range:
        """What a number can be."""
        own = ANY if known is None else known.limits.get(term.get_id(), ANY)
        if z3.is_int_value(term):
            return term.as_long(), term.as_long()
        if not z3.is_app(term):
            return own
        match term.decl().kind():
            case z3.Z3_OP_UNINTERPRETED:
                return _both(own, self._ranges.of.get(term.decl().get_id(), ANY))
            case z3.Z3_OP_ITE:
                return _both(own, _either(self._range(term.arg(1), known), self._range(term.arg(2), known)))
            case z3.Z3_OP_ADD:
                return _both(own, _total([self._range(part, known) for part in term.children()]))
            case z3.Z3_OP_IDIV if z3.is_int_value(term.arg(1)) and term.arg(1).as_long() > 0:
                by = term.arg(1).as_long()
                low, high = (None if it is None else it // by for it in self._range(term.arg(0), known))
                return _both(own, (low, high))
        return own


def _value(equality: Any) -> tuple[Any, Range] | None:
    """What it says of a term that it is a number."""
    if not z3.is_eq(equality):
        return None
    for number, term in (equality.children(), reversed(equality.children())):
        if z3.is_int_value(number):
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
    return bool(z3.is_true(term) or z3.is_false(term))


def _extent(term: Any) -> tuple[int, int]:
    """How many symbols it takes to write a term, and how many terms are within each other."""
    known: dict[int, tuple[int, int]] = {}
    waiting = [term]
    while waiting:
        part = waiting[-1]
        inner = [part.body()] if z3.is_quantifier(part) else part.children()
        missing = [it for it in inner if it.get_id() not in known]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        of_parts = [known[it.get_id()] for it in inner]
        known[part.get_id()] = 1 + sum(it for it, _ in of_parts), 1 + max((it for _, it in of_parts), default=0)
    return known[term.get_id()]


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
