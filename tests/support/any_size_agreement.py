"""Checks the terms about any number of identifiers against CPython, state by state, at a few numbers of identifiers.

Such terms may allow more than happens, but never less: what CPython does from a state, and what it says of a property
there, has to be possible in the terms once they are told the state and how many identifiers there are.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from unittest.mock import patch

import z3

from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants, unbounded_constants
from floodmark.checkers.symbolic.methods.induction import check_obligations, induction
from floodmark.checkers.symbolic.tactics import portfolio
from floodmark.checkers.symbolic.tactics.budget import MAX_EFFORT
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, negation
from floodmark.checkers.symbolic.translate.effects import SymbolicStep
from floodmark.checkers.symbolic.translate.obligations import INITIAL, TYPES
from floodmark.checkers.symbolic.translate.transition_system import Components, System, system_of
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, choices, fire, holds, initial_states
from floodmark.language.types import (
    MapType,
    OpenIdentifierType,
    OpenIntType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    parts_of,
)
from floodmark.language.values import running
from tests.support.term_agreement import Part, PartOfSystem, Question

EFFORT = 200_000
"""z3's resource limit for one query. Without an answer there is no disagreement."""


PAIRED = 6
"""The number of states each pair of which is treated as if a step led from one to the other."""


class Pinned:
    """The terms of a model, told that it has the numbers of identifiers that ``model`` has; or, unless these are open,
    the bounds of integers that it has."""

    def __init__(
        self, model: Model, properties: Sequence[Property], part: Part | None = None, any_size: bool = True
    ) -> None:
        self.model = model
        names, varied = _open_constants(model, any_size)
        if not varied:
            raise UnsupportedError("no constant counts identifiers or only bounds integers")
        self.system: System = (
            system_of(model, properties, names, any_size)
            if part is None
            else PartOfSystem(model, part, names, any_size)
        )
        self.in_first_slots = False
        """Whether the elements of a set with a capacity are in its first slots, as one of the ways to have them."""
        values = self.system.values
        kinds = {kind.cls: kind for kind in _open_kinds(self.system.variables.values())}
        self.sizes: list[Truth] = [values.types.constants[name] == model.constant_values[name] for name in names]
        for kind in kinds.values():
            individuals = values.types.individuals(kind)
            count = model.identifier_count(kind.cls)
            everyone = [individuals.named(number) for number in range(1, count + 1)]
            one = z3.Const("one", individuals.sort)
            self.sizes.append(z3.ForAll([one], z3.Or([one == known for known in everyone])))

    def is_state(self, components: Components, state: State) -> Truth:
        """Checks that components are those of a state of CPython's."""
        pairs = zip(self.system.variables.items(), state, strict=True)
        return conj(self.is_value(kind, components[name], value) for (name, kind), value in pairs)

    def is_value(self, kind: Type, component: Value, value: Any) -> Truth:
        values = self.system.values
        match kind:
            case MapType(OpenIdentifierType() as key, of):
                individuals = values.types.individuals(key)
                return conj(self.is_value(of, component.at(individuals.named(k.number)), value[k]) for k in value)
            case MapType(OpenIntType(), of):
                return conj(self.is_value(of, component.at(k), value[k]) for k in value)
            case MapType(key, of):
                entries = zip(values.types.members(key), component, strict=True)
                return conj(self.is_value(of, part, value[k]) for k, part in entries)
            case RecordType(_, fields):
                parts, known = zip(fields, component, strict=True), kind.parts(value)
                return conj(self.is_value(of, part, known[name]) for (name, of), part in parts)
            case OptionalType(inner):
                if value is None:
                    return negation(component[0])
                return conj((component[0], self.is_value(inner, component[1], value)))
            case SetType(element, _) if values.types.is_unordered(kind) and self.in_first_slots:
                held = [*value]
                return conj(
                    conj((used, self.is_value(element, item, held[at]))) if at < len(held) else negation(used)
                    for at, (used, item) in enumerate(component)
                )
            case SetType(element, _) if values.types.is_unordered(kind):
                inside = [[conj((used, self.is_value(element, item, it))) for it in value] for used, item in component]
                none_else = (disj([negation(used), *row]) for row, (used, _) in zip(inside, component, strict=True))
                return conj([*none_else, *(disj(column) for column in zip(*inside, strict=True))])
            case SeqType(element, _) if isinstance(component, tuple):
                items = (self.is_value(element, part, it) for part, it in zip(component[1], value, strict=False))
                return conj((values.numbers.equal(component[0], len(value)), *items))
        return values.equal(kind, component, values.constant(kind, value))

    def excludes(self, *terms: Truth) -> bool:
        """Whether z3 finds that terms cannot be true together."""
        stated = [as_term(term) for term in (*self.sizes, self.system.constants_allowed(), *terms)]
        axioms = self.system.values.axioms
        assert not axioms.free(*stated)
        solver = z3.SimpleSolver()
        solver.set(rlimit=EFFORT)
        solver.add(*stated, *(axiom.term for axiom in axioms.about(stated)))
        return bool(solver.check() == z3.unsat)


