"""Known-bad designs of KIP-497 with failover. Each breaks one rule, and the property that its spec names.

Designs that need no failover are in ``flawed.py``.
"""

from __future__ import annotations

from floodmark import Set, action, require
from model.alter_isr.failover import (
    AlterIsrFailover,
    AlterIsrRestarts,
    Broker,
    LeaderAndIsr,
    Offset,
    PartitionEpoch,
    ReconcilesOnce,
)
from model.replica_log import end_offset_for_epoch

# What the controller decides.


class AcceptsAnyPartitionEpoch(AlterIsrFailover):
    """A-M4: the controller does not compare partition epochs: a request is accepted although the ISR has changed since
    it was sent (KIP-497, comments).
    """

    def request_is_current(self, leader: Broker) -> bool:
        return self.current().leader == leader and self.known(leader).leader_epoch == self.current().leader_epoch


class AcceptsFencedReplica(AlterIsrFailover):
    """A-M10: the controller lets a fenced broker join the ISR (KIP-841, KAFKA-13916)."""

    def members_are_eligible(self, leader: Broker) -> bool:
        return True


class AcceptsBrokerThatIsDown(AlterIsrRestarts):
    """A-M10: what that costs: the broker that joined is down, comes back without its log, and is in the ISR."""

    def members_are_eligible(self, leader: Broker) -> bool:
        joining = self.replicas[leader].pending - self.current().isr
        return all(self.broker_epochs[broker] == self.requested_broker_epochs[leader] for broker in joining)

    def may_lose_records(self, broker: Broker) -> bool:
        return self.current().isr != Set([broker])


class ElectsUncleanly(AlterIsrFailover):
    """A broker outside the ISR may lead (unclean.leader.election.enable). Expected: that setting gives up committed
    records for availability.
    """

    def controller_elects(self, successor: Broker) -> None:
        require(self.may_elect() and successor not in self.current().isr | self.fenced)
        self.decide(successor, self.current().leader_epoch + 1, Set([successor]))


# Who may join the ISR.


class ForgetsEpochStart(AlterIsrFailover):
    """A-M6: a follower joins the ISR at the leader's high watermark, wherever the leader's epoch began (KIP-320: the
    model hachikuji/kafka-specification, Kip320, requires both).
    """

    def caught_up(self, leader: Broker, follower: Broker) -> bool:
        return self.replicas[leader].fetch_offsets[follower] >= self.replicas[leader].high_watermark


class JoinsByRememberedOffset(AlterIsrRestarts):
    """A-M7: a leader that is elected again lets a follower join by what it remembers of it, without a fetch; the
    follower was removed and added back empty between the two elections (Vanlightly, ResetFollowerStateOfAllButISR).
    """

    def hear_from(self, leader: Broker, follower: Broker) -> None:
        pass


class TrustsSkippedEpochs(AlterIsrFailover):
    """A leader that finds itself leading again keeps its followers' offsets, although it skipped an epoch in which
    another led; a follower that had acknowledged a record then truncates it under that other leader. With one more
    election, at four leader epochs and four partition epochs, no replica has the record (committed_records_survive, 14
    states).

    Reproduced in Kafka 4.0.0, 4.1.1, 4.2.0 and 4.3.0 (docs/kafka.md), with no ticket known: Partition.makeLeader checks
    only whether this broker led before, and one metadata delta can carry several leader epochs.
    """

    def led_just_before(self, leader: Broker, before: LeaderAndIsr, after: LeaderAndIsr) -> bool:
        return before.leader == leader


class IgnoresBrokerEpoch(AlterIsrRestarts):
    """A-M11: the controller does not compare broker epochs. The follower restarts empty while the request is in flight;
    it is not in the ISR, so the partition epoch does not change (KIP-903, KAFKA-14139).
    """

    def members_are_eligible(self, leader: Broker) -> bool:
        return not self.replicas[leader].pending & self.fenced


class RegistersWithoutFencing(AlterIsrRestarts):
    """A-M36: a broker whose session has expired registers again before the controller fenced it. It stays in the
    ISR without what it lost (KAFKA-18106).
    """

    def may_register(self, broker: Broker) -> bool:
        return True

    def may_lose_records(self, broker: Broker) -> bool:
        return self.current().isr != Set([broker])


class MixesFollowerStates(AlterIsrRestarts):
    """A-M12: the leader reads a follower's offset before a fetch and its broker epoch after it (KAFKA-15221)."""

    def hear_from(self, leader: Broker, follower: Broker) -> None:
        pass

    @action
    def fetch_is_half_recorded(self, follower: Broker, leader: Broker) -> None:
        require(self.is_served(follower, leader))
        self.fetched_broker_epochs[leader][follower] = self.broker_epochs[follower]


class LosesLastReplica(AlterIsrRestarts):
    """A-M32: the last member of the ISR loses records and leads again. Expected of Kafka before KIP-966: neither the
    ISR nor the broker epoch protects the records of the last replica standing.
    """

    def may_lose_records(self, broker: Broker) -> bool:
        return True


