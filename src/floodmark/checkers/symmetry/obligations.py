"""Symmetry: proves that a model cannot distinguish identifiers.

A run with its identifiers renamed is then a run too, so one of all runs that differ only in names is enough. For each
pair of neighbours, and for every state, reachable or not, z3 decides whether actions, properties and boundaries behave
the same after the two swap names; such swaps generate all renamings. Initial states are compared one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import z3

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, implied, negation, same_truth
from floodmark.checkers.symbolic.translate.effects import SymbolicStep, fire
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext
from floodmark.checkers.symbolic.translate.statements import StatementEvaluator
from floodmark.checkers.symbolic.translate.transition_system import Components, System
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.checkers.symbolic.values.value import Values
from floodmark.checkers.symmetry.asymmetry import property_differs, step_differs
from floodmark.compiler.ir import Predicate, Witness
from floodmark.compiler.renaming import Renaming, is_renamed, renamed, symmetric_types
from floodmark.language.model import Model
from floodmark.language.types import (
    BagType,
    IdentifierType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)
from floodmark.language.values import Identifier

MAX_EFFORT = 200_000_000
"""z3's resource limit for one action or property; without an answer there is no symmetry."""


def interchangeable(system: System, properties: Sequence[Property], deadline: Deadline) -> list[tuple[Identifier, ...]]:
    """Identifiers, with successive numbers, that neither a model nor these properties can distinguish."""
    found = []
    for kind in symmetric_types(system.variables.values()):
        members = [kind.cls(1)]
        for number in range(2, kind.count + 1):
            swap = Swap(system, neighbours(kind, number), deadline)
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
    """A system, and the same system with two identifiers swapped."""

    def __init__(self, system: System, swap: Renaming, deadline: Deadline) -> None:
        self.system = system
        self.swap = swap
        self.deadline = deadline

    def keeps_initial_states(self) -> bool:
        """Whether the swap leaves the set of initial states unchanged."""
        states = [state for _, state in self.system.initial_states()]
        return {tuple(renamed(value, self.swap) for value in state) for state in states} == set(states)

    def keeps_steps(self, properties: Sequence[Property]) -> bool:
        """Whether z3 proves that actions, boundaries and properties behave the same after the swap."""
        try:
            return all(self._is_proved(goal) for goal in self._goals(properties))
        except UnsupportedError:
            return False

    def _swapped(self, state: Components) -> Components:
        system = self.system
        return {name: swapped(system.values, kind, state[name], self.swap) for name, kind in system.variables.items()}

    def _is_proved(self, goal: Truth) -> bool:
        solver = z3.SolverFor("QF_FD")
        solver.add(as_term(negation(goal)))
        return bool(self.deadline.check(solver, most=MAX_EFFORT) == z3.unsat)

    def same_step(self, one: SymbolicStep) -> Truth:
        """The condition that an action behaves the same after renaming, in every state and with every choice of its
        parameters."""
        system, values = self.system, self.system.values
        pairs = [(it.type, value) for it, value in zip(one.action.parameters, one.parameters, strict=True)]
        arguments = [swapped(values, kind, value, self.swap) for kind, value in pairs]
        chosen = conj(values.well_formed(kind, value) for kind, value in pairs)
        two = fire(values, system.variables, one.action, self._swapped(system.now.state), arguments)
        leads = implied(one.succeeds, system.equal(two.after, self._swapped(one.after)))
        same = (same_truth(one.succeeds, two.succeeds), same_truth(one.failed, two.failed), leads)
        return implied(conj((system.well_formed(system.now.state), chosen)), conj(same))

    def same_judgement(self, predicate: Predicate, old: Components) -> Truth:
        """The condition that a predicate has the same value after renaming, in every state or for every step from a
        state ``old``.

        A predicate that must be true everywhere counts as violated both where it is false and where it fails.
        """
        system = self.system
        now = system.now.state
        steps = predicate.kind == "transition"
        one = _PredicateTruth(system, predicate, now, old if steps else None)
        two = _PredicateTruth(system, predicate, self._swapped(now), self._swapped(old) if steps else None)
        there = conj((system.well_formed(now), system.well_formed(old) if steps else True))
        if predicate.kind in ("invariant", "transition"):
            same = [same_truth(one.holds, two.holds)]
        else:
            same = [same_truth(one.truth, two.truth), same_truth(one.failed, two.failed)]
        met = [implied(conj((one.holds, two.holds)), same_truth(a, b)) for a, b in one.premises_beside(two)]
        return implied(there, conj((*same, *met)))

    def _goals(self, properties: Sequence[Property]) -> Iterator[Truth]:
        """For each action, boundary and property, the claim that it is invariant under renaming in every state."""
        system = self.system
        now, old = system.now.state, system.replica("old:").state
        other = self._swapped(now)
        here = system.well_formed(now)
        for one in system.fired:
            yield self.same_step(one)
        for predicate in [*system.program.boundaries, *(system.predicates[prop.name] for prop in properties)]:
            before = old if predicate.kind == "transition" else None
            a = system.judge(predicate, now, before)
            b = system.judge(predicate, other, None if before is None else self._swapped(before))
            there = True if before is None else system.well_formed(old)
            yield implied(conj((here, there)), conj((same_truth(a.truth, b.truth), same_truth(a.failed, b.failed))))


