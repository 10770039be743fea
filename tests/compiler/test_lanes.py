"""Vectors that are written as integers are: each lane has the result of its own operands."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, I64, const, cut, masked, resize, shifted_left
from floodmark.checkers.codegen.jit import GOOD, UNOPTIMISED, Effort, MachineCode, _compile
from floodmark.checkers.codegen.lanes import LANES, LaneBuilder

WIDE = ir.LlvmIntType(192)
Write = Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]


def joined(builder: ir.IRBuilder, low: ir.Value, high: ir.Value) -> ir.Value:
    return builder.or_(builder.zext(low, WIDE), shifted_left(builder, builder.zext(high, WIDE), 70))


def compared(order: str) -> Write:
    return lambda builder, a, b: builder.zext(builder.icmp_unsigned(order, a, b), I64)


CASES: list[tuple[Write, Callable[[int, int], int]]] = [
    (lambda builder, a, b: builder.add(a, builder.mul(b, const(5))), lambda a, b: a + 5 * b),
    (lambda builder, a, b: builder.sub(const(7), builder.xor(a, b)), lambda a, b: 7 - (a ^ b)),
    (lambda builder, a, b: builder.shl(a, builder.and_(b, const(63))), lambda a, b: a << (b & 63)),
    (lambda builder, a, b: builder.lshr(const(1 << 63), builder.and_(b, const(63))), lambda a, b: 1 << 63 >> (b & 63)),
    (
        lambda builder, a, b: builder.select(builder.icmp_unsigned("<", a, b), a, const(9)),
        lambda a, b: a if a < b else 9,
    ),
    (
        lambda builder, a, b: cut(
            builder, builder.select(builder.icmp_unsigned("<", a, b), joined(builder, a, b), const(5, WIDE)), 60, 20
        ),
        lambda a, b: ((a | b << 70) if a < b else 5) >> 60 & 0xFFFFF,
    ),
    (compared("<"), lambda a, b: int(a < b)),
    (compared("=="), lambda a, b: int(a == b)),
    (lambda builder, a, b: compared("!=")(builder, a, const(1 << 63)), lambda a, b: int(a != 1 << 63)),
    (lambda builder, a, b: builder.ctpop(a), lambda a, b: a.bit_count()),
    (lambda builder, a, b: const(3), lambda a, b: 3),
    (lambda builder, a, b: builder.xor(a, const(1)), lambda a, b: a ^ 1),
    (lambda builder, a, b: cut(builder, joined(builder, a, b), 60, 20), lambda a, b: (a | b << 70) >> 60 & 0xFFFFF),
    (
        lambda builder, a, b: resize(builder, builder.ctpop(masked(builder, joined(builder, a, b), 100)), I64),
        lambda a, b: ((a | b << 70) & (1 << 100) - 1).bit_count(),
    ),
    (
        lambda builder, a, b: builder.zext(
            builder.icmp_unsigned("==", shifted_left(builder, joined(builder, a, b), 3), const(8, WIDE)), I64
        ),
        lambda a, b: int((a | b << 70) == 1),
    ),
]  # fmt: skip


@pytest.mark.parametrize("effort", [GOOD, UNOPTIMISED])
def test_each_lane_has_the_result_of_its_own_operands(effort: Effort) -> None:
    module = ir.Module("lanes")
    pointer = I64.as_pointer()
    for number, (write, _) in enumerate(CASES):
        made = ir.Function(module, ir.FunctionType(I64, [pointer, pointer, pointer]), f"case{number}")
        builder = LaneBuilder(made.append_basic_block("entry"))
        scalar = ir.IRBuilder(builder.block)
        given = [
            builder.side_by_side([scalar.load(scalar.gep(of, [const(lane)])) for lane in range(LANES)])
            for of in made.args[:2]
        ]
        builder.store_all(write(builder, *given), made.args[2])
        scalar.ret(const(0))
    code = MachineCode([_compile(module, effort)])
    draw = random.Random(1)
    edges = [0, 1, 1 << 63, (1 << 64) - 1, *(draw.getrandbits(64) for _ in range(4))]
    for number, (_, wanted) in enumerate(CASES):
        for _ in range(20):
            one, other = ([draw.choice(edges) for _ in range(LANES)] for _ in range(2))
            rows = [np.array(each, dtype=np.uint64) for each in (one, other, [9] * LANES)]
            code.function(f"case{number}", 3)(*(each.ctypes.data for each in rows))
            assert rows[2].tolist() == [wanted(a, b) % (1 << 64) for a, b in zip(one, other, strict=True)], number


def test_what_has_no_vectors_is_refused() -> None:
    module = ir.Module("refused")
    made = ir.Function(module, ir.FunctionType(I64, [I64.as_pointer()]), "counted")
    builder = LaneBuilder(made.append_basic_block("entry"))
    number = builder.side_by_side([builder.load(builder.gep(made.args[0], [const(lane)])) for lane in range(LANES)])
    builder.store_all(builder.cttz(number, const(0, I1)), made.args[0])
    builder.ret(const(0))
    with pytest.raises(RuntimeError):
        _compile(module, GOOD)
