"""A model as a transition system of z3 terms."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from checkers.properties import Property
from checkers.report.value import plain
from checkers.symbolic.effects import Fired, Judged, fire, judge
from checkers.symbolic.terms import Truth, as_term, conj, disj, negation
from checkers.symbolic.values import ENDLESS, Leaf, UnsupportedError, Value, Values
from model.compiler.ir import Expr, Generator, ItemStep, Predicate, Range, Stmt
from model.compiler.program import Program, read_program
from model.language.errors import ModelError
from model.language.model import Model, State
from model.language.reference import Step, initial_states
from model.language.types import (
    BagType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)

WIDEST = 64
MOST_INITIAL = 4096

Components = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Replica:
    """A copy of the state variables, at one point of a run."""

    state: Components
    terms: tuple[Any, ...]


class System:
    """The symbolic form of a model: its variables, its initial states, its actions, its properties.

    With ``endless``, the named constants stand for every natural number at once; the integers that they bound have no
    upper bound, and the sets whose capacity they are hold any number of elements.
    """

    def __init__(
        self, model: Model, properties: Mapping[str, Callable[..., bool]], endless: Iterable[str] = ()
    ) -> None:
        self.model = _endless_model(model, list(endless))
        names = {name: self.model.constant_values[name] for name in endless}
        self.program: Program = read_program(self.model, properties)
        self.values = Values(_width(self.program), names)
        self.variables = self.program.variables
        self.now = self.replica("")
        self.fired: list[Fired] = [self._fire(action) for action in self.program.actions]
        self.predicates = {predicate.name: predicate for predicate in self.program.predicates}
        self._initial: list[tuple[Step, State]] | None = None

    # States.

    def replica(self, name: str) -> Replica:
        """Fresh variables for one state."""
        state = {
            variable: self.values.fresh(kind, f"{name}{variable}") for variable, kind in self.variables.items()
        }
        return Replica(state, tuple(leaf.term for leaf in self.leaves(state)))

    def leaves(self, state: Components) -> list[Leaf]:
        """The components of a state, relations left out."""
        return [
            leaf
            for variable, kind in self.variables.items()
            if not self.values.is_relation(kind)
            for leaf in self.values.leaves(kind, state[variable], variable)
        ]

    def constant(self, state: State) -> Components:
        """A state of the language as components."""
        pairs = zip(self.variables.items(), state, strict=True)
        return {variable: self.values.constant(kind, value) for (variable, kind), value in pairs}

    def decode(self, state: Components, model: Any) -> State:
        """The state of the language that a model of z3 gives."""
        return tuple(self.values.decode(kind, state[name], model) for name, kind in self.variables.items())

    def well_formed(self, state: Components) -> Truth:
        """Whether components are those of a state: ranges, capacities, canonical forms."""
        parts = [self.values.well_formed(kind, state[name]) for name, kind in self.variables.items()]
        return conj([*parts, *(symbol >= 0 for symbol in self.values.constants.values())])

    def equal(self, a: Components, b: Components) -> Truth:
        return conj(self.values.equal(kind, a[name], b[name]) for name, kind in self.variables.items())

    def initial_states(self) -> list[tuple[Step, State]]:
        """Every initial state, as CPython finds them."""
        if self._initial is None:
            found = list(itertools.islice(initial_states(self.model), MOST_INITIAL + 1))
            if not found:
                raise ModelError("the model has no initial state", *type(self.model).source_position())
            if len(found) > MOST_INITIAL:
                message = f"there are more than {MOST_INITIAL} initial states"
                raise UnsupportedError(message, *type(self.model).source_position())
            if self.values.endless and _marked(found, self.values.endless) != self._other_initial_states():
                message = "an initial state is computed from a constant that stands for every number"
                raise UnsupportedError(message, *type(self.model).source_position())
            self._initial = found
        return self._initial

    def _other_initial_states(self) -> list[str]:
        """The initial states when the endless constants are recognised by other numbers: they must be the same."""
        numbers = ENDLESS[: max(2, len(self.values.endless))]
        names = dict(zip(self.values.endless, (*numbers[1:], numbers[0]), strict=False))
        other = type(self.model)(**{**self.model.constant_values, **names})
        return _marked(itertools.islice(initial_states(other), MOST_INITIAL + 1), names)

    def initial(self, state: Components) -> Truth:
        return disj(self.equal(state, self.constant(known)) for _, known in self.initial_states())

    # Actions and properties.

    def _fire(self, action: Any) -> Fired:
        parameters = [
            self.values.fresh(parameter.type, f"{action.name}({parameter.name})") for parameter in action.parameters
        ]
        return fire(self.values, self.variables, action, self.now.state, parameters)

    def step(self, fired: Fired, model: Any) -> Step:
        """The action and arguments that a model of z3 gives."""
        arguments = {
            parameter.name: self.values.decode(parameter.type, value, model)
            for parameter, value in zip(fired.action.parameters, fired.parameters, strict=True)
        }
        return Step(fired.action.name, arguments)

    def parameter_terms(self, fired: Fired) -> list[Any]:
        pairs = zip(fired.action.parameters, fired.parameters, strict=True)
        return [term for parameter, value in pairs for term in self.values.arguments(parameter.type, value)]

    def judge(self, predicate: Predicate, state: Components, old: Components | None = None) -> Judged:
        return judge(self.values, self.variables, predicate, state, old)

    def within(self, state: Components) -> Truth:
        """Whether exploration goes on from a state; it does not where a boundary fails."""
        judged = [self.judge(boundary, state) for boundary in self.program.boundaries]
        return conj(part for one in judged for part in (one.truth, negation(one.failed)))

    def boundary_failed(self, state: Components) -> Truth:
        """Whether evaluating a boundary leaves the declared types."""
        return disj(self.judge(boundary, state).failed for boundary in self.program.boundaries)

    def leads_to(self, fired: Fired, after: Components) -> Truth:
        """Whether an action leads from the present state to ``after``."""
        return conj((fired.succeeds, self.equal(fired.after, after)))


class Transition:
    """One step as a relation between the present state and the next: ``term``.

    Of ``chosen``, one truth value for each action, at least one is true; ``parameters`` are the actions' own.
    """

    def __init__(self, system: System) -> None:
        self.next = system.replica("next:")
        self.chosen = [z3.Bool(f"{fired.action.name}()") for fired in system.fired]
        self.parameters = [system.parameter_terms(fired) for fired in system.fired]
        parts = [as_term(system.within(system.now.state)), z3.Or(self.chosen)]
        parts.append(as_term(system.well_formed(self.next.state)))
        for chosen, fired in zip(self.chosen, system.fired, strict=True):
            parts.append(z3.Implies(chosen, as_term(fired.succeeds)))
            after = [leaf.term for leaf in system.leaves(fired.after)]
            for target, value in zip(self.next.terms, after, strict=True):
                parts.append(z3.Implies(chosen, target == value))
        self.term = z3.And(parts)


def system_of(model: Model, properties: Iterable[Property], endless: Iterable[str] = ()) -> System:
    """The transition system of a model with these properties."""
    return System(model, {prop.name: prop.function for prop in properties}, endless)


def replaced(term: Truth, old: Iterable[Any], new: Iterable[Any]) -> Any:
    """A term with variables replaced."""
    return z3.substitute(as_term(term), *zip(old, new, strict=True))


def _endless_model(model: Model, endless: list[str]) -> Model:
    """The model with each endless constant set to a number that it can be recognised by."""
    if not endless:
        return model
    constants = model.constant_values
    for name in endless:
        if name not in constants:
            raise ModelError(f"{type(model).__name__} has no constant {name!r}", *type(model).source_position())
    if len(endless) > len(ENDLESS):
        raise UnsupportedError(f"more than {len(ENDLESS)} endless constants")
    constants.update(zip(endless, ENDLESS, strict=False))
    return type(model)(**constants)


def _marked(states: Iterable[tuple[Step, State]], names: Mapping[str, int]) -> list[str]:
    """States as text, in which the numbers that stand for constants are their names."""
    known = {number: name for name, number in names.items()}

    def named(value: Any) -> Any:
        match value:
            case bool():
                return value
            case int():
                return known.get(value, value)
            case list():
                return [named(item) for item in value]
            case dict():
                return {key: named(item) for key, item in value.items()}
        return value

    return [str([named(plain(value)) for value in state]) for _, state in states]


def _width(program: Program) -> int:
    """Bits that are enough for every integer that the program can compute, with its sign."""
    widest = 1
    for kind in program.variables.values():
        widest = max(widest, _widest_type(kind))
    for action in program.actions:
        for part in (*action.parameters, *action.guards, *action.body):
            widest = max(widest, _widest(part))
    for predicate in (*program.predicates, *program.boundaries):
        widest = max(widest, _widest(predicate.value))
    return min(widest.bit_length() + 1, WIDEST)


def _widest(node: Any) -> int:
    match node:
        case Expr() | Stmt() | Generator() | Range() | ItemStep():
            own = _widest_type(node.type) if isinstance(node, Expr) else 0
            return max([own, *(_widest(getattr(node, name)) for name in _slots(type(node)))])
        case list() | tuple():
            return max([0, *(_widest(item) for item in node)])
        case dict():
            return max([0, *(_widest(item) for item in node.values())])
        case Type():
            return _widest_type(node)
    return 0


def _slots(cls: type) -> list[str]:
    return [name for base in cls.__mro__ for name in getattr(base, "__slots__", ()) if name not in ("type", "at")]


def _widest_type(kind: Type) -> int:
    match kind:
        case IntType(low, high):
            return max(abs(low), abs(high))
        case OptionalType(inner):
            return _widest_type(inner)
        case RecordType(_, fields):
            return max([0, *(_widest_type(of) for _, of in fields)])
        case SetType(element, capacity):
            return max(_widest_type(element), capacity if capacity is not None else min(element.codes, 1 << 20))
        case BagType(element, capacity) | SeqType(element, capacity):
            return max(_widest_type(element), 2 * capacity)
        case MapType(_, value):
            return _widest_type(value)
    return 0
