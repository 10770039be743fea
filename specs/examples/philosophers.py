"""Dining philosophers (Dijkstra, EWD 310) before anyone arbitrates: six phases each, and one courtesy.

Nobody waits for a fork here, so every combination of phases is reachable: n philosophers have 6**n states in 5 * n + 1
levels, and n * (6**n + 6**(n - 2)) steps. The purpose is a state space whose figures are known at any size.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import Between, Constant, Map, Model, action, initial, invariant, reachable, require

Seat = Annotated[int, Between(0, "last")]
"""A place at the round table, numbered to the right."""


class Phase(Enum):
    """What a philosopher is doing."""

    THINKING = 0
    HUNGRY = 1
    WANTS_LEFT = 2
    WANTS_BOTH = 3
    EATING = 4
    SATED = 5


class Philosophers(Model):
    """A round table at which everybody follows their own appetite; ``last`` is the number of the last seat."""

    last = Constant(8)

    phase: Map[Seat, Phase]

    @initial
    def seated(self) -> None:
        self.phase = Map({seat: Phase.THINKING for seat in range(self.last + 1)})

    @action
    def gets_hungry(self, seat: Seat) -> None:
        require(self.phase[seat] == Phase.THINKING)
        self.phase[seat] = Phase.HUNGRY

    @action
    def reaches_left(self, seat: Seat) -> None:
        require(self.phase[seat] == Phase.HUNGRY)
        self.phase[seat] = Phase.WANTS_LEFT

    @action
    def reaches_right(self, seat: Seat) -> None:
        require(self.phase[seat] == Phase.WANTS_LEFT)
        self.phase[seat] = Phase.WANTS_BOTH

    @action
    def eats(self, seat: Seat) -> None:
        require(self.phase[seat] == Phase.WANTS_BOTH)
        self.phase[seat] = Phase.EATING

    @action
    def has_enough(self, seat: Seat) -> None:
        require(self.phase[seat] == Phase.EATING)
        self.phase[seat] = Phase.SATED

    @action
    def thinks_again(self, seat: Seat) -> None:
        require(self.phase[seat] == Phase.SATED)
        self.phase[seat] = Phase.THINKING

    @action
    def gives_way(self, seat: Seat) -> None:
        """A philosopher who reaches for the left fork while the right neighbour does so, too, stops reaching."""
        require(self.phase[seat] == Phase.WANTS_LEFT)
        require(self.phase[(seat + 1) % (self.last + 1)] == Phase.WANTS_LEFT)
        self.phase[seat] = Phase.HUNGRY

    @invariant
    def everyone_has_a_phase(self) -> bool:
        """No phase is shared by more philosophers than there are seats."""
        return all(
            sum(1 for seat in range(self.last + 1) if self.phase[seat] == phase) <= self.last + 1 for phase in Phase
        )

    @reachable
    def all_eat_at_once(self) -> bool:
        """Nobody arbitrates: the whole table can eat at once, which forks would not allow."""
        return all(self.phase[seat] == Phase.EATING for seat in range(self.last + 1))
