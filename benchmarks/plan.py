"""Time of ``floodmark plan`` for 10,000 partitions: ``python -m benchmarks.plan [--write]``.

The partitions are spread over 60 brokers. In one kind of plan, each of three replicas moves or stays at random; in the
other, there are one to five replicas before and one to five after. The command runs as a user would run it, first with
an empty cache of compiled code and then with a full one.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import section
from floodmark.checkers.plan.reassignment_json import PartitionReassignment, TopicPartition, dumps

ROOT = Path(__file__).parent.parent
PARTITIONS = 10_000
BROKERS = 60

Pair = tuple[list[int], list[int]]


def three_replicas(chance: random.Random) -> Pair:
    """Three replicas before and after, some of them the same."""
    current = chance.sample(range(BROKERS), 3)
    fresh = [broker for broker in chance.sample(range(BROKERS), 6) if broker not in current]
    return current, [broker if chance.random() < 0.5 else fresh[place] for place, broker in enumerate(current)]


def any_replicas(chance: random.Random) -> Pair:
    """One to five replicas before and after; each one before may stay with a chance of two in three."""
    current = chance.sample(range(BROKERS), chance.randint(1, 5))
    staying = [broker for broker in current if chance.random() < 2 / 3]
    fresh = [broker for broker in chance.sample(range(BROKERS), 10) if broker not in current]
    target = (staying + fresh)[: chance.randint(1, 5)]
    chance.shuffle(target)
    return current, target


@dataclass(frozen=True)
class Plan:
    """10,000 moves of one kind, and the controller design that carries them out."""

    title: str
    move: Callable[[random.Random], Pair]
    design: str
    failures: int | None


PLANS = [
    Plan("three replicas, KRaft", three_replicas, "kraft", None),
    Plan("three replicas, KRaft, at most one failure", three_replicas, "kraft", 1),
    Plan("three replicas, KIP-236", three_replicas, "kip236", None),
    Plan("one to five replicas, KRaft", any_replicas, "kraft", None),
    Plan("one to five replicas, KRaft, at most one failure", any_replicas, "kraft", 1),
]


def write(plan: Plan, folder: Path) -> None:
    """``current.json`` and ``plan.json``."""
    chance = random.Random(1)
    pairs = [plan.move(chance) for _ in range(PARTITIONS)]
    for name, side in (("current", 0), ("plan", 1)):
        moves = (
            PartitionReassignment(TopicPartition("topic", number), tuple(pair[side]))
            for number, pair in enumerate(pairs)
        )
        (folder / f"{name}.json").write_text(dumps(moves))


def run(plan: Plan, folder: Path) -> tuple[float, str]:
    """Wall-clock seconds of the command, and its last line."""
    command = [sys.executable, "-m", "floodmark", "plan", str(folder / "plan.json")]
    command += ["--current", str(folder / "current.json"), "--min-insync", "2", "--design", plan.design]
    if plan.failures is not None:
        command += ["--failures", str(plan.failures)]
    environment = {**os.environ, "FLOODMARK_CACHE": str(folder / "cache")}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout + done.stderr)
    return seconds, done.stdout.rstrip().splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = ["| min.insync.replicas = 2 | answer | first run, s | later run, s |", "|---|---|---|---|"]
    for plan in PLANS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(plan, folder)
            (first, said), (second, _) = run(plan, folder), run(plan, folder)
        lines.append(f"| {plan.title} | {said} | {first:.1f} | {second:.1f} |")
        print(lines[-1], flush=True)
    if arguments.write:
        section("plan", "python -m benchmarks.plan --write", lines)


if __name__ == "__main__":
    main()
