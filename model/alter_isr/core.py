"""KIP-497: the controller owns a partition's ISR; the leader asks it for changes and does not wait for the answer.

Start here. atomic.py is what this refines, atomic_logs.py the files with logs. Where each part of the KIP is modelled:

    KIP-497                                    model/alter_isr/   its properties and known-bad designs
    "Motivation", "Proposed Changes",          core.py            invariants/alter_isr/core.py (and core_lemmas.py, for
    comments: the high watermark while                            proofs), specs/alter_isr/flawed.py; spec: core.toml
    ISR changes are in flight                                     (as written), shipped.toml (as shipped)
    "Public Interfaces": requests for          batch.py           invariants/alter_isr/batch.py, flawed_batch.py;
    several partitions, every error                               spec: batch.toml
    "Compatibility": the upgrade               upgrade.py         flawed_upgrade.py; spec: upgrade.toml
    not in the KIP: elections, logs, restarts  failover.py        flawed_failover.py; spec: failover.toml, its variants
      its first leader as the one of core.py   one_leader.py      flawed_one_leader.py; spec: one_leader.toml
      fetches and answers that are late        network.py         flawed_network.py; spec: failover_late.toml
      what is committed, asking no leader      replicated.py      flawed_replicated.py; spec: replicated.toml
      what producers are told                  acknowledgement.py flawed_acknowledgement.py; spec: acknowledgement.toml
      replicas that change (KIP-455)           reassignment.py    flawed_reassignment.py; spec: reassignment.toml
    the liveness that the KIP promises         progress.py        flawed_progress.py; specs: progress*.toml
      who leaves the ISR, and who joins it     membership.py      flawed_membership.py; spec: membership.toml

This file has one partition: the replica that leads it, its followers and the controller. Records are only counted: a
log is its log end offset, and the leader never truncates. What remains is the KIP's central rule: how far the high
watermark may rise while ISR changes are in flight. What Kafka now calls the partition epoch is the version in the KIP's
text.

The KIP and Apache Kafka differ, so both are here, as two designs of one model:

``AlterIsr``         the KIP's text: an acknowledged change is written later and may be lost, several requests may quote
                     one partition epoch, and only a newer LeaderAndIsr settles what is pending, whatever is answered;
                     ``TakeoverSendsAgain`` adds a new controller that sends each leader what it has read;
``ShippedAlterIsr``  Kafka 2.7 and later: one request at a time, answered after the write and with the new state;
                     ``ZombieController`` adds a controller that has been replaced and still answers.

Steps that Kafka takes together (such as a fetch and the high watermark update it causes) are separate actions here,
which allows more orders than Kafka has. A message that is never delivered stands for one that is late or lost.

What is sent here is what is written: the controller alone writes, and remembers what it has written. upgrade.py has
leaders of an older version beside it, and UpdateMetadata ("Motivation", the first benefit).
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


class Broker(Identifier, count="brokers", prefix="b"):
    """A broker, and its replica of the partition."""


Offset = Annotated[int, Between(0, "max_offset")]
LeaderEpoch = Annotated[int, Between(0, "max_leader_epoch")]
PartitionEpoch = Annotated[int, Between(0, "max_partition_epoch")]


class Status(Enum):
    """How the controller sees a broker. Only an active one may enter the ISR."""

    ACTIVE = "active"
    FENCED = "fenced"
    SHUTTING_DOWN = "shutting down"


class Error(Enum):
    """Why the controller refuses a change: the errors that a well-behaved leader can get for one partition.

    INELIGIBLE_REPLICA is not in KIP-497, whose "Motivation" only says that the controller can refuse a broker that it
    sees as offline. The KIP's name for INVALID_UPDATE_VERSION is INVALID_ISR_VERSION. NOT_CONTROLLER
    stands in for the top-level error of that name, from a controller that does not know yet that it was replaced.
    """

    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    INVALID_UPDATE_VERSION = "INVALID_UPDATE_VERSION"
    INELIGIBLE_REPLICA = "INELIGIBLE_REPLICA"
    NOT_CONTROLLER = "NOT_CONTROLLER"


class LeaderAndIsr(Record):
    """The partition's state, as the controller stores it and as a LeaderAndIsr request carries it."""

    leader: Broker | None
    leader_epoch: LeaderEpoch
    isr: Set[Broker]
    partition_epoch: PartitionEpoch


