"""Reads and writes parts of a code at offsets that are known only when the machine code runs.

A code of up to two words is shifted in registers. A wider one is laid out in memory, where a part takes two words at
most: shifts of a wide register by an unknown distance are long code, one for each of them.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Protocol

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I64, Value, const, cut, masked, put, register, resize, shifted_left
from floodmark.checkers.codegen.routine import Routine
from floodmark.language.types import WORD

MAX_REGISTER_BITS = 2 * WORD


class Window(Protocol):
    """A code whose parts can be read and changed. Offsets are 64-bit values."""

    def cut(self, offset: Value, bits: int) -> Value:
        """``bits`` bits, as a code in a register of its own."""

    def flip(self, offset: Value, bits: int, part: Value) -> None:
        """Flips the bits that are set in ``part``."""

    def write(self, offset: Value, bits: int, part: Value) -> None:
        """Writes ``part`` where all bits are still zero."""

    def replace(self, offset: Value, bits: int, part: Value) -> None:
        """Writes ``part``, whatever was there."""

    def set(self, offset: Value) -> None:
        """Sets one bit."""

    def code(self) -> Value:
        """The whole code."""


def of(routine: Routine, code: Value) -> Window:
    """A window on a copy of a code."""
    return (_Register if code.type.width <= MAX_REGISTER_BITS else _Memory)(routine, code)


def blank(routine: Routine, kind: ir.LlvmIntType) -> Window:
    """A window on zero."""
    return of(routine, const(0, kind))


@contextmanager
def members(routine: Routine, mask: Value) -> Any:
    """A loop over the set bits of a mask, from the lowest up; yields (position, next, exit)."""
    if mask.type.width <= MAX_REGISTER_BITS:
        with routine.set_bits(mask) as found:
            yield found
        return
    window = of(routine, mask)
    with (
        routine.counting(const(0), const(mask.type.width), WORD) as (start, _, leave),
        routine.set_bits(window.cut(start, WORD)) as (position, onward, _),
    ):
        yield routine.builder.add(start, position), onward, leave


def funnel(routine: Routine, direction: str, high: Value, low: Value, by: Value) -> Value:
    """The upper word of two after a shift to the left ("l"), or the lower one after a shift to the right ("r")."""
    return routine.builder.intrinsic(f"llvm.fsh{direction}", I64, [high, low, by], I64)


class _Register:
    """A code in a variable, which LLVM keeps in registers."""

    def __init__(self, routine: Routine, code: Value) -> None:
        self._routine = routine
        self._place = routine.room(code.type, "code")
        routine.builder.store(code, self._place)

    def code(self) -> Value:
        return self._routine.builder.load(self._place)

    def cut(self, offset: Value, bits: int) -> Value:
        return cut(self._routine.builder, self.code(), offset, bits)

    def flip(self, offset: Value, bits: int, part: Value) -> None:
        self._change("xor", offset, bits, part)

    def write(self, offset: Value, bits: int, part: Value) -> None:
        self._change("or_", offset, bits, part)

    def _change(self, how: str, offset: Value, bits: int, part: Value) -> None:
        if bits == 0:
            return
        builder, code = self._routine.builder, self.code()
        moved = shifted_left(builder, resize(builder, part, code.type), offset)
        builder.store(getattr(builder, how)(code, moved), self._place)

    def replace(self, offset: Value, bits: int, part: Value) -> None:
        builder = self._routine.builder
        builder.store(put(builder, self.code(), offset, bits, part), self._place)

    def set(self, offset: Value) -> None:
        builder, code = self._routine.builder, self.code()
        builder.store(builder.or_(code, shifted_left(builder, const(1, code.type), offset)), self._place)


class _Memory:
    """A code in memory, word by word, with one word more so that two words can be read at each."""

    def __init__(self, routine: Routine, code: Value) -> None:
        self._routine = routine
        self._kind = code.type
        words = code.type.width // WORD
        self._words = routine.room(ir.ArrayType(I64, words + 1), "words")
        builder = routine.builder
        self._whole = builder.bitcast(self._words, code.type.as_pointer())
        builder.store(code, self._whole)
        builder.store(const(0), self._word(const(words)))

    def _word(self, index: Value) -> Value:
        return self._routine.builder.gep(self._words, [const(0), index])

    def code(self) -> Value:
        return self._routine.builder.load(self._whole)

    def _starts(self, offset: Value, bits: int) -> tuple[list[Value], Value]:
        """The places of the words that a part lies in, and its distance from the start of the first one."""
        builder = self._routine.builder
        first = builder.lshr(offset, const(WORD.bit_length() - 1))
        places = [self._word(builder.add(first, const(more))) for more in range(-(-bits // WORD) + 1)]
        return places, builder.and_(offset, const(WORD - 1))

    def cut(self, offset: Value, bits: int) -> Value:
        builder = self._routine.builder
        places, by = self._starts(offset, bits)
        words = [builder.load(place) for place in places]
        kind = register(bits)
        result: Value = const(0, kind)
        for index in range(len(words) - 1):
            piece = funnel(self._routine, "r", words[index + 1], words[index], by)
            result = builder.or_(result, shifted_left(builder, resize(builder, piece, kind), index * WORD))
        return masked(builder, result, bits)

    def flip(self, offset: Value, bits: int, part: Value) -> None:
        self._change("xor", offset, bits, part)

    def write(self, offset: Value, bits: int, part: Value) -> None:
        self._change("or_", offset, bits, part)

    def _change(self, how: str, offset: Value, bits: int, part: Value) -> None:
        if bits == 0:
            return
        builder = self._routine.builder
        places, by = self._starts(offset, bits)
        below: Value = const(0)
        for index, place in enumerate(places):
            piece = const(0) if index == len(places) - 1 else resize(builder, _word_of(builder, part, index), I64)
            moved = funnel(self._routine, "l", piece, below, by)
            builder.store(getattr(builder, how)(builder.load(place), moved), place)
            below = piece

    def replace(self, offset: Value, bits: int, part: Value) -> None:
        old = self.cut(offset, bits)
        builder = self._routine.builder
        self.flip(offset, bits, builder.xor(old, resize(builder, part, old.type)))

    def set(self, offset: Value) -> None:
        builder = self._routine.builder
        (place, _), by = self._starts(offset, 1)
        builder.store(builder.or_(builder.load(place), builder.shl(const(1), by)), place)


def _word_of(builder: ir.IRBuilder, part: Value, index: int) -> Value:
    return part if part.type.width <= WORD else builder.lshr(part, const(index * WORD, part.type))
