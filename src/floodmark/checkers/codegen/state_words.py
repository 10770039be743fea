"""Emits reads and writes of the variables in a state's words."""

from __future__ import annotations

from collections.abc import Callable

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import (
    I64,
    Value,
    const,
    cut,
    masked,
    put,
    register,
    resize,
    shifted_left,
    shifted_right,
    value_of,
)
from floodmark.compiler.layout import Layout, Slot
from floodmark.language.types import WORD


class StateWords:
    """The variables of the "new" and the "old" state. ``words`` has, for each of the two that the routine knows, a
    pointer to 64 bits for each word."""

    def __init__(self, builder: ir.IRBuilder, layout: Layout) -> None:
        self.builder = builder
        self.layout = layout
        self.words: dict[str, list[Value]] = {}

    def read(self, name: str, which: str) -> Value:
        """The value of a state variable."""
        kind = self.layout.variables[name]
        return value_of(self.builder, kind, self.read_code(name, which))

    def read_code(self, name: str, which: str) -> Value:
        words = self.words[which]
        return code_in(self.builder, self.layout.slots[name], lambda index: self.builder.load(words[index]))

    def write_code(self, name: str, code: Value) -> None:
        """Makes ``code`` the value of a state variable in the new state."""
        slot = self.layout.slots[name]
        words = self.words["new"]
        if slot.bits <= 64:
            word = self.builder.load(words[slot.word])
            self.builder.store(put(self.builder, word, slot.offset, slot.bits, code), words[slot.word])
            return
        for index in range(code.type.width // 64):
            part = resize(self.builder, shifted_right(self.builder, code, 64 * index), I64)
            left = min(64, slot.bits - 64 * index)
            target = words[slot.word + index]
            if left < 64:
                part = put(self.builder, self.builder.load(target), 0, left, part)
            self.builder.store(part, target)


def code_in(builder: ir.IRBuilder, slot: Slot, word: Callable[[int], Value]) -> Value:
    """The code of a variable in a state, given by its words."""
    if slot.bits <= WORD:
        return cut(builder, word(slot.word), slot.offset, slot.bits)
    wide = register(slot.bits)
    code: Value = const(0, wide)
    for index in range(wide.width // WORD):
        part = builder.zext(word(slot.word + index), wide)
        code = builder.or_(code, shifted_left(builder, part, WORD * index))
    return masked(builder, code, slot.bits)