class AlterIsrRequest(Record):
    """The ISR that the leader asks for. Valid only while the leader epoch and partition epoch it quotes are the current
    ones.
    """

    leader_epoch: LeaderEpoch
    isr: Set[Broker]
    partition_epoch: PartitionEpoch


class AlterIsrResponse(Record):
    """The answer to ``request``. Without an error, the new state is the requested ISR at the next partition epoch."""

    request: AlterIsrRequest
    error: Error | None


class PartitionIsr(Model):
    """What both designs share: the log, the high watermark, and how requests are judged.

    ``leader`` is the one replica that the model follows for as long as it leads, until another is elected. ``pending``
    holds the ISRs that it has asked for at its current partition epoch. ``in_flight`` bounds how many requests, and how
    many responses, are on their way at once; with ``duplicates`` a request may be delivered more than once.
    """

    brokers = Constant(3)
    max_offset = Constant(2)
    max_partition_epoch = Constant(3)
    max_leader_epoch = Constant(2)
    min_insync_replicas = Constant(1)
    in_flight = Constant(2)
    duplicates = Constant(False)

    controller: LeaderAndIsr
    status: Map[Broker, Status]

    leader: Broker
    leading: bool
    leader_epoch: LeaderEpoch
    isr: Set[Broker]
    partition_epoch: PartitionEpoch
    pending: Set[Set[Broker]]
    high_watermark: Offset
    log_end_offset: Map[Broker, Offset]

    requests: Annotated[Set[AlterIsrRequest], Capacity("in_flight")]
    responses: Annotated[Set[AlterIsrResponse], Capacity("in_flight")]
    updates: Annotated[Set[LeaderAndIsr], Capacity("max_partition_epoch + 1")]

    @initial
    def start(self) -> None:
        """The first broker leads, the second is in the ISR, the others are alive but out of it. The log is empty."""
        self.controller = LeaderAndIsr(
            leader=Broker(1), leader_epoch=0, isr=Set({Broker(1), Broker(2)}), partition_epoch=0
        )
        self.status = Map({broker: Status.ACTIVE for broker in Broker})
        self.leader = Broker(1)
        self.leading = True
        self.leader_epoch = 0
        self.isr = self.controller.isr
        self.partition_epoch = 0
        self.pending = Set()
        self.high_watermark = 0
        self.log_end_offset = Map({broker: 0 for broker in Broker})
        self.requests = Set()
        self.responses = Set()
        self.updates = Set()

    # The log.

    @action
    def leader_appends(self) -> None:
        """Accepts a record with acks=all while the committed ISR is large enough, whatever is pending.

        ``Partition.appendRecordsToLeader``.
        """
        require(self.leading and len(self.isr) >= self.min_insync_replicas)
        require(self.log_end_offset[self.leader] < self.max_offset)
        self.log_end_offset[self.leader] += 1

    @action
    def follower_fetches(self, follower: Broker) -> None:
        """A follower copies the next record. A fenced broker may still be fetching (KIP-497, "Motivation").

        ``Partition.fetchRecords``.
        """
        require(
            self.leading
            and follower != self.leader
            and self.log_end_offset[follower] < self.log_end_offset[self.leader]
        )
        self.log_end_offset[follower] += 1

    @rule
    def maximal_isr(self) -> Set[Broker]:
        """The largest ISR that the controller may have: the committed one plus everyone that a pending change would add
        (``PartitionState.maximalIsr``).
        """
        largest = self.isr
        for isr in self.pending:
            largest = largest | isr
        return largest

    @rule
    def may_advance(self) -> bool:
        """An ISR smaller than min.insync.replicas commits nothing (KAFKA-15583)."""
        return len(self.isr) >= self.min_insync_replicas

    @rule
    def replicated_offset(self) -> int:
        """The offset up to which every member of the maximal ISR has the log (``Partition.maybeIncrementLeaderHW``)."""
        return min(self.log_end_offset[broker] for broker in self.maximal_isr())

    @action
    def leader_advances_high_watermark(self) -> None:
        """Commits what the whole maximal ISR has (KIP-497, "Proposed Changes").

        ``Partition.maybeIncrementLeaderHW``.
        """
        require(self.leading and self.may_advance() and self.replicated_offset() > self.high_watermark)
        self.high_watermark = self.replicated_offset()

    @rule
    def acks_succeed(self) -> bool:
        """Whether producers with acks=all receive success once their records are below the high watermark
        (``Partition.checkEnoughReplicasReachOffset``).

        Unlike the append, this looks at the maximal ISR: a broker that is still joining already counts.
        """
        return len(self.maximal_isr()) >= self.min_insync_replicas

    # The leader asks for changes.

    @rule
    def caught_up(self, follower: Broker) -> bool:
        """A follower may join once it has every committed record (``Partition.isFollowerInSync``)."""
        return self.log_end_offset[follower] >= self.high_watermark

    @rule
    def may_propose(self, isr: Set[Broker]) -> bool:
        """Several changes may be pending at one partition epoch, but each only once (KIP-497, comments)."""
        return isr not in self.pending

    @rule
    def remember(self, isr: Set[Broker]) -> None:
        """The leader cannot know which of its requests will be accepted, so it remembers all of them (KIP-497,
        "Proposed Changes").
        """
        self.pending.add(isr)

    def propose(self, isr: Set[Broker]) -> None:
        self.remember(isr)
        self.requests.add(
            AlterIsrRequest(leader_epoch=self.leader_epoch, isr=isr, partition_epoch=self.partition_epoch)
        )

    @action
    def leader_proposes_shrink(self, laggards: Set[Broker]) -> None:
        """Asks to remove followers that fell behind. They still count until the controller agrees.

        ``Partition.maybeShrinkIsr``.
        """
        require(self.leading and len(laggards) > 0 and laggards <= self.isr - {self.leader})
        require(len(self.requests) < self.in_flight and self.may_propose(self.isr - laggards))
        self.propose(self.isr - laggards)

    @action
    def leader_proposes_expand(self, follower: Broker) -> None:
        """Asks to add a follower that caught up. It counts from now on (``Partition.maybeExpandIsr``)."""
        require(self.leading and follower not in self.isr and self.caught_up(follower))
        require(len(self.requests) < self.in_flight and self.may_propose(self.isr | {follower}))
        self.propose(self.isr | {follower})

    # The controller judges requests. The checks are in Kafka's order; the error names the first one that fails.

    @rule
    def is_fenced(self, request: AlterIsrRequest) -> bool:
        """There has been an election since the request was made: FENCED_LEADER_EPOCH
        (``ReplicationControlManager.validateAlterPartitionData``).
        """
        return request.leader_epoch < self.controller.leader_epoch

    @rule
    def is_stale(self, request: AlterIsrRequest) -> bool:
        """The state has changed since the request was made, which does not quote the current partition epoch:
        INVALID_UPDATE_VERSION (``ReplicationControlManager.validateAlterPartitionData``).
        """
        return request.partition_epoch < self.controller.partition_epoch

    @rule
    def is_ineligible(self, request: AlterIsrRequest) -> bool:
        """A member is fenced or shutting down (KIP-841)."""
        return any(self.status[broker] != Status.ACTIVE for broker in request.isr)

    def refusal(self, request: AlterIsrRequest) -> Error | None:
        """The error that the controller answers, or None when it accepts."""
        if self.is_fenced(request):
            return Error.FENCED_LEADER_EPOCH
        if self.is_stale(request):
            return Error.INVALID_UPDATE_VERSION
        if self.is_ineligible(request):
            return Error.INELIGIBLE_REPLICA
        return None

    def take(self, request: AlterIsrRequest, again: bool) -> None:
        """Delivers a request. If the network duplicates, the same request may come ``again``."""
        if not again:
            self.requests.discard(request)

    @action
    def controller_refuses(self, request: AlterIsrRequest, again: bool) -> None:
        """``ReplicationControlManager.validateAlterPartitionData``."""
        require(request in self.requests and len(self.responses) < self.in_flight)
        require(self.refusal(request) is not None and (self.duplicates or not again))
        self.responses.add(AlterIsrResponse(request=request, error=self.refusal(request)))
        self.take(request, again)

    # The controller changes the state: each change has the next partition epoch and is sent to the leader.

    @rule
    def next_partition_epoch(self) -> int:
        """Every change takes a new partition epoch, so that a request shows whether its sender knew the latest state
        (KAFKA-12367).
        """
        return self.controller.partition_epoch + 1

    def may_change(self) -> bool:
        return self.controller.partition_epoch < self.max_partition_epoch

    def change(self, state: LeaderAndIsr) -> None:
        self.controller = state.replace(partition_epoch=self.next_partition_epoch())
        self.updates.add(self.controller)

    def evict(self, broker: Broker) -> None:
        if broker in self.controller.isr:
            self.change(self.controller.replace(isr=self.controller.isr - {broker}))

    @action
    def controller_fences(self, broker: Broker) -> None:
        """A follower's heartbeats stop. If it is not in the ISR, the partition epoch does not change.

        ``ReplicationControlManager.handleBrokerFenced``.
        """
        require(self.status[broker] != Status.FENCED and broker != self.controller.leader)
        require(self.may_change() or broker not in self.controller.isr)
        self.status[broker] = Status.FENCED
        self.evict(broker)

    @action
    def controller_shuts_down(self, broker: Broker) -> None:
        """A follower asks for a controlled shutdown. It leaves the ISR, keeps fetching, and must not rejoin.

        ``ReplicationControlManager.handleBrokerInControlledShutdown``.
        """
        require(self.status[broker] == Status.ACTIVE and broker != self.controller.leader)
        require(self.may_change() or broker not in self.controller.isr)
        self.status[broker] = Status.SHUTTING_DOWN
        self.evict(broker)

    @action
    def controller_fences_last_replica(self) -> None:
        """The leader is alone in the ISR and its heartbeats stop: nobody leads, and the ISR keeps its last member.

        ``ReplicationControlManager.handleBrokerFenced``.
        """
        require(self.controller.leader == self.leader and len(self.controller.isr) == 1)
        require(self.may_change() and self.controller.leader_epoch < self.max_leader_epoch)
        self.status[self.leader] = Status.FENCED
        self.change(self.controller.replace(leader=None, leader_epoch=self.controller.leader_epoch + 1))

    @action
    def controller_unfences(self, broker: Broker) -> None:
        """A broker is back. It leads again if it is the member that the ISR kept.

        ``ReplicationControlManager.handleBrokerUnfenced``.
        """
        require(self.status[broker] == Status.FENCED)
        returns = self.controller.leader is None and broker in self.controller.isr
        require(not returns or (self.may_change() and self.controller.leader_epoch < self.max_leader_epoch))
        self.status[broker] = Status.ACTIVE
        if returns:
            self.change(self.controller.replace(leader=broker, leader_epoch=self.controller.leader_epoch + 1))

    @rule
    def may_lead(self, successor: Broker) -> bool:
        """Only members of the ISR are certain to have everything committed
        (``PartitionChangeBuilder.isValidNewLeader``).
        """
        return successor in self.controller.isr and self.status[successor] == Status.ACTIVE

    @action
    def controller_elects(self, successor: Broker) -> None:
        """The controller elects another broker, which ends the leadership that the model follows.

        ``ReplicationControlManager.electLeader``.
        """
        require(self.controller.leader == self.leader and successor != self.leader and self.may_lead(successor))
        require(self.may_change() and self.controller.leader_epoch < self.max_leader_epoch)
        self.change(self.controller.replace(leader=successor, leader_epoch=self.controller.leader_epoch + 1))

    # What reaches the leader.

    @rule
    def is_news(self, update: LeaderAndIsr) -> bool:
        """Only a higher partition epoch settles what is pending (KIP-497, comments)."""
        return update.partition_epoch > self.partition_epoch

    @rule
    def install(self, update: LeaderAndIsr) -> None:
        """Takes over the controller's state and discards what was pending at an older partition epoch
        (``Partition.makeLeader``).
        """
        self.leading = update.leader == self.leader
        self.leader_epoch = update.leader_epoch
        self.partition_epoch = update.partition_epoch
        self.isr = update.isr if self.leading else Set()
        self.pending = Set()

    @action
    def leader_receives_leader_and_isr(self, update: LeaderAndIsr) -> None:
        """LeaderAndIsr requests arrive in any order; one that is not newer is dropped (``Partition.makeLeader``)."""
        require(update in self.updates)
        self.updates.discard(update)
        if self.is_news(update):
            self.install(update)

    def is_pending(self, request: AlterIsrRequest) -> bool:
        """Whether the request's change is still pending. The answer to an older request no longer means anything."""
        return (
            self.leading
            and request.leader_epoch == self.leader_epoch
            and request.partition_epoch == self.partition_epoch
            and request.isr in self.pending
        )

    @rule
    def withdraws(self, error: Error) -> bool:
        """Whether an error ends a pending change. In KIP-497 none does: only a newer LeaderAndIsr settles a change."""
        return False

    @rule
    def on_acceptance(self, request: AlterIsrRequest) -> None:
        """What the leader does when a pending change was accepted (``Partition.handleAlterPartitionUpdate``)."""

    @action
    def leader_receives_response(self, response: AlterIsrResponse) -> None:
        """``Partition.handleAlterPartitionError``."""
        require(response in self.responses)
        self.responses.discard(response)
        if self.is_pending(response.request):
            if response.error is None:
                self.on_acceptance(response.request)
            elif self.withdraws(response.error):
                self.pending.discard(response.request.isr)


