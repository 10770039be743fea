"""Exact integers of any size: Python's if they are known, else z3 terms.

The integers of a finite model are bit vectors, each as wide as necessary. Besides its term, a number carries an
interval that contains it for all values of its symbols: for a symbol, the range of its width; for an operation, every
possible result for its operands. Each operation uses a width that holds its operands and its result, so nothing wraps
around. This does not rely on other assertions about the symbols, such as a variable's declared range.

If a number has no finite interval, because constants are left open or a claim has an ``int``, all numbers are z3's
integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import z3
from z3 import z3core

from floodmark.checkers.symbolic.terms.booleans import CONTEXT, Truth, as_truth, conditional, conj, is_same, same_term
from floodmark.checkers.symbolic.terms.symbols import SymbolFactory

Number = Any
"""An int, or the Numbers' representation of an unknown one: Bits, or a term of z3's integers."""


class Bits:
    """A signed bit vector of ``width`` bits that is between ``low`` and ``high`` for all values of its symbols."""

    __slots__ = ("high", "low", "term", "width")

    def __init__(self, term: Any, low: int, high: int, width: int) -> None:
        self.term = term
        self.low = low
        self.high = high
        self.width = width

    def __repr__(self) -> str:
        return f"Bits({self.term}, {self.low}, {self.high})"


def width_of(low: int, high: int) -> int:
    """The bits needed, including the sign, for the integers from ``low`` to ``high``."""
    return max(high if high >= 0 else ~high, low if low >= 0 else ~low).bit_length() + 1


class Numbers(ABC):
    """Arithmetic on numbers of one kind."""

    @abstractmethod
    def fresh(self, symbols: SymbolFactory, hint: str, low: int, high: int) -> Number:
        """A symbol for an integer, which covers at least the range from ``low`` to ``high``."""

    @abstractmethod
    def term(self, number: Number, low: int, high: int) -> Any:
        """A number as a component of a value whose type has this range: a term of the same sort as from ``fresh``."""

    @abstractmethod
    def settled(self, number: Number, low: int, high: int) -> tuple[Truth, Number]:
        """A number in the sort of ``fresh``, and whether its value is unchanged there."""

    def raw(self, number: Number) -> Any:
        """An unknown number, as a term."""
        return number

    def value(self, number: Number, model: Any) -> int:
        """The value of a number in a z3 model."""
        return number if isinstance(number, int) else self._value(model.eval(self.raw(number), True))

    @abstractmethod
    def _value(self, numeral: Any) -> int: ...

    # Comparison and choice.

    def equal(self, a: Number, b: Number) -> Truth:
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        return self._equal(a, b)

    def less(self, a: Number, b: Number) -> Truth:
        if isinstance(a, int) and isinstance(b, int):
            return a < b
        return self._less(a, b)

    def at_most(self, a: Number, b: Number) -> Truth:
        if isinstance(a, int) and isinstance(b, int):
            return a <= b
        return self._at_most(a, b)

    def compare(self, op: str, a: Number, b: Number) -> Truth:
        """A comparison by its operator: <, <=, > or >=."""
        match op:
            case "<":
                return self.less(a, b)
            case "<=":
                return self.at_most(a, b)
            case ">":
                return self.less(b, a)
        return self.at_most(b, a)

    def between(self, low: Number, number: Number, high: Number) -> Truth:
        """Whether a number is between two others, inclusive."""
        return conj((self.at_most(low, number), self.at_most(number, high)))

    def either(self, condition: Truth, then: Number, otherwise: Number) -> Number:
        """A number that depends on a condition."""
        if condition is True or then is otherwise:
            return then
        if condition is False:
            return otherwise
        if isinstance(then, int) and isinstance(otherwise, int) and then == otherwise:
            return then
        return self._either(condition, then, otherwise)

    def smaller(self, a: Number, b: Number) -> Number:
        return self.either(self.less(b, a), b, a)

    def larger(self, a: Number, b: Number) -> Number:
        return self.either(self.less(a, b), b, a)

    @abstractmethod
    def _equal(self, a: Number, b: Number) -> Truth: ...

    @abstractmethod
    def _less(self, a: Number, b: Number) -> Truth: ...

    @abstractmethod
    def _at_most(self, a: Number, b: Number) -> Truth: ...

    @abstractmethod
    def _either(self, condition: Truth, then: Number, otherwise: Number) -> Number: ...

    # Arithmetic.

    def plus(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if isinstance(b, int) and b == 0:
            return a
        if isinstance(a, int) and a == 0:
            return b
        return self._plus(a, b)

    def minus(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if isinstance(b, int) and b == 0 else self._minus(a, b)

    def times(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        return self._times(a, b)

    def divided(self, a: Number, b: Number) -> Number:
        """The quotient, rounded down as in Python; any number when ``b`` is 0."""
        if isinstance(b, int) and b == 0:
            return 0
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        return self._divided(a, b)

    def rest(self, a: Number, b: Number) -> Number:
        """The remainder, with the sign of ``b`` as in Python; any number when ``b`` is 0."""
        if isinstance(b, int) and b == 0:
            return 0
        if isinstance(a, int) and isinstance(b, int):
            return a % b
        return self._rest(a, b)

    @abstractmethod
    def _plus(self, a: Number, b: Number) -> Number: ...

    @abstractmethod
    def _minus(self, a: Number, b: Number) -> Number: ...

    @abstractmethod
    def _times(self, a: Number, b: Number) -> Number: ...

    @abstractmethod
    def _divided(self, a: Number, b: Number) -> Number: ...

    @abstractmethod
    def _rest(self, a: Number, b: Number) -> Number: ...

    def total(self, numbers: Iterable[Number]) -> Number:
        result: Number = 0
        for number in numbers:
            result = self.plus(result, number)
        return result

    def count(self, truths: Iterable[Truth]) -> Number:
        """The number of true ones."""
        return self.total(self.either(truth, 1, 0) for truth in truths)


class BitVectors(Numbers):
    """Numbers as bit vectors that are wide enough."""

    def __init__(self) -> None:
        self._sorts: dict[int, Any] = {}
        self._numerals: dict[tuple[int, int], Any] = {}

    def fresh(self, symbols: SymbolFactory, hint: str, low: int, high: int) -> Number:
        width = width_of(low, high)
        return _full(symbols.fresh(hint, self._sort(width)), width)

    def raw(self, number: Number) -> Any:
        return number.term

    def term(self, number: Number, low: int, high: int) -> Any:
        width = width_of(low, high)
        if isinstance(number, Bits) and number.width > width:
            raise AssertionError(f"{number} was not settled in {low}..{high}")
        return self._in(number, width)

    def settled(self, number: Number, low: int, high: int) -> tuple[Truth, Number]:
        if isinstance(number, int):
            return (True, number) if low <= number <= high else (False, low)
        width = width_of(low, high)
        if number.width <= width:
            return True, number
        cut = _bits(z3core.Z3_mk_extract(CONTEXT.ref(), width - 1, 0, number.term.ast))
        if width_of(number.low, number.high) <= width:
            return True, Bits(cut, number.low, number.high, width)
        return self.between(low, number, high), _full(cut, width)

    def _value(self, numeral: Any) -> int:
        value: int = numeral.as_signed_long()
        return value

    def _sort(self, width: int) -> Any:
        if width not in self._sorts:
            self._sorts[width] = z3.BitVecSort(width)
        return self._sorts[width]

    def _in(self, number: Number, width: int) -> Any:
        """A number as a term of a width that holds it."""
        if isinstance(number, int):
            key = (number, width)
            if key not in self._numerals:
                self._numerals[key] = z3.BitVecVal(number, self._sort(width))
            return self._numerals[key]
        if number.width == width:
            return number.term
        return _bits(z3core.Z3_mk_sign_ext(CONTEXT.ref(), width - number.width, number.term.ast))

    def _together(self, a: Number, b: Number) -> tuple[Any, Any]:
        """Two numbers as terms of the same width."""
        width = max(_width(a), _width(b))
        return self._in(a, width), self._in(b, width)

    def _equal(self, a: Number, b: Number) -> Truth:
        (a_low, a_high), (b_low, b_high) = _interval(a), _interval(b)
        if a_high < b_low or b_high < a_low:
            return False
        return same_term(*self._together(a, b))

    def _less(self, a: Number, b: Number) -> Truth:
        (a_low, a_high), (b_low, b_high) = _interval(a), _interval(b)
        if a_high < b_low:
            return True
        if a_low >= b_high:
            return False
        x, y = self._together(a, b)
        return False if is_same(x, y) else as_truth(z3core.Z3_mk_bvslt(CONTEXT.ref(), x.ast, y.ast))

    def _at_most(self, a: Number, b: Number) -> Truth:
        (a_low, a_high), (b_low, b_high) = _interval(a), _interval(b)
        if a_high <= b_low:
            return True
        if a_low > b_high:
            return False
        x, y = self._together(a, b)
        return True if is_same(x, y) else as_truth(z3core.Z3_mk_bvsle(CONTEXT.ref(), x.ast, y.ast))

    def _either(self, condition: Truth, then: Number, otherwise: Number) -> Number:
        (a_low, a_high), (b_low, b_high) = _interval(then), _interval(otherwise)
        x, y = self._together(then, otherwise)
        low, high = min(a_low, b_low), max(a_high, b_high)
        return Bits(conditional(z3.BitVecRef, condition, x, y), low, high, max(_width(then), _width(otherwise)))

    def _plus(self, a: Number, b: Number) -> Number:
        (a_low, a_high), (b_low, b_high) = _interval(a), _interval(b)
        return self._computed(z3core.Z3_mk_bvadd, a, b, a_low + b_low, a_high + b_high)

    def _minus(self, a: Number, b: Number) -> Number:
        (a_low, a_high), (b_low, b_high) = _interval(a), _interval(b)
        return self._computed(z3core.Z3_mk_bvsub, a, b, a_low - b_high, a_high - b_low)

    def _times(self, a: Number, b: Number) -> Number:
        corners = [x * y for x in _interval(a) for y in _interval(b)]
        return self._computed(z3core.Z3_mk_bvmul, a, b, min(corners), max(corners))

    def _divided(self, a: Number, b: Number) -> Number:
        low, high = _quotients(_interval(a), _interval(b))
        if _interval(a)[0] >= 0 and _interval(b)[0] > 0:
            return self._computed(z3core.Z3_mk_bvudiv, a, b, low, high)
        low -= 1  # as it is rounded down
        width = max(_width(a), _width(b), width_of(low, high))
        x, y = self._in(a, width), self._in(b, width)
        quotient, rest = x / y, z3.SRem(x, y)
        rounded = z3.If(z3.And(rest != 0, (rest < 0) != (y < 0)), quotient - 1, quotient)
        return Bits(rounded, low, high, width)

    def _rest(self, a: Number, b: Number) -> Number:
        low, high = _rests(_interval(a), _interval(b))
        return self._computed(z3core.Z3_mk_bvsmod, a, b, low, high)  # SMT-LIB's remainder with the sign of the divisor

    def _computed(self, operation: Callable[..., Any], a: Number, b: Number, low: int, high: int) -> Number:
        width = max(_width(a), _width(b), width_of(low, high))
        x, y = self._in(a, width), self._in(b, width)
        return Bits(_bits(operation(CONTEXT.ref(), x.ast, y.ast)), low, high, width)


def _bits(ast: Any) -> Any:
    return z3.BitVecRef(ast, CONTEXT)


def _full(term: Any, width: int) -> Bits:
    """A term about which only the width is known."""
    return Bits(term, -1 << width - 1, (1 << width - 1) - 1, width)


def _interval(number: Number) -> tuple[int, int]:
    return (number, number) if isinstance(number, int) else (number.low, number.high)


def _width(number: Number) -> int:
    return width_of(number, number) if isinstance(number, int) else number.width


def _divisors(low: int, high: int) -> list[int]:
    """The divisors in an interval at which a quotient can be smallest or largest: its ends, and those next to 0."""
    return [number for number in (low, high, -1, 1) if low <= number <= high and number != 0]


def _quotients(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    """The range of quotients as z3 computes them: truncated, and 1 or -1 for division by 0."""
    found = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x in a for y in _divisors(*b)]
    if b[0] <= 0 <= b[1]:
        found += [-1, 1]
    return min(found), max(found)


def _rests(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    """The range of remainders; z3's remainder of a division by 0 is the dividend."""
    low = 0 if b[0] >= 0 else b[0] + 1
    high = 0 if b[1] <= 0 else b[1] - 1
    if a[0] >= 0 and b[0] >= 0:
        high = min(high, a[1])
    if b[0] <= 0 <= b[1]:
        low, high = min(low, a[0]), max(high, a[1])
    return low, high


