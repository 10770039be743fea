"""How z3 is asked about any number of identifiers: with quantifiers, so some questions need another way of looking.

Each strategy is a way for one solver to answer the same question, so whichever says that there is no model is right. A
question is asked case by case (``cases.py``), each in one way after the other until it is answered. Effort is limited
in z3's own units and not in seconds, so that a busy machine gives the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from floodmark.checkers.symbolic.cases import Case, cases
from floodmark.checkers.symbolic.deadline import Deadline
from floodmark.checkers.symbolic.witnesses import View, seen


@dataclass(frozen=True, slots=True)
class Strategy:
    """Options of z3, how much it may do (three million units take it about a second), and what it gets to see."""

    effort: int
    options: dict[str, Any] = field(default_factory=dict)
    view: View = "everything"


_SUGGESTED = {"auto_config": False, "mbqi": False}
_PATTERNS = {**_SUGGESTED, "relevancy": 0}
_SHALLOW = {**_SUGGESTED, "qi.lazy_threshold": 10.0}
_LATE = {**_SUGGESTED, "qi.eager_threshold": 0.0}
_LATE_RELEVANT = {**_LATE, "case_split": 3}
STRATEGIES = (
    Strategy(300_000),
    Strategy(600_000, _LATE_RELEVANT),
    Strategy(600_000, _LATE),
    Strategy(300_000, _PATTERNS),
    Strategy(600_000, view="witnesses"),
    Strategy(600_000, _LATE_RELEVANT, "witnesses"),
    Strategy(600_000, view="namesakes"),
    Strategy(1_000_000, _LATE_RELEVANT, "namesakes"),
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
all terms suggest (``_PATTERNS``); and only those that do not come from many others (``_SHALLOW``). What is assumed of
everything may be looked at as said of witnesses (``witnesses.py``).
"""


class Asking:
    """One question: whether ``goal`` can be true together with what is ``assumed``, within ``seconds`` if given.

    ``assumed`` has everything that is assumed, then parts of it: what has no model with less has none with more. The
    terms that ``known`` adds follow from what they are about. ``likely`` gives another part, which takes some time to
    find; ``uncounted`` are the sorts of identifiers of which nobody asks how many there are.
    """

    def __init__(
        self,
        assumed: Sequence[Any],
        known: Callable[[Sequence[Any]], Sequence[Any]],
        seconds: float | None = None,
        likely: Callable[[], Any] = lambda: None,
        uncounted: Sequence[Any] = (),
    ) -> None:
        self._assumed = list(assumed)
        self._known = known
        self._deadline = Deadline(seconds)
        self._likely: Callable[[], Any] | None = likely
        self._uncounted = uncounted
        self._learned: int | None = None
        self._best = 0
        self._reason = ""

    def answer(self, goal: Any) -> tuple[Any, str]:
        """z3's answer, and the reason if it is unknown."""
        for case in cases(goal):
            found = self._tried(case)
            if found != z3.unsat:
                return found, self._reason if found == z3.unknown else ""
        return z3.unsat, ""

    def _tried(self, case: Case) -> Any:
        """What one of several ways finds."""
        possible: set[int] = set()
        for strategy in self._turns():
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
                    return found
                if found == z3.sat and everything:
                    possible.add(at)
        return z3.unknown

    def _turns(self) -> list[Strategy]:
        """The strategies in their turns. Views leave out much where some identifiers are not counted; where all are,
        they leave out little, and come last: to find the likely part takes seconds.
        """
        return list(STRATEGIES) if self._uncounted else sorted(STRATEGIES, key=lambda it: it.view != "everything")

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
        if self._likely is None:
            return
        part, self._likely = self._likely(), None
        if part is not None:
            self._learned = len(self._assumed)
            self._assumed.append(part)

    def asked(self, case: Case, at: int, strategy: Strategy) -> Any:
        """What one way finds with some of the assumptions; a model only counts when all are made and everything is
        seen.
        """
        solver = z3.SimpleSolver()
        solver.set(**strategy.options)
        stated = seen(strategy.view, self._assumed[at], case, self._uncounted)
        solver.add(*stated, *self._known(stated))
        found = self._deadline.check(solver, most=strategy.effort)
        if found == z3.unknown:
            self._reason = f"z3 gave up in {len(STRATEGIES)} ways, at last: {solver.reason_unknown()}"
        return found
