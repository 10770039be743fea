"""Takes the counterexamples of known-bad designs in Kafka's classes, and says where Kafka decides otherwise:

    FLOODMARK_KAFKA_LIBS=/opt/kafka/libs python examples/kafka/replayed.py [SPEC ...]

The shortest counterexample of each known-bad design of a spec is found by search and taken step by step: of the
controller (``partition.toml``), with eligible leader replicas (``elr.toml``), of a partition's leader
(``leader.toml``), of the quorum (``quorum.toml``), of voters that change (``voters.toml``), and of leader epoch caches
(``specs/epoch_cache/partition.toml``), or of the specs that are named. Kafka takes every step of a design that is its
own, such as ``KafkaLeader`` and ``NeedsAddress``, unless it has another mistake, or a later rule, that comes first. It
also takes every step where the mistake is that of somebody who is not Kafka's here, such as the leader whose requests
the controller answers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from bridge import Classes  # noqa: E402
from elr import OrderedEligibleLeaders  # noqa: E402
from elr_adapter import ElrAdapter  # noqa: E402
from epochs_adapter import EpochsAdapter  # noqa: E402
from leader import PartitionLeader  # noqa: E402
from leader_adapter import LeaderAdapter  # noqa: E402
from libraries import NoKafka, libraries  # noqa: E402
from observed import ObservedPartition  # noqa: E402
from partition_adapter import PartitionAdapter, of_version  # noqa: E402
from quorum import KafkaQuorum  # noqa: E402
from quorum_adapter import QuorumAdapter  # noqa: E402
from voters import KafkaVoters  # noqa: E402
from voters_adapter import VotersAdapter  # noqa: E402

from floodmark import Counterexample, Model, SourceError, known_bad_designs  # noqa: E402
from floodmark.conformance import Mismatch, replay, trace_of  # noqa: E402
from floodmark.replay import successors  # noqa: E402
from model.epoch_cache.partition import EpochCaches  # noqa: E402


def counterexamples(spec: Path, kafka: Classes) -> Iterator[tuple[str, int, str | None]]:
    """For each known-bad design of a spec its name, the steps of its shortest counterexample after the initial state,
    and where Kafka decides otherwise; None if it takes every step as the design does.
    """
    for design in known_bad_designs(spec):
        run = design.check().counterexample
        assert run is not None, design.name
        yield design.name, len(run) - 1, _difference(design.model, run, kafka)


def _difference(design: Model, run: Counterexample, kafka: Classes) -> str | None:
    """Of a run in which nothing happens any more, Kafka may take each step, and then another one that the design does
    not take.
    """
    model, kind = _beside(design, kafka)
    adapter = type("Adapter", (kind,), {"kafka": kafka})
    steps = trace_of(run.steps)
    found = _first(model, adapter, steps)
    if found is not None or run.loop is None:
        return found
    for step, _ in successors(model, tuple(run.states[-1].values())):
        if hasattr(adapter, step.action):
            found = _first(model, adapter, [*steps, *trace_of([step])])
            if found is not None:
                return f"what comes next: {found}"
    return None


def _first(model: Any, adapter: type[Any], steps: list[dict[str, Any]]) -> str | None:
    try:
        replay(model, adapter, steps)
    except Mismatch as found:
        differences = "; ".join(f"{name} is {shown!r}, not {expected!r}" for name, expected, shown in found.differences)
        return f"step {len(found.steps) - 1}, {found.steps[-1].action}: {differences or found}"
    except SourceError as impossible:
        return f"{impossible.message}, with what Kafka did before"
    return None


def _beside(design: Model, kafka: Classes) -> tuple[Any, type[Any]]:
    """The model that says what Kafka should show after each step, and the adapter. Of the controller's designs that is
    the observed one, which has epochs and errors.
    """
    for kind, adapter in _ADAPTERS.items():
        if isinstance(design, kind):
            return design, adapter
    return ObservedPartition(**{**of_version(kafka), "brokers": design.constant_values["brokers"]}), PartitionAdapter


_ADAPTERS: dict[type[Any], type[Any]] = {
    PartitionLeader: LeaderAdapter, OrderedEligibleLeaders: ElrAdapter, KafkaQuorum: QuorumAdapter,
    KafkaVoters: VotersAdapter, EpochCaches: EpochsAdapter,
}
SPECS = [HERE / f"{name}.toml" for name in ("leader", "partition", "elr", "quorum", "voters")]
SPECS += [HERE.parent.parent / "specs" / "epoch_cache" / "partition.toml"]


def main() -> None:
    try:
        kafkas = [Classes(each) for each in libraries()]
    except NoKafka as reason:
        raise SystemExit(str(reason)) from None
    for spec in map(Path, sys.argv[1:] or SPECS):
        for kafka in kafkas:
            for name, steps, found in counterexamples(spec, kafka):
                told = "Kafka takes them all" if found is None else f"Kafka decides otherwise at {found}"
                print(f"{kafka}: {name}, {steps} steps: {told}")


if __name__ == "__main__":
    main()
