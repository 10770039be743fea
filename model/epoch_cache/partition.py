"""The leader epoch cache and the start of the log: what a leader knows of its epochs, and what it has deleted.

Start here. Each part, its model, its known-bad designs and its specs (specs/epoch_cache/); the properties are in the
files of the same names in invariants/epoch_cache/:

    KIP-101, KIP-279, KIP-320; directories    partition.py   flawed.py         partition, latest_epoch,
      and deletion                                                             deleted_epoch, deleted_epoch_remedy
    KIP-405: a log whose start is remote      tiers.py       flawed_tiers.py   tiers

The other models read epochs off the log itself (model/replica_log.py). Kafka reads them from ``LeaderEpochFileCache``,
which has the start offset of each epoch, also of the one that has no record yet, and which is cut when the log is. It
differs from the log where a leader has written nothing, where records have been deleted, and where a replica has moved
to another log directory: the log there is copied record by record, and so is its cache. A leader whose cache has lost
an epoch does not know where that epoch ended, and answers OFFSET_OUT_OF_RANGE.

The controller, its ISR and what replicas know of it are one object here: model/alter_isr/failover.py has them apart. A
fetch and its answer are one step. The log in the other directory has caught up when it takes the place of the first.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    fair,
    initial,
    require,
    rule,
)


class Broker(Identifier, count="brokers", prefix="b"):
    """A broker; each has a replica of the partition."""


Epoch = Annotated[int, Between(0, "max_leader_epoch")]
"""A leader epoch. They begin with 1."""
Offset = Annotated[int, Between(0, "max_offset")]
Log = Annotated[Seq[Epoch], Capacity("max_offset")]
"""The epoch of each record; 0 at the offset of one that is not stored here."""
EpochCache = Map[Epoch, Offset | None]
"""The start offset of each epoch that the cache has (``LeaderEpochFileCache``)."""


class EpochEndOffset(Record):
    """The answer to OffsetsForLeaderEpoch, and the diverging epoch in the answer to a fetch."""

    leader_epoch: Epoch
    end_offset: Offset


class Replica(Record):
    """One broker's replica."""

    log: Log
    log_start_offset: Offset
    epoch_cache: EpochCache
    high_watermark: Offset


