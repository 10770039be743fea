"""How z3 is asked about any number of identifiers: with quantifiers, so some questions need another way of looking.

Each strategy is a way for one solver to answer the same question, so whichever says that there is no model is right. A
question is asked case by case (``cases.py``), each in one way after the other until it is answered; one of the ways is
path by path, where all paths together are the case (``paths.py``). Effort is limited in z3's own units and not in
seconds, so that a busy machine gives the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import z3

from floodmark.checkers.symbolic.cases import Case, cases
from floodmark.checkers.symbolic.deadline import Deadline
from floodmark.checkers.symbolic.facts import Fact
from floodmark.checkers.symbolic.path_questions import PathQuestions, Premises
from floodmark.checkers.symbolic.paths import Look, Path, path_by_path
from floodmark.checkers.symbolic.set_pairs import by_set_pairs
from floodmark.checkers.symbolic.symbols import Witnesses
from floodmark.checkers.symbolic.witnesses import View, seen


@dataclass(frozen=True, slots=True)
class Strategy:
    """Options of z3, how much it may do (three million units take it about a second), and what it gets to see.

    With ``paths`` a case is asked path by path (``paths.py``), of which there may be so many. One that decides
    everything, and is not refuted so, is asked in the ways of ``THOROUGH``.
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
    Strategy(600_000, _LATE_RELEVANT, "set pairs", paths=400),
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
"""In turns: instances that also a model that z3 has in mind would break; only those that terms suggest, and these only
once z3 has decided what else is true, so that it looks at one path through an action at a time (``_LATE``); those that
all terms suggest (``_PATTERNS``); those that come from others, at once (``_EAGER``); and only those that come from few
others (``_SHALLOW``). What is assumed of everything may be looked at as said of witnesses (``witnesses.py``). Path
by path (``paths.py``) comes after the ways that take less than half a second each, which are enough for most questions.
"""

TOGETHER = 4_000_000
"""The effort that is worth to refute all paths at once."""
GLANCE = 20_000
"""The effort that tells whether a condition is possible on a path at all, so far as that is plain."""
ROUNDS = 5
"""How much more than in one round is worth to do in all, where sets are told what they need."""
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
"""How a path is asked that has decided everything; there, instances of instances of instances are seldom needed, which
``_NEAR`` leaves out.
"""


