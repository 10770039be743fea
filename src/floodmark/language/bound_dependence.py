"""Decides whether a run is the same at every larger bound: CPython takes its steps with partially known bounds.

A bound is then a number of which only a lower limit is known, and a map that is keyed up to one has unknown entries
(``floodmark.language.partial_values``). If an operation still has one outcome, it has this outcome at all larger
bounds; every other operation raises ``BoundDependence``. The way in which a step uses a bound is therefore irrelevant.
One expression is evaluated specially, because nearly every model has it: ``Map({key: value for key in range(self.bound
+ 1)})``, whose first entries are the same at all larger bounds.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import CodeType, FunctionType
from typing import Any

from floodmark.language.bounding import _is_languages, bounds_of, keys_of, larger_models
from floodmark.language.conditions import Condition
from floodmark.language.errors import ActionDisabled
from floodmark.language.model import Model, State
from floodmark.language.partial_values import BoundDependence, Interval, OpenMap, closed
from floodmark.language.reference import Step
from floodmark.language.source import rewritten, source_of
from floodmark.language.types import MapType, OptionalType, RecordType, SeqType, Type
from floodmark.language.values import Map, Seq, running

_Trees = Mapping[FunctionType, ast.FunctionDef]


class UnboundedModel:
    """A model whose bounds are known only from below."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.larger = larger_models(model)
        bounds = bounds_of(type(model))
        constants = model.constant_values.items()
        self._constants: dict[str, Any] = {name: Interval(it) if name in bounds else it for name, it in constants}
        self._making = _making_maps(type(model), bounds)
        initial = type(model).methods("initial").values()
        self._later = {function: tree for function, tree in self._making.items() if function not in initial}

    def begins(self, step: Step) -> State:
        """The initial state of a step. Raises BoundDependence."""
        model = self._model_at(())
        method = type(model).methods("initial").get(step.action)

        def begin() -> State:
            model.reset()
            if method is not None:
                method(model, **step.arguments)
            return _closed(model)

        try:
            begun: State = self._evaluate(model, begin, self._making)
            return begun
        except ActionDisabled:
            raise BoundDependence from None

    def after(self, state: State, step: Step) -> State | None:
        """The successor by a step; None if the step is disabled. Raises BoundDependence."""
        model = self._model_at(state)
        method = type(model).methods("action")[step.action]

        def take() -> State:
            method(model, **step.arguments)
            return _closed(model)

        try:
            taken: State = self._evaluate(model, take, self._later)
            return taken
        except ActionDisabled:
            return None

    def holds(self, condition: Condition, state: State) -> bool:
        """Whether a condition holds in a state. Raises BoundDependence."""
        model = self._model_at(state)
        model._frozen = True
        found = self._evaluate(model, lambda: condition.function(model, **condition.arguments), self._later)
        if condition.part is not None and type(found) is tuple:
            found = found[condition.part]
        if type(found) is not bool:
            raise BoundDependence
        return found

    def _model_at(self, state: State) -> Model:
        model = copy.copy(self.model)
        model._frozen = False
        model._constants = self._constants
        model._values = {name: self._opened(name, it) for name, it in zip(model.variable_types, state, strict=False)}
        vars(model)["_assign"] = functools.partial(self._assign, model)
        return model

    def _assign(self, model: Model, name: str, value: Any) -> None:
        Model._assign(model, name, closed(value))
        model._values[name] = self._opened(name, model._values[name])

    def _opened(self, name: str, value: Any) -> Any:
        if self.larger is None:
            raise BoundDependence
        return _opened(value, self.model.variable_types[name], [it.variable_types[name] for it in self.larger])

    def _evaluate(self, model: Model, ask: Callable[[], Any], trees: _Trees) -> Any:
        """The result of code that runs with partially known bounds; any error in it may be due to them and raises
        BoundDependence."""
        try:
            with _rewritten(trees), running(model):
                return ask()
        except ActionDisabled:
            raise
        except Exception:
            raise BoundDependence from None


