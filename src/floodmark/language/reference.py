"""The reference meaning of a model: CPython runs the class as it is.

Every other reader of a model (the native engine, the symbolic one) has to agree with these functions.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from floodmark.language.errors import ActionDisabled, ModelError, SourceError, ValueOutOfRange, user_position
from floodmark.language.members import REFINES, abstract_steps, kind_of
from floodmark.language.model import Model, State, grows, images_of, mapped_from
from floodmark.language.source import leading_guards, names_in, source_of
from floodmark.language.types import Type, growing
from floodmark.language.universe import universe
from floodmark.language.values import admit, running

MAX_PARAMETER_VALUES = 4096


@dataclass(frozen=True)
class Step:
    """One action with the arguments that it was taken with; prints as ``leader_fails(successor=b2)``."""

    action: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.action}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


def parameter_types(model: Model, function: Callable[..., Any]) -> dict[str, Type]:
    """The finite type of each parameter of an action, by name. Raises ModelError for one without a type."""
    known = model._parameters  # asked at every step: a model's types stay the same, and so do a function's parameters
    if function not in known:
        known[function] = _parameter_types(model, function)
    return dict(known[function])


def _parameter_types(model: Model, function: Callable[..., Any]) -> dict[str, Type]:
    source = source_of(function)
    given = source.tree.args
    if not given.args or given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults:
        message = f"{source.tree.name} takes self and the parameters that are chosen: no defaults, no *, no **, no /"
        raise ModelError(message, source.file, source.tree.lineno)
    kinds = {}
    for argument in given.args[1:]:
        if argument.annotation is None:
            raise ModelError(f"the parameter {argument.arg} needs a type", source.file, argument.lineno)
        try:
            given_type = function.__annotations__[argument.arg]
            annotation = model.evaluate_annotation(given_type, _owner(model, function), function.__globals__)
            kinds[argument.arg] = model.declared_type(annotation)
        except ModelError as error:
            if error.file is not None:
                raise
            raise ModelError(f"parameter {argument.arg}: {error.message}", source.file, argument.lineno) from None
    return kinds


def _owner(model: Model, function: Callable[..., Any]) -> type:
    for base in type(model).__mro__:
        if any(value is function for value in vars(base).values()):
            return base
    return type(model)


def initial_states(model: Model) -> Iterator[tuple[Step, State]]:
    """Every initial state, with the step that sets it."""
    methods = type(model).methods("initial")
    if not methods:
        model.reset()
        yield Step("initial"), model.snapshot()
    for name, method in methods.items():
        for arguments in _bindings(model, method, reset=True):
            with _located(), running(model):
                model.reset()
                try:
                    _run(method, model, arguments)
                except ActionDisabled:
                    continue
                yield Step(name, arguments), model.snapshot()


def successors(model: Model, state: State) -> Iterator[tuple[Step, State]]:
    """Every enabled action instance in ``state``, with the state that it leads to.

    Raises SourceError, with its ``step`` set, when an action leaves the declared types.
    """
    for name, method in type(model).methods("action").items():
        model.load(state)
        for arguments in _bindings(model, method):
            step = Step(name, arguments)
            try:
                after = fire(model, state, step)
            except SourceError as error:
                error.step = step
                raise
            if after is not None:
                yield step, after


def _run(method: Callable[..., Any], model: Model, arguments: dict[str, Any]) -> None:
    """Takes an action. One that returns something, above all a generator, may not have run at all."""
    if method(model, **arguments) is not None:
        code = method.__code__
        message = f"{method.__name__} returns a value; an action only changes the model's variables"
        raise ModelError(message, code.co_filename, code.co_firstlineno)


def choices(
    model: Model,
    state: State,
    name: str,
    given: Mapping[str, Any] | None = None,
    fits: Mapping[str, Callable[[Any], bool]] | None = None,
) -> list[Step]:
    """The instances of an action that its leading guards do not rule out at once in ``state``, with the ``given``
    arguments, and others that fit."""
    model.load(state)
    method = type(model).methods("action")[name]
    return [Step(name, arguments) for arguments in _bindings(model, method, False, given or {}, fits or {})]


def fire(model: Model, state: State, step: Step) -> State | None:
    """The state after ``step``, or None if the action is not enabled with these arguments.

    Raises SourceError, with file and line in the model, when the action leaves the declared types.
    """
    method = type(model).methods("action")[step.action]
    model.load(state)
    with _located(), running(model):
        try:
            _run(method, model, step.arguments)
        except ActionDisabled:
            return None
        return model.snapshot()


def holds(model: Model, prop: Callable[..., Any], *states: State) -> bool:
    """Whether a property is true in a state, or for a transition property, of the states (old, new).

    For a mapping (``@refines``): whether a step is one of the other model, or an initial state one of its own.
    """
    if kind_of(prop) == REFINES:
        images = [image(model, prop, state) for state in states]
        return begins(images[0]) if len(images) == 1 else bool(takes(images[0], images[1], abstract_steps(prop)))
    with _located(), running(model):
        try:
            found = prop(*(model.at(state) for state in states))
        except ActionDisabled as refused:
            message = "require guards an action; a property returns a bool instead"
            raise ModelError(message, *user_position(refused.__traceback__)) from None
        if not isinstance(found, bool):
            message = f"{prop.__name__} has to return a bool, and this is {found!r}"
            raise ModelError(message, prop.__code__.co_filename, prop.__code__.co_firstlineno)
        return found


@contextmanager
def computing(model: Model, returns: str) -> Iterator[None]:
    """The context for computing a value of a state other than a property; ``returns`` describes the value in error
    messages."""
    with _located(), running(model), _of_runs(model):
        try:
            yield
        except ActionDisabled as refused:
            message = f"require guards an action; {returns} instead"
            raise ModelError(message, *user_position(refused.__traceback__)) from None


_OF_RUNS: list[Model] = []
"""The models of which something is computed besides properties of states and steps."""


@contextmanager
def _of_runs(model: Model) -> Iterator[None]:
    _OF_RUNS.append(model)
    try:
        yield
    finally:
        _OF_RUNS.pop()


def may_ask_actions(model: Model) -> bool:
    """Whether a property may ask here if an action is enabled: a property of runs may only where the model has no
    bounds, as the values of an action's parameters may depend on them without a word of it in the source."""
    return not _OF_RUNS or not any(constant.bound for constant in type(model).constants().values())


