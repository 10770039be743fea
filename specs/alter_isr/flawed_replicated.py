"""Known-bad designs that only a definition of "committed" without any leader's computation notices."""

from __future__ import annotations

from floodmark import Map
from model.alter_isr.failover import Broker, LeaderAndIsr, Log, Offset, PartitionEpoch
from model.alter_isr.replicated import ReplicatedRecords


class DropsUnexposed(ReplicatedRecords):
    """A leader that continues in a new leader epoch drops the records of the old one that it has not exposed. Nobody
    was told that they are committed, so nothing that asks leaders notices; they were on every member of the ISR.
    """

    def learn(self, broker: Broker, partition_epoch: PartitionEpoch) -> None:
        before = self.known(broker)
        after = self.state_at(partition_epoch)
        kept = max(self.replicas[broker].high_watermark, self.replicas[broker].leader_epoch_start_offset)
        if after.leader == broker and after.leader_epoch > before.leader_epoch and before.leader == broker:
            self.replicas[broker].log = self.replicas[broker].log[:kept]
        super().learn(broker, partition_epoch)

    def fetch_offsets_before(self, leader: Broker, before: LeaderAndIsr, after: LeaderAndIsr) -> Map[Broker, Offset]:
        return self.no_fetch_offsets()


class CommitsAsDocumented(ReplicatedRecords):
    """The definition of Kafka's documentation ("Replication"): a message is committed when all in-sync replicas have
    applied it to their log. One that joins later without it may lead.
    """

    def is_settled(self) -> bool:
        return True

    def replicated_with(self, joining: Broker) -> Log:
        return self.replicated


class CommitsInAnyEpoch(ReplicatedRecords):
    """The same with joins, but whatever leader epoch each member of the ISR is in."""

    def is_settled(self) -> bool:
        return True
