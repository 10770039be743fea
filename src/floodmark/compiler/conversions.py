"""Builds conversions between types, and operations whose operands are converted to one type.

A union of records is a record (``UnionType``), so back ends have no notion of it: here a record of one class becomes a
record of the union, field by field, and the other way round, also inside of containers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Literal

from floodmark.compiler import ir
from floodmark.compiler.failures import may_stop
from floodmark.compiler.frame import Frame
from floodmark.compiler.joins import changes_class, convertible, join, set_type
from floodmark.compiler.node_builder import NodeBuilder
from floodmark.compiler.sizes import MAX_VALUE_BITS, size_bound, slots_needed
from floodmark.language.errors import ModelError
from floodmark.language.types import (
    TAG,
    BagType,
    BoolType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
    is_open,
)


class Conversions(NodeBuilder):
    """A builder of nodes that converts operands as CPython would."""

    def convert(self, value: ir.Expr, kind: Type, what: str) -> ir.Expr:
        """``value`` as a ``kind``; checked at run time unless the type alone says that it fits."""
        if value.type == kind:
            return value
        if not convertible(value.type, kind):
            raise ModelError(f"{what} is {kind}, but this is {value.type}", value.at.file, value.at.line)
        converted, forms = self._converted(value, kind), self.plain.of(value)
        return converted if self.plain.of(converted) == forms else self.plain.with_forms(converted, forms)

    def _converted(self, value: ir.Expr, kind: Type) -> ir.Expr:
        match value, kind:
            case ir.SetOf(elements=elements), SetType(element, _) if _has_room(kind, len(elements)):
                members = [self.convert(member, element, "the element") for member in elements]
                return ir.SetOf(kind, value.at, members, value.typed)
            case ir.Reduce(kind="set", body=body), SetType(element, None) if not is_open(kind):
                body = self.convert(body, element, "the element")
                return ir.Reduce(kind, value.at, "set", value.generators, body, typed=value.typed)
        if changes_class(value.type, kind):
            return self._reshaped(value, kind)
        return ir.Convert(kind, value.at, value)

    def unwrapped(self, value: ir.Expr) -> ir.Expr:
        """The value inside an optional one; checked at run time."""
        return self.convert(value, value.type.inner, "") if isinstance(value.type, OptionalType) else value

    def unify(self, left: ir.Expr, right: ir.Expr, what: str) -> tuple[ir.Expr, ir.Expr]:
        """Both sides in one type; refused if no value of one can be a value of the other."""
        kind = join(left.type, right.type)
        if kind is None:
            raise ModelError(
                f"{what} {left.type} and {right.type}, which have no value in common", left.at.file, left.at.line
            )
        return self.convert(left, kind, ""), self.convert(right, kind, "")

    def integer(self, frame: Frame, node: ast.expr, value: ir.Expr) -> ir.Expr:
        """An integer expression, unwrapped from an optional one if need be."""
        value = self.unwrapped(value)
        if isinstance(value.type, ir.NothingType):
            return self.convert(value, IntType(0, 0), "")
        if not isinstance(value.type, IntType):
            raise frame.refuse(node, f"an integer is needed here, but this is {value.type}")
        return value

    def truth(self, frame: Frame, node: ast.expr, value: ir.Expr) -> ir.Expr:
        """Whether a value is true, if it has a truth value."""
        if isinstance(value.type, BoolType):
            return value
        if isinstance(value.type, ir.NothingType):
            return self.convert(value, ir.BOOL, "")
        if isinstance(value.type, SetType | SeqType | BagType | MapType):
            size = ir.Size(IntType(0, max(size_bound(value.type), 1)), value.at, value)
            return ir.Compare(ir.BOOL, value.at, ">", size, ir.Const(IntType(0, 0), value.at, 0))
        if isinstance(value.type, IntType):
            raise frame.refuse(node, "an integer is not a truth value here; write x != 0")
        raise frame.refuse(node, f"{value.type} is not a truth value here; write `is not None` or a comparison")

    def equal(self, left: ir.Expr, right: ir.Expr, at: ir.Position) -> ir.Expr:
        """``left == right``, decided here if both are known when the model is read."""
        for value, nothing in ((left, right), (right, left)):
            if isinstance(nothing.type, ir.NoneType):
                return self._missing_beside(nothing, value, at)
        self.alike(left, right, at)
        one, other = self.unify(left, right, "this compares")
        if isinstance(left, ir.Const) and isinstance(right, ir.Const) and not isinstance(one.type, IntType):
            return ir.Const(ir.BOOL, at, left.value == right.value)
        return ir.Equal(ir.BOOL, at, one, other)

    def alike(self, left: ir.Expr, right: ir.Expr, at: ir.Position) -> None:
        """Refuses to compare a list with a tuple: in Python they are never equal, whatever their elements."""
        if self.plain.differ(left, right):
            message = "a list never equals a tuple; write both as lists, or one as Seq(...)"
            raise ModelError(message, at.file, at.line)

    def _missing_beside(self, nothing: ir.Expr, value: ir.Expr, at: ir.Position) -> ir.Expr:
        """Whether ``value`` equals an expression that can only be None; the expression is evaluated if it may fail."""
        if may_stop(nothing):
            return self.once(at, [nothing, value], lambda held: self.missing(held[1], at))
        return self.missing(value, at)

    def set_of(self, at: ir.Position, element: Type, members: list[ir.Expr], slotted: bool = False) -> ir.Expr:
        """A set literal; in slots if it will be combined with slots."""
        kind = SetType(element, len(members)) if slotted else set_type(element, len(members))
        return ir.SetOf(kind, at, members)

    def set_binary(self, at: ir.Position, op: Literal["|", "&", "-", "^"], left: ir.Expr, right: ir.Expr) -> ir.Expr:
        """``| & - ^`` of two sets. Elements only on the right side of ``-`` or ``&`` need no room."""
        left, right = self.unify(left, right, "this combines")
        kind = left.type
        assert isinstance(kind, SetType)
        if kind.capacity is not None and op in ("|", "^"):
            most = min(slots_needed(left) + slots_needed(right), kind.element.codes)
            slotted = SetType(kind.element, most)
            # Two sets in slots stay so unless a mask has fewer bits: to z3, conversions are dearer than slots.
            keeps_slots = is_open(kind.element) or slotted.bits <= kind.element.codes
            kind = slotted if keeps_slots else set_type(kind.element, most)
            if not is_open(kind.element) and kind.bits > MAX_VALUE_BITS:
                raise ModelError(f"this may hold {kind.capacity} elements; combine smaller sets", at.file, at.line)
            if kind.capacity is None:
                left, right = self.convert(left, kind, ""), self.convert(right, kind, "")
        return ir.SetBinary(kind, at, op, left, right)

    # Records of one class and of several.

    def _reshaped(self, value: ir.Expr, kind: Type) -> ir.Expr:
        """``value`` as a ``kind``; some record in it becomes one of a union, or one of a union a plain one."""
        at = value.at
        match value.type, kind:
            case OptionalType(inner), OptionalType():
                return self.held_once(value, lambda held: self._unless_none(held, inner, kind))
            case OptionalType(inner), _:
                return self.convert(self.convert(value, inner, ""), kind, "")
            case _, OptionalType(inner):
                return self.convert(self.convert(value, inner, ""), kind, "")
            case UnionType(), UnionType():
                return self.held_once(value, lambda held: self._of_other_union(held, kind))
            case UnionType(), RecordType():
                return self.held_once(value, lambda held: self._narrowed(held, kind))
            case RecordType(), UnionType() if isinstance(value, ir.RecordOf):
                return self._as_one_of(value, kind, value.fields)
            case RecordType(fields=fields), UnionType():
                def parts(held: ir.Expr) -> dict[str, ir.Expr]:
                    return {name: ir.Field(of, at, held, name) for name, of in fields}

                return self.held_once(value, lambda held: self._as_one_of(held, kind, parts(held)))
            case MapType(key, of), MapType(_, wanted):
                return self.held_once(value, lambda held: self._entries_of(held, key, of, wanted))
        return self.convert(self._elements(value, kind), kind, "")

    def held_once(self, value: ir.Expr, build: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
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
        fields = {name: self.convert(self.union_field(value, name), of, name) for name, of in kind.fields}
        result = self.fresh(kind, "result", at)
        is_one = self.is_one_of(value, (union.number(kind),))
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
            tag = ir.Choose(this.type, at, self.is_one_of(value, (index,)), this, other)
        made: dict[str, ir.Expr] = {TAG: self.convert(tag, dict(kind.fields)[TAG], "")}
        known = dict(union.fields)
        for name, of in kind.fields[1:]:
            held = self.union_field(value, name) if name in known else ir.Const(ir.NoneType(), at, None)
            made[name] = self.convert(held, of, name)
        record = ir.RecordOf(kind, at, made)
        if len(numbers) == len(union.members):
            return record
        result = self.fresh(kind, "result", at)
        is_one = self.is_one_of(value, tuple(numbers))
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

    @staticmethod
    def union_field(value: ir.Expr, name: str) -> ir.Expr:
        assert isinstance(value.type, RecordType)
        return ir.Field(value.type.field(name), value.at, value, name)

    def is_one_of(self, value: ir.Expr, numbers: tuple[int, ...]) -> ir.Expr:
        at, tag = value.at, self.union_field(value, TAG)
        constants = [self.convert(ir.Const(IntType(n, n), at, n), tag.type, "") for n in numbers]
        return self.any_of(at, [ir.Equal(ir.BOOL, at, tag, constant) for constant in constants])


def _has_room(kind: SetType, count: int) -> bool:
    """Whether a set of so many elements can be made as a set of this type directly, without a conversion."""
    return not is_open(kind) and (kind.capacity is None or count <= kind.capacity)
