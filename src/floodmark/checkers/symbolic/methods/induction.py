"""Induction: the initial states satisfy a property, and every action preserves it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import Any, Literal

import z3

from floodmark.checkers.processes import LostJob, can_run_others, run_each, tell
from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.methods.smtlib import PART, ObligationRecorder
from floodmark.checkers.symbolic.records.fresh_context import RecordedQuery, in_fresh_context
from floodmark.checkers.symbolic.tactics.answers import Answers, Book, ObligationKey
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.tactics.portfolio import BY_PATHS
from floodmark.checkers.symbolic.tactics.relevant_lemmas import NOTHING_WEAKER, Assumed, Names, Weaker
from floodmark.checkers.symbolic.terms.axioms import Axiom, KnownAxioms
from floodmark.checkers.symbolic.terms.booleans import CONTEXT, Truth, as_term, conj, disj
from floodmark.checkers.symbolic.terms.smt_text import SmtNames, SolverStatus
from floodmark.checkers.symbolic.translate.effects import Fired
from floodmark.checkers.symbolic.translate.obligations import BOUNDARY, INITIAL, TYPES, broken, goals_of, subjects
from floodmark.checkers.symbolic.translate.transition_system import System
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, fire, holds, within_boundary

COARSE = "z3 found a model of the relaxed query; it may not be finite"

Outcome = Literal["proved", "fails", "undetermined"]


@dataclass(frozen=True, slots=True)
class CounterexampleToInduction:
    """A counterexample to induction: a state that satisfies all assumptions, and a step to one that does not.

    ``reachable`` says whether the first state is reachable; None if that was not checked or is unknown. ``constants``
    are the open constants.
    """

    before: State
    step: Step
    after: State | None
    reachable: bool | None = None
    constants: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Obligation:
    """An obligation: ``action`` preserves ``property``, or the initial states satisfy it.

    ``parts`` are the SMT-LIB queries that were answered in place of the whole one, where they are recorded.
    """

    action: str
    property: str
    outcome: Outcome
    counterexample: CounterexampleToInduction | None = None
    reason: str = ""
    seconds: float = 0.0
    parts: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InductionProof:
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


def _nowhere(name: str, about: str, terms: Iterable[Truth] | str, status: SolverStatus) -> None:
    """Discards an obligation."""


@dataclass(frozen=True, slots=True)
class InductionProgress:
    """The progress of an induction: the current obligation, the number of answered ones, their total, and the open
    ones."""

    asked: ObligationKey
    done: int
    total: int
    open: Sequence[ObligationKey]


WatchInduction = Callable[[InductionProgress], None]


@dataclass(frozen=True, slots=True)
class Query:
    """An obligation for z3: ``goal`` is unsatisfiable together with ``whole``, after ``fired``.

    ``action`` is its display name, ``name`` and ``about`` are those of its record.
    """

    action: str
    property: str
    fired: Fired
    whole: Truth
    goal: Truth
    weaker: Weaker
    name: str
    about: str

    def key(self) -> ObligationKey:
        """The key of its recorded answers."""
        return self.fired.action.name, self.property


class Questions:
    """Runs z3's queries within a limit. With a ``book``, queries of any size replay its answers; if the book permits
    it, a failed replay starts a search.

    A query with a limit in z3's units runs in an empty context, so that the answer, and z3's model, is a function of
    the query, independent of the process's earlier queries.
    """

    def __init__(
        self,
        system: System,
        seconds: float | None,
        record: ObligationRecorder | None = None,
        effort: int | None = None,
        book: Book | None = None,
        watch: WatchInduction | None = None,
    ) -> None:
        self.system = system
        self.records = record is not None
        self._record: ObligationRecorder = record or _nowhere
        self._book = book
        self._watch = watch
        self._total = 0
        self._done = 0
        self._open: list[ObligationKey] = []
        self.deadline = Deadline(seconds, effort)
        self._is_apart = effort is not None and not system.values.any_size
        self._model: Any = None
        self._symbols = SmtNames()
        self.parts: tuple[str, ...] = ()
        """The queries that gave the last answer in place of the whole one, if obligations are recorded."""

    def expect(self, obligations: int) -> None:
        """Reports the number of obligations."""
        self._total = obligations

    def begin(self, key: ObligationKey) -> None:
        """Reports the next obligation."""
        if self._watch is not None:
            self._watch(InductionProgress(key, self._done, self._total, self._open))

    def end(self, obligation: Obligation) -> None:
        """Reports that an obligation is answered or remains open."""
        self._done += 1
        if obligation.outcome != "proved":
            self._open.append((obligation.action, obligation.property))

    def solver(self) -> Any:
        """The solver with the assertions of a query; the one for finite domains does not return them unchanged."""
        return z3.Solver() if self.system.values.unbounded or self._is_apart else z3.SolverFor("QF_FD")

    def ask(
        self, solver: Any, goal: Truth, weaker: Weaker = NOTHING_WEAKER, key: ObligationKey = ("", "")
    ) -> tuple[Any, str]:
        """Whether a goal is satisfiable with the assertions, and the reason if that is unknown. The goal is asserted
        from then on.

        ``weaker`` follows from the assertions, so a goal that is unsatisfiable with it is unsatisfiable with them.
        ``key`` is the key of the obligation.
        """
        self.parts = ()
        if self.deadline.ended:
            return z3.unknown, str(self.deadline.reason)
        if self.system.values.any_size:
            return self._of_any_size(z3.And(*solver.assertions()), as_term(goal), weaker, key)
        solver.add(as_term(goal))
        asked = self._apart(solver) if self._is_apart else solver
        answered = self.deadline.check(asked)
        self._model = asked.model() if answered == z3.sat else None
        return answered, asked.reason_unknown() if answered == z3.unknown else ""

    def _apart(self, solver: Any) -> Any:
        """A solver with the same assertions in an empty context."""
        empty = z3.Context()
        found = z3.Solver(ctx=empty) if self.system.values.unbounded else z3.SolverFor("QF_FD", ctx=empty)
        found.add(*(term.translate(empty) for term in solver.assertions()))
        return found

    def model(self) -> Any:
        """z3's model of the last query, which was satisfiable."""
        return _Model(self._model) if self._is_apart else self._model

    def _of_any_size(self, whole: Any, goal: Any, weaker: Weaker, key: ObligationKey) -> tuple[Any, str]:
        values, book = self.system.values, self._book
        uncounted, sets = values.uncounted(), values.counted_sets()
        said = {name: as_term(it) for name, it in weaker.said.items()}
        axioms = self.axioms_for([whole, goal])
        question = RecordedQuery(self._symbols, goal, as_term(weaker.always), said, axioms, uncounted, sets)
        if book is not None:
            again = self._again(question, book, key, book.known.get(key))
            if again[0] == z3.unsat or not book.finds:
                return again
            few = (names for find in weaker.likely if (names := find()) is not None)
            again = self._again(question, book, key, question.sought(few))
            if again[0] == z3.unsat:
                return again
        parts = [weaker.of(names) for names in weaker.parts]
        chosen: list[Names] = [tuple(said), *weaker.parts]

        def likely(find: Callable[[], Names | None]) -> Any:
            names = find()
            if names is None:
                return None
            chosen.append(names)
            return as_term(weaker.of(names))

        found = in_fresh_context(
            self._symbols, goal, [whole, *map(as_term, parts)], axioms, self.deadline.left,
            [partial(likely, it) for it in weaker.likely], uncounted, sets, in_parts=self.records,
        )
        self.parts = found.parts
        if book is None or found.answer != z3.unsat:
            return found.answer, found.reason
        by = [(tuple(it for it in said if it in chosen[at]), way) for at, way in found.by]
        for ways in (by, [(names, BY_PATHS) for names, _ in by]):
            again = self._again(question, book, key, question.narrowed(ways))
            if again[0] == z3.unsat:
                return again
        return z3.unknown, "z3 refutes it, but no strategy does so again"

    def _again(
        self, question: RecordedQuery, book: Book, key: ObligationKey, answers: Answers | None
    ) -> tuple[Any, str]:
        """The outcome of replaying recorded answers, which are never trusted."""
        if answers is None:
            return z3.unknown, book.missing
        through, self.parts = question.replayed(answers, self.deadline.left, self.records)
        if through:
            book.note(key, answers)
            return z3.unsat, ""
        return z3.unknown, str(self.deadline.reason) if self.deadline.ended else book.stale

    def answered(self, asked: Sequence[Query], workers: int = 1) -> list[Obligation]:
        """The answers to some obligations, in their order, from ``workers`` processes.

        Other processes start with all terms of the system, and without threads of z3, which stops its own before a
        fork. They report their findings here, so that nothing is lost if they are interrupted.
        """
        if min(workers, len(asked)) < 2 or not can_run_others():
            return [self._answered(it) for it in asked]
        found = {at: self._answered(it) for at, it in enumerate(asked) if it.goal is False}
        jobs = sorted({*range(len(asked))} - {*found}, key=lambda at: (-self._cost(asked[at]), at))
        others = run_each(
            self._answered_for_another,
            [asked[at] for at in jobs],
            workers,
            on_report=lambda _, key: self.begin(key),
            seconds=self.deadline.left,
        )
        for position, result in others:
            at = jobs[position]
            match result:
                case LostJob():
                    reason = str(self.deadline.reason if self.deadline.ended else result)
                    found[at] = Obligation(asked[at].action, asked[at].property, "undetermined", None, reason)
                case Exception():
                    raise result
                case _:
                    found[at], answers = result
                    if answers is not None and self._book is not None:
                        self._book.note(asked[at].key(), answers)
            self.end(found[at])
        return [found[at] for at in range(len(asked))]

    def _cost(self, asked: Query) -> float:
        """The expected cost of an answer: obligations without a record first, then those with the longest records."""
        known = None if self._book is None else self._book.known.get(asked.key())
        return inf if known is None else len(repr(known))

    def _answered_for_another(self, asked: Query) -> tuple[Obligation, Answers | None]:
        """An obligation for which another process waits, and its recorded answer."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # there is nothing to clear up, and z3 would take its time
        book = self._book = None if self._book is None else replace(self._book, keep=None, found={})
        self._watch = lambda at: tell(at.asked)
        found = self._answered(asked)
        return found, None if book is None else book.found.get(asked.key())

    def _answered(self, asked: Query) -> Obligation:
        solver = self.solver()
        solver.add(as_term(asked.whole))
        begins = INITIAL if asked.action == INITIAL else ""
        found = _one(self.system, self, solver, asked.fired, asked.property, asked.goal, begins, asked.weaker)
        self.end(found)
        return found

    def record(self, name: str, about: str, terms: Iterable[Truth], obligation: Obligation) -> None:
        """Passes on an obligation, together with the axioms about its symbols, and its parts."""
        if not self.records:
            return
        stated = list(terms)
        known = (it.term for it in self.known(stated))
        self._record(name, about, [*known, *stated], _STATUS[obligation.outcome])
        for number, part in enumerate(obligation.parts, 1):
            self._record(f"{name}{PART}{number}", f"{about}, part {number} of {len(obligation.parts)}", part, "unsat")

    def known(self, terms: Iterable[Truth]) -> list[Axiom]:
        """The axioms about the symbols of terms, which must be closed."""
        asked = [as_term(term) for term in terms]
        return self.axioms_for(asked).about(asked)

    def axioms_for(self, terms: Iterable[Any]) -> KnownAxioms:
        """All axioms, some of which are about the symbols of terms, which must be closed."""
        axioms = self.system.values.axioms
        if free := axioms.free(*terms):
            raise AssertionError(f"{free} should be bound by a quantifier")
        return axioms


@dataclass(frozen=True, slots=True)
class _Model:
    """A model of another context. z3's translation of a model lacks the symbols that its preprocessing eliminated."""

    found: Any

    def eval(self, term: Any, model_completion: bool) -> Any:
        return self.found.eval(term.translate(self.found.ctx), model_completion).translate(CONTEXT)


