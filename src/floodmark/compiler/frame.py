"""One function during lowering: its names, its locals and their possible values."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from floodmark.compiler.ir import INT, Expr, Local, Position, Which
from floodmark.compiler.joins import either, fits
from floodmark.compiler.plain_containers import NONE, Forms
from floodmark.language.errors import ModelError
from floodmark.language.source import Source, names_assigned
from floodmark.language.types import IntType, OptionalType, Type

WIDENINGS = 4
"""The number of widenings after which an integer variable has the type of all integers."""
MAX_WIDENINGS = 100
"""The maximum number of widenings: a list to which each round of a loop adds grows with each reading of the loop."""


@dataclass(frozen=True, slots=True)
class StaticObject:
    """A Python object that is known at compile time: a class, a function, a module."""

    value: Any


@dataclass(frozen=True, slots=True)
class ModelRef:
    """``self`` of an action or the model parameter of a property."""

    which: Which
    writable: bool


Binding = Expr | StaticObject | ModelRef


@dataclass(slots=True)
class LocalTypes:
    """The known properties of each local variable of a function: its type, and the plain containers in its values.

    Both grow until reading the source changes nothing more.
    """

    types: dict[str, Type] = field(default_factory=dict)
    widened: dict[str, int] = field(default_factory=dict)
    plain: dict[str, Forms] = field(default_factory=dict)
    carried: set[str] = field(default_factory=set)
    changed: bool = False

    def hold(self, name: str, forms: Forms) -> None:
        """Records that a variable may have a value with these plain containers."""
        known = self.plain.get(name, NONE)
        self.plain[name] = known | forms
        self.changed |= name in self.carried and not forms <= known

    def at_the_beginning_of_a_round(self, name: str) -> Forms:
        """The forms of the variable's value at the beginning of a round, where another round may have assigned it."""
        self.carried.add(name)
        return self.plain.get(name, NONE)

    def admit(self, name: str, kind: Type, at: Position) -> Type:
        """Extends the variable's type by ``kind``; returns the result."""
        known = self.types.get(name)
        if known is None:
            self.types[name] = kind
            return kind
        if fits(kind, known):
            return known
        wider = either(known, kind)
        if wider is None:
            raise ModelError(f"{name} is {known} here and {kind} there; use two variables", at.file, at.line)
        self.widened[name] = self.widened.get(name, 0) + 1
        if self.widened[name] > WIDENINGS:
            wider = _unbounded(wider)
        if self.widened[name] > MAX_WIDENINGS:
            message = f"{name} grows each time it is assigned; build it in one comprehension: Seq(... for x in ...)"
            raise ModelError(message, at.file, at.line)
        self.types[name] = wider
        self.changed = True
        return wider


def _unbounded(kind: Type) -> Type:
    """The type with every integer range replaced by all integers, also within an option; other types are unchanged."""
    match kind:
        case IntType():
            return INT
        case OptionalType(inner=IntType()):
            return OptionalType(INT)
    return kind


def must_not_assign(source: Source, parameters: Iterable[str], meaning: str) -> None:
    """Refuses a function that assigns a parameter which is not a variable."""
    for name in names_assigned(source.body):
        if name.id in parameters:
            raise ModelError(f"{name.id} is {meaning}; assign to another variable", source.file, name.lineno)


@dataclass(slots=True)
class Frame:
    """The names of one function while its body is lowered."""

    source: Source
    bindings: dict[str, Binding] = field(default_factory=dict)
    local_types: LocalTypes = field(default_factory=LocalTypes)
    slots: dict[str, int] = field(default_factory=dict)
    definite: set[str] = field(default_factory=set)
    unbound: set[str] = field(default_factory=set)
    """The variables of a comprehension that have no value yet."""
    result: Local | None = None
    returns_value: bool = False
    returns_nothing: bool = False
    is_action: bool = False

    def bind(self, parameter: Local) -> None:
        """Makes a parameter a local variable with an initial value."""
        self.bindings[parameter.name] = parameter
        self.definite.add(parameter.name)
        self.local_types.types[parameter.name] = parameter.type
        self.slots[parameter.name] = parameter.slot

    def at(self, node: ast.AST) -> Position:
        """The position of a syntax tree node in the user's file."""
        line = getattr(node, "lineno", self.source.tree.lineno)
        return Position(self.source.file, line, getattr(node, "col_offset", 0))

    def refuse(self, node: ast.AST, message: str) -> ModelError:
        """The error for a construct that cannot be read, with its replacement."""
        at = self.at(node)
        return ModelError(message, at.file, at.line)

    def defining_class(self) -> type | None:
        """The class in whose body the function was written; ``super()`` in it starts after that class."""
        return self._closure().get("__class__")

    def free_name(self, name: str) -> StaticObject | None:
        """The value of a free name of the function in its closure, else in its module; None if there is none."""
        function: Callable[..., Any] = self.source.function
        closure = self._closure() if name in function.__code__.co_freevars else {}
        names = closure if name in closure else function.__globals__
        return StaticObject(names[name]) if name in names else None

    def _closure(self) -> dict[str, Any]:
        function: Callable[..., Any] = self.source.function
        names = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):
                names[name] = cell.cell_contents
        return names
