"""Known-bad designs of KIP-497's single-leader models, each one rule away from a good one.

The mistakes are those of docs/properties.md, which says what each one breaks and why some are left out.

The numbers in the docstrings are the steps of a shortest counterexample. An accepted change takes two steps in
``AlterIsr``, the acknowledgement and the write, and one in ``ShippedAlterIsr``.
"""

from __future__ import annotations

from floodmark import Set
from model.alter_isr.core import (
    AlterIsr,
    AlterIsrRequest,
    Broker,
    Error,
    LeaderAndIsr,
    ShippedAlterIsr,
    TakeoverSendsAgain,
    ZombieController,
)


class AssumesProposedIsr(AlterIsr):
    """The high watermark follows the ISR that was asked for while a shrink is pending.

    A-M1. KIP-497, "Proposed Changes": not safe until the smaller ISR is written. 3 steps.
    """

    def maximal_isr(self) -> Set[Broker]:
        largest = super().maximal_isr()
        for isr in self.pending:
            if isr < self.isr:
                largest = isr
        return largest


class IgnoresPendingExpand(AlterIsr):
    """A-M2: the high watermark follows the committed ISR while an expansion is pending.

    KIP-497, "Proposed Changes": the larger set counts at once. 6 steps.
    """

    def maximal_isr(self) -> Set[Broker]:
        return self.isr


class RemembersLatestProposal(AlterIsr):
    """A-M3: the latest request replaces the earlier ones of the same partition epoch.

    KIP-497, comments: one of several may be accepted, nobody knows which. 7 steps.
    """

    def remember(self, isr: Set[Broker]) -> None:
        self.pending = Set({isr})


class AcceptsAnyPartitionEpoch(AlterIsr):
    """A-M4: the controller applies a change whatever partition epoch it quotes (KIP-497, INVALID_ISR_VERSION)."""

    def is_stale(self, request: AlterIsrRequest) -> bool:
        return False


class AcceptsAnyPartitionEpochAtOnce(ShippedAlterIsr):
    """A-M4: the same, in the shipped design."""

    def is_stale(self, request: AlterIsrRequest) -> bool:
        return False


class AcceptsEarlierLeader(AlterIsr):
    """The controller does not compare leader epochs (KIP-497, FENCED_LEADER_EPOCH)."""

    def is_fenced(self, request: AlterIsrRequest) -> bool:
        return False


class JoinsBelowHighWatermark(AlterIsr):
    """A-M5: a follower may join before it has everything committed (guard of AsyncIsr's expansion)."""

    def caught_up(self, follower: Broker) -> bool:
        return True


class RollsBackOnInvalidUpdateVersion(ShippedAlterIsr):
    """A-M8: INVALID_UPDATE_VERSION ends the pending change: candidate finding F3.

    Harmful if the network duplicates requests: one copy is accepted, and what the leader hears is the refusal of the
    other.
    """

    def withdraws(self, error: Error) -> bool:
        return error in (Error.INELIGIBLE_REPLICA, Error.INVALID_UPDATE_VERSION)


class WithdrawsRefusedChange(AlterIsr):
    """A refusal ends the pending change: Kafka's answer to INELIGIBLE_REPLICA in the KIP's design, which has no such
    answer and settles a change by a newer LeaderAndIsr only.

    Harmful if a copy of the request is on its way: AlterIsr is sent again until it is answered.
    """

    def withdraws(self, error: Error) -> bool:
        return error == Error.INELIGIBLE_REPLICA


class AcceptsEqualPartitionEpoch(ShippedAlterIsr):
    """A-M9: a LeaderAndIsr of the partition epoch that the leader already has settles what is pending: finding F1.

    The answer to a shrink arrives, then the leader asks for an expansion, then the LeaderAndIsr of the shrink makes it
    forget that. Kafka's Partition.makeLeader compares in this way; reproduced in 4.0.0, 4.1.1, 4.2.0 and 4.3.0
    (docs/kafka.md), no ticket known. There the high watermark also waits for followers outside the ISR, but only for
    those that have caught up within replica.lag.time.max.ms. 8 steps.
    """

    def is_news(self, update: LeaderAndIsr) -> bool:
        return update.partition_epoch >= self.partition_epoch


