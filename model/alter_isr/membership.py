"""KIP-497 as shipped: a lagging member eventually leaves the ISR, and a caught-up follower joins it (KIP-497,
"Motivation").

core.py is where to begin. The leader looks at its followers again and again, as Kafka's does, and asks for what it
finds. It may also ask, once, for the ISR that it has, which changes nothing and takes no partition epoch (KAFKA-12751).

Nothing bounds how often the ISR changes: once the leader has learned a partition epoch, partition epochs are counted
from the oldest one that anybody still refers to. Only differences between partition epochs matter to what anybody does.

``WatchedFollowers``            the controller is KRaft's;
``WatchedFollowersByZooKeeper`` the controller is ``KafkaController`` (until 4.0).
"""

from __future__ import annotations

from floodmark import Constant, Set, action, require, rule
from model.alter_isr.core import AlterIsrRequest, AlterIsrResponse, Broker, LeaderAndIsr, ShippedAlterIsr, Status
from model.alter_isr.progress import KRaftAlterIsr, ZooKeeperAlterIsr


class WatchedFollowers(KRaftAlterIsr):
    """What the leader finds is not counted as a proposal. A follower need not fetch, and what it fetches need not bring
    it nearer to the end of the leader's log.
    """

    max_partition_epoch = Constant(4)
    max_leader_epoch = Constant(0)
    proposals = Constant(1)

    def may_change(self) -> bool:
        assert self.controller.partition_epoch < self.max_partition_epoch
        return True

    def is_level(self, follower: Broker) -> bool:
        """Whether a follower has the leader's whole log."""
        return self.log_end_offset[follower] == self.log_end_offset[self.leader]

    @rule
    def may_join(self, follower: Broker) -> bool:
        """The follower has reached the high watermark, and the start of the leader's epoch, which is 0 here
        (``Partition.isFollowerInSync``).
        """
        return self.caught_up(follower)

    def has_committed_all(self) -> bool:
        """The high watermark is where it can be: Kafka raises it in the same step that changes the ISR
        (``Partition.handleAlterPartitionUpdate``).
        """
        return not self.may_advance() or self.replicated_offset() <= self.high_watermark

    @action
    def leader_finds_laggard(self, follower: Broker) -> None:
        """A follower has not been at the end of the log for replica.lag.time.max.ms (``Partition.maybeShrinkIsr``)."""
        require(self.leading and follower in self.isr and not self.is_level(follower))
        require(len(self.requests) < self.in_flight and self.may_propose(self.isr - {follower}))
        ShippedAlterIsr.propose(self, self.isr - {follower})

    @action
    def leader_finds_caught_up(self, follower: Broker) -> None:
        """An eligible follower fetches (``Partition.maybeExpandIsr``)."""
        require(self.leading and follower not in self.isr and self.may_join(follower) and self.has_committed_all())
        require(self.status[follower] == Status.ACTIVE)
        require(len(self.requests) < self.in_flight and self.may_propose(self.isr | {follower}))
        ShippedAlterIsr.propose(self, self.isr | {follower})

    @action
    def leader_asks_for_what_it_has(self) -> None:
        """``Partition.maybeShrinkIsr``."""
        require(self.leading and len(self.requests) < self.in_flight and self.may_propose(self.isr))
        self.propose(self.isr)

    @action
    def controller_fences(self, broker: Broker) -> None:
        """A broker that comes and goes outside the ISR is left out: it could be asked for again and again."""
        require(broker in self.controller.isr or self.status[broker] == Status.SHUTTING_DOWN)
        super().controller_fences(broker)

    @action
    def controller_shuts_down(self, broker: Broker) -> None:
        require(broker in self.controller.isr)
        super().controller_shuts_down(broker)

    def changes_nothing(self, request: AlterIsrRequest) -> bool:
        return request.isr == self.controller.isr and request.partition_epoch == self.controller.partition_epoch

    @action
    def controller_accepts(self, request: AlterIsrRequest, again: bool) -> None:
        require(not self.changes_nothing(request))
        super().controller_accepts(request, again)

    @action
    def controller_has_it_already(self, request: AlterIsrRequest) -> None:
        """Answers with the state as it is (``ReplicationControlManager.alterPartition``)."""
        require(request in self.requests and self.changes_nothing(request) and self.refusal(request) is None)
        require(len(self.responses) < self.in_flight)
        self.responses.add(AlterIsrResponse(request=request, error=None))
        self.take(request, False)

    @rule
    def heeds_equal_partition_epoch(self) -> bool:
        """An answer with the partition epoch that the leader has settles what it has asked for
        (``Partition.handleAlterPartitionUpdate``).
        """
        return True

    def on_acceptance(self, request: AlterIsrRequest) -> None:
        if request.isr != self.isr:
            super().on_acceptance(request)
        elif self.heeds_equal_partition_epoch():
            self.pending.discard(request.isr)

    # Partition epochs begin anew.

    @action
    def leader_receives_leader_and_isr(self, update: LeaderAndIsr) -> None:
        """``Partition.makeLeader``."""
        super().leader_receives_leader_and_isr(update)
        self.count_anew()

    @action
    def leader_receives_response(self, response: AlterIsrResponse) -> None:
        """``Partition.handleAlterPartitionUpdate``."""
        super().leader_receives_response(response)
        self.count_anew()

    def count_anew(self) -> None:
        """Counts partition epochs from the oldest one that anybody refers to. What is no news to the leader is dropped
        now.
        """
        self.updates = Set(each for each in self.updates if each.partition_epoch > self.partition_epoch)
        oldest = min(self.partition_epoch, self.controller.partition_epoch)
        for request in self.requests:
            oldest = min(oldest, request.partition_epoch)
        for response in self.responses:
            oldest = min(oldest, response.request.partition_epoch)
        for update in self.updates:
            oldest = min(oldest, update.partition_epoch)
        awaited = self.awaited
        if awaited is not None:
            oldest = min(oldest, awaited.partition_epoch)
            self.awaited = awaited.replace(partition_epoch=awaited.partition_epoch - oldest)
        self.partition_epoch -= oldest
        self.controller.partition_epoch -= oldest
        self.requests = Set(each.replace(partition_epoch=each.partition_epoch - oldest) for each in self.requests)
        self.responses = Set(
            each.replace(request=each.request.replace(partition_epoch=each.request.partition_epoch - oldest))
            for each in self.responses
        )
        self.updates = Set(each.replace(partition_epoch=each.partition_epoch - oldest) for each in self.updates)


class WatchedFollowersByZooKeeper(WatchedFollowers, ZooKeeperAlterIsr):
    """A request that was granted before is answered with the present state."""
