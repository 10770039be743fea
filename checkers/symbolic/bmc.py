"""Bounded search: a shortest run that breaks a property, or the proof that there is none up to a depth."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from checkers.exploration import TraceState, Violation
from checkers.properties import Property
from checkers.symbolic.effects import Fired
from checkers.symbolic.system import Replica, System, Transition, replaced
from checkers.symbolic.terms import as_term, conj, disj, negation
from model.language.errors import SourceError
from model.language.model import State
from model.language.reference import Step, fire, holds, within_boundary


@dataclass(slots=True)
class Bounded:
    """What a bounded search found: ``depth`` states deep there is no violation beside those in ``violation``."""

    depth: int = 0
    violation: Violation | None = None
    reached: dict[str, int] = field(default_factory=dict)
    stopped: str = ""
    seconds: float = 0.0


class Unrolling:
    """Copies of the transition relation, one after the other, in one solver."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.solver = z3.SolverFor("QF_FD")
        self.states: list[Replica] = [system.replica("0:")]
        self.choices: list[list[Any]] = []
        self.parameters: list[list[list[Any]]] = []
        self.relation = Transition(system)

    def extend(self) -> None:
        """One more step."""
        index = len(self.choices)
        there = self.system.replica(f"{index + 1}:")
        copies = [[z3.Const(f"{index}:{term}", term.sort()) for term in own] for own in self.relation.parameters]
        choices = [z3.Bool(f"{index}:{chosen}") for chosen in self.relation.chosen]
        step = self.relation
        old = (*self.system.now.terms, *step.next.terms, *step.chosen, *itertools.chain(*step.parameters))
        new = (*self.states[-1].terms, *there.terms, *choices, *itertools.chain(*copies))
        self.solver.add(replaced(step.term, old, new))
        self.states.append(there)
        self.choices.append(choices)
        self.parameters.append(copies)

    def at(self, term: Any, index: int) -> Any:
        """A term about the present state, about the state number ``index``."""
        return replaced(term, self.system.now.terms, self.states[index].terms)

    def over(self, term: Any, before: Replica, index: int) -> Any:
        """A term about ``before`` and the present state, about the step that leads to the state ``index``."""
        old = (*before.terms, *self.system.now.terms)
        return replaced(term, old, (*self.states[index - 1].terms, *self.states[index].terms))

    def trace(self, model: Any, length: int) -> tuple[TraceState, ...]:
        """The run that a model of z3 shows, confirmed by CPython."""
        system = self.system
        states = [system.decode(replica.state, model) for replica in self.states[:length]]
        first = next(step for step, state in system.initial_states() if state == states[0])
        found = [TraceState(first, states[0])]
        for index in range(length - 1):
            step = self.step(model, index)
            self.confirm(states[index], step, states[index + 1])
            found.append(TraceState(step, states[index + 1]))
        return tuple(found)

    def step(self, model: Any, index: int) -> Step:
        system = self.system
        pairs = zip(system.fired, self.choices[index], self.parameters[index], strict=True)
        for fired, chosen, copies in pairs:
            if z3.is_true(model.eval(chosen, True)):
                return _step(system, fired, copies, model)
        raise AssertionError("no action was chosen")

    def confirm(self, before: State, step: Step, after: State) -> None:
        real = fire(self.system.model, before, step)
        if real != after:
            raise RuntimeError(f"{step}: z3 leads to {after}, CPython to {real}")


def _step(system: System, fired: Fired, copies: list[Any], model: Any) -> Step:
    """An action with the arguments that copies of its parameters have."""
    own = system.parameter_terms(fired)
    arguments = {}
    for parameter, value in zip(fired.action.parameters, fired.parameters, strict=True):
        renamed = _renamed(value, dict(zip((term.get_id() for term in own), copies, strict=True)))
        arguments[parameter.name] = system.values.decode(parameter.type, renamed, model)
    return Step(fired.action.name, arguments)


