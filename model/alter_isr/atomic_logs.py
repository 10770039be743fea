"""What KIP-497 with failover is for, in one page: an ISR that changes at once and has all committed records.

``AlterIsrFailover`` (failover.py) and what extends it reach this with leaders that do not know of each other, requests,
fetches and truncation. ``as_atomic_partition`` says which part of their state it is: every step of theirs leaves that
part as it is, or changes it as one or two of these actions do. Nobody leads here, and no epoch fences anybody: this is
how the protocol does it. atomic.py is the same for the one leader of core.py, where a log is its length.
"""

from __future__ import annotations

from floodmark import Constant, Map, Model, Seq, Set, action, initial, refines, require
from model.alter_isr.failover import AlterIsrFailover, Broker, LeaderEpoch, Log, Offset


class AtomicPartition(Model):
    """A partition whose ISR everybody knows at once, and the records that are committed for good."""

    brokers = Constant(3)
    max_offset = Constant(2)
    max_leader_epoch = Constant(2)

    isr: Set[Broker]
    committed: Log
    logs: Map[Broker, Log]

    @initial
    def start(self, isr: Set[Broker]) -> None:
        """The logs are empty, so any replica may be in sync."""
        require(len(isr) > 0)
        self.isr = isr
        self.committed = Seq()
        self.logs = Map({broker: Seq() for broker in Broker})

    @action
    def replica_appends(self, broker: Broker, leader_epoch: LeaderEpoch) -> None:
        """A replica has one record more, as a leader or as a follower. It may come to nothing.

        ``Partition.appendRecordsToLeader``, ``Partition.appendRecordsToFollowerOrFutureReplica``.
        """
        require(len(self.logs[broker]) < self.max_offset)
        self.logs[broker].append(leader_epoch)

    @action
    def replica_truncates(self, broker: Broker, end: Offset) -> None:
        """A replica drops what it finds to be no part of the log, or loses it. A member of the ISR keeps what is
        committed.

        ``AbstractFetcherThread.truncateOnFetchResponse``.
        """
        require(end < len(self.logs[broker]) and (broker not in self.isr or end >= len(self.committed)))
        self.logs[broker] = self.logs[broker][:end]

    @action
    def records_are_committed(self, member: Broker, end: Offset) -> None:
        """What every member of the ISR has comes behind all that is committed, none of which changes.

        ``Partition.maybeIncrementLeaderHW``.
        """
        records = self.logs[member][:end]
        require(member in self.isr and len(self.committed) < end and end <= len(self.logs[member]))
        require(all(self.logs[broker][:end] == records for broker in self.isr))
        require(records[: len(self.committed)] == self.committed)
        self.committed = records

    @action
    def isr_changes(self, isr: Set[Broker]) -> None:
        """Any broker may leave, and one with every committed record may join. Somebody stays.

        KIP-497, "Proposed Changes".
        """
        require(len(isr & self.isr) > 0)
        require(all(self.logs[broker][: len(self.committed)] == self.committed for broker in isr))
        self.isr = isr


@refines(steps=2)
def as_atomic_partition(model: AlterIsrFailover) -> AtomicPartition:
    """The controller's ISR, the records that some leader has exposed and the logs are those of an atomic partition."""
    return AtomicPartition(
        brokers=model.brokers,
        max_offset=model.max_offset,
        max_leader_epoch=model.max_leader_epoch,
        isr=model.current().isr,
        committed=model.committed,
        logs=Map({broker: model.replicas[broker].log for broker in Broker}),
    )
