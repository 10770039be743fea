"""Dekker's algorithm, the first that lets two processes exclude each other and starves neither (Dijkstra, EWD 123).

Who wants to enter raises a flag. While the other's flag is up, too, whoever does not have the turn lowers theirs until
they have it; who leaves the critical section hands the turn over. Weak fairness of each process's steps is enough.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import Between, Map, Model, action, fair, initial, invariant, leads_to, reachable, require, rule

Process = Annotated[int, Between(0, 1)]


class Place(Enum):
    """Where a process is in its program."""

    IDLE = 0
    LOOKS = 1
    BACKED_OFF = 2
    CRITICAL = 3
    LEAVING = 4


class Dekker(Model):
    """Two processes, a flag of each, and whose turn it is."""

    place: Map[Process, Place]
    flag: Map[Process, bool]
    turn: Process

    @initial
    def idle(self, turn: Process) -> None:
        self.place = Map({process: Place.IDLE for process in range(2)})
        self.flag = Map({process: False for process in range(2)})
        self.turn = turn

    @action
    def starts(self, process: Process) -> None:
        require(self.place[process] == Place.IDLE)
        self.flag[process] = True
        self.place[process] = Place.LOOKS

    @fair(each="process")
    @action
    def enters(self, process: Process) -> None:
        require(self.place[process] == Place.LOOKS)
        require(not self.flag[1 - process])
        self.place[process] = Place.CRITICAL

    @fair(each="process")
    @action
    def backs_off(self, process: Process) -> None:
        require(self.place[process] == Place.LOOKS)
        require(self.flag[1 - process] and self.turn != process)
        self.flag[process] = False
        self.place[process] = Place.BACKED_OFF

    @rule
    def may_try_again(self, process: Process) -> bool:
        return self.turn == process

    @fair(each="process")
    @action
    def tries_again(self, process: Process) -> None:
        require(self.place[process] == Place.BACKED_OFF)
        require(self.may_try_again(process))
        self.flag[process] = True
        self.place[process] = Place.LOOKS

    @fair(each="process")
    @action
    def hands_over(self, process: Process) -> None:
        require(self.place[process] == Place.CRITICAL)
        self.turn = 1 - process
        self.place[process] = Place.LEAVING

    @fair(each="process")
    @action
    def leaves(self, process: Process) -> None:
        require(self.place[process] == Place.LEAVING)
        self.flag[process] = False
        self.place[process] = Place.IDLE

    @invariant
    def one_at_a_time(self) -> bool:
        return self.place[0] != Place.CRITICAL or self.place[1] != Place.CRITICAL

    @reachable
    def one_backs_off(self) -> bool:
        return self.place[0] == Place.BACKED_OFF

    @leads_to
    def who_wants_to_enter_does(self, process: Process) -> tuple[bool, bool]:
        return self.place[process] in (Place.LOOKS, Place.BACKED_OFF), self.place[process] == Place.CRITICAL
