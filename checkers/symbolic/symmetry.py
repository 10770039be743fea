"""Symmetry: the proof that a model cannot tell identifiers apart.

Then a run with its identifiers renamed is a run as well, and of all runs that differ in names alone one is enough. z3
is asked, for each two neighbours and for every state, reachable or not, whether actions, properties and boundaries do
the same after the two swap names; such swaps generate all renamings. Initial states are compared one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import z3

from checkers.properties import Property
from checkers.symbolic.clock import Clock
from checkers.symbolic.effects import fire
from checkers.symbolic.system import Components, System
from checkers.symbolic.terms import Truth, as_term, conj, implied, negation, same_truth
from checkers.symbolic.values import UnsupportedError, Value, Values
from model.compiler.renaming import Renaming, is_renamed, renamed, symmetric_types
from model.language.types import (
    BagType,
    IdentifierType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)
from model.language.values import Identifier

MOST_SECONDS = 30.0
"""How long z3 may think about one action or property; without an answer there is no symmetry."""


def interchangeable(system: System, properties: Sequence[Property], clock: Clock) -> list[tuple[Identifier, ...]]:
    """Identifiers that neither a model nor these properties can tell apart, with successive numbers."""
    found = []
    for kind in symmetric_types(system.variables.values()):
        members = [kind.cls(1)]
        for number in range(2, kind.count + 1):
            swap = Swap(system, neighbours(kind, number), clock)
            if not (swap.keeps_initial_states() and swap.keeps_steps(properties)):
                found.append(tuple(members))
                members = []
            members.append(kind.cls(number))
        found.append(tuple(members))
    return [members for members in found if len(members) > 1]


def neighbours(kind: IdentifierType, number: int) -> Renaming:
    """Swaps an identifier with the one before it."""
    numbers = list(range(1, kind.count + 1))
    numbers[number - 2 : number] = [number, number - 1]
    return {kind.cls: tuple(numbers)}


class Swap:
    """A system beside itself with two identifiers swapped."""

    def __init__(self, system: System, swap: Renaming, clock: Clock) -> None:
        self.system = system
        self.swap = swap
        self.clock = clock

    def keeps_initial_states(self) -> bool:
        """Whether the initial states are the same ones after it."""
        states = [state for _, state in self.system.initial_states()]
        return {tuple(renamed(value, self.swap) for value in state) for state in states} == set(states)

    def keeps_steps(self, properties: Sequence[Property]) -> bool:
        """Whether z3 proves that actions, boundaries and properties do the same after it."""
        try:
            return all(self._is_proved(goal) for goal in self._goals(properties))
        except UnsupportedError:
            return False

    def _swapped(self, state: Components) -> Components:
        system = self.system
        return {name: swapped(system.values, kind, state[name], self.swap) for name, kind in system.variables.items()}

    def _is_proved(self, goal: Truth) -> bool:
        solver = z3.SolverFor("QF_FD")
        self.clock.limit(solver, MOST_SECONDS)
        solver.add(as_term(negation(goal)))
        return bool(solver.check() == z3.unsat)

    def _goals(self, properties: Sequence[Property]) -> Iterator[Truth]:
        """For each action, boundary and property: in every state it does, under other names, the same."""
        system, values = self.system, self.system.values
        now, old = system.now.state, system.replica("old:").state
        other = self._swapped(now)
        here = system.well_formed(now)
        for one in system.fired:
            pairs = [(it.type, value) for it, value in zip(one.action.parameters, one.parameters, strict=True)]
            arguments = [swapped(values, kind, value, self.swap) for kind, value in pairs]
            chosen = conj(values.well_formed(kind, value) for kind, value in pairs)
            two = fire(values, system.variables, one.action, other, arguments)
            leads = implied(one.succeeds, system.equal(two.after, self._swapped(one.after)))
            same = (same_truth(one.succeeds, two.succeeds), same_truth(one.failed, two.failed), leads)
            yield implied(conj((here, chosen)), conj(same))
        for predicate in [*system.program.boundaries, *(system.predicates[prop.name] for prop in properties)]:
            before = old if predicate.kind == "transition" else None
            a = system.judge(predicate, now, before)
            b = system.judge(predicate, other, None if before is None else self._swapped(before))
            there = True if before is None else system.well_formed(old)
            yield implied(conj((here, there)), conj((same_truth(a.truth, b.truth), same_truth(a.failed, b.failed))))


def swapped(values: Values, kind: Type, value: Value, swap: Renaming) -> Value:
    """Components of a value after two identifiers have swapped names."""
    if not is_renamed(kind):
        return value
    match kind:
        case IdentifierType(cls, _):
            sort = values.sort(kind)
            result = value
            for index, number in enumerate(swap.get(cls, ())):
                if number != index + 1:
                    result = sort.either(sort.equal(value, index), number - 1, result)
            return result
        case OptionalType(inner):
            there, held = value
            other = swapped(values, inner, held, swap)
            return (there, values.either(inner, there, other, values.default(inner)))
        case RecordType(_, fields):
            return tuple(swapped(values, of, part, swap) for (_, of), part in zip(fields, value, strict=True))
        case SetType(element, None) if isinstance(value, tuple):
            return tuple(value[index] for index in _places(values, element, swap))
        case MapType(key, of):
            return tuple(swapped(values, of, value[index], swap) for index in _places(values, key, swap))
        case SetType(element, int()) | BagType(element, _) if isinstance(value, tuple):
            slots = values.default(kind)
            for used, item in value:
                other = swapped(values, element, item, swap)
                _, more = values.insert(element, slots, other, once=isinstance(kind, SetType))
                slots = values.either(kind, used, more, slots)
            return slots
        case SeqType(element, _):
            length, items = value
            others = [swapped(values, element, item, swap) for item in items]
            default = values.default(element)
            inside = [values.numbers.less(index, length) for index in range(len(items))]
            pairs = zip(inside, others, strict=True)
            return (length, tuple(values.either(element, there, other, default) for there, other in pairs))
    raise UnsupportedError(f"the names in {kind} cannot be swapped")


def _places(values: Values, kind: Type, swap: Renaming) -> list[int]:
    """Where each member of a type was before the swap, which undoes itself."""
    members = values.members(kind)
    index = {member: place for place, member in enumerate(members)}
    return [index[renamed(member, swap)] for member in members]
