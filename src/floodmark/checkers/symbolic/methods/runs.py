"""Runs from the initial states, and queries about them. Two measures make hard queries easier. If the model treats
identifiers symmetrically, symmetry is broken: among runs that differ only in names, those that mention the identifiers
in order are kept. And each hard query gets a solver of its own: the shared one keeps its lemmas, but must not simplify
away terms that later queries could mention."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import z3

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.symbolic.methods.unrolling import Unrolling, arguments_of
from floodmark.checkers.symbolic.tactics.budget import Deadline, gave_up
from floodmark.checkers.symbolic.terms.booleans import as_term
from floodmark.checkers.symbolic.translate.transition_system import System
from floodmark.checkers.symmetry.obligations import interchangeable
from floodmark.language.types import IdentifierType, Type
from floodmark.language.values import Identifier

MAX_CONFLICTS = 100_000
"""A query is hard when the shared solver has more conflicts than this."""


class Runs(Unrolling):
    """Runs of a system from its initial states, or from the end of the run ``before``, checked for ``properties``.

    ``interchangeable`` are the identifiers that the model was proved to treat symmetrically; the end of a run may
    distinguish them.
    """

    def __init__(self, system: System, properties: Sequence[Property], before: Sequence[TraceState] = ()) -> None:
        super().__init__(system)
        self.interchangeable: list[tuple[Identifier, ...]] = []
        self._properties = properties
        self._hard = False
        self._said: list[Any] = []
        self._mentioned: dict[Identifier, Any] = {}
        self.before = before
        now = system.now.state
        begun = system.equal(now, system.constant(before[-1].state)) if before else system.initial(now)
        self.say(self.at(as_term(begun), 0))

    def add(self, term: Any) -> None:
        super().add(term)
        self._said.append(term)  # the solver's own list has them rewritten

    def extend(self) -> None:
        super().extend()
        self._order(len(self.choices) - 1)

    def ask(self, goal: Any, deadline: Deadline) -> Any:
        """A z3 model in which the goal is true, None if there is none, or a Stop if that is unknown."""
        if deadline.ended:
            return deadline.reason
        goal = as_term(goal)
        answer = z3.unknown if self._hard else self._quick_answer(goal, deadline)
        solver = self.solver
        if self._hard:
            solver = self._simplifying(goal)
            answer = deadline.check(solver)
        if answer == z3.unknown:
            return deadline.reason if deadline.ended else gave_up(solver)
        if answer == z3.sat:
            return solver.model()
        self.add(z3.Not(goal))  # implied by the rest, and saves later questions much of their search
        return None

    def _quick_answer(self, goal: Any, deadline: Deadline) -> z3.CheckSatResult:
        """The shared solver's answer. After its first failure, all later queries are hard."""
        mark = self.system.values.symbols.truth("goal")
        self.add(z3.Implies(mark, goal))
        self.solver.set("max_conflicts", MAX_CONFLICTS)
        answer = deadline.check(self.solver, mark)
        if answer == z3.unknown and not deadline.ended:
            self._hard = True
            if not self.before:
                self.order(interchangeable(self.system, self._properties, deadline))
        return answer

    def order(self, classes: list[tuple[Identifier, ...]]) -> None:
        """Restricts the runs, from now on, to those that mention the identifiers of each class in the given order."""
        self.interchangeable = classes
        self._mentioned.clear()
        for index in range(len(self.choices)):
            self._order(index)

    def _simplifying(self, goal: Any) -> Any:
        search = z3.With("sat", lookahead_simplify=True)
        steps = ("simplify", "propagate-values", "solve-eqs", "simplify", "bit-blast", "simplify", search)
        solver = z3.Then(*steps).solver()
        solver.add(*self._said, goal)
        return solver

    def _order(self, index: int) -> None:
        """An identifier may be an argument of a step only if the one before it was an earlier argument."""
        for members in self.interchangeable:
            mentions: dict[Identifier, list[Any]] = {member: [] for member in members}
            for chosen, arguments in self._arguments(index, type(members[0])):
                for place, argument in enumerate(arguments):
                    for before, member in itertools.pairwise(members):
                        earlier = [_is(other, before) for other in arguments[:place]]
                        known = z3.Or(self._mention(before), *earlier)
                        self.add(z3.Implies(z3.And(chosen, _is(argument, member)), known))
                    for member in members:
                        mentions[member].append(z3.And(chosen, _is(argument, member)))
            for member in members:
                hint = f"{index}:{type(member).__name__} {member.number} was mentioned"
                mark = self.system.values.symbols.truth(hint)
                self.add(mark == z3.Or(self._mention(member), *mentions[member]))
                self._mentioned[member] = mark

    def _mention(self, member: Identifier) -> Any:
        """Whether any step so far mentions an identifier."""
        return self._mentioned.get(member, z3.BoolVal(False))

    def _arguments(self, index: int, cls: type[Identifier]) -> Iterator[tuple[Any, list[Any]]]:
        """For each action, whether it is step number ``index``, and its arguments of an identifier class.

        Identifiers inside other arguments need no order: only the counted first mentions determine the names.
        """
        for fired, chosen, copies in zip(self.system.fired, self.choices[index], self.parameters[index], strict=True):
            pairs = zip(fired.action.parameters, arguments_of(self.system, fired, copies), strict=True)
            yield chosen, [value for parameter, value in pairs if _is_of(parameter.type, cls)]


def _is(argument: Any, member: Identifier) -> Any:
    return argument == member.number - 1


def _is_of(kind: Type, cls: type[Identifier]) -> bool:
    return isinstance(kind, IdentifierType) and kind.cls is cls
