"""Emits operations on sets, bags and sequences that are held as packed codes."""

from __future__ import annotations

from floodmark.checkers.codegen import elements, windows
from floodmark.checkers.codegen.bits import (
    I1,
    I64,
    Value,
    code_of,
    const,
    register,
    resize,
)
from floodmark.checkers.codegen.routine import Routine
from floodmark.checkers.codegen.windows import Window
from floodmark.language.types import (
    MapType,
    SeqType,
    SetType,
    Type,
)


def with_element(routine: Routine, kind: SetType, code: Value, item: Value) -> Value:
    """A set with one more element."""
    if kind.capacity is None:
        window = windows.of(routine, code)
        window.set(resize(routine.builder, item, I64))
        return window.code()
    return insert(routine, kind.element, kind.capacity, code, item, once=True)


def insert(routine: Routine, element: Type, capacity: int, code: Value, item: Value, once: bool) -> Value:
    """Descending slots with one more element; fails when all slots are taken."""
    width = element.codes.bit_length()
    slot_kind = register(width)
    carried = routine.room(slot_kind, "carried")
    slots, result = windows.of(routine, code), windows.blank(routine, code.type)
    first = routine.builder.add(resize(routine.builder, item, slot_kind), const(1, slot_kind))
    routine.builder.store(first, carried)
    with routine.counting(const(0), const(capacity)) as (index, _, _):
        offset = routine.builder.mul(index, const(width))
        slot = slots.cut(offset, width)
        moving = routine.builder.load(carried)
        larger = routine.builder.icmp_unsigned(">", moving, slot)
        kept = routine.builder.select(larger, moving, slot)
        onward = routine.builder.select(larger, slot, moving)
        if once:
            same = routine.builder.icmp_unsigned("==", moving, slot)
            onward = routine.builder.select(same, const(0, slot_kind), onward)
        routine.builder.store(onward, carried)
        result.write(offset, width, kept)
    routine.fail_unless(routine.builder.icmp_unsigned("==", routine.builder.load(carried), const(0, slot_kind)))
    return result.code()


def without(routine: Routine, element: Type, capacity: int, code: Value, item: Value) -> tuple[Value, Value]:
    """Slots with one occurrence of an element removed, and whether it was there."""
    width = element.codes.bit_length()
    slot_kind = register(width)
    found, slots, result = routine.room(I1, "found"), windows.of(routine, code), windows.blank(routine, code.type)
    wanted = routine.builder.add(resize(routine.builder, item, slot_kind), const(1, slot_kind))
    routine.builder.store(const(0, I1), found)
    with routine.counting(const(0), const(capacity)) as (index, _, _):
        offset = routine.builder.mul(index, const(width))
        slot = slots.cut(offset, width)
        here = routine.builder.icmp_unsigned("==", slot, wanted)
        gone = routine.builder.or_(routine.builder.load(found), here)
        routine.builder.store(gone, found)
        following_at = routine.builder.add(offset, const(width))
        outside = routine.builder.icmp_unsigned(">=", following_at, const(width * capacity))
        following_at = routine.builder.select(outside, const(0), following_at)
        following = routine.builder.select(outside, const(0, slot.type), slots.cut(following_at, width))
        kept = routine.builder.select(gone, following, slot)
        result.write(offset, width, kept)
    return result.code(), routine.builder.load(found)


def contains(routine: Routine, kind: Type, code: Value, value: Value) -> Value:
    """Whether a container has an element, given as a value of the container's element type."""
    match kind:
        case SetType(element, None):
            item = resize(routine.builder, code_of(routine.builder, element, value), I64)
            return routine.builder.trunc(windows.of(routine, code).cut(item, 1), I1)
    found = routine.room(I1, "found")
    routine.builder.store(const(0, I1), found)
    with elements.iterate(routine, code, kind) as (other, _, leave):
        same = routine.builder.icmp_unsigned("==", other, value)
        onward = routine.block("differs")
        hit = routine.block("hit")
        routine.builder.cbranch(same, hit, onward)
        routine.builder.position_at_end(hit)
        routine.builder.store(const(1, I1), found)
        routine.builder.branch(leave)
        routine.builder.position_at_end(onward)
    return routine.builder.load(found)


def size(routine: Routine, kind: Type, code: Value) -> Value:
    match kind:
        case SetType(_, None):
            return resize(routine.builder, routine.builder.ctpop(code), I64)
        case SeqType():
            return elements.seq_length(routine, kind, code)
        case MapType(key, _):
            return const(key.size)
    count = routine.room(I64, "size")
    routine.builder.store(const(0), count)
    with elements.iterate(routine, code, kind):
        routine.builder.store(routine.builder.add(routine.builder.load(count), const(1)), count)
    return routine.builder.load(count)


def append(routine: Routine, kind: SeqType, window: Window, index: Value, item: Value) -> None:
    """Writes an element to a position that is still zero."""
    offset = elements.seq_offset(routine, kind, index)
    window.write(offset, kind.element.bits, code_of(routine.builder, kind.element, item))
