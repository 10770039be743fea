"""Keys of caches for results about parts of a graph: by the identity of a part, and only for the most recent parts."""

from __future__ import annotations

from typing import Any

MAX_KEYS = 128
"""The maximum number of entries: more than a known-bad design shares with its model. An entry keeps its part alive."""


class IdentityKey:
    """A key for an immutable object, equal only to the key of the same object.

    As it holds the object, no other one gets its identity while it is a key.
    """

    __slots__ = ("it",)

    def __init__(self, it: Any) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdentityKey) and other.it is self.it

    def __hash__(self) -> int:
        return id(self.it)
