"""KIP-236 with KIP-497: the leader asks for its ISR while the controller moves the partition, or takes it back.

In kip236.py, where to begin, a leader changes the ISR in one step. Here it asks the controller, and until it knows the
outcome it commits by every ISR that may have resulted: the one that it was told and the one that it has asked for
(KIP-497, "Proposed Changes"). The controller answers between two of its events. What it writes in a step of a
reassignment or of a cancellation takes the next version, so that what was asked for before is refused
(``is_of_this_version``), also when it arrives late: after a rollback it may name a replica that is deleted.

A LeaderAndIsr arrives at once, as elsewhere in these models; a request and its answer take their time. A leader that
goes down and comes back before another one is elected keeps its state. Real logs and offsets, under KIP-455, are in
model/alter_isr/reassignment.py.
"""

from __future__ import annotations

from floodmark import Map, Set, action, initial, require, rule
from model.reassignment.kip236 import Reassignment
from model.reassignment.replicas import Broker, Partition


class AskedIsr(Reassignment):
    """KIP-236 with ISRs that the controller writes (KIP-497)."""

    held: Map[Partition, Set[Broker]]
    """The ISR that the leader was last told of."""
    asked: Map[Partition, Set[Broker] | None]
    """The ISR that the leader has asked for and does not know to be written or refused."""
    accepted: Set[Partition] = Set()
    """Where the controller has written what was asked for, and the leader has yet to hear of it."""
    late: Map[Partition, Set[Broker] | None]
    """A request that has yet to reach the controller, which has told the leader of a newer version since."""

    @initial
    def start(self) -> None:
        super().start()
        self.held = Map({partition: self.replication[partition].isr for partition in Partition})
        self.asked = Map({partition: None for partition in Partition})
        self.late = Map({partition: None for partition in Partition})

    @rule
    def assumed(self, partition: Partition) -> Set[Broker]:
        """The leader counts every replica that may be in the ISR: the maximal ISR (KIP-497)."""
        asked = self.asked[partition]
        return self.held[partition] if asked is None else self.held[partition] | asked

    @action
    def leader_commits(self, partition: Partition) -> None:
        """A record is written to all that the leader assumes to be in the ISR. ``Partition.maybeIncrementLeaderHW``."""
        require(self.is_online(partition) and self.assumed(partition) <= self.live)
        require(len(self.assumed(partition)) >= self.min_insync_replicas)
        require(not self.replication[partition].complete <= self.assumed(partition))
        self.replication[partition].complete &= self.assumed(partition)

    @action
    def follower_joins_isr(self, partition: Partition, follower: Broker) -> None:
        """The leader asks for one more member. ``Partition.maybeExpandIsr``."""
        state = self.replication[partition]
        require(self.is_online(partition) and self.asked[partition] is None and follower in self.live & state.known)
        require(follower in state.complete - self.held[partition])
        self.asked[partition] = self.held[partition] | {follower}

    @action
    def follower_leaves_isr(self, partition: Partition, follower: Broker) -> None:
        """The leader asks for one member less. ``Partition.maybeShrinkIsr``."""
        require(self.is_online(partition) and self.asked[partition] is None)
        require(follower in self.held[partition] and follower != self.replication[partition].leader)
        self.asked[partition] = self.held[partition] - {follower}

    @action
    def controller_accepts_isr(self, partition: Partition) -> None:
        """Between two events. A request is of the present version unless the leader was told of a newer one.

        ``KafkaController.processAlterPartition``.
        """
        asked = self.asked[partition]
        require(self.is_free() and asked is not None and partition not in self.accepted)
        assert asked is not None
        self.replication[partition].isr = asked
        self.accepted.add(partition)

    @action
    def leader_hears_answer(self, partition: Partition) -> None:
        """``Partition.handleAlterPartitionUpdate``."""
        require(partition in self.accepted and self.is_online(partition))
        self.held[partition] = self.replication[partition].isr
        self.asked[partition] = None
        self.accepted.discard(partition)

    def tell_leader(self, partition: Partition, replicas: Set[Broker]) -> None:
        """The leader now knows the ISR, too. What was asked for before is out of date."""
        super().tell_leader(partition, replicas)
        if self.asked[partition] is not None and partition not in self.accepted:
            self.late[partition] = self.asked[partition]
        self.held[partition] = self.replication[partition].isr
        self.asked[partition] = None
        self.accepted.discard(partition)

    @rule
    def is_of_this_version(self) -> bool:
        """Whether the controller takes a late request for one that refers to the present version."""
        return False

    @action
    def controller_hears_late_request(self, partition: Partition) -> None:
        """``KafkaController.processAlterPartition``."""
        late = self.late[partition]
        require(self.is_free() and late is not None)
        assert late is not None
        self.late[partition] = None
        if self.is_of_this_version():
            self.replication[partition].isr = late
