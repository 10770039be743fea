"""Models of which a small size, or a search from the beginning, does not run every line."""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Identifier, Map, Model, action, initial, invariant, require


class Doors(Model):
    """Doors that open where the limit allows it, and are repaired once they are broken, which none ever is."""

    limit = Constant(0)

    opened: Annotated[int, Between(0, "limit")] = 0
    broken: bool = False
    repaired: bool = False

    @action
    def opens(self) -> None:
        require(self.opened < self.limit)
        self.opened = self.limit

    @action
    def is_repaired(self) -> None:
        require(self.broken)
        self.repaired = True

    @action
    def is_moved(self) -> None:
        require(self.opened > self.limit)
        self.broken = True

    @invariant
    def whole(self) -> bool:
        return not self.broken


class Guest(Identifier, count="guests", prefix="g"):
    """Whoever comes."""


class Rooms(Model):
    """Guests of which one has a key and another one a room."""

    guests = Constant(2)

    key: Guest
    inside: Map[Guest, bool]

    @initial
    def start(self, first: Guest, second: Guest) -> None:
        require(first != second)
        self.key = first
        self.inside = Map({guest: guest == second for guest in Guest})

    @action
    def enters(self, guest: Guest) -> None:
        require(guest == self.key)
        self.inside[guest] = True

    @invariant
    def somebody_is_inside(self) -> bool:
        return any(self.inside[guest] for guest in Guest)
