"""The limits of the numbers in specs and options: each is beyond every use and within the range of every engine.

Each function returns the value or raises ValueError with a text that can follow the name of a key or an option.
"""

from __future__ import annotations

import re
from collections.abc import Callable

MAX_COUNT = 10**18
"""The largest number of states, steps or workers that an option accepts."""
MAX_SECONDS = 10 * 365 * 24 * 3600.0
"""Ten years. The timers of operating systems end not long after."""
MAX_MEMORY = 16 << 40
"""16 TiB. The memory that is reserved for each worker has to fit into a process's addresses."""
MAX_WORKERS = 1024
CONSTANT_BITS = 62
"""Constants are within +-2**62, so that the sum of two still fits into a machine word."""

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_MAX_DIGITS, _MAX_SHOWN = 40, 80


def count(value: object) -> int:
    """A whole number, 0 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"must be a whole number, 0 or more, not {brief(value)}")
    if value > MAX_COUNT:
        raise ValueError(f"must be at most 10**18, not {brief(value)}")
    return value


def positive(value: object) -> int:
    """A whole number, 1 or more."""
    if value == 0 or not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"must be a whole number, 1 or more, not {brief(value)}")
    return count(value)


def workers(value: object) -> int:
    """A number of workers; 0 is one for each core."""
    if count(value) > MAX_WORKERS:
        raise ValueError(f"must be at most {MAX_WORKERS:,}, not {brief(value)}")
    return count(value)


def seconds(value: object) -> float:
    """A time."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0:  # which NaN is not
        raise ValueError(f"must be a number, 0 or more, not {brief(value)}")
    if value > MAX_SECONDS:
        raise ValueError(f"must be at most ten years, not {brief(value)}; leave it out for no limit")
    return float(value)


def factor(value: object) -> float:
    """A factor by which a number of states is multiplied."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 1 <= value <= MAX_COUNT:
        raise ValueError(f"must be a number from 1 to 10**18, not {brief(value)}")
    return float(value)


def constant(value: object) -> int | bool:
    """The value of a constant of a model."""
    if not isinstance(value, int):
        raise ValueError(f"must be a whole number or true or false, not {brief(value)}")
    if abs(value) > 1 << CONSTANT_BITS:
        raise ValueError(f"must lie within 2**{CONSTANT_BITS}, and {brief(value)} does not")
    return value


def memory(text: str) -> int:
    """Bytes, from ``8G``, ``500M`` or a plain number."""
    match = re.fullmatch(r"(\d{1,40}(?:\.\d{1,40})?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE | re.ASCII)
    if match is None:
        raise ValueError(f"{brief(text)} is not an amount of memory; write 8G or 500M")
    found = int(float(match[1]) * _UNITS[match[2].upper()])
    if found > MAX_MEMORY:
        raise ValueError(f"{brief(text)} is more memory than any machine has; the most is 16T")
    return found


def memory_text(amount: int) -> str:
    """An amount as ``memory`` reads it, in the largest unit of which it is a multiple."""
    unit = next((unit for unit in reversed(_UNITS) if amount and amount % _UNITS[unit] == 0), "")
    return f"{amount // _UNITS[unit]}{unit}"


def brief(value: object) -> str:
    """A value as messages show it, cut where it is long."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**_MAX_DIGITS:
        return f"a number of more than {_MAX_DIGITS} digits"  # Python refuses to print one of more than 4,300
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN + 2 else f"{text[:_MAX_SHOWN]}..."


_NUMBERS: dict[str, Callable[[object], float]] = {
    "walks": positive, "steps": positive, "seed": count, "states": count, "max_states": count, "depth": positive,
    "after_walks": count, "seconds": seconds, "workers": workers,
}


def require_numbers(**given: float | None) -> None:
    """Raises ValueError for an argument, by its name, that as an option of a command would be refused, too; one that is
    None was not given."""
    for name, value in given.items():
        if value is not None:
            try:
                _NUMBERS[name](value)
            except ValueError as error:
                raise ValueError(f"{name} {error}") from None
