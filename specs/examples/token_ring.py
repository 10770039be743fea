"""Dijkstra's self-stabilising ring with K-state machines (EWD 391; Communications of the ACM 17, 1974).

Machine 0 has the privilege when its number equals its left neighbour's, then counting on; every other when it differs,
then copying it. From any state, under any schedule, there is eventually always exactly one privilege, and it
circulates. That takes enough numbers: as many as machines are enough, and one fewer, too (Fokkink, Hoepman and Pang,
2005).
"""

from __future__ import annotations

from typing import Annotated

from floodmark import (
    Between,
    Constant,
    Map,
    Model,
    action,
    always_eventually,
    eventually_always,
    fair,
    initial,
    invariant,
    recoverable,
    require,
    rule,
)

Machine = Annotated[int, Between(0, "last")]
Number = Annotated[int, Between(0, "numbers - 1")]


class TokenRing(Model):
    """Machines 0 to ``last`` in a ring, each with one of ``numbers`` numbers."""

    last = Constant(3)
    numbers = Constant(4)

    number: Map[Machine, Number]

    @initial
    def anything(self, number: Map[Machine, Number]) -> None:
        self.number = number

    def left(self, machine: int) -> int:
        """The number of the left neighbour."""
        return self.number[machine - 1] if machine > 0 else self.number[self.last]

    @rule
    def privileged(self, machine: int) -> bool:
        if machine == 0:
            return self.number[0] == self.left(0)
        return self.number[machine] != self.left(machine)

    @fair
    @action
    def moves(self, machine: Machine) -> None:
        require(self.privileged(machine))
        self.number[machine] = (self.number[0] + 1) % self.numbers if machine == 0 else self.left(machine)

    @invariant
    def somebody_is_privileged(self) -> bool:
        return any(self.privileged(machine) for machine in range(self.last + 1))

    @eventually_always
    def one_is_privileged(self) -> bool:
        return sum(1 for machine in range(self.last + 1) if self.privileged(machine)) == 1

    @always_eventually
    def the_privilege_goes_round(self, machine: Machine) -> bool:
        return self.privileged(machine)

    @recoverable
    def all_can_agree(self) -> bool:
        return all(self.number[machine] == 0 for machine in range(self.last + 1))
