"""Measures how fast a metadata log is judged: ``python -m benchmarks.conformance --records 1000000 --write``.

The log is synthetic: partitions are created, their ISR shrinks and grows, leaders fail, and reassignments begin, are
completed and are cancelled, with a few records of other types in between. It breaks no rule, which is checked as well.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.results import section
from floodmark.checkers.conformance.metadata_log.run import judge_log

BROKERS = 12
PARTITIONS_OF_A_TOPIC = 20
SEGMENT = 200_000
CREATED_MS = 1_700_000_000_000


class _Partition:
    """One partition as the generator's controller sees it."""

    def __init__(self, topic: str, number: int, random: random.Random) -> None:
        self.place = {"partitionId": number, "topicId": topic}
        self.random = random
        self.replicas = random.sample(range(BROKERS), 3)
        self.isr = list(self.replicas)
        self.adding: list[int] = []
        self.removing: list[int] = []
        self.leader = self.replicas[0]

    def record(self) -> dict[str, Any]:
        return {
            **self.place, "replicas": self.replicas, "isr": self.isr, "removingReplicas": [], "addingReplicas": [],
            "leader": self.leader, "leaderEpoch": 0, "partitionEpoch": 0,
        }

    def change(self) -> dict[str, Any]:
        """The next event of the partition."""
        if self.adding:
            return self._cancel() if self.random.random() < 0.3 else self._complete()
        followers = [broker for broker in self.isr if broker != self.leader]
        if len(self.isr) < len(self.replicas):
            self.isr = list(self.replicas)
            return {**self.place, "isr": self.isr}
        if self.random.random() < 0.2:
            return self._begin()
        if self.random.random() < 0.5:
            self.isr = [broker for broker in self.isr if broker != followers[0]]
            return {**self.place, "isr": self.isr}
        self.isr, self.leader = followers, followers[0]
        return {**self.place, "isr": self.isr, "leader": self.leader}

    def _begin(self) -> dict[str, Any]:
        others = [broker for broker in range(BROKERS) if broker not in self.replicas]
        self.adding, self.removing = [self.random.choice(others)], [self.replicas[2]]
        self.replicas = [*self.replicas[:2], *self.adding, *self.removing]
        return {
            **self.place, "replicas": self.replicas, "removingReplicas": self.removing, "addingReplicas": self.adding
        }

    def _leave(self, leaving: list[int], isr: list[int]) -> dict[str, Any]:
        self.replicas = [broker for broker in self.replicas if broker not in leaving]
        self.isr = [broker for broker in isr if broker not in leaving]
        self.leader = self.leader if self.leader in self.isr else self.isr[0]
        self.adding, self.removing = [], []
        return {
            **self.place, "isr": self.isr, "leader": self.leader, "replicas": self.replicas, "removingReplicas": [],
            "addingReplicas": [],
        }

    def _complete(self) -> dict[str, Any]:
        return self._leave(self.removing, self.replicas)

    def _cancel(self) -> dict[str, Any]:
        return self._leave(self.adding, self.isr)


def _records(count: int, partitions: int, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    chance = random.Random(seed)
    known = []
    for number in range(partitions):
        topic = f"{number // PARTITIONS_OF_A_TOPIC:022d}"
        if number % PARTITIONS_OF_A_TOPIC == 0:
            yield "TOPIC_RECORD", {"name": f"topic-{number // PARTITIONS_OF_A_TOPIC}", "topicId": topic}
        known.append(_Partition(topic, number % PARTITIONS_OF_A_TOPIC, chance))
        yield "PARTITION_RECORD", known[-1].record()
    for _ in range(count):
        if chance.random() < 0.02:
            yield "BROKER_REGISTRATION_CHANGE_RECORD", {"brokerId": chance.randrange(BROKERS), "brokerEpoch": 1}
        else:
            yield "PARTITION_CHANGE_RECORD", chance.choice(known).change()


def write_log(folder: Path, records: int, partitions: int, seed: int = 1) -> list[Path]:
    """Writes a log with this many records in the format of kafka-dump-log, one file for each segment."""
    paths: list[Path] = []
    made = _records(records, partitions, seed)
    for offset, (kind, data) in zip(range(records), made, strict=False):
        if offset % SEGMENT == 0:
            paths.append(folder / f"{offset:020d}.txt")
            lines = [f"Dumping {offset:020d}.log", f"Log starting offset: {offset}"]
        payload = json.dumps({"type": kind, "version": 0, "data": data}, separators=(",", ":"))
        lines.append(
            f"| offset: {offset} CreateTime: {CREATED_MS + offset} keySize: -1 valueSize: 60 sequence: -1 "
            f"headerKeys: [] payload: {payload}"
        )
        if offset % SEGMENT == SEGMENT - 1 or offset == records - 1:
            paths[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def _cpu_seconds() -> float:
    """The CPU time in seconds of this process and of the children that it has waited for; Spark's workers are not
    included."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=20_000)
    parser.add_argument("--spark", action="store_true", help="also run on Spark")
    parser.add_argument("--write", action="store_true", help="write to benchmarks/RESULTS.md")
    given = parser.parse_args()
    rows = ["| workers | records | partitions | seconds | CPU seconds | records per CPU second |",
            "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        paths = write_log(Path(folder), given.records, given.partitions)
        size = sum(path.stat().st_size for path in paths)
        for name, on_spark, workers in [("1 process", False, 1), ("2 processes", False, 2), ("Spark, 2", True, 2)]:
            if on_spark and not given.spark:
                continue
            begun, used = time.perf_counter(), _cpu_seconds()
            report = judge_log(paths, on_spark=on_spark, workers=workers)
            took, used = time.perf_counter() - begun, _cpu_seconds() - used
            assert report.records == given.records, report
            assert not report.findings, report.findings[:3]
            assert not report.malformed, report.malformed[:3]
            figures = f"{report.records:,} | {report.partitions:,} | {took:.1f}"
            cpu = "| | |" if on_spark else f"| {used:.1f} | {report.records / used:,.0f} |"
            rows.append(f"| {name} | {figures} {cpu}")
            print(rows[-1], flush=True)
    load = f"The synthetic log has {size / 1e6:.0f} MB; the machine's load was {os.getloadavg()[0]:.1f} at the end."
    if given.write:
        command = "python -m benchmarks.conformance" + (" --spark" if given.spark else "") + " --write"
        section("metadata logs", command, [load, "", *rows])


if __name__ == "__main__":
    main()
