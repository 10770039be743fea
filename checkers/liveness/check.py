"""Liveness after a finished search: the goals of its properties are judged over the graph of what it found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from floodmark.checkers.exploration import Exploration, Finding, Options, Premise, Violation
from floodmark.checkers.liveness.assumptions import Assumptions, assumptions_of
from floodmark.checkers.liveness.goals import goals_of
from floodmark.checkers.liveness.graph import Graph
from floodmark.checkers.liveness.judge import Judge, Solver
from floodmark.checkers.liveness.native import Ended, GraphMaker, NativeSolver, Rows, budget
from floodmark.checkers.liveness.plain import PlainSolver, plain_graph
from floodmark.checkers.liveness.witness import Witness
from floodmark.checkers.properties import Property
from floodmark.compiler.layout import lay_out
from floodmark.language.bounding import Beyond, beyond_bounds
from floodmark.language.conditions import Condition
from floodmark.language.errors import ModelError
from floodmark.language.fairness import Fairness
from floodmark.language.model import Model, State, sized
from floodmark.language.widths import Widths

MOST_CONDITIONS = 60
Make = Callable[[Sequence[Condition], Assumptions, dict[str, Beyond]], Graph]


def split(properties: Sequence[Property]) -> tuple[list[Property], list[Property]]:
    """The properties of states and steps, and those of whole runs."""
    return [it for it in properties if not it.is_liveness], [it for it in properties if it.is_liveness]


def refuse_symmetry(liveness: Sequence[Property], options: Options) -> None:
    """Raises ModelError when liveness is asked about orbits."""
    if liveness and options.symmetry:
        prop = liveness[0]
        message = f"{prop.name} is about runs, and a run of orbits need not be one of the model: fairness tells names"
        message += " apart; check it with --no-symmetry, or in a spec without symmetry"
        raise ModelError(message, prop.file, prop.line)


def after_native(
    model: Model, liveness: Sequence[Property], options: Options, pieces: Iterable[Rows], found: Exploration
) -> None:
    """Judges liveness over the states that a native search found, rows of words, and adds it to what was found."""
    paused = budget(time.perf_counter() - found.seconds, options.limits)

    def make(conditions: Sequence[Condition], assumptions: Assumptions, beyond: dict[str, Beyond]) -> Graph:
        threads = max(found.workers, 1)
        maker = GraphMaker(model, pieces, found.distinct, threads, conditions, assumptions, beyond, paused)
        graph = maker.graph()
        found.compile_seconds += maker.compile_seconds
        found.seconds -= maker.compile_seconds
        return graph

    _judge(model, liveness, options, found, make, NativeSolver(), paused)


def after_reference(
    model: Model, liveness: Sequence[Property], options: Options, states: Sequence[State],
    initial: Sequence[State], found: Exploration,
) -> None:  # fmt: skip
    """The same in plain Python."""
    paused = budget(time.perf_counter() - found.seconds, options.limits)

    def make(conditions: Sequence[Condition], assumptions: Assumptions, beyond: dict[str, Beyond]) -> Graph:
        layout = lay_out(sized(model, Widths(found.widths)).variable_types)
        return plain_graph(model, states, initial, conditions, assumptions, beyond, layout)

    _judge(model, liveness, options, found, make, PlainSolver(), paused)


def _judge(
    model: Model, liveness: Sequence[Property], options: Options, found: Exploration, make: Make, solver: Solver,
    paused: Callable[[], None],
) -> None:  # fmt: skip
    started = time.perf_counter()
    try:
        for finding in _findings(model, liveness, options.fairness, found, make, solver, paused):
            found.liveness.append(finding)
            if finding.verdict == "violated":
                chosen = finding.name.removeprefix(finding.property).strip("()")
                message = f"for {chosen}" if chosen else ""
                found.violations.append(
                    Violation("liveness", finding.property, finding.trace, message, loop=finding.loop)
                )
    except Ended as ended:
        found.stopped, found.complete = str(ended), False
    found.violations.sort(key=lambda violation: len(violation.trace))
    found.seconds += time.perf_counter() - started


def _findings(
    model: Model, liveness: Sequence[Property], fairness: Mapping[str, Fairness | None], found: Exploration, make: Make,
    solver: Solver, paused: Callable[[], None],
) -> list[Finding]:  # fmt: skip
    goals = goals_of(model, liveness)
    assumptions = assumptions_of(model, fairness)
    found.assumed = tuple(str(assumption) for assumption in assumptions.by_action.values())
    beyond = beyond_bounds(model)
    findings = []
    conditions = [condition for goal in goals for condition in goal.conditions]
    if len(conditions) > MOST_CONDITIONS:
        message = f"liveness properties come to {len(conditions)} conditions, more than {MOST_CONDITIONS}"
        raise ModelError(f"{message}; check them in two specs", *type(model).source_position())
    graph = make(conditions, assumptions, beyond)
    bounded = bool(beyond or type(model).methods("boundary"))
    judge = Judge(model, assumptions, graph, solver, Witness(model, graph, assumptions, beyond), bounded)
    begun: dict[str, bool] = {}
    for goal in goals:
        paused()
        place = conditions.index(goal.goal)
        premise = None if goal.starts is None else conditions.index(goal.starts)
        findings.append(judge.finding(goal, place, premise))
        if premise is not None:
            begun[goal.prop.name] = begun.get(goal.prop.name, False) or bool(graph.where(premise).any())
    found.vacuous += [Premise(it.name, it.file, it.line) for it in liveness if begun.get(it.name) is False]
    return findings
