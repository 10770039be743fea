"""Checks liveness after a finished search, on the graph of its states."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Protocol

from floodmark.checkers.liveness.assumptions import Assumptions, assumptions_of
from floodmark.checkers.liveness.compiled_graph import GraphMaker, NativeSolver, Rows, budget
from floodmark.checkers.liveness.goals import Goal, goals_of
from floodmark.checkers.liveness.graph import Graph
from floodmark.checkers.liveness.judge import LivenessJudge, Solver
from floodmark.checkers.liveness.mapped_runs import MappedRuns, mapped_goals
from floodmark.checkers.liveness.plain import PlainSolver, plain_graph
from floodmark.checkers.liveness.witness import WitnessRuns
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Finding, LimitReached, Options, Premise, SearchResult, Violation
from floodmark.checkers.value_text import show_arguments
from floodmark.compiler.layout import lay_out
from floodmark.language.bounding import UnboundedAction, beyond_bounds
from floodmark.language.conditions import Condition
from floodmark.language.errors import ModelError
from floodmark.language.model import Model, State, sized
from floodmark.language.widths import Widths

MAX_CONDITIONS = 60
Make = Callable[[Sequence[Condition], Assumptions, dict[str, UnboundedAction]], tuple[Graph, float]]
"""Builds the graph; returns it with the seconds that its code took to compile."""


class StoreJudge(Protocol):
    """Judges goals in the search's own store, without a graph."""

    def finding(self, goal: Goal) -> Finding | None:
        """The finding on a goal; None if it requires the graph."""

    def is_ever(self, condition: Condition) -> bool:
        """Whether a condition holds in some state."""

    def confirm(self) -> None:
        """Raises SourceError if the stored states have changed since the search."""

    def close(self) -> None:
        """Removes the data that was kept for it."""


Begin = Callable[[Sequence[Condition], Assumptions, Callable[[], None]], StoreJudge]


def split_properties(properties: Sequence[Property]) -> tuple[list[Property], list[Property]]:
    """The properties of states and steps, and those of whole runs."""
    return [it for it in properties if not it.is_liveness], [it for it in properties if it.is_liveness]


def refuse_symmetry(liveness: Sequence[Property], options: Options) -> None:
    """Raises ModelError for liveness over orbits."""
    if liveness and options.symmetry:
        prop = liveness[0]
        message = f"{prop.name} is about runs, and a run of orbits need not be one of the model, as fairness"
        message += " distinguishes names; check it with --no-symmetry, or in a spec without symmetry"
        raise ModelError(message, prop.file, prop.line)


def after_native(
    model: Model, liveness: Sequence[Property], options: Options, pieces: Iterable[Rows], found: SearchResult,
    begin: Begin | None = None,
) -> SearchResult:  # fmt: skip
    """Judges liveness over the states that a native search found, rows of words, and adds the findings to its result.

    ``begin`` may judge goals without the graph; then ``pieces`` are fetched only for the goals that it leaves open.
    """
    paused = budget(time.perf_counter() - found.seconds, options.limits)

    def make(
        conditions: Sequence[Condition], assumptions: Assumptions, beyond: dict[str, UnboundedAction]
    ) -> tuple[Graph, float]:
        threads = max(found.workers, 1)
        maker = GraphMaker(model, pieces, found.distinct, threads, conditions, assumptions, beyond, paused)
        return maker.graph(), maker.compile_seconds

    return _judge(model, liveness, options, found, make, NativeSolver(), paused, begin)


def after_reference(
    model: Model, liveness: Sequence[Property], options: Options, states: Sequence[State],
    initial: Sequence[State], found: SearchResult,
) -> SearchResult:  # fmt: skip
    """The same in plain Python."""
    paused = budget(time.perf_counter() - found.seconds, options.limits)

    def make(
        conditions: Sequence[Condition], assumptions: Assumptions, beyond: dict[str, UnboundedAction]
    ) -> tuple[Graph, float]:
        layout = lay_out(sized(model, Widths(found.widths)).variable_types)
        return plain_graph(model, states, initial, conditions, assumptions, beyond, layout), 0.0

    return _judge(model, liveness, options, found, make, PlainSolver(), paused)


