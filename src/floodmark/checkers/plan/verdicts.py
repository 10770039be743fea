"""Checks shapes: for each, searches the model of one such reassignment, with more and more failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from floodmark.checkers import processes
from floodmark.checkers.plan.shapes import Shape
from floodmark.checkers.report.progress import CountingLine
from floodmark.checkers.resources import cores

if TYPE_CHECKING:
    from floodmark.checkers.search_result import Violation
    from floodmark.language.model import Model
    from floodmark.language.reference import Step

ControllerDesign = Literal["kraft", "kip236"]
Trouble = Literal["", "no leader", "below min.insync.replicas", "undetermined"]

MAX_SHAPE_BROKERS = 16
"""The most brokers that may take part in a move; the model's sets of them are masks."""
_TROUBLE_BY_PROPERTY: dict[str, Trouble] = {
    "cancellation_keeps_leader": "no leader",
    "cancellation_keeps_min_isr": "below min.insync.replicas",
}
_MODELS: dict[ControllerDesign, str] = {"kraft": "PlannedKraftReassignment", "kip236": "PlannedKip236Reassignment"}
_FAILURES = frozenset({"broker_crashes", "follower_leaves_isr"})
_BROKER_PARAMETERS = ("broker", "follower")


@dataclass(frozen=True, slots=True)
class TroubleStep:
    """One step of a way into trouble; ``broker`` is the model's number of the broker that it is about."""

    action: str
    broker: int | None


@dataclass(frozen=True, slots=True)
class TroubleState:
    """The end of a way: the leader, the ISR and the live brokers, as the model's numbers."""

    leader: int | None
    isr: tuple[int, ...]
    live: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShapeVerdict:
    """The result for a shape: the shortest way to a point where a cancellation is in trouble, if there is one."""

    shape: Shape
    trouble: Trouble = ""
    way: tuple[TroubleStep, ...] = ()
    end: TroubleState | None = None
    distinct: int = 0

    @property
    def cancellable(self) -> bool:
        """Whether the plan can be cancelled at every point."""
        return not self.trouble

    @property
    def failures(self) -> int:
        """The number of brokers that crash or fall behind on the way."""
        return len({step.broker for step in self.way if step.action in _FAILURES})


def check_shape(
    shape: Shape,
    min_insync: int,
    design: ControllerDesign,
    most_failures: int | None,
    max_states: int = 50_000_000,
    in_cpython: bool = False,
) -> ShapeVerdict:
    """Searches a shape until a cancellation is in trouble, or every point of it has been seen: in machine code, or in
    CPython, which is slow."""
    if shape.brokers > MAX_SHAPE_BROKERS:
        raise ValueError(f"{shape}: more than {MAX_SHAPE_BROKERS} brokers")
    from floodmark.checkers.project.modules import Project
    from floodmark.checkers.project.properties import collect
    from floodmark.checkers.search_result import Limits, Options

    if in_cpython:
        from floodmark.checkers.reference.search import search_states
    else:
        from floodmark.checkers.native.search import search_states

    shipped = Project.shipped()
    cls: type[Model] = vars(shipped.required("model.reassignment.plan"))[_MODELS[design]]
    model = cls(
        brokers=shape.brokers,
        replication_factor=shape.removed + shape.kept,
        removed=shape.removed,
        leader_stays=shape.leader_stays,
        failures=shape.brokers if most_failures is None else min(most_failures, shape.brokers),
        min_insync_replicas=min_insync,
        largest_target=shape.brokers,
    )
    found = collect(cls, [shipped.required("invariants.reassignment.plan")])
    properties = [found[name] for name in _TROUBLE_BY_PROPERTY]
    explored = search_states(model, properties, Options(workers=1, limits=Limits(states=max_states)))
    for violation in explored.violations:
        if violation.kind != "invariant":
            raise RuntimeError(f"{shape}: {violation.message or violation.property}")
    if not explored.violations:
        return ShapeVerdict(shape, "" if explored.complete else "undetermined", distinct=explored.distinct)
    violation = explored.violations[0]
    way = tuple(TroubleStep(state.step.action, _broker(state.step)) for state in violation.trace[1:])
    trouble = _TROUBLE_BY_PROPERTY[violation.property]
    return ShapeVerdict(shape, trouble, way, _point(model, violation), explored.distinct)


def _broker(step: Step) -> int | None:
    for name in _BROKER_PARAMETERS:
        if name in step.arguments:
            number: int = step.arguments[name].number
            return number
    return None


def _point(model: Model, violation: Violation) -> TroubleState:
    values = dict(zip(model.variable_types, violation.trace[-1].state, strict=True))
    (replication,) = values["replication"].values()
    return TroubleState(
        None if replication.leader is None else replication.leader.number,
        tuple(broker.number for broker in replication.isr),
        tuple(broker.number for broker in values["live"]),
    )


ShapeMap = Callable[[Sequence[Shape], Callable[[Shape], ShapeVerdict]], list[ShapeVerdict]]
"""Checks shapes in this process, in several, or as tasks of a cluster."""


def map_shapes(
    shapes: Sequence[Shape], check: Callable[[Shape], ShapeVerdict], workers: int = 0
) -> list[ShapeVerdict]:
    """Checks each shape in its own process, the widest first; ``workers=0`` means one per core."""
    workers = min(workers or cores(), len(shapes))
    if workers <= 1:
        return [check(shape) for shape in shapes]
    ordered = sorted(shapes, key=lambda shape: -shape.brokers)
    with CountingLine(len(ordered), "shape") as counting:
        found = dict(zip(ordered, processes.results(check, ordered, workers, counting.one), strict=True))
    return [found[shape] for shape in shapes]


def map_shapes_on_spark(
    shapes: Sequence[Shape], check: Callable[[Shape], ShapeVerdict], master: str | None = None
) -> list[ShapeVerdict]:
    """Checks each shape in a Spark task."""
    from floodmark.checkers.spark.session import session

    context = session(master).sparkContext
    found: list[ShapeVerdict] = context.parallelize(list(shapes), len(shapes)).map(check).collect()
    return found


def check_shapes(
    shapes: Iterable[Shape],
    min_insync: int,
    design: ControllerDesign = "kraft",
    most_failures: int | None = None,
    mapped: ShapeMap = map_shapes,
    in_cpython: bool = False,
) -> dict[Shape, ShapeVerdict]:
    """The verdict of each shape; ``mapped`` decides where they are checked."""
    distinct = sorted(set(shapes))
    check = partial(
        check_shape, min_insync=min_insync, design=design, most_failures=most_failures, in_cpython=in_cpython
    )
    return dict(zip(distinct, mapped(distinct, check), strict=True))
