"""Builds typed nodes: variables, constants, and operations that convert no operand."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Sequence
from typing import Any, Literal

from floodmark.compiler import ir
from floodmark.compiler.compile_cache import CompilerInputs, meant_type
from floodmark.compiler.failures import may_refuse, may_stop
from floodmark.compiler.frame import Frame
from floodmark.compiler.joins import hull
from floodmark.compiler.plain_containers import SETS, UNHASHABLE, PlainContainers
from floodmark.language.errors import ModelError
from floodmark.language.model import Model
from floodmark.language.types import (
    INTEGER_LIMIT,
    IntType,
    OptionalType,
    RecordType,
    SeqType,
    Type,
    is_unlimited,
)
from floodmark.language.values import Identifier, Record

MAX_REPEATED = 200
"""The maximum number of expressions in a value that may be evaluated several times rather than held in a variable."""


class NodeBuilder:
    """Builds the nodes of functions of one model, with its constants.

    ``guarded`` is whether ``require`` is allowed: in an action, not in a property.
    """

    def __init__(self, model: Model, inputs: CompilerInputs, guarded: bool) -> None:
        self.model = model
        self.inputs = inputs
        self.guarded = guarded
        self.next_slot = 0
        self.plain = PlainContainers()

    def new_slot(self) -> int:
        self.next_slot += 1
        return self.next_slot

    def fresh(self, kind: Type, name: str, at: ir.Position) -> ir.Local:
        """A new local variable, with a slot of its own."""
        return ir.Local(kind, at, self.new_slot(), name)

    def holding(self, value: ir.Expr, name: str, at: ir.Position) -> ir.Local:
        """A new local variable for a value."""
        variable = self.fresh(value.type, name, at)
        self.plain.hold(variable, value)
        return variable

    def element(self, domain: ir.Domain, kind: Type, name: str, at: ir.Position) -> ir.Local:
        """A new local variable for the elements of what a loop runs over."""
        variable = self.fresh(kind, name, at)
        if isinstance(domain, ir.Expr):
            self.plain.hold(variable, domain)
        return variable

    def constant(self, value: Any, at: ir.Position) -> ir.Const | None:
        """The constant for a Python object, or None if it is not a value of the language."""
        match value:
            case None:
                return ir.Const(ir.NoneType(), at, None)
            case enum.Enum():
                kind = self.class_type(type(value))
                if kind is None:
                    return None
                return ir.Const(kind, at, value)
            case bool():
                return ir.Const(ir.BOOL, at, value)
            case int() if type(value) is int:
                if abs(value) >= INTEGER_LIMIT:
                    raise ModelError(f"{value} is too large; integers lie within 2**62", at.file, at.line)
                return ir.Const(IntType(value, value), at, value)
            case Identifier():
                count = self.model.identifier_count(type(value))
                if not 1 <= value.number <= count:
                    message = f"there is no {type(value).__name__}({value.number}): the model has {count}"
                    raise ModelError(message, at.file, at.line)
                self.inputs.rests_on(meant_type, type(value))
                return ir.Const(self.model.declared_type(type(value)), at, value)
        return None

    def class_type(self, value: Any) -> Type | None:
        """The type that iterating over a class enumerates: identifiers and enums."""
        if isinstance(value, type) and issubclass(value, Identifier | enum.Enum):
            self.inputs.rests_on(meant_type, value)
            return self.model.declared_type(value)
        return None

    def record_type(self, cls: type[Record]) -> RecordType:
        """The type of a record with the model's constants."""
        self.inputs.rests_on(meant_type, cls)
        kind = self.model.record_type(cls)
        if is_unlimited(kind):
            raise AssertionError(f"{kind} is read before its containers have widths")
        return kind

    # What is known about a condition before the model runs is decided here: a function inlined for one kind of
    # message then has no code for the others. A property keeps its premises anyway, to report those never true;
    # and integers are left alone, since a proof may be for every value of a constant.

    def missing(self, value: ir.Expr, at: ir.Position) -> ir.Expr:
        """Whether a value is None."""
        if isinstance(value, ir.Const):
            return ir.Const(ir.BOOL, at, value.value is None)
        if isinstance(value, ir.Local) and not isinstance(value.type, OptionalType):
            return ir.Const(ir.BOOL, at, isinstance(value.type, ir.NoneType))
        return ir.IsNone(ir.BOOL, at, value)

    def all_of(self, at: ir.Position, operands: list[ir.Expr], places: Sequence[ir.Position] = ()) -> ir.Expr:
        """``and``: nothing after a false operand is evaluated. ``places`` are the positions of the operands."""
        needed, where = self._needed(operands, places, False)
        return ir.And(ir.BOOL, at, needed, where) if len(needed) > 1 else needed[0]

    def any_of(self, at: ir.Position, operands: list[ir.Expr], places: Sequence[ir.Position] = ()) -> ir.Expr:
        """``or``: nothing after a true operand is evaluated."""
        needed, where = self._needed(operands, places, True)
        return ir.Or(ir.BOOL, at, needed, where) if len(needed) > 1 else needed[0]

    def _needed(
        self, operands: list[ir.Expr], places: Sequence[ir.Position], decisive: bool
    ) -> tuple[list[ir.Expr], list[ir.Position]]:
        """The operands that count, and their places."""
        if not self.guarded:
            return operands, list(places)
        needed = _until(operands, decisive)
        kept = {id(operand) for operand in needed}
        return needed, [at for operand, at in zip(operands, places, strict=False) if id(operand) in kept]

    def negate(self, value: ir.Expr) -> ir.Expr:
        """``not value``, decided here if the value is known when the model is read."""
        if isinstance(value, ir.Const):
            return ir.Const(ir.BOOL, value.at, not value.value)
        return ir.Not(ir.BOOL, value.at, value)

    def once(self, at: ir.Position, values: list[ir.Expr], build: Callable[[list[ir.Expr]], ir.Expr]) -> ir.Expr:
        """``build`` applied to values that are evaluated once each and in order, whether or not it uses them all."""
        if not any(may_stop(value) or _is_large(value) for value in values):
            return build(values)
        variables: list[ir.Expr] = []
        body: list[ir.Stmt] = []
        for value in values:
            variable = self.holding(value, "value", at)
            body.append(ir.SetLocal(at, variable, value))
            variables.append(variable)
        built = build(variables)
        result = self.holding(built, "result", at)
        return ir.Inline(built.type, at, [*body, ir.Return(at, built, result)], result)

    def operands(self, at: ir.Position, values: list[ir.Expr], build: Callable[[list[ir.Expr]], ir.Expr]) -> ir.Expr:
        """``build`` applied to the operands of an operation, which fails for None.

        The failure comes after all operands are evaluated: a ``require`` in one of them takes precedence.
        """
        if any(isinstance(value.type, OptionalType) for value in values) and any(map(may_refuse, values)):
            return self.once(at, values, build)
        return build(values)

    def evaluated(
        self, at: ir.Position, given: dict[str, ir.Expr], build: Callable[[dict[str, ir.Expr]], ir.Expr]
    ) -> ir.Expr:
        """A record whose fields are evaluated in the given order, before any is converted."""
        if not any(ir.has_effects(value) or may_refuse(value) for value in given.values()):
            return build(given)
        return self.once(at, list(given.values()), lambda held: build(dict(zip(given, held, strict=True))))

    def keys_of(self, at: ir.Position, mapping: ir.Expr, key: Type) -> ir.Domain:
        """The keys of a map: every value of their type, after evaluating the map itself."""
        if not may_stop(mapping):
            return ir.Universe(key)
        variable = self.fresh(key, "key", at)
        keys = ir.Reduce(SeqType(key, key.size), at, "seq", [ir.Generator(variable, ir.Universe(key), [])], variable)
        return self.once(at, [mapping], lambda _: keys)

    def arithmetic(
        self, at: ir.Position, op: Literal["+", "-", "*", "//", "%"], left: ir.Expr, right: ir.Expr
    ) -> ir.Expr:
        """Integer arithmetic, with the range of its result."""
        a, b = left.type, right.type
        assert isinstance(a, IntType) and isinstance(b, IntType)
        match op:
            case "+":
                kind = hull(a.low + b.low, a.high + b.high)
            case "-":
                kind = hull(a.low - b.high, a.high - b.low)
            case "*":
                products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
                kind = hull(min(products), max(products))
            case "//":
                widest = max(abs(a.low), abs(a.high))
                kind = hull(0 if a.low >= 0 and b.low >= 0 else -widest - 1, widest)
            case "%":
                widest = max(abs(b.low), abs(b.high))
                kind = hull(0 if b.low >= 0 else -widest, widest)
        return ir.Arithmetic(kind, at, op, left, right)

    def has_order(self, value: ir.Expr) -> bool:
        """Whether CPython iterates this set in the order of its codes: it does for a ``Set``, not for a plain set."""
        return not self.plain.of(value) & SETS

    def hashable(self, frame: Frame, node: ast.AST, item: ir.Expr) -> ir.Expr:
        """An element of a set, or a value that is searched in one, which must not be a list."""
        found = self.plain.of(item) & UNHASHABLE
        if found:
            what, instead = ("list", "a tuple or Seq(...)") if "list" in found else ("set", "Set(...)")
            raise frame.refuse(node, f"a plain {what} cannot be in a set; write {instead}")
        return item


def _is_large(value: ir.Expr) -> bool:
    """Whether a value has more than MAX_REPEATED expressions."""
    count, waiting = 0, [value]
    while waiting and count <= MAX_REPEATED:
        count += 1
        waiting += ir.children(waiting.pop())
    return count > MAX_REPEATED


def _until(operands: list[ir.Expr], decisive: bool) -> list[ir.Expr]:
    """The operands up to the first one known to be decisive, without those known not to be."""
    needed: list[ir.Expr] = []
    for operand in operands:
        if isinstance(operand, ir.Const):
            if operand.value == decisive:
                return [*needed, operand]
        else:
            needed.append(operand)
    return needed or operands[:1]
