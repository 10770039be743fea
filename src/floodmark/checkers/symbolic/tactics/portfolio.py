"""The portfolio of strategies for queries about any number of identifiers, whose quantifiers need different heuristics.

Each strategy is sound for unsat, so one that refutes the query is enough. A query is split into cases
(``case_split.py``), each of which is tried with one strategy after the other until it is answered; one of the
strategies splits the case into paths (``path_split.py``). Resource limits are in z3's own units and not in seconds, so
that a busy machine gives the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import z3

from floodmark.checkers.symbolic.tactics.answers import Style
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.tactics.case_split import Case, cases
from floodmark.checkers.symbolic.tactics.lazy_cardinality import by_set_pairs
from floodmark.checkers.symbolic.tactics.path_questions import PathPremises, PathQuestions
from floodmark.checkers.symbolic.tactics.path_split import Look, Path, path_by_path
from floodmark.checkers.symbolic.tactics.skolem_instances import View, assumptions_in_view
from floodmark.checkers.symbolic.terms.axioms import Axiom
from floodmark.checkers.symbolic.terms.symbols import SkolemConstants


@dataclass(frozen=True, slots=True)
class Strategy:
    """Options of z3, its resource limit (three million units take about a second), and the view of the assumptions.

    With ``paths`` a case is split into at most that many paths (``path_split.py``). A path without undecided conditions
    that is not refuted goes through the strategies of ``THOROUGH``.
    """

    effort: int
    options: dict[str, Any] = field(default_factory=dict)
    view: View = "everything"
    paths: int = 0


_SUGGESTED = {"auto_config": False, "mbqi": False}
_PATTERNS = {**_SUGGESTED, "relevancy": 0}
_SHALLOW = {**_SUGGESTED, "qi.lazy_threshold": 10.0}
_LATE = {**_SUGGESTED, "qi.eager_threshold": 0.0}
_LATE_RELEVANT = {**_LATE, "case_split": 3}
_EAGER = {"auto_config": False, "qi.eager_threshold": 20.0}
_NEAR = {**_SUGGESTED, "qi.eager_threshold": 2.0, "qi.lazy_threshold": 3.0}
STYLES: Mapping[Style, Mapping[str, Any]] = {
    "models": {},
    "terms": _SUGGESTED,
    "all terms": _PATTERNS,
    "shallow": _SHALLOW,
    "late": _LATE,
    "late relevant": _LATE_RELEVANT,
    "eager models": _EAGER,
    "near": _NEAR,
}
"""The z3 options of the styles that a recorded answer can name; all of them are sound for unsat."""
BY_PATHS = Strategy(600_000, _LATE_RELEVANT, "set pairs", paths=400)
STRATEGIES = (
    Strategy(300_000),
    Strategy(600_000, _LATE_RELEVANT),
    Strategy(600_000, _LATE),
    Strategy(300_000, _PATTERNS),
    Strategy(600_000, view="witnesses"),
    Strategy(600_000, _EAGER, "witnesses"),
    Strategy(600_000, _LATE_RELEVANT, "witnesses"),
    Strategy(600_000, view="namesakes"),
    Strategy(1_000_000, _LATE_RELEVANT, "namesakes"),
    BY_PATHS,
    Strategy(1_500_000, {**_LATE_RELEVANT, "random_seed": 7}),
    Strategy(1_500_000, {**_LATE, "random_seed": 7}),
    Strategy(1_500_000, _SHALLOW),
    Strategy(3_000_000),
    Strategy(3_000_000, _PATTERNS),
    Strategy(6_000_000, {**_LATE_RELEVANT, "random_seed": 11}),
    Strategy(6_000_000, _SUGGESTED),
    Strategy(6_000_000, {"random_seed": 7}),
    Strategy(6_000_000, {**_PATTERNS, "random_seed": 7}),
    Strategy(6_000_000, {**_SHALLOW, "random_seed": 7}),
    Strategy(20_000_000, {**_LATE, "random_seed": 11}),
    Strategy(20_000_000, _SUGGESTED),
)
"""In this order: model-based instantiation (MBQI); E-matching alone, delayed until the propositional structure is
decided, so that z3 considers one path through an action at a time (``_LATE``); E-matching with patterns from all terms
(``_PATTERNS``); eager instantiation of generated instances (``_EAGER``); and instantiation up to a small generation
(``_SHALLOW``). Universal assumptions may be replaced by their instances for Skolem constants (``skolem_instances.py``).
The path split (``path_split.py``) follows the strategies that take less than half a second each, which suffice for most
queries.
"""

ALL_PATHS_EFFORT = 4_000_000
"""The resource limit for refuting all paths at once."""
QUICK_TEST_EFFORT = 20_000
"""The resource limit for the quick test whether a condition is possible on a path."""
ROUNDS = 5
"""The total resource limit as a multiple of one round's, where cardinality laws are added on demand."""
THOROUGH = (
    Strategy(3_000_000, _LATE_RELEVANT, "set pairs"),
    Strategy(3_000_000, _LATE_RELEVANT, "close sets"),
    Strategy(3_000_000, _LATE_RELEVANT),
    Strategy(3_000_000, _LATE, "close sets"),
    Strategy(3_000_000, _NEAR),
    Strategy(3_000_000, _LATE),
    Strategy(12_000_000, _LATE_RELEVANT),
    Strategy(12_000_000, _NEAR),
)
"""The strategies for a path without undecided conditions. Instances of the third generation are seldom needed there,
and ``_NEAR`` leaves them out.
"""


