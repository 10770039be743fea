"""KIP-352: which partitions count as under-replicated while a reassignment is in progress.

Start here. Where each section of the KIP is modelled; properties are in invariants/under_replicated/metric.py,
known-bad designs in specs/under_replicated/flawed.py, liveness in progress.py and flawed_progress.py:

    KIP-352                            here                                 specs/under_replicated/
    "Motivation"                       UnderReplicated, and what it         draft.toml
                                       replaced (CountsEveryReplica)
    "Proposed Changes"                 Assignment, tell, reassignment_*     draft.toml
    "Public Interfaces": Request APIs  LeaderAndIsr, told, understood       brokers.toml, two_partitions.toml
    "Public Interfaces": Metrics       is_under_replicated, reassigned      draft.toml, adopted.toml
    "Motivation": the topic command    TopicCommand, ShippedCommand         command.toml, command_as_shipped.toml

A reassignment gives a partition more replicas than it had before or will have after. Until all of them were in sync the
partition used to count as under-replicated, although it had every replica that it had before. In the KIP the controller
tells the leaders what is being reassigned, and they count against the replicas from before: the *current* replicas, as
opposed to the *impending* ones.

``UnderReplicated``  the KIP's fourth draft: some current replica is not in the ISR
``MiddleDraft``      a later draft: leave the added replicas out, both of the replicas and of the ISR
``ShippedMetric``    as adopted and shipped (KAFKA-8834): fewer in the ISR than there were replicas
``KRaftOverride``    the shipped metric where a second reassignment takes all replicas as the origin, as KRaft does
``BrokerViews``      the brokers' metrics, computed from the LeaderAndIsr requests that have reached them
``TopicCommand``     the topic command, which learns of reassignments from UpdateMetadata
``ShippedCommand``   the topic command as shipped, which asks twice: for the topics and for the reassignments

The draft's schema once says ActiveReplicas for the current replicas; it is one field. Everything sent here follows from
the terms of KIP-455 (replicas, adding, removing): see model/replica_sets.py.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import (
    Between,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Set,
    action,
    initial,
    require,
    rule,
)
from model.replica_sets import is_reassigning, origin, target


class Broker(Identifier, count="brokers", prefix="b"):
    """A broker, and its replica of each partition."""


class Partition(Identifier, count="partitions", prefix="p"):
    """A partition."""


class Assignment(Record):
    """A partition's state: its leader, its ISR, and its reassignment."""

    leader: Broker
    isr: Set[Broker]
    replicas: Set[Broker]
    adding: Set[Broker]
    removing: Set[Broker]


class LeaderAndIsr(Record):
    """What the controller tells a broker about a partition (KIP-352, "Request APIs").

    The impending replicas are empty while nothing is being reassigned.
    """

    leader: Broker
    isr: Set[Broker]
    current: Set[Broker]
    impending: Set[Broker]


def told(state: Assignment) -> LeaderAndIsr:
    """The LeaderAndIsr that describes a state."""
    impending = target(state.replicas, state.removing)
    return LeaderAndIsr(
        leader=state.leader,
        isr=state.isr,
        current=origin(state.replicas, state.adding),
        impending=impending if is_reassigning(state.adding, state.removing) else Set(),
    )


def understood(request: LeaderAndIsr) -> Assignment:
    """The state that a broker reads from it: the same one."""
    reassigning = len(request.impending) > 0
    return Assignment(
        leader=request.leader,
        isr=request.isr,
        replicas=request.current | request.impending,
        adding=request.impending - request.current,
        removing=request.current - request.impending if reassigning else Set(),
    )


