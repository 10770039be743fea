"""Queries about one step of a model of a given size: the unsatisfiable core of a query, or a countermodel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import z3

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj
from floodmark.checkers.symbolic.translate.effects import SymbolicStep
from floodmark.checkers.symbolic.translate.obligations import (
    BOUNDARY,
    TYPES,
    assumption,
    holds_condition,
    violation_condition,
)
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.language.model import Model, State

ANSWER_EFFORT = 60_000_000
"""z3's resource limit for one answer."""


@dataclass(frozen=True, slots=True)
class SizedCountermodel:
    """A state in which all assumptions are true, and its successor, which is missing if the action fails."""

    before: State
    after: State | None


class SizedSystem:
    """The steps of a model at given constants, and the possible assumptions before them. Successive queries use the
    same solvers, one for each action, in which each statement has an assumption literal."""

    def __init__(self, model: Model, properties: Iterable[Property], deadline: Deadline) -> None:
        self.model = model
        self._properties = {prop.name: prop for prop in properties}
        self._system: System = system_of(model, self._properties.values())
        self._deadline = deadline
        self._start = as_term(assumption(self._system, self._system.now.state, ()))
        self._solvers: dict[str, Any] = {}
        self._assumed: dict[str, Any] = {}
        self._stated: set[tuple[str, str]] = set()
        self._goals: dict[tuple[str, str], Any] = {}

    @property
    def actions(self) -> list[str]:
        return [fired.action.name for fired in self._system.fired]

    @property
    def has_boundary(self) -> bool:
        return bool(self._system.program.boundaries)

    def learn(self, prop: Property) -> None:
        """Adds a statement that may be queried and assumed."""
        self._properties[prop.name] = prop
        self._system.predicates[prop.name] = self._system.read(prop.function)

    def ask(self, action: str, about: str, assumed: Iterable[str]) -> frozenset[str] | SizedCountermodel | None:
        """The assumptions that suffice for an action to preserve a statement; or a countermodel; None if z3 gives no
        answer."""
        goal = self._goal(action, about)
        if goal is False:
            return frozenset()
        solver = self._solver(action)
        marks = {name: self._mark(action, name) for name in assumed}
        answer = self._deadline.check(solver, goal, *marks.values(), most=ANSWER_EFFORT)
        if answer == z3.unsat:
            core = {term.get_id() for term in solver.unsat_core()}
            return frozenset(name for name, mark in marks.items() if mark.get_id() in core)
        if answer != z3.sat:
            return None
        model, fired = solver.model(), self._fired(action)
        after = None if about in (TYPES, BOUNDARY) else self._system.decode(fired.after, model)
        return SizedCountermodel(self._system.decode(self._system.now.state, model), after)

    def _fired(self, action: str) -> SymbolicStep:
        return next(fired for fired in self._system.fired if fired.action.name == action)

    def _solver(self, action: str) -> Any:
        if action not in self._solvers:
            self._solvers[action] = z3.SolverFor("QF_FD")
            self._solvers[action].add(self._start)
        return self._solvers[action]

    def _mark(self, action: str, name: str) -> Any:
        """The assumption literal of a statement in a solver."""
        mark = z3.Bool(f"assumed {name}")
        if name not in self._assumed:
            self._assumed[name] = as_term(holds_condition(self._system, self._system.now.state, self._properties[name]))
        if (action, name) not in self._stated:
            self._stated.add((action, name))
            self._solver(action).add(z3.Implies(mark, self._assumed[name]))
        return mark

    def _goal(self, action: str, about: str) -> Any:
        """The negation of the claim that a step preserves a statement; False if it is trivially preserved."""
        if (action, about) not in self._goals:
            goal: Any = self._broken(self._fired(action), about)
            if goal is not False:
                mark = z3.Bool(f"broken {about}")
                self._solver(action).add(z3.Implies(mark, as_term(goal)))
                goal = mark
            self._goals[action, about] = goal
        return self._goals[action, about]

    def _broken(self, fired: SymbolicStep, about: str) -> Truth:
        if about == TYPES:
            return fired.failed
        prop = None if about == BOUNDARY else self._properties[about]
        old = self._system.now.state if prop is not None and prop.kind == "transition" else None
        return conj((fired.succeeds, violation_condition(self._system, prop, fired.after, old)))
