"""The shape of a planned move: the numbers of replicas that go, stay and come, without the names of brokers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floodmark.checkers.plan.reassignment_json import PartitionReassignment, TopicPartition
from floodmark.language.errors import SourceError


@dataclass(frozen=True, slots=True, order=True)
class Shape:
    """The replica sets of a move up to renaming of brokers, and whether the preferred leader is one that stays."""

    removed: int
    kept: int
    added: int
    leader_stays: bool

    @property
    def brokers(self) -> int:
        """The number of participating brokers."""
        return self.removed + self.kept + self.added

    def __str__(self) -> str:
        before, after = self.removed + self.kept, self.kept + self.added
        leader = "with" if self.leader_stays else "without"
        return f"{before} -> {after} replicas, {self.kept} of them the same, {leader} the leader"


@dataclass(frozen=True, slots=True)
class PlannedReassignment:
    """One partition of a plan, from ``current`` to ``target``, the preferred leader first."""

    partition: TopicPartition
    current: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def shape(self) -> Shape:
        kept = len(set(self.current) & set(self.target))
        return Shape(len(self.current) - kept, kept, len(self.target) - kept, self.current[0] in self.target)

    @property
    def brokers(self) -> tuple[int, ...]:
        """The brokers in the order of the model's: those that go, those that stay, those that come."""
        going = [broker for broker in self.current if broker not in self.target]
        staying = [broker for broker in self.current if broker in self.target]
        coming = [broker for broker in self.target if broker not in self.current]
        return (*going, *staying, *coming)

    @property
    def restored(self) -> tuple[int, ...]:
        """The replicas after a cancellation under KIP-455: the original ones, in the order of the target first."""
        staying = [broker for broker in self.target if broker in self.current]
        return (*staying, *(broker for broker in self.current if broker not in self.target))


def planned_reassignments(
    plan: Mapping[TopicPartition, PartitionReassignment], current: Mapping[TopicPartition, PartitionReassignment],
    plan_file: str, current_file: str,
) -> list[PlannedReassignment]:
    """The moves of a plan. Raises SourceError for a partition whose current replicas are missing or different."""
    missing = [partition for partition in plan if partition not in current]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise SourceError(f"no current replicas for {missing[0]}{more} of {plan_file}", current_file)
    for partition, move in plan.items():
        if move.original_replicas is not None and move.original_replicas != current[partition].replicas:
            raise SourceError(
                f"{partition}: original_replicas is {list(move.original_replicas)}, "
                f"but {current_file} has {list(current[partition].replicas)}",
                plan_file,
            )
    return [
        PlannedReassignment(partition, current[partition].replicas, move.replicas) for partition, move in plan.items()
    ]