class ForgetsOnEqualPartitionEpoch(TakeoverSendsAgain):
    """A-M9: the same in the KIP's design: a new controller sends again what the leader knows, and the leader forgets a
    change that quotes this very partition epoch and is still on its way.
    """

    def is_news(self, update: LeaderAndIsr) -> bool:
        return update.partition_epoch >= self.partition_epoch


class AcceptsOlderLeaderAndIsr(AlterIsr):
    """LeaderAndIsr requests are accepted in any order (KIP-497, comments: only a higher partition epoch counts)."""

    def is_news(self, update: LeaderAndIsr) -> bool:
        return True


class AcceptsFencedReplica(ShippedAlterIsr):
    """A-M10: the controller lets a fenced or departing broker into the ISR (KAFKA-13916, KIP-841; KAFKA-14140)."""

    def is_ineligible(self, request: AlterIsrRequest) -> bool:
        return False


class SendsSecondRequest(ShippedAlterIsr):
    """A-M21: a LeaderAndIsr lets the next request go out before the last one is answered (KAFKA-12686)."""

    def install(self, update: LeaderAndIsr) -> None:
        super().install(update)
        self.awaited = None


class ForgetsRetry(ZombieController):
    """A-M22: the request is submitted again before the old one is off the list, and so is never sent again
    (KAFKA-14010).

    What a single state shows of it: nothing is left that could settle the change.
    """

    def resend(self, request: AlterIsrRequest) -> None:
        pass


class ZombieFencesLeader(ZombieController):
    """A-M23: a replaced controller fences requests that know more than it does (KAFKA-14154).

    The leader does not retry and no LeaderAndIsr comes, so nothing settles the change.
    """

    def answer_to_newer(self, request: AlterIsrRequest, seen: LeaderAndIsr) -> Error | None:
        return Error.INVALID_UPDATE_VERSION


class ZombieConfirmsEqualIsr(ZombieController):
    """A-M24: a replaced controller answers success if the ISR is the one that it knows (KAFKA-14154).

    Harmful with a response that carries no state, as in KIP-497: Kafka's leader sees an old partition epoch and ignores
    it.
    """

    def answer_to_newer(self, request: AlterIsrRequest, seen: LeaderAndIsr) -> Error | None:
        return None if request.isr == seen.isr else super().answer_to_newer(request, seen)


class KeepsPartitionEpoch(AlterIsr):
    """A-M26: a change of the partition does not take a new partition epoch (KAFKA-12367)."""

    def next_partition_epoch(self) -> int:
        return self.controller.partition_epoch


class AdvancesBelowMinIsr(ShippedAlterIsr):
    """A-M27: the high watermark rises with fewer in-sync replicas than min.insync.replicas (KAFKA-15583)."""

    def may_advance(self) -> bool:
        return True


class AcknowledgesBelowMinIsr(AdvancesBelowMinIsr):
    """In addition, acks=all succeeds without checking the ISR, where Kafka answers NOT_ENOUGH_REPLICAS_AFTER_APPEND."""

    def acks_succeed(self) -> bool:
        return True


class CountsEveryReplica(AlterIsr):
    """The high watermark waits for every replica: a superset is safe, but a leader without pending changes need not
    wait for it (KIP-497, "Proposed Changes").
    """

    def maximal_isr(self) -> Set[Broker]:
        return Set(self.log_end_offset)


class ReinitializesState(AlterIsr):
    """Each LeaderAndIsr makes the leader start over (KIP-497, "Motivation"; KAFKA-8585)."""

    def install(self, update: LeaderAndIsr) -> None:
        super().install(update)
        self.high_watermark = 0


class ElectsAnyBroker(AlterIsr):
    """The controller elects a broker that is not in the ISR and leaves the ISR as it is (V35, ValidControllerState)."""

    def may_lead(self, successor: Broker) -> bool:
        return True


class EmptiesIsr(AlterIsr):
    """Fencing the last replica removes it from the ISR, so that nobody is known to have the log (KIP-966)."""

    def controller_fences_last_replica(self) -> None:
        super().controller_fences_last_replica()
        self.controller.isr = Set()
