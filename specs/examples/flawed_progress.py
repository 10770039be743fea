"""Known-bad designs of the examples about liveness: each is one rule away from an answer that the literature gives."""

from __future__ import annotations

from floodmark import action, fair, require
from specs.examples.alternating_bit import AlternatingBit
from specs.examples.dekker import Dekker
from specs.examples.peterson import Peterson, Place, Process
from specs.examples.token_ring import TokenRing
from specs.examples.two_phase_commit import ResourceManager
from specs.examples.two_phase_commit_progress import DecidesSomeDay


class KeepsTurn(Peterson):
    """A process that wants to enter takes the turn instead of giving it away."""

    @action
    def gives_way(self, process: Process) -> None:
        require(self.place[process] == Place.WANTS)
        self.turn = process
        self.place[process] = Place.WAITS


class StaysInside(Peterson):
    """Nobody but process 0 has to leave the critical section."""

    @fair
    @action
    def leaves(self, process: Process) -> None:
        require(self.place[process] == Place.CRITICAL and process == 0)
        super().leaves(process)


class TriesAtOnce(Dekker):
    """Who backed off does not wait for the turn."""

    def may_try_again(self, process: Process) -> bool:
        return True


class LosesEverything(AlternatingBit):
    """A channel that may lose every message: what is in it need not arrive, however often it is sent."""

    @fair
    @action
    def receives(self) -> None:
        require(self.message is not None)
        super().receives()


class TooFewNumbers(TokenRing):
    """A ring with fewer numbers than it takes; its spec says how many."""


class CoordinatorFails(DecidesSomeDay):
    """The transaction manager may stop for good before it has decided."""

    failed: bool = False

    @action
    def coordinator_fails(self) -> None:
        require(not self.failed)
        self.failed = True

    @action
    def coordinator_receives_prepared(self, manager: ResourceManager) -> None:
        require(not self.failed)
        super().coordinator_receives_prepared(manager)

    @action
    def coordinator_commits(self) -> None:
        require(not self.failed)
        super().coordinator_commits()

    @action
    def coordinator_aborts(self) -> None:
        require(not self.failed)
        super().coordinator_aborts()