def induction(
    system: System,
    properties: Sequence[Property],
    seconds: float | None = None,
    record: ObligationRecorder | None = None,
    effort: int | None = None,
    book: Book | None = None,
    watch: WatchInduction | None = None,
    workers: int = 1,
) -> InductionProof:
    """Tries to prove properties (invariants, lemmas, transition properties) by induction, all of them together.

    ``record`` receives every obligation. ``effort`` is z3's resource limit, unless the number of identifiers
    is open: then each query has limits of its own, and ``workers`` processes run them. ``book`` has the answers of such
    a proof, and ``watch`` receives the progress.
    """
    started = time.perf_counter()
    questions = Questions(system, seconds, record, effort, book, watch)
    states = [prop for prop in properties if prop.kind != "transition"]
    begun = [prop for prop in properties if prop in states or prop.name in system.begun]
    system.initial_states()
    at_first, later = len(subjects(system, begun)), len(subjects(system, properties))
    questions.expect(at_first - (not system.values.unbounded) + len(system.fired) * later)
    obligations: list[Obligation] = []
    if system.values.any_size:
        obligations += _of_any_size(system, questions, properties, begun, workers)
    else:
        start = _beginning if system.values.unbounded else _initiation
        obligations += start(system, questions, begun)
        assumed = Assumed(system, states, [prop for prop in properties if prop.kind == "transition"])
        for fired in system.fired:
            obligations += _preserved(system, questions, properties, assumed, fired)
    return InductionProof(obligations, [prop.name for prop in states], time.perf_counter() - started)


