"""KIP-497 when messages get lost: what must happen eventually, and what makes it happen.

core.py is where to begin. Both designs, over a network that may lose a request or a response:

``RetractedAlterIsr``  the KIP's text, in which an acknowledged change may be lost with its controller, and the leader
                       takes back what it has waited for too long;
``KRaftAlterIsr``      the design as shipped with KRaft: the leader asks again after a time-out, is refused if the
                       change was made already, and learns of it by metadata;
``ZooKeeperAlterIsr``  the same with ZooKeeper (until 4.0): the leader is sent no metadata about its own change, and a
                       controller that has made it already says so again (KAFKA-14144).

What the leader and the controller want to change, and when, is theirs to say, so nothing forces them; how often they do
is bounded by two budgets, and the partition epochs that these take are enough, so that no bound ends a run.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Set, action, require, rule
from model.alter_isr.core import (
    AlterIsrRequest,
    AlterIsrResponse,
    Broker,
    PartitionIsr,
    ShippedAlterIsr,
    TakeoverSendsAgain,
)


class LossyNetwork(PartitionIsr):
    """``proposals`` bounds what the leader asks for, ``evictions`` what the controller does of its own accord."""

    max_offset = Constant(1, bound=True)
    max_partition_epoch = Constant(3, bound=True)
    in_flight = Constant(2, bound=True)
    proposals = Constant(2)
    evictions = Constant(1)

    proposals_left: Annotated[int, Between(0, "proposals")]
    evictions_left: Annotated[int, Between(0, "evictions")]

    def start(self) -> None:
        super().start()
        self.proposals_left = self.proposals
        self.evictions_left = self.evictions

    def propose(self, isr: Set[Broker]) -> None:
        require(self.proposals_left > 0)
        self.proposals_left -= 1
        super().propose(isr)

    def evict(self, broker: Broker) -> None:
        require(self.evictions_left > 0)
        self.evictions_left -= 1
        super().evict(broker)

    @action
    def network_loses_request(self, request: AlterIsrRequest) -> None:
        """The environment: a request is lost."""
        require(request in self.requests)
        self.requests.discard(request)

    @action
    def network_loses_response(self, response: AlterIsrResponse) -> None:
        """The environment: a response is lost."""
        require(response in self.responses)
        self.responses.discard(response)


class RetractedAlterIsr(LossyNetwork, TakeoverSendsAgain):
    """The KIP's text, and what it lacks to keep its promise that a LeaderAndIsr with a new partition epoch will come.

    The leader asks for the ISR that it has been told of, too. This is no change, but it takes a partition epoch:
    whichever of the requests at one partition epoch is written, the LeaderAndIsr that follows ends all of them.
    """

    @rule
    def may_retract(self) -> bool:
        """Whether a leader that waits may take its change back."""
        return True

    @action
    def leader_retracts(self) -> None:
        """The time-out of a change: no LeaderAndIsr has come. KIP-497, "Proposed Changes" has no time-out."""
        retraction = AlterIsrRequest(leader_epoch=self.leader_epoch, isr=self.isr, partition_epoch=self.partition_epoch)
        require(self.leading and len(self.pending) > 0 and self.may_retract())
        require(retraction not in self.requests and len(self.requests) < self.in_flight)
        self.requests.add(retraction)


class KRaftAlterIsr(LossyNetwork, ShippedAlterIsr):
    """The same request is sent again until it is answered. One that was granted before is refused with
    INVALID_UPDATE_VERSION (``ReplicationControlManager.validateAlterPartitionData``), which leaves the change pending
    until the metadata log tells the leader (``Partition.handleAlterPartitionError``). What is lost is sent again there.
    """

    @action
    def leader_asks_again(self) -> None:
        """A request times out: neither it nor a response is in flight any more.

        ``DefaultAlterPartitionManager.sendRequest`` (``onTimeout``).
        """
        awaited = self.awaited
        require(awaited is not None and awaited not in self.requests)
        require(all(response.request != awaited for response in self.responses))
        if awaited is not None:
            self.requests.add(awaited)


class ZooKeeperAlterIsr(KRaftAlterIsr):
    """A request that was granted before is answered with the present state (``KafkaController.processAlterPartition``,
    KAFKA-14144).
    """

    @rule
    def is_repeated(self, request: AlterIsrRequest) -> bool:
        """The change was made already, and nothing has changed since."""
        state = self.controller
        return (
            request.leader_epoch == state.leader_epoch
            and request.partition_epoch + 1 == state.partition_epoch
            and request.isr == state.isr
        )

    def is_stale(self, request: AlterIsrRequest) -> bool:
        return super().is_stale(request) and not self.is_repeated(request)

    @action
    def controller_accepts(self, request: AlterIsrRequest, again: bool) -> None:
        """The leader that asked learns of the change by the answer alone: it is sent no LeaderAndIsr."""
        require(request in self.requests and not self.is_repeated(request))
        super().controller_accepts(request, again)
        self.updates.discard(self.controller)

    @action
    def controller_confirms(self, request: AlterIsrRequest) -> None:
        """What is asked for is done already. ``KafkaController.processAlterPartition``."""
        require(request in self.requests and self.is_repeated(request))
        require(len(self.responses) < self.in_flight)
        self.responses.add(AlterIsrResponse(request=request, error=None))
        self.take(request, False)
