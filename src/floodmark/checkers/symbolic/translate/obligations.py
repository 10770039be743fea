"""The obligations of an induction for each action, and its assumptions about the state before a step."""

from __future__ import annotations

from collections.abc import Sequence

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.terms.booleans import Truth, conj, disj, negation
from floodmark.checkers.symbolic.translate.effects import SymbolicStep
from floodmark.checkers.symbolic.translate.transition_system import Components, System
from floodmark.compiler.ir import Predicate, StateVar, walk

INITIAL = "initial states"
TYPES = "declared types"
"""The obligation that an action leaves every value within its type and every container within its capacity."""
BOUNDARY = "the boundary"
"""The obligation that the boundary can be evaluated: otherwise it is unknown whether exploration continues."""


def assumption(system: System, state: Components, properties: Sequence[Property]) -> Truth:
    """The condition that a state is of the declared types, within the boundary, and satisfies the properties."""
    return conj([
        system.well_formed(state), system.within(state), *(holds_condition(system, state, prop) for prop in properties),
    ])


def holds_condition(system: System, state: Components, prop: Property) -> Truth:
    """The condition that a property holds in a state, and can be evaluated there."""
    judged = system.judge(system.predicates[prop.name], state)
    return conj((judged.truth, negation(judged.failed)))


def variables_of(predicate: Predicate) -> set[str]:
    """The variables of the model that a predicate is about."""
    return {node.name for node in walk(predicate.value) if isinstance(node, StateVar)}


def subjects(system: System, properties: Sequence[Property]) -> list[tuple[str, Property | None]]:
    """The goals of an action's, or an initial method's, obligations: types, boundary, properties."""
    boundary: list[tuple[str, Property | None]] = [(BOUNDARY, None)] if system.program.boundaries else []
    return [(TYPES, None), *boundary, *((prop.name, prop) for prop in properties)]


def violation_condition(
    system: System, prop: Property | None, state: Components, old: Components | None = None
) -> Truth:
    """The condition that a property is false or cannot be evaluated; without a property, that the boundary cannot be
    evaluated. For a refinement without an ``old`` state: that the state is mapped to no initial state."""
    if prop is None:
        return system.boundary_failed(state)
    begins = prop.is_refinement and old is None
    judged = system.judge((system.begun if begins else system.predicates)[prop.name], state, old)
    return disj((negation(judged.truth), judged.failed))


def goals_of(
    system: System, properties: Sequence[Property], fired: SymbolicStep, taken: Truth
) -> list[tuple[str, Truth]]:
    """The negated obligations of an action: it fails, or it violates the boundary or a property.

    An action that assigns none of a property's variables preserves it.
    """
    found = [(TYPES, fired.failed)]
    now = system.now.state
    assigned = {name for name, value in fired.after.items() if value is not now[name]}
    for name, prop in subjects(system, properties)[1:]:
        if prop is not None and prop.kind != "transition" and not assigned & variables_of(system.predicates[name]):
            found.append((name, False))
            continue
        old = now if prop is not None and prop.kind == "transition" else None
        found.append((name, conj((taken, violation_condition(system, prop, fired.after, old)))))
    return found