def _of_any_size(
    system: System, questions: Questions, properties: Sequence[Property], begun: Sequence[Property], workers: int
) -> list[Obligation]:
    """The obligations if the number of identifiers is open.

    All of them are built before the first is solved, always in the same order. Each is therefore the same query, symbol
    by symbol, in every process and after any other queries.
    """
    states = [prop for prop in properties if prop.kind != "transition"]
    asked = list(_at_the_beginning(system, begun))
    assumed = Assumed(system, states, [prop for prop in properties if prop.kind == "transition"])
    for fired in system.fired:
        action = fired.action.name
        for name, goal in goals_of(system, properties, fired, _taken(system, fired)):
            about = f"{action} does not preserve {name}"
            weaker = assumed.weaker(action, name)
            asked.append(Query(action, name, fired, assumed.whole, goal, weaker, f"{action}-{name}", about))
    return _each_answered(questions, asked, workers)


def _initiation(system: System, questions: Questions, properties: Sequence[Property]) -> list[Obligation]:
    """The obligations of the initial states, which CPython enumerates."""
    found = []
    for prop in (*([None] if system.program.boundaries else []), *properties):
        name = BOUNDARY if prop is None else prop.name
        obligation = Obligation(INITIAL, name, "proved")
        for step, state in system.initial_states():
            if _breaks(system.model, prop, state, state):
                obligation = Obligation(INITIAL, name, "fails", CounterexampleToInduction(state, step, None, True))
                break
        found.append(obligation)
        questions.end(obligation)
        if questions.records:
            now = system.now.state
            terms = (system.initial(now), broken(system, prop, now))
            questions.record(f"initial-{name}", _at_first(name), terms, obligation)
    return found


