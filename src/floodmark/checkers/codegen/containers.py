"""Emits operations on sets, bags and sequences that are held as packed codes."""

from __future__ import annotations

from floodmark.checkers.codegen.bits import (
    I1,
    I64,
    Value,
    code_of,
    const,
    register,
    resize,
)
from floodmark.checkers.codegen.elements import Elements
from floodmark.checkers.codegen.windows import Window
from floodmark.language.types import (
    MapType,
    SeqType,
    SetType,
    Type,
)


class Containers(Elements):
    """A routine that can read and change containers."""

    def with_element(self, kind: SetType, code: Value, item: Value) -> Value:
        """A set with one more element."""
        if kind.capacity is None:
            window = self.window(code)
            window.set(resize(self.builder, item, I64))
            return window.code()
        return self.insert(kind.element, kind.capacity, code, item, once=True)

    def insert(self, element: Type, capacity: int, code: Value, item: Value, once: bool) -> Value:
        """Descending slots with one more element; fails when all slots are taken."""
        width = element.codes.bit_length()
        slot_kind = register(width)
        carried, slots, result = self.room(slot_kind, "carried"), self.window(code), self.blank(code.type)
        first = self.builder.add(resize(self.builder, item, slot_kind), const(1, slot_kind))
        self.builder.store(first, carried)
        with self.counting(const(0), const(capacity)) as (index, _, _):
            offset = self.builder.mul(index, const(width))
            slot = slots.cut(offset, width)
            moving = self.builder.load(carried)
            larger = self.builder.icmp_unsigned(">", moving, slot)
            kept = self.builder.select(larger, moving, slot)
            onward = self.builder.select(larger, slot, moving)
            if once:
                same = self.builder.icmp_unsigned("==", moving, slot)
                onward = self.builder.select(same, const(0, slot_kind), onward)
            self.builder.store(onward, carried)
            result.write(offset, width, kept)
        self.fail_unless(self.builder.icmp_unsigned("==", self.builder.load(carried), const(0, slot_kind)))
        return result.code()

    def without(self, element: Type, capacity: int, code: Value, item: Value) -> tuple[Value, Value]:
        """Slots with one occurrence of an element removed, and whether it was there."""
        width = element.codes.bit_length()
        slot_kind = register(width)
        found, slots, result = self.room(I1, "found"), self.window(code), self.blank(code.type)
        wanted = self.builder.add(resize(self.builder, item, slot_kind), const(1, slot_kind))
        self.builder.store(const(0, I1), found)
        with self.counting(const(0), const(capacity)) as (index, _, _):
            offset = self.builder.mul(index, const(width))
            slot = slots.cut(offset, width)
            here = self.builder.icmp_unsigned("==", slot, wanted)
            gone = self.builder.or_(self.builder.load(found), here)
            self.builder.store(gone, found)
            following_at = self.builder.add(offset, const(width))
            outside = self.builder.icmp_unsigned(">=", following_at, const(width * capacity))
            following_at = self.builder.select(outside, const(0), following_at)
            following = self.builder.select(outside, const(0, slot.type), slots.cut(following_at, width))
            kept = self.builder.select(gone, following, slot)
            result.write(offset, width, kept)
        return result.code(), self.builder.load(found)

    def contains(self, kind: Type, code: Value, value: Value) -> Value:
        """Whether a container has an element, given as a value of the container's element type."""
        match kind:
            case SetType(element, None):
                item = resize(self.builder, code_of(self.builder, element, value), I64)
                return self.builder.trunc(self.window(code).cut(item, 1), I1)
        found = self.room(I1, "found")
        self.builder.store(const(0, I1), found)
        with self._elements(code, kind) as (other, _, leave):
            same = self.builder.icmp_unsigned("==", other, value)
            onward = self.block("differs")
            hit = self.block("hit")
            self.builder.cbranch(same, hit, onward)
            self.builder.position_at_end(hit)
            self.builder.store(const(1, I1), found)
            self.builder.branch(leave)
            self.builder.position_at_end(onward)
        return self.builder.load(found)

    def size(self, kind: Type, code: Value) -> Value:
        match kind:
            case SetType(_, None):
                return resize(self.builder, self.builder.ctpop(code), I64)
            case SeqType():
                return self.seq_length(kind, code)
            case MapType(key, _):
                return const(key.size)
        count = self.room(I64, "size")
        self.builder.store(const(0), count)
        with self._elements(code, kind):
            self.builder.store(self.builder.add(self.builder.load(count), const(1)), count)
        return self.builder.load(count)

    def append(self, kind: SeqType, window: Window, index: Value, item: Value) -> None:
        """Writes an element to a position that is still zero."""
        window.write(self.seq_offset(kind, index), kind.element.bits, code_of(self.builder, kind.element, item))
