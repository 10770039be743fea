"""Partially known values: integers in an interval, and maps with more entries than are known.

A run with them shows the behaviour at every larger bound. An operation that depends on unknown parts raises
``BoundDependence``: the supported operations are listed, and any other operation of Python ends the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from floodmark.language.values import Map, Record, Seq


class BoundDependence(Exception):  # noqa: N818 - not an error: the caller needs another method
    """Raised if a result depends on the size of a bound."""


def _undecided(*_: Any) -> NoReturn:
    raise BoundDependence


class Interval:
    """A number from ``low`` to ``high``, each None if unlimited: every result holds for all such numbers."""

    __slots__ = ("_high", "_low")

    def __init__(self, low: int | None, high: int | None = None) -> None:
        self._low = low
        self._high = high

    def __add__(self, other: int | Interval) -> Interval:
        low, high = _ends(other)
        return Interval(_sum(self._low, low), _sum(self._high, high))

    __radd__ = __add__

    def __neg__(self) -> Interval:
        return Interval(_times(self._high, -1), _times(self._low, -1))

    def __sub__(self, other: int | Interval) -> Interval:
        return self + (-other)

    def __rsub__(self, other: int) -> Interval:
        return -self + other

    def __mul__(self, factor: int) -> Interval:
        if type(factor) is not int:
            raise BoundDependence
        ends = _times(self._low, factor), _times(self._high, factor)
        return Interval(*ends) if factor >= 0 else Interval(*ends[::-1])

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Interval:
        if type(divisor) is not int or divisor <= 0:
            raise BoundDependence
        low, high = (None if end is None else end // divisor for end in (self._low, self._high))
        return Interval(low, high)

    def __lt__(self, other: int | Interval) -> bool:
        low, high = _ends(other)
        if self._high is not None and low is not None and self._high < low:
            return True
        if self._low is not None and high is not None and self._low >= high:
            return False
        raise BoundDependence

    def __gt__(self, other: int | Interval) -> bool:
        return -self < -other

    def __le__(self, other: int | Interval) -> bool:
        return not self > other

    def __ge__(self, other: int | Interval) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | Interval):
            low, high = _ends(other)
            below = self._high is not None and low is not None and self._high < low
            above = self._low is not None and high is not None and self._low > high
            if below or above:
                return False
        raise BoundDependence

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self != 0

    def map(self, value: Callable[[int], Any], *ends: int | Interval) -> OpenMap:
        """A map from all integers that ``range`` counts between the ends, the last of which grows with a bound."""
        first, last = (0, *ends) if len(ends) == 1 else ends
        if type(first) is not int or type(last) is not Interval or last._low is None or last._high is not None:
            raise BoundDependence
        return OpenMap({key: value(key) for key in range(first, last._low)})

    __hash__ = _undecided
    __repr__ = _undecided
    __class__ = property(_undecided)
    """The class that ``isinstance`` sees for a value of another class."""


class OpenMap(Map[Any, Any]):
    """A map that has more entries at a larger bound: its present entries are known, their final number is not."""

    __slots__ = ()

    def _with(self, key: Any, value: Any) -> OpenMap:
        return OpenMap({**self._known(key), key: value})

    def __getitem__(self, key: Any) -> Any:
        self._known(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._known(key)
        return True

    def _known(self, key: Any) -> dict[Any, Any]:
        if key not in self._entries:
            raise BoundDependence
        return self._entries

    def __iter__(self) -> Iterator[Any]:
        raise BoundDependence

    __len__ = _undecided
    __hash__ = _undecided
    __eq__ = _undecided
    __ne__ = _undecided
    __repr__ = _undecided
    get = keys = values = items = _undecided


def closed(value: Any) -> Any:
    """A value with only the entries of its maps that are known."""
    match value:
        case Map():
            return Map({key: closed(item) for key, item in value._entries.items()})
        case Record():
            return value.build({name: closed(item) for name, item in value._values.items()})
        case Seq() | list() | tuple():
            return Seq(map(closed, value))
    return value


def _ends(value: object) -> tuple[int | None, int | None]:
    if type(value) is Interval:
        return value._low, value._high
    if isinstance(value, int):
        return int(value), int(value)
    raise BoundDependence


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _times(end: int | None, factor: int) -> int | None:
    return 0 if factor == 0 else None if end is None else end * factor
