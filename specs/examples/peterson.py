"""Peterson's algorithm for two processes: mutual exclusion without starvation (G. L. Peterson, 1981).

Who wants to enter says so, gives way to the other, and waits while the other wants to enter and it is their turn. Each
process continues when it can, but none has to request entry. That each then gets in is the textbook's answer.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import Between, Map, Model, action, fair, initial, invariant, leads_to, reachable, require, rule

Process = Annotated[int, Between(0, 1)]


class Place(Enum):
    """Where a process is in its program."""

    IDLE = 0
    WANTS = 1
    WAITS = 2
    CRITICAL = 3


class Peterson(Model):
    """Two processes, the flags by which each says that it wants to enter, and whose turn it is."""

    place: Map[Process, Place]
    wants: Map[Process, bool]
    turn: Process

    @initial
    def idle(self, turn: Process) -> None:
        self.place = Map({process: Place.IDLE for process in range(2)})
        self.wants = Map({process: False for process in range(2)})
        self.turn = turn

    @action
    def starts(self, process: Process) -> None:
        require(self.place[process] == Place.IDLE)
        self.wants[process] = True
        self.place[process] = Place.WANTS

    @fair(each="process")
    @action
    def gives_way(self, process: Process) -> None:
        require(self.place[process] == Place.WANTS)
        self.turn = 1 - process
        self.place[process] = Place.WAITS

    @rule
    def may_enter(self, process: Process) -> bool:
        """The other does not want to, or it is one's own turn."""
        return not self.wants[1 - process] or self.turn == process

    @fair(each="process")
    @action
    def enters(self, process: Process) -> None:
        require(self.place[process] == Place.WAITS)
        require(self.may_enter(process))
        self.place[process] = Place.CRITICAL

    @fair(each="process")
    @action
    def leaves(self, process: Process) -> None:
        require(self.place[process] == Place.CRITICAL)
        self.wants[process] = False
        self.place[process] = Place.IDLE

    @invariant
    def one_at_a_time(self) -> bool:
        return self.place[0] != Place.CRITICAL or self.place[1] != Place.CRITICAL

    @reachable
    def somebody_enters(self) -> bool:
        return self.place[1] == Place.CRITICAL

    @leads_to
    def who_wants_to_enter_does(self, process: Process) -> tuple[bool, bool]:
        return self.wants[process], self.place[process] == Place.CRITICAL
