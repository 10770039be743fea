"""Plans the order of an action's parameters and guards, so that a false guard ends the enumeration early."""

from __future__ import annotations

from dataclasses import dataclass, field

from floodmark.compiler import ir
from floodmark.compiler.failures import can_fail
from floodmark.language.errors import ModelError
from floodmark.language.reference import MAX_PARAMETER_VALUES
from floodmark.language.types import BagType, SeqType, SetType, is_open, is_packed_loosely


@dataclass(slots=True)
class Choice:
    """One parameter, its domain, and the guards that can be decided as soon as it is chosen."""

    parameter: ir.Local
    domain: ir.Domain
    guards: list[ir.Expr] = field(default_factory=list)


@dataclass(slots=True)
class GuardOrder:
    """The guards that need no parameter, then the parameters from the outermost loop inwards."""

    first: list[ir.Expr]
    choices: list[Choice]


def plan(action: ir.Action, in_order: bool = False) -> GuardOrder:
    """Places each guard at the outermost loop in which its parameters are known.

    A guard that can fail (by an index, say) is never tried before a guard that precedes it in the source, and no guard
    is tried before a preceding one that can fail. Compiled code therefore evaluates what CPython evaluates, and nothing
    else that can fail. With ``in_order``, no guard is tried before one that precedes it in the source.
    """
    slots = [parameter.slot for parameter in action.parameters]
    levels: list[list[ir.Expr]] = [[] for _ in range(len(slots) + 1)]
    domains: dict[int, ir.Domain] = {}
    deepest = floor = 0
    for guard in action.guards:
        level = max((slots.index(slot) + 1 for slot in ir.locals_in(guard) if slot in slots), default=0)
        if in_order or can_fail(guard):
            level = floor = max(level, deepest)
        level = max(level, floor)
        deepest = max(deepest, level)
        if (
            level
            and slots[level - 1] not in domains
            and _draws(guard, action.parameters[level - 1])
            and not levels[level]
        ):
            assert isinstance(guard, ir.Contains)
            domains[slots[level - 1]] = _members(guard.container, action.parameters[level - 1])
            continue
        levels[level].append(guard)
    if any(isinstance(guard, ir.Const) and not guard.value for guard in levels[0]):
        return GuardOrder(levels[0], [])
    for parameter in action.parameters:
        if parameter.slot in domains:
            continue
        if is_packed_loosely(parameter.type):
            message = f"a parameter of the type {parameter.type} must be drawn: require({parameter.name} in self.x)"
            if isinstance(parameter.type, SeqType):
                message += "; to choose an order, take a map of places"
            raise ModelError(message, action.at.file, action.at.line)
        if parameter.type.codes > MAX_PARAMETER_VALUES and not is_open(parameter.type):
            message = (
                f"the parameter {parameter.name} has {parameter.type.codes} possible values; draw it from a set of the "
                f"state: begin the action with require({parameter.name} in self.requests), not a helper"
            )
            raise ModelError(message, action.at.file, action.at.line)
    choices = [
        Choice(parameter, domains.get(parameter.slot, ir.Universe(parameter.type)), levels[index + 1])
        for index, parameter in enumerate(action.parameters)
    ]
    return GuardOrder(levels[0], choices)


def _draws(guard: ir.Expr, parameter: ir.Local) -> bool:
    """Whether a guard requires the parameter to be in a set or bag that does not depend on it."""
    match guard:
        case ir.Contains(item=ir.Local(slot=slot), container=container) if slot == parameter.slot:
            kind = container.type
            return (
                isinstance(kind, SetType | BagType)
                and kind.element in (parameter.type, ir.NothingType())
                and parameter.slot not in ir.locals_in(container)
            )
    return False


def _members(container: ir.Expr, parameter: ir.Local) -> ir.Expr:
    """The container that a parameter is drawn from; an empty literal has no type of its own."""
    assert isinstance(container.type, SetType | BagType)
    if container.type.element == parameter.type:
        return container
    return ir.Convert(SetType(parameter.type, 0), container.at, container)
