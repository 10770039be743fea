"""The partitions that a reassignment moves, and what their brokers do meanwhile: the basis of every design.

The designs differ in what a controller writes, and in which order; each is a subclass with a controller of its own.
model/reassignment/kip236.py, where to begin, lists them with the sections of the texts.

The model of a log is only whether it has all committed records: a replica outside the ISR falls behind when records are
committed, until it has caught up again. A LeaderAndIsr request arrives at once; what happens while one is on its way is
the subject of model/alter_isr/core.py. A StopReplica request takes its time, and outlives the controller that sent it.
"""

from __future__ import annotations

from floodmark import Constant, Identifier, Map, Model, Record, Set, action, require, rule


class Broker(Identifier, count="brokers", prefix="b"):
    """A broker, and its replica of every partition that it has."""


class Partition(Identifier, count="partitions", prefix="p"):
    """A partition of the batch that is reassigned together."""


class Replication(Record):
    """A partition as its leader and its brokers have it.

    ``leader`` and ``isr`` are the persisted ones. ``known`` are the replicas in the last request that the leader
    received: no other may enter the ISR. Brokers in ``on_disk`` have a replica, those in ``complete`` have everything
    committed. Brokers in ``stops`` are to delete their replica; those in ``late_stops`` were told to before they were
    given the replica again.
    """

    leader: Broker | None
    isr: Set[Broker]
    known: Set[Broker]
    complete: Set[Broker]
    on_disk: Set[Broker]
    stops: Set[Broker]
    late_stops: Set[Broker]


