"""KIP-497 with failover: one partition whose leaders change, and the logs of all its replicas.

``AlterIsrFailover`` is the protocol as Kafka has run it since KIP-497 (AlterIsr), KIP-320 (fencing by leader epoch) and
KIP-595 (a follower's divergence is found on fetch). Each subclass changes one thing, or adds what only some questions
need, so that the others keep a small state space:

``ShrinksWithinLeaderEpoch``  the controller shrinks the ISR without a new leader epoch (KAFKA-15021)
``ReconcilesOnce``            followers compare logs once, when they start following (KIP-101, KIP-279, KIP-320)
``AlterIsrRestarts``          replicas lose what they stored; broker epochs tell one life from the next (KIP-903)

``model/alter_isr/core.py``, where to begin, has a single leader with every error code and both ways to answer a
request. Here a leader has one request in flight at a time, as in shipped brokers (KIP-497 lets it send more), and a
refusal leaves no trace: the leader keeps counting what it asked for until it learns of a newer partition epoch, which
KIP-497 calls a version.

A fetch and its answer are one step here; network.py has those that are late, delivered twice or lost. reassignment.py
has replicas that are added and removed meanwhile (KIP-455), and replicated.py says what is committed without asking a
leader.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    initial,
    require,
    rule,
)
from model import replica_log
from model.alter_isr.core import Broker as Broker

Offset = Annotated[int, Between(0, "max_offset")]
LeaderEpoch = Annotated[int, Between(0, "max_leader_epoch")]
PartitionEpoch = Annotated[int, Between(0, "max_partition_epoch")]
BrokerEpoch = Annotated[int, Between(0, "max_restarts")]
Log = Annotated[Seq[LeaderEpoch], Capacity("max_offset")]


class LeaderAndIsr(Record):
    """What the controller decided at one partition epoch, and what LeaderAndIsr tells the replicas."""

    leader: Broker | None
    leader_epoch: LeaderEpoch
    isr: Set[Broker]


class Replica(Record):
    """One broker's replica.

    Its leader, leader epoch and ISR are those of the partition epoch that it has learned. Only a leader uses the last
    three fields.
    """

    partition_epoch: PartitionEpoch
    log: Log
    high_watermark: Offset
    pending: Set[Broker]
    """The ISR that it has asked the controller for; empty when it has no request in flight."""
    leader_epoch_start_offset: Offset
    """Its log end offset at the start of its leader epoch."""
    fetch_offsets: Map[Broker, Offset]
    """The fetch offset of each follower's last fetch in this leader epoch; 0 before the first."""


