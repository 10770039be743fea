"""Writes a computation once and carries it out for several states: each number is an element of a vector."""

from __future__ import annotations

from collections.abc import Sequence

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I64, Value

LANES = 8
"""The number of states: as many as a processor's widest vectors have words."""
VECTOR = ir.VectorType(I64, LANES)


class LaneBuilder(ir.IRBuilder):
    """Writes vectors where an ``IRBuilder`` writes integers. A ``Value`` has the type of one element, so code that is
    written for an integer, or for the words of a wide one, serves for a vector.

    Arithmetic, comparisons, choices and counts of bits have vectors. Anything else would be written for integers, and
    LLVM refuses operands of another type.
    """

    __slots__ = ()

    def _operation(self, kind: ir.LlvmIntType, name: str, left: Value, right: Value) -> Value:
        return self._pure(kind, f"{name} {_typed(left)}, {_text(right)}")

    def zext(self, value: Value, kind: ir.LlvmIntType | ir.VectorType) -> Value:
        if kind is not I64 or isinstance(value, ir.LlvmConstant):
            return super().zext(value, kind)
        return self._pure(kind, f"zext {_typed(value)} to {VECTOR.text}")

    def ctpop(self, value: Value) -> Value:
        if value.type is not I64:
            return super().ctpop(value)
        vector = ir.Value(VECTOR, _text(value))
        return ir.Value(I64, self.intrinsic("llvm.ctpop", VECTOR, [vector], VECTOR).text)

    def select(self, condition: Value, then: Value, otherwise: Value) -> Value:
        if then.type is not I64 or isinstance(condition, ir.LlvmConstant) or then is otherwise:
            return super().select(condition, then, otherwise)
        return self._pure(I64, f"select {_typed(condition)}, {_typed(then)}, {_typed(otherwise)}")

    def side_by_side(self, numbers: Sequence[Value]) -> Value:
        """An integer for each lane."""
        vector = ir.Value(VECTOR, "poison")
        for lane, number in enumerate(numbers):
            vector = self.insert_element(vector, number, lane)
        return ir.Value(I64, vector.text)

    def store_all(self, value: Value, pointer: Value) -> None:
        """Stores the integers of all lanes one behind the other."""
        self.store(ir.Value(VECTOR, _text(value)), pointer, align=8)

    def load_all(self, pointer: Value) -> Value:
        """An integer for each lane, one behind the other in memory."""
        return ir.Value(I64, self.load(ir.Value(VECTOR.as_pointer(), pointer.text), align=8).text)

    def any_but_zero(self, value: Value) -> Value:
        """One bit: whether the integer of some lane is not zero."""
        zeros = self.same_lanes(ir.Value(VECTOR, _text(value)), self.lanes(I64, [0] * LANES))
        return ir.IRBuilder(self.block).icmp_unsigned("!=", zeros, ir.LlvmConstant(zeros.type, (1 << LANES) - 1))


def _typed(value: Value) -> str:
    return f"<{LANES} x {value.type.text}> {_text(value)}"


def _text(value: Value) -> str:
    """An operand; a constant is the same in all lanes."""
    return f"splat ({value.typed})" if isinstance(value, ir.LlvmConstant) else value.text
