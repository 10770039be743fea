"""Lowers operations on unions of records: ``isinstance``, their fields, and conversions of records to and from unions.

A union is a record (``UnionType``), so back ends have no notion of it: here a record of one class becomes a record of
the union, field by field, and the other way round, also inside of containers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from types import UnionType as UnionOfClasses
from typing import get_args

from floodmark.compiler import ir
from floodmark.compiler.frame import Frame, StaticObject
from floodmark.compiler.joins import set_type
from floodmark.compiler.lowering import Lowering, size_bound
from floodmark.language.types import (
    TAG,
    BagType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from floodmark.language.values import Record


class UnionLowering(Lowering):
    """The part of the compiler for records of several classes."""

    def reshaped(self, value: ir.Expr, kind: Type) -> ir.Expr:
        """``value`` as a ``kind``; some record in it becomes one of a union, or one of a union a plain one."""
        at = value.at
        match value.type, kind:
            case OptionalType(inner), OptionalType():
                return self._held(value, lambda held: self._unless_none(held, inner, kind))
            case OptionalType(inner), _:
                return self.convert(self.convert(value, inner, ""), kind, "")
            case _, OptionalType(inner):
                return self.convert(self.convert(value, inner, ""), kind, "")
            case UnionType(), UnionType():
                return self._held(value, lambda held: self._of_other_union(held, kind))
            case UnionType(), RecordType():
                return self._held(value, lambda held: self._narrowed(held, kind))
            case RecordType(), UnionType() if isinstance(value, ir.RecordOf):
                return self._as_one_of(value, kind, value.fields)
            case RecordType(fields=fields), UnionType():
                def parts(held: ir.Expr) -> dict[str, ir.Expr]:
                    return {name: ir.Field(of, at, held, name) for name, of in fields}

                return self._held(value, lambda held: self._as_one_of(held, kind, parts(held)))
            case MapType(key, of), MapType(_, wanted):
                return self._held(value, lambda held: self._entries_of(held, key, of, wanted))
        return self.convert(self._elements(value, kind), kind, "")

    def _held(self, value: ir.Expr, build: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
        """``build`` applied to a value that is evaluated once."""
        if isinstance(value, ir.Local | ir.StateVar):
            return build(value)
        variable = self.holding(value, "record", value.at)
        built = build(variable)
        result = self.holding(built, "result", value.at)
        body: list[ir.Stmt] = [ir.SetLocal(value.at, variable, value), ir.Return(value.at, built, result)]
        return ir.Inline(built.type, value.at, body, result)

    def _unless_none(self, value: ir.Expr, inner: Type, kind: Type) -> ir.Expr:
        nothing = self.convert(ir.Const(ir.NoneType(), value.at, None), kind, "")
        there = self.convert(self.convert(value, inner, ""), kind, "")
        return ir.Choose(kind, value.at, ir.IsNone(ir.BOOL, value.at, value), nothing, there)

    def _as_one_of(self, value: ir.Expr, kind: UnionType, fields: dict[str, ir.Expr]) -> ir.Expr:
        """A record of one class as one of the union."""
        at = value.at
        assert isinstance(value.type, RecordType)
        number = kind.number(value.type)
        made: dict[str, ir.Expr] = {TAG: ir.Const(IntType(number, number), at, number)}
        for name, expression in fields.items():
            made[name] = expression
        for name, _ in kind.fields:
            made.setdefault(name, ir.Const(ir.NoneType(), at, None))
        return ir.RecordOf(kind, at, {name: self.convert(made[name], of, name) for name, of in kind.fields})

    def _narrowed(self, value: ir.Expr, kind: RecordType) -> ir.Expr:
        """A record of a union as one of this class; a model error if it is one of another."""
        at, union = value.at, value.type
        assert isinstance(union, UnionType)
        fields = {name: self.convert(self._field(value, name), of, name) for name, of in kind.fields}
        result = self.fresh(kind, "result", at)
        is_one = self._is_one_of(value, (union.number(kind),))
        body: list[ir.Stmt] = [ir.Assert(at, is_one), ir.Return(at, ir.RecordOf(kind, at, fields), result)]
        return ir.Inline(kind, at, body, result)

    def _of_other_union(self, value: ir.Expr, kind: UnionType) -> ir.Expr:
        """A record of a union as one of another; a model error if it is of a class that the other lacks."""
        at, union = value.at, value.type
        assert isinstance(union, UnionType)
        numbers = {index: kind.number(of) for index, of in enumerate(union.members) if of in kind.members}
        first, *others = numbers
        tag: ir.Expr = ir.Const(IntType(numbers[first], numbers[first]), at, numbers[first])
        for index in others:
            number = ir.Const(IntType(numbers[index], numbers[index]), at, numbers[index])
            this, other = self.unify(number, tag, "the branches give")
            tag = ir.Choose(this.type, at, self._is_one_of(value, (index,)), this, other)
        made: dict[str, ir.Expr] = {TAG: self.convert(tag, dict(kind.fields)[TAG], "")}
        known = dict(union.fields)
        for name, of in kind.fields[1:]:
            held = self._field(value, name) if name in known else ir.Const(ir.NoneType(), at, None)
            made[name] = self.convert(held, of, name)
        record = ir.RecordOf(kind, at, made)
        if len(numbers) == len(union.members):
            return record
        result = self.fresh(kind, "result", at)
        is_one = self._is_one_of(value, tuple(numbers))
        return ir.Inline(kind, at, [ir.Assert(at, is_one), ir.Return(at, record, result)], result)

    def _entries_of(self, value: ir.Expr, key: Type, of: Type, wanted: Type) -> ir.Expr:
        variable = self.fresh(key, "key", value.at)
        entry = self.convert(ir.MapGet(of, value.at, value, variable), wanted, "")
        generator = ir.Generator(variable, ir.Universe(key), [])
        return ir.Reduce(MapType(key, wanted), value.at, "map", [generator], entry, key=variable)

    def _elements(self, value: ir.Expr, kind: Type) -> ir.Expr:
        """A set, a bag or a sequence with each element converted to the element type of ``kind``."""
        at, source = value.at, value.type
        assert isinstance(source, SetType | BagType | SeqType) and isinstance(kind, SetType | BagType | SeqType)
        wanted = kind.element
        if isinstance(value, ir.SetOf):
            slotted = isinstance(kind, SetType) and kind.capacity is not None
            made = self.set_of(at, wanted, [self.convert(item, wanted, "") for item in value.elements], slotted)
            assert isinstance(made, ir.SetOf)
            made.typed = value.typed
            return made
        if isinstance(value, ir.SeqOf):
            items = [self.convert(item, wanted, "") for item in value.elements]
            return ir.SeqOf(SeqType(wanted, len(items)), at, items)
        variable = self.element(value, source.element, "item", at)
        body = self.convert(variable, wanted, "")
        generator = ir.Generator(variable, value, [])
        if isinstance(source, SetType):
            of = set_type(wanted, size_bound(source))
            return ir.Reduce(of, at, "set", [generator], body, typed=self.has_order(value))
        return ir.Reduce(SeqType(wanted, size_bound(source)), at, "seq", [generator], body)

    # Operations on such a record.

    @staticmethod
    def _field(value: ir.Expr, name: str) -> ir.Expr:
        assert isinstance(value.type, RecordType)
        return ir.Field(value.type.field(name), value.at, value, name)

    def _is_one_of(self, value: ir.Expr, numbers: tuple[int, ...]) -> ir.Expr:
        at, tag = value.at, self._field(value, TAG)
        constants = [self.convert(ir.Const(IntType(n, n), at, n), tag.type, "") for n in numbers]
        return self.any_of(at, [ir.Equal(ir.BOOL, at, tag, constant) for constant in constants])

    def field_of_union(self, frame: Frame, node: ast.Attribute, value: ir.Expr) -> ir.Expr:
        """A field that may belong to some of the classes only: a model error for a record of another class."""
        union = value.type
        assert isinstance(union, UnionType)
        if union.is_common(node.attr):
            return ir.Field(union.field(node.attr), frame.at(node), value, node.attr)
        having = union.having(node.attr)
        kind = union.members[having[0]].field(node.attr)
        return self._held(value, lambda held: self._checked(held, node.attr, kind, having))

    def _checked(self, value: ir.Expr, name: str, kind: Type, having: tuple[int, ...]) -> ir.Expr:
        result = self.fresh(kind, "field", value.at)
        found = self.convert(self._field(value, name), kind, name)
        body: list[ir.Stmt] = [ir.Assert(value.at, self._is_one_of(value, having)), ir.Return(value.at, found, result)]
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
        return self._held(value, lambda held: self._built(held, tuple(sorted(numbers)), build))

    def _built(self, value: ir.Expr, numbers: tuple[int, ...], build: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
        built = build(value)
        result = self.holding(built, "result", value.at)
        is_one = self._is_one_of(value, numbers) if numbers else ir.Const(ir.BOOL, value.at, False)
        body: list[ir.Stmt] = [ir.Assert(value.at, is_one), ir.Return(value.at, built, result)]
        return ir.Inline(built.type, value.at, body, result)

    def is_instance(self, frame: Frame, node: ast.Call) -> ir.Expr:
        """``isinstance(message, Vote)``: decided here unless the record is one of a union."""
        if len(node.args) != 2 or node.keywords:
            raise frame.refuse(node, "isinstance takes a record and a class, or several in brackets: (Vote, Fetch)")
        value, classes = self.expression(frame, node.args[0]), self._classes(frame, node.args[1])
        held = value.type.inner if isinstance(value.type, OptionalType) else value.type
        if not isinstance(held, RecordType):
            raise frame.refuse(node, f"isinstance asks for the class of a record, and this is {value.type}")
        return self._held(value, lambda record: self._is_instance(record, held, classes))

    def _is_instance(self, value: ir.Expr, kind: RecordType, classes: tuple[type, ...]) -> ir.Expr:
        at = value.at
        if isinstance(value.type, OptionalType):
            there = self.negate(ir.IsNone(ir.BOOL, at, value))
            return self.all_of(at, [there, self._is_instance(self.convert(value, kind, ""), kind, classes)])
        if not isinstance(kind, UnionType):
            return ir.Const(ir.BOOL, at, issubclass(kind.cls, classes))
        numbers = tuple(index for index, member in enumerate(kind.members) if issubclass(member.cls, classes))
        if not numbers or len(numbers) == len(kind.members):
            return ir.Const(ir.BOOL, at, bool(numbers))
        return self._is_one_of(value, numbers)

    def _classes(self, frame: Frame, node: ast.expr) -> tuple[type, ...]:
        match node:
            case ast.Tuple(elts=elements) if elements:
                return tuple(cls for element in elements for cls in self._classes(frame, element))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return (*self._classes(frame, left), *self._classes(frame, right))
        bound = self.binding(frame, node)
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
        variable = self.fresh(source.element, "other", at)
        generator = ir.Generator(variable, container, [self._is_one_of(variable, (source.element.number(kind),))])
        of, body = set_type(kind, size_bound(source)), self.convert(variable, kind, "")
        found = ir.Reduce(of, at, "set", [generator], body, typed=True)
        return ir.Contains(ir.BOOL, at, item, found)
