"""The guards of an action that only keep the state space finite: those that mention a ``Constant(..., bound=True)``.

With a larger bound, a step that such a guard disables might be taken. A run that ends or loops because of the guard
therefore says nothing about the protocol. The names in a guard's text, and in that of every method and function that it
may call, determine the bounds that it mentions; this over-approximates. From that follow, for each action,

- the guards that are left when bounds are forgotten: where these are true, and the action does nothing or is disabled,
  it may be enabled beyond the bounds (``UnboundedAction``);
- whether its effect mentions a bound: such a step may lead elsewhere beyond it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from floodmark.language.errors import ModelError
from floodmark.language.model import Model
from floodmark.language.reference import parameter_types
from floodmark.language.source import is_require, leading_guards, names_in, rewritten, source_of
from floodmark.language.types import (
    BagType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    parts_of,
)
from floodmark.language.values import Identifier, Map, Record, Seq

_LANGUAGE = str(Path(__file__).parent)


@dataclass(frozen=True)
class UnboundedAction:
    """One action in the model without bounds.

    ``ruled_out_by`` are the bounds that may keep it from being enabled, or from changing the state; ``guards`` are the
    conditions that remain without them; ``steered_by`` are the bounds on which its effect depends. If only leading
    guards mention bounds, the last of ``guards`` says that one of those is false. ``ruling`` are the leading guards
    that mention bounds, ``loose`` the parameters that have more values beyond them.
    """

    method: Callable[..., Any]
    guards: tuple[ast.expr, ...]
    ruled_out_by: frozenset[str]
    steered_by: frozenset[str]
    loose: frozenset[str] = frozenset()

    @contextmanager
    def forgotten(self) -> Iterator[None]:
        """Inside the block, the action is enabled wherever it may be beyond the bounds, and does nothing."""
        source = source_of(self.method)
        body: list[ast.stmt] = [_require(guard) for guard in self.guards]
        tree = copy.copy(source.tree)
        tree.body = body or [ast.copy_location(ast.Pass(), source.tree)]
        with rewritten(self.method, ast.fix_missing_locations(tree)):
            yield


def _require(guard: ast.expr) -> ast.stmt:
    call = ast.Call(ast.Name("require", ast.Load()), [guard], [])
    return ast.fix_missing_locations(ast.copy_location(ast.Expr(ast.copy_location(call, guard)), guard))


def _none_of(guards: list[ast.expr]) -> ast.expr:
    """The condition that not all of some guards are true."""
    whole = guards[0] if len(guards) == 1 else ast.BoolOp(ast.And(), guards)
    place = guards[0]
    return ast.copy_location(ast.UnaryOp(ast.Not(), ast.copy_location(whole, place)), place)


def bounds_of(cls: type[Model]) -> frozenset[str]:
    """The constants of a model that are bounds."""
    return frozenset(name for name, constant in cls.constants().items() if constant.bound)


def beyond_bounds(model: Model) -> dict[str, UnboundedAction]:
    """The actions of a model that its bounds affect."""
    bounds = bounds_of(type(model))
    if not bounds:
        return {}
    reader = _BoundFinder(model, bounds)
    found = {name: reader.action(method) for name, method in type(model).methods("action").items()}
    return {name: beyond for name, beyond in found.items() if beyond.ruled_out_by or beyond.steered_by}


def mentioned_bounds(model: Model, function: Callable[..., Any]) -> frozenset[str]:
    """The bounds that a function of a model mentions, directly or in functions that it may call."""
    bounds = bounds_of(type(model))
    return _BoundFinder(model, bounds).mentioned(function, source_of(function).body) if bounds else bounds


def larger_models(model: Model) -> list[Model] | None:
    """The models with one bound one larger, for each bound, and with all; None if one of them is invalid.

    Types mention bounds in sums alone, so a type that these share with the model is shared by all larger ones.
    """
    bounds = bounds_of(type(model))
    constants = model.constant_values
    try:
        return [
            type(model)(**{name: value + 1 if name in more else value for name, value in constants.items()})
            for more in dict.fromkeys([*(frozenset({bound}) for bound in sorted(bounds)), bounds])
        ]
    except ModelError:
        return None


def widens(here: Type, there: Type) -> bool:
    """Whether a larger model's type has all values of a type."""
    match here, there:
        case IntType(low, high), IntType(least, most):
            return least <= low and high <= most
        case (OptionalType(inner), OptionalType(other)) | (SetType(inner, None), SetType(other, None)):
            return widens(inner, other)
        case (SetType(inner, int() as few), SetType(other, int() as many)) | (
            SeqType(inner, few), SeqType(other, many)
        ) | (BagType(inner, few), BagType(other, many)):
            return few <= many and widens(inner, other)
        case MapType(key, value), MapType(other, of):
            return key == other and widens(value, of)
        case RecordType(_, fields), RecordType(_, others):
            return all(widens(one, other) for (_, one), (_, other) in zip(fields, others, strict=True))
    return here == there