class AlterIsrFailover(Model):
    """Replicas that lead and follow, each according to the partition state that it has learned so far.

    The controller is one atomic object: how its quorum agrees is not modelled here. Every decision it makes is a new
    partition epoch; each replica learns of it later, independently, and may skip some. So several replicas can believe
    that they lead, at different leader epochs.

    An AlterIsr request quotes the leader epoch and partition epoch that its sender knows. As soon as the sender learns
    of a newer partition epoch it forgets the request, and the controller would no longer accept it. So ``pending`` is
    also the request in flight.

    A record is the leader epoch that it was written in: a leader writes an offset only once in its epoch.
    """

    brokers = Constant(3)
    max_offset = Constant(2)
    max_leader_epoch = Constant(2)
    max_partition_epoch = Constant(4)
    min_insync_replicas = Constant(1)
    """min.insync.replicas"""

    partition_epoch: PartitionEpoch
    states: Map[PartitionEpoch, LeaderAndIsr | None]
    """The controller's decisions that some replica has yet to learn or still acts on."""
    fenced: Set[Broker]
    replicas: Map[Broker, Replica]
    committed: Log
    """History: the records below the highest high watermark of any leader so far. Each was readable and, with acks=all,
    acknowledged.
    """

    @initial
    def start(self) -> None:
        """The controller has created the partition, and all replicas know it."""
        created = LeaderAndIsr(leader=Broker(1), leader_epoch=0, isr=Set(Broker))
        self.partition_epoch = 0
        self.states = Map(
            {
                partition_epoch: created if partition_epoch == 0 else None
                for partition_epoch in range(self.max_partition_epoch + 1)
            }
        )
        self.fenced = Set()
        self.replicas = Map({broker: self.empty_replica() for broker in Broker})
        self.committed = Seq()

    def empty_replica(self) -> Replica:
        """A replica that stores nothing."""
        return Replica(
            partition_epoch=self.partition_epoch,
            log=Seq(),
            high_watermark=0,
            pending=Set(),
            leader_epoch_start_offset=0,
            fetch_offsets=self.no_fetch_offsets(),
        )

    def no_fetch_offsets(self) -> Map[Broker, Offset]:
        """What a leader knows about its followers before they fetch."""
        return Map({broker: 0 for broker in Broker})

    # What the controller knows, and what a replica does.

    def state_at(self, partition_epoch: PartitionEpoch) -> LeaderAndIsr:
        """The controller's decision with this partition epoch."""
        state = self.states[partition_epoch]
        assert state is not None, f"partition_epoch {partition_epoch} is forgotten, or yet to come"
        return state

    def current(self) -> LeaderAndIsr:
        """The current partition state."""
        return self.state_at(self.partition_epoch)

    def known(self, broker: Broker) -> LeaderAndIsr:
        """The partition state as this replica knows it."""
        return self.state_at(self.replicas[broker].partition_epoch)

    def leads(self, broker: Broker) -> bool:
        """Whether this replica believes that it leads."""
        return self.known(broker).leader == broker

    # Leader: records and the high watermark.

    @action
    def leader_appends(self, leader: Broker) -> None:
        """A producer's record with acks=0 or acks=1, however few are in sync, or with acks=all, which is refused then
        (``Partition.appendRecordsToLeader``). acknowledgement.py tells the two apart.
        """
        require(self.leads(leader))
        require(len(self.replicas[leader].log) < self.max_offset)
        self.replicas[leader].log.append(self.known(leader).leader_epoch)
        self.advance_high_watermark(leader)

    @rule
    def under_min_isr(self, leader: Broker) -> bool:
        """The confirmed ISR is smaller than min.insync.replicas (``Partition.isUnderMinIsr``)."""
        return len(self.known(leader).isr) < self.min_insync_replicas

    @rule
    def maximal_isr(self, leader: Broker) -> Set[Broker]:
        """The largest ISR that may be in effect: the confirmed one and the requested one (KIP-497, "Proposed Changes").

        During a shrink that is the old ISR, during an expansion the new one.
        """
        return self.known(leader).isr | self.replicas[leader].pending

    @rule
    def may_advance(self, leader: Broker) -> bool:
        """With too few in sync the high watermark stays where it is, so that it stands for enough copies
        (KAFKA-15583).
        """
        return not self.under_min_isr(leader)

    def advance_high_watermark(self, leader: Broker) -> None:
        """Up to what every member of the maximal ISR has (``Partition.maybeIncrementLeaderHW``)."""
        if self.may_advance(leader):
            reached = min(self.log_end_offset(leader, member) for member in self.maximal_isr(leader))
            if reached > self.replicas[leader].high_watermark:
                self.replicas[leader].high_watermark = reached
                if reached > len(self.committed):
                    self.committed = self.replicas[leader].log[:reached]

    def log_end_offset(self, leader: Broker, member: Broker) -> Offset:
        """A member's log end offset, as far as the leader knows."""
        return len(self.replicas[leader].log) if member == leader else self.replicas[leader].fetch_offsets[member]

    # Leader: asking for a different ISR.

    @action
    def leader_proposes_shrink(self, leader: Broker, laggards: Set[Broker]) -> None:
        """Asks to remove followers out of sync for replica.lag.time.max.ms (``Partition.maybeShrinkIsr``)."""
        require(self.may_propose(leader))
        require(len(laggards) > 0 and laggards <= self.known(leader).isr - {leader})
        self.replicas[leader].pending = self.known(leader).isr - laggards

    @action
    def leader_proposes_expand(self, leader: Broker, follower: Broker) -> None:
        """A follower's fetch shows that it has caught up, and the leader asks to add it (``Partition.maybeExpandIsr``,
        called by ``updateFollowerFetchState``). The answer is lost; another fetch may follow.
        """
        require(self.may_propose(leader) and follower not in self.known(leader).isr)
        self.hear_from(leader, follower)
        self.propose_expand(leader, follower)

    def propose_expand(self, leader: Broker, follower: Broker) -> None:
        """Asks to add a follower whose fetch the leader has just recorded."""
        require(self.may_propose(leader))
        require(follower not in self.known(leader).isr and self.caught_up(leader, follower))
        self.replicas[leader].pending = self.known(leader).isr | {follower}

    @rule
    def hear_from(self, leader: Broker, follower: Broker) -> None:
        """Expansion is judged in the follower's own fetch and nowhere else (``Partition.updateFollowerFetchState``).
        What the leader remembers of a follower outside the ISR may be of a log that is lost.
        """
        require(self.is_served(follower, leader))
        self.record_fetch(leader, follower, len(self.replicas[follower].log))

    def may_propose(self, leader: Broker) -> bool:
        """No request is in flight. One at the last partition epoch within the bounds could not be accepted."""
        return (
            self.leads(leader)
            and not self.request_in_flight(leader)
            and self.replicas[leader].partition_epoch < self.max_partition_epoch
        )

    def request_in_flight(self, leader: Broker) -> bool:
        """It has asked for a different ISR, and learned of nothing newer since (``PartitionState.isInflight``)."""
        return len(self.replicas[leader].pending) > 0

    @rule
    def caught_up(self, leader: Broker, follower: Broker) -> bool:
        """The follower has everything committed. A new leader's high watermark may be behind what its predecessor
        exposed, so the follower must also have reached the start of the leader's epoch (KIP-320).
        """
        replica = self.replicas[leader]
        return replica.fetch_offsets[follower] >= max(replica.high_watermark, replica.leader_epoch_start_offset)

    # Controller: methods of ReplicationControlManager.

    def decide(self, leader: Broker | None, leader_epoch: LeaderEpoch, isr: Set[Broker]) -> None:
        """A new partition state, for the replicas to learn."""
        self.partition_epoch += 1
        self.states[self.partition_epoch] = LeaderAndIsr(leader=leader, leader_epoch=leader_epoch, isr=isr)

    def may_decide(self) -> bool:
        """The bounds leave room for another partition epoch."""
        return self.partition_epoch < self.max_partition_epoch

    def may_elect(self) -> bool:
        """The bounds leave room for another leader epoch."""
        return self.may_decide() and self.current().leader_epoch < self.max_leader_epoch

    @action
    def controller_accepts(self, leader: Broker) -> None:
        """The leader's AlterIsr request arrives and is accepted. All other requests are refused, which has no effect
        here.

        ``ReplicationControlManager.alterPartition``.
        """
        require(self.request_in_flight(leader) and self.may_decide())
        require(self.request_is_current(leader) and self.members_are_eligible(leader))
        current = self.current()
        self.decide(current.leader, current.leader_epoch, self.replicas[leader].pending)

    @rule
    def request_is_current(self, leader: Broker) -> bool:
        """The sender leads and quotes the current epoch and partition epoch (``validateAlterPartitionData``; else
        NOT_CONTROLLER, FENCED_LEADER_EPOCH, INVALID_REQUEST or INVALID_UPDATE_VERSION)."""
        current = self.current()
        return (
            current.leader == leader
            and self.known(leader).leader_epoch == current.leader_epoch
            and self.replicas[leader].partition_epoch == self.partition_epoch
        )

    @rule
    def members_are_eligible(self, leader: Broker) -> bool:
        """No fenced broker joins (``ineligibleReplicasForIsr``, KIP-841; else INELIGIBLE_REPLICA)."""
        return not self.replicas[leader].pending & self.fenced

    @action
    def controller_elects(self, successor: Broker) -> None:
        """The controller moves leadership within the ISR, for example to the preferred leader.

        ``ReplicationControlManager.electLeader``.
        """
        require(self.may_elect() and successor in self.current().isr - self.fenced)
        require(successor != self.current().leader)
        self.decide(successor, self.current().leader_epoch + 1, self.current().isr)

    @action
    def controller_fences(self, broker: Broker) -> None:
        """A broker's heartbeats stop, or it shuts down: it leaves the ISR.

        If it is not in the ISR nothing changes, not even the partition epoch. The last member stays in the ISR, without
        leading. ``ReplicationControlManager.handleBrokerFenced``.
        """
        require(broker not in self.fenced)
        require(broker not in self.current().isr or (self.may_elect() and self.replaceable(broker)))
        current = self.current()
        if current.isr == Set([broker]):
            self.decide(None, current.leader_epoch + 1, current.isr)
        elif broker in current.isr:
            self.decide(current.leader, self.leader_epoch_after_shrink(), current.isr - {broker})
        self.fenced.add(broker)

    def replaceable(self, broker: Broker) -> bool:
        """Whether the controller can fence this broker without choosing another leader."""
        return broker != self.current().leader or self.current().isr == Set([broker])

    @rule
    def leader_epoch_after_shrink(self) -> LeaderEpoch:
        """The controller's shrink begins a new leader epoch even though the leader stays (Kafka before 3.6,
        KAFKA-15021: ``PartitionChangeBuilder.triggerLeaderEpochBumpForIsrShrinkIfNeeded``).
        """
        return self.current().leader_epoch + 1

    @action
    def controller_fences_leader(self, leader: Broker, successor: Broker) -> None:
        """The leader's heartbeats stop, or it shuts down: another member of the ISR leads.

        ``ReplicationControlManager.handleBrokerFenced``.
        """
        require(self.may_elect() and self.current().leader == leader)
        require(successor in self.current().isr and successor != leader)
        self.decide(successor, self.current().leader_epoch + 1, self.current().isr - {leader})
        self.fenced.add(leader)

    @action
    def controller_unfences(self, broker: Broker) -> None:
        """A broker is back. It leads if it was the ISR's last member
        (``ReplicationControlManager.handleBrokerUnfenced``).
        """
        require(broker in self.fenced)
        require(broker not in self.current().isr or self.may_elect())
        current = self.current()
        self.fenced.discard(broker)
        if broker in current.isr:
            self.decide(broker, current.leader_epoch + 1, current.isr)

    # Replicas learn what the controller decided.

    @action
    def replica_learns(self, broker: Broker, partition_epoch: PartitionEpoch) -> None:
        """LeaderAndIsr, or the answer to its own request, reaches a replica. This settles what the replica asked
        for.

        ``Partition.makeLeader``.
        """
        require(self.replicas[broker].partition_epoch < partition_epoch and partition_epoch <= self.partition_epoch)
        self.learn(broker, partition_epoch)

    def learn(self, broker: Broker, partition_epoch: PartitionEpoch) -> None:
        """A newer state; a new leader epoch begins with a new role (``Partition.makeLeader``, ``makeFollower``)."""
        before = self.known(broker)
        after = self.state_at(partition_epoch)
        self.replicas[broker].partition_epoch = partition_epoch
        self.replicas[broker].pending = Set()
        if after.leader_epoch > before.leader_epoch:
            if after.leader == broker:
                self.replicas[broker].fetch_offsets = self.fetch_offsets_before(broker, before, after)
                self.replicas[broker].leader_epoch_start_offset = len(self.replicas[broker].log)
            else:
                self.replicas[broker].fetch_offsets = self.no_fetch_offsets()
                self.replicas[broker].leader_epoch_start_offset = 0
                self.start_following(broker)
        if after.leader == broker:
            self.advance_high_watermark(broker)
        self.forget_states()

    @rule
    def fetch_offsets_before(self, leader: Broker, before: LeaderAndIsr, after: LeaderAndIsr) -> Map[Broker, Offset]:
        """What a leader remembers of its followers in a new leader epoch: if it led before, all log end offsets
        (``Replica.resetReplicaState``, where ``isNewLeader`` is false).
        """
        return (
            self.replicas[leader].fetch_offsets
            if self.led_just_before(leader, before, after)
            else self.no_fetch_offsets()
        )

    @rule
    def led_just_before(self, leader: Broker, before: LeaderAndIsr, after: LeaderAndIsr) -> bool:
        """The leader also led the epoch just before. If it skipped an epoch, the followers may have truncated under
        another leader since they fetched.
        """
        return before.leader == leader and after.leader_epoch == before.leader_epoch + 1

    @rule
    def start_following(self, follower: Broker) -> None:
        """A follower keeps its log; its fetches will show where it diverges (KIP-595, "Fetch")."""

    def forget_states(self) -> None:
        """Drops the partition states that every replica has moved past: none can be learned again."""
        for partition_epoch in range(self.partition_epoch):
            if all(self.replicas[broker].partition_epoch > partition_epoch for broker in Broker):
                self.states[partition_epoch] = None

    # Followers: fetch and truncation.

    @action
    def follower_fetches(self, follower: Broker, leader: Broker) -> None:
        """A fetch and its answer: one record, if there is one, and the leader's high watermark.

        The leader remembers the fetch offset. Only the next fetch tells it whether the answer arrived.

        ``Partition.fetchRecords``.
        """
        require(self.is_served(follower, leader))
        fetch_offset = len(self.replicas[follower].log)
        if fetch_offset < len(self.replicas[leader].log):
            self.replicas[follower].log.append(self.replicas[leader].log[fetch_offset])
        self.replicas[follower].high_watermark = self.follower_high_watermark(follower, leader)
        self.record_fetch(leader, follower, fetch_offset)

    def record_fetch(self, leader: Broker, follower: Broker, fetch_offset: Offset) -> None:
        """What a fetch tells the leader (``Replica.updateFetchStateOrThrow``)."""
        self.replicas[leader].fetch_offsets[follower] = fetch_offset
        self.advance_high_watermark(leader)

    @action
    def follower_truncates(self, follower: Broker, leader: Broker) -> None:
        """The leader finds that the logs diverge (``AbstractFetcherThread.truncateOnFetchResponse``)."""
        require(self.asks(follower, leader) and self.truncation_epoch_is_valid(follower, leader))
        require(self.must_truncate(follower, leader))
        self.truncate(follower, self.truncation_offset(follower, leader))

    def is_served(self, follower: Broker, leader: Broker) -> bool:
        """The leader answers the follower's fetch with records."""
        return (
            self.asks(follower, leader)
            and self.fetch_epoch_is_valid(follower, leader)
            and self.may_fetch(follower, leader)
        )

    def asks(self, follower: Broker, leader: Broker) -> bool:
        """The follower knows the other broker as its leader, and that broker believes that it leads."""
        return follower != leader and self.known(follower).leader == leader and self.leads(leader)

    def follower_high_watermark(self, follower: Broker, leader: Broker) -> Offset:
        """The leader's high watermark, as far as the follower's log goes."""
        return min(self.replicas[leader].high_watermark, len(self.replicas[follower].log))

    def truncate(self, follower: Broker, offset: Offset) -> None:
        """Truncates the log, and lowers the high watermark with it."""
        self.replicas[follower].log = self.replicas[follower].log[:offset]
        self.replicas[follower].high_watermark = min(self.replicas[follower].high_watermark, offset)

    def same_leader_epoch(self, follower: Broker, leader: Broker) -> bool:
        """Both know one leader epoch (``checkCurrentLeaderEpoch``; else FENCED_ or UNKNOWN_LEADER_EPOCH)."""
        return self.known(follower).leader_epoch == self.known(leader).leader_epoch

    @rule
    def fetch_epoch_is_valid(self, follower: Broker, leader: Broker) -> bool:
        """The leader answers a fetch only in the follower's own leader epoch (KIP-320)."""
        return self.same_leader_epoch(follower, leader)

    @rule
    def truncation_epoch_is_valid(self, follower: Broker, leader: Broker) -> bool:
        """The leader answers a request to compare logs only in the follower's own leader epoch (KIP-320)."""
        return self.same_leader_epoch(follower, leader)

    @rule
    def may_fetch(self, follower: Broker, leader: Broker) -> bool:
        """The follower's log is a prefix of the leader's, judging by its last fetched epoch (KIP-595, "Fetch")."""
        return not replica_log.diverges(self.replicas[leader].log, self.replicas[follower].log)

    @rule
    def must_truncate(self, follower: Broker, leader: Broker) -> bool:
        """The leader answers a fetch with a diverging epoch instead of records (``Partition.readRecords``, KIP-595)."""
        return replica_log.diverges(self.replicas[leader].log, self.replicas[follower].log)

    @rule
    def truncation_offset(self, follower: Broker, leader: Broker) -> Offset:
        """Where the follower's log and the leader's diverge, as far as one answer tells (KIP-279)."""
        return replica_log.truncation_offset(self.replicas[leader].log, self.replicas[follower].log)


