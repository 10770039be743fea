"""The speed of Kafka's own classes beside models, and the findings of walks: ``python -m benchmarks.kafka --write``.

Twelve parts, which ``--part`` chooses: calls into Java for a second by each bridge; steps of the controller in
lockstep, also with the model of KIP-966 (``elr``), of the quorum, of voters that change (``voters``), of a partition's
leader and of its followers, for each version that FLOODMARK_KAFKA_LIBS names, the last one first; and steps until the
last version contradicts each mistaken belief about the controller and the quorum, about voters that change, about
eligible leader replicas, about the leader, and about the followers.
A part that is interrupted has written what it had. Times are of this process's processor.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.results import section
from floodmark.checkers.conformance.adapter import Contract
from floodmark.checkers.conformance.walks import WalkChoice, Walks
from floodmark.checkers.spark.java import find_java

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "kafka"
CLUSTERS: dict[str, dict[str, Any]] = {
    "without the ELR": {"elr_enabled": False, "min_insync_replicas": 1},
    "with the ELR": {},
    "with unclean elections": {"unclean_elections": True},
    "three replicas": {"replication_factor": 3, "largest_target": 3},
}
BOUNDS = {"max_epoch": 10, "max_log": 8, "max_restarts": 20, "delays": 2}
QUORUMS: dict[str, dict[str, Any]] = {
    "three voters, one of which leads": {"led": True}, "three voters, two of which lead": {"rivals": True},
    "three voters": {},
    "five voters, one of which leads": {"voters": 5, "led": True},
}
VOTERS: dict[str, dict[str, Any]] = {
    "three voters, one observer": {}, "two voters, two observers": {"voters": 2, "observers": 2},
    "one voter, two observers": {"voters": 1, "observers": 2},
    "three voters, two observers": {"observers": 2},
    "two voters, two new observers": {"voters": 2, "observers": 2, "fresh": True},
}
LEADERS: dict[str, dict[str, Any]] = {
    "three replicas": {}, "two replicas": {"brokers": 2}, "min.insync.replicas 2": {"min_insync_replicas": 2},
    "four replicas": {"brokers": 4},
}
FOLLOWERS: dict[str, dict[str, Any]] = {"two replicas": {"brokers": 2}, "three replicas": {"brokers": 3}}
ELIGIBLE: dict[str, dict[str, Any]] = {
    "min.insync.replicas 2 of three": {}, "min.insync.replicas 1 of three": {"min_insync_replicas": 1},
    "min.insync.replicas 3 of four": {"brokers": 4, "min_insync_replicas": 3},
}
CALLS = 5_000
ROUND = 500
"""Steps in lockstep of each row, after which the table is written."""
FURTHER = 200
"""Steps of a walk from the end of a kept run; with fewer, going there takes most of the time."""
BELIEVED = 10_000
"""The steps after which a mistaken belief is given up."""


def _in_a_second(call: Callable[[], Any]) -> str:
    begun = time.perf_counter()
    for _ in range(CALLS):
        call()
    return f"{CALLS / (time.perf_counter() - begun):,.0f}"


def _bridges(kafkas: list[Any], _given: argparse.Namespace) -> Iterator[str]:
    """By the clock, as py4j's calls wait for another process."""
    jpype, py4j = importlib.import_module("jpype"), importlib.import_module("py4j.java_gateway")
    gateway = py4j.JavaGateway.launch_gateway(java_path=str(find_java()), die_on_exit=True)
    controller = importlib.import_module("controller").Controller(kafkas[-1], [1, 2], (1, 2), True, 2, False)
    try:
        yield "| bridge | call | calls a second |"
        yield "|---|---|---|"
        yield f"| JPype | a static method | {_in_a_second(jpype.java.lang.System.nanoTime)} |"
        replication, topic = controller.managers.replication, controller.topic
        reflected = _in_a_second(lambda: kafkas[-1].call(replication, "getPartition", topic, 0))
        yield f"| JPype | `getPartition` of the controller, by reflection | {reflected} |"
        yield f"| py4j | a static method | {_in_a_second(gateway.jvm.java.lang.System.nanoTime)} |"
    finally:
        gateway.shutdown()


def _adapter(kafka: Any, module: str, name: str) -> Any:
    return type("Adapter", (getattr(importlib.import_module(module), name),), {"kafka": kafka})


