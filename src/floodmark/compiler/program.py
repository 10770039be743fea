"""A whole model as expression graphs: its actions, properties and boundaries."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from floodmark.compiler import ir
from floodmark.compiler.compile_cache import CompileCache, name_in_file, own_source, parameters_of
from floodmark.compiler.frame import Frame, ModelRef, must_not_assign
from floodmark.compiler.model_compiler import ModelCompiler
from floodmark.compiler.premises import PremiseMarking
from floodmark.compiler.refinement import read_refined_beginning, read_refinement
from floodmark.compiler.sizes import size_bound
from floodmark.language.errors import ModelError
from floodmark.language.members import REFINES, kind_of
from floodmark.language.model import Model
from floodmark.language.reference import parameter_types
from floodmark.language.source import Source, leading_guards, source_of
from floodmark.language.types import BagType, SetType, Type, growing, is_at_some_width, is_unlimited

MAX_EXPRESSIONS = 200_000
"""The maximum number of expressions in one action or property; compiling so many takes minutes."""
MIN_STEPS_TO_COUNT = 10_000
"""The number of expressions read below which there cannot be too many."""


@dataclass(slots=True)
class Program:
    """The input of a back end. ``variables`` are in order of declaration.

    ``arguments`` are additional variables, after the others: see ``with_arguments``.
    """

    name: str
    variables: dict[str, Type]
    actions: list[ir.Action]
    predicates: list[ir.Predicate]
    boundaries: list[ir.Predicate]
    arguments: dict[str, Type] = field(default_factory=dict)


def read_program(model: Model, properties: Mapping[str, Callable[..., bool]]) -> Program:
    """Reads the source of ``model`` and of ``properties`` (name to function).

    Raises ModelError, with file and line, for a construct outside the language. Containers without a capacity must have
    widths (``floodmark.language.model.sized``).
    """
    cls = type(model)
    if any(is_unlimited(kind) for kind in model.variable_types.values()):
        raise AssertionError(f"{cls.__name__} is read before its containers have widths")
    return Program(
        cls.__name__,
        model.variable_types,
        [read_action(model, name, method) for name, method in cls.methods("action").items()],
        [read_predicate(model, name, function) for name, function in properties.items()],
        [read_predicate(model, name, function, "boundary") for name, function in cls.methods("boundary").items()],
    )


def with_arguments(program: Program) -> Program:
    """The program in which each action also stores its parameters, so that a successor records its step.

    A parameter has a variable of its own, named by ``argument``. No action, property or boundary reads these, and a
    parameter is never assigned, so in the other variables the successors are the same, one for each choice.
    """
    kinds, actions = {}, []
    for action in program.actions:
        stored: list[ir.Stmt] = []
        for parameter in action.parameters:
            name = argument(action.name, parameter.name)
            kinds[name] = parameter.type
            stored.append(ir.SetVariable(action.at, name, [], parameter))
        actions.append(replace(action, body=[*stored, *action.body]))
    return replace(program, actions=actions, arguments=kinds)


def argument(action: str, parameter: str) -> str:
    """The name of the variable for a parameter of an action; no variable of a model can have this name."""
    return f"{action}.{parameter}"


def read_beginnings(model: Model) -> list[ir.Action]:
    """Reads the source of the methods that set the initial states of ``model``."""
    return [read_action(model, name, method) for name, method in type(model).methods("initial").items()]


def growing_parts(program: Program) -> Iterator[tuple[str, ir.Position]]:
    """The containers without a capacity that a program makes or reads, by their places, with a line for each."""
    nodes = [predicate.value for predicate in [*program.predicates, *program.boundaries]]
    nodes += [part for action in program.actions for part in expressions_of(action)]
    for node in (part for whole in nodes for part in ir.walk(whole)):
        for kind in growing(node.type):
            if kind.grows:
                yield kind.grows, node.at


def expressions_of(action: ir.Action) -> list[ir.Expr]:
    """An action as expressions: its guards, and its body as if it were inlined."""
    return [*action.guards, ir.Inline(ir.BOOL, action.at, action.body, None)]


_READINGS = CompileCache()
"""The cache of the graphs of actions and predicates, which are immutable once made."""


def read_action(model: Model, name: str, method: Callable[..., Any]) -> ir.Action:
    """Reads an action of ``model``. Raises ModelError as ``read_program`` does."""
    what = ("action", name, method)
    known: ir.Action | None = _READINGS.find(model, what)
    if known is not None:
        return known
    compiler = ModelCompiler(model)
    made = _action(compiler, name, method)
    _READINGS.keep(what, compiler.inputs, made, compiler.steps)
    return made


def _action(compiler: ModelCompiler, name: str, method: Callable[..., Any]) -> ir.Action:
    model, source = compiler.model, source_of(method)
    compiler.inputs.rests_on(own_source, method)
    compiler.inputs.rests_on(parameters_of, method)
    at = ir.Position(source.file, source.tree.lineno)
    kinds = _with_widths(compiler, source, parameter_types(model, method))
    must_not_assign(source, kinds, "a parameter of the action")
    must_not_assign(source, source.parameters[:1], "the model")
    parameters = [compiler.nodes.fresh(kind, parameter, at) for parameter, kind in kinds.items()]

    def bind(frame: Frame) -> None:
        frame.bindings[source.parameters[0]] = ModelRef("new", writable=True)
        for parameter in parameters:
            frame.bind(parameter)

    _, body, _ = compiler.function_body(source, bind, is_action=True)
    guards, places, rest = _split_guards(body)
    for guard in guards:
        if ir.has_effects(guard):
            message = "a guard must not change the state; call what changes a variable after the require"
            raise ModelError(message, guard.at.file, guard.at.line)
    if any(_is_never_true(guard) for guard in guards):
        rest = []
    if compiler.steps > MIN_STEPS_TO_COUNT:
        _must_not_be_too_large(name, [*guards, ir.Inline(ir.BOOL, at, rest, None)], at)
    return ir.Action(name, parameters, guards, rest, at, places)


def _must_not_be_too_large(name: str, parts: list[ir.Expr], at: ir.Position) -> None:
    size = sum(map(ir.weight, parts))
    if size > MAX_EXPRESSIONS:
        message = f"{name} is {size:,} expressions with all that it calls, more than {MAX_EXPRESSIONS:,}"
        advice = "assign what is used several times to a variable, or make it an action of its own"
        raise ModelError(f"{message}; {advice}", at.file, at.line)


def _with_widths(compiler: ModelCompiler, source: Source, kinds: dict[str, Type]) -> dict[str, Type]:
    """The types of an action's parameters; one without a capacity gets the type of the set from which it is drawn.

    The parameter can then be every element that the guard offers. Raises ModelError for one that no leading guard
    draws: it would range over every value up to a width, and CPython knows no width. A field of a record has the width
    of its class everywhere, so such a type may have its widths already.
    """
    known = {name: kind for name, kind in kinds.items() if not any(growing(kind))}
    for name, kind in kinds.items():
        if name not in known:
            known[name] = _drawn_type(ModelCompiler(compiler.model, compiler.inputs), source, name, kind, known)
    return {name: known[name] for name in kinds}


def _drawn_type(compiler: ModelCompiler, source: Source, name: str, kind: Type, known: Mapping[str, Type]) -> Type:
    guards, _ = leading_guards(source)
    compiler.inputs.rests_on(name_in_file, source.function, "require")
    at = ir.Position(source.file, source.tree.lineno)
    for guard in guards:
        match guard:
            case ast.Compare(left=ast.Name(id=left), ops=[ast.In()], comparators=[domain]) if left == name:
                frame = Frame(source, is_action=True)
                frame.bindings[source.parameters[0]] = ModelRef("new", writable=False)
                for other, its_kind in known.items():
                    frame.bind(compiler.nodes.fresh(its_kind, other, at))
                container = compiler.nodes.unwrapped(compiler.expression(frame, domain)).type
                if isinstance(container, SetType | BagType) and is_at_some_width(kind, container.element):
                    return container.element
    message = f"the parameter {name} has no capacity, so it is drawn from a set or a bag of its type: begin the action "
    raise ModelError(f"{message}with require({name} in self.requests), not a helper", source.file, source.tree.lineno)


def _is_never_true(guard: ir.Expr) -> bool:
    """Whether a model's constants make a guard false: a disabled fault, a network that holds no message."""
    match guard:
        case ir.Const(value=value):
            return not value
        case ir.Contains(container=container):
            return size_bound(container.type) == 0
    return False


