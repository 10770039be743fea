"""Emits loops over the content of a container, the values of a type or a range; and the positions of elements."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

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
from floodmark.checkers.codegen.windows import Window, Windows
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


class Elements(Windows):
    """A routine that can iterate."""

    @contextmanager
    def codes(self, kind: Type) -> Any:
        """A loop over the codes of a type's values; yields (code, next, exit)."""
        with self.counting(const(0), const(kind.codes)) as (index, onward, leave):
            code = resize(self.builder, index, register(kind.bits))
            self._skip_unless(self.is_code(kind, code), onward)
            yield code, onward, leave

    @contextmanager
    def _elements(self, code: Value, kind: Type, distinct: bool = False) -> Any:
        match kind:
            case SetType(NothingType(), _):
                with self.counting(const(0), const(0)) as (index, onward, leave):
                    yield index, onward, leave
            case SetType(element, None):
                with self.members(code) as (position, onward, leave):
                    value = resize(self.builder, position, register(element.bits))
                    yield value_of(self.builder, element, value), onward, leave
            case SetType(element, capacity) | BagType(element, capacity):
                width = element.codes.bit_length()
                assert capacity is not None
                slots = self.window(code)
                with self.counting(const(capacity - 1), const(-1), -1) as (index, onward, leave):
                    offset = self.builder.mul(index, const(width))
                    slot = slots.cut(offset, width)
                    self._skip_unless(self.builder.icmp_unsigned("!=", slot, const(0, slot.type)), onward)
                    if distinct and isinstance(kind, BagType):
                        self._skip_unless(self._first_of_its_kind(slots, width, index, offset, slot), onward)
                    inner = self.builder.sub(slot, const(1, slot.type))
                    yield value_of(self.builder, element, inner), onward, leave
            case SeqType(element, _):
                items = self.window(code)
                with self.counting(const(0), self.seq_length(kind, code)) as (index, onward, leave):
                    yield self.seq_element(kind, items, index), onward, leave
            case _:
                raise ModelError(f"{kind} cannot be iterated")

    def _first_of_its_kind(self, slots: Window, width: int, index: Value, offset: Value, slot: Value) -> Value:
        """Whether the slot before this one, in the packed order, holds a different element."""
        first = self.builder.icmp_unsigned("==", index, const(0))
        before_at = self.builder.select(first, const(0), self.builder.sub(offset, const(width)))
        before = slots.cut(before_at, width)
        return self.builder.or_(first, self.builder.icmp_unsigned("!=", before, slot))

    def is_code(self, kind: Type, code: Value) -> Value | None:
        """Whether a code in the type's code space stands for a value; None when every one does."""
        match kind:
            case RecordType(_, fields):
                valid: Value | None = None
                offset = sum(of.bits for _, of in fields)
                for _, of in fields:
                    offset -= of.bits
                    part = cut(self.builder, code, offset, of.bits)
                    checks = [self.is_code(of, part)]
                    if of.codes != 1 << of.bits:
                        checks.append(self.builder.icmp_unsigned("<", part, const(of.codes, part.type)))
                    for check in checks:
                        if check is not None:
                            valid = check if valid is None else self.builder.and_(valid, check)
                if isinstance(kind, UnionType):
                    whole = self._is_of_its_class(kind, code)
                    return whole if valid is None else self.builder.and_(valid, whole)
                return valid
            case MapType(key, of):
                fields = tuple((str(number), of) for number in range(key.size))
                return self.is_code(RecordType(Record, fields), code)
            case SetType(element, None):
                known = {encode(element, member) for member in universe(element)}
                gaps = sum(1 << position for position in range(element.codes) if position not in known)
                if not gaps:
                    return None
                stray = self.builder.and_(code, const(gaps, code.type))
                return self.builder.icmp_unsigned("==", stray, const(0, code.type))
            case OptionalType(inner):
                held = self.is_code(inner, self.builder.sub(code, const(1, code.type)))
                if held is None:
                    return None
                return self.builder.or_(self.builder.icmp_unsigned("==", code, const(0, code.type)), held)
        return None

    def _is_of_its_class(self, kind: UnionType, code: Value) -> Value:
        """Whether a record of a union has the fields of its class, and no others."""
        offset = sum(of.bits for _, of in kind.fields)
        valid: Value = const(1, I1)
        tag: Value | None = None
        for name, of in kind.fields:
            offset -= of.bits
            part = cut(self.builder, code, offset, of.bits)
            if tag is None:
                tag = part
                continue
            if kind.is_common(name):
                continue
            there = self.builder.icmp_unsigned("!=", part, const(0, part.type))
            has: Value = const(0, I1)
            for number in kind.having(name):
                has = self.builder.or_(has, self.builder.icmp_unsigned("==", tag, const(number, tag.type)))
            missing = self.builder.not_(there)
            right = self.builder.or_(has, missing)
            if kind.members[kind.having(name)[0]].field(name) != of:
                right = self.builder.and_(right, self.builder.or_(there, self.builder.not_(has)))
            valid = self.builder.and_(valid, right)
        return valid

    def map_offset(self, kind: MapType, key: Value) -> Value:
        """The bit at which the entry of a key starts."""
        position = self.position(kind.key, code_of(self.builder, kind.key, key))
        return self.builder.mul(position, const(kind.value.bits))

    def position(self, kind: Type, code: Value) -> Value:
        """The number of values of a type that come before this one, given by its code.

        It is the code itself unless there are codes of no value: a record of a field of 3 values and one of 2 has 6
        values, and 8 codes. As in a code, a record's first field and a map's last entry count most.
        """
        if kind.size == kind.codes:
            return resize(self.builder, code, I64)
        result: Value = const(0)
        match kind:
            case OptionalType(inner):
                after = self.builder.add(self.position(inner, self.builder.sub(code, const(1, code.type))), const(1))
                none = self.builder.icmp_unsigned("==", code, const(0, code.type))
                return self.builder.select(none, const(0), after)
            case RecordType(_, fields):
                offset = sum(of.bits for _, of in fields)
                for _, of in fields:
                    offset -= of.bits
                    result = self._digit(result, of, cut(self.builder, code, offset, of.bits))
                return result
            case MapType(key, of):
                for entry in reversed(range(key.size)):
                    result = self._digit(result, of, cut(self.builder, code, entry * of.bits, of.bits))
                return result
            case SetType(element, None):
                for place, member in enumerate(universe(element)):
                    bit = resize(self.builder, cut(self.builder, code, encode(element, member), 1), I64)
                    result = self.builder.or_(result, shifted_left(self.builder, bit, place))
                return result
        raise ModelError(f"{kind} cannot be the key of a map")

    def _digit(self, number: Value, kind: Type, code: Value) -> Value:
        """A number with one more digit, which has as many values as a type."""
        return self.builder.add(self.builder.mul(number, const(kind.size)), self.position(kind, code))

    @contextmanager
    def keys(self, kind: MapType) -> Any:
        """A loop over the keys of a map; yields (position of the entry, code of the key)."""
        if kind.key.size == kind.key.codes:
            with self.counting(const(0), const(kind.key.size)) as (index, _, _):
                yield index, resize(self.builder, index, register(kind.key.bits))
            return
        place = self.room(I64, "position")
        self.builder.store(const(0), place)
        with self.codes(kind.key) as (code, _, _):
            position = self.builder.load(place)
            self.builder.store(self.builder.add(position, const(1)), place)
            yield position, code

    def seq_length(self, kind: SeqType, code: Value) -> Value:
        return resize(self.builder, cut(self.builder, code, 0, kind.capacity.bit_length()), I64)

    def seq_element(self, kind: SeqType, items: Window, index: Value) -> Value:
        return value_of(self.builder, kind.element, items.cut(self.seq_offset(kind, index), kind.element.bits))

    def seq_offset(self, kind: SeqType, index: Value) -> Value:
        """The bit at which an element starts."""
        return self.builder.add(self.builder.mul(index, const(kind.element.bits)), const(kind.capacity.bit_length()))

    def seq_index(self, kind: SeqType, code: Value, index: Value) -> Value:
        """An index as in Python, with negative ones counted from the end; fails when it is out of range."""
        length = self.seq_length(kind, code)
        negative = self.builder.icmp_signed("<", index, const(0))
        index = self.builder.select(negative, self.builder.add(index, length), index)
        self.fail_unless(self.builder.icmp_unsigned("<", index, length))
        return index
