"""Runs of a given length as z3 terms: copies of the transition relation in sequence."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import z3

from floodmark.checkers.search_result import TraceState
from floodmark.checkers.symbolic.translate.effects import SymbolicStep
from floodmark.checkers.symbolic.translate.transition_system import Replica, System, Transition, replaced
from floodmark.checkers.symbolic.values.components import replaced_in
from floodmark.language.model import State
from floodmark.language.reference import Step, fire


class Unrolling:
    """Copies of the transition relation in sequence, in one solver."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.solver = z3.SolverFor("QF_FD")
        self.states: list[Replica] = [system.replica("0:")]
        self.choices: list[list[Any]] = []
        self.parameters: list[list[list[Any]]] = []
        self.relation = Transition(system)
        self.meaning: list[Any] = []
        """The definition of a run, without the assertions that only speed up answers."""

    def say(self, term: Any) -> None:
        """Adds a part of the definition of a run."""
        self.meaning.append(term)
        self.add(term)

    def add(self, term: Any) -> None:
        """Asserts a condition on all runs."""
        self.solver.add(term)

    def extend(self) -> None:
        """Adds one more step."""
        index = len(self.choices)
        there = self.system.replica(f"{index + 1}:")
        symbols = self.system.values.symbols
        copies = [[symbols.copy(term, f"{index}:argument") for term in own] for own in self.relation.parameters]
        choices = [symbols.truth(f"{index}:{fired.action.name}") for fired in self.system.fired]
        step = self.relation
        old = (*self.system.now.terms, *step.next.terms, *step.chosen, *itertools.chain(*step.parameters))
        new = (*self.states[-1].terms, *there.terms, *choices, *itertools.chain(*copies))
        self.say(replaced(step.term, old, new))
        self.states.append(there)
        self.choices.append(choices)
        self.parameters.append(copies)

    def at(self, term: Any, index: int) -> Any:
        """A term about the current state, as one about state number ``index``."""
        return replaced(term, self.system.now.terms, self.states[index].terms)

    def over(self, term: Any, before: Replica, index: int) -> Any:
        """A term about ``before`` and the current state, as one about the step to state number ``index``."""
        old = (*before.terms, *self.system.now.terms)
        return replaced(term, old, (*self.states[index - 1].terms, *self.states[index].terms))

    def trace(self, model: Any, length: int, before: Sequence[TraceState] = ()) -> tuple[TraceState, ...]:
        """The run in a z3 model, confirmed by CPython; after the run ``before``, whose end is its first state."""
        system = self.system
        states = [system.decode(replica.state, model) for replica in self.states[:length]]
        found = list(before)
        if not found:
            first = next(step for step, state in system.initial_states() if state == states[0])
            found = [TraceState(first, states[0])]
        for index in range(length - 1):
            step = self.step(model, index)
            self.confirm(states[index], step, states[index + 1])
            found.append(TraceState(step, states[index + 1]))
        return tuple(found)

    def step(self, model: Any, index: int) -> Step:
        system = self.system
        pairs = zip(system.fired, self.choices[index], self.parameters[index], strict=True)
        for fired, chosen, copies in pairs:
            if z3.is_true(model.eval(chosen, True)):
                return step_of(system, fired, copies, model)
        raise AssertionError("no action was chosen")

    def confirm(self, before: State, step: Step, after: State) -> None:
        real = fire(self.system.model, before, step)
        if real != after:
            raise RuntimeError(f"{step} leads to {after} in z3, to {real} in CPython")


def step_of(system: System, fired: SymbolicStep, copies: list[Any], model: Any) -> Step:
    """An action with the arguments that copies of its parameters have in a z3 model."""
    pairs = zip(fired.action.parameters, arguments_of(system, fired, copies), strict=True)
    arguments = {parameter.name: system.values.decode(parameter.type, value, model) for parameter, value in pairs}
    return Step(fired.action.name, arguments)


def arguments_of(system: System, fired: SymbolicStep, copies: list[Any]) -> list[Any]:
    """An action's parameters, with their terms replaced by copies."""
    own = system.parameter_terms(fired)
    names = dict(zip((term.get_id() for term in own), copies, strict=True))
    return [replaced_in(value, lambda term: names.get(term.get_id(), term)) for value in fired.parameters]
