"""Induction: the initial states satisfy a property, and every action preserves it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import z3

from checkers.properties import Property
from checkers.symbolic.effects import Fired
from checkers.symbolic.system import Components, System
from checkers.symbolic.terms import Truth, as_term, conj, disj, negation
from model.language.errors import SourceError
from model.language.model import State
from model.language.reference import Step, holds

INITIAL = "initial states"
TYPES = "declared types"
"""The obligation that an action leaves every value in its type and every container within its capacity."""

Outcome = Literal["proved", "fails", "undetermined"]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A state that satisfies everything that is assumed, and a step from it to one that does not.

    ``reachable`` is None when nobody was asked, or nobody could say. ``constants`` are those that are left open.
    """

    before: State
    step: Step
    after: State | None
    reachable: bool | None = None
    constants: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing to prove: that ``action`` preserves ``property``, or that the initial states have it."""

    action: str
    property: str
    outcome: Outcome
    counterexample: Counterexample | None = None
    reason: str = ""


@dataclass(slots=True)
class Proof:
    """The obligations of an induction and what became of them."""

    obligations: list[Obligation] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def outcome(self) -> Outcome:
        outcomes = {obligation.outcome for obligation in self.obligations}
        if "fails" in outcomes:
            return "fails"
        return "undetermined" if "undetermined" in outcomes else "proved"

    def failing(self) -> list[Obligation]:
        return [obligation for obligation in self.obligations if obligation.outcome != "proved"]


class Questions:
    """Asks z3, within a limit of time."""

    def __init__(self, system: System, seconds: float | None) -> None:
        self.system = system
        self.deadline = None if seconds is None else time.perf_counter() + seconds
        self.limit = seconds

    def solver(self) -> Any:
        return z3.Solver() if self.system.values.endless else z3.SolverFor("QF_FD")

    def ask(self, solver: Any, *goals: Any) -> tuple[Any, str]:
        """z3's answer, and the reason when it has none."""
        if self.deadline is not None:
            left = self.deadline - time.perf_counter()
            if left <= 0:
                return z3.unknown, f"the limit of {self.limit:g} seconds"
            solver.set("timeout", max(1, int(left * 1000)))
        answer = solver.check(*goals)
        return answer, solver.reason_unknown() if answer == z3.unknown else ""


def induction(
    system: System,
    properties: Sequence[Property],
    seconds: float | None = None,
    watch: Callable[[str], None] | None = None,
) -> Proof:
    """Tries to prove properties (invariants, lemmas, transition properties) by induction, all of them together."""
    started = time.perf_counter()
    questions = Questions(system, seconds)
    states = [prop for prop in properties if prop.kind != "transition"]
    system.initial_states()
    proof = Proof(assumed=[prop.name for prop in states])
    start = _beginning if system.values.endless else _initiation
    proof.obligations += start(system, questions, states)
    assumed = assumption(system, system.now.state, states)
    for fired in system.fired:
        if watch is not None:
            watch(fired.action.name)
        proof.obligations += _preserved(system, questions, properties, assumed, fired)
    proof.seconds = time.perf_counter() - started
    return proof


def assumption(system: System, state: Components, properties: Sequence[Property]) -> Truth:
    """That a state is one of the declared types, lies within the boundary and has the properties."""
    judged = [system.judge(system.predicates[prop.name], state) for prop in properties]
    return conj(
        [
            system.well_formed(state),
            system.within(state),
            *(one.truth for one in judged),
            *(negation(one.failed) for one in judged),
        ]
    )


def _initiation(system: System, questions: Questions, properties: Sequence[Property]) -> list[Obligation]:
    found = []
    for prop in properties:
        bad = None
        outcome: Outcome = "proved"
        reason = ""
        for step, state in system.initial_states():
            outcome = "proved" if _holds(system, prop, state) else "fails"
            if outcome != "proved":
                bad = Counterexample(state, step, None, True)
                break
        found.append(Obligation(INITIAL, prop.name, outcome, bad, reason))
    return found


def _beginning(system: System, questions: Questions, properties: Sequence[Property]) -> list[Obligation]:
    """The obligations of the initial states where constants are left open: z3 is asked about what sets them."""
    solver = questions.solver()
    solver.add(as_term(system.constants_allowed()))
    found = []
    for prop in (None, *properties):
        name = TYPES if prop is None else prop.name
        obligation = Obligation(INITIAL, name, "proved")
        for fired in system.beginnings:
            goal = fired.failed
            if prop is not None:
                judged = system.judge(system.predicates[prop.name], fired.after)
                goal = conj((fired.succeeds, disj((negation(judged.truth), judged.failed))))
            obligation = _one(system, questions, solver, fired, name, goal, INITIAL)
            if obligation.outcome != "proved":
                break
        found.append(obligation)
    return found


def _holds(system: System, prop: Property, state: State) -> bool:
    try:
        return holds(system.model, prop.function, state)
    except SourceError:
        return False


def _preserved(
    system: System, questions: Questions, properties: Sequence[Property], assumed: Truth, fired: Fired
) -> list[Obligation]:
    """The obligations of one action: first whether anything can break, then what.

    Where constants are left open, that an action never fails is proved first, and not said again: that a set of any
    size has room for an element is not easily said.
    """
    solver = questions.solver()
    solver.add(as_term(assumed))
    types = _one(system, questions, solver, fired, TYPES, fired.failed) if system.values.endless else None
    taken = fired.enabled if types is not None and types.outcome == "proved" else fired.succeeds
    goals = []
    for prop in properties:
        old = system.now.state if prop.kind == "transition" else None
        judged = system.judge(system.predicates[prop.name], fired.after, old)
        broken = disj((negation(judged.truth), judged.failed))
        goals.append((prop.name, conj((taken, broken))))
    if types is None:
        goals.insert(0, (TYPES, fired.failed))
        answer, _ = questions.ask(solver, as_term(disj(goal for _, goal in goals)))
        if answer == z3.unsat:
            return [Obligation(fired.action.name, name, "proved") for name, _ in goals]
    found = [_one(system, questions, solver, fired, name, goal) for name, goal in goals]
    return found if types is None else [types, *found]


def _one(
    system: System, questions: Questions, solver: Any, fired: Fired, name: str, goal: Truth, action: str = ""
) -> Obligation:
    """One obligation of an action, or of what sets the initial states, which is called ``action`` then."""
    action, begins = action or fired.action.name, bool(action)
    if goal is False:
        return Obligation(action, name, "proved")
    solver.push()
    solver.add(as_term(goal))
    answer, reason = questions.ask(solver)
    found = Obligation(action, name, "undetermined", None, reason)
    if answer == z3.unsat:
        found = Obligation(action, name, "proved")
    elif answer == z3.sat:
        model = solver.model()
        before = system.decode(fired.after if begins else system.now.state, model)
        after = None if begins or name == TYPES else system.decode(fired.after, model)
        shown = Counterexample(before, system.step(fired, model), after, constants=system.constants(model))
        found = Obligation(action, name, "fails", shown)
    solver.pop()
    return found


def with_reachability(proof: Proof, reaches: Callable[[State], bool | None]) -> Proof:
    """The same proof, its counterexamples marked with whether their first states can be reached."""
    marked = []
    for obligation in proof.obligations:
        shown = obligation.counterexample
        if shown is not None and shown.reachable is None:
            obligation = replace(obligation, counterexample=replace(shown, reachable=reaches(shown.before)))
        marked.append(obligation)
    return replace(proof, obligations=marked)