class UnderReplicated(Model):
    """The controller's view, and the metric of the KIP's fourth draft."""

    brokers = Constant(4)
    partitions = Constant(1)
    min_insync_replicas = Constant(2)

    assignments: Map[Partition, Assignment]
    original: Map[Partition, Set[Broker]]
    """History: the replicas of the last assignment that completed."""

    @initial
    def start(self, replicas: Set[Broker], leader: Broker) -> None:
        """Any assignment, with every replica in sync."""
        require(leader in replicas)
        first = Assignment(leader=leader, isr=replicas, replicas=replicas, adding=Set(), removing=Set())
        self.assignments = Map({partition: first for partition in Partition})
        self.original = Map({partition: replicas for partition in Partition})

    # The metrics. Each reads one partition's state, whoever holds it.

    @rule
    def is_under_replicated(self, state: Assignment) -> bool:
        """UnderReplicated: "from the perspective of the active replica set" (KIP-352, "Metrics")."""
        return not origin(state.replicas, state.adding) <= state.isr

    @rule
    def reassigned(self, state: Assignment) -> Set[Broker]:
        """ReassignedCount counts the replicas that are added or removed (KIP-352, "Metrics")."""
        return state.adding | state.removing

    @rule
    def is_under_min_isr(self, state: Assignment) -> bool:
        """UnderMinIsr: the ISR is too small for acks=all. No more than all replicas can be required."""
        return len(state.isr) < min(self.min_insync_replicas, len(state.replicas))

    @rule
    def tell(self, state: Assignment) -> LeaderAndIsr:
        """LeaderAndIsr, and UpdateMetadata as well, carry the current and the impending replicas."""
        return told(state)

    # The ISR.

    def change(self, partition: Partition, state: Assignment, leader: Broker) -> None:
        """Installs a state. The leader stays if it is still in the ISR; otherwise another member takes over."""
        old = self.assignments[partition].leader
        require(leader in state.isr and (leader == old or old not in state.isr))
        self.store(partition, state.replace(leader=leader))

    def store(self, partition: Partition, state: Assignment) -> None:
        self.assignments[partition] = state

    @action
    def replica_joins(self, partition: Partition, broker: Broker) -> None:
        """A replica has caught up. ``Partition.maybeExpandIsr``."""
        state = self.assignments[partition]
        require(broker in state.replicas - state.isr)
        self.store(partition, state.replace(isr=state.isr | {broker}))

    @action
    def replica_leaves(self, partition: Partition, broker: Broker, leader: Broker) -> None:
        """A replica falls behind or dies; the ISR keeps its last member. ``Partition.maybeShrinkIsr``."""
        state = self.assignments[partition]
        require(broker in state.isr and len(state.isr) > 1)
        self.change(partition, state.replace(isr=state.isr - {broker}), leader)

    @action
    def leader_changes(self, partition: Partition, leader: Broker) -> None:
        """Another member of the ISR leads, for example the preferred leader. ``PartitionChangeBuilder.electLeader``."""
        state = self.assignments[partition]
        require(leader in state.isr and leader != state.leader)
        self.store(partition, state.replace(leader=leader))

    # Reassignments (KIP-455).

    def is_reassigned(self, partition: Partition) -> bool:
        return is_reassigning(self.assignments[partition].adding, self.assignments[partition].removing)

    @rule
    def origin_of_override(self, state: Assignment) -> Set[Broker]:
        """What a second reassignment starts from: the replicas before the first one (KIP-455)."""
        return origin(state.replicas, state.adding)

    @action
    def reassignment_starts(self, partition: Partition, wanted: Set[Broker], leader: Broker) -> None:
        """Asks for different replicas, perhaps while earlier ones are still being added: the latest request wins.

        ``ReplicationControlManager.changePartitionReassignment``.
        """
        state = self.assignments[partition]
        require(len(wanted) > 0 and wanted != target(state.replicas, state.removing))
        start = self.origin_of_override(state)
        replicas = start | wanted
        new = Assignment(
            leader=state.leader,
            isr=state.isr & replicas,
            replicas=replicas,
            adding=wanted - start,
            removing=start - wanted,
        )
        self.change(partition, new, leader)

    @action
    def reassignment_is_cancelled(self, partition: Partition, leader: Broker) -> None:
        """Removes the added replicas, in sync or not, as long as another one is in sync.

        ``ReplicationControlManager.cancelPartitionReassignment``.
        """
        require(self.is_reassigned(partition))
        state = self.assignments[partition]
        replicas = origin(state.replicas, state.adding)
        new = Assignment(leader=state.leader, isr=state.isr & replicas, replicas=replicas, adding=Set(), removing=Set())
        self.change(partition, new, leader)

    @action
    def reassignment_completes(self, partition: Partition, leader: Broker) -> None:
        """Every wanted replica is in sync, and the others are removed.

        ``PartitionReassignmentReplicas.maybeCompleteReassignment``.
        """
        state = self.assignments[partition]
        wanted = target(state.replicas, state.removing)
        require(self.is_reassigned(partition) and wanted <= state.isr)
        new = Assignment(leader=state.leader, isr=wanted, replicas=wanted, adding=Set(), removing=Set())
        self.change(partition, new, leader)
        self.original[partition] = wanted


