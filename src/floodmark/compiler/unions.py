"""Lowers operations on unions of records: ``isinstance``, their fields, and membership."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from types import UnionType as UnionOfClasses
from typing import get_args

from floodmark.compiler import ir
from floodmark.compiler.frame import Frame, StaticObject
from floodmark.compiler.joins import set_type
from floodmark.compiler.lowering import LoweringPart
from floodmark.compiler.sizes import size_bound
from floodmark.language.types import (
    BagType,
    OptionalType,
    RecordType,
    SetType,
    Type,
    UnionType,
)
from floodmark.language.values import Record


class UnionLowering(LoweringPart):
    """The part of the compiler for records of several classes."""

    # Operations on such a record.

    def field_of_union(self, frame: Frame, node: ast.Attribute, value: ir.Expr) -> ir.Expr:
        """A field that may belong to some of the classes only: a model error for a record of another class."""
        union = value.type
        assert isinstance(union, UnionType)
        if union.is_common(node.attr):
            return ir.Field(union.field(node.attr), frame.at(node), value, node.attr)
        having = union.having(node.attr)
        kind = union.members[having[0]].field(node.attr)
        return self.nodes.held_once(value, lambda held: self._checked(held, node.attr, kind, having))

    def _checked(self, value: ir.Expr, name: str, kind: Type, having: tuple[int, ...]) -> ir.Expr:
        result = self.nodes.fresh(kind, "field", value.at)
        found = self.nodes.convert(self.nodes.union_field(value, name), kind, name)
        is_one = self.nodes.is_one_of(value, having)
        body: list[ir.Stmt] = [ir.Assert(value.at, is_one), ir.Return(value.at, found, result)]
        return ir.Inline(kind, value.at, body, result)

    def having(self, value: ir.Expr, names: Iterable[str | None], build: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
        """``build`` applied to a record; a model error unless its class has fields with these names."""
        union = value.type
        if not isinstance(union, UnionType):
            return build(value)
        numbers = set(range(len(union.members)))
        for name in names:
            numbers &= set(union.having(str(name)))
        if len(numbers) == len(union.members):
            return build(value)
        return self.nodes.held_once(value, lambda held: self._built(held, tuple(sorted(numbers)), build))

    def _built(self, value: ir.Expr, numbers: tuple[int, ...], build: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
        built = build(value)
        result = self.nodes.holding(built, "result", value.at)
        is_one = self.nodes.is_one_of(value, numbers) if numbers else ir.Const(ir.BOOL, value.at, False)
        body: list[ir.Stmt] = [ir.Assert(value.at, is_one), ir.Return(value.at, built, result)]
        return ir.Inline(built.type, value.at, body, result)

    def is_instance(self, frame: Frame, node: ast.Call) -> ir.Expr:
        """``isinstance(message, Vote)``: decided here unless the record is one of a union."""
        if len(node.args) != 2 or node.keywords:
            raise frame.refuse(node, "isinstance takes a record and a class, or several in brackets: (Vote, Fetch)")
        value, classes = self.lowering.expression(frame, node.args[0]), self._classes(frame, node.args[1])
        held = value.type.inner if isinstance(value.type, OptionalType) else value.type
        if not isinstance(held, RecordType):
            raise frame.refuse(node, f"isinstance asks for the class of a record, and this is {value.type}")
        return self.nodes.held_once(value, lambda record: self._is_instance(record, held, classes))

    def _is_instance(self, value: ir.Expr, kind: RecordType, classes: tuple[type, ...]) -> ir.Expr:
        at = value.at
        if isinstance(value.type, OptionalType):
            there = self.nodes.negate(ir.IsNone(ir.BOOL, at, value))
            return self.nodes.all_of(at, [there, self._is_instance(self.nodes.convert(value, kind, ""), kind, classes)])
        if not isinstance(kind, UnionType):
            return ir.Const(ir.BOOL, at, issubclass(kind.cls, classes))
        numbers = tuple(index for index, member in enumerate(kind.members) if issubclass(member.cls, classes))
        if not numbers or len(numbers) == len(kind.members):
            return ir.Const(ir.BOOL, at, bool(numbers))
        return self.nodes.is_one_of(value, numbers)

    def _classes(self, frame: Frame, node: ast.expr) -> tuple[type, ...]:
        match node:
            case ast.Tuple(elts=elements) if elements:
                return tuple(cls for element in elements for cls in self._classes(frame, element))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return (*self._classes(frame, left), *self._classes(frame, right))
        bound = self.lowering.binding(frame, node)
        named = bound.value if isinstance(bound, StaticObject) else None
        found = get_args(named) if isinstance(named, UnionOfClasses) else (named,)
        if all(isinstance(cls, type) and issubclass(cls, Record) for cls in found):
            return found
        raise frame.refuse(node, f"{ast.unparse(node)} is not a class of records; every other value has one known type")

    def of_its_class(self, item: ir.Local, container: ir.Expr) -> ir.Expr:
        """``item in container``, if the elements may also be of other classes.

        A guard draws its parameter from the elements of the matching class.
        """
        at, source = item.at, container.type
        assert isinstance(source, SetType | BagType) and isinstance(source.element, UnionType)
        kind = item.type
        assert isinstance(kind, RecordType)
        variable = self.nodes.fresh(source.element, "other", at)
        generator = ir.Generator(variable, container, [self.nodes.is_one_of(variable, (source.element.number(kind),))])
        of, body = set_type(kind, size_bound(source)), self.nodes.convert(variable, kind, "")
        found = ir.Reduce(of, at, "set", [generator], body, typed=True)
        return ir.Contains(ir.BOOL, at, item, found)


def common_fields(kind: RecordType) -> dict[str, Type]:
    """The fields that every record of a type has."""
    if isinstance(kind, UnionType):
        return {name: of for name, of in kind.fields[1:] if kind.is_common(name)}
    return dict(kind.fields)


def no_field(kind: RecordType, name: str) -> str:
    """The error for a field that not every record of a type has."""
    has = ", ".join(common_fields(kind)) or "none"
    if isinstance(kind, UnionType) and name in dict(kind.fields):
        return f"only some of {kind} have the field {name}; make a new record (common to all: {has})"
    return f"{kind} has no field {name!r}; it has {has}"