def _beginning(system: System, questions: Questions, properties: Sequence[Property]) -> list[Obligation]:
    """The obligations of the initial states when constants are left open: z3 checks the code that sets them."""
    return _each_answered(questions, list(_at_the_beginning(system, properties)))


def _at_the_beginning(system: System, properties: Sequence[Property]) -> Iterator[Query]:
    allowed = system.constants_allowed()
    for name, prop in subjects(system, properties):
        for fired in system.beginnings:
            goal = fired.failed
            if name != TYPES:
                goal = conj((fired.succeeds, broken(system, prop, fired.after)))
            record = f"initial-{name}", _at_first(name)
            yield Query(INITIAL, name, fired, allowed, goal, Weaker(allowed), *record)


def _each_answered(questions: Questions, asked: Sequence[Query], workers: int = 1) -> list[Obligation]:
    """The answers to some obligations, which are recorded in their order. With several initial methods a property has
    one obligation: that of the first method for which it is not proved."""
    found: dict[tuple[str, str], Obligation] = {}
    for it, obligation in zip(asked, questions.answered(asked, workers), strict=True):
        questions.record(it.name, it.about, (it.whole, it.goal), obligation)
        key = it.action, it.property
        if key not in found or found[key].outcome == "proved":
            found[key] = obligation
    return list(found.values())


def _at_first(name: str) -> str:
    return f"{name} fails in an initial state"