def _split_guards(body: list[ir.Stmt]) -> tuple[list[ir.Expr], list[ir.Position], list[ir.Stmt]]:
    """The conjuncts of the leading guards, including those of an inlined ``super()`` call, their positions, and the
    statements after them."""
    guards: list[ir.Expr] = []
    places: list[ir.Position] = []
    rest = list(body)
    while rest:
        match rest[0]:
            case ir.Require(at=at, condition=condition):
                found = conjuncts(condition, at)
                guards += [guard for guard, _ in found]
                places += [place for _, place in found]
                rest = rest[1:]
            case ir.Do(call=ir.Inline(body=inner, result=None)) if not _returns(inner):
                rest = [*inner, *rest[1:]]
            case _:
                break
    return guards, places, rest


def conjuncts(condition: ir.Expr, at: ir.Position) -> list[tuple[ir.Expr, ir.Position]]:
    """The conjuncts of a condition, each with its position; ``at`` is that of the whole."""
    if isinstance(condition, ir.And):
        known = len(condition.places) == len(condition.operands)
        pairs = zip(condition.operands, condition.places if known else [at] * len(condition.operands), strict=True)
        return [part for operand, place in pairs for part in conjuncts(operand, place)]
    return [(condition, at)]


def _returns(body: list[ir.Stmt]) -> bool:
    for statement in body:
        match statement:
            case ir.Return():
                return True
            case ir.If(then=then, otherwise=otherwise):
                if _returns(then) or _returns(otherwise):
                    return True
            case ir.For(body=inner):
                if _returns(inner):
                    return True
    return False


