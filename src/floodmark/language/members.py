"""The members of a model: its constants, its state variables, and the decorators of its methods."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload
from weakref import WeakKeyDictionary

from floodmark.language.bindings import member_place, place
from floodmark.language.errors import ModelError
from floodmark.language.fairness import fair, unfair
from floodmark.language.rankings import RANKS, Helper, ranks
from floodmark.language.values import located

if TYPE_CHECKING:
    from floodmark.language.model import Model

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", int, bool)

_KIND = "__floodmark__"
_STEPS = "__floodmark_steps__"
REFINES = "refines"


class Mark(Protocol):
    """A decorator that says what a method is; it may have empty brackets."""

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self) -> Callable[[F], F]: ...


def _mark(kind: str) -> Mark:
    def mark(function: Any = None, /) -> Any:
        if function is None:
            return lambda function: _marked(kind, function, sys._getframe(1))
        return _marked(kind, function, sys._getframe(1))

    return mark


def _marked(kind: str, function: F, frame: FrameType) -> F:
    here = frame.f_code.co_filename, frame.f_lineno
    if not isinstance(function, FunctionType):
        what = f"this is a {type(function).__name__}"
        message = f"@{kind} belongs directly on a plain function, but {what}; remove the other decorator"
        raise ModelError(message, *here)
    known = kind_of(function)
    if known is not None:
        both = f"{function.__name__} is decorated as {known} and as {kind}"
        raise ModelError(f"{both}, and only one of them would count; keep one", *here)
    other = frame.f_locals.get(function.__name__)
    if isinstance(other, FunctionType) and kind_of(other) is not None:
        there = other.__code__.co_filename, other.__code__.co_firstlineno
        if there[0] != here[0]:  # a star import brought it here: the text of this file does not say so
            already = f"{function.__name__} is already defined at {place(*there)}"
            raise ModelError(f"{already}, and this would hide it; rename one", *here)
    setattr(function, _KIND, kind)
    return function


initial = _mark("initial")
"""Marks the method that sets every variable; there is one initial state for each choice of its parameters.

    @initial
    def start(self, leader: Broker) -> None:
        self.leader = leader

A variable that it does not set keeps the value that the class body gives.
"""
action = _mark("action")
"""Marks one atomic step. It is tried with every value of its parameters; ``require`` is its guard.

    @action
    def leader_fails(self, successor: Broker) -> None:
        require(successor in self.isr)
        self.leader = successor

What it does not assign stays as it is. It returns nothing.
"""
rule = _mark("rule")
"""Marks a rule of the protocol: a small method that a known-bad design overrides.

    @rule
    def may_lead(self, broker: Broker) -> bool:
        return broker in self.isr

The override needs no decorator.
"""
boundary = _mark("boundary")
"""Marks a predicate that bounds the search: states where it is false are checked, but neither counted nor expanded.

    @boundary
    def within_bounds(self) -> bool:
        return self.version <= self.max_version

If there are several, a state has to be within all of them.
"""
invariant = _mark("invariant")
"""Marks a predicate that must be true in every reachable state: a method, or a function of a model in a file of its
own.

    @invariant
    def leader_is_in_isr(model: PartitionIsr) -> bool:
        return model.leader in model.isr

A function applies to the model that its parameter names and to every model derived from it.
"""
transition = _mark("transition")
"""Marks a predicate over the states before and after a step that must be true of every step.

    @transition
    def epochs_never_decrease(old: PartitionIsr, new: PartitionIsr) -> bool:
        return new.leader_epoch >= old.leader_epoch

As a method it takes ``self``, the state before, and ``new``.
"""
reachable = _mark("reachable")
"""Marks a predicate that must be true in some reachable state: it guards against a model that can do nothing.

    @reachable
    def nobody_leads(model: PartitionIsr) -> bool:
        return model.leader is None

A complete search that finds no such state is a violation.
"""
lemma = _mark("lemma")
"""Marks a predicate that is true in every reachable state, and serves only to prove others by induction."""


def ranking(*of: str, helped_by: str | Helper | Sequence[str | Helper] = ()) -> Callable[[F], F]:
    """Marks a natural number that falls until the goals of properties of runs are reached; serves only to prove them.

        @ranking("queue_empties", helped_by="serve")
        def waiting(model: Queue) -> int:
            return len(model.waiting)

    Fair actions may help: a step that does not take the helpers need not make the number fall while one of them is
    enabled. Several rankings of a property are levels, the first of which counts most.
    """

    def mark(function: F) -> F:
        marked = _marked("ranking", function, sys._getframe(1))
        setattr(marked, RANKS, ranks(of, helped_by))
        return marked

    return mark


eventually = _mark("eventually")
"""Marks a predicate that in every fair run is true at least once.

    @eventually
    def everybody_decides(self) -> bool:
        return all(state != Manager.WORKING for state in self.states.values())

The function of a property of runs may take parameters behind the model; it has to hold for each choice of them.
"""
always_eventually = _mark("always_eventually")
"""Marks a predicate that in every fair run is true again and again, without end."""
leads_to = _mark("leads_to")
"""Marks a premise and a goal, returned as a pair: in every fair run, once the premise is true, the goal is then or
later.

    @leads_to
    def who_waits_enters(self, process: Process) -> tuple[bool, bool]:
        return self.waits[process], self.critical == process