# Refinement.

STUTTER = "stutter"
"""The name of a step that changes nothing in the other model; no action has this name."""


class AbstractModel:
    """The model that another one refines, with the constants that a mapping gave it, and what is known of its steps."""

    def __init__(self, model: Model) -> None:
        if grows(model):
            message = f"{type(model).__name__} has a container without a capacity, so nothing can be said to refine it"
            raise ModelError(f"{message}: give it one", *type(model).source_position())
        self.model = model
        self._beginnings: set[State] | None = None
        self._after: dict[State, dict[State, frozenset[str]]] = {}

    def beginnings(self) -> set[State]:
        if self._beginnings is None:
            self._beginnings = {state for _, state in initial_states(self.model)}
        return self._beginnings

    def after(self, state: State) -> dict[State, frozenset[str]]:
        """The states after one step, each with the actions that lead there. Raises SourceError where an action fails.
        """
        known = self._after.get(state)
        if known is None:
            found: dict[State, set[str]] = {}
            for step, then in successors(self.model, state):
                found.setdefault(then, set()).add(step.action)
            known = self._after[state] = {then: frozenset(names) for then, names in found.items()}
        return known


@dataclass(frozen=True)
class Image:
    """The state of the other model to which a mapping leads."""

    abstract: AbstractModel
    state: State

    def at(self) -> Model:
        """The other model in this state."""
        return self.abstract.model.at(self.state)

    def __str__(self) -> str:
        names = self.abstract.model.variable_types
        return ", ".join(f"{name}={value!r}" for name, value in zip(names, self.state, strict=True))


