"""KIP-497, "Public Interfaces": one AlterIsr request asks for changes to several partitions.

One broker leads every partition here. Each change that it wants stays on a list until the controller has answered for
that partition, and one request carries the whole list. The controller answers with one error for the whole request,
which settles nothing, or with one result per partition, which says nothing about the others. Every error of KIP-497 can
occur here, with its effect on the leader as shipped: the KIP has no INELIGIBLE_REPLICA, and none of its answers settles
anything (``AlterIsr`` in model/alter_isr/core.py, where to begin). How the ISR bounds the high watermark is there, too;
only its premise is kept here: the leader counts a superset of the controller's ISR.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Between,
    Capacity,
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
from model.alter_isr.core import Broker, LeaderEpoch, PartitionEpoch


class Partition(Identifier, count="partitions", prefix="p"):
    """A partition. Each belongs to a topic of its own."""


BrokerEpoch = Annotated[int, Between(0, "max_broker_epoch")]


class TopLevelError(Enum):
    """Why a whole request is refused (KIP-497, "Possible top-level errors")."""

    CLUSTER_AUTHORIZATION_FAILED = "CLUSTER_AUTHORIZATION_FAILED"
    NOT_CONTROLLER = "NOT_CONTROLLER"
    STALE_BROKER_EPOCH = "STALE_BROKER_EPOCH"


class Result(Enum):
    """The outcome of one partition's change: accepted, one of KIP-497's "Partition-level errors", or
    INELIGIBLE_REPLICA.
    """

    ACCEPTED = "ACCEPTED"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    INVALID_UPDATE_VERSION = "INVALID_UPDATE_VERSION"
    INVALID_REQUEST = "INVALID_REQUEST"
    INELIGIBLE_REPLICA = "INELIGIBLE_REPLICA"


class PartitionState(Record):
    """A partition's state, as the controller has it or as the leader knows it."""

    leader_epoch: LeaderEpoch
    replicas: Set[Broker]
    isr: Set[Broker]
    partition_epoch: PartitionEpoch


class Change(Record):
    """The change that the leader asks for, for one partition."""

    leader_epoch: LeaderEpoch
    isr: Set[Broker]
    partition_epoch: PartitionEpoch


class AlterIsrRequest(Record):
    """One request of a broker: for each partition that it leads, a change or none."""

    broker_epoch: BrokerEpoch
    changes: Map[Partition, Change | None]


class AlterIsrResponse(Record):
    """A top-level error, or a result for each partition in the request."""

    error: TopLevelError | None
    results: Map[Partition, Result | None]


