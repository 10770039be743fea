"""Compares z3's terms of some actions, boundaries and properties of a model with CPython, at given states.

Evaluated in a state, with the arguments of an action, the terms have to agree with CPython: on whether the action is
enabled, on its successor, on whether it fails, and on the truth of each predicate. So a proof method that is sound for
these terms is sound for the model that CPython runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

import z3

from floodmark.checkers.project.properties import Property, functions_by_name
from floodmark.checkers.symbolic.terms.booleans import as_term
from floodmark.checkers.symbolic.translate.effects import PredicateEvaluation
from floodmark.checkers.symbolic.translate.transition_system import Components, System
from floodmark.compiler.program import Program
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, choices, fire, holds, initial_states, parameter_types
from floodmark.language.widths import WidthExceeded
from tests.support.drawn_states import drawn

T = TypeVar("T")

FEW_BEGINNINGS = 64
"""The maximum number of initial states for which the condition that a state is initial is compared."""


@dataclass(frozen=True)
class Part:
    """The part of a model that is compared: actions and boundaries by name, properties, and the initial states."""

    actions: frozenset[str] = frozenset()
    boundaries: frozenset[str] = frozenset()
    properties: tuple[Property, ...] = ()
    begins: bool = False


@dataclass(frozen=True)
class Question:
    """A comparison with CPython: of the predicates of a state, of those of a state and a ``next`` one, or of a step."""

    state: State
    next: State | None = None
    step: Step | None = None


class PartOfSystem(System):
    """The terms of a part of a model."""

    def __init__(self, model: Model, part: Part, unbounded: Iterable[str] = (), any_size: bool = False) -> None:
        self._part = part
        super().__init__(model, functions_by_name(part.properties), unbounded, any_size)

    def _read(self, read: Model, properties: Mapping[str, Callable[..., bool]]) -> Program:
        whole = super()._read(read, properties)
        return replace(
            whole,
            actions=[action for action in whole.actions if action.name in self._part.actions],
            boundaries=[boundary for boundary in whole.boundaries if boundary.name in self._part.boundaries],
        )


@dataclass
class _TermTuple:
    """Terms under one function symbol, so that one substitution evaluates all of them."""

    variables: list[Any]
    terms: list[Any]
    whole: Any = field(init=False)

    def __post_init__(self) -> None:
        self.whole = z3.Function("together", *(term.sort() for term in self.terms), z3.BoolSort())(*self.terms)

    def evaluate(self, values: Iterable[Any]) -> list[Any]:
        """The terms, simplified, with these values for their variables."""
        found = z3.simplify(z3.substitute(self.whole, *zip(self.variables, values, strict=True)))
        return [found.arg(at) for at in range(found.num_args())]


class Terms:
    """z3's terms of a part of a model."""

    def __init__(self, model: Model, part: Part) -> None:
        self.model = model
        self.part = part
        self.counts: Counter[str] = Counter()
        self.system = PartOfSystem(model, part)
        now, old = self.system.now.state, self.system.replica("old:").state
        self.leaves, self.old_leaves = self._leaves(now), self._leaves(old)
        self.actions: dict[str, _TermTuple] = {}
        for fired in self.system.fired:
            parameters = [
                leaf.term
                for parameter, value in zip(fired.action.parameters, fired.parameters, strict=True)
                for leaf in self.system.values.components.leaves(parameter.type, value, parameter.name)
            ]
            after = _of_sorts(self._leaves(fired.after), self.leaves)
            results = [as_term(fired.enabled), as_term(fired.failed), *after]
            self.actions[fired.action.name] = _TermTuple([*self.leaves, *parameters], results)
        predicates = self.system.predicates
        of_states = [each.name for each in part.properties if each.kind != "transition"]
        self.of_states = self._predicate_terms([
            *(self.system.judge(predicates[name], now) for name in of_states),
            *(self.system.judge(boundary, now) for boundary in self.system.program.boundaries),
        ], self.leaves)
        self.of_steps = self._predicate_terms(
            [self.system.judge(predicates[name], now, old) for name in self._transitions()],
            [*self.leaves, *self.old_leaves],
        )

    def _leaves(self, components: Components) -> list[Any]:
        return [leaf.term for leaf in self.system.leaves(components)]

    def _predicate_terms(self, every: Sequence[PredicateEvaluation], variables: list[Any]) -> _TermTuple:
        return _TermTuple(variables, [as_term(term) for each in every for term in (each.truth, each.failed)])

    def _constants(self, state: State) -> list[Any]:
        return _of_sorts(self._leaves(self.system.constant(state)), self.leaves)

    def disagreements(self, questions: Iterable[Question]) -> Iterator[str]:
        """The differences between the terms and CPython."""
        here: list[Any] = []
        state: State | None = None
        for question in questions:
            if question.state != state:
                state = question.state
                here = self._constants(state)
            if question.step is not None:
                yield from self._step(question.step, state, here)
            elif question.next is None:
                yield from self._predicates(self.of_states, self._functions_of_states(), here, state)
            else:
                constants = [*self._constants(question.next), *here]
                yield from self._predicates(self.of_steps, self._transitions(), constants, state, question.next)

    def initial_disagreements(self, others: Sequence[State]) -> Iterator[str]:
        """The differences between the methods' condition on initial states and CPython's initial states, also in the
        states ``others``. With open constants, the methods take the initial states from CPython.

        Raises SourceError if there is no initial state, as every method does.
        """
        begun = [state for _, state in self.system.initial_states()]
        real = [state for _, state in initial_states(self.model)]
        if begun != real:
            yield f"runs begin in {real}; z3: {begun}"
        if len(begun) > FEW_BEGINNINGS:
            return
        initial = _TermTuple(self.leaves, [as_term(self.system.initial(self.system.now.state))])
        for state in [*_spread(real, 2), *others]:
            self.counts["beginnings"] += 1
            (value,) = initial.evaluate(self._constants(state))
            if not (z3.is_true if state in real else z3.is_false)(value):
                yield f"that runs begin in {state} is {state in real}; z3: {value}"

    def _transitions(self) -> dict[str, Callable[..., Any]]:
        return {each.name: each.function for each in self.part.properties if each.kind == "transition"}

    def _functions_of_states(self) -> dict[str, Callable[..., Any]]:
        return {**functions_of_states(self.model, self.part)}

    def _step(self, step: Step, state: State, here: list[Any]) -> Iterator[str]:
        action = next(fired.action for fired in self.system.fired if fired.action.name == step.action)
        values = self.system.values
        arguments = [
            leaf.term
            for parameter in action.parameters
            for leaf in values.components.leaves(
                parameter.type, values.constant(parameter.type, step.arguments[parameter.name]), parameter.name
            )
        ]
        terms = self.actions[step.action]
        enabled, failed, *after = terms.evaluate([*here, *_of_sorts(arguments, terms.variables[len(here) :])])
        self.counts["steps"] += 1
        try:
            reached = fire(self.model, state, step)
        except WidthExceeded:
            raise
        except SourceError as error:
            if not z3.is_true(failed):
                yield f"{step} fails in {state} ({error.message}); z3: {enabled}, {failed}"
            return
        expected = None if reached is None else self._constants(reached)
        same = z3.is_false(failed) and (
            z3.is_false(enabled)
            if expected is None
            else z3.is_true(enabled) and all(mine.eq(real) for mine, real in zip(after, expected, strict=True))
        )
        if not same:
            yield f"{step} leads from {state} to {reached}; z3: enabled {enabled}, failed {failed}, {after}"
        if reached is not None and self.of_steps.terms:
            constants = [*self._constants(reached), *here]
            yield from self._predicates(self.of_steps, self._transitions(), constants, state, reached)

    def _predicates(
        self, predicates: _TermTuple, functions: Mapping[str, Callable[..., Any]], constants: list[Any], *states: State
    ) -> Iterator[str]:
        if not predicates.terms:
            return
        values = predicates.evaluate(constants)
        for (name, function), truth, failed in zip(functions.items(), values[::2], values[1::2], strict=True):
            self.counts["predicates"] += 1
            try:
                true = holds(self.model, function, *states)
            except WidthExceeded:
                raise
            except SourceError as error:
                if not z3.is_true(failed):
                    yield f"{name} fails in {states} ({error.message}); z3: {truth}, {failed}"
                continue
            if not (z3.is_false(failed) and (z3.is_true if true else z3.is_false)(truth)):
                yield f"{name} is {true} in {states}; z3: {truth}, failed {failed}"


