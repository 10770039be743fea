"""All clauses of up to three literals over a model's vocabulary, represented implicitly.

Given a state to exclude, the grammar finds a clause that is false there and true in all examples. It answers as if it
had enumerated all clauses and removed those that an example refutes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence

from floodmark.checkers.symbolic.suggestions.batches import Batch, batch_of
from floodmark.checkers.symbolic.suggestions.examples import Examples, different
from floodmark.checkers.symbolic.suggestions.scopes import AtomScope, AtomTable, AtomValues
from floodmark.checkers.symbolic.suggestions.sentences import QuantifiedClause, TruthColumn
from floodmark.language.model import Model, State

SHAPES = ((1, 0), (1, 1), (2, 0), (2, 1), (1, 2), (3, 0), (2, 2), (3, 1), (3, 2))
"""The numbers of literals and of variables of a clause, the simplest first."""
MAX_CANDIDATES = 400
"""The maximum number of clauses that exclude a state among which one is chosen."""
REMEMBERED = 80
"""The number of earlier countermodels; a clause scores higher if it excludes more of them."""
COMPLEXITY = 0.12
"""The cost of a literal or a variable, as a share of the countermodels."""


class Grammar:
    """The clauses about some scopes that are true in all examples so far."""

    def __init__(self, scopes: Sequence[AtomScope], batches: Collection[Batch]) -> None:
        self.scopes = scopes
        known: dict[int, dict[AtomTable, AtomValues]] = {number: {} for number in range(len(batches))}
        self._examples = [
            Examples(different(
                (part for number, batch in enumerate(batches) for part in scope.answers(batch, known[number])),
                len(scope.atoms),
            ))
            for scope in scopes
        ]
        self._met: deque[list[TruthColumn]] = deque(maxlen=REMEMBERED)

    def answers(self, model: Model, state: State) -> list[TruthColumn]:
        """The truth values of a state in each scope."""
        batch, known = batch_of(model, [state]), dict[AtomTable, AtomValues]()
        return [different(scope.answers(batch, known), len(scope.atoms)) for scope in self.scopes]

    def learn(self, answers: Sequence[TruthColumn]) -> None:
        """Adds a state as an example: from now on, no clause that is false there is suggested."""
        for examples, rows in zip(self._examples, answers, strict=True):
            if len(rows):
                examples.add(rows)

    def suggest(self, answers: Sequence[TruthColumn], without: Collection[QuantifiedClause]) -> QuantifiedClause | None:
        """A clause that excludes a state; None if there is none."""
        self._met.append(list(answers))
        found: list[QuantifiedClause] = []
        for clause in self._excluding(answers):
            if clause not in without:
                found.append(clause)
            if len(found) >= MAX_CANDIDATES:
                break
        return max(found, key=self._worth, default=None)

    def _worth(self, clause: QuantifiedClause) -> float:
        excluded = sum(not clause.holds(answers[clause.scope]) for answers in self._met)
        size = len(clause.literals) + len(self.scopes[clause.scope].variables)
        return excluded / len(self._met) - COMPLEXITY * size

    def _excluding(self, answers: Sequence[TruthColumn]) -> Iterator[QuantifiedClause]:
        """The clauses that are false for some choice of variables in a state, the simplest first.

        Clauses of three literals about members of two different sets are left out: there are too many.
        """
        for literals, variables in SHAPES:
            for number, scope in enumerate(self.scopes):
                if len(scope.variables) != variables or (literals > 2 and scope.joins):
                    continue
                if not len(self._examples[number]):  # there is no example for such a choice of variables
                    continue
                for row in answers[number]:
                    for atoms in self._examples[number].clauses(row, literals):
                        if scope.mentions_all(atoms):
                            yield QuantifiedClause(number, tuple((atom, not row[atom]) for atom in atoms))
