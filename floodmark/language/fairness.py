"""Fairness: which actions are not put off for ever.

As in TLA+, an action is enabled where it changes the state, and a step that changes nothing is no step of it. Weakly
fair: enabled from some point on for ever, it is taken again and again. Strongly fair: enabled again and again, it is
taken again and again. Either is said of the action with any arguments, or of each choice of some parameters apart.
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
    """What is assumed of an action; ``each`` names the parameters of which every choice is fair by itself."""

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
    """An action that is weakly fair, or strongly: ``@fair(strong=True)``; for each broker: ``@fair(each="broker")``."""
    meant = Fairness(strong, (each,) if isinstance(each, str) else tuple(each))
    return _marker("fair", meant) if function is None else _marker("fair", Fairness())(function)


def unfair(function: F, /) -> F:
    """An action that may be put off for ever, though the model that it derives from calls it fair."""
    return _marker("unfair", None)(function)


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


def declared_fairness(cls: type) -> dict[str, Fairness]:
    """The fair actions of a model, in the order of their names' first definition.

    An override without a decorator of its own is as fair as what it overrides. Raises ModelError when what is called
    fair is no action.
    """
    found: dict[str, Fairness] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if not isinstance(value, FunctionType) or not hasattr(value, _FAIR):
                continue
            if name not in cls.methods("action"):  # type: ignore[attr-defined]
                message = f"{name} is no action, and only actions are fair"
                raise ModelError(message, value.__code__.co_filename, value.__code__.co_firstlineno)
            fairness: Fairness | None = getattr(value, _FAIR)
            if fairness is None:
                found.pop(name, None)
            else:
                found[name] = fairness
    return found