class Integers(Numbers):
    """Numbers as z3's integers."""

    def fresh(self, symbols: SymbolFactory, hint: str, low: int, high: int) -> Number:
        return symbols.fresh(hint, z3.IntSort())

    def term(self, number: Number, low: int, high: int) -> Any:
        return _integer(number)

    def settled(self, number: Number, low: int, high: int) -> tuple[Truth, Number]:
        return True, number

    def _value(self, numeral: Any) -> int:
        value: int = numeral.as_long()
        return value

    def _equal(self, a: Number, b: Number) -> Truth:
        return same_term(_integer(a), _integer(b))

    def _less(self, a: Number, b: Number) -> Truth:
        a, b = _integer(a), _integer(b)
        return False if is_same(a, b) else a < b

    def _at_most(self, a: Number, b: Number) -> Truth:
        a, b = _integer(a), _integer(b)
        return True if is_same(a, b) else a <= b

    def _either(self, condition: Truth, then: Number, otherwise: Number) -> Number:
        return conditional(z3.ArithRef, condition, _integer(then), _integer(otherwise))

    def _plus(self, a: Number, b: Number) -> Number:
        return _integer(a) + _integer(b)

    def _minus(self, a: Number, b: Number) -> Number:
        return _integer(a) - _integer(b)

    def _times(self, a: Number, b: Number) -> Number:
        return _integer(a) * _integer(b)

    def _divided(self, a: Number, b: Number) -> Number:
        a, b = _integer(a), _integer(b)
        quotient, rest = a / b, a % b  # Euclidean: the remainder is never negative
        return z3.If(z3.And(rest != 0, b < 0), quotient - 1, quotient)

    def _rest(self, a: Number, b: Number) -> Number:
        a, b = _integer(a), _integer(b)
        rest = a % b
        return z3.If(z3.And(rest != 0, b < 0), rest + b, rest)