class PortfolioQuery:
    """One query: whether ``goal`` is satisfiable together with ``assumed``, within ``seconds`` if given.

    ``assumed`` has all assumptions, then subsets of them: if a subset of the assumptions is unsatisfiable, so is the
    whole. The terms that ``known`` adds follow from their arguments. ``likely`` gives other subsets, which take some
    time to find; ``uncounted`` are the sorts of identifiers whose number no expression uses.
    """

    def __init__(
        self,
        assumed: Sequence[Any],
        known: Callable[[Sequence[Any]], Sequence[Axiom]],
        seconds: float | None = None,
        likely: Sequence[Callable[[], Any]] = (),
        uncounted: Sequence[Any] = (),
        sets: Sequence[Any] = (),
    ) -> None:
        self._assumed = list(assumed)
        self._known = known
        self._deadline = Deadline(seconds)
        self._likely = list(likely)
        self._uncounted = uncounted
        self._sets = sets
        self.witnesses = SkolemConstants()
        self._learned: int | None = None
        self._premises_made: PathPremises | None = None
        self._refuted: list[Sequence[Any]] = []
        self._parted = False
        self._best = 0
        self.answered_by: list[tuple[int, Strategy]] = []
        """The assumptions and the strategy that refuted each case."""
        self._reason = ""

    @property
    def parts(self) -> list[Sequence[Any]]:
        """The queries that were refuted in place of the whole one: its cases and their paths, with subsets of the
        assumptions."""
        return self._refuted if self._parted else []

    def answer(self, goal: Any) -> tuple[Any, str]:
        """z3's answer, and the reason if it is unknown."""
        found_cases = cases(goal, self.witnesses)
        self._parted = len(found_cases) > 1
        for case in found_cases:
            found = self._tried(case)
            if found != z3.unsat:
                return found, self._reason if found == z3.unknown else ""
        return z3.unsat, ""

    def _tried(self, case: Case) -> Any:
        """The answer of one strategy."""
        possible: set[int] = set()
        for strategy in self._turns():
            if strategy.paths:
                found = self._path_by_path(case, strategy)
                if found != z3.unknown:
                    self.answered_by.append((self._path_parts[-1], strategy))
                    return found
                continue
            for at in self._parts(strategy):
                if self._deadline.ended:
                    self._reason = str(self._deadline.reason)
                    return z3.unknown
                if at in possible:
                    continue
                found = self.answer_of(case, at, strategy)
                everything = strategy.view == "everything"
                if found == z3.unsat or (found == z3.sat and at == 0 and everything):
                    self._best = at
                    self.answered_by.append((at, strategy))
                    self._parted |= at != 0 or not everything
                    return found
                if found == z3.sat and everything:
                    possible.add(at)
        return z3.unknown

    def _turns(self) -> list[Strategy]:
        """The strategies in order, first the one that answered the last case. Views leave out much where some
        identifiers are not counted. Where all are counted, views leave out little and come last, because finding the
        likely subset takes seconds.
        """
        late = ("witnesses", "namesakes")
        turns = list(STRATEGIES) if self._uncounted else sorted(STRATEGIES, key=lambda it: it.view in late)
        last = [strategy for _, strategy in self.answered_by[-1:]]
        return sorted(turns, key=lambda it: it not in last)

    def _parts(self, strategy: Strategy) -> list[int]:
        """The subsets of the assumptions to try, first the one that sufficed for the last case. If the first strategy
        does not answer, the likely subset takes the place of the others.
        """
        if strategy is not STRATEGIES[0]:
            self._learn()
            if self._learned is not None:
                return sorted([self._learned, 0], key=lambda at: at != self._best)
        return sorted(range(len(self._assumed)), key=lambda at: at != self._best)

    def _learn(self) -> None:
        """Computes the likely subset, once; from then on it is one of ``assumed``."""
        if self._learned is None:
            self._learn_more()

    def _learn_more(self) -> bool:
        """Computes another subset that is likely to suffice, which replaces the former one; returns whether there is
        any."""
        while self._likely:
            part = self._likely.pop(0)()
            if part is not None:
                self._learned = len(self._assumed)
                self._assumed.append(part)
                self._premises_made = None
                return True
        return False

    def answer_of(self, case: Case, at: int, strategy: Strategy) -> Any:
        """The answer of one strategy with some of the assumptions; a model counts only with all assumptions in the full
        view."""
        stated = assumptions_in_view(strategy.view, self._assumed[at], case, self._uncounted, self.witnesses)
        terms = [*stated, *(axiom.term for axiom in self._known(stated))]
        found = self._checked(terms, strategy)
        if found == z3.unsat:
            self._refuted.append(terms)
        return found

    def _path_by_path(self, case: Case, strategy: Strategy) -> Any:
        """The answer to a case, solved as a whole, with subsets of the assumptions, or split into paths."""
        self._learn()
        while True:
            questions, first = self._premises().about(case), len(self._path_parts) - 1
            found, whole = self._on(questions, questions.whole, first, replace(strategy, effort=ALL_PATHS_EFFORT))
            if found == z3.unsat:
                self._refuted.append(whole)
                self._parted = True
                return found
            if not self._learn_more():
                return self._on_paths(questions, strategy)

    @property
    def _path_parts(self) -> list[int]:
        """The assumptions for paths: all of them, and the subset that is likely to suffice."""
        return [0] if self._learned is None else [0, self._learned]

    def _on_paths(self, questions: PathQuestions, strategy: Strategy) -> Any:
        """The answer for the paths of a case: no model, if each of them is refuted; or the model of one."""
        refuted: list[Sequence[Any]] = []
        first = len(self._path_parts) - 1
        ways: dict[Look, Sequence[tuple[int, Strategy]]] = {
            "at a glance": [(first, replace(strategy, effort=QUICK_TEST_EFFORT, view="close sets"))],
            "quickly": [(first, strategy)],
            "thoroughly": [(at, way) for way in THOROUGH for at in reversed(range(first + 1))],
        }

        def answer(path: Path, look: Look) -> Any:
            for at, way in ways[look]:
                if self._deadline.ended:
                    self._reason = str(self._deadline.reason)
                    return z3.unknown
                found, terms = self._on(questions, path, at, way)
                if found == z3.unsat:
                    refuted.append(terms)
                if found == z3.unsat or (found == z3.sat and at == 0 and way.view == "everything"):
                    return found
            return z3.unknown

        found = path_by_path(questions.whole, answer, strategy.paths)
        if found == z3.unsat:
            self._refuted += refuted
            self._parted = True
        return found

    def _on(self, questions: PathQuestions, path: Path, at: int, way: Strategy) -> tuple[Any, Sequence[Any]]:
        """The answer of one strategy for a path with some of the premises, and the terms of its query."""
        terms = questions.on(path, at, closely=way.view != "everything")
        if way.view != "set pairs":
            return self._checked(terms, way), terms
        solver = self._solver(terms, way)
        limit = Deadline(self._deadline.left, ROUNDS * way.effort)
        mentioned = [*path.conditions, *path.known]
        return by_set_pairs(terms, mentioned, self._sets, solver, lambda: limit.check(solver, most=way.effort))

    def _premises(self) -> PathPremises:
        """The assumptions on paths, which are the same for all cases."""
        if self._premises_made is None:
            self._premises_made = PathPremises([self._assumed[at] for at in self._path_parts], self._known, self._sets)
        return self._premises_made

    def _checked(self, terms: Sequence[Any], strategy: Strategy) -> Any:
        """z3's answer with one strategy whether terms are satisfiable together."""
        solver = self._solver(terms, strategy)
        solver.add(*terms)
        found = self._deadline.check(solver, most=strategy.effort)
        if found == z3.unknown:
            self._reason = f"z3 gave up in {len(STRATEGIES)} ways, at last: {solver.reason_unknown()}"
        return found

    def _solver(self, terms: Sequence[Any], strategy: Strategy) -> Any:
        """A solver for terms, with a strategy's options."""
        solver = z3.SimpleSolver(ctx=terms[0].ctx)
        solver.set(**strategy.options)
        return solver
