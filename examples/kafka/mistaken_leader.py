"""What one might believe of Kafka's leader instead: each design decides one rule otherwise.

Some are known-bad designs of ``specs/alter_isr/``; the others leave out what the code adds, or Kafka's own mistakes. A
run beside Kafka takes them with everything else as ``ObservedLeader`` has it (``BELIEFS``).
"""

from __future__ import annotations

from leader import BrokerEpoch, ObservedLeader, PartitionLeader

from floodmark import Set, rule
from model.alter_isr.core import AlterIsrRequest, Broker, Error, LeaderAndIsr, Status
from specs.alter_isr import flawed


class AssumesProposedIsr(PartitionLeader):
    """The high watermark follows the smaller ISR while a shrink is pending."""

    def maximal_isr(self) -> Set[Broker]:
        largest = super().maximal_isr()
        for isr in self.pending:
            if isr < self.isr:
                largest = isr
        return largest


class IgnoresPendingExpand(PartitionLeader):
    """The high watermark follows the committed ISR while an expansion is pending."""

    def maximal_isr(self) -> Set[Broker]:
        return self.isr


class CountsEveryReplica(PartitionLeader):
    """The high watermark waits for every replica."""

    def waits_for(self, follower: Broker) -> bool:
        return True


class WaitsForIsrOnly(PartitionLeader):
    """The high watermark waits for the maximal ISR only (KIP-497)."""

    def waits_for(self, follower: Broker) -> bool:
        return False


class WaitsForWhoeverHasCaughtUp(PartitionLeader):
    """The high watermark waits for a follower that may not join, too (KAFKA-15021)."""

    def waits_for(self, follower: Broker) -> bool:
        return self.is_caught_up(follower)


class AdvancesBelowMinIsr(flawed.AdvancesBelowMinIsr, PartitionLeader):
    """The high watermark rises with fewer in sync than min.insync.replicas (KAFKA-15583)."""


class AcknowledgesBelowMinIsr(PartitionLeader):
    """A producer is told of success, however few have its record."""

    def acks_succeed(self) -> bool:
        return True


class CountsConfirmedIsr(PartitionLeader):
    """A producer is told of success if the committed ISR is large enough."""

    def acks_succeed(self) -> bool:
        return len(self.isr) >= self.min_insync_replicas


class StaysAfterAnswer(PartitionLeader):
    """The high watermark is looked at with fetches and records only (KAFKA-13091)."""

    def on_acceptance(self, request: AlterIsrRequest) -> None:
        mark = self.high_watermark
        super().on_acceptance(request)
        self.high_watermark = mark


class JoinsBelowHighWatermark(PartitionLeader):
    """A follower joins before it has everything committed."""

    def caught_up(self, follower: Broker) -> bool:
        return self.fetch_offsets[follower] >= self.first_offset()


class JoinsBelowEpochStart(PartitionLeader):
    """A follower joins before it has reached the start of the leader's epoch (KIP-320)."""

    def first_offset(self) -> int:
        return 0


class JoinsWhenLevel(PartitionLeader):
    """A follower joins once it was caught up, not once it has the high watermark."""

    def caught_up(self, follower: Broker) -> bool:
        return super().caught_up(follower) and self.is_caught_up(follower)


class AsksForFenced(PartitionLeader):
    """The leader does not ask its cache who is fenced or shutting down (KIP-841)."""

    def is_eligible(self, follower: Broker) -> bool:
        return self.fetched_broker_epoch[follower] == self.cached_epoch[follower]


class AsksForShuttingDown(PartitionLeader):
    """The leader asks for a broker that shuts down (KAFKA-13916)."""

    def is_eligible(self, follower: Broker) -> bool:
        alive = self.cached[follower] != Status.FENCED
        return alive and self.fetched_broker_epoch[follower] == self.cached_epoch[follower]


class IgnoresCachedEpoch(PartitionLeader):
    """The leader asks for a follower whatever its registration (KIP-903)."""

    def is_eligible(self, follower: Broker) -> bool:
        return self.cached[follower] == Status.ACTIVE and self.fetched_broker_epoch[follower] is not None


class TakesEarlierLives(PartitionLeader):
    """A fetch of an earlier life of a broker counts (KIP-903)."""

    def is_of_earlier_life(self, follower: Broker, epoch: BrokerEpoch) -> bool:
        return False