class ReassignedReplicas(Model):
    """The brokers' side: records, the ISR, crashes, and replicas that are created and deleted."""

    brokers = Constant(4)
    partitions = Constant(1)
    replication_factor = Constant(2)
    min_insync_replicas = Constant(1)
    brokers_down = Constant(1)

    live: Set[Broker]
    replication: Map[Partition, Replication]

    def first_brokers(self, count: int) -> Set[Broker]:
        first = Set[Broker]()
        for broker in Broker:
            if len(first) < count:
                first = first | {broker}
        return first

    def start_replicas(self) -> Set[Broker]:
        """The first brokers are every partition's replicas, all alive and in sync; the very first leads."""
        replicas = self.first_brokers(self.replication_factor)
        self.live = Set(Broker)
        whole = Replication(
            leader=Broker(1), isr=replicas, known=replicas, complete=replicas, on_disk=replicas,
            stops=Set(), late_stops=Set(),
        )
        self.replication = Map({partition: whole for partition in Partition})
        return replicas

    def is_online(self, partition: Partition) -> bool:
        """Whether the partition has a leader that is alive."""
        leader = self.replication[partition].leader
        return leader is not None and leader in self.live

    # Records and the ISR.

    @action
    def leader_commits(self, partition: Partition) -> None:
        """A record with acks=all is written to the whole ISR; replicas outside it do not have the record.

        ``Partition.maybeIncrementLeaderHW``.
        """
        state = self.replication[partition]
        require(self.is_online(partition) and state.isr <= self.live)
        require(len(state.isr) >= self.min_insync_replicas and not state.complete <= state.isr)
        self.replication[partition].complete &= state.isr

    @action
    def follower_catches_up(self, partition: Partition, follower: Broker) -> None:
        """A follower fetches everything that it lacks. ``AbstractFetcherThread.processFetchRequest``."""
        state = self.replication[partition]
        require(self.is_online(partition) and follower in self.live and follower in state.known)
        require(follower in state.on_disk and follower not in state.complete)
        self.replication[partition].complete.add(follower)

    @action
    def follower_joins_isr(self, partition: Partition, follower: Broker) -> None:
        """The leader adds a follower that has caught up, if it is one of the replicas that the leader knows.

        ``Partition.maybeExpandIsr``.
        """
        state = self.replication[partition]
        require(self.is_online(partition) and follower in self.live and follower in state.known)
        require(follower in state.complete and follower not in state.isr)
        self.replication[partition].isr.add(follower)

    @action
    def follower_leaves_isr(self, partition: Partition, follower: Broker) -> None:
        """The leader removes a follower that is down or lags. ``Partition.maybeShrinkIsr``."""
        state = self.replication[partition]
        require(self.is_online(partition) and follower in state.isr and follower != state.leader)
        self.replication[partition].isr.discard(follower)

    # A crash loses nothing that was on disk.

    @action
    def broker_crashes(self, broker: Broker) -> None:
        """The environment: a broker crashes."""
        require(broker in self.live and len(Set(Broker) - self.live) < self.brokers_down)
        self.live.discard(broker)

    @action
    def broker_starts(self, broker: Broker) -> None:
        """The environment: a broker starts (``KafkaController.onBrokerStartup``)."""
        require(broker not in self.live)
        self.live.add(broker)

    # StopReplica, at the broker.

    @rule
    def heeds_late_stop(self) -> bool:
        """A StopReplica of an older leader epoch or controller epoch is dropped (KIP-570, KAFKA-9539)."""
        return False

    def delete_replica(self, partition: Partition, broker: Broker) -> None:
        self.replication[partition].on_disk.discard(broker)
        self.replication[partition].complete.discard(broker)

    @action
    def broker_deletes_replica(self, partition: Partition, broker: Broker) -> None:
        """``ReplicaManager.stopReplicas``, with its deletion."""
        require(broker in self.replication[partition].stops and broker in self.live)
        self.replication[partition].stops.discard(broker)
        self.delete_replica(partition, broker)

    @action
    def broker_hears_late_stop(self, partition: Partition, broker: Broker) -> None:
        """``ReplicaManager.stopReplicas``."""
        require(broker in self.replication[partition].late_stops and broker in self.live)
        self.replication[partition].late_stops.discard(broker)
        if self.heeds_late_stop():
            self.delete_replica(partition, broker)

    # What a controller does to replicas.

    def electable(self, partition: Partition, wanted: Set[Broker]) -> Set[Broker]:
        """The members of ``wanted`` that may lead without loss: the live members of the ISR."""
        return wanted & self.replication[partition].isr & self.live

    def elect(self, partition: Partition, wanted: Set[Broker]) -> None:
        """The leader stays if it is alive and wanted; otherwise another one leads, if one can be elected."""
        leader = self.replication[partition].leader
        if leader is None or leader not in self.electable(partition, wanted):
            for successor in Broker:
                if successor in self.electable(partition, wanted):
                    self.replication[partition].leader = successor
                    break

    @rule
    def tell_leader(self, partition: Partition, replicas: Set[Broker]) -> None:
        """A LeaderAndIsr request with a new leader epoch: the leader now knows these replicas."""
        self.replication[partition].known = replicas

    def start_replicas_on(self, partition: Partition, brokers: Set[Broker]) -> None:
        """A LeaderAndIsr request makes brokers replicas; an earlier request to stop theirs is now out of date."""
        state = self.replication[partition]
        self.replication[partition].late_stops = state.late_stops | (state.stops & brokers)
        self.replication[partition].stops = state.stops - brokers
        self.replication[partition].on_disk = state.on_disk | brokers

    @rule
    def isr_without(self, isr: Set[Broker], brokers: Set[Broker]) -> Set[Broker]:
        """The last member stays in the ISR even when it goes offline: no other replica is certain to have its
        records."""
        return isr if isr <= brokers else isr - brokers

    def take_offline(self, partition: Partition, brokers: Set[Broker]) -> None:
        """Replicas go offline: they leave the ISR, and none of them leads."""
        state = self.replication[partition]
        if state.leader is not None and state.leader in brokers:
            self.replication[partition].leader = None
        self.replication[partition].isr = self.isr_without(state.isr, brokers)

    @rule
    def deletes_stopped(self) -> bool:
        """The last StopReplica for a removed replica has delete=true (KAFKA-16120)."""
        return True

    def stop_replicas_on(self, partition: Partition, brokers: Set[Broker]) -> None:
        """StopReplica with delete=true to every broker that has the replica."""
        state = self.replication[partition]
        if self.deletes_stopped():
            self.replication[partition].stops = state.stops | (brokers & state.on_disk)
