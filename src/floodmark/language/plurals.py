"""Numbers with their nouns, in singular or plural, for messages."""

from __future__ import annotations


def counted(count: int, what: str) -> str:
    """``1 state``, ``2 states``, ``1,204 states``, ``2 properties``."""
    return f"{count:,} {plural(count, what)}"


def plural(count: float, what: str, several: str | None = None) -> str:
    """The word that follows a number; ``several`` is the plural where it is not made from ``what`` with an s."""
    if count == 1:
        return what
    if several is not None:
        return several
    return f"{what[:-1]}ies" if what.endswith("y") else f"{what}{'es' if what.endswith('s') else 's'}"


def counted_seconds(seconds: float | None) -> str:
    """``1 second``, ``0.5 seconds``; of a limit that was reached, so there is one."""
    assert seconds is not None
    return f"{seconds:g} {plural(seconds, 'second')}"
