"""Replays a record of answers in z3: each case with one strategy, without a search.

Why even a forged record cannot prove a false statement: each of its parts only chooses among sound options.

- The cases are those of the query, and each of them has to be refuted. A record with more or fewer is invalid.
- The needed assumptions select among the properties and lemmas that may be assumed; any other name selects nothing. If
  a subset of the assumptions is unsatisfiable, so is the whole.
- Styles and views are those of ``tactics/portfolio.py`` and ``tactics/skolem_instances.py``, by name; a record has no
  options of z3.
- A condition that splits paths is looked up among those of the path. Both branches are solved, unless one is
  contradictory, which is established here and not read from the record.
- A law is looked up among the known laws, the sets among those of the query.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

import z3

from floodmark.checkers.symbolic.records.term_names import TermNames
from floodmark.checkers.symbolic.tactics.answers import Answer, Answers, Refutation, Split, Style
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.tactics.case_split import Case, cases
from floodmark.checkers.symbolic.tactics.lazy_cardinality import LawInstance, counted_sets, with_laws
from floodmark.checkers.symbolic.tactics.path_questions import PathPremises, PathQuestions
from floodmark.checkers.symbolic.tactics.path_split import Path, conditions_of, sides
from floodmark.checkers.symbolic.tactics.portfolio import STYLES
from floodmark.checkers.symbolic.tactics.skolem_instances import assumptions_in_view
from floodmark.checkers.symbolic.terms.axioms import Axiom
from floodmark.checkers.symbolic.terms.symbols import SkolemConstants

REPLAY_EFFORT = 6_000_000
"""z3's resource limit for one query: two seconds, where a recorded answer takes a tenth of one."""
UNSPLIT_VIEWS: tuple[Literal["everything", "witnesses", "namesakes"], ...] = ("everything", "witnesses", "namesakes")
"""The views of assumptions that do not split paths."""
SEEDS = (0, 7, 11, 23, 42)
"""z3's random seeds, one after the other, so that an answer does not depend on one of them."""


class QueryReplay:
    """One query and its answers. ``always`` is assumed with every answer, ``statements`` has those of properties and
    lemmas, by their names; the terms that ``known`` adds follow from their arguments."""

    def __init__(
        self,
        goal: Any,
        always: Any,
        statements: Mapping[str, Any],
        known: Callable[[Sequence[Any]], Sequence[Axiom]],
        seconds: float | None = None,
        uncounted: Sequence[Any] = (),
        sets: Sequence[Any] = (),
    ) -> None:
        self.always = always
        self.statements = statements
        self._known = known
        self._deadline = Deadline(seconds)
        self._uncounted = uncounted
        self.sets = sets
        self._witnesses = SkolemConstants()
        self.cases = cases(goal, self._witnesses)
        self._premises: dict[frozenset[str], PathPremises] = {}
        self.refuted: list[Sequence[Any]] = []
        """The queries that were refuted."""

    def goes_through(self, answers: Answers) -> bool:
        """Whether z3 refutes every case as its answer says."""
        return len(answers) == len(self.cases) and all(map(self.refutes, self.cases, answers))

    def refutes(self, case: Case, answer: Answer) -> bool:
        """Whether z3 refutes one case with an answer's strategy."""
        if isinstance(answer, Refutation) and answer.view in UNSPLIT_VIEWS:
            return self.decides(self.plain(case, answer), answer.style)
        asking = self.on_paths(case, {it for way in ways_of(answer) for it in way.assumptions})
        return self._on(asking, asking.whole, answer)

    def plain(self, case: Case, way: Refutation) -> list[Any]:
        """The terms of a case with the assumptions of a strategy, in its view."""
        view = next(it for it in UNSPLIT_VIEWS if it == way.view)
        stated = assumptions_in_view(view, self._assumed(way.assumptions), case, self._uncounted, self._witnesses)
        return [*stated, *(axiom.term for axiom in self._known(stated))]

    def _assumed(self, needed: Collection[str]) -> Any:
        return z3.And(self.always, *(term for name, term in self.statements.items() if name in needed))

    def on_paths(self, case: Case, needed: Collection[str]) -> PathQuestions:
        """The queries about the paths of a case with some assumptions."""
        key = frozenset(needed)
        if key not in self._premises:
            self._premises[key] = PathPremises([self._assumed(key)], self._known, self.sets)
        return self._premises[key].about(case)

    def _on(self, asking: PathQuestions, path: Path, answer: Answer) -> bool:
        if isinstance(answer, Refutation):
            return self.decides(self.of_path(asking, path, answer), answer.style)
        names = TermNames([*path.conditions, *path.known])
        condition = next((it for it in conditions_of(path) if names.of(it) == answer.condition), None)
        if condition is None:
            return False
        both = zip(sides(path, condition), (answer.true, answer.false), strict=True)
        return all(side is None or (branch is not None and self._on(asking, side, branch)) for side, branch in both)

    def of_path(self, asking: PathQuestions, path: Path, way: Refutation) -> list[Any]:
        """The terms of a path, in the view of a strategy, with its instances of laws."""
        terms = asking.on(path, 0, closely=way.view in ("close sets", "set pairs"))
        return terms if way.view != "set pairs" else with_laws(terms, self.sets, self._instances(terms, way))

    def _instances(self, terms: Sequence[Any], way: Refutation) -> Iterator[LawInstance]:
        """The instances of laws for sets that the query mentions."""
        names = TermNames(terms)
        by_name = {names.of(it): it for it in counted_sets(terms, self.sets)}
        for instance in way.laws:
            if all(it in by_name for it in instance.sets):
                yield instance.law, tuple(by_name[it] for it in instance.sets)

    def decides(self, terms: Sequence[Any], style: Style) -> bool:
        """Whether z3 refutes terms in this style."""
        if any(self.spent(terms, style, seed) is not None for seed in SEEDS):
            self.refuted.append(terms)
            return True
        return False

    def spent(self, terms: Sequence[Any], style: Style, seed: int = 0, effort: int | None = None) -> int | None:
        """The effort by which z3 refutes terms; None if it does not."""
        if self._deadline.ended:
            return None
        solver = z3.SimpleSolver(ctx=terms[0].ctx)
        solver.set(**STYLES[style], **({"random_seed": seed} if seed else {}))
        solver.add(*terms)
        limit = Deadline(self._deadline.left, REPLAY_EFFORT if effort is None else effort)
        return limit.spent if limit.check(solver) == z3.unsat else None


def ways_of(answer: Answer | None) -> Iterator[Refutation]:
    """The strategies in an answer."""
    match answer:
        case Refutation():
            yield answer
        case Split():
            yield from ways_of(answer.true)
            yield from ways_of(answer.false)
