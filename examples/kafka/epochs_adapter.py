"""How Kafka's classes take the steps of ``model/epoch_cache/partition.py``, and what is compared after each. The walk
goes along ``RememberedEpochs`` (``followers.py``): that is what Kafka does.

Every replica is a ``Partition`` with its ``UnifiedLog`` and its ``LeaderEpochFileCache``, and every follower has a
``ReplicaFetcherThread`` (``fetcher.py``).
"""

from __future__ import annotations

from typing import Any, ClassVar

from bridge import Classes
from fetcher import Replicas
from partition_adapter import names, number

from floodmark.conformance import Adapter, observable

WALKED = {"max_offset": 4, "max_leader_epoch": 8, "max_shrinks": 20, "max_restarts": 20, "max_moves": 20}
"""The constants of the model in walks."""


class EpochsAdapter(Adapter):
    """The replicas of one partition, with the classes of ``kafka``."""

    kafka: ClassVar[Classes]

    def __init__(self, start: Any) -> None:
        self.replicas = Replicas(self.kafka, [number(broker) for broker in start.replicas])

    def close(self) -> None:
        self.replicas.close()

    def leader_appends(self) -> None:
        self.replicas.append()

    def leader_shrinks_isr(self, follower: Any) -> None:
        self.replicas.shrink(number(follower))

    def records_are_deleted(self, broker: Any, offset: int) -> None:
        self.replicas.delete(number(broker), offset)

    def controller_elects(self, successor: Any, stays: bool) -> None:
        self.replicas.elect(number(successor), stays)

    def follower_fetches(self, follower: Any) -> None:
        self.replicas.fetch(number(follower))

    def directory_is_replaced(self, broker: Any) -> None:
        self.replicas.move(number(broker))

    def replica_restarts(self, broker: Any) -> None:
        self.replicas.restart(number(broker))

    @observable
    def leader(self) -> str:
        return f"b{self.replicas.leader.broker}"

    @observable
    def leader_epoch(self) -> int:
        return self.replicas.leader.leader_epoch

    @observable
    def isr(self) -> set[str]:
        return set(names(self.replicas.leader.maximal_isr))

    @observable
    def leader_epoch_start_offset(self) -> int | None:
        return self.replicas.leader.epoch_start

    @observable(of=lambda model: {
        repr(each): model.fetch_offsets[each] for each in model.replicas if each != model.leader})
    def fetch_offsets(self) -> dict[str, int]:
        """Kafka knows none before the first fetch, where the model has 0."""
        leader = self.replicas.leader
        seen = {each: leader.follower(each) for each in self.replicas.all if each != leader.broker}
        return {f"b{each}": max(0, found.offset) if found else 0 for each, found in seen.items()}

    @observable(of=lambda model: {repr(each): list(model.replicas[each].log) for each in model.replicas})
    def logs(self) -> dict[str, list[int]]:
        return {f"b{each}": replica.epochs() for each, replica in self.replicas.all.items()}

    @observable(of=lambda model: {repr(each): model.replicas[each].log_start_offset for each in model.replicas})
    def log_start_offsets(self) -> dict[str, int]:
        return {f"b{each}": replica.start for each, replica in self.replicas.all.items()}

    @observable(of=lambda model: {repr(each): model.replicas[each].high_watermark for each in model.replicas})
    def high_watermarks(self) -> dict[str, int]:
        return {f"b{each}": replica.high_watermark for each, replica in self.replicas.all.items()}

    @observable(of=lambda model: {
        repr(each): {epoch: model.start_offset(each, epoch) for epoch in model.cached(each)}
        for each in model.replicas})
    def epoch_caches(self) -> dict[str, dict[int, int]]:
        return {f"b{each}": replica.cached_epochs() for each, replica in self.replicas.all.items()}