class AlterIsrBatch(Model):
    """A broker that leads ``partitions`` partitions, and the controller."""

    brokers = Constant(2)
    partitions = Constant(2)
    max_partition_epoch = Constant(1)
    max_leader_epoch = Constant(1)
    max_broker_epoch = Constant(1)

    controller: Map[Partition, PartitionState]
    deleted: Set[Partition]
    fenced: Set[Broker]
    registered_epoch: BrokerEpoch
    authorized: bool

    leader: Broker
    broker_epoch: BrokerEpoch
    known: Map[Partition, PartitionState]
    pending: Map[Partition, Set[Broker] | None]
    waiting: Map[Partition, Change | None]

    requests: Annotated[Set[AlterIsrRequest], Capacity(1)]
    responses: Annotated[Set[AlterIsrResponse], Capacity(1)]

    @initial
    def start(self) -> None:
        """The first broker leads every partition, and every ISR has all brokers."""
        everyone = Set(broker for broker in Broker)
        state = PartitionState(leader_epoch=0, replicas=everyone, isr=everyone, partition_epoch=0)
        self.controller = Map({partition: state for partition in Partition})
        self.deleted = Set()
        self.fenced = Set()
        self.registered_epoch = 0
        self.authorized = True
        self.leader = Broker(1)
        self.broker_epoch = 0
        self.known = self.controller
        self.pending = Map({partition: None for partition in Partition})
        self.waiting = Map({partition: None for partition in Partition})
        self.requests = Set()
        self.responses = Set()

    # The leader asks.

    def maximal_isr(self, partition: Partition) -> Set[Broker]:
        """The largest ISR that the controller may have for the partition, as far as the leader knows."""
        asked = self.pending[partition]
        return self.known[partition].isr if asked is None else self.known[partition].isr | asked

    @rule
    def are_replicas(self, partition: Partition, isr: Set[Broker]) -> bool:
        """Only the partition's replicas count, even if other brokers fetch (KAFKA-13837)."""
        return isr <= self.known[partition].replicas

    @action
    def leader_proposes(self, partition: Partition, isr: Set[Broker]) -> None:
        """Puts a change on the list, at most one per partition. A faulty leader may even leave itself out.

        ``AlterPartitionManager.submit``.
        """
        require(self.pending[partition] is None and self.waiting[partition] is None)
        require(len(isr) > 0 and isr != self.known[partition].isr and self.are_replicas(partition, isr))
        state = self.known[partition]
        self.pending[partition] = isr
        self.waiting[partition] = Change(
            leader_epoch=state.leader_epoch, isr=isr, partition_epoch=state.partition_epoch
        )

    @action
    def leader_sends(self) -> None:
        """Sends the whole list in one request; only one request is outstanding at a time.

        ``DefaultAlterPartitionManager.maybePropagateIsrChanges``.
        """
        require(len(self.requests) == 0 and len(self.responses) == 0)
        require(any(self.waiting[partition] is not None for partition in Partition))
        self.requests.add(AlterIsrRequest(broker_epoch=self.broker_epoch, changes=self.waiting))

    # The controller answers.

    @rule
    def is_unauthorized(self) -> bool:
        """The request needs CLUSTER_ACTION (KIP-497, "Public Interfaces")."""
        return not self.authorized

    @rule
    def is_from_earlier_session(self, request: AlterIsrRequest) -> bool:
        """The broker has registered again since it sent this (KIP-380)."""
        return request.broker_epoch != self.registered_epoch

    def top_level_error(self, request: AlterIsrRequest, active: bool) -> TopLevelError | None:
        if self.is_unauthorized():
            return TopLevelError.CLUSTER_AUTHORIZATION_FAILED
        if not active:
            return TopLevelError.NOT_CONTROLLER
        if self.is_from_earlier_session(request):
            return TopLevelError.STALE_BROKER_EPOCH
        return None

    @rule
    def is_malformed(self, partition: Partition, isr: Set[Broker]) -> bool:
        """The ISR names a broker that is not a replica, or leaves the leader out: INVALID_REQUEST
        (``ReplicationControlManager.validateAlterPartitionData``).
        """
        return self.leader not in isr or not isr <= self.controller[partition].replicas

    def judge(self, partition: Partition, change: Change) -> Result:
        """The checks are in Kafka's order; the result names the first one that fails."""
        state = self.controller[partition]
        if partition in self.deleted:
            return Result.UNKNOWN_TOPIC_OR_PARTITION
        if change.leader_epoch < state.leader_epoch:
            return Result.FENCED_LEADER_EPOCH
        if change.partition_epoch < state.partition_epoch:
            return Result.INVALID_UPDATE_VERSION
        if self.is_malformed(partition, change.isr):
            return Result.INVALID_REQUEST
        if change.isr & self.fenced:
            return Result.INELIGIBLE_REPLICA
        return Result.ACCEPTED

    def judge_asked(self, partition: Partition, change: Change | None) -> Result | None:
        return None if change is None else self.judge(partition, change)

    @rule
    def results(self, request: AlterIsrRequest) -> Map[Partition, Result | None]:
        """Each partition is judged on its own, and every partition in the request gets an answer (KAFKA-12367)."""
        return Map({partition: self.judge_asked(partition, request.changes[partition]) for partition in Partition})

    def may_change(self, partition: Partition) -> bool:
        return self.controller[partition].partition_epoch < self.max_partition_epoch

    @rule
    def change(self, partition: Partition, isr: Set[Broker]) -> None:
        """Every change takes a new partition epoch (``PartitionRegistration.merge``)."""
        self.controller[partition].isr = isr
        self.controller[partition].partition_epoch += 1

    @action
    def controller_answers(self, request: AlterIsrRequest, active: bool) -> None:
        """A request reaches the active controller, or one that is not, or no longer, active.

        ``ReplicationControlManager.alterPartition``.
        """
        require(request in self.requests)
        require(all(self.may_change(partition) or not self.would_accept(partition, request) for partition in Partition))
        error = self.top_level_error(request, active)
        results: Map[Partition, Result | None] = Map({partition: None for partition in Partition})
        if error is None:
            results = self.results(request)
            for partition in Partition:
                change = request.changes[partition]
                if change is not None and results[partition] == Result.ACCEPTED:
                    self.change(partition, change.isr)
        self.requests.discard(request)
        self.responses.add(AlterIsrResponse(error=error, results=results))

    def would_accept(self, partition: Partition, request: AlterIsrRequest) -> bool:
        return self.judge_asked(partition, request.changes[partition]) == Result.ACCEPTED

    # The leader receives answers.

    @rule
    def on_top_level_error(self) -> None:
        """Nothing is settled: the list stays and is sent again, with the broker epoch of that time
        (``DefaultAlterPartitionManager.handleAlterPartitionResponse``).
        """

    def settle(self, partition: Partition, change: Change, result: Result) -> None:
        """Handles the result of a change that is still pending. After an error that a LeaderAndIsr will explain it
        stays pending.
        """
        state = self.known[partition]
        if self.pending[partition] is None or change.partition_epoch != state.partition_epoch:
            return
        if result == Result.ACCEPTED:
            self.known[partition].isr = change.isr
            self.known[partition].partition_epoch = change.partition_epoch + 1
            self.pending[partition] = None
        elif result == Result.INELIGIBLE_REPLICA:
            self.pending[partition] = None

    @action
    def leader_receives_response(self, response: AlterIsrResponse) -> None:
        """Takes each answered partition off the list, whatever its result.

        ``DefaultAlterPartitionManager.handleAlterPartitionResponse``.
        """
        require(response in self.responses)
        self.responses.discard(response)
        if response.error is not None:
            self.on_top_level_error()
        else:
            for partition in Partition:
                change = self.waiting[partition]
                result = response.results[partition]
                if change is not None and result is not None:
                    self.waiting[partition] = None
                    self.settle(partition, change, result)

    @action
    def leader_receives_leader_and_isr(self, partition: Partition) -> None:
        """The controller's latest state arrives; what was pending at an older partition epoch is discarded.

        ``Partition.makeLeader``.
        """
        require(partition not in self.deleted)
        require(self.controller[partition].partition_epoch > self.known[partition].partition_epoch)
        self.known[partition] = self.controller[partition]
        self.pending[partition] = None

    # What else changes.

    @action
    def controller_elects_again(self, partition: Partition) -> None:
        """The same broker is elected in a new leader epoch (``ReplicationControlManager.electLeader``)."""
        require(partition not in self.deleted and self.may_change(partition))
        require(self.controller[partition].leader_epoch < self.max_leader_epoch)
        self.controller[partition].leader_epoch += 1
        self.controller[partition].partition_epoch += 1

    @action
    def controller_fences(self, broker: Broker) -> None:
        """A follower's heartbeats stop: it leaves every ISR that it is in.

        ``ReplicationControlManager.handleBrokerFenced``.
        """
        require(broker != self.leader and broker not in self.fenced)
        require(all(self.may_change(p) or broker not in self.controller[p].isr for p in Partition))
        self.fenced.add(broker)
        for partition in Partition:
            if broker in self.controller[partition].isr:
                self.change(partition, self.controller[partition].isr - {broker})

    @action
    def controller_unfences(self, broker: Broker) -> None:
        """``ReplicationControlManager.handleBrokerUnfenced``."""
        require(broker in self.fenced)
        self.fenced.discard(broker)

    @rule
    def isr_without(self, partition: Partition, broker: Broker) -> Set[Broker]:
        """A broker that is no longer a replica leaves the ISR in the same change
        (``PartitionChangeBuilder.completeReassignmentIfNeeded``).
        """
        return self.controller[partition].isr - {broker}

    @action
    def controller_removes_replica(self, partition: Partition, broker: Broker) -> None:
        """A reassignment removes a replica (``ReplicationControlManager.alterPartitionReassignments``)."""
        require(partition not in self.deleted and broker != self.leader and self.may_change(partition))
        require(broker in self.controller[partition].replicas)
        self.controller[partition].replicas -= {broker}
        self.change(partition, self.isr_without(partition, broker))

    @action
    def topic_is_deleted(self, partition: Partition) -> None:
        """``ReplicationControlManager.deleteTopics``."""
        require(partition not in self.deleted)
        self.deleted.add(partition)

    @action
    def broker_registers_again(self) -> None:
        """The broker's session ends and a new one begins; the controller learns of it first.

        ``ClusterControlManager.registerBroker``.
        """
        require(self.registered_epoch < self.max_broker_epoch)
        self.registered_epoch += 1

    @action
    def broker_learns_epoch(self) -> None:
        """The answer to its registration tells the broker (``BrokerLifecycleManager.sendBrokerRegistration``)."""
        require(self.broker_epoch != self.registered_epoch)
        self.broker_epoch = self.registered_epoch

    @action
    def authorization_changes(self) -> None:
        """CLUSTER_ACTION is granted or withdrawn (``ControllerApis.handleAlterPartitionRequest`` asks for it)."""
        self.authorized = not self.authorized