class MiddleDraft(UnderReplicated):
    """A later draft of the KIP: compares sizes, leaving out the added replicas."""

    def is_under_replicated(self, state: Assignment) -> bool:
        return len(state.replicas - state.adding) > len(state.isr - state.adding)


class ShippedMetric(UnderReplicated):
    """As adopted: a reassignment may change the number of replicas, and an added one in sync is as good as any
    (KIP-352).

    It counts whether a partition is being reassigned, not how many of its replicas are.
    """

    def is_under_replicated(self, state: Assignment) -> bool:
        return len(origin(state.replicas, state.adding)) > len(state.isr)


class KRaftOverride(ShippedMetric):
    """KRaft keeps the replicas that the first reassignment was adding, and removes them when the second is complete."""

    def origin_of_override(self, state: Assignment) -> Set[Broker]:
        return state.replicas


class BrokerViews(UnderReplicated):
    """Each broker counts the partitions that it leads, from what it has been told.

    LeaderAndIsr requests arrive late, and of several on their way only the last one matters. A broker that does not
    lead has nothing to count, so the model does not keep its view.
    """

    max_version = Constant(4)

    version: Annotated[int, Between(0, "max_version")]
    """How many times the controller has changed anything."""
    views: Map[Broker, Map[Partition, LeaderAndIsr | None]]
    joining: Map[Partition, Set[Broker]]
    """The replicas that the leader has asked to add to the ISR; the controller may refuse."""

    @initial
    def start(self, replicas: Set[Broker], leader: Broker) -> None:
        super().start(replicas, leader)
        self.version = 0
        self.joining = Map({partition: Set() for partition in Partition})
        self.views = Map({broker: Map({partition: None for partition in Partition}) for broker in Broker})
        for partition in Partition:
            self.views[leader][partition] = self.tell(self.assignments[partition])

    def leads(self, broker: Broker, partition: Partition) -> bool:
        """Whether the broker believes that it leads."""
        return self.views[broker][partition] is not None

    def view(self, broker: Broker, partition: Partition) -> Assignment:
        """The state that a leader counts from."""
        request = self.views[broker][partition]
        assert request is not None, "only a leader has a view"
        return understood(request)

    @rule
    def counts(self, broker: Broker, partition: Partition) -> bool:
        """A broker counts the partitions that it leads."""
        return self.leads(broker, partition)

    @rule
    def counted_isr(self, broker: Broker, partition: Partition) -> Set[Broker]:
        """The ISR that the controller has confirmed, without replicas that the leader has only asked to add."""
        return self.view(broker, partition).isr

    def reports_under_replicated(self, broker: Broker, partition: Partition) -> bool:
        """Whether the partition is in this broker's UnderReplicated count."""
        return self.counts(broker, partition) and self.is_under_replicated(
            self.view(broker, partition).replace(isr=self.counted_isr(broker, partition))
        )

    def reports_reassigned(self, broker: Broker, partition: Partition) -> int:
        """How much the partition adds to this broker's ReassignedCount."""
        return len(self.reassigned(self.view(broker, partition))) if self.counts(broker, partition) else 0

    def is_settled(self) -> bool:
        """Every leader knows the latest state of its partitions, and no other broker believes that it leads."""
        return all(
            self.views[broker][partition]
            == (self.tell(self.assignments[partition]) if broker == self.assignments[partition].leader else None)
            for broker in Broker
            for partition in Partition
        )

    @action
    def leader_asks_to_add(self, broker: Broker, partition: Partition, member: Broker) -> None:
        """A follower caught up (KIP-497): it counts for the high watermark, but not for the metric yet.

        ``Partition.prepareIsrExpand``.
        """
        require(self.leads(broker, partition) and broker == self.assignments[partition].leader)
        require(member in self.assignments[partition].replicas - self.assignments[partition].isr)
        require(member in self.view(broker, partition).replicas and member not in self.joining[partition])
        self.joining[partition].add(member)

    @action
    def replica_joins(self, partition: Partition, broker: Broker) -> None:
        """The controller agrees."""
        require(broker in self.joining[partition])
        super().replica_joins(partition, broker)

    def store(self, partition: Partition, state: Assignment) -> None:
        """Every change takes a new version; requests that quote an earlier one are refused."""
        require(self.version < self.max_version)
        super().store(partition, state)
        self.version += 1
        self.joining[partition] = Set()

    @rule
    def install(self, broker: Broker, partition: Partition, request: LeaderAndIsr) -> None:
        """Leader and ISR change together."""
        self.views[broker][partition] = request if request.leader == broker else None

    @action
    def broker_receives_leader_and_isr(self, broker: Broker, partition: Partition) -> None:
        """``Partition.makeLeader``, ``Partition.makeFollower``."""
        request = self.tell(self.assignments[partition])
        require(self.views[broker][partition] != (request if request.leader == broker else None))
        self.install(broker, partition, request)