def _judge(
    model: Model, liveness: Sequence[Property], options: Options, found: SearchResult, make: Make, solver: Solver,
    paused: Callable[[], None], begin: Begin | None = None,
) -> SearchResult:  # fmt: skip
    started = time.perf_counter()
    judged = _Findings(assumptions_of(model, options.fairness))
    stop = found.stopped
    try:
        _find(model, liveness, judged, make, solver, paused, begin)
    except LimitReached as ended:
        stop = ended.stop
    violations = [
        Violation(
            "liveness", finding.property, finding.trace,
            f"for {show_arguments(finding.arguments)}" if finding.arguments else "", loop=finding.loop,
        )
        for finding in judged.findings
        if finding.verdict == "violated"
    ]  # fmt: skip
    taken = time.perf_counter() - started
    return replace(
        found,
        stopped=stop,
        complete=stop is None and found.complete,
        violations=sorted([*found.violations, *violations], key=lambda violation: len(violation.trace)),
        vacuous=[*found.vacuous, *judged.vacuous],
        liveness=judged.findings,
        assumed=tuple(str(assumption) for assumption in judged.assumptions.by_action.values()),
        notes=[*found.notes, *judged.notes],
        seconds=found.seconds + taken - judged.compile_seconds,
        compile_seconds=found.compile_seconds + judged.compile_seconds,
    )


@dataclass(slots=True)
class _Findings:
    """The findings on a model's runs so far."""

    assumptions: Assumptions
    findings: list[Finding] = field(default_factory=list)
    vacuous: list[Premise] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    compile_seconds: float = 0.0


def _find(
    model: Model, liveness: Sequence[Property], found: _Findings, make: Make, solver: Solver,
    paused: Callable[[], None], begin: Begin | None,
) -> None:  # fmt: skip
    assumptions = found.assumptions
    goals, mapped = goals_of(model, liveness), mapped_goals(model, liveness)
    conditions = [condition for goal in goals for condition in goal.conditions]
    if len(conditions) > MAX_CONDITIONS:
        message = f"liveness properties come to {len(conditions)} conditions, more than {MAX_CONDITIONS}"
        raise ModelError(f"{message}; check them in two specs", *type(model).source_position())
    every = [*goals, *mapped]
    findings: list[Finding | None] = [None] * len(every)  # by place: the name of a goal is what its arguments print as
    premises: set[str] = set()
    """The properties with a premise that holds in some state."""
    if begin is not None:
        compiling = time.perf_counter()
        with closing(begin(conditions, assumptions, paused)) as elsewhere:
            found.compile_seconds += time.perf_counter() - compiling
            findings[: len(goals)] = [elsewhere.finding(goal) for goal in goals]
            elsewhere.confirm()
            premises = {goal.prop.name for goal in goals if goal.starts and elsewhere.is_ever(goal.starts)}
    open_places = [place for place in range(len(goals)) if findings[place] is None]
    if begin is not None and open_places:
        names = ", ".join(goals[place].name for place in open_places)
        found.notes.append(f"the driver judges runs that may end at a bound: {names}")
    if begin is not None and mapped:
        found.notes.append(f"the driver judges mapped runs: {', '.join(dict.fromkeys(it.prop.name for it in mapped))}")
    if open_places or mapped:
        beyond = beyond_bounds(model)
        graph, seconds = make(conditions, assumptions, beyond)
        found.compile_seconds += seconds
        bounded = bool(beyond or type(model).methods("boundary"))
        judge = LivenessJudge(
            model, assumptions, graph, solver, WitnessRuns(model, assumptions, beyond), bounded
        )
        for place in open_places:
            goal = goals[place]
            paused()
            started = None if goal.starts is None else graph.where(conditions.index(goal.starts))
            findings[place] = finding = judge.finding(goal, graph.where(conditions.index(goal.goal)), started)
            if started is not None and started.any():
                premises.add(goal.prop.name)
            if begin is not None and finding.verdict == "holds":
                raise RuntimeError(f"{goal.name}: elimination left a fair run, and the driver finds none")
        of_mappings = [it for it in liveness if it.mapping is not None]
        for mapping in dict.fromkeys(it.mapping for it in of_mappings):
            runs = MappedRuns(model, mapping, graph)
            for place, goal in enumerate(mapped, len(goals)):
                if goal.prop.mapping is not mapping:
                    continue
                paused()
                started = None if goal.starts is None else runs.where(goal.starts)
                barring = replace(judge, graph=runs.barring(goal))
                findings[place] = barring.finding(goal, runs.where(goal.goal), started)
                if started is not None and started.any():
                    premises.add(goal.prop.name)
    vacuous = {goal.prop.name for goal in every if goal.starts} - premises
    found.vacuous += [Premise(it.name, it.file, it.line) for it in liveness if it.name in vacuous]
    for one in findings:
        assert one is not None
        found.findings.append(one)
