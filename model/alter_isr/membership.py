"""KIP-497 as shipped: a lagging member eventually leaves the ISR, and a caught-up follower joins it (KIP-497,
"Motivation").

core.py is where to begin. The leader looks at its followers again and again, as Kafka's does, and asks for what it
finds. It may also ask, once, for the ISR that it has, which changes nothing and takes no version (KAFKA-12751).
"""

from __future__ import annotations

from floodmark import Constant, action, require, rule
from model.alter_isr.core import AlterIsrRequest, AlterIsrResponse, Broker, ShippedAlterIsr
from model.alter_isr.progress import RetriedAlterIsr


class WatchedFollowers(RetriedAlterIsr):
    """What the leader finds is not counted as a proposal; versions are enough for all of it."""

    max_version = Constant(7)
    max_leader_epoch = Constant(0)
    proposals = Constant(1)

    def may_change(self) -> bool:
        assert self.controller.version < self.max_version
        return True

    def is_level(self, follower: Broker) -> bool:
        """Whether a follower has the leader's whole log."""
        return self.log_end[follower] == self.log_end[self.leader]

    @action
    def leader_finds_laggard(self, follower: Broker) -> None:
        require(self.leading and follower in self.isr and not self.is_level(follower))
        require(len(self.requests) < self.in_flight and self.may_propose(self.isr - {follower}))
        ShippedAlterIsr.propose(self, self.isr - {follower})

    @action
    def leader_finds_caught_up(self, follower: Broker) -> None:
        require(self.leading and follower not in self.isr and self.is_level(follower))
        require(len(self.requests) < self.in_flight and self.may_propose(self.isr | {follower}))
        ShippedAlterIsr.propose(self, self.isr | {follower})

    @action
    def leader_asks_for_what_it_has(self) -> None:
        require(self.leading and len(self.requests) < self.in_flight and self.may_propose(self.isr))
        self.propose(self.isr)

    def changes_nothing(self, request: AlterIsrRequest) -> bool:
        return request.isr == self.controller.isr and request.version == self.controller.version

    @action
    def controller_accepts(self, request: AlterIsrRequest, again: bool) -> None:
        require(not self.changes_nothing(request))
        super().controller_accepts(request, again)

    @action
    def controller_has_it_already(self, request: AlterIsrRequest) -> None:
        """Answers with the state as it is."""
        require(request in self.requests and self.changes_nothing(request) and self.refusal(request) is None)
        require(len(self.responses) < self.in_flight)
        self.responses.add(AlterIsrResponse(request=request, error=None))
        self.take(request, False)

    @rule
    def heeds_equal_version(self) -> bool:
        """An answer with the version that the leader has settles what it has asked for."""
        return True

    def on_acceptance(self, request: AlterIsrRequest) -> None:
        if request.isr != self.isr:
            super().on_acceptance(request)
        elif self.heeds_equal_version():
            self.pending.discard(request.isr)
