"""Emits conversions of a value to another type, which fail where the type cannot hold the value."""

from __future__ import annotations

from collections.abc import Callable

from floodmark.checkers.codegen.bits import (
    I1,
    Value,
    code_of,
    const,
    held,
    register,
    resize,
    shifted_left,
    shifted_right,
    value_of,
)
from floodmark.checkers.codegen.containers import Containers
from floodmark.compiler.ir import (
    NoneType,
    NothingType,
)
from floodmark.compiler.joins import fits
from floodmark.language.errors import ModelError
from floodmark.language.types import (
    BagType,
    IntType,
    MapType,
    OptionalType,
    SeqType,
    SetType,
    Type,
)


class Conversions(Containers):
    """A routine that can convert values between types."""

    def embed(self, source: Type, target: Type, value: Value) -> tuple[Value, Callable[[], Value]]:
        """Whether a value belongs to another type, and a function that emits it there (call it only where it does)."""
        if source == target:
            return const(1, I1), lambda: value
        match source, target:
            case IntType(), IntType():
                low = self.builder.icmp_signed(">=", value, const(target.low))
                high = self.builder.icmp_signed("<=", value, const(target.high))
                return self.builder.and_(low, high), lambda: value
            case NoneType(), OptionalType():
                return const(1, I1), lambda: const(0, register(target.bits))
            case NoneType(), _:
                return const(0, I1), lambda: const(0, held(target))
            case OptionalType(inner), OptionalType():
                if inner == target.inner:
                    return const(1, I1), lambda: value
                return const(1, I1), lambda: self.convert(value, source, target)
            case OptionalType(inner), _:
                there = self.builder.icmp_unsigned("!=", value, const(0, value.type))
                code = self.builder.sub(value, const(1, value.type))
                fitting, embedded = self.embed(inner, target, value_of(self.builder, inner, code))
                return self.builder.and_(there, fitting), embedded
            case _, OptionalType(inner):
                fitting, embedded = self.embed(source, inner, value)
                return fitting, lambda: self.convert(embedded(), inner, target)
        return const(1, I1), lambda: self.convert(value, source, target)

    def convert(self, value: Value, source: Type, target: Type) -> Value:
        """A value in another type; fails where that type cannot hold it."""
        if source == target:
            return value
        match source, target:
            case NothingType(), _:
                return const(0, held(target))  # never evaluated: there is no such element
            case NoneType(), OptionalType():
                return const(0, register(target.bits))
            case NoneType(), _:
                self.fail()
                return const(0, held(target))
            case OptionalType(inner), OptionalType():
                return self._convert_optional(value, source, target)
            case _, OptionalType(inner):
                code = code_of(self.builder, inner, self.convert(value, source, inner))
                code = resize(self.builder, code, register(target.bits))
                return self.builder.add(code, const(1, code.type))
            case OptionalType(inner), _:
                self.fail_unless(self.builder.icmp_unsigned("!=", value, const(0, value.type)))
                code = self.builder.sub(value, const(1, value.type))
                return self.convert(value_of(self.builder, inner, code), inner, target)
            case IntType(), IntType():
                if not fits(source, target):
                    if source.low < target.low:
                        self.fail_unless(self.builder.icmp_signed(">=", value, const(target.low)))
                    if source.high > target.high:
                        self.fail_unless(self.builder.icmp_signed("<=", value, const(target.high)))
                return value
            case SetType(), SetType():
                return self._convert_set(value, source, target)
            case SeqType(), SeqType():
                return self._convert_seq(value, source, target)
            case ((SeqType() | BagType()), BagType()):
                return self._convert_bag(value, source, target)
            case MapType(), MapType():
                return self._convert_map(value, source, target)
        raise ModelError(f"{source} cannot be converted to {target}")

    def _convert_optional(self, value: Value, source: OptionalType, target: OptionalType) -> Value:
        result = self.room(register(target.bits), "optional")
        self.builder.store(const(0, register(target.bits)), result)
        with self.when(self.builder.icmp_unsigned("!=", value, const(0, value.type))):
            code = self.builder.sub(value, const(1, value.type))
            inner = value_of(self.builder, source.inner, code)
            self.builder.store(self.convert(inner, source.inner, target), result)
        return self.builder.load(result)

    def _convert_set(self, value: Value, source: SetType, target: SetType) -> Value:
        if isinstance(source.element, NothingType):
            return const(0, register(target.bits))
        if source.element == target.element and source.capacity is None and target.capacity is None:
            return value
        if source.element == target.element and source.capacity is not None and target.capacity is not None:
            if source.capacity > target.capacity:
                beyond = shifted_right(self.builder, value, target.bits)
                self.fail_unless(self.builder.icmp_unsigned("==", beyond, const(0, beyond.type)))
            return resize(self.builder, value, register(target.bits))
        result = self.room(register(target.bits), "set")
        self.builder.store(const(0, register(target.bits)), result)
        with self._elements(value, source) as (item, _, _):
            code = code_of(self.builder, target.element, self.convert(item, source.element, target.element))
            self.builder.store(self.with_element(target, self.builder.load(result), code), result)
        return self.builder.load(result)

    def _convert_seq(self, value: Value, source: SeqType, target: SeqType) -> Value:
        if source.capacity == 0:
            return const(0, register(target.bits))
        length = self.seq_length(source, value)
        if source.capacity > target.capacity:
            self.fail_unless(self.builder.icmp_unsigned("<=", length, const(target.capacity)))
        start, goal = source.capacity.bit_length(), target.capacity.bit_length()
        if source.element == target.element:
            wide = register(max(source.bits, target.bits))
            data = shifted_right(self.builder, resize(self.builder, value, wide), start)
            data = shifted_left(self.builder, data, goal)
            code = self.builder.or_(data, resize(self.builder, length, wide))
            return resize(self.builder, code, register(target.bits))
        items, result = self.window(value), self.window(resize(self.builder, length, register(target.bits)))
        with self.counting(const(0), length) as (index, _, _):
            item = self.convert(self.seq_element(source, items, index), source.element, target.element)
            self.append(target, result, index, item)
        return result.code()

    def _convert_bag(self, value: Value, source: SeqType | BagType, target: BagType) -> Value:
        result = self.room(register(target.bits), "bag")
        self.builder.store(const(0, register(target.bits)), result)
        if isinstance(source.element, NothingType):
            return self.builder.load(result)
        with self._elements(value, source) as (item, _, _):
            code = code_of(self.builder, target.element, self.convert(item, source.element, target.element))
            bag = self.builder.load(result)
            self.builder.store(self.insert(target.element, target.capacity, bag, code, once=False), result)
        return self.builder.load(result)

    def _convert_map(self, value: Value, source: MapType, target: MapType) -> Value:
        entries, result = self.window(value), self.blank(register(target.bits))
        with self.counting(const(0), const(source.key.size)) as (index, _, _):
            old = entries.cut(self.builder.mul(index, const(source.value.bits)), source.value.bits)
            item = self.convert(value_of(self.builder, source.value, old), source.value, target.value)
            place, bits = self.builder.mul(index, const(target.value.bits)), target.value.bits
            result.write(place, bits, code_of(self.builder, target.value, item))
        return result.code()