def read_predicate(model: Model, name: str, function: Callable[..., Any], kind: str | None = None) -> ir.Predicate:
    """Reads a property of ``model`` or, with a ``kind``, a boundary. Raises ModelError as ``read_program`` does."""
    kind = kind or kind_of(function) or "invariant"
    what = (kind, name, function)
    known: ir.Predicate | None = _READINGS.find(model, what)
    if known is not None:
        return known
    if kind == REFINES:
        return read_refinement(model, name, function, read_action)
    compiler = ModelCompiler(model, guarded=False)
    made = _read_predicate(compiler, name, function, kind)
    _READINGS.keep(what, compiler.inputs, made, compiler.steps)
    return made


def read_beginning_of(model: Model, name: str, mapping: Callable[..., Any]) -> ir.Predicate:
    """Reads a mapping to another model as a property of initial states. Raises ModelError as ``read_program`` does."""
    return read_refined_beginning(model, name, mapping, read_action)


def read_as_written(model: Model, name: str, function: Callable[..., Any], kind: str) -> ir.Predicate:
    """Reads a property without its premises, so that it is evaluated exactly as in CPython."""
    return _read_predicate(ModelCompiler(model, guarded=False), name, function, kind, with_premises=False)


def _read_predicate(
    compiler: ModelCompiler, name: str, function: Callable[..., Any], kind: str, with_premises: bool = True
) -> ir.Predicate:
    source = source_of(function)
    compiler.inputs.rests_on(own_source, function)
    at = ir.Position(source.file, source.tree.lineno)
    wanted = 2 if kind == "transition" else 1
    given = source.tree.args
    if len(source.parameters) != wanted or given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg:
        takes = "(old, new)" if wanted == 2 else "the model alone"
        raise ModelError(f"{name} is decorated as {kind}, so it takes {takes}", at.file, at.line)
    must_not_assign(source, source.parameters, "the model")

    def bind(frame: Frame) -> None:
        for parameter, which in zip(source.parameters, ("old", "new") if wanted == 2 else ("new",), strict=True):
            frame.bindings[parameter] = ModelRef("old" if which == "old" else "new", writable=False)

    frame, body, goes_on = compiler.function_body(source, bind)
    if frame.result is None or frame.result.type != ir.BOOL:
        raise ModelError(f"{name} has to return a bool", at.file, at.line)
    if goes_on:
        raise ModelError(f"{name} does not return a value on every path", at.file, at.line)
    if compiler.steps > MIN_STEPS_TO_COUNT:
        _must_not_be_too_large(name, [ir.Inline(ir.BOOL, at, body, None)], at)
    predicate = ir.Predicate(name, kind, ir.Const(ir.BOOL, at, True), at)
    if kind in ("boundary", "reachable") or not with_premises:  # these must be true somewhere: no premise can hide them
        predicate.value = ir.Inline(ir.BOOL, at, body, frame.result)
        return predicate
    premises = PremiseMarking(compiler.written)
    match body:
        case [ir.Return(value=ir.Expr() as value)]:
            predicate.value = premises.mark(value)
        case _:
            premises.mark_returns(body)
            predicate.value = ir.Inline(ir.BOOL, at, body, frame.result)
    predicate.premises = premises.found
    return predicate
