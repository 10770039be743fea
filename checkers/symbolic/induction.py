"""Induction: the initial states satisfy a property, and every action preserves it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import z3

from floodmark.checkers.properties import Property
from floodmark.checkers.symbolic.assumptions import NOTHING_WEAKER, Assumed, Weaker
from floodmark.checkers.symbolic.deadline import Deadline
from floodmark.checkers.symbolic.effects import Fired
from floodmark.checkers.symbolic.facts import Fact, Known
from floodmark.checkers.symbolic.isolation import isolated
from floodmark.checkers.symbolic.obligations import (
    BOUNDARY,
    INITIAL,
    TYPES,
    broken,
    goals_of,
    subjects,
)
from floodmark.checkers.symbolic.smt_text import Status, Symbols
from floodmark.checkers.symbolic.smtlib import PART, Record
from floodmark.checkers.symbolic.system import System
from floodmark.checkers.symbolic.terms import Truth, as_term, conj, disj
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, fire, holds, within_boundary

COARSE = "z3 knows a model, perhaps one with infinitely many identifiers, or sets whose sizes only follow some laws"

Outcome = Literal["proved", "fails", "undetermined"]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A counterexample to induction: a state that satisfies all assumptions, and a step to one that does not.

    ``reachable`` says whether the first state is reachable; None when that was not asked or is not known. ``constants``
    are those left open.
    """

    before: State
    step: Step
    after: State | None
    reachable: bool | None = None
    constants: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing to prove: that ``action`` preserves ``property``, or that the initial states satisfy it.

    ``parts`` are the questions that were answered instead of one, as SMT-LIB says them, where they are recorded.
    """

    action: str
    property: str
    outcome: Outcome
    counterexample: Counterexample | None = None
    reason: str = ""
    seconds: float = 0.0
    parts: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(slots=True)
class Proof:
    """The obligations of an induction and their outcomes."""

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


def _nowhere(name: str, about: str, terms: Iterable[Truth] | str, status: Status) -> None:
    """Discards an obligation."""


class Questions:
    """Asks z3 questions within a limit."""

    def __init__(
        self, system: System, seconds: float | None, record: Record | None = None, effort: int | None = None
    ) -> None:
        self.system = system
        self.records = record is not None
        self._record: Record = record or _nowhere
        self.deadline = Deadline(seconds, effort)
        self._symbols = Symbols()
        self.parts: tuple[str, ...] = ()
        """The questions that the last answer is from instead of the whole one, where obligations are recorded."""

    def solver(self) -> Any:
        return z3.Solver() if self.system.values.unbounded else z3.SolverFor("QF_FD")

    def ask(self, solver: Any, goal: Truth, weaker: Weaker = NOTHING_WEAKER) -> tuple[Any, str]:
        """Whether a goal can be true together with the assertions, and the reason if that is unknown. The goal is
        asserted from then on.

        What is ``weaker`` follows from the assertions, so a goal that cannot be true with it cannot be with those.
        """
        self.parts = ()
        if self.deadline.ended:
            return z3.unknown, self.deadline.reason
        if self.system.values.any_size:
            assumed = [z3.And(*solver.assertions()), *map(as_term, weaker.parts)]
            uncounted = self.system.values.uncounted()
            sets = self.system.values.counted_sets()
            facts = self.facts_for([*assumed, as_term(goal)])
            left, parts = self.deadline.left, self.records
            found = isolated(
                self._symbols, as_term(goal), assumed, facts, left, weaker.likely, uncounted, sets, in_parts=parts
            )
            self.parts = found.parts
            return found.answer, found.reason
        solver.add(as_term(goal))
        answered = self.deadline.check(solver)
        return answered, solver.reason_unknown() if answered == z3.unknown else ""

    def record(self, name: str, about: str, terms: Iterable[Truth], obligation: Obligation) -> None:
        """Hands on an obligation, together with the facts about what it mentions, and its parts."""
        if not self.records:
            return
        stated = list(terms)
        known = (it.term for it in self.known(stated))
        self._record(name, about, [*known, *stated], _STATUS[obligation.outcome])
        for number, part in enumerate(obligation.parts, 1):
            self._record(f"{name}{PART}{number}", f"{about}, part {number} of {len(obligation.parts)}", part, "unsat")

    def known(self, terms: Iterable[Truth]) -> list[Fact]:
        """The facts about what terms mention, which has to be closed."""
        asked = [as_term(term) for term in terms]
        return self.facts_for(asked).about(asked)

    def facts_for(self, terms: Iterable[Any]) -> Known:
        """All facts, of which some are about what terms mention, which has to be closed."""
        facts = self.system.values.facts
        if free := facts.free(*terms):
            raise AssertionError(f"{free} should be bound by a quantifier")
        return facts


def induction(
    system: System,
    properties: Sequence[Property],
    seconds: float | None = None,
    record: Record | None = None,
    effort: int | None = None,
) -> Proof:
    """Tries to prove properties (invariants, lemmas, transition properties) by induction, all of them together.

    ``record`` receives every obligation. ``effort`` limits z3's work in its own units, unless identifiers have no
    number: then each question has limits of its own.
    """
    started = time.perf_counter()
    questions = Questions(system, seconds, record, effort)
    states = [prop for prop in properties if prop.kind != "transition"]
    system.initial_states()
    proof = Proof(assumed=[prop.name for prop in states])
    start = _beginning if system.values.unbounded else _initiation
    proof.obligations += start(system, questions, states)
    assumed = Assumed(system, states, [prop for prop in properties if prop.kind == "transition"])
    for fired in system.fired:
        proof.obligations += _preserved(system, questions, properties, assumed, fired)
    proof.seconds = time.perf_counter() - started
    return proof


def _initiation(system: System, questions: Questions, properties: Sequence[Property]) -> list[Obligation]:
    """The obligations of the initial states, which CPython enumerates."""
    found = []
    for prop in (*([None] if system.program.boundaries else []), *properties):
        name = BOUNDARY if prop is None else prop.name
        obligation = Obligation(INITIAL, name, "proved")
        for step, state in system.initial_states():
            if _breaks(system.model, prop, state, state):
                obligation = Obligation(INITIAL, name, "fails", Counterexample(state, step, None, True))
                break
        found.append(obligation)
        if questions.records:
            now = system.now.state
            terms = (system.initial(now), broken(system, prop, now))
            questions.record(f"initial-{name}", _at_first(name), terms, obligation)
    return found


def _beginning(system: System, questions: Questions, properties: Sequence[Property]) -> list[Obligation]:
    """The obligations of the initial states when constants are left open: z3 checks the code that sets them."""
    allowed = system.constants_allowed()
    solver = questions.solver()
    solver.add(as_term(allowed))
    found = []
    for name, prop in subjects(system, properties):
        obligation = Obligation(INITIAL, name, "proved")
        for fired in system.beginnings:
            goal = fired.failed
            if name != TYPES:
                goal = conj((fired.succeeds, broken(system, prop, fired.after)))
            obligation = _one(system, questions, solver, fired, name, goal, INITIAL)
            questions.record(f"initial-{name}", _at_first(name), (allowed, goal), obligation)
            if obligation.outcome != "proved":
                break
        found.append(obligation)
    return found


def _at_first(name: str) -> str:
    return f"{name} fails in an initial state"


_STATUS: dict[Outcome, Status] = {"proved": "unsat", "fails": "sat", "undetermined": "unknown"}


def _preserved(
    system: System, questions: Questions, properties: Sequence[Property], assumed: Assumed, fired: Fired
) -> list[Obligation]:
    """The obligations of one action: first whether anything can break, then what.

    With constants left open, it is proved first that the action never fails, and later obligations do not repeat this
    as an assumption: that a set of any size has room for another element is hard for z3.
    """
    solver = questions.solver()
    solver.add(as_term(assumed.whole))
    types = None
    if system.values.unbounded:
        weaker = assumed.weaker(fired.action.name, TYPES)
        types = _one(system, questions, solver, fired, TYPES, fired.failed, weaker=weaker)
    taken = fired.enabled if types is not None and types.outcome == "proved" else _taken(system, fired)
    goals = goals_of(system, properties, fired, taken)
    found = [types, *_each(system, questions, solver, fired, goals[1:], assumed)] if types is not None else None
    if found is None:
        solver.push()
        found_any, _ = questions.ask(solver, disj(goal for _, goal in goals))
        solver.pop()
        if found_any == z3.unsat:
            found = [Obligation(fired.action.name, name, "proved") for name, _ in goals]
        else:
            found = _each(system, questions, solver, fired, goals, assumed)
    for obligation, (name, goal) in zip(found, goals, strict=True):
        about = f"{fired.action.name} does not preserve {name}"
        terms = (assumed.whole, goal)
        questions.record(f"{fired.action.name}-{name}", about, terms, obligation)
    return found


def _taken(system: System, fired: Fired) -> Truth:
    """That an action is taken, while it is not known whether it can fail.

    With any number of identifiers a step may count as one that fails though it does not: that there is room in a set is
    only known where it can be shown, perhaps by the very property that is asked about. So there it is not assumed.
    """
    return fired.enabled if system.values.any_size else fired.succeeds


def asked(
    system: System,
    properties: Sequence[Property],
    wanted: Collection[tuple[str, str]],
    seconds: float | None = None,
    effort: int | None = None,
    in_parts: bool = False,
) -> list[Obligation]:
    """The answers to some of the obligations (action, property) of an induction; with ``in_parts``, and their parts."""
    questions = Questions(system, seconds, _nowhere if in_parts else None, effort)
    states = [prop for prop in properties if prop.kind != "transition"]
    start = _beginning if system.values.unbounded else _initiation
    first = [prop for prop in states if (INITIAL, prop.name) in wanted]
    found = [it for it in start(system, questions, first) if (INITIAL, it.property) in wanted]
    assumed = Assumed(system, states, [prop for prop in properties if prop.kind == "transition"])
    for fired in system.fired:
        names = {name for action, name in wanted if action == fired.action.name}
        every = goals_of(system, properties, fired, _taken(system, fired))
        goals = [(name, goal) for name, goal in every if name in names]
        if goals:
            solver = questions.solver()
            solver.add(as_term(assumed.whole))
            found += _each(system, questions, solver, fired, goals, assumed)
    return found


def refuted(
    system: System,
    properties: Sequence[Property],
    wanted: Collection[tuple[str, str]],
    seconds: float | None = None,
    effort: int | None = None,
) -> list[Obligation]:
    """Which of some obligations (action, property) fail, each with a counterexample to induction that CPython confirms.

    For models without open constants.
    """
    found = asked(system, properties, wanted, seconds, effort)
    failing = [obligation for obligation in found if obligation.outcome == "fails"]
    for obligation in failing:
        confirm(system.model, properties, obligation)
    return failing


def _each(
    system: System,
    questions: Questions,
    solver: Any,
    fired: Fired,
    goals: Sequence[tuple[str, Truth]],
    assumed: Assumed,
) -> list[Obligation]:
    return [
        _one(system, questions, solver, fired, name, goal, weaker=assumed.weaker(fired.action.name, name))
        for name, goal in goals
    ]


def _one(
    system: System,
    questions: Questions,
    solver: Any,
    fired: Fired,
    name: str,
    goal: Truth,
    action: str = "",
    weaker: Weaker = NOTHING_WEAKER,
) -> Obligation:
    """One obligation of an action, or of an initial method, which is then called ``action``."""
    action, begins = action or fired.action.name, bool(action)
    if goal is False:
        return Obligation(action, name, "proved")
    started = time.perf_counter()
    solver.push()
    answered, reason = questions.ask(solver, goal, weaker)
    seconds = time.perf_counter() - started
    found = Obligation(action, name, "undetermined", None, reason, seconds)
    if answered == z3.unsat:
        found = Obligation(action, name, "proved", seconds=seconds, parts=questions.parts)
    elif answered == z3.sat and system.values.any_size:
        found = Obligation(action, name, "undetermined", None, COARSE, seconds)
    elif answered == z3.sat:
        model = solver.model()
        before = system.decode(fired.after if begins else system.now.state, model)
        after = None if begins or name == TYPES else system.decode(fired.after, model)
        shown = Counterexample(before, system.step(fired, model), after, constants=system.constants(model))
        found = Obligation(action, name, "fails", shown)
    solver.pop()
    return found


def with_reachability(proof: Proof, reaches: Callable[[State], bool | None]) -> Proof:
    """The same proof, with each counterexample marked by whether its first state is reachable."""
    marked = []
    for obligation in proof.obligations:
        shown = obligation.counterexample
        if shown is not None and shown.reachable is None:
            obligation = replace(obligation, counterexample=replace(shown, reachable=reaches(shown.before)))
        marked.append(obligation)
    return replace(proof, obligations=marked)


def confirm(model: Model, properties: Sequence[Property], obligation: Obligation) -> None:
    """Runs the step of a counterexample in CPython. Raises RuntimeError when it does not break what z3 says it does.

    Only for models without unbounded constants: with them, CPython would run a different model.
    """
    shown = obligation.counterexample
    if shown is None or obligation.action == INITIAL:
        return
    prop = next((prop for prop in properties if prop.name == obligation.property), None)
    try:
        after = fire(model, shown.before, shown.step)
    except SourceError:
        breaks = obligation.property == TYPES
    else:
        breaks = after is not None and after == shown.after and _breaks(model, prop, shown.before, after)
    if not breaks:
        raise RuntimeError(
            f"z3 says that {shown.step} does not preserve {obligation.property}, CPython that it does, "
            f"in {shown.before}"
        )


def _breaks(model: Model, prop: Property | None, before: State, after: State) -> bool:
    """Whether a property is false after a step; without a property, whether the boundary cannot be evaluated there."""
    try:
        if prop is None:
            within_boundary(model, after)
            return False
        return not holds(model, prop.function, *((before, after) if prop.kind == "transition" else (after,)))
    except SourceError:
        return True
