"""The per-partition protocol of an earlier version of KIP-236, in which a reassignment may be changed.

From that version: "The new znode protocol", the legacy znode protocol, "On controller failover" and "Change to the
KafkaController.onPartitionReassignment() algorithm". The current version is in model/reassignment/kip236.py, where to
begin, with the forward steps that this file shares.

Clients create requests, ``/admin/reassignment_requests/request_NNNN``, one after the other. The controller takes them
in order and keeps what is in flight in ``/admin/reassignments/$topic/$partition``. What old clients write to
``/admin/reassign_partitions`` becomes such a request, too, marked as legacy. There is no cancellation: a client asks
for the old replicas.

A later request may change the target. Replicas that only the earlier one wanted are dropped first: of the assigned
replicas, as many are kept as there were at the start (``top``), first the leader, then the ISR, then the others.
Repaired are:

* the slice ``existing[0:top-1]``, which in Python is one too short, keeps ``top`` replicas (``kept_count``);
* replicas of the new target are kept (``spared``), and nothing is dropped without a live leader (``may_begin``);
* the leader is told when the dropped replicas leave the ISR (``told_of_drop``), before they are deleted.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import Capacity, Constant, Map, Record, Seq, Set, action, initial, require, rule
from model.reassignment.kip236 import Entry, Step, StepwiseReassignment
from model.reassignment.replicas import Broker, Partition
from model.replica_sets import followed_by, members


class Request(Record):
    """``/admin/reassignment_requests/request_NNNN``, for one partition."""

    partition: Partition
    target: Set[Broker]
    legacy: bool


class Drop(Enum):
    """What is left to do before the forward steps."""

    NOTHING = "nothing"
    REFUSED = "the request is refused, and is to be deleted"
    DELETE_REQUEST = "the request is taken, and is to be deleted"
    OFFLINE = "replicas that nobody wants go offline"
    DELETE = "they are deleted"
    PERSIST = "they are assigned no more, in memory and in ZooKeeper"


class RequestedReassignment(StepwiseReassignment):
    """The per-partition protocol with the repairs; ``pending`` is ``/admin/reassignments``."""

    submissions = Constant(2)

    requests: Annotated[Seq[Request], Capacity("submissions")] = Seq[Request]()
    legacy_znode: Map[Partition, Set[Broker] | None]
    routed_legacy: Set[Partition] = Set()
    top: Map[Partition, Set[Broker]]

    drop: Map[Partition, Drop]
    dropped: Map[Partition, Set[Broker]]

    wanted: Map[Partition, Set[Broker]]

    @initial
    def start(self) -> None:
        super().start()
        self.legacy_znode = Map({partition: None for partition in Partition})
        self.top = Map({partition: Set[Broker]() for partition in Partition})
        self.drop = Map({partition: Drop.NOTHING for partition in Partition})
        self.dropped = Map({partition: Set[Broker]() for partition in Partition})
        self.wanted = self.assigned

    def is_free(self) -> bool:
        return super().is_free() and all(self.drop[partition] == Drop.NOTHING for partition in Partition)

    # Clients.

    @action
    def client_requests(self, partition: Partition, target: Set[Broker]) -> None:
        """A client of the new protocol creates a request. An earlier version of KIP-236, "The new znode protocol"."""
        require(self.submitted < self.submissions and self.smallest_target <= len(target) <= self.largest_target)
        self.submitted += 1
        self.requests.append(Request(partition=partition, target=target, legacy=False))

    @action
    def client_writes_legacy(self, partition: Partition, target: Set[Broker]) -> None:
        """A client of the old protocol writes ``/admin/reassign_partitions``, which must not be there.

        KIP-236, "The supporting the legacy znode protocol", step 1.
        """
        require(self.old_clients and self.submitted < self.submissions)
        require(self.smallest_target <= len(target) <= self.largest_target)
        require(all(self.legacy_znode[other] is None for other in Partition))
        self.submitted += 1
        self.legacy_znode[partition] = target

    # The controller's watches. A new controller finds all three kinds of znode in the same way.

    @action
    def controller_reads_legacy(self, partition: Partition) -> None:
        """What an old client asks for becomes a request like any other, unless it already is one.

        KIP-236, "The supporting the legacy znode protocol", steps 2 and 3.
        """
        require(self.is_free() and self.legacy_znode[partition] is not None and partition not in self.routed_legacy)
        require(len(self.requests) < self.submissions)
        require(not any(request.partition == partition and request.legacy for request in self.requests))
        target = self.legacy_znode[partition]
        assert target is not None
        self.requests.append(Request(partition=partition, target=target, legacy=True))

    @rule
    def is_refused(self, request: Request) -> bool:
        """The partition is being reassigned by the other route: logs a warning and ignores the request."""
        return self.is_pending(request.partition) and (request.partition in self.routed_legacy) != request.legacy

    @rule
    def has_enough_replicas(self, request: Request) -> bool:
        """When a reassignment is created, ``top`` must be at least min.insync.replicas; otherwise it is ignored."""
        return self.is_pending(request.partition) or (
            len(self.assigned[request.partition]) >= self.min_insync_replicas
        )

    @rule
    def may_begin(self, partition: Partition) -> bool:
        """A leader that is down would take one of the places that are kept, so the controller waits for an election."""
        return self.is_online(partition)

    @action
    def controller_refuses_request(self) -> None:
        """An old client's entry is removed first; otherwise it would become a request again.

        KIP-236, "The new znode protocol", step 2.1.
        """
        require(self.is_free() and len(self.requests) > 0)
        require(self.is_refused(self.requests[0]) or not self.has_enough_replicas(self.requests[0]))
        request = self.requests[0]
        if request.legacy:
            self.legacy_znode[request.partition] = None
        self.drop[request.partition] = Drop.REFUSED

    @action
    def refused_request_is_deleted(self, partition: Partition) -> None:
        """KIP-236, "The new znode protocol", step 3, for a request that was refused."""
        require(self.drop[partition] == Drop.REFUSED)
        self.requests = self.requests[1:]
        self.drop[partition] = Drop.NOTHING

    @action
    def request_1_is_taken(self) -> None:
        """``/admin/reassignments/$topic/$partition`` is created, or changed.

        KIP-236, "The new znode protocol", step 2.2.
        """
        require(self.is_free() and len(self.requests) > 0 and self.may_begin(self.requests[0].partition))
        require(not self.is_refused(self.requests[0]) and self.has_enough_replicas(self.requests[0]))
        request = self.requests[0]
        if not self.is_pending(request.partition):
            self.top[request.partition] = self.assigned[request.partition]
            self.before[request.partition] = self.assigned[request.partition]
        self.pending[request.partition] = Entry(target=request.target, original=None)
        self.context[request.partition] = self.pending[request.partition]
        self.wanted[request.partition] = request.target
        if request.legacy:
            self.routed_legacy.add(request.partition)
        else:
            self.routed_legacy.discard(request.partition)
        self.drop[request.partition] = Drop.DELETE_REQUEST

    @action
    def request_2_is_deleted(self, partition: Partition) -> None:
        """KIP-236, "The new znode protocol", step 3."""
        require(self.drop[partition] == Drop.DELETE_REQUEST)
        self.requests = self.requests[1:]
        self.drop[partition] = Drop.OFFLINE

    @action
    def controller_begins(self, partition: Partition) -> None:
        """A new controller continues what is in flight, but takes requests that are still there first."""
        require(self.is_free() and self.step[partition] == Step.IDLE and self.is_pending(partition))
        require(not any(request.partition == partition for request in self.requests) and self.may_begin(partition))
        self.context[partition] = self.pending[partition]
        self.drop[partition] = Drop.OFFLINE

    # Dropping.

    @rule
    def kept_count(self, top: int) -> int:
        """How many replicas are kept."""
        return top

    @rule
    def spared(self, partition: Partition) -> Set[Broker]:
        """Replicas that are not dropped, however many there are."""
        return self.target_of(partition)

    def existing(self, partition: Partition) -> Seq[Broker]:
        """The assigned replicas: the leader, then the ISR, then the others."""
        state = self.replication[partition]
        by_isr = followed_by(Seq(state.isr), Seq(self.assigned[partition]))
        leader = state.leader
        if leader is None or leader not in self.assigned[partition]:
            return by_isr
        return followed_by(Seq([leader]), by_isr)

    def to_drop(self, partition: Partition) -> Set[Broker]:
        kept = members(self.existing(partition)[: self.kept_count(len(self.top[partition]))])
        return self.assigned[partition] - kept - self.spared(partition)

    @rule
    def told_of_drop(self, partition: Partition, dropped: Set[Broker]) -> Set[Broker]:
        """The replicas that the leader is told about when the dropped ones leave the ISR."""
        return self.replication[partition].known - dropped

    @action
    def drop_1_offline(self, partition: Partition) -> None:
        """If the leader has crashed since the event began, nothing is dropped.

        KIP-236, "Change to the KafkaController.onPartitionReassignment() algorithm".
        """
        require(self.drop[partition] == Drop.OFFLINE)
        dropped = self.to_drop(partition) if self.may_begin(partition) else Set[Broker]()
        self.dropped[partition] = dropped
        self.take_offline(partition, dropped)
        self.tell_leader(partition, self.told_of_drop(partition, dropped))
        self.drop[partition] = Drop.DELETE

    @action
    def drop_2_deleted(self, partition: Partition) -> None:
        """KIP-236, "Change to the KafkaController.onPartitionReassignment() algorithm": ReplicaDeletionStarted."""
        require(self.drop[partition] == Drop.DELETE)
        self.stop_replicas_on(partition, self.dropped[partition])
        self.drop[partition] = Drop.PERSIST

    @action
    def drop_3_persisted(self, partition: Partition) -> None:
        """KIP-236, "Change to the KafkaController.onPartitionReassignment() algorithm": the last step of the drop."""
        require(self.drop[partition] == Drop.PERSIST)
        self.assigned[partition] = self.assigned[partition] - self.dropped[partition]
        self.memory[partition] = self.assigned[partition]
        self.dropped[partition] = Set()
        self.drop[partition] = Drop.NOTHING
        self.step[partition] = Step.PERSIST_BOTH

    # The end, and another controller.

    @action
    def step_10_persists_target(self, partition: Partition) -> None:
        super().step_10_persists_target(partition)
        if partition in self.routed_legacy:
            self.step[partition] = Step.DROP_LEGACY

    @rule
    def is_legacy_done(self, partition: Partition) -> bool:
        """The old znode asks for what was reached. After a crash it can be a newer one, written by another client."""
        return self.legacy_znode[partition] == self.target_of(partition)

    @action
    def step_10_drops_legacy(self, partition: Partition) -> None:
        """An old client's entry is removed first: after a crash nothing else would say that it was taken.

        KIP-236, "Revised protocol when a partition 'catches up'".
        """
        require(self.step[partition] == Step.DROP_LEGACY)
        if self.is_legacy_done(partition):
            self.legacy_znode[partition] = None
        self.step[partition] = Step.DROP_ENTRY

    def drop_entry(self, partition: Partition) -> None:
        """Removes the child of ``/admin/reassignments``, which also recorded the route."""
        super().drop_entry(partition)
        self.routed_legacy.discard(partition)
        self.top[partition] = Set()

    @action
    def controller_fails_over(self) -> None:
        """A request that was taken but not deleted is found, and taken, again. KIP-236, "On controller failover"."""
        super().controller_fails_over()
        for partition in Partition:
            self.drop[partition] = Drop.NOTHING
            self.dropped[partition] = Set()
