"""Adapters: the actions of a model that an implementation can take, and its observables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, overload

from floodmark.checkers.project.properties import did_you_mean
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.types import Type

F = TypeVar("F", bound=Callable[..., Any])
_OBSERVES = "__floodmark_observes__"


class Adapter:
    """Holds one implementation, created anew for each run, and lets a model drive and observe it.

    A method with the name of one of the model's actions takes that action; its parameters are the action's. A method
    decorated with ``@observable`` returns what the implementation has for the variable (or rule) of the same name.
    Every action needs a method or must be in one of these two collections:

    * ``environment``: only the model takes it. It is a step of another party, and its result reaches the implementation
      as an argument of another action, such as the response to a request.
    * ``unsupported``: it is never taken, because the implementation does not have it.

    Actions in ``eager`` are those that the implementation performs on its own as soon as it can, as part of another
    step. After each step the model takes them as long as they are enabled.

    A run begins by creating the adapter with ``start``, the model in its initial state: read its variables and
    constants.
    """

    environment: ClassVar[Collection[str]] = ()
    unsupported: ClassVar[Collection[str]] = ()
    eager: ClassVar[Sequence[str]] = ()

    def __init__(self, start: Any) -> None:
        """Creates the implementation, in the state of the model ``start``."""

    def close(self) -> None:
        """Called when a run is over, however it ended."""


@overload
def observable(function: F) -> F: ...


@overload
def observable(*, of: Callable[[Any], Any]) -> Callable[[F], F]: ...


def observable(function: F | None = None, *, of: Callable[[Any], Any] | None = None) -> F | Callable[[F], F]:
    """Marks a method of an adapter as an observable; it is compared with the model after every step.

    The method's name is that of a variable or rule of the model, or ``of`` computes the model's value:
    ``@observable(of=lambda model: model.log_end[model.leader])``. The values may be plain Python ones.
    """
    def mark(marked: F) -> F:
        setattr(marked, _OBSERVES, of if of is not None else marked.__name__)
        return marked

    return mark if function is None else mark(function)


@dataclass(frozen=True)
class Observable:
    """One observable; ``kind`` is the type of a variable, None for a value that is computed from several."""

    name: str
    kind: Type | None
    expected: Callable[[Model], Any]


class Contract:
    """An adapter's class, checked against a model. Raises SourceError for members that do not fit."""

    def __init__(self, model: Model, adapter: type[Adapter]) -> None:
        self.model = model
        self.adapter = adapter
        self.actions = type(model).methods("action")
        self.environment = frozenset(self._known(adapter.environment, "environment"))
        self.unsupported = frozenset(self._known(adapter.unsupported, "unsupported"))
        self.eager = tuple(self._known(adapter.eager, "eager"))
        self.driven = self._driven()
        self.taken = self.driven | self.environment
        self.observables = [self._observable(name, of) for name, of in _marked(adapter, _OBSERVES).items()]
        if not self.observables:
            raise self._error("it observes nothing; decorate a method with @observable")

    def _error(self, message: str) -> SourceError:
        try:
            place = inspect.getsourcefile(self.adapter), inspect.getsourcelines(self.adapter)[1]
        except (OSError, TypeError):
            place = None, 0
        return SourceError(f"{self.adapter.__name__}: {message}", *place)

    def _known(self, names: Collection[str], where: str) -> Collection[str]:
        for name in names:
            if name not in self.actions:
                kind = type(self.model).__name__
                raise self._error(f"{kind} has no action {name!r}, named in {where}{did_you_mean(name, self.actions)}")
        return names

    def _driven(self) -> frozenset[str]:
        """The actions that the implementation takes. Each action of the model must be listed exactly once."""
        apart = self.environment | self.unsupported | frozenset(self.eager)
        driven = {name for name in self.actions if callable(getattr(self.adapter, name, None))}
        missing = [name for name in self.actions if name not in driven | apart]
        if missing:
            names = ", ".join(missing)
            raise self._error(
                f"it says nothing about {names}; write a method of that name, or name it in environment, unsupported "
                "or eager"
            )
        twice = sorted((driven & apart) | (self.environment & self.unsupported))
        if twice:
            raise self._error(f"{twice[0]} is listed twice; keep one of method, environment, unsupported, eager")
        for name in driven:
            self._takes(name)
        return frozenset(driven)

    def _takes(self, name: str) -> None:
        wanted = list(inspect.signature(self.actions[name]).parameters)[1:]
        try:
            inspect.signature(getattr(self.adapter, name)).bind(None, **dict.fromkeys(wanted))
        except TypeError:
            raise self._error(f"{name} has to take ({', '.join(['self', *wanted])}), as the action does") from None

    def _observable(self, name: str, of: str | Callable[[Any], Any]) -> Observable:
        kinds = self.model.variable_types
        if callable(of):
            return Observable(name, None, of)
        if of in kinds:
            return Observable(name, kinds[of], lambda model: getattr(model, of))
        found = getattr(type(self.model), of, None)
        if found is None or not inspect.isfunction(found):
            derived = [key for key, _ in _rules(type(self.model))]
            raise self._error(
                f"{type(self.model).__name__} has no variable or rule {of!r}{did_you_mean(of, [*kinds, *derived])}"
            )
        if len(inspect.signature(found).parameters) != 1:
            raise self._error(f"{of} takes arguments; say which: @observable(of=lambda model: model.{of}(...))")
        return Observable(name, None, lambda model: getattr(model, of)())


def _rules(model: type[Model]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The methods of a model that compute something from its state alone."""
    for name, function in inspect.getmembers(model, inspect.isfunction):
        if not hasattr(Model, name) and len(inspect.signature(function).parameters) == 1:
            yield name, function


def _marked(adapter: type[Adapter], mark: str) -> Mapping[str, Any]:
    """The marked methods of a class, in the order of the source, with an override in the place of its base's."""
    found: dict[str, Any] = {}
    for base in reversed(adapter.__mro__):
        for name, value in vars(base).items():
            if hasattr(value, mark) or name in found:
                found[name] = getattr(value, mark, found.get(name))
    return found
