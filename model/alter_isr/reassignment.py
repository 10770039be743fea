"""KIP-497 and KIP-455 together: a partition with real logs whose replicas change while changes of its ISR are pending.

What the two rules are by themselves is in failover.py (begin with core.py), where the replicas stay the same, and in
model/reassignment/kraft.py, where a log is only complete or not. Here they meet, under a KRaft controller:

* one record changes leader, ISR and replicas together. A leader asks for one more member of the ISR, and what is
  written is the end of a reassignment: an ISR that the leader did not ask for, without the replicas that it counted;
* a reassignment is taken back while the leader waits for an answer that would have completed it;
* a replica is removed and added again, and the leader learns of both at once.

A broker deletes its replica when it learns that it has none, and begins with an empty log when it learns that it has
one. It may learn of both at once, too: then it keeps its log. As elsewhere, a target is a set: the order of replicas,
and so the preferred leader, plays no role for what is committed.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Map, Seq, Set, action, initial, require, rule
from model import replica_sets
from model.alter_isr.failover import Broker, LeaderAndIsr, LeaderEpoch, PartitionEpoch, ShrinksWithinLeaderEpoch


class ReassignedAlterIsr(ShrinksWithinLeaderEpoch):
    """The replicas of a partition are reassigned, and reassignments are overridden and cancelled, at any time.

    ``adding`` and ``removing`` are the controller's alone. Brokers act on the replicas of the partition epoch that they
    know.
    """

    replication_factor = Constant(2)
    submissions = Constant(1)
    """How many reassignments are asked for. Each may be cancelled."""

    assigned: Map[PartitionEpoch, Set[Broker]]
    """The replicas of each of the controller's decisions that some broker has yet to learn or still acts on."""
    adding: Set[Broker]
    removing: Set[Broker]
    submitted: Annotated[int, Between(0, "submissions")] = 0

    @initial
    def start(self) -> None:
        """The first ``replication_factor`` brokers have the partition, and all of these are in sync."""
        super().start()
        first = self.first_replicas()
        self.states[0] = LeaderAndIsr(leader=Broker(1), leader_epoch=0, isr=first)
        self.assigned = Map(
            {
                partition_epoch: first if partition_epoch == 0 else Set()
                for partition_epoch in range(self.max_partition_epoch + 1)
            }
        )
        self.adding = Set()
        self.removing = Set()

    def first_replicas(self) -> Set[Broker]:
        """The replicas before any reassignment."""
        first = Set[Broker]()
        for broker in Broker:
            if len(first) < self.replication_factor:
                first = first | {broker}
        return first

    def assignment(self) -> Set[Broker]:
        """The current replicas."""
        return self.assigned[self.partition_epoch]

    def known_replicas(self, broker: Broker) -> Set[Broker]:
        """The replicas as this broker knows them."""
        return self.assigned[self.replicas[broker].partition_epoch]

    def origin(self) -> Set[Broker]:
        return replica_sets.origin(self.assignment(), self.adding)

    def target(self) -> Set[Broker]:
        return replica_sets.target(self.assignment(), self.removing)

    # The controller reassigns.

    @action
    def controller_takes_request(self, wanted: Set[Broker]) -> None:
        """AlterPartitionReassignments: a new target, even while a reassignment is in progress. Who is added may be
        fenced (``ReplicationControlManager.validateManualPartitionAssignment`` asks for a registration).
        """
        require(self.submitted < self.submissions and self.may_decide())
        require(len(wanted) == self.replication_factor and wanted != self.target())
        self.submitted += 1
        self.reassign(wanted)

    @action
    def controller_takes_cancellation(self) -> None:
        """AlterPartitionReassignments without replicas: back to the origin.

        ``ReplicationControlManager.cancelPartitionReassignment``.
        """
        require(replica_sets.is_reassigning(self.adding, self.removing) and self.may_decide())
        self.reassign(self.origin())

    def reassign(self, wanted: Set[Broker]) -> None:
        """A request starts from the origin (KIP-455), so what an earlier one was adding is stopped, unless it is still
        wanted.
        """
        origin = self.origin()
        replicas = origin | wanted
        stopped = self.assignment() - replicas
        require(self.may_stop(stopped))
        current = self.current()
        isr = self.isr_without(current.isr, stopped)
        self.write(current.leader, current.leader_epoch, isr, replicas, replicas - origin, origin - wanted)

    def may_stop(self, stopped: Set[Broker]) -> bool:
        """The partition can do without these replicas at once: others stay in sync, as many as producers need, and one
        of them can lead (model/reassignment/kip455.py).
        """
        isr = self.current().isr
        left = isr - stopped
        return left == isr or (
            len(left - self.fenced) > 0 and len(left) >= min(self.min_insync_replicas, len(isr))
        )

    @rule
    def isr_without(self, isr: Set[Broker], removed: Set[Broker]) -> Set[Broker]:
        """Replicas that are removed leave the ISR in the same record (KAFKA-9672)."""
        return isr - removed

    @rule
    def is_in_sync(self, wanted: Set[Broker], adding: Set[Broker], isr: Set[Broker]) -> bool:
        """A reassignment is complete when the ISR has the whole target, not only what is added (KAFKA-15665)."""
        return wanted <= isr

    def decide(self, leader: Broker | None, leader_epoch: LeaderEpoch, isr: Set[Broker]) -> None:
        self.write(leader, leader_epoch, isr, self.assignment(), self.adding, self.removing)

    def write(
        self,
        leader: Broker | None,
        leader_epoch: LeaderEpoch,
        isr: Set[Broker],
        replicas: Set[Broker],
        adding: Set[Broker],
        removing: Set[Broker],
    ) -> None:
        """One record of the metadata log. Whatever it changes, it also completes the reassignment if it can."""
        if replica_sets.is_reassigning(adding, removing) and self.is_in_sync(replicas - removing, adding, isr):
            replicas = replica_sets.target(replicas, removing)
            isr = self.isr_without(isr, removing)
            adding = Set()
            removing = Set()
        if leader is not None and leader not in isr & replicas:
            leader = self.successor(isr & replicas)
        before = self.current()
        if leader != before.leader or self.begins_leader_epoch(self.assignment() - replicas):
            leader_epoch = before.leader_epoch + 1
        require(leader_epoch <= self.max_leader_epoch)
        self.adding = adding
        self.removing = removing
        super().decide(leader, leader_epoch, isr)
        self.assigned[self.partition_epoch] = replicas

    def successor(self, eligible: Set[Broker]) -> Broker | None:
        """Who leads when the leader is removed."""
        successor: Broker | None = None
        for broker in Broker:
            if successor is None and broker in eligible - self.fenced:
                successor = broker
        return successor

    @rule
    def begins_leader_epoch(self, removed: Set[Broker]) -> bool:
        """A record that removes replicas begins a leader epoch even though the leader stays, so that a replica that is
        back is not taken for the one that it was
        (``PartitionChangeBuilder.triggerLeaderEpochBumpForReplicaReassignmentIfNeeded``).
        """
        return len(removed) > 0

    @rule
    def members_are_replicas(self, leader: Broker) -> bool:
        """Only replicas may be in the ISR, else INVALID_REQUEST
        (``ReplicationControlManager.validateAlterPartitionData``).
        """
        return self.replicas[leader].pending <= self.assignment()

    @action
    def controller_accepts(self, leader: Broker) -> None:
        """``PartitionReassignmentReplicas.maybeCompleteReassignment``."""
        require(self.request_in_flight(leader) and self.members_are_replicas(leader))
        super().controller_accepts(leader)

    def forget_states(self) -> None:
        super().forget_states()
        for partition_epoch in range(self.max_partition_epoch + 1):
            if self.states[partition_epoch] is None:
                self.assigned[partition_epoch] = Set()

    # Brokers learn of it.

    def learn(self, broker: Broker, partition_epoch: PartitionEpoch) -> None:
        """A broker that no longer has a replica deletes its log; a leader forgets what it knew of such a replica."""
        super().learn(broker, partition_epoch)
        replicas = self.known_replicas(broker)
        if broker not in replicas:
            self.replicas[broker].log = Seq()
            self.replicas[broker].high_watermark = 0
        fetched = self.replicas[broker].fetch_offsets
        self.replicas[broker].fetch_offsets = Map({each: fetched[each] if each in replicas else 0 for each in Broker})

    @rule
    def is_replica(self, leader: Broker, follower: Broker) -> bool:
        """The leader knows the follower as a replica (else UNKNOWN_LEADER_EPOCH, KAFKA-13837)."""
        return follower in self.known_replicas(leader)

    def asks(self, follower: Broker, leader: Broker) -> bool:
        """The follower knows that it has a replica, whether or not others know."""
        return super().asks(follower, leader) and follower in self.known_replicas(follower)

    def is_served(self, follower: Broker, leader: Broker) -> bool:
        return super().is_served(follower, leader) and self.is_replica(leader, follower)

    @action
    def follower_truncates(self, follower: Broker, leader: Broker) -> None:
        require(self.is_replica(leader, follower))
        super().follower_truncates(follower, leader)