class _PredicateTruth:
    """A predicate in a symbolic state, with the premises that are met there."""

    def __init__(self, system: System, predicate: Predicate, now: Components, old: Components | None) -> None:
        self.met: dict[int, Truth] = dict.fromkeys(range(len(predicate.premises)), False)
        self._context = EvaluationContext(system.values, now, old)
        self._evaluator = StatementEvaluator(self._context, system.variables, self._meet)
        self.truth: Truth = self._evaluator.evaluate(predicate.value)
        self.failed = disj(bad for _, bad in self._context.failures)
        self.holds = conj((self.truth, negation(self.failed)))

    def _meet(self, node: Witness) -> None:
        """Notes the condition under which a premise is met."""
        met, failures = self._context.reached(), self._context.failures
        if node.condition is not None:
            met, already = conj((met, self._evaluator.evaluate(node.condition))), len(failures)
            met = conj((met, *(negation(bad) for _, bad in failures[already:])))
            del failures[already:]
        self.met[node.index] = disj((self.met[node.index], met))

    def premises_beside(self, other: _PredicateTruth) -> list[tuple[Truth, Truth]]:
        return [(self.met[index], other.met[index]) for index in self.met]


@dataclass(frozen=True, slots=True)
class SymmetryDoubt:
    """Why a part of a model is not known to be impartial; ``refuted`` if a state was found in which it is not."""

    text: str
    refuted: bool


class SymmetryProver:
    """z3's answers about the parts of a model: its actions, its properties and its boundaries, in this order."""

    def __init__(
        self,
        model: Model,
        properties: Mapping[str, Callable[..., bool]],
        kinds: Sequence[IdentifierType],
        effort: int,
    ) -> None:
        self.model = model
        self.properties = properties
        self.kinds = kinds
        self.deadline = Deadline(effort=effort)
        self._system: System | None = None

    @property
    def system(self) -> System:
        """Raises UnsupportedError when the model cannot be expressed in z3."""
        if self._system is None:
            self._system = System(self.model, self.properties)
            self._old = self._system.replica("old:").state
        return self._system

    def never_fails(self, place: int) -> bool:
        """Whether a property or a boundary is proved to fail in no state of the declared types."""
        try:
            predicate = self._predicate(place)
            system = self.system
            steps = predicate.kind == "transition"
            judged = _PredicateTruth(system, predicate, system.now.state, self._old if steps else None)
            there = [system.well_formed(system.now.state), system.well_formed(self._old) if steps else True]
            return bool(self._answer(conj((*there, judged.failed)))[0] == z3.unsat)
        except UnsupportedError:
            return False

    def doubt(self, place: int) -> SymmetryDoubt | None:
        """The remaining doubt whether a part distinguishes an identifier; None when it is proved impartial."""
        try:
            for swap in self._swaps():
                goal = self._goal(swap, place)
                answer, found = self._answer(negation(goal))
                if found is not None:
                    return self._doubt(swap, place, found)
                if answer != z3.unsat:
                    return SymmetryDoubt("z3 gave up without an answer", refuted=False)
        except UnsupportedError as error:
            return SymmetryDoubt(f"z3 cannot decide it: {error.message}", refuted=False)
        return None

    def _swaps(self) -> Iterator[Swap]:
        for kind in self.kinds:
            for number in range(2, kind.count + 1):
                yield Swap(self.system, neighbours(kind, number), self.deadline)

    def _goal(self, swap: Swap, place: int) -> Truth:
        if place < len(self.system.fired):
            return swap.same_step(self.system.fired[place])
        return swap.same_judgement(self._predicate(place), self._old)

    def _predicate(self, place: int) -> Predicate:
        program = self.system.program
        return [*program.predicates, *program.boundaries][place - len(program.actions)]

    def _answer(self, goal: Truth) -> tuple[z3.CheckSatResult, z3.ModelRef | None]:
        if self.deadline.ended:
            return z3.unknown, None
        solver = z3.SolverFor("QF_FD")
        solver.add(as_term(goal))
        answer = self.deadline.check(solver, most=MAX_EFFORT)
        return answer, solver.model() if answer == z3.sat else None

    def _doubt(self, swap: Swap, place: int, found: z3.ModelRef) -> SymmetryDoubt:
        """The asymmetry in a z3 model, if CPython confirms it."""
        system = self.system
        state = system.decode(system.now.state, found)
        if place < len(system.fired):
            one = system.fired[place]
            text = step_differs(self.model, one.action, state, system.step(one, found), swap.swap)
        else:
            predicate = self._predicate(place)
            states = [state]
            if predicate.kind == "transition":
                states.insert(0, system.decode(self._old, found))
            boundaries = type(self.model).methods("boundary")
            function = (boundaries if predicate.kind == "boundary" else self.properties)[predicate.name]
            text = property_differs(self.model, predicate, function, states, swap.swap)
        if text is None:
            return SymmetryDoubt("z3 could not prove that it is", refuted=False)
        return SymmetryDoubt(text, refuted=True)


def swapped(values: Values, kind: Type, value: Value, swap: Renaming) -> Value:
    """The components of a value after two identifiers have swapped names."""
    if not is_renamed(kind, swap):
        return value
    match kind:
        case IdentifierType(cls, _):
            codes = values.types.codes(kind)
            result = value
            for index, number in enumerate(swap.get(cls, ())):
                if number != index + 1:
                    result = codes.either(codes.equal(value, index), number - 1, result)
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
                _, more = values.containers.insert(element, slots, other, once=isinstance(kind, SetType))
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
    """The position of each member of a type before the swap, which is its own inverse."""
    members = values.types.members(kind)
    index = {member: place for place, member in enumerate(members)}
    return [index[renamed(member, swap)] for member in members]