class AlterIsr(PartitionIsr):
    """KIP-497 as written: the controller answers at once and writes later; a LeaderAndIsr tells the leader the outcome.

    The leader does nothing on an acknowledgement, so the model has no message for it.
    """

    acknowledged: Annotated[Set[AlterIsrRequest], Capacity(1)] = Set()

    @action
    def controller_acknowledges(self, request: AlterIsrRequest, again: bool) -> None:
        """KIP-497, "Proposed Changes": "respond as soon as it receives the request and apply the ISR updates"."""
        require(request in self.requests and len(self.acknowledged) == 0)
        require(self.refusal(request) is None and (self.duplicates or not again))
        self.acknowledged.add(request)
        self.take(request, again)

    @action
    def controller_writes(self, request: AlterIsrRequest) -> None:
        """Applies a change, unless another came first: then the change is dropped and the leader is not told.

        KIP-497, "Proposed Changes": an update "fails after the AlterIsr was acknowledged".
        """
        require(request in self.acknowledged and self.may_change())
        self.acknowledged.discard(request)
        if self.refusal(request) is None:
            self.change(self.controller.replace(isr=request.isr))

    @action
    def controller_fails_over(self) -> None:
        """A new controller reads the written state. What its predecessor had only acknowledged is lost.

        KIP-497, "Proposed Changes": "a new controller will be elected".
        """
        require(len(self.acknowledged) > 0)
        self.acknowledged = Set()


