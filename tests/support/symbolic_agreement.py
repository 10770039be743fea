"""Compares the z3 terms of a model with CPython: the successors of a state, and the failures."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import z3

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.methods import runs
from floodmark.checkers.symbolic.methods.bmc import BmcResult, search
from floodmark.checkers.symbolic.methods.unrolling import Unrolling
from floodmark.checkers.symbolic.terms.booleans import as_term
from floodmark.checkers.symbolic.translate.transition_system import System, Transition, system_of
from floodmark.compiler.layout import digest, lay_out
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, _bindings, fire, initial_states, within_boundary
from tests.support.engines import Outcome
from tests.support.term_audit import assert_nothing_wraps


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
    return (after if _is_inside(model, state) else set()), failing


def _is_inside(model: Model, state: State) -> bool:
    try:
        return within_boundary(model, state)
    except SourceError:
        return False


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
    assert_nothing_wraps(ask.system)
    for state in some_states(model, count):
        after, failing = by_cpython(model, state)
        found, failed = ask(state)
        assert not found - after, f"z3 leads from {state} to {next(iter(found - after))}"
        assert not after - found, f"CPython leads from {state} to {next(iter(after - found))}"
        assert failed == failing, f"in {state} these fail by z3: {failed}, by CPython: {failing}"


def levels_by_solver(model: Model, depth: int, system: System | None = None) -> list[set[State]]:
    """The states that runs of 1, 2, ... states end in."""
    unrolling = Unrolling(system or System(model, {}))
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


def levels_by_cpython(model: Model, depth: int, most: int | None = None) -> list[set[State]]:
    """The same by CPython; the levels before the first of more than ``most`` states."""
    found = [{state for _, state in initial_states(model)}]
    while len(found) < depth and (most is None or len(found[-1]) <= most):
        found.append({after for state in found[-1] for after in by_cpython(model, state)[0]})
    return found if most is None or len(found[-1]) <= most else found[:-1]


def assert_bounded_search_agrees(
    model: Model, properties: Sequence[Property], wanted: Outcome, depth: int, most: int
) -> tuple[int, bool]:
    """Fails unless z3 finds what CPython found in runs of up to ``depth`` states: the same states, digest, shortest
    violation and depth at which each property comes true, also when each question is a hard one. Returns how many
    states were compared, and whether identifiers were interchangeable."""
    levels = levels_by_cpython(model, depth, most)
    system = system_of(model, properties)
    assert_nothing_wraps(system)
    found = levels_by_solver(model, len(levels), system)
    for number, (mine, real) in enumerate(zip(found, levels, strict=True), 1):
        assert not mine - real, f"z3 reaches in {number} states {next(iter(mine - real))}"
        assert not real - mine, f"z3 does not reach in {number} states {next(iter(real - mine))}"
    layout = lay_out(model.variable_types)
    mine, real = ({layout.pack(state) for level in known for state in level} for known in (found, levels))
    assert digest(mine) == digest(real)
    assert_search_finds(search(system, properties, depth), wanted, depth)
    with patch.object(runs, "MAX_CONFLICTS", 0):
        hard = search(system, properties, depth)
    assert_search_finds(hard, wanted, depth)
    return len(real), bool(hard.interchangeable)


def assert_search_finds(searched: BmcResult, wanted: Outcome, depth: int) -> None:
    """Fails unless a search of runs of up to ``depth`` states came to the violation and the depths that are wanted."""
    assert not searched.stopped, searched.stopped
    length = len(searched.violation.trace) if searched.violation is not None else None
    first = wanted.first_bad if wanted.first_bad is not None and wanted.first_bad <= depth else None
    assert length == first, f"the shortest violation has {length} states by z3, {first} by CPython"
    before = depth if first is None else first - 1
    reached = {name: at for name, at in wanted.reached_at.items() if at <= before}
    assert searched.reached == reached, f"come true in so many states: {searched.reached} by z3, {reached} by CPython"


__all__ = ["assert_bounded_search_agrees", "assert_steps_agree", "levels_by_cpython", "levels_by_solver"]