def _open_constants(model: Model, any_size: bool) -> tuple[list[str], list[str]]:
    """The constants that are left open, and those of them to which other values can be given."""
    if any_size:
        return any_size_constants(model)
    names = unbounded_constants(model)
    return names, names


def _open_kinds(kinds: Any) -> list[OpenIdentifierType]:
    return [part for kind in kinds for part in parts_of(kind) if isinstance(part, OpenIdentifierType)]


def disagreements(model: Model, properties: Sequence[Property], most: int = 12) -> tuple[list[str], Counter[str]]:
    """The behaviour of CPython in the first ``most`` states that the terms exclude, and the number of queries.

    Raises ModelError for what cannot be said of any number of identifiers.
    """
    pinned = Pinned(model, properties)
    transitions = [prop for prop in properties if prop.kind == "transition"]
    found: list[str] = []
    counts: Counter[str] = Counter()
    found += _wrong_beginnings(pinned, counts, most)
    with running(model):
        begun = list(itertools.islice(initial_states(model), most))
    waiting = [state for _, state in begun]
    seen = dict.fromkeys(waiting)
    while waiting and len(seen) <= most * 4:
        state = waiting.pop(0)
        steps = itertools.islice(_steps(model, state), most)
        for after in _of_state(pinned, properties, state, steps, found, counts):
            if after not in seen:
                seen[after] = None
                waiting.append(after)
    for old, new in itertools.product([*seen][:PAIRED], repeat=2) if transitions else ():
        found += _wrong_transitions(pinned, transitions, old, new, counts)
    return found, counts


def disagreements_of_part(
    model: Model, part: Part, asked: Sequence[Question], sizes: Sequence[int], any_size: bool
) -> tuple[list[str], Counter[str]]:
    """The behaviour of CPython that the terms of a part of a model with open constants exclude, and the number of
    queries: in the states of some questions, and initially with each of ``sizes`` as the value of the constants."""
    pinned = Pinned(model, part.properties, part, any_size)
    found: list[str] = []
    counts: Counter[str] = Counter()
    for state in dict.fromkeys(question.state for question in asked):
        steps = [question.step for question in asked if question.step is not None and question.state == state]
        for _ in _of_state(pinned, part.properties, state, steps, found, counts):
            pass
    transitions = [prop for prop in part.properties if prop.kind == "transition"]
    for question in asked:
        if question.next is not None:
            found += _wrong_transitions(pinned, transitions, question.state, question.next, counts)
    _, varied = _open_constants(model, any_size)
    for size in sizes if part.begins else ():
        try:
            sized = type(model)(**{**model.constant_values, **dict.fromkeys(varied, size)})
        except ModelError:
            continue  # the model has no such size
        found += at_widths(
            sized, lambda model: _wrong_beginnings(Pinned(model, part.properties, part, any_size), counts)
        )
    return found, counts


def _wrong_beginnings(pinned: Pinned, counts: Counter[str], most: int = 12) -> list[str]:
    """The initial states of CPython that the terms exclude."""
    begun, found, beginnings = [], [], pinned.system.beginnings
    try:
        with running(pinned.model):
            for first in itertools.islice(initial_states(pinned.model), most):
                begun.append(first)
    except SourceError as error:
        counts["failures"] += 1
        if all(pinned.excludes(it.failed) for it in beginnings):
            found.append(f"a beginning cannot fail ({error.message})")
    for step, state in begun:
        counts["initial"] += 1
        if all(pinned.excludes(it.enabled, pinned.is_state(it.after, state)) for it in beginnings):
            found.append(f"{step} cannot lead to {state}")
    return found


