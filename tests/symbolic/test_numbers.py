"""Tests z3 numbers: each operation is that of the integers, at every width, for all values of the symbols."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
import z3

from floodmark.checkers.symbolic.terms.integers import Bits, BitVectors, Codes, Integers, Number, Numbers, width_of
from floodmark.checkers.symbolic.terms.symbols import SymbolFactory
from tests.support.term_audit import wrapping

RANGES = [(0, 0), (0, 3), (-2, 1), (1, 3), (-3, -1)]
OPERATIONS: dict[str, tuple[Callable[[Numbers, Number, Number], Any], Callable[[Any, Any], Any]]] = {
    "+": (Numbers.plus, lambda a, b: a + b),
    "-": (Numbers.minus, lambda a, b: a - b),
    "*": (Numbers.times, lambda a, b: a * b),
    "//": (Numbers.divided, lambda a, b: _floor(a, b)),
    "%": (Numbers.rest, lambda a, b: a - b * _floor(a, b)),
    "min": (Numbers.smaller, lambda a, b: z3.If(a < b, a, b)),
    "max": (Numbers.larger, lambda a, b: z3.If(a < b, b, a)),
    "<": (Numbers.less, lambda a, b: a < b),
    "<=": (Numbers.at_most, lambda a, b: a <= b),
    "==": (Numbers.equal, lambda a, b: a == b),
}


def _floor(a: Any, b: Any) -> Any:
    """The quotient rounded down, in z3's integers: the largest whose product with the divisor is not beyond."""
    return z3.If(b > 0, a / b, (-a) / (-b))


def _as_integer(number: Any) -> Any:
    if isinstance(number, bool):
        return z3.BoolVal(number)
    if isinstance(number, int):
        return z3.IntVal(number)
    if isinstance(number, Bits):
        return z3.BV2Int(number.term, is_signed=True)
    return number


def _operands(numbers: Numbers) -> list[Number]:
    """Symbols, whose intervals are all that their width holds; numbers with narrower intervals; and constants."""
    symbols = SymbolFactory()
    wide = [numbers.fresh(symbols, "x", low, high) for low, high in RANGES]
    natural = numbers.rest(numbers.fresh(symbols, "y", 0, 3), 3)
    negative = numbers.minus(-1, numbers.rest(numbers.fresh(symbols, "z", 0, 1), 2))
    return [*wide, natural, negative, -2, 0, 3]


EVERY = pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
"""Every third pair of operands, in which each operand meets every kind of number; or every pair."""


@EVERY
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_is_that_of_the_integers_for_all_values(operation: str, step: int) -> None:
    """z3 is asked for a case in which the bit vector and the integer differ."""
    numbers = BitVectors()
    mine, real = OPERATIONS[operation]
    for a, b in [*itertools.product(_operands(numbers), _operands(numbers))][::step]:
        made = mine(numbers, a, b)
        x, y = _as_integer(a), _as_integer(b)
        solver = z3.Solver()
        if operation in ("//", "%"):
            solver.add(y != 0)
        solver.add(_as_integer(made) != real(x, y))
        assert solver.check() == z3.unsat, (operation, a, b, solver.model())


@EVERY
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_lies_in_its_interval_even_where_it_divides_by_zero(operation: str, step: int) -> None:
    numbers = BitVectors()
    mine, _ = OPERATIONS[operation]
    for a, b in [*itertools.product(_operands(numbers), _operands(numbers))][::step]:
        made = mine(numbers, a, b)
        if not isinstance(made, Bits):
            continue
        assert width_of(made.low, made.high) <= made.width
        solver = z3.Solver()
        solver.add(z3.Or(made.term < made.low, made.term > made.high))
        assert solver.check() == z3.unsat, (operation, a, b, solver.model())


