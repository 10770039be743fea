"""Checks that a counterexample of a search is one in the terms of each proof method as well.

Its first state has to be an initial one, each of its steps has to satisfy the step relation that bounded search,
k-induction and IC3 unroll, and its last state or step has to break the property. The last step has to satisfy the
obligation of induction that the property excludes. z3 evaluates all of these terms by simplification, without a query:
so no sound method proves the property, whatever its time limit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import z3

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Violation
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term
from floodmark.checkers.symbolic.translate.effects import SymbolicStep
from floodmark.checkers.symbolic.translate.obligations import TYPES, assumption, goals_of, violation_condition
from floodmark.checkers.symbolic.translate.transition_system import Transition, system_of
from floodmark.language.model import Model, State
from floodmark.language.reference import Step


class RunTerms:
    """Evaluates the terms of a model in the states and steps of a run."""

    def __init__(self, model: Model, properties: Sequence[Property]) -> None:
        self.properties = [prop for prop in properties if prop.kind in ("invariant", "transition")]
        self.system = system_of(model, self.properties)
        self.relation = Transition(self.system)
        self.old = self.system.replica("old:")

    def refutations(self, violation: Violation) -> Iterator[str]:
        """The parts of a counterexample that the terms exclude."""
        system, now = self.system, self.system.now.state
        states = [each.state for each in violation.trace]
        if not self._is_true(system.initial(now), states[0]):
            yield f"runs do not begin in {states[0]}"
        for old, each in itertools.pairwise(violation.trace):
            if not self._is_true(self.relation.term, old.state, each.step, each.state):
                yield f"{each.step} does not lead from {old.state} to {each.state}"
        if violation.failed_step is not None:
            fired = self._fired(violation.failed_step)
            if not self._is_true(fired.failed, states[-1], violation.failed_step):
                yield f"{violation.failed_step} does not fail in {states[-1]}"
            return
        prop = next((each for each in self.properties if each.name == violation.property), None)
        before = self.old.state if prop is not None and prop.kind == "transition" else None
        if before is not None and len(states) < 2:
            return  # a refinement of which the beginning is none, which CPython says before a method is asked
        if not self._is_true(violation_condition(system, prop, now, before), states[-1], old=states[-2:][0]):
            yield f"{violation.property} is not broken in {states[-2:]}"
        if len(states) > 1 and not self._is_counterexample_to_induction(violation):
            yield f"induction excludes that {violation.trace[-1].step} breaks {violation.property}"

    def _is_counterexample_to_induction(self, violation: Violation) -> bool:
        """Whether the last step of a run breaks a property in the terms of induction, if the others hold before it."""
        before, last = violation.trace[-2:]
        fired = self._fired(last.step)
        invariants = [each for each in self.properties if each.kind == "invariant"]
        goals = dict(goals_of(self.system, self.properties, fired, fired.succeeds))
        goal = goals.get(violation.property, goals[TYPES])
        assumed = assumption(self.system, self.system.now.state, invariants)
        return self._is_true(assumed, before.state) and self._is_true(goal, before.state, last.step)

    def _fired(self, step: Step) -> SymbolicStep:
        return next(fired for fired in self.system.fired if fired.action.name == step.action)

    def _is_true(
        self, term: Truth, now: State, step: Step | None = None, after: State | None = None, old: State | None = None
    ) -> bool:
        substitution = [*self._pairs(self.system.now.terms, now), *self._pairs(self.old.terms, old)]
        substitution += self._pairs(self.relation.next.terms, after)
        for chosen, fired in zip(self.relation.chosen, self.system.fired, strict=True):
            is_taken = step is not None and step.action == fired.action.name
            substitution.append((chosen, z3.BoolVal(is_taken)))
            if step is not None and is_taken:
                substitution += self._arguments(fired, step)
        return bool(z3.is_true(z3.simplify(z3.substitute(as_term(term), *substitution))))

    def _pairs(self, variables: Sequence[Any], state: State | None) -> list[tuple[Any, Any]]:
        if state is None:
            return []
        values = [leaf.term for leaf in self.system.leaves(self.system.constant(state))]
        return [(variable, _like(variable, value)) for variable, value in zip(variables, values, strict=True)]

    def _arguments(self, fired: SymbolicStep, step: Step) -> list[tuple[Any, Any]]:
        values = self.system.values
        arguments = [
            term
            for parameter in fired.action.parameters
            for term in values.components.arguments(
                parameter.type, values.constant(parameter.type, step.arguments[parameter.name])
            )
        ]
        variables = self.system.parameter_terms(fired)
        return [(variable, _like(variable, value)) for variable, value in zip(variables, arguments, strict=True)]


def _like(variable: Any, value: Any) -> Any:
    if isinstance(value, bool):
        return z3.BoolVal(value)
    return z3.BitVecVal(value, variable.sort().size()) if isinstance(value, int) else value
