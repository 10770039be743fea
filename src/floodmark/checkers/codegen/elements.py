"""Emits loops over the content of a container, the values of a type or a range; and the positions of elements."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from floodmark.checkers.codegen import windows
from floodmark.checkers.codegen.bits import (
    I1,
    I64,
    Value,
    code_of,
    const,
    cut,
    register,
    resize,
    shifted_left,
    value_of,
)
from floodmark.checkers.codegen.routine import Routine
from floodmark.checkers.codegen.windows import Window
from floodmark.compiler.ir import (
    NothingType,
)
from floodmark.compiler.layout import encode
from floodmark.language.errors import ModelError
from floodmark.language.types import (
    BagType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from floodmark.language.universe import universe
from floodmark.language.values import Record


@contextmanager
def codes(routine: Routine, kind: Type, unrolled: bool = False) -> Any:
    """A loop over the codes of a type's values; yields (code, next, exit)."""
    with routine.counting(const(0), const(kind.codes), unrolled=unrolled) as (index, onward, leave):
        code = resize(routine.builder, index, register(kind.bits))
        routine.skip_unless(is_code(routine, kind, code), onward)
        yield code, onward, leave


@contextmanager
def iterate(routine: Routine, code: Value, kind: Type, distinct: bool = False) -> Any:
    """A loop over the elements of a container; yields (element, next, exit). With ``distinct``, an element that a bag
    holds several times is visited once."""
    match kind:
        case SetType(NothingType(), _):
            with routine.counting(const(0), const(0)) as (index, onward, leave):
                yield index, onward, leave
        case SetType(element, None):
            with windows.members(routine, code) as (position, onward, leave):
                value = resize(routine.builder, position, register(element.bits))
                yield value_of(routine.builder, element, value), onward, leave
        case SetType(element, capacity) | BagType(element, capacity):
            width = element.codes.bit_length()
            assert capacity is not None
            slots = windows.of(routine, code)
            with routine.counting(const(capacity - 1), const(-1), -1) as (index, onward, leave):
                offset = routine.builder.mul(index, const(width))
                slot = slots.cut(offset, width)
                routine.skip_unless(routine.builder.icmp_unsigned("!=", slot, const(0, slot.type)), onward)
                if distinct and isinstance(kind, BagType):
                    routine.skip_unless(_first_of_its_kind(routine, slots, width, index, offset, slot), onward)
                inner = routine.builder.sub(slot, const(1, slot.type))
                yield value_of(routine.builder, element, inner), onward, leave
        case SeqType(element, _):
            items = windows.of(routine, code)
            with routine.counting(const(0), seq_length(routine, kind, code)) as (index, onward, leave):
                yield seq_element(routine, kind, items, index), onward, leave
        case _:
            raise ModelError(f"{kind} cannot be iterated")


def _first_of_its_kind(routine: Routine, slots: Window, width: int, index: Value, offset: Value, slot: Value) -> Value:
    """Whether the slot before this one, in the packed order, holds a different element."""
    first = routine.builder.icmp_unsigned("==", index, const(0))
    before_at = routine.builder.select(first, const(0), routine.builder.sub(offset, const(width)))
    before = slots.cut(before_at, width)
    return routine.builder.or_(first, routine.builder.icmp_unsigned("!=", before, slot))


def is_code(routine: Routine, kind: Type, code: Value) -> Value | None:
    """Whether a code in the type's code space stands for a value; None when every one does."""
    match kind:
        case RecordType(_, fields):
            valid: Value | None = None
            offset = sum(of.bits for _, of in fields)
            for _, of in fields:
                offset -= of.bits
                part = cut(routine.builder, code, offset, of.bits)
                checks = [is_code(routine, of, part)]
                if of.codes != 1 << of.bits:
                    checks.append(routine.builder.icmp_unsigned("<", part, const(of.codes, part.type)))
                for check in checks:
                    if check is not None:
                        valid = check if valid is None else routine.builder.and_(valid, check)
            if isinstance(kind, UnionType):
                whole = _is_of_its_class(routine, kind, code)
                return whole if valid is None else routine.builder.and_(valid, whole)
            return valid
        case MapType(key, of):
            fields = tuple((str(number), of) for number in range(key.size))
            return is_code(routine, RecordType(Record, fields), code)
        case SetType(element, None):
            known = {encode(element, member) for member in universe(element)}
            gaps = sum(1 << position for position in range(element.codes) if position not in known)
            if not gaps:
                return None
            stray = routine.builder.and_(code, const(gaps, code.type))
            return routine.builder.icmp_unsigned("==", stray, const(0, code.type))
        case OptionalType(inner):
            held = is_code(routine, inner, routine.builder.sub(code, const(1, code.type)))
            if held is None:
                return None
            return routine.builder.or_(routine.builder.icmp_unsigned("==", code, const(0, code.type)), held)
    return None