def _in_step(
    kafkas: list[Any], of: dict[str, dict[str, Any]], built: Callable[[Any, dict[str, Any]], Contract],
    steps: int, choice: WalkChoice,
) -> Iterator[list[str]]:
    """The table after each round, in which every walk goes on for a little: a run may be stopped at any time."""
    walked = [_Walked(kafka, title, Walks(contract.model, [], choice, 1, contract, further=FURTHER))
              for kafka in reversed(kafkas) for title, constants in of.items()
              for contract in [built(kafka, constants)]]
    for until in range(min(ROUND, steps), steps + 1, min(ROUND, steps)):
        for each in walked:
            each.go_on(until)
        total = sum(each.walks.steps for each in walked)
        yield ["| version | of | steps | for a second of the processor | actions | outcomes | errors | differences |",
               "|---|---|---|---|---|---|---|---|", *(each.row() for each in walked),
               f"| all | | {total:,} | | | | | |"]


@dataclass
class _Walked:
    kafka: Any
    title: str
    walks: Walks
    used: float = 0.0
    found: int | None = None

    def go_on(self, until: int) -> None:
        if self.found is None:
            begun = time.process_time()
            found = self.walks.search(until)
            self.used += time.process_time() - begun
            self.found = None if found is None else found.taken

    def row(self) -> str:
        """``outcomes`` counts the pairs of an action and of the variables that it changed, ``errors`` what is answered.
        """
        assert self.walks.contract is not None
        covered = self.walks.coverage
        actions = f"{len(covered.actions())} of {len(self.walks.contract.taken)}"
        outcomes = sum(isinstance(of, str) for of, _ in covered.counts)
        variables = self.walks.proposals.layout.variables
        errors = "-"
        if "error" in variables:
            place = list(self.walks.proposals.layout.slots).index("error")
            errors = f"{len({0} | {code for of, code in covered.counts if of == place})} of {variables['error'].codes}"
        told = "none" if self.found is None else f"after {self.found:,}"
        return (f"| {self.kafka.libraries.version} | {self.title} | {self.walks.steps:,} | "
                f"{self.walks.steps / self.used:,.0f} | {actions} | {outcomes} | {errors} | {told} |")


def _controller(kafkas: list[Any], given: argparse.Namespace) -> Iterator[list[str]]:
    def built(kafka: Any, constants: dict[str, Any]) -> Contract:
        of_version = importlib.import_module("partition_adapter").of_version(kafka)
        model = importlib.import_module("observed").ObservedPartition(**{**of_version, **constants})
        return Contract(model, _adapter(kafka, "partition_adapter", "PartitionAdapter"))

    return _in_step(kafkas, CLUSTERS, built, given.steps, given.choice)


def _quorum(kafkas: list[Any], given: argparse.Namespace) -> Iterator[list[str]]:
    def built(kafka: Any, constants: dict[str, Any]) -> Contract:
        model = importlib.import_module("quorum").KafkaQuorum(**{**BOUNDS, **constants})
        return Contract(model, _adapter(kafka, "quorum_adapter", "QuorumAdapter"))

    return _in_step(kafkas, QUORUMS, built, given.steps, given.choice)


def _voters(kafkas: list[Any], given: argparse.Namespace) -> Iterator[list[str]]:
    module = importlib.import_module("voters")

    def built(kafka: Any, constants: dict[str, Any]) -> Contract:
        model = module.KafkaVoters(**{**module.WALKED, **constants})
        return Contract(model, _adapter(kafka, "voters_adapter", "VotersAdapter"))

    return _in_step(kafkas, VOTERS, built, given.steps, given.choice)


def _leader(kafkas: list[Any], given: argparse.Namespace) -> Iterator[list[str]]:
    module = importlib.import_module("leader")

    def built(kafka: Any, constants: dict[str, Any]) -> Contract:
        model = module.ObservedLeader(**{**module.WALKED, **constants})
        return Contract(model, _adapter(kafka, "leader_adapter", "LeaderAdapter"))

    return _in_step(kafkas, LEADERS, built, given.steps, given.choice)


def _followers(kafkas: list[Any], given: argparse.Namespace) -> Iterator[list[str]]:
    model, module = importlib.import_module("followers"), importlib.import_module("epochs_adapter")
    able = importlib.import_module("follower_cases").can_follow

    def built(kafka: Any, constants: dict[str, Any]) -> Contract:
        return Contract(
            model.RememberedEpochs(**{**module.WALKED, **constants}),
            _adapter(kafka, "epochs_adapter", "EpochsAdapter"))

    return _in_step([kafka for kafka in kafkas if able(kafka)], FOLLOWERS, built, given.steps, given.choice)


