"""A small in-memory broker: log segments, a leader's partition, followers that fetch, and requests to a controller.

It is written like broker code, with offsets and callbacks, and knows nothing of any model. ``test_broker.py`` tests it
against KIP-497. ``Bug`` has mistakes that can be switched on to see that they are found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

SEGMENT_RECORDS = 2


class Bug(Enum):
    """Mistakes that real brokers have made, or were prevented from making."""

    COUNTS_PROPOSED_ISR = "the high watermark ignores replicas about to be evicted, before the controller has agreed"
    TAKES_EQUAL_PARTITION_EPOCH = "a LeaderAndIsr of a partition epoch that is already known settles what is pending"


class NotLeader(Exception):  # noqa: N818 - Kafka's name
    pass


class NotEnoughReplicas(Exception):  # noqa: N818
    pass


@dataclass
class LogSegment:
    base_offset: int
    records: list[str] = field(default_factory=list)

    @property
    def next_offset(self) -> int:
        return self.base_offset + len(self.records)


class UnifiedLog:
    """One replica's log, in segments."""

    def __init__(self) -> None:
        self.segments = [LogSegment(0)]

    @property
    def log_end_offset(self) -> int:
        return self.segments[-1].next_offset

    def append(self, records: list[str]) -> None:
        for record in records:
            if len(self.segments[-1].records) == SEGMENT_RECORDS:
                self.segments.append(LogSegment(self.log_end_offset))
            self.segments[-1].records.append(record)

    def read(self, offset: int, max_records: int) -> list[str]:
        found: list[str] = []
        for segment in self.segments:
            if segment.next_offset > offset:
                found += segment.records[max(0, offset - segment.base_offset) :]
        return found[:max_records]


@dataclass(frozen=True)
class AlterPartitionRequest:
    leader_epoch: int
    partition_epoch: int
    new_isr: frozenset[int]


@dataclass(frozen=True)
class LeaderAndIsr:
    """A decision of the controller; a broker may receive it late, twice, or not at all."""

    leader: int | None
    leader_epoch: int
    isr: frozenset[int]
    partition_epoch: int


class AlterPartitionManager:
    """Sends requests for changes of the ISR, one at a time: the next one only after a response."""

    def __init__(self) -> None:
        self.in_flight: AlterPartitionRequest | None = None

    def submit(self, request: AlterPartitionRequest) -> bool:
        if self.in_flight is not None:
            return False
        self.in_flight = request
        return True

    def answered(self, request: AlterPartitionRequest) -> None:
        if request == self.in_flight:
            self.in_flight = None


@dataclass
class RemoteReplica:
    """What the leader knows about a follower: its last fetch offset, and when it was last caught up."""

    log_end_offset: int = 0
    last_caught_up_ms: int = 0


class Partition:
    """A replica that leads until it learns that it no longer does."""

    def __init__(
        self, broker: int, state: LeaderAndIsr, followers: set[int], min_insync_replicas: int, max_lag_ms: int,
        bug: Bug | None = None,
    ) -> None:
        self.broker = broker
        self.min_insync_replicas = min_insync_replicas
        self.max_lag_ms = max_lag_ms
        self.bug = bug
        self.log = UnifiedLog()
        self.remote = {follower: RemoteReplica() for follower in followers}
        self.alter_partition = AlterPartitionManager()
        self.high_watermark = 0
        self.is_leader = state.leader == broker
        self.leader_epoch = state.leader_epoch
        self.partition_epoch = state.partition_epoch
        self.isr = state.isr
        self.pending_isr: frozenset[int] | None = None

    @property
    def maximal_isr(self) -> frozenset[int]:
        """The replicas that may be in the controller's ISR: the committed ISR and any replica about to join."""
        if self.pending_isr is None:
            return self.isr
        if self.bug is Bug.COUNTS_PROPOSED_ISR:
            return self.pending_isr
        return self.isr | self.pending_isr

    def append_as_leader(self, records: list[str], acks: int) -> int:
        if not self.is_leader:
            raise NotLeader
        if acks == -1 and len(self.isr) < self.min_insync_replicas:
            raise NotEnoughReplicas
        self.log.append(records)
        self.maybe_increment_high_watermark()
        return self.log.log_end_offset

    def fetch(self, follower: int, fetch_offset: int, max_records: int, now_ms: int) -> list[str]:
        """Serves a follower. Its fetch offset means that it has everything before that offset."""
        if not self.is_leader:
            raise NotLeader
        remote = self.remote[follower]
        remote.log_end_offset = fetch_offset
        if fetch_offset >= self.log.log_end_offset:
            remote.last_caught_up_ms = now_ms
        self.maybe_increment_high_watermark()
        return self.log.read(fetch_offset, max_records)

    def maybe_increment_high_watermark(self) -> None:
        if not self.is_leader or len(self.isr) < self.min_insync_replicas:
            return
        ends = [self.remote[member].log_end_offset for member in self.maximal_isr if member != self.broker]
        self.high_watermark = max(self.high_watermark, min([self.log.log_end_offset, *ends]))

    def maybe_expand_isr(self, follower: int) -> None:
        """A follower that has everything committed may join."""
        if follower not in self.maximal_isr and self.remote[follower].log_end_offset >= self.high_watermark:
            self._propose(self.isr | {follower})

    def maybe_shrink_isr(self, now_ms: int) -> None:
        """Called periodically: followers that have not caught up for too long have to leave."""
        lagging = {
            member for member in self.isr
            if member != self.broker and now_ms - self.remote[member].last_caught_up_ms > self.max_lag_ms
        }
        if lagging:
            self._propose(self.isr - lagging)

    def _propose(self, isr: frozenset[int]) -> None:
        request = AlterPartitionRequest(self.leader_epoch, self.partition_epoch, isr)
        if self.is_leader and self.pending_isr is None and self.alter_partition.submit(request):
            self.pending_isr = isr
            self.maybe_increment_high_watermark()

    def handle_alter_partition_response(self, request: AlterPartitionRequest, error: str | None) -> None:
        self.alter_partition.answered(request)
        current = request.leader_epoch == self.leader_epoch and request.partition_epoch == self.partition_epoch
        if not (self.is_leader and current and request.new_isr == self.pending_isr):
            return
        if error is None:
            self.isr = request.new_isr
            self.partition_epoch = request.partition_epoch + 1
            self.pending_isr = None
        elif error == "INELIGIBLE_REPLICA":
            self.pending_isr = None
        self.maybe_increment_high_watermark()

    def make_leader_or_follower(self, state: LeaderAndIsr) -> None:
        """Handles a LeaderAndIsr request; one that is not newer than the known state is dropped."""
        equal = state.partition_epoch == self.partition_epoch and self.bug is Bug.TAKES_EQUAL_PARTITION_EPOCH
        if state.partition_epoch <= self.partition_epoch and not equal:
            return
        self.is_leader = state.leader == self.broker
        self.leader_epoch = state.leader_epoch
        self.partition_epoch = state.partition_epoch
        self.isr = state.isr if self.is_leader else frozenset()
        self.pending_isr = None
        self.maybe_increment_high_watermark()


class Follower:
    """A replica that copies the leader's log."""

    def __init__(self, broker: int) -> None:
        self.broker = broker
        self.log = UnifiedLog()

    def fetch_from(self, leader: Partition, max_records: int, now_ms: int) -> None:
        self.log.append(leader.fetch(self.broker, self.log.log_end_offset, max_records, now_ms))