class ShrinksWithinLeaderEpoch(AlterIsrFailover):
    """The KRaft controller of Kafka 3.6 and later: only a change of leader begins a leader epoch (KAFKA-15021)."""

    def leader_epoch_after_shrink(self) -> LeaderEpoch:
        return self.current().leader_epoch


class ReconcilesOnce(AlterIsrFailover):
    """KIP-320 as it first shipped: a follower compares logs once, by OffsetsForLeaderEpoch, when it starts following.

    After that its fetches carry an offset and its leader epoch, and nothing that would reveal a divergence.
    """

    reconciling: Set[Broker]
    """The followers that have not yet compared their logs in their leader epoch."""

    @initial
    def start(self) -> None:
        super().start()
        self.reconciling = Set()

    def learn(self, broker: Broker, partition_epoch: PartitionEpoch) -> None:
        super().learn(broker, partition_epoch)
        if self.leads(broker):
            self.reconciling.discard(broker)

    def start_following(self, follower: Broker) -> None:
        self.reconciling.add(follower)

    def may_fetch(self, follower: Broker, leader: Broker) -> bool:
        """The follower has reconciled, and the leader has the offset (else OFFSET_OUT_OF_RANGE)."""
        return follower not in self.reconciling and self.offset_in_range(follower, leader)

    def offset_in_range(self, follower: Broker, leader: Broker) -> bool:
        """The leader's log is at least as long as the follower's."""
        return len(self.replicas[follower].log) <= len(self.replicas[leader].log)

    def must_truncate(self, follower: Broker, leader: Broker) -> bool:
        """The follower has not yet asked where its last epoch ends."""
        return follower in self.reconciling

    def truncate(self, follower: Broker, offset: Offset) -> None:
        """Truncates the log. An answer that leaves nothing to truncate ends the rounds (KIP-279)."""
        if offset == len(self.replicas[follower].log):
            self.reconciling.discard(follower)
        super().truncate(follower, offset)