def is_within(value: Any, larger: Any) -> bool:
    """Whether a value of a larger model equals this one, except for map entries that exist only with the larger bounds.
    """
    match value, larger:
        case Map(), Map():
            return all(key in larger and is_within(item, larger[key]) for key, item in value.items())
        case Record(), Record():
            own, others = value._values, larger._values
            return type(value) is type(larger) and all(is_within(item, others[name]) for name, item in own.items())
        case (Seq(), Seq()) | (tuple(), tuple()):
            return len(value) == len(larger) and all(map(is_within, value, larger))
    return bool(value == larger)


class _BoundFinder:
    """Finds the bounds that a piece of source mentions."""

    def __init__(self, model: Model, bounds: frozenset[str]) -> None:
        self.model = model
        self.bounds = bounds
        self.larger = {bound: _with_larger(model, bound) for bound in bounds}
        self.methods: dict[str, list[Callable[..., Any]]] = {}
        for cls in (*type(model).__mro__, *_classes(model)):
            for name, value in vars(cls).items():
                plain = value.__func__ if isinstance(value, staticmethod | classmethod) else value
                plain = plain.fget if isinstance(plain, property) else plain
                if isinstance(plain, FunctionType) and not _is_languages(plain):
                    self.methods.setdefault(name, []).append(plain)
        self.shaped = self._shaped_variables()
        self._known: dict[Callable[..., Any], tuple[frozenset[str], frozenset[Callable[..., Any]]]] = {}

    def _shaped_variables(self) -> dict[str, frozenset[str]]:
        """The variables with more entries at a larger bound, each with those bounds: reading one mentions the bound."""
        found: dict[str, set[str]] = {}
        for bound, larger in self.larger.items():
            for name, kind in self.model.variable_types.items():
                there = None if larger is None else larger.variable_types[name]
                if there is None or keys_of(there) != keys_of(kind):
                    found.setdefault(name, set()).add(bound)
        return {name: frozenset(bounds) for name, bounds in found.items()}

    def action(self, method: Callable[..., Any]) -> UnboundedAction:
        source = source_of(method)
        conditions, count = leading_guards(source)
        rest = source.body[count:]
        loose = self._loose_parameters(method)
        for condition in conditions:
            loose = {name: found for name, found in loose.items() if not self._draws(method, condition, name, loose)}
        later = self.mentioned(method, rest) | frozenset(bound for found in loose.values() for bound in found)
        kept, ruling, ruled_out = [], [], later
        for condition in conditions:
            bounds = self.mentioned(method, [condition])
            if bounds or names_in(condition) & loose.keys():
                ruled_out |= bounds
                ruling.append(condition)
            else:
                kept.append(condition)
        if ruling and not later:
            kept.append(_none_of(ruling))
        effects = [statement for statement in rest if not is_require(statement)]
        steered_by = self.mentioned(method, effects)
        return UnboundedAction(method, tuple(kept), ruled_out, steered_by, frozenset(loose))

    def _loose_parameters(self, method: Callable[..., Any]) -> dict[str, frozenset[str]]:
        """The parameters with possibly more values at a larger bound, each with those bounds."""
        here = parameter_types(self.model, method)
        found: dict[str, set[str]] = {}
        for bound, larger in self.larger.items():
            there = {} if larger is None else parameter_types(larger, method)
            for name, kind in here.items():
                if there.get(name) != kind:
                    found.setdefault(name, set()).add(bound)
        return {name: frozenset(bounds) for name, bounds in found.items()}

    def _draws(self, method: Callable[..., Any], guard: ast.expr, name: str, loose: Collection[str]) -> bool:
        """Whether a guard draws a parameter from a set in the state: then a larger bound adds no choices."""
        match guard:
            case ast.Compare(left=ast.Name(id=left), ops=[ast.In()], comparators=[domain]) if left == name:
                return not names_in(domain) & set(loose) and not self.mentioned(method, [domain])
        return False

    def mentioned(self, function: Callable[..., Any], nodes: Iterable[ast.AST]) -> frozenset[str]:
        """The bounds that pieces of a function mention, directly or in functions that they may call."""
        found, waiting = self._read(function, nodes)
        seen: set[Callable[..., Any]] = set()
        while waiting:
            callee, *rest = waiting
            waiting = frozenset(rest)
            if callee in seen:
                continue
            seen.add(callee)
            if callee not in self._known:
                self._known[callee] = self._read(callee, source_of(callee).tree.body)
            bounds, callees = self._known[callee]
            found |= bounds
            waiting |= callees - seen
        return found

    def _read(
        self, function: Callable[..., Any], nodes: Iterable[ast.AST]
    ) -> tuple[frozenset[str], frozenset[Callable[..., Any]]]:
        """The bounds that pieces of a function mention in themselves, and the functions that they may call."""
        names = {**getattr(function, "__globals__", {}), **_closure(function)}
        bounds: set[str] = set()
        callees: set[Callable[..., Any]] = set()
        values: list[Any] = []
        for part in (part for node in nodes for part in ast.walk(node)):
            match part:
                case ast.Attribute(attr=name):
                    bounds |= self.bounds & {name}
                    bounds |= self.shaped.get(name, frozenset())
                    callees.update(self.methods.get(name, ()))
                    values.append(_static(part, names))
                case ast.Name(id=name):
                    values.append(names.get(name))
        callees.update(it for it in values if isinstance(it, FunctionType) and not _is_languages(it))
        return frozenset(bounds), frozenset(callees)