# The high watermark and the ISR.


class AdvancesBelowMinIsr(AlterIsrFailover):
    """A-M27: the high watermark advances although fewer than min.insync.replicas are in sync (KAFKA-15583)."""

    def may_advance(self, leader: Broker) -> bool:
        return True


class ZombieConfirmsEqualIsr(AlterIsrFailover):
    """A-M24: a deposed controller answers success if its own, older state has the requested ISR, whatever the epochs;
    and the leader takes that as the confirmed state (KAFKA-14154).
    """

    @action
    def zombie_confirms(self, leader: Broker, old: PartitionEpoch) -> None:
        require(old < self.replicas[leader].partition_epoch and self.request_in_flight(leader))
        state = self.states[old]
        require(state is not None and state.isr == self.replicas[leader].pending)
        self.replicas[leader].partition_epoch = old
        self.replicas[leader].pending = Set()
        self.advance_high_watermark(leader)


# Fencing by leader epoch.


class FetchesUnfenced(ReconcilesOnce):
    """A-M13: the fetch does not carry the follower's leader epoch: any broker that believes it leads answers (KIP-320,
    KAFKA-7395).
    """

    def fetch_epoch_is_valid(self, follower: Broker, leader: Broker) -> bool:
        return True


class ReconcilesWithStaleLeader(ReconcilesOnce):
    """A-M14: fetches are fenced, but a follower compares its log with that of any broker that believes it leads
    (hachikuji/kafka-specification, Kip320, on fencing the truncation).
    """

    def truncation_epoch_is_valid(self, follower: Broker, leader: Broker) -> bool:
        return True


class FencesByLastFetchedEpoch(AlterIsrFailover):
    """A-M17: the fetch carries the last fetched epoch instead of the current leader epoch (KIP-320, "Rejected
    Alternatives"; hachikuji/kafka-specification, Kip320FirstTry).
    """

    def fetch_epoch_is_valid(self, follower: Broker, leader: Broker) -> bool:
        return True

    def truncation_epoch_is_valid(self, follower: Broker, leader: Broker) -> bool:
        return True


# Truncation.


class TruncatesToHighWatermark(AlterIsrFailover):
    """A-M15: a new follower truncates to its own high watermark, which may be behind what was exposed; logs are never
    compared (before KIP-101).
    """

    def start_following(self, follower: Broker) -> None:
        self.truncate(follower, self.replicas[follower].high_watermark)

    def may_fetch(self, follower: Broker, leader: Broker) -> bool:
        return len(self.replicas[follower].log) <= len(self.replicas[leader].log)

    def must_truncate(self, follower: Broker, leader: Broker) -> bool:
        return False


class TruncatesOncePerEpoch(ReconcilesOnce):
    """A-M16: KIP-101: the leader answers with the first offset of any later epoch, without the epoch that it found. A
    follower with records of an epoch that the leader never saw keeps some of them (KIP-279, KAFKA-6361)."""

    def truncation_offset(self, follower: Broker, leader: Broker) -> Offset:
        log = self.replicas[follower].log
        leader_log = self.replicas[leader].log
        if len(log) == 0 or len(leader_log) == 0 or leader_log[len(leader_log) - 1] < log[len(log) - 1]:
            return self.replicas[follower].high_watermark
        return min(len(log), end_offset_for_epoch(leader_log, log[len(log) - 1]))

    def truncate(self, follower: Broker, offset: Offset) -> None:
        super().truncate(follower, offset)
        self.reconciling.discard(follower)


class ForgetsEmptyEpoch(ReconcilesOnce):
    """A-M18: a leader that has written nothing does not count its own epoch: asked for an epoch later than any in its
    log, it answers that it knows none, and the follower falls back to its high watermark (KAFKA-7415).
    """

    def truncation_offset(self, follower: Broker, leader: Broker) -> Offset:
        log = self.replicas[follower].log
        leader_log = self.replicas[leader].log
        if len(log) > 0 and (len(leader_log) == 0 or leader_log[len(leader_log) - 1] < log[len(log) - 1]):
            return self.replicas[follower].high_watermark
        return super().truncation_offset(follower, leader)


class ExposesBeforeTruncating(AlterIsrFailover):
    """A-M30: a follower takes over the leader's high watermark from the same answer that tells it to truncate
    (KAFKA-14704).
    """

    def follower_truncates(self, follower: Broker, leader: Broker) -> None:
        require(self.asks(follower, leader) and self.truncation_epoch_is_valid(follower, leader))
        require(self.must_truncate(follower, leader))
        exposed = self.follower_high_watermark(follower, leader)
        if self.replicas[follower].high_watermark < exposed:
            self.replicas[follower].high_watermark = exposed
        else:
            self.truncate(follower, self.truncation_offset(follower, leader))