def image(model: Model, mapping: Callable[..., Any], state: State) -> Image:
    """The state of the other model to which a mapping leads. Raises SourceError where there is none."""
    with _located(), running(mapped_from(model)):
        try:
            made = mapping(model.at(state))
        except ActionDisabled as refused:
            message = "require guards an action; a mapping returns a state of the other model instead"
            raise ModelError(message, *user_position(refused.__traceback__)) from None
    wanted = abstract_class(mapping)
    if type(made) is not wanted:
        code = mapping.__code__
        message = f"{mapping.__name__} has to return a {wanted.__name__}, and this is {made!r}"
        raise ModelError(message, code.co_filename, code.co_firstlineno)
    key = (wanted, *made.constant_values.values())
    known = images_of(model)
    if key not in known:
        known[key] = AbstractModel(wanted(**made.constant_values))
    return Image(known[key], made.snapshot())


def abstract_class(mapping: Callable[..., Any]) -> type[Model]:
    """The model that a mapping returns, as its annotation says. Raises ModelError where that is none."""
    source = source_of(mapping)
    line = source.tree.lineno
    if source.tree.returns is None:
        message = f"annotate what {mapping.__name__} returns with the class of the model that is refined"
        raise ModelError(message, source.file, line)
    meant = mapping.__annotations__["return"]
    try:
        meant = eval(meant, dict(mapping.__globals__)) if isinstance(meant, str) else meant
    except Exception as error:
        raise ModelError(f"the annotation {meant} cannot be read: {error}", source.file, line) from None
    if not isinstance(meant, type) or not issubclass(meant, Model) or meant is Model:
        message = f"{mapping.__name__} returns {ast.unparse(source.tree.returns)}, which is not a class of models"
        raise ModelError(message, source.file, line)
    return meant


def begins(first: Image) -> bool:
    """Whether a mapped state is an initial state of the other model."""
    return first.state in first.abstract.beginnings()


def takes(old: Image, new: Image, steps: int) -> frozenset[str]:
    """The actions of the other model that lead from one mapped state to another, in up to so many steps.

    ``STUTTER`` alone where these are the same; nothing where no actions do. All steps are looked at, so that an action
    that fails is an error whatever the others do.
    """
    if old.state == new.state:
        return frozenset({STUTTER})
    reached = {old.state: frozenset[str]()}
    found = frozenset[str]()
    for _ in range(steps):
        further: dict[State, frozenset[str]] = {}
        for state, before in reached.items():
            for then, names in old.abstract.after(state).items():
                further[then] = further.get(then, frozenset()) | before | names
        found |= further.get(new.state, frozenset())
        reached = further
    return found


def within_boundary(model: Model, state: State) -> bool:
    """Whether the search continues from ``state``: every ``@boundary`` predicate is true in it."""
    return all(holds(model, predicate, state) for predicate in type(model).methods("boundary").values())


