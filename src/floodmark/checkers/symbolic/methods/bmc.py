"""Bounded model checking: finds a shortest run that violates a property, or proves that there is none up to a depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Stop, TraceState, Violation
from floodmark.checkers.symbolic.methods.runs import Runs
from floodmark.checkers.symbolic.methods.smtlib import ObligationRecorder
from floodmark.checkers.symbolic.methods.unrolling import step_of
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.terms.booleans import as_term, conj, disj, negation
from floodmark.checkers.symbolic.terms.smt_text import SolverStatus
from floodmark.checkers.symbolic.translate.transition_system import Replica, System, replaced
from floodmark.language.errors import SourceError
from floodmark.language.plurals import counted
from floodmark.language.reference import Step, fire, holds, within_boundary
from floodmark.language.values import Identifier


@dataclass(slots=True)
class RunGoal:
    """The possible goals of a run: a false property, a reached property, or an error."""

    kind: str
    prop: Property | None
    term: Any
    status: SolverStatus = "unknown"


@dataclass(frozen=True, slots=True)
class BmcResult:
    """The result of a bounded search: apart from ``violation``, there is no violation within ``depth`` states.

    ``interchangeable`` are the identifiers that the model was proved to treat symmetrically.
    """

    depth: int = 0
    violation: Violation | None = None
    reached: dict[str, int] = field(default_factory=dict)
    stopped: Stop | None = None
    interchangeable: list[tuple[Identifier, ...]] = field(default_factory=list)
    seconds: float = 0.0


def search(
    system: System,
    properties: Sequence[Property],
    depth: int,
    deadline: Deadline | None = None,
    least: int = 1,
    record: ObligationRecorder | None = None,
    after: Sequence[TraceState] = (),
) -> BmcResult:
    """Searches for a shortest run of at most ``depth`` states that violates a property or the model's types; from the
    initial states, or from the end of the run ``after``, with which a violation's trace then begins.

    It also searches for states that satisfy "reachable" properties: ``reached`` has the depth of each. With ``least``
    the search begins with runs of that length. ``record`` receives every query.
    """
    deadline = deadline or Deadline()
    runs = Runs(system, properties, after)
    before = system.replica("old:")
    judged = {}
    for prop in properties:
        predicate = system.predicates[prop.name]
        old = before.state if prop.kind == "transition" else None
        judged[prop.name] = system.judge(predicate, system.now.state, old)
    inside = system.within(system.now.state)
    failing = as_term(conj((inside, disj(fired.failed for fired in system.fired))))
    unbounded = as_term(system.boundary_failed(system.now.state))
    searched, outcome = 0, None
    reached: dict[str, int] = {}
    missing = {prop.name for prop in properties if prop.kind == "reachable"}
    for length in range(1, depth + 1):
        if length > 1:
            runs.extend()
        if length < least:
            continue
        goals: list[RunGoal] = []
        for prop in properties:
            if prop.kind == "transition" and length == 1:
                continue
            one = judged[prop.name]
            truth = conj((inside, one.truth)) if prop.kind == "reachable" else negation(one.truth)
            if prop.kind != "reachable" or prop.name in missing:
                goals.append(RunGoal(prop.kind, prop, _placed(runs, before, as_term(truth), prop.kind, length)))
            if one.failed is not False:
                goals.append(RunGoal("error", prop, _placed(runs, before, as_term(one.failed), prop.kind, length)))
        goals.append(RunGoal("boundary", None, runs.at(unbounded, length - 1)))
        goals.append(RunGoal("error", None, runs.at(failing, length - 1)))
        outcome = _ask(runs, goals, missing, reached, length, deadline)
        if record is not None:
            _record(record, runs, goals, length)
        if outcome is not None:
            break
        searched = length
    violation, stopped = (None, outcome) if isinstance(outcome, Stop) else (outcome, None)
    return BmcResult(searched, violation, reached, stopped, runs.interchangeable, deadline.seconds_used)


def _placed(runs: Runs, before: Replica, term: Any, kind: str, length: int) -> Any:
    return runs.over(term, before, length - 1) if kind == "transition" else runs.at(term, length - 1)


def _ask(
    runs: Runs, goals: list[RunGoal], missing: set[str], reached: dict[str, int], length: int, deadline: Deadline
) -> Violation | Stop | None:
    """Solves each goal at one length: a violation, if there is one; a Stop if the answer is unknown. Moves what is
    reached from ``missing`` to ``reached``."""
    bad = [goal for goal in goals if goal.kind != "reachable"]
    answer = runs.ask(disj(goal.term for goal in bad if not z3.is_false(goal.term)), deadline)
    if isinstance(answer, Stop):
        return answer
    if answer is not None:
        shown = next(goal for goal in bad if z3.is_true(answer.eval(goal.term, True)))
        shown.status = "sat"
        return _violation(runs, shown.kind, shown.prop, answer, length)
    for goal in bad:
        goal.status = "unsat"
    for goal in goals:
        if goal.kind != "reachable":
            continue
        assert goal.prop is not None
        answer = None if z3.is_false(goal.term) else runs.ask(goal.term, deadline)
        if isinstance(answer, Stop):
            return answer
        goal.status = "unsat" if answer is None else "sat"
        if answer is not None:
            missing.discard(goal.prop.name)
            reached[goal.prop.name] = length
    return None


def _record(record: ObligationRecorder, runs: Runs, goals: list[RunGoal], length: int) -> None:
    for goal in goals:
        subject = "" if goal.prop is None else f" {goal.prop.name}"
        about = f"a run of {counted(length, 'state')}: {_KINDS[goal.kind]}{subject}"
        name = f"{length}-states{subject.replace(' ', '-')}-{goal.kind}"
        record(name, about, (*runs.meaning, goal.term), goal.status)


_KINDS = {
    "invariant": "the last state breaks",
    "lemma": "the last state breaks",
    "transition": "the last step breaks",
    "reachable": "the last state is one of",
    "boundary": "the boundary cannot be evaluated",
    "error": "the model leaves its declared types, or evaluation fails in",
}


def _violation(runs: Runs, kind: str, prop: Property | None, model: Any, length: int) -> Violation:
    system = runs.system
    trace = runs.trace(model, length, runs.before)
    name = prop.name if prop is not None else ""
    if kind == "boundary":
        return _failing_boundary(system, trace)
    if kind == "error" and prop is None:
        step, error = _failing(system, runs, length, trace)
        return Violation.of_error(error, name, trace, step)
    assert prop is not None
    states = [trace[-2].state, trace[-1].state] if prop.kind == "transition" else [trace[-1].state]
    try:
        if holds(system.model, prop.function, *states):
            raise RuntimeError(f"{name}: z3 says false where CPython says true, in the state {states[-1]}")
    except SourceError as error:
        return Violation.of_error(error, name, trace)
    return Violation("transition" if kind == "transition" else "invariant", name, trace)


def _failing_boundary(system: System, trace: tuple[TraceState, ...]) -> Violation:
    try:
        within_boundary(system.model, trace[-1].state)
    except SourceError as error:
        return Violation.of_error(error, "", trace)
    raise RuntimeError(f"z3 finds that a boundary fails and CPython does not, in the state {trace[-1].state}")


def _failing(
    system: System, runs: Runs, length: int, trace: tuple[TraceState, ...]
) -> tuple[Step, SourceError]:
    """The step from the last state of a trace that leaves the declared types; z3's run has ``length`` states."""
    here = runs.states[length - 1]
    for fired in system.fired:
        own = system.parameter_terms(fired)
        bad = replaced(as_term(fired.failed), system.now.terms, here.terms)
        if z3.is_false(bad):
            continue
        solver = z3.SolverFor("QF_FD")
        solver.add(as_term(system.equal(here.state, system.constant(trace[-1].state))), bad)
        if solver.check() != z3.sat:
            continue
        step = step_of(system, fired, own, solver.model())
        try:
            fire(system.model, trace[-1].state, step)
        except SourceError as error:
            return step, error
    raise RuntimeError("z3 finds a step that leaves the declared types and CPython finds none")