class AlterIsrRestarts(AlterIsrFailover):
    """Brokers that restart and lose records they had stored, and the broker epochs of KIP-903 that keep them out of the
    ISR.

    A broker is fenced before it registers again, so by then it has left the ISR (KAFKA-18106). But fencing a broker
    that was already outside the ISR does not change the partition epoch, so the partition epoch quoted by a request
    does not reveal the restart. The broker epoch does: a fetch carries it, the leader quotes the one it saw, and the
    controller compares.
    """

    max_restarts = Constant(1)
    reassignment = Constant(False)
    """Whether replicas may also be removed and added back empty without their broker restarting."""

    broker_epochs: Map[Broker, BrokerEpoch]
    """The controller's registrations."""
    fetched_broker_epochs: Map[Broker, Map[Broker, BrokerEpoch]]
    """Per leader: the broker epoch that each follower's last fetch carried."""
    requested_broker_epochs: Map[Broker, BrokerEpoch]
    """Per leader: the broker epoch of the joining follower in the request in flight."""

    @initial
    def start(self) -> None:
        super().start()
        self.broker_epochs = Map({broker: 0 for broker in Broker})
        self.fetched_broker_epochs = Map({leader: self.no_epochs() for leader in Broker})
        self.requested_broker_epochs = Map({broker: 0 for broker in Broker})

    def no_epochs(self) -> Map[Broker, BrokerEpoch]:
        """What a leader knows about broker epochs before the first fetch."""
        return Map({broker: 0 for broker in Broker})

    @action
    def broker_restarts(self, broker: Broker, kept: Offset) -> None:
        """A broker restarts with the first ``kept`` records of its log and registers with a new broker epoch.

        It reads all metadata before it serves the partition.

        ``ClusterControlManager.registerBroker``.
        """
        require(self.may_register(broker) and self.may_lose_records(broker))
        require(kept <= len(self.replicas[broker].log))
        require(sum(self.broker_epochs[other] for other in Broker) < self.max_restarts)
        self.broker_epochs[broker] += 1
        self.begin_again(broker, kept)

    def begin_again(self, broker: Broker, kept: Offset) -> None:
        """The replica has only the first ``kept`` records left, and learns the current state."""
        self.replicas[broker].log = self.replicas[broker].log[:kept]
        self.replicas[broker].high_watermark = min(self.replicas[broker].high_watermark, kept)
        if self.replicas[broker].partition_epoch < self.partition_epoch:
            self.learn(broker, self.partition_epoch)

    @rule
    def may_register(self, broker: Broker) -> bool:
        """The controller fences a broker before it registers it again (KAFKA-18106)."""
        return broker in self.fenced

    @rule
    def may_lose_records(self, broker: Broker) -> bool:
        """The last replica in the ISR keeps its log: before KIP-966 nothing else protects its records."""
        return broker not in self.current().isr

    @action
    def controller_recreates_replica(self, broker: Broker) -> None:
        """One reassignment removes the replica and another adds it back, empty; a leader may see both at once.

        A removal begins a new leader epoch.

        ``ReplicationControlManager.alterPartitionReassignments``.
        """
        require(self.reassignment and self.may_elect() and broker not in self.current().isr)
        self.decide(self.current().leader, self.current().leader_epoch + 1, self.current().isr)
        self.begin_again(broker, 0)

    def learn(self, broker: Broker, partition_epoch: PartitionEpoch) -> None:
        """A leader that is elected again keeps the broker epochs, too (``Replica.resetReplicaState``)."""
        before = self.known(broker)
        super().learn(broker, partition_epoch)
        after = self.known(broker)
        self.requested_broker_epochs[broker] = 0
        keeps = after.leader == broker and self.led_just_before(broker, before, after)
        if after.leader_epoch > before.leader_epoch and not keeps:
            self.fetched_broker_epochs[broker] = self.no_epochs()

    def record_fetch(self, leader: Broker, follower: Broker, fetch_offset: Offset) -> None:
        """The fetch also carries the follower's broker epoch (KIP-903, "Public Interfaces")."""
        super().record_fetch(leader, follower, fetch_offset)
        self.fetched_broker_epochs[leader][follower] = self.broker_epochs[follower]

    def propose_expand(self, leader: Broker, follower: Broker) -> None:
        """The request also quotes the follower's broker epoch, as the leader saw it."""
        super().propose_expand(leader, follower)
        self.requested_broker_epochs[leader] = self.fetched_broker_epochs[leader][follower]

    @rule
    def members_are_eligible(self, leader: Broker) -> bool:
        """A joining broker has not restarted since the leader saw it (KIP-903; else INELIGIBLE_REPLICA)."""
        joining = self.replicas[leader].pending - self.current().isr
        return super().members_are_eligible(leader) and all(
            self.broker_epochs[broker] == self.requested_broker_epochs[leader] for broker in joining
        )