class TakeoverSendsAgain(AlterIsr):
    """The KIP's text with a new controller that sends the leader the state that it has read (Kafka with ZooKeeper).

    The state is the written one, so its partition epoch is not new, unless an update from before was late.
    """

    @action
    def controller_fails_over(self) -> None:
        """The new controller takes over from one that may have acknowledged a change, or have had nothing to do.

        ``KafkaController.onControllerFailover``.
        """
        self.acknowledged = Set()
        self.updates.add(self.controller)


class ShippedAlterIsr(PartitionIsr):
    """KIP-497 as shipped: one request at a time; the answer comes after the write and carries the new state."""

    awaited: AlterIsrRequest | None = None

    @rule
    def may_propose(self, isr: Set[Broker]) -> bool:
        """One change at a time (``PartitionState.isInflight``). The last request must be answered first, even if its
        change is already settled (``DefaultAlterPartitionManager.submit``).
        """
        return len(self.pending) == 0 and self.awaited is None

    def propose(self, isr: Set[Broker]) -> None:
        super().propose(isr)
        self.awaited = AlterIsrRequest(leader_epoch=self.leader_epoch, isr=isr, partition_epoch=self.partition_epoch)

    @action
    def controller_accepts(self, request: AlterIsrRequest, again: bool) -> None:
        """``ReplicationControlManager.alterPartition``."""
        require(request in self.requests and len(self.responses) < self.in_flight)
        require(self.may_change() and self.refusal(request) is None and (self.duplicates or not again))
        self.change(self.controller.replace(isr=request.isr))
        self.responses.add(AlterIsrResponse(request=request, error=None))
        self.take(request, again)

    @rule
    def withdraws(self, error: Error) -> bool:
        """After FENCED_LEADER_EPOCH or INVALID_UPDATE_VERSION a LeaderAndIsr is on its way and will settle the change
        (``Partition.handleAlterPartitionError``).

        After INELIGIBLE_REPLICA nothing has changed and nothing will arrive, so the leader withdraws the change. This
        is safe only if no copy of the request is judged again later.
        """
        return error == Error.INELIGIBLE_REPLICA

    @rule
    def on_acceptance(self, request: AlterIsrRequest) -> None:
        """The answer carries the new state, so the leader need not wait for the LeaderAndIsr
        (``Partition.handleAlterPartitionUpdate``).
        """
        self.isr = request.isr
        self.partition_epoch = request.partition_epoch + 1
        self.pending = Set()

    @action
    def leader_receives_response(self, response: AlterIsrResponse) -> None:
        """``Partition.handleAlterPartitionUpdate``."""
        require(response in self.responses)
        super().leader_receives_response(response)
        if response.request == self.awaited:
            self.awaited = None