def _is_of_its_class(routine: Routine, kind: UnionType, code: Value) -> Value:
    """Whether a record of a union has the fields of its class, and no others."""
    offset = sum(of.bits for _, of in kind.fields)
    valid: Value = const(1, I1)
    tag: Value | None = None
    for name, of in kind.fields:
        offset -= of.bits
        part = cut(routine.builder, code, offset, of.bits)
        if tag is None:
            tag = part
            continue
        if kind.is_common(name):
            continue
        there = routine.builder.icmp_unsigned("!=", part, const(0, part.type))
        has: Value = const(0, I1)
        for number in kind.having(name):
            has = routine.builder.or_(has, routine.builder.icmp_unsigned("==", tag, const(number, tag.type)))
        missing = routine.builder.not_(there)
        right = routine.builder.or_(has, missing)
        if kind.members[kind.having(name)[0]].field(name) != of:
            right = routine.builder.and_(right, routine.builder.or_(there, routine.builder.not_(has)))
        valid = routine.builder.and_(valid, right)
    return valid


def map_offset(routine: Routine, kind: MapType, key: Value) -> Value:
    """The bit at which the entry of a key starts."""
    position = rank(routine, kind.key, code_of(routine.builder, kind.key, key))
    return routine.builder.mul(position, const(kind.value.bits))


def rank(routine: Routine, kind: Type, code: Value) -> Value:
    """The number of values of a type that come before this one, given by its code.

    It is the code itself unless there are codes of no value: a record of a field of 3 values and one of 2 has 6
    values, and 8 codes. As in a code, a record's first field and a map's last entry count most.
    """
    if kind.size == kind.codes:
        return resize(routine.builder, code, I64)
    result: Value = const(0)
    match kind:
        case OptionalType(inner):
            held = routine.builder.sub(code, const(1, code.type))
            after = routine.builder.add(rank(routine, inner, held), const(1))
            none = routine.builder.icmp_unsigned("==", code, const(0, code.type))
            return routine.builder.select(none, const(0), after)
        case RecordType(_, fields):
            offset = sum(of.bits for _, of in fields)
            for _, of in fields:
                offset -= of.bits
                result = _digit(routine, result, of, cut(routine.builder, code, offset, of.bits))
            return result
        case MapType(key, of):
            for entry in reversed(range(key.size)):
                result = _digit(routine, result, of, cut(routine.builder, code, entry * of.bits, of.bits))
            return result
        case SetType(element, None):
            for place, member in enumerate(universe(element)):
                bit = resize(routine.builder, cut(routine.builder, code, encode(element, member), 1), I64)
                result = routine.builder.or_(result, shifted_left(routine.builder, bit, place))
            return result
    raise ModelError(f"{kind} cannot be the key of a map")


def _digit(routine: Routine, number: Value, kind: Type, code: Value) -> Value:
    """A number with one more digit, which has as many values as a type."""
    return routine.builder.add(routine.builder.mul(number, const(kind.size)), rank(routine, kind, code))


@contextmanager
def keys(routine: Routine, kind: MapType) -> Any:
    """A loop over the keys of a map; yields (position of the entry, code of the key)."""
    if kind.key.size == kind.key.codes:
        with routine.counting(const(0), const(kind.key.size)) as (index, _, _):
            yield index, resize(routine.builder, index, register(kind.key.bits))
        return
    place = routine.room(I64, "position")
    routine.builder.store(const(0), place)
    with codes(routine, kind.key) as (code, _, _):
        position = routine.builder.load(place)
        routine.builder.store(routine.builder.add(position, const(1)), place)
        yield position, code


def seq_length(routine: Routine, kind: SeqType, code: Value) -> Value:
    return resize(routine.builder, cut(routine.builder, code, 0, kind.capacity.bit_length()), I64)


def seq_element(routine: Routine, kind: SeqType, items: Window, index: Value) -> Value:
    return value_of(routine.builder, kind.element, items.cut(seq_offset(routine, kind, index), kind.element.bits))


def seq_offset(routine: Routine, kind: SeqType, index: Value) -> Value:
    """The bit at which an element starts."""
    return routine.builder.add(routine.builder.mul(index, const(kind.element.bits)), const(kind.capacity.bit_length()))


def seq_index(routine: Routine, kind: SeqType, code: Value, index: Value) -> Value:
    """An index as in Python, with negative ones counted from the end; fails when it is out of range."""
    length = seq_length(routine, kind, code)
    negative = routine.builder.icmp_signed("<", index, const(0))
    index = routine.builder.select(negative, routine.builder.add(index, length), index)
    routine.fail_unless(routine.builder.icmp_unsigned("<", index, length))
    return index
