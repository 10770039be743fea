"""Runs the parts of one model in given states by compiled code, by z3's terms and by CPython."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from floodmark.checkers.codegen.jit import UNOPTIMISED, MachineCode, _compile
from floodmark.checkers.codegen.model_module import FAILED, MAX_PREDICATES, parts, whole
from floodmark.checkers.project.properties import _property
from floodmark.checkers.symbolic.methods.progress import _number
from floodmark.checkers.symbolic.methods.rankings import BoundRanking
from floodmark.checkers.symbolic.terms.booleans import as_term
from floodmark.checkers.symbolic.translate.effects import fire as taken
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext
from floodmark.checkers.symbolic.translate.statements import StatementEvaluator
from floodmark.checkers.symbolic.translate.transition_system import Components, System
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.checkers.symbolic.values.value import Values
from floodmark.compiler.conditions import read_condition
from floodmark.compiler.ir import Action, Inline, Predicate
from floodmark.compiler.layout import Layout, lay_out
from floodmark.compiler.program import Program, read_action, read_predicate
from floodmark.language.conditions import Condition
from floodmark.language.errors import ActionDisabled, SourceError
from floodmark.language.model import Model, State, defaults_of
from floodmark.language.reference import Step, _located, fire, holds
from floodmark.language.types import IntType
from floodmark.language.values import running

FAILS = "fails"
Answer = State | bool | int | str | None
"""A state, what a property or a ranking says, that something fails, or None where a step is not enabled."""


@dataclass(frozen=True)
class Beginning:
    """A method that sets the initial states, of which its only parameter chooses one."""

    name: str
    action: Action


@dataclass(frozen=True)
class Rank:
    """A ranking."""

    name: str
    value: Inline


Part = Action | Predicate | Beginning | Rank


def read_parts(
    model: Model, functions: Mapping[str, tuple[str, Callable[..., Any]]]
) -> Iterator[tuple[str, Part | SourceError]]:
    """The graph that the compiler makes of each function, which has this role, or the error with which it refuses it.
    """
    for name, (role, function) in functions.items():
        try:
            yield name, _read(model, name, role, function)
        except SourceError as error:
            yield name, error


def _read(model: Model, name: str, role: str, function: Callable[..., Any]) -> Part:
    match role:
        case "action":
            return read_action(model, name, function)
        case "initial":
            return Beginning(name, read_action(model, name, function))
        case "ranking":
            return Rank(name, _number(model, BoundRanking(_property(name, role, function), {}, ())))
        case "always_eventually":
            return read_condition(model, Condition(name, function))
    return read_predicate(model, name, function, role)


def by_cpython(model: Model, role: str, function: Callable[..., Any], state: State, case: int) -> Answer:
    """The result of a function in a state; of a transition property on the stuttering step; of an initial method in one
    case."""
    try:
        match role:
            case "action":
                return fire(model, state, Step(function.__name__, {}))
            case "initial":
                return _begun(model, function, case)
            case "ranking":
                with _located(), running(model):
                    found = function(model.at(state))
                assert isinstance(found, int)
                return found
            case "always_eventually":
                return Condition(function.__name__, function).holds(model, state)
        return holds(model, function, *[state] * (2 if role == "transition" else 1))
    except SourceError:
        return FAILS


def _begun(model: Model, method: Callable[..., Any], case: int) -> State | None:
    with _located(), running(model):
        model.reset()
        try:
            method(model, case)
        except ActionDisabled:
            return None
        return model.snapshot()


def by_code(model: Model, read: Sequence[Action | Predicate], states: Sequence[State]) -> dict[str, list[Answer]]:
    """The same of actions and properties by compiled code, where it is not optimised."""
    found: dict[str, list[Answer]] = {}
    layout, most = lay_out(model.variable_types), MAX_PREDICATES
    packed = [layout.pack(state) for state in states]
    predicates = [it for it in read if isinstance(it, Predicate)]
    batches: list[list[Action | Predicate]] = [[it for it in read if isinstance(it, Action)]]
    batches += [[*predicates[start : start + most]] for start in range(0, len(predicates), most)]
    for some in batches:
        of_boundary = [it for it in some if isinstance(it, Predicate) and it.kind == "boundary"]
        judged = [it for it in some if isinstance(it, Predicate) and it.kind != "boundary"]
        taken_here = [it for it in some if isinstance(it, Action)]
        made, interface = parts(Program("All", model.variable_types, taken_here, judged, of_boundary), None)
        module = whole(made, "all")
        roles = {part.name: "action" if isinstance(part, Action) else part.kind for part in some}
        symbols = {f"{role}.0.{name}" for name, role in roles.items()}
        for function in module.functions:
            function.linkage = "" if function.name in symbols else "internal"
        code = MachineCode([_compile(module, UNOPTIMISED)])
        for name, role in roles.items():
            address = code.function(f"{role}.0.{name}", 3 if role in ("action", "transition") else 2)
            found[name] = _run(address, role, layout, interface.context_words, packed)
    return found


def _run(
    function: Callable[..., int], role: str, layout: Layout, words: int, states: Sequence[Sequence[int]]
) -> list[Answer]:
    here, out = (ctypes.c_uint64 * layout.words)(), (ctypes.c_uint64 * layout.words)()
    context = (ctypes.c_uint64 * words)()
    places = [ctypes.addressof(it) for it in (here, out, context)]
    found: list[Answer] = []
    for state in states:
        here[:] = list(state)
        context[FAILED] = 0
        if role == "action":
            count = function(*places)
            said: Answer = layout.unpack(tuple(out)) if count else None
        elif role == "transition":
            said = bool(function(places[0], places[0], places[2]) & 1)
        else:
            said = bool(function(places[0], places[2]) & 1)
        found.append(FAILS if context[FAILED] else said)
    return found


def unlike_terms(
    plain: Model, read: Sequence[Part], states: Sequence[State], real: dict[str, list[Answer]]
) -> Iterator[tuple[str, str]]:
    """The parts of which z3's terms say something else than ``real``, or of which there are no terms, and why.

    ``plain`` is a model of the same variables.
    """
    system = System(plain, {})
    number, values = IntType(0, len(states) - 1), system.values
    case = values.fresh(number, "case")
    leaves = [leaf.term for leaf in system.leaves(system.now.state)]

    def of_state(components: Any) -> list[Any]:
        found = [leaf.term for leaf in system.leaves(components)]
        return [_of_sort(term, like.sort()) for term, like in zip(found, leaves, strict=True)]

    wanted: list[Any] = []
    places: dict[str, tuple[int, int, int]] = {}
    now = system.now.state
    for part in read:
        try:
            match part:
                case Predicate():
                    judged = system.judge(part, now, now if part.kind == "transition" else None)
                    said, failures = [as_term(judged.truth)], judged.failures
                case Rank(value=value):
                    context = EvaluationContext(values, now)
                    number = StatementEvaluator(context, system.variables).evaluate(value)
                    said, failures = [_number_term(values, number)], context.failures
                case Beginning(action=action):
                    fired = taken(values, system.variables, action, begins_with(system), [case])
                    said, failures = [as_term(fired.enabled), *of_state(fired.after)], fired.failures
                case Action():
                    fired = taken(values, system.variables, part, now, [])
                    said, failures = [as_term(fired.enabled), *of_state(fired.after)], fired.failures
        except UnsupportedError as error:
            yield part.name, f"no terms: {error.message}"
            continue
        first = len(wanted)
        wanted += [*said, *(as_term(bad) for _, bad in failures)]
        places[part.name] = (first, first + len(said), len(wanted))
    together = z3.Function("together", *(term.sort() for term in wanted), z3.BoolSort())(*wanted)
    known: dict[State, list[Any]] = {}

    def constants(state: State) -> list[Any]:
        if state not in known:
            known[state] = of_state(system.constant(state))
        return known[state]

    true = z3.BoolVal(True).get_id()
    for at, state in enumerate(states):
        chosen = [*constants(state), values.numbers.term(at, 0, len(states) - 1)]
        here = z3.simplify(z3.substitute(together, *zip([*leaves, values.numbers.raw(case)], chosen, strict=True)))
        context, whole_of = here.ctx_ref(), here.as_ast()
        said_here = [z3.Z3_get_ast_id(context, z3.Z3_get_app_arg(context, whole_of, i)) for i in range(len(wanted))]
        for name, (first, end, last) in list(places.items()):
            answer, fails = real[name][at], true in said_here[end:last]
            if isinstance(answer, tuple):
                after = [term.get_id() for term in constants(answer)]
                agrees = not fails and said_here[first:end] == [true, *after]
            elif type(answer) is int:
                agrees = not fails and _number_of(here.arg(first)) == answer
            else:
                agrees = fails if answer == FAILS else not fails and (said_here[first] == true) == bool(answer)
            if not agrees:
                says = "fails" if fails else [here.arg(place) for place in range(first, end)]
                yield name, f"in {state} z3 says {says}, CPython {answer}"
                del places[name]


def begins_with(system: System) -> Components:
    """The state before a method sets it: what has no default may be anything."""
    given = defaults_of(system.model)
    return {
        name: system.values.constant(kind, given[name]) if name in given else system.now.state[name]
        for name, kind in system.variables.items()
    }


def _number_term(values: Values, number: Any) -> Any:
    """A number of a value's terms, as one term."""
    return z3.IntVal(number) if isinstance(number, int) else values.numbers.raw(number)


def _number_of(term: Any) -> int:
    found = term.as_signed_long() if z3.is_bv(term) else term.as_long()
    assert isinstance(found, int)
    return found


def _of_sort(term: Any, sort: Any) -> Any:
    """A component that may be a plain value, as a term."""
    if isinstance(term, bool):
        return z3.BoolVal(term)
    return z3.BitVecVal(term, sort.size()) if isinstance(term, int) else term
