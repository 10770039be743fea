"""A model as a transition system in z3 terms."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import z3

from floodmark.checkers.project.properties import Property, functions_by_name
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, negation
from floodmark.checkers.symbolic.translate.effects import PredicateEvaluation, SymbolicStep, fire, judge
from floodmark.checkers.symbolic.values.components import Leaf
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.checkers.symbolic.values.value import Values
from floodmark.compiler.ir import Action, Position, Predicate
from floodmark.compiler.program import Program, read_beginning_of, read_beginnings, read_predicate, read_program
from floodmark.language.bindings import annotation_position
from floodmark.language.errors import ModelError
from floodmark.language.linear import Linear, lowest
from floodmark.language.members import REFINES, kind_of
from floodmark.language.model import Model, State, defaults_of, opened
from floodmark.language.reference import Step, initial_states
from floodmark.language.types import OpenIdentifierType, OpenIntType, OpenSetType, Type, parts_of

MAX_INITIAL = 4096

Components = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Replica:
    """A copy of the state variables, at one point of a run."""

    state: Components
    terms: tuple[Any, ...]


class System:
    """The symbolic form of a model: its variables, initial states, actions and properties.

    With ``unbounded``, the named constants stand for all natural numbers at once for which the types that they bound
    are not empty: ``domain`` has the linear forms that must be nonnegative for that. With ``any_size`` they may count
    identifiers. ``model`` keeps its own constants.
    """

    def __init__(
        self,
        model: Model,
        properties: Mapping[str, Callable[..., bool]],
        unbounded: Iterable[str] = (),
        any_size: bool = False,
    ) -> None:
        self.model = model
        self.values = Values(unbounded, any_size=any_size)
        read = self._opened = opened(model, self.values.types.unbounded, any_size)
        self.program: Program = self._read(read, properties)
        self.variables = self.program.variables
        self.now = self.replica("")
        self.fired: list[SymbolicStep] = [self._fire(action) for action in self.program.actions]
        self.predicates = {predicate.name: predicate for predicate in self.program.predicates}
        self.beginnings = self._beginnings(read) if self.values.types.unbounded else []
        mappings = properties.items() if self.values.types.unbounded else ()
        self.begun = {
            name: read_beginning_of(read, name, mapping) for name, mapping in mappings if kind_of(mapping) == REFINES
        }
        """For each refinement, the condition that an initial state is mapped to an initial state of the other model."""
        self._initial: list[tuple[Step, State]] | None = None

    def _read(self, read: Model, properties: Mapping[str, Callable[..., bool]]) -> Program:
        try:
            return read_program(read, properties)
        except ModelError as error:
            if error.file is None:
                error.file, error.line = type(self.model).source_position()
            raise

    def read(self, function: Callable[..., bool]) -> Predicate:
        """Another predicate about the model."""
        return read_predicate(self._opened, function.__name__, function)

    @property
    def domain(self) -> list[Linear]:
        """The linear forms that must be nonnegative, so that no type is empty and every mentioned identifier exists."""
        parameters = (it.type for action in self.program.actions for it in action.parameters)
        parts = itertools.chain.from_iterable(map(parts_of, [*self.variables.values(), *parameters]))
        return _domain(parts, lambda kind: self.values.types.individuals(kind).least)

    # States.

    def replica(self, name: str) -> Replica:
        """Fresh variables for one state."""
        state = {variable: self._fresh(variable, f"{name}{variable}") for variable in self.variables}
        terms = () if self.values.types.any_size else tuple(leaf.term for leaf in self.leaves(state))
        return Replica(state, terms)

    def _fresh(self, variable: str, hint: str) -> Value:
        try:
            return self.values.fresh(self.variables[variable], hint)
        except UnsupportedError as error:
            raise error.at(self._declaration(variable)) from None

    def _declaration(self, variable: str) -> Position:
        cls = type(self.model)
        file, line = annotation_position(cls._variables[variable], variable)
        return Position(file or "", line or 0)

    def leaves(self, state: Components) -> list[Leaf]:
        """The components of a state, without relations."""
        return [
            leaf
            for variable, kind in self.variables.items()
            if not self.values.types.is_relation(kind)
            for leaf in self.values.components.leaves(kind, state[variable], variable)
        ]

    def constant(self, state: State) -> Components:
        """A state of the language, as components."""
        pairs = zip(self.variables.items(), state, strict=True)
        return {variable: self.values.constant(kind, value) for (variable, kind), value in pairs}

    def decode(self, state: Components, model: Any) -> State:
        """The state of the language in a z3 model."""
        return tuple(self.values.decode(kind, state[name], model) for name, kind in self.variables.items())

    def well_formed(self, state: Components) -> Truth:
        """Whether components are those of a state: ranges, capacities and canonical forms."""
        parts = [self.values.well_formed(kind, state[name]) for name, kind in self.variables.items()]
        return conj([*parts, self.constants_allowed()])

    def constants_allowed(self) -> Truth:
        """The condition that constants left open are natural numbers for which no type is empty."""
        values = self.values
        forms = (values.numbers.at_most(0, values.types.bound(form)) for form in self.domain)
        return conj([values.types.natural(), *forms])

    def constants(self, model: Any) -> dict[str, int]:
        """The values of the open constants in a z3 model."""
        return {name: self.values.numbers.value(term, model) for name, term in self.values.types.constants.items()}

    def equal(self, a: Components, b: Components) -> Truth:
        return conj(self.values.equal(kind, a[name], b[name]) for name, kind in self.variables.items())

    def initial_states(self) -> list[tuple[Step, State]]:
        """Every initial state, found by CPython."""
        if self._initial is None:
            found = list(itertools.islice(initial_states(self.model), MAX_INITIAL + 1))
            if not found:
                raise ModelError("the model has no initial state", *type(self.model).source_position())
            if len(found) > MAX_INITIAL:
                message = f"there are more than {MAX_INITIAL} initial states"
                raise UnsupportedError(message, *type(self.model).source_position())
            self._initial = found
        return self._initial

    def initial(self, state: Components) -> Truth:
        return disj(self.equal(state, self.constant(known)) for _, known in self.initial_states())

    def _beginnings(self, read: Model) -> list[SymbolicStep]:
        """The methods that set the initial states, for every value of the open constants.

        Before they run, variables with a default have that value, which must be of their type; others have any value.
        """
        defaults = defaults_of(self.model)
        failures = [
            (self._declaration(name), negation(self.values.admits(self.variables[name], value)))
            for name, value in defaults.items()
        ]
        start = dict(self.replica("start:").state)
        start.update({name: self.values.constant(self.variables[name], value) for name, value in defaults.items()})
        file, line = type(self.model).source_position()
        actions = read_beginnings(read) or [Action("initial", [], [], [], Position(file or "", line or 0))]
        found = []
        for action in actions:
            fired = self._fire(action, start)
            found.append(replace(fired, failures=[*(it for it in failures if it[1] is not False), *fired.failures]))
        return found

    # Actions and properties.

    def _fire(self, action: Action, state: Components | None = None) -> SymbolicStep:
        try:
            parameters = [
                self.values.fresh(parameter.type, f"{action.name}.{parameter.name}") for parameter in action.parameters
            ]
        except UnsupportedError as error:
            raise error.at(action.at) from None
        return fire(self.values, self.variables, action, self.now.state if state is None else state, parameters)

    def step(self, fired: SymbolicStep, model: Any) -> Step:
        """The action and arguments in a z3 model."""
        arguments = {
            parameter.name: self.values.decode(parameter.type, value, model)
            for parameter, value in zip(fired.action.parameters, fired.parameters, strict=True)
        }
        return Step(fired.action.name, arguments)

    def parameter_terms(self, fired: SymbolicStep) -> list[Any]:
        pairs = zip(fired.action.parameters, fired.parameters, strict=True)
        return [term for parameter, value in pairs for term in self.values.components.arguments(parameter.type, value)]

    def judge(self, predicate: Predicate, state: Components, old: Components | None = None) -> PredicateEvaluation:
        return judge(self.values, self.variables, predicate, state, old)

    def within(self, state: Components) -> Truth:
        """Whether the search continues from a state; it does not where a boundary fails."""
        judged = [self.judge(boundary, state) for boundary in self.program.boundaries]
        return conj(part for one in judged for part in (one.truth, negation(one.failed)))

    def boundary_failed(self, state: Components) -> Truth:
        """Whether evaluating a boundary is a model error. Once a boundary is false, no other is evaluated."""
        failed: list[Truth] = []
        reached: Truth = True
        for boundary in self.program.boundaries:
            judged = self.judge(boundary, state)
            failed.append(conj((reached, judged.failed)))
            reached = conj((reached, judged.truth))
        return disj(failed)

    def leads_to(self, fired: SymbolicStep, after: Components) -> Truth:
        """Whether an action leads from the current state to ``after``."""
        return conj((fired.succeeds, self.equal(fired.after, after)))


class Transition:
    """One step as a relation between the current state and the next: ``term``.

    At least one of ``chosen``, one truth value for each action, is true; ``parameters`` are those of the actions.
    """

    def __init__(self, system: System) -> None:
        self.next = system.replica("next:")
        self.chosen = [system.values.symbols.truth(fired.action.name) for fired in system.fired]
        self.parameters = [system.parameter_terms(fired) for fired in system.fired]
        parts = [as_term(system.within(system.now.state)), z3.Or(self.chosen)]
        parts.append(as_term(system.well_formed(self.next.state)))
        for chosen, fired in zip(self.chosen, system.fired, strict=True):
            parts.append(z3.Implies(chosen, as_term(fired.succeeds)))
            after = [leaf.term for leaf in system.leaves(fired.after)]
            for target, value in zip(self.next.terms, after, strict=True):
                parts.append(z3.Implies(chosen, target == value))
        self.term = z3.And(parts)


def system_of(
    model: Model, properties: Iterable[Property], unbounded: Iterable[str] = (), any_size: bool = False
) -> System:
    """The transition system of a model with these properties."""
    return System(model, functions_by_name(properties), unbounded, any_size)


def replaced(term: Truth, old: Iterable[Any], new: Iterable[Any]) -> Any:
    """A term with variables replaced."""
    return z3.substitute(as_term(term), *zip(old, new, strict=True))


def _domain(parts: Iterable[Type], mentioned: Callable[[OpenIdentifierType], int]) -> list[Linear]:
    """The linear forms that must be nonnegative for the types to have as many values as are ``mentioned``."""
    found: dict[Linear, None] = {}
    for part in parts:
        match part:
            case OpenIntType(least=least, most=most):
                form = most - least
            case OpenIdentifierType(limit=limit):
                form = limit - mentioned(part)
            case OpenSetType(limit=form):
                pass
            case _:
                continue
        lowest_of = lowest(form)
        if isinstance(form, Linear) and (lowest_of is None or lowest_of < 0):
            found[form] = None
    return list(found)
