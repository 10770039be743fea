"""The output of ``floodmark plan``, as text and in files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from floodmark.checkers.plan.shapes import PlannedReassignment, Shape
from floodmark.checkers.plan.verdicts import ShapeVerdict, TroubleStep
from floodmark.language.plurals import counted

_WORDS = {
    "controller_takes_request": "the plan is submitted",
    "client_submits": "the plan is submitted",
    "controller_elects": "the controller elects a leader",
    "controller_fails_over": "the controller crashes, another takes over",
    "follower_catches_up": "broker {} catches up",
    "follower_joins_isr": "broker {} joins the ISR",
    "follower_leaves_isr": "broker {} falls behind, out of the ISR",
    "broker_crashes": "broker {} crashes",
    "broker_starts": "broker {} starts",
    "broker_deletes_replica": "broker {} deletes its replica",
}


def lines(
    moves: Sequence[PlannedReassignment], verdicts: Mapping[Shape, ShapeVerdict], min_insync: int
) -> Iterator[str]:
    """For each shape: the verdict, its partitions, and the shortest way into trouble, shown for the first partition."""
    for shape in sorted(verdicts):
        own = [move for move in moves if move.shape == shape]
        yield from _shape_lines(verdicts[shape], own, min_insync)
        yield ""
    yield summary(moves, verdicts)


def summary(moves: Sequence[PlannedReassignment], verdicts: Mapping[Shape, ShapeVerdict]) -> str:
    good = sum(1 for move in moves if verdicts[move.shape].cancellable)
    shapes = f"{_counted(len(moves), 'partition')}, {_counted(len(verdicts), 'shape')}"
    text = f"{shapes}: {good:,} can be cancelled at every point"
    return text if good == len(moves) else f"{text}, {len(moves) - good:,} cannot"


def _shape_lines(verdict: ShapeVerdict, moves: Sequence[PlannedReassignment], min_insync: int) -> Iterator[str]:
    yield f"{verdict.shape}, {_counted(len(moves), 'partition')}: {_headline(verdict)}"
    for line in _wrapped(_named(moves)):
        yield f"  {line}"
    first = moves[0]
    if not verdict.cancellable:
        yield f"  the shortest way, for {first.partition} from {_brokers(first.current)} to {_brokers(first.target)}:"
        for number, step in enumerate(way(verdict, first), 1):
            yield f"    {number:>2}  {step}"
        yield f"        {outcome(verdict, first, min_insync)}"
    reordered = [move for move in moves if move.restored != move.current]
    if reordered:
        example = reordered[0]
        yield (
            f"  order: cancelled, {example.partition} comes back as {_brokers(example.restored)}, "
            f"not {_brokers(example.current)}{_others(len(reordered) - 1)}"
        )


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _headline(verdict: ShapeVerdict) -> str:
    if verdict.cancellable:
        return "can be cancelled at every point"
    if verdict.trouble == "undetermined":
        return "undetermined: too many states"
    needs = f"{verdict.failures} failing" if verdict.failures else "no failure"
    return f"cannot: {verdict.trouble}, {counted(len(verdict.way), 'step')}, {needs}"


def way(verdict: ShapeVerdict, move: PlannedReassignment) -> list[str]:
    """The steps of a way into trouble, described with the brokers of this partition."""
    return [_words(step, move.brokers) for step in verdict.way]


def _words(step: TroubleStep, brokers: Sequence[int]) -> str:
    text = _WORDS.get(step.action, f"the controller: {step.action.replace('_', ' ')}")
    return text if step.broker is None else text.format(brokers[step.broker - 1])


def outcome(verdict: ShapeVerdict, move: PlannedReassignment, min_insync: int) -> str:
    """The result of a cancellation at the end of the run."""
    if verdict.end is None:
        return ""
    isr = _real(verdict.end.isr, move)
    left = [broker for broker in isr if broker in move.current]
    now = f"the ISR is {_brokers(isr)}; cancelled, it would be {_brokers(left)}"
    if verdict.trouble == "no leader":
        down = [broker for broker in left if broker not in _real(verdict.end.live, move)]
        return f"{now}, " + (f"with {_brokers(down)} down: no broker can lead" if left else "empty: no broker can lead")
    return f"{now}, fewer than min.insync.replicas = {min(min_insync, len(move.current))}"


def as_json(
    moves: Sequence[PlannedReassignment], verdicts: Mapping[Shape, ShapeVerdict], min_insync: int, design: str
) -> dict[str, Any]:
    """All results as plain values for JSON: one object for each partition, one for each shape."""
    return {
        "design": design,
        "min_insync_replicas": min_insync,
        "partitions": [_partition_json(move, verdicts[move.shape], min_insync) for move in moves],
        "shapes": [_shape_json(verdicts[shape]) for shape in sorted(verdicts)],
    }


def _partition_json(move: PlannedReassignment, verdict: ShapeVerdict, min_insync: int) -> dict[str, Any]:
    return {
        "topic": move.partition.topic,
        "partition": move.partition.partition,
        "current": list(move.current),
        "target": list(move.target),
        "cancellable": None if verdict.trouble == "undetermined" else verdict.cancellable,
        "trouble": verdict.trouble or None,
        "failing": verdict.failures,
        "way": way(verdict, move),
        "outcome": outcome(verdict, move, min_insync) or None,
        "restored": list(move.restored),
    }


def _shape_json(verdict: ShapeVerdict) -> dict[str, Any]:
    shape = verdict.shape
    return {
        "removed": shape.removed,
        "kept": shape.kept,
        "added": shape.added,
        "leader_stays": shape.leader_stays,
        "cancellable": None if verdict.trouble == "undetermined" else verdict.cancellable,
        "failing": verdict.failures,
        "distinct": verdict.distinct,
    }


def _real(numbers: Iterable[int], move: PlannedReassignment) -> list[int]:
    return [move.brokers[number - 1] for number in numbers]


def _brokers(brokers: Iterable[int]) -> str:
    return f"[{','.join(str(broker) for broker in brokers)}]"


def _others(count: int) -> str:
    return f" (and {count:,} more)" if count else ""


def _named(moves: Sequence[PlannedReassignment]) -> list[str]:
    """The partitions, with consecutive numbers combined: ``foo-0..4``."""
    names = []
    partitions = sorted(move.partition for move in moves)
    for topic, of_topic in groupby(partitions, key=lambda partition: partition.topic):
        numbers = [partition.partition for partition in of_topic]
        for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
            ends = [number for _, number in run]
            names.append(f"{topic}-{ends[0]}" if len(ends) == 1 else f"{topic}-{ends[0]}..{ends[-1]}")
    return names


def _wrapped(names: Sequence[str], width: int = 110) -> Iterator[str]:
    line = ""
    for name in names:
        if line and len(line) + len(name) + 1 > width:
            yield line
            line = ""
        line = f"{line} {name}" if line else name
    if line:
        yield line
