"""The members of a model: constants, state variables, and what its methods are decorated as."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from floodmark.language.bindings import member_place, place
from floodmark.language.errors import ModelError
from floodmark.language.values import located

if TYPE_CHECKING:
    from floodmark.language.model import Model

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", int, bool)

_KIND = "__floodmark__"


def _mark(kind: str) -> Callable[[F], F]:
    def mark(function: F) -> F:
        frame = sys._getframe(1)
        here = frame.f_code.co_filename, frame.f_lineno
        if not isinstance(function, FunctionType):
            what = f"this is a {type(function).__name__}"
            message = f"@{kind} stands above a plain function, and {what}; take the rest away"
            raise ModelError(message, *here)
        known = kind_of(function)
        if known is not None:
            both = f"{function.__name__} is decorated as {known} and as {kind}"
            raise ModelError(f"{both}, and only one of them would count; keep that", *here)
        other = frame.f_locals.get(function.__name__)
        if isinstance(other, FunctionType) and kind_of(other) is not None:
            there = other.__code__.co_filename, other.__code__.co_firstlineno
            if there[0] != here[0]:  # a star import brought it here: the text of this file does not say so
                already = f"{function.__name__} is already defined at {place(*there)}"
                raise ModelError(f"{already}, and this would hide it; rename one", *here)
        setattr(function, _KIND, kind)
        return function

    return mark


initial = _mark("initial")
"""Sets every variable: one initial state for each choice of its parameters."""
action = _mark("action")
"""One atomic step; its parameters are its nondeterminism, ``require`` is its guard."""
rule = _mark("rule")
"""A rule of the protocol that a known-bad design may override."""
boundary = _mark("boundary")
"""A predicate: states outside of it are checked, but neither counted nor expanded."""
invariant = _mark("invariant")
"""A predicate that every reachable state satisfies."""
transition = _mark("transition")
"""A predicate over (old, new) that every step satisfies."""
reachable = _mark("reachable")
"""A predicate that some reachable state satisfies: the guard against a model that cannot do anything."""
lemma = _mark("lemma")
"""A predicate that is true of every reachable state and only helps to prove others by induction."""

MARKS = (initial, action, rule, boundary, invariant, transition, reachable, lemma)
PROPERTY_KINDS = ("invariant", "transition", "reachable")


def kind_of(function: Any) -> str | None:
    """What a function was decorated as: ``"action"``, ``"invariant"`` ..., or None."""
    return getattr(function, _KIND, None)


class Constant(Generic[C]):
    """A size or a switch that a spec sets: ``brokers = Constant(3)``. Without a default the spec must set it."""

    name: str

    def __init__(self, default: C | None = None) -> None:
        self.default: C | None = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = getattr(self, "name", name)

    def __get__(self, instance: Model | None, owner: type) -> C:
        if instance is None:
            return self  # type: ignore[return-value]
        value: C = instance._constants[self.name]  # type: ignore[assignment]
        return value


class Variable:
    """A state variable: reading it gives an immutable value that knows its place, assigning checks the type."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Model | None, owner: type) -> Any:
        if instance is None:
            return self
        if self.name not in instance._values:
            raise ModelError(f"the variable {self.name!r} is read before an @initial method has set it")
        return located(instance._values[self.name], Root(instance, self.name))

    def __set__(self, instance: Model, value: Any) -> None:
        instance._assign(self.name, value)


class Root:
    """The place of a state variable."""

    __slots__ = ("model", "name")

    def __init__(self, model: Model, name: str) -> None:
        self.model = model
        self.name = name

    def get(self) -> Any:
        return self.model._values[self.name]

    def set(self, value: Any) -> None:
        self.model._assign(self.name, value)




def require_one_role(cls: type, language: type) -> None:
    """Raises ModelError when a name is one thing in a class and another in a class that it derives from.

    What overrides something is of the same kind, or it is a plain method, which then counts as what it overrides.
    """
    found: dict[str, tuple[str, type]] = {}
    for base in reversed(cls.__mro__):
        if base is object or base is language:
            continue
        for name, value in vars(base).items():
            if name.startswith("__"):
                continue
            role = role_of(value)
            if isinstance(value, Constant) and value.name != name:
                message = f"{name} and {value.name} are one Constant; write {name} = Constant(...)"
                raise ModelError(message, *member_place(base, name))
            before, owner = found.get(name, (role, base))
            if isinstance(value, FunctionType) and role == _METHOD and before in _KINDS:
                role = before
            elif role != before and not {role, before} <= {_METHOD, "rule"}:
                where = place(*member_place(owner, name))
                message = f"{name} is {_a(role)} here and {_a(before)} at {where}{_INSTEAD.get(before, '; rename one')}"
                raise ModelError(message, *member_place(base, name))
            found[name] = role, base


_METHOD = "method"
_KINDS = ("initial", "action", "rule", "boundary", *PROPERTY_KINDS, "lemma")
_INSTEAD = {
    "variable": "; rename one, or say its type again to give the variable another initial value",
    "constant": "; rename one, or write Constant(...) to give the constant another default",
}


def role_of(value: Any) -> str:
    """What a member is: a variable, a constant, what it is decorated as, a method or just an attribute."""
    match value:
        case Variable():
            return "variable"
        case Constant():
            return "constant"
        case FunctionType() | staticmethod() | classmethod():
            return kind_of(value) or _METHOD
    return "attribute"


def _a(role: str) -> str:
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role}"