_STATUS: dict[Outcome, SolverStatus] = {"proved": "unsat", "fails": "sat", "undetermined": "unknown"}


def _preserved(
    system: System, questions: Questions, properties: Sequence[Property], assumed: Assumed, fired: Fired
) -> list[Obligation]:
    """The obligations of one action: first whether any property can break, then which.

    With open constants, the first obligation is that the action never fails, and later obligations do not repeat this
    as an assumption: z3 finds it hard to show that a set of any size has room for another element.
    """
    solver = questions.solver()
    solver.add(as_term(assumed.whole))
    types = None
    if system.values.unbounded:
        weaker = assumed.weaker(fired.action.name, TYPES)
        types = _one(system, questions, solver, fired, TYPES, fired.failed, weaker=weaker)
        questions.end(types)
    taken = fired.enabled if types is not None and types.outcome == "proved" else _taken(system, fired)
    goals = goals_of(system, properties, fired, taken)
    found = [types, *_each(system, questions, solver, fired, goals[1:], assumed)] if types is not None else None
    if found is None:
        solver.push()
        questions.begin((fired.action.name, "everything"))
        found_any, _ = questions.ask(solver, disj(goal for _, goal in goals))
        solver.pop()
        if found_any == z3.unsat:
            found = [Obligation(fired.action.name, name, "proved") for name, _ in goals]
            for obligation in found:
                questions.end(obligation)
        else:
            found = _each(system, questions, solver, fired, goals, assumed)
    for obligation, (name, goal) in zip(found, goals, strict=True):
        about = f"{fired.action.name} does not preserve {name}"
        terms = (assumed.whole, goal)
        questions.record(f"{fired.action.name}-{name}", about, terms, obligation)
    return found


def _taken(system: System, fired: Fired) -> Truth:
    """The condition that an action is taken, while it is unknown whether it can fail.

    With any number of identifiers a step may count as failing although it does not: whether a set has room may be
    provable only with the very property of the obligation. The condition therefore omits it there.
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
    """The answers to some of the obligations (action, property) of an induction; with ``in_parts``, also their parts.
    """
    questions = Questions(system, seconds, _nowhere if in_parts else None, effort)
    states = [prop for prop in properties if prop.kind != "transition"]
    start = _beginning if system.values.unbounded else _initiation
    begun = [prop for prop in properties if prop in states or prop.name in system.begun]
    first = [prop for prop in begun if (INITIAL, prop.name) in wanted]
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
    """The failing ones of some obligations (action, property), each with a counterexample to induction that CPython
    confirms.

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
    found = []
    for name, goal in goals:
        found.append(_one(system, questions, solver, fired, name, goal, weaker=assumed.weaker(fired.action.name, name)))
        questions.end(found[-1])
    return found


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
    key = fired.action.name, name
    questions.begin(key)
    solver.push()
    answered, reason = questions.ask(solver, goal, weaker, key)
    seconds = time.perf_counter() - started
    found = Obligation(action, name, "undetermined", None, reason, seconds)
    if answered == z3.unsat:
        found = Obligation(action, name, "proved", seconds=seconds, parts=questions.parts)
    elif answered == z3.sat and system.values.any_size:
        found = Obligation(action, name, "undetermined", None, COARSE, seconds)
    elif answered == z3.sat:
        model = questions.model()
        before = system.decode(fired.after if begins else system.now.state, model)
        after = None if begins or name == TYPES else system.decode(fired.after, model)
        shown = CounterexampleToInduction(before, system.step(fired, model), after, constants=system.constants(model))
        found = Obligation(action, name, "fails", shown)
    solver.pop()
    return found


def with_reachability(proof: InductionProof, reaches: Callable[[State], bool | None]) -> InductionProof:
    """The same proof; each counterexample is marked by whether its first state is reachable."""
    marked = []
    for obligation in proof.obligations:
        shown = obligation.counterexample
        if shown is not None and shown.reachable is None:
            obligation = replace(obligation, counterexample=replace(shown, reachable=reaches(shown.before)))
        marked.append(obligation)
    return replace(proof, obligations=marked)


def confirm(model: Model, properties: Sequence[Property], obligation: Obligation) -> None:
    """Runs the step of a counterexample in CPython. Raises RuntimeError if it does not violate the property that z3
    reports.

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