def _of_state(
    pinned: Pinned, properties: Sequence[Property], state: State, steps: Iterable[Step], found: list[str],
    counts: Counter[str],
) -> Iterator[State]:
    """The states that steps lead to. Adds to ``found`` what CPython does there and the terms exclude."""
    system = pinned.system
    pinned.in_first_slots = True
    now = pinned.is_state(system.now.state, state)
    pinned.in_first_slots = False
    if pinned.excludes(now, system.well_formed(system.now.state)):
        found.append(f"{state} is said to be no state")
    found += _wrong_predicates(pinned, properties, state, now, counts)
    for step in steps:
        try:
            after = fire(pinned.model, state, step)
        except SourceError:
            counts["failures"] += 1
            if pinned.excludes(now, _asked_for(pinned, step), _fired(pinned, step).failed):
                found.append(f"{step} cannot fail in {state}")
            continue
        if after is None:
            continue
        counts["steps"] += 1
        if pinned.excludes(now, _taken(pinned, step), pinned.is_state(_fired(pinned, step).after, after)):
            found.append(f"{step} cannot lead from {state} to {after}")
        yield after


def _steps(model: Model, state: State) -> Iterator[Step]:
    """The candidates for a step from a state: each action with each choice of its arguments."""
    for name in type(model).methods("action"):
        yield from choices(model, state, name)


def _fired(pinned: Pinned, step: Step) -> SymbolicStep:
    return next(it for it in pinned.system.fired if it.action.name == step.action)


def _asked_for(pinned: Pinned, step: Step) -> Truth:
    """The condition that an action has the arguments of a step."""
    fired = _fired(pinned, step)
    return conj(
        pinned.is_value(parameter.type, value, step.arguments[parameter.name])
        for parameter, value in zip(fired.action.parameters, fired.parameters, strict=True)
    )


def _taken(pinned: Pinned, step: Step) -> Truth:
    return conj((_fired(pinned, step).enabled, _asked_for(pinned, step)))


def _wrong_predicates(
    pinned: Pinned, properties: Sequence[Property], state: State, now: Truth, counts: Counter[str]
) -> list[str]:
    found = []
    for prop in properties:
        if prop.kind not in ("invariant", "lemma"):
            continue
        judged = pinned.system.judge(pinned.system.predicates[prop.name], pinned.system.now.state)
        try:
            true = holds(pinned.model, prop.function, state)
        except SourceError:
            counts["failures"] += 1
            if pinned.excludes(now, judged.failed):
                found.append(f"{prop.name} cannot fail in {state}")
            continue
        counts["properties"] += 1
        if pinned.excludes(now, judged.truth if true else negation(judged.truth)):
            found.append(f"{prop.name} cannot be {true} in {state}")
    return found


def _wrong_transitions(
    pinned: Pinned, transitions: Sequence[Property], old: State, new: State, counts: Counter[str]
) -> list[str]:
    """The properties of steps that the terms judge otherwise than CPython for two states, which need not be a step."""
    system, found = pinned.system, []
    before, after = system.now.state, system.replica("after:").state
    both = conj((pinned.is_state(before, old), pinned.is_state(after, new)))
    for prop in transitions:
        judged = system.judge(system.predicates[prop.name], after, before)
        try:
            true = holds(pinned.model, prop.function, old, new)
        except SourceError:
            counts["failures"] += 1
            if pinned.excludes(both, judged.failed):
                found.append(f"{prop.name} cannot fail from {old} to {new}")
            continue
        counts[f"transitions that are {true}"] += 1
        if pinned.excludes(both, judged.truth if true else negation(judged.truth)):
            found.append(f"{prop.name} cannot be {true} from {old} to {new}")
    return found


def proved_but_refuted(model: Model, properties: Sequence[Property], sizes: Sequence[int]) -> list[str]:
    """The obligations that fail at some of these numbers of identifiers and yet are proved for every number.

    Raises ModelError for what cannot be said of any number.
    """
    names, counting = any_size_constants(model)
    if not counting:
        raise UnsupportedError("nothing counts identifiers")
    failing: set[tuple[str, str]] = set()
    for size in sizes:
        try:
            sized = type(model)(**{**model.constant_values, **dict.fromkeys(counting, size)})
            proof = induction(system_of(sized, properties), properties, effort=MAX_EFFORT)
        except ModelError:
            continue
        failing |= {(it.action, it.property) for it in proof.failing() if it.outcome == "fails"}
    failing = {(action, name) for action, name in failing if not (action == INITIAL and name == TYPES)}
    system = system_of(model, properties, names, any_size=True)
    ways = [*portfolio.STRATEGIES[:2], *(it for it in portfolio.STRATEGIES if it.view != "everything")]
    with patch.object(portfolio, "STRATEGIES", ways):
        answers = check_obligations(system, properties, failing)
    return [f"{it.action}: {it.property}" for it in answers if it.outcome == "proved"]
