"""Clauses that together with the properties are inductive at a few sizes, found from counterexamples to induction.

A countermodel is a state from which a step violates a property, or a needed clause. A clause of the grammar excludes
it. If the grammar has none, every inductive set of its clauses allows the state, and thus the state after the step,
which is an example from then on: it refutes the clause that it violates, and others with it. The final set is the one
that Houdini (Flanagan and Leino 2001) would keep of all clauses of the grammar, apart from clauses that the properties
do not need, and from clauses that are weaker than one that was dropped. Among candidates, the search prefers clauses
that exclude further countermodels, as in endive (Schultz, Dardik and Tripakis, "Plain and Simple Inductive Invariant
Inference for Distributed Protocols in TLA+", 2022).

No proof relies on any of this: it suggests the lemmas of an induction, which proves them or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.suggestions.grammar import Grammar
from floodmark.checkers.symbolic.suggestions.sentences import QuantifiedClause
from floodmark.checkers.symbolic.suggestions.sized import SizedCountermodel, SizedSystem
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.translate.obligations import BOUNDARY, TYPES

Duty = tuple[str, int, str]
"""An obligation to preserve a statement, by name; its size; and its action."""


class NothingFoundError(Exception):
    """The properties have no support, or none within the limits."""


class Support:
    """The search: the available clauses, and for each duty that was shown the statements that suffice for it."""

    def __init__(
        self, grammar: Grammar, sizes: Sequence[SizedSystem], properties: Sequence[Property], deadline: Deadline
    ) -> None:
        self._grammar = grammar
        self._sizes = sizes
        self._deadline = deadline
        self._properties = [prop.name for prop in properties if prop.kind != "transition"]
        boundary = [BOUNDARY] if any(size.has_boundary for size in sizes) else []
        self._targets = [TYPES, *boundary, *(prop.name for prop in properties)]
        self._clauses: dict[str, QuantifiedClause] = {}
        self._dropped: set[QuantifiedClause] = set()
        self._shown: dict[Duty, frozenset[str]] = {}
        self._named = 0
        self._age = {name: number for number, name in enumerate(self._properties)}
        self._refuted: set[QuantifiedClause] = set()
        self.questions = 0

    @property
    def refuted(self) -> int:
        """The number of candidate clauses that countermodels refuted."""
        return len(self._refuted)

    def clauses(self) -> dict[str, QuantifiedClause]:
        """Clauses by name that make the properties inductive at each size, none of which can be left out.

        Raises NothingFoundError.
        """
        while (duty := self._next()) is not None:
            self._fulfil(duty)
        self._trim()
        return {name: self._clauses[name] for name in self._needed() if name in self._clauses}

    def drop(self, names: Collection[str]) -> None:
        """Drops some clauses: they are never suggested again."""
        self._dropped |= {self._clauses[name] for name in names}
        self._forget(names)

    def _next(self) -> Duty | None:
        """The next obligation, if one remains."""
        return next((duty for name in self._needed() for duty in self._duties(name) if duty not in self._shown), None)

    def _duties(self, name: str) -> Iterator[Duty]:
        for number, size in enumerate(self._sizes):
            for action in size.actions:
                yield name, number, action

    def _needed(self) -> list[str]:
        """The properties, and the statements that suffice for a needed one."""
        found = dict.fromkeys(self._targets)
        pending = list(found)
        while pending:
            name = pending.pop(0)
            for duty in self._duties(name):
                new = [it for it in sorted(self._shown.get(duty, ()), key=self._age.__getitem__) if it not in found]
                found.update(dict.fromkeys(new))
                pending += new
        return list(found)

    def _fulfil(self, duty: Duty) -> None:
        """Shows a duty with the available clauses and new ones, or drops its clause."""
        name, _, action = duty
        while True:
            needed = [it for it in self._needed() if it in self._clauses]
            assumed = dict.fromkeys([*self._properties, *needed, *([name] if name in self._clauses else [])])
            answer = self._ask(duty, assumed)
            if isinstance(answer, SizedCountermodel):
                assumed |= dict.fromkeys(self._clauses)
                answer = self._ask(duty, assumed)
            if answer is None:
                self._give_up(name)
                return
            if not isinstance(answer, SizedCountermodel):
                self._shown[duty] = self._fewer(duty, answer, {*needed, *self._properties})
                return
            if not self._exclude(answer, duty):
                self._refute(answer, name, action, duty)
                return

    def _exclude(self, met: SizedCountermodel, duty: Duty) -> bool:
        """Takes a clause from the grammar that excludes a countermodel, if there is one."""
        answers = self._grammar.answers(self._sizes[duty[1]].model, met.before)
        clause = self._grammar.suggest(answers, self._dropped)
        if clause is None:
            return False
        if clause in self._clauses.values():
            raise RuntimeError("z3 says that a state satisfies a clause which CPython finds false there")
        if clause in self._refuted:
            raise RuntimeError("a clause is suggested that an example refutes")
        self._named += 1
        name = f"suggested_{self._named}"
        self._clauses[name] = clause
        self._age[name] = len(self._age)
        prop = self._grammar.scopes[clause.scope].statement(name, clause)
        for size in self._sizes:
            size.learn(prop)
        return True

    def _refute(self, met: SizedCountermodel, name: str, action: str, duty: Duty) -> None:
        """Adds the successor of a countermodel that nothing excludes as an example, which refutes the clause."""
        if name not in self._clauses or met.after is None:
            what = "goes wrong" if name == TYPES else f"breaks {name}"
            raise NothingFoundError(f"no clause excludes a state in which {action} {what}")
        answers = self._grammar.answers(self._sizes[duty[1]].model, met.after)
        self._grammar.learn(answers)
        broken = [it for it, clause in self._clauses.items() if not clause.holds(answers[clause.scope])]
        if name not in broken:
            raise RuntimeError(f"z3 says that {action} does not preserve a clause which CPython finds true afterwards")
        self._refuted |= {self._clauses[it] for it in broken}
        self._forget(broken)

    def _give_up(self, name: str) -> None:
        """Drops a clause of which z3 cannot decide whether it is preserved."""
        if self._deadline.ended or name not in self._clauses:
            raise NothingFoundError(f"ended by {self._deadline.reason}" if self._deadline.ended else "z3 gave up")
        self.drop([name])

    def _forget(self, names: Collection[str]) -> None:
        gone = set(names)
        self._clauses = {name: clause for name, clause in self._clauses.items() if name not in gone}
        self._shown = {duty: by for duty, by in self._shown.items() if duty[0] not in gone and not by & gone}

    def _fewer(self, duty: Duty, shown_by: frozenset[str], free: Collection[str]) -> frozenset[str]:
        """Statements that suffice for a duty, with as few as possible beyond those that are needed anyway."""
        enough = shown_by
        for name in sorted(shown_by - {*free, duty[0]}, key=self._age.__getitem__, reverse=True):
            if name in enough:
                answer = self._ask(duty, sorted(enough - {name}, key=self._age.__getitem__))
                enough = answer if isinstance(answer, frozenset) else enough
        return enough

    def _trim(self) -> None:
        """Drops each clause without which the others suffice, the longest first."""
        for name in sorted(self._needed(), key=self._length, reverse=True):
            needed = self._needed()
            if name not in self._clauses or name not in needed:
                continue
            rest = [it for it in needed if it in self._clauses and it != name]
            shown = {}
            for duty, by in self._shown.items():
                if name in by and duty[0] in needed and duty[0] != name:
                    answer = self._ask(duty, [*self._properties, *rest])
                    if not isinstance(answer, frozenset):
                        break
                    shown[duty] = answer
            else:
                self._shown |= shown

    def _length(self, name: str) -> int:
        clause = self._clauses.get(name)
        return 0 if clause is None else len(clause.literals) + len(self._grammar.scopes[clause.scope].variables)

    def _ask(self, duty: Duty, assumed: Collection[str]) -> frozenset[str] | SizedCountermodel | None:
        if self._deadline.ended:
            raise NothingFoundError(f"ended by {self._deadline.reason}")
        name, number, action = duty
        self.questions += 1
        return self._sizes[number].ask(action, name, assumed)