class EpochCaches(Model):
    """Elections, fetches, deletion, restarts, and directories that are changed, as often as the constants say."""

    brokers = Constant(2)
    max_offset = Constant(2)
    max_leader_epoch = Constant(3)
    max_shrinks = Constant(1)
    max_moves = Constant(1)
    """How many times a replica changes its log directory."""
    max_restarts = Constant(1)

    leader: Broker
    leader_epoch: Epoch
    isr: Set[Broker]
    replicas: Map[Broker, Replica]
    leader_epoch_start_offset: Offset
    fetch_offsets: Map[Broker, Offset]
    """What the leader knows of its followers; 0 before they fetch."""

    shrinks: Annotated[int, Between(0, "max_shrinks")]
    moves: Annotated[int, Between(0, "max_moves")]
    restarts: Annotated[int, Between(0, "max_restarts")]

    committed: Log
    """History: the records below the highest high watermark of any leader so far."""

    @initial
    def start(self) -> None:
        """The first broker leads, every broker is in sync, and the log is empty."""
        empty = Replica(log=Seq(), log_start_offset=0, epoch_cache=self.no_epochs(), high_watermark=0)
        self.leader = Broker(1)
        self.leader_epoch = 1
        self.isr = Set(Broker)
        self.replicas = Map({broker: empty for broker in Broker})
        self.leader_epoch_start_offset = 0
        self.fetch_offsets = Map({broker: 0 for broker in Broker})
        self.shrinks = 0
        self.moves = 0
        self.restarts = 0
        self.committed = Seq()
        self.assign(Broker(1), 1, 0)

    # The leader epoch cache.

    def no_epochs(self) -> EpochCache:
        return Map({epoch: None for epoch in range(self.max_leader_epoch + 1)})

    def start_offset(self, broker: Broker, epoch: Epoch) -> Offset:
        """The start offset of an epoch that the cache has."""
        found = self.replicas[broker].epoch_cache[epoch]
        assert found is not None
        return found

    def cached(self, broker: Broker) -> Set[Epoch]:
        """The epochs that the cache has."""
        cache = self.replicas[broker].epoch_cache
        return Set(epoch for epoch in range(self.max_leader_epoch + 1) if cache[epoch] is not None)

    def latest_epoch(self, broker: Broker) -> Epoch:
        """``LeaderEpochFileCache.latestEpoch``; 0 if there is none."""
        return max(self.cached(broker), default=0)

    def assign(self, broker: Broker, epoch: Epoch, offset: Offset) -> None:
        """``LeaderEpochFileCache.assign``: entries that are not below the new one in both go."""
        if self.latest_epoch(broker) != epoch:
            for other in self.cached(broker):
                if other >= epoch or self.start_offset(broker, other) >= offset:
                    self.replicas[broker].epoch_cache[other] = None
            self.replicas[broker].epoch_cache[epoch] = offset

    def end_offset_for(self, broker: Broker, epoch: Epoch) -> EpochEndOffset | None:
        """``LeaderEpochFileCache.endOffsetFor``: the largest epoch up to this one, and where it ends. None if the cache
        has neither this epoch nor a later one.
        """
        cached = self.cached(broker)
        if epoch == self.latest_epoch(broker):
            return EpochEndOffset(leader_epoch=epoch, end_offset=len(self.replicas[broker].log))
        later = Set(other for other in cached if other > epoch)
        if len(later) == 0:
            return None
        floor = max((other for other in cached if other <= epoch), default=epoch)
        return EpochEndOffset(leader_epoch=floor, end_offset=self.start_offset(broker, min(later)))

    # The log.

    def append(self, broker: Broker, epoch: Epoch) -> None:
        """``UnifiedLog.append``, and the epoch of the batch goes into the cache (``assignEpochStartOffset``)."""
        self.assign(broker, epoch, len(self.replicas[broker].log))
        self.replicas[broker].log.append(epoch)

    def truncate(self, broker: Broker, offset: Offset) -> None:
        """``UnifiedLog.truncateTo``, with the cache (``truncateFromEndAsyncFlush``)."""
        replica = self.replicas[broker]
        self.replicas[broker].log = replica.log[:offset]
        self.replicas[broker].log_start_offset = min(replica.log_start_offset, offset)
        self.truncate_cache_from_end(broker, offset)
        self.replicas[broker].high_watermark = min(replica.high_watermark, offset)

    @rule
    def truncate_cache_from_end(self, broker: Broker, offset: Offset) -> None:
        """``LeaderEpochFileCache.truncateFromEndAsyncFlush``."""
        for epoch in self.cached(broker):
            if self.start_offset(broker, epoch) >= offset:
                self.replicas[broker].epoch_cache[epoch] = None

    def delete_up_to(self, broker: Broker, offset: Offset) -> None:
        """``UnifiedLog.maybeIncrementLogStartOffset``, with the cache (``truncateFromStartAsyncFlush``)."""
        if offset > self.replicas[broker].log_start_offset:
            self.replicas[broker].log_start_offset = offset
            self.replicas[broker].log = self.without(broker, offset)
            self.truncate_cache_from_start(broker, offset)

    def without(self, broker: Broker, offset: Offset) -> Log:
        """The log without what is below an offset."""
        log = self.replicas[broker].log
        return Seq(log[at] if at >= offset else 0 for at in range(len(log)))

    @rule
    def truncate_cache_from_start(self, broker: Broker, offset: Offset) -> None:
        """The epoch that goes on at the offset stays, and begins there
        (``LeaderEpochFileCache.truncateFromStartAsyncFlush``).
        """
        below = Set(epoch for epoch in self.cached(broker) if self.start_offset(broker, epoch) <= offset)
        for epoch in below:
            self.replicas[broker].epoch_cache[epoch] = offset if epoch == max(below) else None

    def truncate_fully_and_start_at(self, broker: Broker, offset: Offset, log_start_offset: Offset) -> None:
        """``UnifiedLog.truncateFullyAndStartAt``."""
        self.replicas[broker] = Replica(
            log=Seq(0 for _ in range(offset)),
            log_start_offset=log_start_offset,
            epoch_cache=self.no_epochs(),
            high_watermark=offset,
        )

    def read_cache_from_records(self, broker: Broker) -> None:
        """The cache as a log has it into which every record was copied (``ReplicaAlterLogDirsThread``)."""
        self.replicas[broker].epoch_cache = self.no_epochs()
        for offset in range(len(self.replicas[broker].log)):
            if self.replicas[broker].log[offset] > 0:
                self.assign(broker, self.replicas[broker].log[offset], offset)

    def holds(self, broker: Broker, offset: Offset) -> bool:
        """The replica has the committed record at this offset, or has deleted it."""
        replica = self.replicas[broker]
        stored = offset < len(replica.log) and replica.log[offset] == self.committed[offset]
        return offset < replica.log_start_offset or stored

    # The leader.

    @action
    def leader_appends(self) -> None:
        """``Partition.appendRecordsToLeader``."""
        require(len(self.replicas[self.leader].log) < self.max_offset)
        self.append(self.leader, self.leader_epoch)
        self.advance_high_watermark()

    def known_end(self, broker: Broker) -> Offset:
        """A replica's log end offset, as far as the leader knows."""
        return len(self.replicas[self.leader].log) if broker == self.leader else self.fetch_offsets[broker]

    @rule
    def may_advance(self) -> bool:
        """Whether the leader can say where its high watermark is (``Partition.maybeIncrementLeaderHW``)."""
        return True

    def advance_high_watermark(self) -> None:
        """``Partition.maybeIncrementLeaderHW``."""
        reached = min(self.known_end(broker) for broker in self.isr)
        if self.may_advance() and reached > self.replicas[self.leader].high_watermark:
            self.replicas[self.leader].high_watermark = reached
            if reached > len(self.committed):
                self.committed = self.committed + self.replicas[self.leader].log[len(self.committed) : reached]

    @action
    def leader_shrinks_isr(self, follower: Broker) -> None:
        """``Partition.maybeShrinkIsr``, and the controller agrees."""
        require(self.shrinks < self.max_shrinks and follower in self.isr and follower != self.leader)
        self.shrinks += 1
        self.isr = self.isr - {follower}
        self.advance_high_watermark()

    @action
    def records_are_deleted(self, broker: Broker, offset: Offset) -> None:
        """DeleteRecords (``Partition.deleteRecordsOnLeader``), or retention, which each replica has for itself
        (``UnifiedLog.deleteOldSegments``).
        """
        require(offset > self.replicas[broker].log_start_offset and self.may_delete(broker, offset))
        self.delete_up_to(broker, offset)

    @rule
    def may_delete(self, broker: Broker, offset: Offset) -> bool:
        """No further than the high watermark (``UnifiedLog.maybeIncrementLogStartOffset``)."""
        return offset <= self.replicas[broker].high_watermark

    # Elections.

    @action
    def controller_elects(self, successor: Broker, stays: bool) -> None:
        """``ReplicationControlManager.electLeader``: another member of the ISR leads. The former leader leaves the ISR
        or stays.
        """
        require(self.leader_epoch < self.max_leader_epoch and successor in self.isr and successor != self.leader)
        self.isr = self.isr if stays else self.isr - {self.leader}
        self.leader = successor
        self.leader_epoch += 1
        self.fetch_offsets = Map({broker: 0 for broker in Broker})
        self.leader_epoch_start_offset = len(self.replicas[successor].log)
        self.begin_epoch()
        self.advance_high_watermark()

    @rule
    def begin_epoch(self) -> None:
        """``Partition.makeLeader``: the epoch is in the cache before it has a record (KAFKA-7415)."""
        self.assign(self.leader, self.leader_epoch, self.leader_epoch_start_offset)

    # Followers (``AbstractFetcherThread``).

    @fair(each="follower")
    @action
    def follower_fetches(self, follower: Broker) -> None:
        """``Partition.fetchRecords``: the leader looks for the last fetched epoch before anything else."""
        require(follower != self.leader)
        epoch = self.latest_epoch(follower)
        end = self.end_offset_for(self.leader, epoch)
        offset = len(self.replicas[follower].log)
        if (epoch > 0 and end is None) or self.is_out_of_range(offset):
            self.handle_out_of_range(follower)
        elif epoch > 0 and end is not None and (end.leader_epoch < epoch or end.end_offset < offset):
            self.truncate_on_fetch_response(follower, end)
        elif offset > len(self.replicas[self.leader].log):
            self.handle_out_of_range(follower)
        else:
            self.read(follower)

    def read(self, follower: Broker) -> None:
        """``UnifiedLog.read``."""
        self.replicate(follower)

    @rule
    def is_out_of_range(self, offset: Offset) -> bool:
        """The leader has deleted what the follower asks for: OFFSET_OUT_OF_RANGE (``UnifiedLog.read``)."""
        return offset < self.replicas[self.leader].log_start_offset

    def truncate_on_fetch_response(self, follower: Broker, end: EpochEndOffset) -> None:
        """``AbstractFetcherThread.truncateOnFetchResponse``, ``getOffsetTruncationState`` (KIP-279)."""
        own = self.end_offset_for(follower, end.leader_epoch)
        log_end = len(self.replicas[follower].log)
        if own is None:
            self.truncate(follower, min(end.end_offset, log_end))
        elif own.leader_epoch < end.leader_epoch:
            self.truncate(follower, min(own.end_offset, log_end))
        else:
            self.truncate(follower, min(own.end_offset, end.end_offset, log_end))

    def handle_out_of_range(self, follower: Broker) -> None:
        """``AbstractFetcherThread.fetchOffsetAndTruncate``."""
        leader_end = len(self.replicas[self.leader].log)
        leader_start = self.replicas[self.leader].log_start_offset
        own_end = len(self.replicas[follower].log)
        if leader_end < own_end:
            self.truncate(follower, leader_end)
        elif leader_start > own_end:
            self.start_anew(follower, leader_start)

    @rule
    def start_anew(self, follower: Broker, offset: Offset) -> None:
        """Everything that the follower has is below the start of the leader's log
        (``AbstractFetcherThread.fetchOffsetAndTruncate``).
        """
        self.truncate_fully_and_start_at(follower, offset, offset)

    def replicate(self, follower: Broker) -> None:
        """The leader records the fetch and perhaps adds the follower to the ISR (``updateFollowerFetchState``); the
        follower appends (``ReplicaFetcherThread.processPartitionData``).
        """
        log = self.replicas[self.leader].log
        offset = len(self.replicas[follower].log)
        told = self.replicas[self.leader].high_watermark
        self.fetch_offsets[follower] = offset
        if offset >= max(self.replicas[self.leader].high_watermark, self.leader_epoch_start_offset):
            self.isr = self.isr | {follower}
        self.advance_high_watermark()
        if offset < len(log):
            self.append(follower, log[offset])
        self.replicas[follower].high_watermark = self.follower_high_watermark(follower, told)
        if self.replicas[self.leader].log_start_offset <= self.replicas[follower].high_watermark:
            self.delete_up_to(follower, self.replicas[self.leader].log_start_offset)

    @rule
    def follower_high_watermark(self, follower: Broker, told: Offset) -> Offset:
        """``UnifiedLog.maybeUpdateHighWatermark``: the leader's before the fetch counted, between the follower's log
        start and its log end.
        """
        replica = self.replicas[follower]
        return max(replica.log_start_offset, min(told, len(replica.log)))

    # What happens to a replica.

    @action
    def directory_is_replaced(self, broker: Broker) -> None:
        """``LogManager.replaceCurrentWithFutureLog``: the replica in the other directory, which has the same records,
        takes the place of this one.
        """
        require(self.moves < self.max_moves)
        self.moves += 1
        current = self.replicas[broker].epoch_cache
        latest = self.latest_epoch(broker)
        self.read_cache_from_records(broker)
        self.carry_over(broker, current, latest)

    @rule
    def carry_over(self, broker: Broker, current: EpochCache, latest: Epoch) -> None:
        """The epochs of the replica's current cache are those of the one that takes its place, as the pull request for
        KAFKA-20961 has it.
        """
        self.replicas[broker].epoch_cache = current

    @action
    def replica_restarts(self, broker: Broker) -> None:
        """``UnifiedLog.create`` loads the log. The high watermark's checkpoint may be old, but not below the log's
        start.
        """
        require(self.restarts < self.max_restarts and broker != self.leader)
        self.restarts += 1
        self.load_cache(broker)
        self.replicas[broker].high_watermark = self.replicas[broker].log_start_offset

    @rule
    def load_cache(self, broker: Broker) -> None:
        """``LogLoader.load`` cuts the cache where the log ends: an epoch that has no record is forgotten."""
        self.truncate_cache_from_end(broker, len(self.replicas[broker].log))