def _closed(model: Model) -> State:
    return tuple(map(closed, model.snapshot()))


def _opened(value: Any, kind: Type, larger: list[Type]) -> Any:
    """A value in which the maps with more keys in a larger model are open. Raises BoundDependence for such a map in a
    set."""
    keys = keys_of(kind)
    if all(keys_of(it) == keys for it in larger):
        return value
    match kind:
        case MapType(key, of):
            entries = {each: _opened(it, of, [each.value for each in larger]) for each, it in value._entries.items()}  # type: ignore[attr-defined]
            return Map(entries) if all(each.key == key for each in larger) else OpenMap(entries)  # type: ignore[attr-defined]
        case OptionalType(inner):
            return None if value is None else _opened(value, inner, [it.inner for it in larger])  # type: ignore[attr-defined]
        case RecordType(_, fields):
            there = [dict(it.fields) for it in larger]  # type: ignore[attr-defined]
            held = value._values
            return value.build({name: _opened(held[name], of, [it[name] for it in there]) for name, of in fields})
        case SeqType(element):
            return Seq(_opened(item, element, [it.element for it in larger]) for item in value)  # type: ignore[attr-defined]
    raise BoundDependence


@contextmanager
def _rewritten(trees: _Trees) -> Iterator[None]:
    with ExitStack() as stack:
        for function, tree in trees.items():
            stack.enter_context(rewritten(function, tree))
        yield


def _making_maps(cls: type[Model], bounds: frozenset[str]) -> dict[FunctionType, ast.FunctionDef]:
    """The methods of a model that make maps keyed up to a bound, rewritten for partially known bounds."""
    members = [value for base in cls.__mro__ for value in vars(base).values()] if bounds else []
    found = {}
    for function in dict.fromkeys(it for it in members if isinstance(it, FunctionType)):
        if "Map" not in _names_read_in(function.__code__):
            continue
        own = {"Map", "range"} & set(_bound_in(function.__code__))
        names = function.__globals__
        if _is_languages(function) or own or names.get("Map") is not Map or names.get("range", range) is not range:
            continue
        writer = _OpenMaps(bounds)
        tree = writer.visit(copy.deepcopy(source_of(function).tree))
        if writer.found:
            found[function] = ast.fix_missing_locations(tree)
    return found


def _names_read_in(code: CodeType) -> Iterator[str]:
    """The names of a module, and of attributes, that code reads, or a function inside it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_read_in(inner)


def _bound_in(code: CodeType) -> Iterator[str]:
    """The names that code, or a function inside it, binds."""
    yield from (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _bound_in(inner)


class _OpenMaps(ast.NodeTransformer):
    """Lets the bound construct the map: ``self.bound.map(lambda key: value, 0, self.bound + 1)``."""

    def __init__(self, bounds: frozenset[str]) -> None:
        self.bounds = bounds
        self.found = False

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Name(id="Map"),
                args=[
                    ast.DictComp(
                        key=ast.Name(id=key),
                        value=value,
                        generators=[
                            ast.comprehension(
                                target=ast.Name(id=target),
                                iter=ast.Call(func=ast.Name(id="range"), args=ends, keywords=[]),
                                ifs=[],
                            )
                        ],
                    )
                ],
                keywords=[],
            ) if key == target:
                named = (each for end in ends for each in ast.walk(end) if isinstance(each, ast.Attribute))
                bound = next((each for each in named if each.attr in self.bounds), None)
                if bound is None:
                    return node
                self.found = True
                given = ast.arguments(
                    posonlyargs=[], args=[ast.arg(key)], kwonlyargs=[], kw_defaults=[], defaults=[]
                )
                make = ast.Attribute(copy.deepcopy(bound), "map", ast.Load())
                return ast.copy_location(ast.Call(make, [ast.Lambda(given, value), *ends], []), node)
        return node
