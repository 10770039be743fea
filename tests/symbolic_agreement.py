"""Holds the z3 terms of a model against CPython: the successors of a state, and the failures."""

from __future__ import annotations

import itertools
import random
from typing import Any

import z3

from checkers.symbolic.bmc import Unrolling
from checkers.symbolic.system import System, Transition
from checkers.symbolic.terms import as_term
from model.language.errors import SourceError
from model.language.model import Model, State
from model.language.reference import Step, _bindings, fire, initial_states, within_boundary


def steps_of(model: Model, state: State) -> list[Step]:
    """Every action with every choice of its parameters that the guards do not rule out at once."""
    found = []
    for name, method in type(model).methods("action").items():
        model.load(state)
        found += [Step(name, arguments) for arguments in _bindings(model, method)]
    return found


def by_cpython(model: Model, state: State) -> tuple[set[State], set[str]]:
    """The successors of a state, none outside of the boundary, and the actions that fail in it."""
    after: set[State] = set()
    failing: set[str] = set()
    for step in steps_of(model, state):
        try:
            reached = fire(model, state, step)
        except SourceError:
            failing.add(step.action)
            continue
        if reached is not None:
            after.add(reached)
    return (after if within_boundary(model, state) else set()), failing


class BySolver:
    """Answers the same questions with z3."""

    def __init__(self, model: Model) -> None:
        self.system = System(model, {})
        self.step = Transition(self.system)
        self.solver = z3.SolverFor("QF_FD")
        self.solver.add(as_term(self.system.well_formed(self.system.now.state)), self.step.term)

    def __call__(self, state: State) -> tuple[set[State], set[str]]:
        system = self.system
        here = as_term(system.equal(system.now.state, system.constant(state)))
        self.solver.push()
        self.solver.add(here)
        after = {system.decode(self.step.next.state, model) for model in every_model(self.solver, self.step.next.terms)}
        self.solver.pop()
        failing = set()
        for fired in system.fired:
            solver = z3.SolverFor("QF_FD")
            solver.add(here, as_term(fired.failed))
            if solver.check() == z3.sat:
                failing.add(fired.action.name)
        return after, failing


def every_model(solver: Any, terms: tuple[Any, ...]) -> Any:
    """A model of z3 for each value of the terms."""
    while solver.check() == z3.sat:
        model = solver.model()
        yield model
        solver.add(z3.Or([term != model.eval(term, True) for term in terms]))


def some_states(model: Model, count: int, seed: int = 0) -> list[State]:
    """States that a random walk meets, initial ones among them; where a step fails the walk goes elsewhere."""
    chance = random.Random(seed)
    found = [state for _, state in itertools.islice(initial_states(model), 50)]
    seen = set(found)
    for _ in range(count * 4):
        after, _ = by_cpython(model, chance.choice(found))
        new = [state for state in after if state not in seen]
        seen.update(new)
        found += sorted(new, key=repr)
    return chance.sample(found, min(count, len(found)))


def assert_steps_agree(model: Model, count: int = 12) -> None:
    """Fails unless z3 and CPython give some states the same successors and the same failing actions."""
    ask = BySolver(model)
    for state in some_states(model, count):
        after, failing = by_cpython(model, state)
        found, failed = ask(state)
        assert not found - after, f"z3 leads from {state} to {next(iter(found - after))}"
        assert not after - found, f"CPython leads from {state} to {next(iter(after - found))}"
        assert failed == failing, f"in {state} these fail by z3: {failed}, by CPython: {failing}"


def levels_by_solver(model: Model, depth: int) -> list[set[State]]:
    """The states that runs of 1, 2, ... states end in."""
    unrolling = Unrolling(System(model, {}))
    system = unrolling.system
    unrolling.solver.add(unrolling.at(as_term(system.initial(system.now.state)), 0))
    found = []
    for length in range(1, depth + 1):
        if length > 1:
            unrolling.extend()
        unrolling.solver.push()
        last = unrolling.states[-1]
        found.append({system.decode(last.state, m) for m in every_model(unrolling.solver, last.terms)})
        unrolling.solver.pop()
    return found


def levels_by_cpython(model: Model, depth: int) -> list[set[State]]:
    """The same by CPython."""
    found = [{state for _, state in initial_states(model)}]
    while len(found) < depth:
        found.append({after for state in found[-1] for after in by_cpython(model, state)[0]})
    return found


__all__ = ["assert_steps_agree", "levels_by_cpython", "levels_by_solver"]