def _with_larger(model: Model, bound: str) -> Model | None:
    """The model with one bound one larger; None if that is invalid.

    Raises ModelError for a constant that cannot be a bound.
    """
    constants = model.constant_values
    if isinstance(constants[bound], bool):
        message = f"{bound} is a switch, and a bound is a number; leave out bound=True"
        raise ModelError(message, *type(model).source_position())
    try:
        larger = type(model)(**{**constants, bound: constants[bound] + 1})
    except ModelError:
        return None
    for name, cls in model._classes.items():
        if issubclass(cls, Identifier) and model.identifier_count(cls) != larger.identifier_count(cls):
            message = f"{bound} counts the identifiers of {name}, so it is no bound on runs; leave out bound=True"
            raise ModelError(message, *type(model).source_position())
    return larger


def keys_of(kind: Type) -> list[Type]:
    """The types of the keys of all maps in a type, whatever their values are."""
    return [part.key for part in parts_of(kind) if isinstance(part, MapType)]


def _static(node: ast.expr, names: dict[str, Any]) -> Any:
    """The value of a dotted name that begins with a module; None for everything else."""
    match node:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(value=value, attr=name):
            owner = _static(value, names)
            return getattr(owner, name, None) if isinstance(owner, ModuleType | type) else None
    return None


def _closure(function: Any) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells if name != "__class__"}


def _classes(model: Model) -> list[type]:
    """The classes whose values a model may hold, and their bases: their methods may be called."""
    found = {base: None for cls in model._classes.values() for base in cls.__mro__ if base is not object}
    return list(found)


def _is_languages(function: FunctionType) -> bool:
    return function.__code__.co_filename.startswith(_LANGUAGE)
