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
from floodmark.checkers.symbolic.tactics.answers import AnswerBook, Answers, ObligationKey
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.tactics.portfolio import BY_PATHS
from floodmark.checkers.symbolic.tactics.relevant_lemmas import (
    NOTHING_WEAKER,
    InductionHypotheses,
    Names,
    WeakerHypotheses,
)
from floodmark.checkers.symbolic.terms.axioms import Axiom, KnownAxioms
from floodmark.checkers.symbolic.terms.booleans import CONTEXT, Truth, as_term, conj, disj
from floodmark.checkers.symbolic.terms.smt_text import SmtNames, SolverStatus
from floodmark.checkers.symbolic.translate.effects import SymbolicStep
from floodmark.checkers.symbolic.translate.obligations import (
    BOUNDARY,
    INITIAL,
    TYPES,
    goals_of,
    subjects,
    violation_condition,
)
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


def _discard(name: str, about: str, terms: Iterable[Truth] | str, status: SolverStatus) -> None:
    """Discards an obligation."""


@dataclass(frozen=True, slots=True)
class InductionProgress:
    """The progress of an induction: the current obligation, the number of answered ones, their total, and the open
    ones."""

    current: ObligationKey
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
    fired: SymbolicStep
    whole: Truth
    goal: Truth
    weaker: WeakerHypotheses
    name: str
    about: str

    def key(self) -> ObligationKey:
        """The key of its recorded answers."""
        return self.fired.action.name, self.property