class TopicCommand(UnderReplicated):
    """The topic command asks a broker, which knows what the last UpdateMetadata told it, including reassignments."""

    metadata: Map[Partition, LeaderAndIsr]

    @initial
    def start(self, replicas: Set[Broker], leader: Broker) -> None:
        super().start(replicas, leader)
        self.metadata = Map({partition: self.tell(self.assignments[partition]) for partition in Partition})

    @action
    def broker_receives_update_metadata(self, partition: Partition) -> None:
        """``ReplicaManager.maybeUpdateMetadataCache``."""
        require(self.metadata[partition] != self.tell(self.assignments[partition]))
        self.metadata[partition] = self.tell(self.assignments[partition])

    def shown(self, partition: Partition) -> Assignment:
        """The state that the answer describes."""
        return understood(self.metadata[partition])

    @rule
    def shows_under_replicated(self, partition: Partition) -> bool:
        """Whether the topic command lists the partition with --under-replicated-partitions."""
        return self.is_under_replicated(self.shown(partition))


class ShippedCommand(TopicCommand):
    """As shipped: topics are described from a broker's metadata, reassignments are listed by the controller (KIP-455).

    The two answers can be from different times. The metadata says nothing about reassignments; a listed one counts as
    in progress as long as some replica that it adds or removes appears in the description.
    """

    listed: Map[Partition, Assignment]

    @initial
    def start(self, replicas: Set[Broker], leader: Broker) -> None:
        super().start(replicas, leader)
        self.listed = self.assignments

    def is_under_replicated(self, state: Assignment) -> bool:
        return len(origin(state.replicas, state.adding)) > len(state.isr)

    @action
    def command_lists_reassignments(self, partition: Partition) -> None:
        """``TopicService.listAllReassignments``, at the controller."""
        require(self.listed[partition] != self.assignments[partition])
        self.listed[partition] = self.assignments[partition]

    @rule
    def seems_reassigned(self, partition: Partition) -> bool:
        """Whether the listed reassignment is still in progress, as far as the description shows."""
        listed = self.listed[partition]
        return len(self.shown(partition).replicas & (listed.adding | listed.removing)) > 0

    def shows_under_replicated(self, partition: Partition) -> bool:
        listed = self.listed[partition]
        replicas = self.shown(partition).replicas
        factor = len(origin(listed.replicas, listed.adding)) if self.seems_reassigned(partition) else len(replicas)
        return factor > len(self.shown(partition).isr)
