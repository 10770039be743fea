"""Sums over constants that are left open: the bounds of a type when a constant may be any natural number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from floodmark.language.errors import ModelError


@dataclass(frozen=True, slots=True)
class Linear:
    """``number`` plus a multiple (``times``) of each of some constants, such as ``2 * n - 1``; at least one constant.

    It has no order: which of two such sums is larger depends on the constants. Use ``lowest`` and ``highest`` instead.
    """

    number: int
    times: tuple[tuple[str, int], ...]

    @property
    def lowest(self) -> int | None:
        """The smallest value over all natural numbers; None if there is none."""
        return self.number if all(factor > 0 for _, factor in self.times) else None

    @property
    def highest(self) -> int | None:
        """The largest value over all natural numbers; None if there is none."""
        return self.number if all(factor < 0 for _, factor in self.times) else None

    def at(self, constants: Mapping[str, int]) -> int:
        """The value where the constants have these values."""
        return self.number + sum(factor * constants[name] for name, factor in self.times)

    def __add__(self, other: Bound) -> Bound:
        if isinstance(other, int):
            return Linear(self.number + other, self.times)
        return _sum(self.number + other.number, [*self.times, *other.times])

    def __radd__(self, other: int) -> Bound:
        return self + other

    def __neg__(self) -> Linear:
        return Linear(-self.number, tuple((name, -factor) for name, factor in self.times))

    def __sub__(self, other: Bound) -> Bound:
        return self + -other

    def __rsub__(self, other: int) -> Bound:
        return -self + other

    def __mul__(self, other: Bound) -> Bound:
        if isinstance(other, Linear):
            raise ModelError(f"the product of {self} and {other}, which are left open, cannot be a bound here")
        return _sum(self.number * other, [(name, factor * other) for name, factor in self.times])

    def __rmul__(self, other: int) -> Bound:
        return self * other

    def __floordiv__(self, other: Bound) -> Bound:
        raise ModelError(f"{self} is left open and cannot be divided in a bound")

    def __rfloordiv__(self, other: int) -> Bound:
        raise ModelError(f"{self} is left open and cannot divide a bound")

    def __str__(self) -> str:
        parts = []
        for name, factor in self.times:
            sign = "-" if factor < 0 else "+"
            parts.append(f"{sign} {name}" if abs(factor) == 1 else f"{sign} {abs(factor)} * {name}")
        if self.number:
            parts.append(f"{'-' if self.number < 0 else '+'} {abs(self.number)}")
        text = " ".join(parts)
        return text[2:] if text.startswith("+ ") else f"-{text[2:]}"


class SearchBound(int):
    """The value of a constant that is a bound of the search, so that it may as well be larger."""


Bound = int | Linear
"""A bound of a type: a number, or a sum over constants that are left open."""


def left_open(name: str) -> Linear:
    """A constant that may be any natural number."""
    return Linear(0, ((name, 1),))


def lowest(bound: Bound) -> int | None:
    """The smallest value of a bound, whatever the constants are; None if there is none."""
    return bound if isinstance(bound, int) else bound.lowest


def highest(bound: Bound) -> int | None:
    """The largest value of a bound, whatever the constants are; None if there is none."""
    return bound if isinstance(bound, int) else bound.highest


def _sum(number: int, times: Iterable[tuple[str, int]]) -> Bound:
    total: dict[str, int] = {}
    for name, factor in times:
        total[name] = total.get(name, 0) + factor
    kept = tuple(sorted((name, factor) for name, factor in total.items() if factor))
    return Linear(number, kept) if kept else number
