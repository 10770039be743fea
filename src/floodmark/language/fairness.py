"""Fairness: which actions are not postponed forever.

As in TLA+, an action is enabled in a state if it changes that state; a step that changes nothing does not count as
taking it. An action is weakly fair if, once it stays enabled forever, it is taken infinitely often. It is strongly fair
if, whenever it is enabled infinitely often, it is taken infinitely often. The assumption covers the action with any
arguments, or each choice of some parameters, of fields of theirs, or each value of a method, separately.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeVar, overload

from floodmark.language.errors import ModelError

F = TypeVar("F", bound=Callable[..., Any])

_FAIR = "__floodmark_fair__"


@dataclass(frozen=True, slots=True)
class Fairness:
    """The fairness of an action; with ``each``, every choice of the named parameters, fields of parameters or values of
    methods is fair separately."""

    strong: bool = False
    each: tuple[str, ...] = ()

    def __str__(self) -> str:
        how = "strongly fair" if self.strong else "weakly fair"
        return f"{how} for each {' and '.join(self.each)}" if self.each else how


@overload
def fair(function: F, /) -> F: ...
@overload
def fair(*, strong: bool = False, each: str | tuple[str, ...] = ()) -> Callable[[F], F]: ...
def fair(function: Any = None, /, *, strong: bool = False, each: str | tuple[str, ...] = ()) -> Any:
    """Marks an action as fair: it is not postponed forever.

    ``@fair`` is weak fairness, ``@fair(strong=True)`` strong fairness, and ``@fair(each="broker")`` applies to each
    broker separately. ``@fair(each="message.to")`` applies to each receiver: some message to it is not postponed
    forever, whichever that is. ``@fair(each="receiver")`` applies to each value of a method ``receiver``, which takes
    parameters of the action by their names, and is asked before the step. It stands above ``@action``::

        @fair
        @action
        def follower_fetches(self) -> None: ...
    """
    meant = Fairness(strong, (each,) if isinstance(each, str) else tuple(each))
    return _marker("fair", meant) if function is None else _marker("fair", Fairness())(function)


@overload
def unfair(function: F, /) -> F: ...
@overload
def unfair() -> Callable[[F], F]: ...
def unfair(function: Any = None, /) -> Any:
    """Marks an action that may be postponed forever, although a base class declares it fair."""
    return _marker("unfair", None) if function is None else _marker("unfair", None)(function)


def _marker(name: str, fairness: Fairness | None) -> Callable[[F], F]:
    def mark(function: F) -> F:
        if not isinstance(function, FunctionType):
            raise ModelError(f"@{name} stands above an action, and this is a {type(function).__name__}")
        if hasattr(function, _FAIR):
            code = function.__code__
            message = f"{function.__name__} is called fair or unfair twice; say it once"
            raise ModelError(message, code.co_filename, code.co_firstlineno)
        setattr(function, _FAIR, fairness)
        return function

    return mark


def fair_methods(cls: type) -> list[Callable[..., Any]]:
    """The methods of a model for each value of which an action is declared fair separately."""
    names = [name for fairness in declared_fairness(cls).values() for name in fairness.each]
    return [method for name in names if isinstance(method := getattr(cls, name, None), FunctionType)]


def declared_fairness(cls: type) -> dict[str, Fairness]:
    """The fair actions of a model, in the order in which their names are first defined.

    An override without its own decorator is as fair as what it overrides. Raises ModelError if something other than an
    action is declared fair.
    """
    found: dict[str, Fairness] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if not isinstance(value, FunctionType) or not hasattr(value, _FAIR):
                continue
            if name not in cls.methods("action"):  # type: ignore[attr-defined]
                message = f"{name} is no action, and only actions are fair; write @action below @fair"
                raise ModelError(message, value.__code__.co_filename, value.__code__.co_firstlineno)
            fairness: Fairness | None = getattr(value, _FAIR)
            if fairness is None:
                found.pop(name, None)
            else:
                found[name] = fairness
    return found