def _integer(number: Number) -> Any:
    return z3.IntVal(number) if isinstance(number, int) else number


class Codes:
    """The codes of members of enums and identifier classes: bit vectors of one width, without arithmetic."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.sort = z3.BitVecSort(width_of(0, max(1, count - 1)))

    def fresh(self, symbols: SymbolFactory, hint: str) -> Number:
        return symbols.fresh(hint, self.sort)

    def term(self, code: Number) -> Any:
        return z3.BitVecVal(code, self.sort) if isinstance(code, int) else code

    def value(self, code: Number, model: Any) -> int:
        if isinstance(code, int):
            return code
        value: int = model.eval(code, True).as_signed_long()
        return value

    def is_one(self, code: Number) -> Truth:
        """Whether a symbol has a valid code."""
        if isinstance(code, int):
            return 0 <= code < self.count
        return conj((self.term(0) <= code, code <= self.term(self.count - 1)))

    def either(self, condition: Truth, then: Number, otherwise: Number) -> Number:
        if condition is True or then is otherwise:
            return then
        if condition is False:
            return otherwise
        if isinstance(then, int) and isinstance(otherwise, int) and then == otherwise:
            return then
        return conditional(z3.BitVecRef, condition, self.term(then), self.term(otherwise))

    def equal(self, a: Number, b: Number) -> Truth:
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        return same_term(self.term(a), self.term(b))

    def less(self, a: Number, b: Number) -> Truth:
        if isinstance(a, int) and isinstance(b, int):
            return a < b
        a, b = self.term(a), self.term(b)
        return False if is_same(a, b) else a < b
