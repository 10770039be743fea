"""Emits conversions of a value to another type, which fail where the type cannot hold the value."""

from __future__ import annotations

from collections.abc import Callable

from floodmark.checkers.codegen import containers, elements, windows
from floodmark.checkers.codegen.bits import (
    I1,
    Value,
    code_of,
    const,
    register,
    register_of,
    resize,
    shifted_left,
    shifted_right,
    value_of,
)
from floodmark.checkers.codegen.routine import Routine
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


def embed(routine: Routine, source: Type, target: Type, value: Value) -> tuple[Value, Callable[[], Value]]:
    """Whether a value belongs to another type, and a function that emits it there (call it only where it does)."""
    if source == target:
        return const(1, I1), lambda: value
    match source, target:
        case IntType(), IntType():
            low = routine.builder.icmp_signed(">=", value, const(target.low))
            high = routine.builder.icmp_signed("<=", value, const(target.high))
            return routine.builder.and_(low, high), lambda: value
        case NoneType(), OptionalType():
            return const(1, I1), lambda: const(0, register(target.bits))
        case NoneType(), _:
            return const(0, I1), lambda: const(0, register_of(target))
        case OptionalType(inner), OptionalType():
            if inner == target.inner:
                return const(1, I1), lambda: value
            return const(1, I1), lambda: convert(routine, value, source, target)
        case OptionalType(inner), _:
            there = routine.builder.icmp_unsigned("!=", value, const(0, value.type))
            code = routine.builder.sub(value, const(1, value.type))
            fitting, embedded = embed(routine, inner, target, value_of(routine.builder, inner, code))
            return routine.builder.and_(there, fitting), embedded
        case _, OptionalType(inner):
            fitting, embedded = embed(routine, source, inner, value)
            return fitting, lambda: convert(routine, embedded(), inner, target)
    return const(1, I1), lambda: convert(routine, value, source, target)


def convert(routine: Routine, value: Value, source: Type, target: Type) -> Value:
    """A value in another type; fails where that type cannot hold it."""
    if source == target:
        return value
    match source, target:
        case NothingType(), _:
            return const(0, register_of(target))  # never evaluated: there is no such element
        case NoneType(), OptionalType():
            return const(0, register(target.bits))
        case NoneType(), _:
            routine.fail()
            return const(0, register_of(target))
        case OptionalType(inner), OptionalType():
            return _convert_optional(routine, value, source, target)
        case _, OptionalType(inner):
            code = code_of(routine.builder, inner, convert(routine, value, source, inner))
            code = resize(routine.builder, code, register(target.bits))
            return routine.builder.add(code, const(1, code.type))
        case OptionalType(inner), _:
            routine.fail_unless(routine.builder.icmp_unsigned("!=", value, const(0, value.type)))
            code = routine.builder.sub(value, const(1, value.type))
            return convert(routine, value_of(routine.builder, inner, code), inner, target)
        case IntType(), IntType():
            if not fits(source, target):
                if source.low < target.low:
                    routine.fail_unless(routine.builder.icmp_signed(">=", value, const(target.low)))
                if source.high > target.high:
                    routine.fail_unless(routine.builder.icmp_signed("<=", value, const(target.high)))
            return value
        case SetType(), SetType():
            return _convert_set(routine, value, source, target)
        case SeqType(), SeqType():
            return _convert_seq(routine, value, source, target)
        case ((SeqType() | BagType()), BagType()):
            return _convert_bag(routine, value, source, target)
        case MapType(), MapType():
            return _convert_map(routine, value, source, target)
    raise ModelError(f"{source} cannot be converted to {target}")


def _convert_optional(routine: Routine, value: Value, source: OptionalType, target: OptionalType) -> Value:
    result = routine.room(register(target.bits), "optional")
    routine.builder.store(const(0, register(target.bits)), result)
    with routine.when(routine.builder.icmp_unsigned("!=", value, const(0, value.type))):
        code = routine.builder.sub(value, const(1, value.type))
        inner = value_of(routine.builder, source.inner, code)
        routine.builder.store(convert(routine, inner, source.inner, target), result)
    return routine.builder.load(result)


def _convert_set(routine: Routine, value: Value, source: SetType, target: SetType) -> Value:
    if isinstance(source.element, NothingType):
        return const(0, register(target.bits))
    if source.element == target.element and source.capacity is None and target.capacity is None:
        return value
    if source.element == target.element and source.capacity is not None and target.capacity is not None:
        if source.capacity > target.capacity:
            beyond = shifted_right(routine.builder, value, target.bits)
            routine.fail_unless(routine.builder.icmp_unsigned("==", beyond, const(0, beyond.type)))
        return resize(routine.builder, value, register(target.bits))
    result = routine.room(register(target.bits), "set")
    routine.builder.store(const(0, register(target.bits)), result)
    with elements.iterate(routine, value, source) as (item, _, _):
        code = code_of(routine.builder, target.element, convert(routine, item, source.element, target.element))
        routine.builder.store(containers.with_element(routine, target, routine.builder.load(result), code), result)
    return routine.builder.load(result)


def _convert_seq(routine: Routine, value: Value, source: SeqType, target: SeqType) -> Value:
    if source.capacity == 0:
        return const(0, register(target.bits))
    length = elements.seq_length(routine, source, value)
    if source.capacity > target.capacity:
        routine.fail_unless(routine.builder.icmp_unsigned("<=", length, const(target.capacity)))
    start, goal = source.capacity.bit_length(), target.capacity.bit_length()
    if source.element == target.element:
        wide = register(max(source.bits, target.bits))
        data = shifted_right(routine.builder, resize(routine.builder, value, wide), start)
        data = shifted_left(routine.builder, data, goal)
        code = routine.builder.or_(data, resize(routine.builder, length, wide))
        return resize(routine.builder, code, register(target.bits))
    items = windows.of(routine, value)
    result = windows.of(routine, resize(routine.builder, length, register(target.bits)))
    with routine.counting(const(0), length) as (index, _, _):
        item = convert(routine, elements.seq_element(routine, source, items, index), source.element, target.element)
        containers.append(routine, target, result, index, item)
    return result.code()


def _convert_bag(routine: Routine, value: Value, source: SeqType | BagType, target: BagType) -> Value:
    result = routine.room(register(target.bits), "bag")
    routine.builder.store(const(0, register(target.bits)), result)
    if isinstance(source.element, NothingType):
        return routine.builder.load(result)
    with elements.iterate(routine, value, source) as (item, _, _):
        code = code_of(routine.builder, target.element, convert(routine, item, source.element, target.element))
        bag = routine.builder.load(result)
        larger = containers.insert(routine, target.element, target.capacity, bag, code, once=False)
        routine.builder.store(larger, result)
    return routine.builder.load(result)


def _convert_map(routine: Routine, value: Value, source: MapType, target: MapType) -> Value:
    entries, result = windows.of(routine, value), windows.blank(routine, register(target.bits))
    with routine.counting(const(0), const(source.key.size)) as (index, _, _):
        old = entries.cut(routine.builder.mul(index, const(source.value.bits)), source.value.bits)
        item = convert(routine, value_of(routine.builder, source.value, old), source.value, target.value)
        place, bits = routine.builder.mul(index, const(target.value.bits)), target.value.bits
        result.write(place, bits, code_of(routine.builder, target.value, item))
    return result.code()
