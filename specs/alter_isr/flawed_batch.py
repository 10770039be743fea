"""Known-bad designs of requests for several partitions, each one rule away from KIP-497's."""

from __future__ import annotations

from model.alter_isr import Broker
from model.alter_isr_batch import AlterIsrBatch, AlterIsrRequest, Partition, Result
from model.language import Map, Set


class OmitsRefusedPartitions(AlterIsrBatch):
    """The response leaves out partitions that were asked for (KAFKA-12367)."""

    def results(self, request: AlterIsrRequest) -> Map[Partition, Result | None]:
        judged = super().results(request)
        return Map({p: judged[p] if judged[p] == Result.ACCEPTED else None for p in Partition})


class FailsWholeBatch(AlterIsrBatch):
    """One partition's error refuses the changes of all (KIP-497: an error for each partition)."""

    def results(self, request: AlterIsrRequest) -> Map[Partition, Result | None]:
        judged = super().results(request)
        if all(judged[p] is None or judged[p] == Result.ACCEPTED for p in Partition):
            return judged
        return Map({p: None if judged[p] is None else Result.INVALID_REQUEST for p in Partition})


class AppliesEarlierSession(AlterIsrBatch):
    """A batch is applied although the broker has registered again since (KIP-497, STALE_BROKER_EPOCH)."""

    def is_from_earlier_session(self, request: AlterIsrRequest) -> bool:
        return False


class AppliesUnauthorized(AlterIsrBatch):
    """A batch is applied without CLUSTER_ACTION (KIP-497, CLUSTER_AUTHORIZATION_FAILED)."""

    def is_unauthorized(self) -> bool:
        return False


class RollsBackOnTopLevelError(AlterIsrBatch):
    """A top-level error ends what is pending, though the list goes out again (KIP-497, "Public Interfaces")."""

    def on_top_level_error(self) -> None:
        self.pending = Map({partition: None for partition in Partition})


class AcceptsAnyIsr(AlterIsrBatch):
    """The controller does not look at who is in the ISR (KIP-497, INVALID_REQUEST)."""

    def is_malformed(self, partition: Partition, isr: Set[Broker]) -> bool:
        return False


class KeepsRemovedReplica(AlterIsrBatch):
    """The ISR keeps a broker that is no replica any more (KAFKA-9672)."""

    def isr_without(self, partition: Partition, broker: Broker) -> Set[Broker]:
        return self.controller[partition].isr


class CountsAnyFetcher(AlterIsrBatch):
    """Whoever fetches may join, a replica or not (KAFKA-13837). The controller answers INVALID_REQUEST."""

    def are_replicas(self, partition: Partition, isr: Set[Broker]) -> bool:
        return True