def functions_of_states(model: Model, part: Part) -> dict[str, Callable[..., Any]]:
    """The properties of states of a part of a model, and its boundaries."""
    boundaries = type(model).methods("boundary")
    found = {each.name: each.function for each in part.properties if each.kind != "transition"}
    return {**found, **{name: boundaries[name] for name in boundaries if name in part.boundaries}}


def questions(model: Model, part: Part, states: Sequence[State], most: int, chance: Random) -> Iterator[Question]:
    """The questions about a part of a model in some states: the truth of its predicates, also for each two successive
    ones whether or not a step connects them, and the steps of its actions. For each action these are ``most`` choices
    of its parameters that its first guards allow, and one further choice."""
    transitions = any(each.kind == "transition" for each in part.properties)
    of_states = bool(functions_of_states(model, part))
    for at, state in enumerate(states):
        if of_states:
            yield Question(state)
        if transitions and at:
            yield Question(states[at - 1], state)
        for name in sorted(part.actions):
            for step in some_steps(model, state, name, most, chance):
                yield Question(state, step=step)


def run(model: Model, part: Part, question: Question) -> None:
    """Runs the step or the predicates of a question in CPython."""
    try:
        if question.step is not None:
            fire(model, question.state, question.step)
            return
        if question.next is None:
            for function in functions_of_states(model, part).values():
                holds(model, function, question.state)
            return
        for each in part.properties:
            if each.kind == "transition":
                holds(model, each.function, question.state, question.next)
    except SourceError:
        pass


def some_steps(model: Model, state: State, name: str, most: int, chance: Random) -> list[Step]:
    """Steps of an action: up to ``most`` that its first guards allow, and a drawn one."""
    try:
        allowed = choices(model, state, name)
    except WidthExceeded:
        raise
    except SourceError:
        allowed = []  # its types may be too large to enumerate
    kinds = parameter_types(model, type(model).methods("action")[name])
    other = Step(name, {parameter: drawn(kind, chance) for parameter, kind in kinds.items()})
    return [*_spread(allowed, most), *([] if other in allowed else [other])]


def _spread(every: Sequence[T], most: int) -> Sequence[T]:
    """Up to ``most`` elements from all parts of the sequence."""
    return every if len(every) <= most else [every[at * len(every) // most] for at in range(most)]


def _of_sorts(terms: Iterable[Any], like: Sequence[Any]) -> list[Any]:
    """Components as terms of these sorts; plain values among them are made into terms."""
    return [_of_sort(term, it.sort()) for term, it in zip(terms, like, strict=True)]


def _of_sort(term: Any, sort: Any) -> Any:
    if isinstance(term, bool):
        return z3.BoolVal(term)
    return z3.BitVecVal(term, sort.size()) if isinstance(term, int) else term