class _located:  # noqa: N801 - reads as a statement
    """Adds the place in the model's source to whatever a model raises, an end of the program included."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: Any) -> None:
        ours = isinstance(error, Exception | SystemExit) and not isinstance(error, ActionDisabled | GeneratorExit)
        if error is None or not ours:
            return
        file, line = user_position(traceback)
        if isinstance(error, SourceError):
            if error.file is None:
                error.file, error.line = file, line
            return
        message = str(error) if isinstance(error, AssertionError) and str(error) else f"{type(error).__name__}: {error}"
        raise ValueOutOfRange(message, file, line) from error


def _bindings(
    model: Model,
    method: Callable[..., Any],
    reset: bool = False,
    given: Mapping[str, Any] = {},
    fits: Mapping[str, Callable[[Any], bool]] = {},
) -> Iterator[dict[str, Any]]:
    """The choices of an action's parameters that its leading guards do not rule out at once.

    A parameter that a guard draws from a set, as in ``require(request in self.requests)``, takes that set's members;
    the others take every value of their type. A guard that changes the state rules nothing out.
    """
    kinds = parameter_types(model, method)
    guards, _ = leading_guards(source_of(method))
    seen = model if reset else model.at(model.snapshot())  # which no guard can change
    # all of them, before a step changes the state that they look at
    yield from list(_choose(seen, method, kinds, guards, {}, reset, given, fits))


def _choose(
    model: Model,
    method: Callable[..., Any],
    kinds: dict[str, Type],
    guards: list[ast.expr],
    chosen: dict[str, Any],
    reset: bool,
    given: Mapping[str, Any],
    fits: Mapping[str, Callable[[Any], bool]],
) -> Iterator[dict[str, Any]]:
    if len(chosen) == len(kinds):
        yield dict(chosen)
        return
    name = list(kinds)[len(chosen)]
    if name in given:
        drawn: list[Any] | None = [given[name]]
    else:
        drawn = None if reset else _drawn(model, method, kinds, guards, chosen, name, fits)
    if drawn is None:
        unlimited = any(growing(kinds[name]))
        if unlimited or kinds[name].codes > MAX_PARAMETER_VALUES:
            source = source_of(method)
            many = "has no capacity" if unlimited else f"has {kinds[name].codes} possible values"
            raise ModelError(
                f"the parameter {name} {many}; draw it from a set of the state: "
                f"begin the action with require({name} in self.requests), not a helper",
                source.file,
                source.tree.lineno,
            )
        with running(model):
            drawn = list(universe(kinds[name]))
    for value in drawn:
        yield from _choose(model, method, kinds, guards, {**chosen, name: value}, reset, given, fits)


def _drawn(
    model: Model,
    method: Callable[..., Any],
    kinds: dict[str, Type],
    guards: list[ast.expr],
    chosen: dict[str, Any],
    name: str,
    fits: Mapping[str, Callable[[Any], bool]],
) -> list[Any] | None:
    """The members of the set that a guard draws ``name`` from; None if no guard does, or not yet."""
    open_names = set(kinds) - set(chosen)
    names = guard_names(model, method, chosen)
    for guard in guards:
        domain = domain_of(guard, name, open_names)
        if domain is not None:
            members = _evaluate(model, domain, names)
            return None if members is None else _admitted(model, kinds[name], members, fits.get(name))
        if names_in(guard) & open_names:
            return None
        holds_here = _evaluate(model, guard, names)
        if holds_here is None:
            return None
        if not holds_here:
            return []
    return None


def domain_of(guard: ast.expr, name: str, open_names: Set[str] = frozenset()) -> ast.expr | None:
    """The domain from which a guard draws a parameter: ``self.requests`` of ``request in self.requests``. None of
    another guard, and where that depends on parameters that are not chosen yet."""
    match guard:
        case ast.Compare(left=ast.Name(id=left), ops=[ast.In()], comparators=[domain]):
            return domain if left == name and not names_in(domain) & open_names else None
    return None


def guard_names(model: Model, method: Callable[..., Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the names in a guard of an action, for a choice of its parameters."""
    return {**method.__globals__, source_of(method).parameters[0]: model, **chosen}


def every_choice(
    model: Model, kinds: Mapping[str, Type], given: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """Every choice of parameters of these types, whatever guards say, in which some may be ``given``."""
    known = given or {}
    with running(model):
        values = [[known[name]] if name in known else list(universe(kind)) for name, kind in kinds.items()]
    for chosen in itertools.product(*values):
        yield dict(zip(kinds, chosen, strict=True))


def count_choices(kinds: Mapping[str, Type]) -> int:
    """The maximum number of choices of parameters of these types."""
    return math.prod(kind.codes for kind in kinds.values())


def evaluated(expression: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of part of a guard."""
    return eval(_compiled(expression), dict(names))


def _evaluate(model: Model, expression: ast.expr, names: dict[str, Any]) -> Any:
    """The value of part of a guard, or None if it cannot be evaluated apart from the rest of the action."""
    code = _compiled(expression)
    try:
        with running(model):
            return eval(code, names)
    except Exception:
        return None


@functools.lru_cache(maxsize=4096)
def _compiled(expression: ast.expr) -> CodeType:
    """Part of a guard as code; a syntax tree is known by its identity, and is never changed."""
    return compile(ast.Expression(expression), "<guard>", "eval")


def _admitted(
    model: Model, kind: Type, members: Any, fits: Callable[[Any], bool] | None = None
) -> list[Any]:
    admitted: list[Any] = []
    with running(model):  # the members may be those of a class
        for member in members:
            if fits is not None and not fits(member):
                continue
            try:
                value = admit(kind, member, "a parameter")
            except ValueOutOfRange:
                continue
            if value not in admitted:
                admitted.append(value)
    return admitted