def _elr(kafkas: list[Any], given: argparse.Namespace) -> Iterator[list[str]]:
    """4.0 elects a fenced last known leader (KAFKA-19522)."""
    module = importlib.import_module("elr")

    def built(kafka: Any, constants: dict[str, Any]) -> Contract:
        return Contract(module.OrderedEligibleLeaders(**constants), _adapter(kafka, "elr_adapter", "ElrAdapter"))

    able = [kafka for kafka in kafkas if kafka.libraries.number >= (4, 1)]
    return _in_step(able, ELIGIBLE, built, given.steps, given.choice)


def _beliefs(kafkas: list[Any], _given: argparse.Namespace) -> Iterator[str]:
    kafka = kafkas[-1]
    of_version = importlib.import_module("partition_adapter").of_version(kafka)
    return _contradicted(kafka, {
        "mistaken": (of_version, _adapter(kafka, "partition_adapter", "PartitionAdapter"), "guided"),
        "mistaken_quorum": (BOUNDS, _adapter(kafka, "quorum_adapter", "QuorumAdapter"), "uniform"),
    })


def _voter_beliefs(kafkas: list[Any], _given: argparse.Namespace) -> Iterator[str]:
    walked = importlib.import_module("voters").WALKED
    adapter = _adapter(kafkas[-1], "voters_adapter", "VotersAdapter")
    return _contradicted(kafkas[-1], {"mistaken_voters": (walked, adapter, "uniform")})


def _elr_beliefs(kafkas: list[Any], _given: argparse.Namespace) -> Iterator[str]:
    adapter = _adapter(kafkas[-1], "elr_adapter", "ElrAdapter")
    return _contradicted(kafkas[-1], {"mistaken_elr": ({}, adapter, "uniform")})


def _leader_beliefs(kafkas: list[Any], _given: argparse.Namespace) -> Iterator[str]:
    walked = importlib.import_module("leader").WALKED
    adapter = _adapter(kafkas[-1], "leader_adapter", "LeaderAdapter")
    return _contradicted(kafkas[-1], {"mistaken_leader": (walked, adapter, "uniform")})


def _follower_beliefs(kafkas: list[Any], _given: argparse.Namespace) -> Iterator[str]:
    walked = importlib.import_module("epochs_adapter").WALKED
    adapter = _adapter(kafkas[-1], "epochs_adapter", "EpochsAdapter")
    return _contradicted(kafkas[-1], {"mistaken_followers": (walked, adapter, "uniform")})


def _contradicted(kafka: Any, about: dict[str, tuple[dict[str, Any], Any, WalkChoice]]) -> Iterator[str]:
    """For each module of beliefs their constants, the adapter, and how a walk chooses its steps."""
    yield f"| mistaken belief, held against {kafka.libraries.version} | steps |"
    yield "|---|---|"
    for module, (common, adapter, choice) in about.items():
        for belief, constants in importlib.import_module(module).BELIEFS.items():
            model = belief(**{**common, **constants})
            found = Walks(model, [], choice, 1, Contract(model, adapter)).search(BELIEVED)
            yield f"| {belief.__name__} | {f'over {BELIEVED:,}' if found is None else f'{found.taken:,}'} |"


PARTS: dict[str, Callable[[list[Any], argparse.Namespace], Iterator[str] | Iterator[list[str]]]] = {
    "calls": _bridges, "controller": _controller, "quorum": _quorum, "leader": _leader, "beliefs": _beliefs,
    "leader-beliefs": _leader_beliefs, "followers": _followers, "follower-beliefs": _follower_beliefs, "elr": _elr,
    "elr-beliefs": _elr_beliefs, "voters": _voters, "voter-beliefs": _voter_beliefs,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=list(PARTS), action="append", help="any number of times; else all")
    parser.add_argument("--steps", type=int, default=1_000, help="in lockstep, for each row")
    parser.add_argument("--choice", choices=["guided", "uniform"], default="guided", help="of the steps in lockstep")
    parser.add_argument("--write", action="store_true", help="into benchmarks/RESULTS.md")
    given = parser.parse_args()
    sys.path[:0] = [str(EXAMPLE), str(ROOT)]
    classes = importlib.import_module("bridge").Classes
    kafkas = [classes(each) for each in importlib.import_module("libraries").libraries()]
    for part in given.part or PARTS:
        lines: list[str] = []
        for told in PARTS[part](kafkas, given):
            lines = [*lines, told] if isinstance(told, str) else told
            print("\n".join([told] if isinstance(told, str) else told), flush=True)
            if given.write:
                in_step = part in ("controller", "quorum", "voters", "leader", "followers", "elr")
                how = f" --steps {given.steps} --choice {given.choice}" if in_step else ""
                title = f"Kafka, {part}, {given.choice}" if in_step else f"Kafka, {part}"
                section(title, f"python -m benchmarks.kafka --part {part}{how} --write", lines)


if __name__ == "__main__":
    main()