"""
eventually_always = _mark("eventually_always")
"""Marks a predicate that in every fair run is true from some point on forever."""
recoverable = _mark("recoverable")
"""Marks a predicate that can still become true from every reachable state, be it fair to get there or not."""

MAX_ABSTRACT_STEPS = 3


@overload
def refines(function: F, /) -> F: ...
@overload
def refines(*, steps: int = 1) -> Callable[[F], F]: ...
def refines(function: Any = None, /, *, steps: int = 1) -> Any:
    """Marks a mapping to the states of another model, of which every step of this one has to be a step.

        @refines
        def as_log(self) -> CommittedLog:
            return CommittedLog(voters=self.voters, committed=self.log[: self.high_watermark])

    The mapping gives the other model's constants and each of its variables. Initial states have to map to its initial
    states. A step has to leave the mapped state as it is (a stutter), or to be one of its actions; with ``steps=2``, up
    to two of them in a row. The other model's boundaries and properties of states do not matter here, its fairness and
    properties of runs only where a spec asks for them (``[refines]``).
    """
    if function is None:
        return lambda function: _refinement(function, steps, sys._getframe(1))
    return _refinement(function, steps, sys._getframe(1))


def _refinement(function: F, steps: int, frame: FrameType) -> F:
    if type(steps) is not int or not 1 <= steps <= MAX_ABSTRACT_STEPS:
        message = f"@refines(steps={steps!r}): a step is 1 to {MAX_ABSTRACT_STEPS} steps of the other model"
        raise ModelError(message, frame.f_code.co_filename, frame.f_lineno)
    marked = _marked(REFINES, function, frame)
    setattr(marked, _STEPS, steps)
    return marked


def abstract_steps(mapping: Callable[..., Any]) -> int:
    """The maximum number of steps of the other model that one step may be."""
    steps: int = getattr(mapping, _STEPS, 1)
    return steps


MARKS = (
    initial, action, rule, boundary, invariant, transition, reachable, lemma, refines,
    eventually, always_eventually, leads_to, eventually_always, recoverable, ranking, fair, unfair,
)  # fmt: skip
PROPERTY_KINDS = ("invariant", "transition", "reachable", REFINES)
LIVENESS_KINDS = ("eventually", "always_eventually", "leads_to", "eventually_always", "recoverable")
"""Properties of runs."""


def kind_of(function: Any) -> str | None:
    """The kind by which a function is decorated: ``"action"``, ``"invariant"`` and so on, or None."""
    return getattr(function, _KIND, None)


class Constant(Generic[C]):
    """A size or a switch of a model, an ``int`` or a ``bool``, that a spec may set under ``[constants]``.

        brokers = Constant(3)       # a default
        restarts = Constant()       # no default: every spec must set it

    In a method, ``self.brokers`` is its value; in a type it is named by a string: ``Between(0, "brokers")``.

    A ``bound`` is not part of the protocol: ``max_epoch = Constant(3, bound=True)`` only keeps the search finite, and a
    run that ends because of it decides no property of runs.
    """

    name: str

    def __init__(self, default: C | None = None, *, bound: bool = False) -> None:
        self.default: C | None = default
        self.bound = bound

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = getattr(self, "name", name)

    def __get__(self, instance: Model | None, owner: type) -> C:
        if instance is None:
            return self  # type: ignore[return-value]
        value: C = instance._constants[self.name]  # type: ignore[assignment]
        return value


class Variable:
    """A state variable. Reading it gives an immutable value that knows where it came from; assigning checks the
    type.
    """

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


_ROLES: WeakKeyDictionary[type, dict[str, str]] = WeakKeyDictionary()
"""The role of each name in a class that was read; such a class cannot change."""


def require_one_role(cls: type, language: type) -> None:
    """Raises ModelError if a name is one kind of member in a class and another kind in one of its bases.

    A method that overrides another member is of the same kind, or is a plain method and then counts as what it
    overrides.
    """
    known = _ROLES.get(cls.__base__) if cls.__base__ is not None and cls.__mro__[1:] == cls.__base__.__mro__ else None
    found = {} if known is None else known.copy()
    order = [base for base in reversed(cls.__mro__) if base is not object and base is not language]
    for base in order if known is None else (cls,):
        for name, value in vars(base).items():
            if name.startswith("__"):
                continue
            role = role_of(value)
            if isinstance(value, Constant) and value.name != name:
                message = f"{name} and {value.name} are the same Constant; write {name} = Constant(...)"
                raise ModelError(message, *member_place(base, name))
            before = found.get(name, role)
            if isinstance(value, FunctionType) and role == _METHOD and before in _KINDS:
                role = before
            elif role != before and not {role, before} <= {_METHOD, "rule"}:
                owner = [each for each in order[: order.index(base)] if name in vars(each)][-1]
                where = place(*member_place(owner, name))
                message = f"{name} is {_a(role)} here and {_a(before)} at {where}{_INSTEAD.get(before, '; rename one')}"
                raise ModelError(message, *member_place(base, name))
            found[name] = role
    _ROLES[cls] = found


_METHOD = "method"
_KINDS = ("initial", "action", "rule", "boundary", *PROPERTY_KINDS, *LIVENESS_KINDS, "lemma", "ranking")
_INSTEAD = {
    "variable": "; rename one, or repeat its type to give the variable another initial value",
    "constant": "; rename one, or write Constant(...) to give the constant another default",
}


def role_of(value: Any) -> str:
    """The kind of a member: a variable, a constant, what it is decorated as, a method, or just an attribute."""
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