class Asking:
    """One question: whether ``goal`` can be true together with what is ``assumed``, within ``seconds`` if given.

    ``assumed`` has everything that is assumed, then parts of it: what has no model with less has none with more. The
    terms that ``known`` adds follow from what they are about. ``likely`` gives other parts, which take some time to
    find; ``uncounted`` are the sorts of identifiers of which nobody asks how many there are.
    """

    def __init__(
        self,
        assumed: Sequence[Any],
        known: Callable[[Sequence[Any]], Sequence[Fact]],
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
        self.witnesses = Witnesses()
        self._learned: int | None = None
        self._said: Premises | None = None
        self._refuted: list[Sequence[Any]] = []
        self._parted = False
        self._best = 0
        self._reason = ""

    @property
    def parts(self) -> list[Sequence[Any]]:
        """The questions that were refuted instead of the whole one: its cases, their paths, with less assumed."""
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
        """What one of several ways finds."""
        possible: set[int] = set()
        for strategy in self._turns():
            if strategy.paths:
                found = self._path_by_path(case, strategy)
                if found != z3.unknown:
                    return found
                continue
            for at in self._parts(strategy.view):
                if self._deadline.ended:
                    self._reason = self._deadline.reason
                    return z3.unknown
                if at in possible:
                    continue
                found = self.asked(case, at, strategy)
                everything = strategy.view == "everything"
                if found == z3.unsat or (found == z3.sat and at == 0 and everything):
                    self._best = at
                    self._parted |= at != 0 or not everything
                    return found
                if found == z3.sat and everything:
                    possible.add(at)
        return z3.unknown

    def _turns(self) -> list[Strategy]:
        """The strategies in their turns. Views leave out much where some identifiers are not counted; where all are,
        they leave out little, and come last: to find the likely part takes seconds.
        """
        late = ("witnesses", "namesakes")
        return list(STRATEGIES) if self._uncounted else sorted(STRATEGIES, key=lambda it: it.view in late)

    def _parts(self, view: View) -> list[int]:
        """Which assumptions to ask with, first those that were enough for the last case.

        Of witnesses little is said, so there the likely part takes the place of the others.
        """
        if view != "everything":
            self._learn()
            if self._learned is not None:
                return [self._learned, 0]
        return sorted(range(len(self._assumed)), key=lambda at: at != self._best)

    def _learn(self) -> None:
        """Finds the likely part, once; from then on it is one of those assumed."""
        if self._learned is None:
            self._learn_more()

    def _learn_more(self) -> bool:
        """Finds what else is likely to be enough, which takes the place of what was; whether there is any."""
        while self._likely:
            part = self._likely.pop(0)()
            if part is not None:
                self._learned = len(self._assumed)
                self._assumed.append(part)
                self._said = None
                return True
        return False

    def asked(self, case: Case, at: int, strategy: Strategy) -> Any:
        """What one way finds with some of the assumptions; a model only counts when all are made and everything is
        seen.
        """
        stated = seen(strategy.view, self._assumed[at], case, self._uncounted, self.witnesses)
        terms = [*stated, *(fact.term for fact in self._known(stated))]
        found = self._checked(terms, strategy)
        if found == z3.unsat:
            self._refuted.append(terms)
        return found

    def _path_by_path(self, case: Case, strategy: Strategy) -> Any:
        """What is found about a case, asked as a whole, with less assumed in several ways, or path by path."""
        self._learn()
        while True:
            asked, first = self._premises().about(case), len(self._path_parts) - 1
            found, whole = self._on(asked, asked.whole, first, replace(strategy, effort=TOGETHER))
            if found == z3.unsat:
                self._refuted.append(whole)
                self._parted = True
                return found
            if not self._learn_more():
                return self._on_paths(asked, strategy)

    @property
    def _path_parts(self) -> list[int]:
        """Which assumptions paths are asked with: everything, and what is likely to be enough."""
        return [0] if self._learned is None else [0, self._learned]

    def _on_paths(self, asked: PathQuestions, strategy: Strategy) -> Any:
        """What is found on the paths of a case: no model, if each of them is refuted; or the model of one."""
        refuted: list[Sequence[Any]] = []
        first = len(self._path_parts) - 1
        ways: dict[Look, Sequence[tuple[int, Strategy]]] = {
            "at a glance": [(first, replace(strategy, effort=GLANCE, view="close sets"))],
            "quickly": [(first, strategy)],
            "thoroughly": [(at, way) for way in THOROUGH for at in reversed(range(first + 1))],
        }

        def answer(path: Path, look: Look) -> Any:
            for at, way in ways[look]:
                if self._deadline.ended:
                    self._reason = self._deadline.reason
                    return z3.unknown
                found, terms = self._on(asked, path, at, way)
                if found == z3.unsat:
                    refuted.append(terms)
                if found == z3.unsat or (found == z3.sat and at == 0 and way.view == "everything"):
                    return found
            return z3.unknown

        found = path_by_path(asked.whole, answer, strategy.paths)
        if found == z3.unsat:
            self._refuted += refuted
            self._parted = True
        return found

    def _on(self, asked: PathQuestions, path: Path, at: int, way: Strategy) -> tuple[Any, Sequence[Any]]:
        """What one way finds about a path with some of the premises, and the terms that it was asked about."""
        terms = asked.on(path, at, closely=way.view != "everything")
        if way.view != "set pairs":
            return self._checked(terms, way), terms
        solver = self._solver(terms, way)
        limit = Deadline(self._deadline.left, ROUNDS * way.effort)
        asked_about = [*path.stated, *path.known]
        return by_set_pairs(terms, asked_about, self._sets, solver, lambda: limit.check(solver, most=way.effort))

    def _premises(self) -> Premises:
        """What is assumed on paths, which is the same for all cases."""
        if self._said is None:
            self._said = Premises([self._assumed[at] for at in self._path_parts], self._known, self._sets)
        return self._said

    def _checked(self, terms: Sequence[Any], strategy: Strategy) -> Any:
        """What z3 finds in one way about terms that are to be true together."""
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