class QuotesCachedEpoch(PartitionLeader):
    """A request quotes the broker epochs of the cache (KAFKA-15221)."""

    def epoch_of(self, broker: Broker, isr: Set[Broker]) -> BrokerEpoch | None:
        found = super().epoch_of(broker, isr)
        return self.cached_epoch[broker] if found is not None and broker != self.leader else found


class RollsBackOnInvalidUpdateVersion(flawed.RollsBackOnInvalidUpdateVersion, PartitionLeader):
    """INVALID_UPDATE_VERSION ends the pending change."""


class KeepsRefusedChange(PartitionLeader):
    """INELIGIBLE_REPLICA does not end the pending change (KIP-497)."""

    def withdraws(self, error: Error) -> bool:
        return False


class WithdrawsWhenFenced(PartitionLeader):
    """FENCED_LEADER_EPOCH ends the pending change."""

    def withdraws(self, error: Error) -> bool:
        return error in (Error.INELIGIBLE_REPLICA, Error.FENCED_LEADER_EPOCH)


class SendsSecondRequest(flawed.SendsSecondRequest, PartitionLeader):
    """The metadata lets the next request go out before the last one is answered (KAFKA-12686)."""


class AsksAgainAndAgain(PartitionLeader):
    """A change may be asked for while another is pending (KIP-497)."""

    @rule
    def may_propose(self, isr: Set[Broker]) -> bool:
        return self.awaited is None


class TakesHigherEpochsOnly(PartitionLeader):
    """Only a state of a higher leader epoch counts (before KAFKA-15109 was mended)."""

    def is_news(self, update: LeaderAndIsr) -> bool:
        return update.leader_epoch > self.leader_epoch


class TakesOlderStates(PartitionLeader):
    """A state of a lower partition epoch counts."""

    def is_news(self, update: LeaderAndIsr) -> bool:
        return True


class ForgetsFollowers(PartitionLeader):
    """A leader that begins an epoch knows nothing of its followers."""

    def keeps_what_it_knew(self, update: LeaderAndIsr) -> bool:
        return False


class ForgetsFollowersOfSkipped(PartitionLeader):
    """A leader that skips a leader epoch knows nothing of its followers."""

    def keeps_what_it_knew(self, update: LeaderAndIsr) -> bool:
        return self.leading and update.leader_epoch == self.leader_epoch + 1


class NeedsLevelFetch(PartitionLeader):
    """A follower is caught up only if its fetch reaches the leader's end."""

    def note_time(self, follower: Broker, offset: int) -> None:
        if offset >= self.end():
            self.caught_up_lately.add(follower)
        self.seen_end[follower] = max(self.seen_end[follower], self.end())
        self.fetched_lately.add(follower)


class AnyFetchIsEnough(PartitionLeader):
    """A follower that has fetched is caught up."""

    def note_time(self, follower: Broker, offset: int) -> None:
        super().note_time(follower, offset)
        self.caught_up_lately.add(follower)


_SMALL = {"brokers": 2}
_STRICT = {"min_insync_replicas": 2}
_STEADY = {"brokers": 2, "max_leader_epoch": 0, "max_restarts": 0}
"""Nobody else is ever elected."""
_DESIGNS: dict[type[PartitionLeader], dict[str, bool | int]] = {
    AssumesProposedIsr: _SMALL, IgnoresPendingExpand: {}, CountsEveryReplica: {}, WaitsForIsrOnly: {},
    WaitsForWhoeverHasCaughtUp: {}, AdvancesBelowMinIsr: _STRICT, AcknowledgesBelowMinIsr: _SMALL | _STRICT,
    CountsConfirmedIsr: _SMALL | _STRICT, StaysAfterAnswer: _STEADY, JoinsBelowHighWatermark: {},
    JoinsBelowEpochStart: _SMALL | _STRICT, JoinsWhenLevel: {}, AsksForFenced: {}, AsksForShuttingDown: _SMALL,
    IgnoresCachedEpoch: {}, TakesEarlierLives: {}, QuotesCachedEpoch: {}, RollsBackOnInvalidUpdateVersion: {},
    KeepsRefusedChange: _SMALL, WithdrawsWhenFenced: {}, SendsSecondRequest: {}, AsksAgainAndAgain: {},
    TakesHigherEpochsOnly: _SMALL, TakesOlderStates: {}, ForgetsFollowers: {},
    ForgetsFollowersOfSkipped: {}, NeedsLevelFetch: {}, AnyFetchIsEnough: {},
}
"""With the constants of a partition in which the difference shows soon."""

BELIEFS = {type(each.__name__, (each, ObservedLeader), {}): constants for each, constants in _DESIGNS.items()}