class Example:
    """A random computation: as numbers, and as a function of the values of its symbols."""

    def __init__(self, seed: int, numbers: Numbers) -> None:
        self.chance = random.Random(seed)
        self.numbers = numbers
        symbols = SymbolFactory()
        self.ranges = [self._range() for _ in range(4)]
        self.symbols = [numbers.fresh(symbols, "x", low, high) for low, high in self.ranges]
        self.number, self.of = self._build(4)

    def _range(self) -> tuple[int, int]:
        far = 1 << self.chance.choice((1, 3, 8, 31, 61))
        low, high = sorted((self.chance.randint(-far, far), self.chance.randint(-far, far)))
        return self.chance.choice(((low, high), (0, abs(high)), (-abs(low), 0), (high, high)))

    def _build(self, depth: int) -> tuple[Number, Callable[[list[int]], int]]:
        if depth == 0 or self.chance.random() < 0.1:
            if self.chance.random() < 0.2:
                value = self.chance.choice((-1, 0, 1, 2, 7, -(1 << 62), 1 << 40))
                return value, lambda _: value
            index = self.chance.randrange(len(self.symbols))
            return self.symbols[index], lambda at: at[index]
        (a, f), (b, g) = self._build(depth - 1), self._build(depth - 1)
        numbers = self.numbers
        match self.chance.choice(("+", "-", "*", "//", "%", "min", "max", "either", "count")):
            case "+":
                return numbers.plus(a, b), lambda at: f(at) + g(at)
            case "-":
                return numbers.minus(a, b), lambda at: f(at) - g(at)
            case "*":
                return numbers.times(a, b), lambda at: f(at) * g(at)
            case "//":  # of z3 any number is right where CPython has none
                whole = numbers.either(numbers.equal(b, 0), 5, numbers.divided(a, b))
                return whole, lambda at: f(at) // g(at) if g(at) else 5
            case "%":
                whole = numbers.either(numbers.equal(b, 0), 5, numbers.rest(a, b))
                return whole, lambda at: f(at) % g(at) if g(at) else 5
            case "min":
                return numbers.smaller(a, b), lambda at: min(f(at), g(at))
            case "max":
                return numbers.larger(a, b), lambda at: max(f(at), g(at))
            case "either":
                return numbers.either(numbers.less(a, b), b, 3), lambda at: g(at) if f(at) < g(at) else 3
        truths = (numbers.at_most(a, b), numbers.equal(a, b), numbers.less(b, a))
        return numbers.count(truths), lambda at: (f(at) <= g(at)) + (f(at) == g(at)) + (g(at) < f(at))

    def values(self) -> list[int]:
        """One for each symbol: an end of its range, or close to one."""
        return [
            min(max(self.chance.choice((low, high, low + 1, high - 1, 0, -1, 1)), low), high)
            for low, high in self.ranges
        ]

    def computed(self, at: list[int]) -> int:
        """What the term is for these values."""
        if isinstance(self.number, int):
            return self.number
        raw = [(self.numbers.raw(symbol), _numeral(self.numbers.raw(symbol), value))
               for symbol, value in zip(self.symbols, at, strict=True)]
        term = z3.simplify(z3.substitute(self.numbers.raw(self.number), *raw))
        result: int = term.as_signed_long() if z3.is_bv_value(term) else term.as_long()
        return result


def _numeral(symbol: Any, value: int) -> Any:
    return z3.BitVecVal(value, symbol.size()) if z3.is_bv(symbol) else z3.IntVal(value)


@pytest.mark.parametrize("kind", [BitVectors, Integers])
def test_random_computations_are_those_of_cpython(kind: type[Numbers]) -> None:
    for seed in range(150):
        example = Example(seed, kind())
        for _ in range(6):
            at = example.values()
            assert example.computed(at) == example.of(at), (seed, at, example.number)


@pytest.mark.parametrize("count", [100, pytest.param(300, marks=pytest.mark.slow)])
def test_random_computations_cannot_wrap_around(count: int) -> None:
    for seed in range(count):
        example = Example(seed, BitVectors())
        if isinstance(example.number, Bits):
            assert wrapping([example.number.term]) == [], seed


def test_the_audit_notices_what_wraps() -> None:
    x, y = z3.BitVec("x", 4), z3.BitVec("y", 4)
    for term in (x + y, x - y, x * y, -x, x / y, z3.UDiv(x, y), z3.SignExt(1, x) * z3.SignExt(1, y), z3.URem(x, y)):
        assert wrapping([term]), term
    assert wrapping([z3.SignExt(1, x) + z3.SignExt(1, y), z3.SignExt(1, x) / z3.SignExt(1, y)]) == []


def test_a_number_is_cut_only_beside_the_condition_that_it_fits() -> None:
    numbers = BitVectors()
    x = numbers.fresh(SymbolFactory(), "x", 0, 6)
    fits, cut = numbers.settled(numbers.plus(x, 1), 0, 6)
    assert cut.width == width_of(0, 6)
    assert (cut.low, cut.high) == (-8, 7)
    solver = z3.Solver()
    solver.add(fits, x.term == 7)  # there x + 1 is -8 in so many bits
    assert solver.check() == z3.unsat
    assert numbers.settled(x, 0, 6) == (True, x)
    assert numbers.settled(9, 0, 6) == (False, 0)
    low, narrower = numbers.settled(numbers.smaller(numbers.larger(x, 0), 7), 0, 6)
    assert (low, narrower.width) == (True, 4)
    with pytest.raises(AssertionError, match="was not settled"):
        numbers.term(numbers.plus(x, 1), 0, 6)


def test_symbols_of_one_hint_are_different() -> None:
    symbols = SymbolFactory()
    a, b = symbols.truth("x"), symbols.truth("x")
    assert not a.eq(b)
    assert symbols.copy(a, "y").sort() == a.sort()


def test_codes_have_an_order_and_an_end() -> None:
    codes = Codes(3)
    x = codes.fresh(SymbolFactory(), "x")
    solver = z3.Solver()
    solver.add(codes.is_one(x))
    found = set()
    while solver.check() == z3.sat:
        found.add(codes.value(x, solver.model()))
        solver.add(x != solver.model()[x])
    assert found == {0, 1, 2}
    assert codes.less(0, 1)
    assert codes.is_one(3) is False