class QueryRunner:
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
        book: AnswerBook | None = None,
        watch: WatchInduction | None = None,
    ) -> None:
        self.system = system
        self.records = record is not None
        self._record: ObligationRecorder = record or _discard
        self._book = book
        self._watch = watch
        self._total = 0
        self._done = 0
        self._open: list[ObligationKey] = []
        self.deadline = Deadline(seconds, effort)
        self._isolates = effort is not None and not system.values.types.any_size
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
        return z3.Solver() if self.system.values.types.unbounded or self._isolates else z3.SolverFor("QF_FD")

    def check(
        self, solver: Any, goal: Truth, weaker: WeakerHypotheses = NOTHING_WEAKER, key: ObligationKey = ("", "")
    ) -> tuple[Any, str]:
        """Whether a goal is satisfiable with the assertions, and the reason if that is unknown. The goal is asserted
        from then on.

        ``weaker`` follows from the assertions, so a goal that is unsatisfiable with it is unsatisfiable with them.
        ``key`` is the key of the obligation.
        """
        self.parts = ()
        if self.deadline.ended:
            return z3.unknown, str(self.deadline.reason)
        if self.system.values.types.any_size:
            return self._check_any_size(z3.And(*solver.assertions()), as_term(goal), weaker, key)
        solver.add(as_term(goal))
        isolated = self._in_empty_context(solver) if self._isolates else solver
        answer = self.deadline.check(isolated)
        self._model = isolated.model() if answer == z3.sat else None
        return answer, isolated.reason_unknown() if answer == z3.unknown else ""

    def _in_empty_context(self, solver: Any) -> Any:
        """A solver with the same assertions in an empty context."""
        empty = z3.Context()
        found = z3.Solver(ctx=empty) if self.system.values.types.unbounded else z3.SolverFor("QF_FD", ctx=empty)
        found.add(*(term.translate(empty) for term in solver.assertions()))
        return found

    def model(self) -> Any:
        """z3's model of the last query, which was satisfiable."""
        return _Model(self._model) if self._isolates else self._model

    def _check_any_size(self, whole: Any, goal: Any, weaker: WeakerHypotheses, key: ObligationKey) -> tuple[Any, str]:
        values, book = self.system.values, self._book
        uncounted, sets = values.types.uncounted(), values.types.counted_sets()
        statements = {name: as_term(it) for name, it in weaker.statements.items()}
        axioms = self.axioms_for([whole, goal])
        query = RecordedQuery(self._symbols, goal, as_term(weaker.always), statements, axioms, uncounted, sets)
        if book is not None:
            replayed = self._replay(query, book, key, book.known.get(key))
            if replayed[0] == z3.unsat or not book.finds:
                return replayed
            few = (names for find in weaker.likely if (names := find()) is not None)
            replayed = self._replay(query, book, key, query.immediate_answers(few))
            if replayed[0] == z3.unsat:
                return replayed
        parts = [weaker.of(names) for names in weaker.parts]
        chosen: list[Names] = [tuple(statements), *weaker.parts]

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
        by = [(tuple(it for it in statements if it in chosen[at]), way) for at, way in found.by]
        for ways in (by, [(names, BY_PATHS) for names, _ in by]):
            replayed = self._replay(query, book, key, query.narrow_answers(ways))
            if replayed[0] == z3.unsat:
                return replayed
        return z3.unknown, "z3 refutes it, but no strategy does so again"

    def _replay(
        self, query: RecordedQuery, book: AnswerBook, key: ObligationKey, answers: Answers | None
    ) -> tuple[Any, str]:
        """The outcome of replaying recorded answers, which are never trusted."""
        if answers is None:
            return z3.unknown, book.missing
        succeeds, self.parts = query.replay(answers, self.deadline.left, self.records)
        if succeeds:
            book.note(key, answers)
            return z3.unsat, ""
        return z3.unknown, str(self.deadline.reason) if self.deadline.ended else book.stale

    def run_all(self, queries: Sequence[Query], workers: int = 1) -> list[Obligation]:
        """The answers to some obligations, in their order, from ``workers`` processes.

        Other processes start with all terms of the system, and without threads of z3, which stops its own before a
        fork. They report their findings here, so that nothing is lost if they are interrupted.
        """
        if min(workers, len(queries)) < 2 or not can_run_others():
            return [self._run(it) for it in queries]
        found = {at: self._run(it) for at, it in enumerate(queries) if it.goal is False}
        jobs = sorted({*range(len(queries))} - {*found}, key=lambda at: (-self._cost(queries[at]), at))
        others = run_each(
            self._run_in_worker,
            [queries[at] for at in jobs],
            workers,
            on_report=lambda _, key: self.begin(key),
            seconds=self.deadline.left,
        )
        for position, result in others:
            at = jobs[position]
            match result:
                case LostJob():
                    reason = str(self.deadline.reason if self.deadline.ended else result)
                    found[at] = Obligation(queries[at].action, queries[at].property, "undetermined", None, reason)
                case Exception():
                    raise result
                case _:
                    found[at], answers = result
                    if answers is not None and self._book is not None:
                        self._book.note(queries[at].key(), answers)
            self.end(found[at])
        return [found[at] for at in range(len(queries))]

    def _cost(self, query: Query) -> float:
        """The expected cost of an answer: obligations without a record first, then those with the longest records."""
        known = None if self._book is None else self._book.known.get(query.key())
        return inf if known is None else len(repr(known))

    def _run_in_worker(self, query: Query) -> tuple[Obligation, Answers | None]:
        """An obligation for which another process waits, and its recorded answer."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # there is nothing to clear up, and z3 would take its time
        book = self._book = None if self._book is None else replace(self._book, keep=None, found={})
        self._watch = lambda at: tell(at.current)
        found = self._run(query)
        return found, None if book is None else book.found.get(query.key())

    def _run(self, query: Query) -> Obligation:
        solver = self.solver()
        solver.add(as_term(query.whole))
        begins = INITIAL if query.action == INITIAL else ""
        found = _check_goal(self.system, self, solver, query.fired, query.property, query.goal, begins, query.weaker)
        self.end(found)
        return found

    def record(self, name: str, about: str, terms: Iterable[Truth], obligation: Obligation) -> None:
        """Passes on an obligation, together with the axioms about its symbols, and its parts."""
        if not self.records:
            return
        stated = list(terms)
        known = (it.term for it in self.axioms_about(stated))
        self._record(name, about, [*known, *stated], _STATUS[obligation.outcome])
        for number, part in enumerate(obligation.parts, 1):
            self._record(f"{name}{PART}{number}", f"{about}, part {number} of {len(obligation.parts)}", part, "unsat")

    def axioms_about(self, terms: Iterable[Truth]) -> list[Axiom]:
        """The axioms about the symbols of terms, which must be closed."""
        stated = [as_term(term) for term in terms]
        return self.axioms_for(stated).about(stated)

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
    book: AnswerBook | None = None,
    watch: WatchInduction | None = None,
    workers: int = 1,
) -> InductionProof:
    """Tries to prove properties (invariants, lemmas, transition properties) by induction, all of them together.

    ``record`` receives every obligation. ``effort`` is z3's resource limit, unless the number of identifiers
    is open: then each query has limits of its own, and ``workers`` processes run them. ``book`` has the answers of such
    a proof, and ``watch`` receives the progress.
    """
    started = time.perf_counter()
    runner = QueryRunner(system, seconds, record, effort, book, watch)
    states = [prop for prop in properties if prop.kind != "transition"]
    begun = [prop for prop in properties if prop in states or prop.name in system.begun]
    system.initial_states()
    at_first, later = len(subjects(system, begun)), len(subjects(system, properties))
    runner.expect(at_first - (not system.values.types.unbounded) + len(system.fired) * later)
    obligations: list[Obligation] = []
    if system.values.types.any_size:
        obligations += _any_size_obligations(system, runner, properties, begun, workers)
    else:
        start = _symbolic_initiation if system.values.types.unbounded else _initiation
        obligations += start(system, runner, begun)
        assumed = InductionHypotheses(system, states, [prop for prop in properties if prop.kind == "transition"])
        for fired in system.fired:
            obligations += _preservation(system, runner, properties, assumed, fired)
    return InductionProof(obligations, [prop.name for prop in states], time.perf_counter() - started)


def _any_size_obligations(
    system: System, runner: QueryRunner, properties: Sequence[Property], begun: Sequence[Property], workers: int
) -> list[Obligation]:
    """The obligations if the number of identifiers is open.

    All of them are built before the first is solved, always in the same order. Each is therefore the same query, symbol
    by symbol, in every process and after any other queries.
    """
    states = [prop for prop in properties if prop.kind != "transition"]
    queries = list(_initiation_queries(system, begun))
    assumed = InductionHypotheses(system, states, [prop for prop in properties if prop.kind == "transition"])
    for fired in system.fired:
        action = fired.action.name
        for name, goal in goals_of(system, properties, fired, _taken_condition(system, fired)):
            about = f"{action} does not preserve {name}"
            weaker = assumed.weaker(action, name)
            queries.append(Query(action, name, fired, assumed.whole, goal, weaker, f"{action}-{name}", about))
    return _run_and_record(runner, queries, workers)


def _initiation(system: System, runner: QueryRunner, properties: Sequence[Property]) -> list[Obligation]:
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
        runner.end(obligation)
        if runner.records:
            now = system.now.state
            terms = (system.initial(now), violation_condition(system, prop, now))
            runner.record(f"initial-{name}", _initiation_failure(name), terms, obligation)
    return found


def _symbolic_initiation(system: System, runner: QueryRunner, properties: Sequence[Property]) -> list[Obligation]:
    """The obligations of the initial states when constants are left open: z3 checks the code that sets them."""
    return _run_and_record(runner, list(_initiation_queries(system, properties)))


def _initiation_queries(system: System, properties: Sequence[Property]) -> Iterator[Query]:
    allowed = system.constants_allowed()
    for name, prop in subjects(system, properties):
        for fired in system.beginnings:
            goal = fired.failed
            if name != TYPES:
                goal = conj((fired.succeeds, violation_condition(system, prop, fired.after)))
            record = f"initial-{name}", _initiation_failure(name)
            yield Query(INITIAL, name, fired, allowed, goal, WeakerHypotheses(allowed), *record)


def _run_and_record(runner: QueryRunner, queries: Sequence[Query], workers: int = 1) -> list[Obligation]:
    """The answers to some obligations, which are recorded in their order. With several initial methods a property has
    one obligation: that of the first method for which it is not proved."""
    found: dict[tuple[str, str], Obligation] = {}
    for it, obligation in zip(queries, runner.run_all(queries, workers), strict=True):
        runner.record(it.name, it.about, (it.whole, it.goal), obligation)
        key = it.action, it.property
        if key not in found or found[key].outcome == "proved":
            found[key] = obligation
    return list(found.values())


def _initiation_failure(name: str) -> str:
    return f"{name} fails in an initial state"


_STATUS: dict[Outcome, SolverStatus] = {"proved": "unsat", "fails": "sat", "undetermined": "unknown"}


def _preservation(
    system: System, runner: QueryRunner, properties: Sequence[Property], assumed: InductionHypotheses,
    fired: SymbolicStep,
) -> list[Obligation]:
    """The obligations of one action: first whether any property can break, then which.

    With open constants, the first obligation is that the action never fails, and later obligations do not repeat this
    as an assumption: z3 finds it hard to show that a set of any size has room for another element.
    """
    solver = runner.solver()
    solver.add(as_term(assumed.whole))
    types = None
    if system.values.types.unbounded:
        weaker = assumed.weaker(fired.action.name, TYPES)
        types = _check_goal(system, runner, solver, fired, TYPES, fired.failed, weaker=weaker)
        runner.end(types)
    taken = fired.enabled if types is not None and types.outcome == "proved" else _taken_condition(system, fired)
    goals = goals_of(system, properties, fired, taken)
    found = [types, *_check_goals(system, runner, solver, fired, goals[1:], assumed)] if types is not None else None
    if found is None:
        solver.push()
        runner.begin((fired.action.name, "everything"))
        found_any, _ = runner.check(solver, disj(goal for _, goal in goals))
        solver.pop()
        if found_any == z3.unsat:
            found = [Obligation(fired.action.name, name, "proved") for name, _ in goals]
            for obligation in found:
                runner.end(obligation)
        else:
            found = _check_goals(system, runner, solver, fired, goals, assumed)
    for obligation, (name, goal) in zip(found, goals, strict=True):
        about = f"{fired.action.name} does not preserve {name}"
        terms = (assumed.whole, goal)
        runner.record(f"{fired.action.name}-{name}", about, terms, obligation)
    return found


def _taken_condition(system: System, fired: SymbolicStep) -> Truth:
    """The condition that an action is taken, while it is unknown whether it can fail.

    With any number of identifiers a step may count as failing although it does not: whether a set has room may be
    provable only with the very property of the obligation. The condition therefore omits it there.
    """
    return fired.enabled if system.values.types.any_size else fired.succeeds


def check_obligations(
    system: System,
    properties: Sequence[Property],
    wanted: Collection[tuple[str, str]],
    seconds: float | None = None,
    effort: int | None = None,
    in_parts: bool = False,
) -> list[Obligation]:
    """The answers to some of the obligations (action, property) of an induction; with ``in_parts``, also their parts.
    """
    runner = QueryRunner(system, seconds, _discard if in_parts else None, effort)
    states = [prop for prop in properties if prop.kind != "transition"]
    start = _symbolic_initiation if system.values.types.unbounded else _initiation
    begun = [prop for prop in properties if prop in states or prop.name in system.begun]
    first = [prop for prop in begun if (INITIAL, prop.name) in wanted]
    found = [it for it in start(system, runner, first) if (INITIAL, it.property) in wanted]
    assumed = InductionHypotheses(system, states, [prop for prop in properties if prop.kind == "transition"])
    for fired in system.fired:
        names = {name for action, name in wanted if action == fired.action.name}
        every = goals_of(system, properties, fired, _taken_condition(system, fired))
        goals = [(name, goal) for name, goal in every if name in names]
        if goals:
            solver = runner.solver()
            solver.add(as_term(assumed.whole))
            found += _check_goals(system, runner, solver, fired, goals, assumed)
    return found


def failing_obligations(
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
    found = check_obligations(system, properties, wanted, seconds, effort)
    failing = [obligation for obligation in found if obligation.outcome == "fails"]
    for obligation in failing:
        confirm(system.model, properties, obligation)
    return failing


def _check_goals(
    system: System,
    runner: QueryRunner,
    solver: Any,
    fired: SymbolicStep,
    goals: Sequence[tuple[str, Truth]],
    assumed: InductionHypotheses,
) -> list[Obligation]:
    found = []
    for name, goal in goals:
        found.append(
            _check_goal(system, runner, solver, fired, name, goal, weaker=assumed.weaker(fired.action.name, name))
        )
        runner.end(found[-1])
    return found


def _check_goal(
    system: System,
    runner: QueryRunner,
    solver: Any,
    fired: SymbolicStep,
    name: str,
    goal: Truth,
    action: str = "",
    weaker: WeakerHypotheses = NOTHING_WEAKER,
) -> Obligation:
    """One obligation of an action, or of an initial method, which is then called ``action``."""
    action, begins = action or fired.action.name, bool(action)
    if goal is False:
        return Obligation(action, name, "proved")
    started = time.perf_counter()
    key = fired.action.name, name
    runner.begin(key)
    solver.push()
    answer, reason = runner.check(solver, goal, weaker, key)
    seconds = time.perf_counter() - started
    found = Obligation(action, name, "undetermined", None, reason, seconds)
    if answer == z3.unsat:
        found = Obligation(action, name, "proved", seconds=seconds, parts=runner.parts)
    elif answer == z3.sat and system.values.types.any_size:
        found = Obligation(action, name, "undetermined", None, COARSE, seconds)
    elif answer == z3.sat:
        model = runner.model()
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