class ZombieController(ShippedAlterIsr):
    """The shipped design with a controller that has been replaced and still answers from the last state it saw
    (KAFKA-14154).

    Nothing that it writes is committed any more, so it can refuse requests but not accept them.
    """

    zombie: Annotated[Set[LeaderAndIsr], Capacity(1)] = Set()

    @action
    def controller_fails_over(self) -> None:
        """The old controller keeps the last state it saw. The new one reads what is written, which is the same
        state.

        ``QuorumController.claim``.
        """
        require(len(self.zombie) == 0)
        self.zombie.add(self.controller)

    @action
    def zombie_steps_down(self) -> None:
        """It learns that it was replaced (``QuorumController.renounce``)."""
        require(len(self.zombie) > 0)
        self.zombie = Set()

    @rule
    def answer_to_newer(self, request: AlterIsrRequest, seen: LeaderAndIsr) -> Error | None:
        """A request with a later state than its own tells the controller that it is no longer the controller
        (KAFKA-14154).
        """
        return Error.NOT_CONTROLLER

    @action
    def zombie_answers(self, request: AlterIsrRequest, seen: LeaderAndIsr, again: bool) -> None:
        """``ReplicationControlManager.validateAlterPartitionData``."""
        require(request in self.requests and seen in self.zombie and len(self.responses) < self.in_flight)
        require(request.partition_epoch != seen.partition_epoch and (self.duplicates or not again))
        if request.partition_epoch > seen.partition_epoch:
            error = self.answer_to_newer(request, seen)
        elif request.leader_epoch < seen.leader_epoch:
            error = Error.FENCED_LEADER_EPOCH
        else:
            error = Error.INVALID_UPDATE_VERSION
        self.responses.add(AlterIsrResponse(request=request, error=error))
        self.take(request, again)

    @rule
    def resend(self, request: AlterIsrRequest) -> None:
        """The same request is sent again, until the controller answers it
        (``NodeToControllerRequestThread.handleResponse``).
        """
        self.requests.add(request)

    @action
    def leader_receives_response(self, response: AlterIsrResponse) -> None:
        require(response in self.responses)
        if response.error == Error.NOT_CONTROLLER:
            self.responses.discard(response)
            self.resend(response.request)
        else:
            super().leader_receives_response(response)
