"""Cases of followers that the table of docs/kafka.md settles: Kafka's ``ReplicaFetcherThread`` and epoch caches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bridge import Classes
from fetcher import Replicas


@dataclass
class Following:
    """The replicas of a partition, the first of which leads at first, and what was done."""

    kafka: Classes
    steps: list[str] = field(default_factory=list)
    replicas: Any = None

    def begin(self, brokers: int) -> None:
        self.replicas = Replicas(self.kafka, range(1, brokers + 1))
        self.steps.append(f"begin(replicas={list(self.replicas.all)})")

    def do(self, action: str, *arguments: Any) -> None:
        """A method of Replicas."""
        getattr(self.replicas, action)(*arguments)
        self.steps.append(f"{action}({', '.join(map(repr, arguments))})")
        for broker, replica in self.replicas.all.items():
            role = "leads" if replica is self.replicas.leader else "follows"
            self.steps.append(
                f"    {broker} {role}: epochs {replica.epochs()}, log start {replica.start}, "
                f"high watermark {replica.high_watermark}, cache {replica.cached_epochs()}")

    def close(self) -> None:
        if self.replicas is not None:
            self.replicas.close()


Case = Callable[[Following], bool]
FOLLOWER_CASES: dict[str, Case] = {}
"""By title. Each says whether it happens."""


def case(title: str) -> Callable[[Case], Case]:
    def named(function: Case) -> Case:
        FOLLOWER_CASES[title] = function
        return function

    return named


@case("A deleted record's epoch truncates what was committed")
def deleted_epoch(run: Following) -> bool:
    """1 keeps the epoch of a record that it has deleted. So it truncates its log below what is committed, and leads."""
    run.begin(3)
    run.do("append")
    run.do("elect", 3, False)
    run.do("append")
    run.do("fetch", 2)
    run.do("fetch", 2)
    run.do("delete", 3, 1)
    run.do("fetch", 1)
    run.do("elect", 2, False)
    run.do("fetch", 1)
    run.do("elect", 1, False)
    committed = max(replica.high_watermark for replica in run.replicas.all.values())
    return bool(run.replicas.leader.end < committed)


@case("A change of log directories leaves followers out of sync for good")
def lost_epoch(run: Following) -> bool:
    """2 leads, and its directory is changed: its new cache has no epoch. 1 says the epoch of the leader before, which 2
    answers with OFFSET_OUT_OF_RANGE, however often 1 asks.
    """
    run.begin(2)
    run.do("elect", 2, False)
    run.do("move", 2)
    run.do("fetch", 1)
    run.do("fetch", 1)
    follower = run.replicas.leader.follower(1)
    return 1 not in run.replicas.leader.maximal_isr and (follower is None or follower.offset < 0)


@case("KAFKA-20634: a deposed coordinator takes the high watermark of a follower for that of its own records")
def coordinator_hears(run: Following) -> bool:
    """Its record is not committed, and is truncated; then it hears that the offset of it is committed, and completes
    the write that waits (``CoordinatorPartitionWriter``).
    """
    run.begin(3)
    heard = run.replicas.all[1].coordinate()
    run.do("append")
    run.do("elect", 3, False)
    run.do("append")
    for follower in (2, 1, 2, 1, 1):
        run.do("fetch", follower)
    lost = run.replicas.all[1].epochs() == [2]
    run.steps.append(f"1 wrote the record of epoch 1, and its coordinator has heard of the high watermarks {heard}")
    return lost and max(heard) == 1


def can_follow(kafka: Classes) -> bool:
    """Whether a version's fetchers are driven. Since 4.1 ``LeaderEndPoint`` is an interface of Java's, which the caller
    can be.
    """
    return kafka.libraries.number >= (4, 1)


def settled(run: Following, judge: Case) -> bool:
    """Whether it happens. The logs are deleted afterwards."""
    try:
        return judge(run)
    finally:
        run.close()
