"""Known-bad designs of requests for several partitions, each one rule away from KIP-497's."""

from __future__ import annotations

from floodmark import Map, Set
from model.alter_isr.batch import AlterIsrBatch, AlterIsrRequest, AlterIsrResponse, Change, Partition, Result
from model.alter_isr.core import Broker


class OmitsRefusedPartitions(AlterIsrBatch):
    """A-M26: the response leaves out some of the requested partitions (KAFKA-12367)."""

    def results(self, request: AlterIsrRequest) -> Map[Partition, Result | None]:
        judged = super().results(request)
        return Map({p: judged[p] if judged[p] == Result.ACCEPTED else None for p in Partition})


class FailsWholeBatch(AlterIsrBatch):
    """One partition's error refuses the changes of all (KIP-497: an error per partition)."""

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
    """A top-level error ends what is pending, although the list is sent again (KIP-497, "Public Interfaces")."""

    def on_top_level_error(self) -> None:
        self.pending = Map({partition: None for partition in Partition})


class ForgetsListOnTopLevelError(AlterIsrBatch):
    """A top-level error empties the list, so what is pending is never asked for again."""

    def on_top_level_error(self) -> None:
        self.waiting = Map({partition: None for partition in Partition})


class AppliesRefusedChanges(AlterIsrBatch):
    """The controller writes what it refuses (KIP-497, "Partition-level errors")."""

    def controller_answers(self, request: AlterIsrRequest, active: bool) -> None:
        super().controller_answers(request, active)
        for partition in Partition:
            change = request.changes[partition]
            if change is not None:
                self.controller[partition].isr = change.isr


class ClearsWholeList(AlterIsrBatch):
    """A response takes every partition off the leader's list, even those that it does not name."""

    def leader_receives_response(self, response: AlterIsrResponse) -> None:
        super().leader_receives_response(response)
        self.waiting = Map({partition: None for partition in Partition})


class KeepsPartitionEpoch(AlterIsrBatch):
    """A-M26: a change of a partition does not take a new partition epoch (KAFKA-12367)."""

    def change(self, partition: Partition, isr: Set[Broker]) -> None:
        self.controller[partition].isr = isr


class AsksBeforeTheAnswer(AlterIsrBatch):
    """A-M21: a LeaderAndIsr takes a change off the list whose request is still unanswered. The next change takes its
    place, and the late answer takes that one off, which is never sent (KAFKA-12686).

    The leader does notice that the answer is not about its change, and ignores the result.
    """

    sent: Map[Partition, Change | None]

    def start(self) -> None:
        super().start()
        self.sent = self.waiting

    def leader_sends(self) -> None:
        super().leader_sends()
        self.sent = self.waiting

    def settle(self, partition: Partition, change: Change, result: Result) -> None:
        if change == self.sent[partition]:
            super().settle(partition, change, result)

    def leader_receives_leader_and_isr(self, partition: Partition) -> None:
        super().leader_receives_leader_and_isr(partition)
        self.waiting[partition] = None


class AcceptsAnyIsr(AlterIsrBatch):
    """The controller does not check who is in the ISR (KIP-497, INVALID_REQUEST)."""

    def is_malformed(self, partition: Partition, isr: Set[Broker]) -> bool:
        return False


class KeepsRemovedReplica(AlterIsrBatch):
    """A-M33: the ISR keeps a broker that is no longer a replica (KAFKA-9672)."""

    def isr_without(self, partition: Partition, broker: Broker) -> Set[Broker]:
        return self.controller[partition].isr


class CountsAnyFetcher(AlterIsrBatch):
    """A-M34: any broker that fetches may join, replica or not (KAFKA-13837). The controller answers INVALID_REQUEST."""

    def are_replicas(self, partition: Partition, isr: Set[Broker]) -> bool:
        return True