def _renamed(value: Any, names: dict[int, Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_renamed(part, names) for part in value)
    return names.get(value.get_id(), value) if isinstance(value, z3.ExprRef) else value


def search(
    system: System, properties: Sequence[Property], depth: int, seconds: float | None = None, least: int = 1
) -> Bounded:
    """Looks for a shortest run of at most ``depth`` states that breaks a property or the model's types.

    Properties of the kind "reachable" are looked for, too: ``reached`` says how deep. With ``least`` the search
    begins with runs of that length.
    """
    started = time.perf_counter()
    unrolling = Unrolling(system)
    unrolling.solver.add(unrolling.at(as_term(system.initial(system.now.state)), 0))
    before = system.replica("old:")
    judged = {}
    for prop in properties:
        predicate = system.predicates[prop.name]
        old = before.state if prop.kind == "transition" else None
        judged[prop.name] = system.judge(predicate, system.now.state, old)
    inside = system.within(system.now.state)
    failing = as_term(conj((inside, disj(fired.failed for fired in system.fired))))
    unbounded = as_term(system.boundary_failed(system.now.state))
    found = Bounded()
    missing = {prop.name for prop in properties if prop.kind == "reachable"}
    for length in range(1, depth + 1):
        if length > 1:
            unrolling.extend()
        if length < least:
            continue
        goals: list[tuple[str, Property | None, Any]] = []
        for prop in properties:
            if prop.kind == "transition" and length == 1:
                continue
            one = judged[prop.name]
            truth = conj((inside, one.truth)) if prop.kind == "reachable" else negation(one.truth)
            if prop.kind != "reachable" or prop.name in missing:
                goals.append((prop.kind, prop, _placed(unrolling, before, as_term(truth), prop.kind, length)))
            if one.failed is not False:
                goals.append(("error", prop, _placed(unrolling, before, as_term(one.failed), prop.kind, length)))
        goals.append(("boundary", None, unrolling.at(unbounded, length - 1)))
        goals.append(("error", None, unrolling.at(failing, length - 1)))
        outcome = _ask(unrolling, goals, missing, found, length, started, seconds)
        found.depth = length if outcome == "clear" else found.depth
        if outcome != "clear":
            found.stopped = "" if outcome == "violated" else outcome
            break
    found.seconds = time.perf_counter() - started
    return found


def _placed(unrolling: Unrolling, before: Replica, term: Any, kind: str, length: int) -> Any:
    return unrolling.over(term, before, length - 1) if kind == "transition" else unrolling.at(term, length - 1)


def _ask(
    unrolling: Unrolling,
    goals: list[tuple[str, Property | None, Any]],
    missing: set[str],
    found: Bounded,
    length: int,
    started: float,
    seconds: float | None,
) -> str:
    """Asks for each goal at one length. "clear", "violated", or why the answer is not known."""
    bad = [(kind, prop, goal) for kind, prop, goal in goals if kind != "reachable" and not z3.is_false(goal)]
    answer = _check(unrolling, disj(goal for _, _, goal in bad), f"bad:{length}", started, seconds)
    if isinstance(answer, str):
        return answer
    if answer is not None:
        kind, prop, _ = next(entry for entry in bad if z3.is_true(answer.eval(entry[2], True)))
        found.violation = _violation(unrolling, kind, prop, answer, length)
        return "violated"
    for kind, prop, goal in goals:
        if kind != "reachable" or z3.is_false(goal):
            continue
        assert prop is not None
        answer = _check(unrolling, goal, f"{prop.name}:{length}", started, seconds)
        if isinstance(answer, str):
            return answer
        if answer is not None:
            missing.discard(prop.name)
            found.reached[prop.name] = length
    return "clear"


def _check(unrolling: Unrolling, goal: Any, name: str, started: float, seconds: float | None) -> Any:
    """A model of z3 in which the goal is true, None when there is none, or why that is not known."""
    solver = unrolling.solver
    if seconds is not None:
        left = seconds - (time.perf_counter() - started)
        if left <= 0:
            return f"the limit of {seconds:g} seconds"
        solver.set("timeout", max(1, int(left * 1000)))
    mark = z3.Bool(f"goal:{name}")
    goal = as_term(goal)
    solver.add(z3.Implies(mark, goal))
    answer = solver.check(mark)
    if answer == z3.unknown:
        if seconds is not None and time.perf_counter() - started >= seconds:
            return f"the limit of {seconds:g} seconds"
        return f"z3's answer {solver.reason_unknown()!r}"
    if answer == z3.sat:
        return solver.model()
    solver.add(z3.Not(goal))  # follows from the rest; said, it spares later questions much of their search
    return None


def _violation(unrolling: Unrolling, kind: str, prop: Property | None, model: Any, length: int) -> Violation:
    system = unrolling.system
    trace = unrolling.trace(model, length)
    name = prop.name if prop is not None else ""
    if kind == "boundary":
        return _failing_boundary(system, trace)
    if kind == "error" and prop is None:
        step, error = _failing(system, model, unrolling, trace)
        return Violation("error", name, trace, error.message, error.file, error.line, step)
    assert prop is not None
    states = [trace[-2].state, trace[-1].state] if prop.kind == "transition" else [trace[-1].state]
    try:
        if holds(system.model, prop.function, *states):
            raise RuntimeError(f"{name}: z3 says false where CPython says true; the state is {states[-1]}")
    except SourceError as error:
        return Violation("error", name, trace, error.message, error.file, error.line)
    return Violation("transition" if kind == "transition" else "invariant", name, trace)


def _failing_boundary(system: System, trace: tuple[TraceState, ...]) -> Violation:
    try:
        within_boundary(system.model, trace[-1].state)
    except SourceError as error:
        return Violation("error", "", trace, error.message, error.file, error.line)
    raise RuntimeError(f"z3 finds a boundary that fails, CPython does not, in {trace[-1].state}")


def _failing(
    system: System, model: Any, unrolling: Unrolling, trace: tuple[TraceState, ...]
) -> tuple[Step, SourceError]:
    """The step that leaves the declared types from the last state of a trace."""
    here = unrolling.states[len(trace) - 1]
    for fired in system.fired:
        own = system.parameter_terms(fired)
        bad = replaced(as_term(fired.failed), system.now.terms, here.terms)
        if z3.is_false(bad):
            continue
        solver = z3.SolverFor("QF_FD")
        solver.add(as_term(system.equal(here.state, system.constant(trace[-1].state))), bad)
        if solver.check() != z3.sat:
            continue
        step = _step(system, fired, own, solver.model())
        try:
            fire(system.model, trace[-1].state, step)
        except SourceError as error:
            return step, error
    raise RuntimeError("z3 finds a step that leaves the declared types, CPython does not")
