"""KIP-497 with failover, and the producer's side: which writes are acknowledged, and that these stay committed.

failover.py (begin with core.py) has what leaders expose. Here a producer's write with acks=all waits at the leader that
has appended it until it is acknowledged or fails. A failure promises nothing: the record may be committed all the same.
Records of other producers, with acks=0 or acks=1, are written meanwhile and promise nothing either.

The model extends network.py, so that fetches and answers may be late, and brokers restart and lose records.
"""

from __future__ import annotations

from floodmark import Record, Set, action, initial, require, rule
from model.alter_isr.failover import Broker, LeaderEpoch, Offset, PartitionEpoch
from model.alter_isr.network import LateFetches


class Write(Record):
    """A producer's request with acks=all for one record (Kafka's ``DelayedProduce``). ``epoch`` is the record's."""

    leader: Broker
    offset: Offset
    epoch: LeaderEpoch


class AcknowledgedWrites(LateFetches):
    """At most one write waits at a time. No two writes depend on each other."""

    waiting: Write | None = None
    acknowledged: Set[Write]
    """History: what producers have been told is written, and by whom."""

    @initial
    def start(self) -> None:
        super().start()
        self.acknowledged = Set()

    @action
    def leader_takes_write(self, leader: Broker) -> None:
        """``Partition.appendRecordsToLeader`` with acks=all: refused as NOT_ENOUGH_REPLICAS while the confirmed ISR is
        smaller than min.insync.replicas.
        """
        require(self.waiting is None and not self.under_min_isr(leader))
        offset = len(self.replicas[leader].log)
        self.leader_appends(leader)
        self.waiting = Write(leader=leader, offset=offset, epoch=self.known(leader).leader_epoch)

    @action
    def write_is_acknowledged(self) -> None:
        """``DelayedProduce.tryComplete``: the high watermark has passed the record, and enough are in sync."""
        waiting = self.waiting
        require(waiting is not None)
        if waiting is not None:
            require(self.is_complete(waiting) and self.acks_succeed(waiting.leader))
            self.acknowledged.add(waiting)
        self.waiting = None

    @action
    def write_fails(self) -> None:
        """REQUEST_TIMED_OUT, or NOT_ENOUGH_REPLICAS_AFTER_APPEND if the ISR has become too small.

        ``DelayedProduce.onExpiration``; ``Partition.checkEnoughReplicasReachOffset``.
        """
        require(self.waiting is not None)
        self.waiting = None

    @rule
    def is_complete(self, write: Write) -> bool:
        """``Partition.checkEnoughReplicasReachOffset`` compares with the high watermark of whoever leads by now."""
        return self.replicas[write.leader].high_watermark > write.offset

    @rule
    def acks_succeed(self, leader: Broker) -> bool:
        """The maximal ISR is large enough, else NOT_ENOUGH_REPLICAS_AFTER_APPEND
        (``Partition.checkEnoughReplicasReachOffset``).
        """
        return len(self.maximal_isr(leader)) >= self.min_insync_replicas

    @rule
    def fails_with_leadership(self) -> bool:
        """A write that waits at a leader fails when the broker becomes a follower
        (``ReplicaManager.completeDelayedOperationsWhenNotPartitionLeader``; NOT_LEADER_OR_FOLLOWER).
        """
        return True

    def learn(self, broker: Broker, partition_epoch: PartitionEpoch) -> None:
        super().learn(broker, partition_epoch)
        waiting = self.waiting
        if waiting is not None and waiting.leader == broker and not self.leads(broker) and self.fails_with_leadership():
            self.waiting = None
