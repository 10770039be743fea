"""Packed values in LLVM: how a register holds each type, and how codes are extracted and inserted.

Integers are held as they are in 64 bits, truth values in one bit; everything else as its packed code, in 64 bits or, if
it is wider, in as many whole words as it needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.language.types import BoolType, IntType, Type

I1 = ir.LlvmIntType(1)
I64 = ir.LlvmIntType(64)

Value = ir.Value


def const(value: int, kind: ir.LlvmIntType = I64) -> ir.LlvmConstant:
    return ir.LlvmConstant(kind, value & ((1 << kind.width) - 1))


def register(bits: int) -> ir.LlvmIntType:
    """The integer type that holds a code of this many bits."""
    return I64 if bits <= 64 else ir.LlvmIntType(-(-bits // 64) * 64)


def register_of(kind: Type) -> ir.LlvmIntType:
    """The LLVM type that holds a value of this type."""
    return I1 if isinstance(kind, BoolType) else I64 if isinstance(kind, IntType) else register(kind.bits)


def resize(builder: ir.IRBuilder, value: Value, to: ir.LlvmIntType) -> Value:
    """The same code in another register width; no set bit is lost."""
    if value.type.width == to.width:
        return value
    if value.type.width < to.width:
        return builder.zext(value, to)
    return builder.trunc(value, to)


def masked(builder: ir.IRBuilder, value: Value, bits: int) -> Value:
    """The lowest ``bits`` bits of a code."""
    if bits >= value.type.width:
        return value
    return builder.and_(value, const((1 << bits) - 1, value.type))


def shifted_left(builder: ir.IRBuilder, value: Value, by: int | Value) -> Value:
    return builder.shl(value, const(by, value.type) if isinstance(by, int) else resize(builder, by, value.type))


def shifted_right(builder: ir.IRBuilder, value: Value, by: int | Value) -> Value:
    return builder.lshr(value, const(by, value.type) if isinstance(by, int) else resize(builder, by, value.type))


def cut(builder: ir.IRBuilder, code: Value, offset: int | Value, bits: int) -> Value:
    """``bits`` bits of ``code``, starting at ``offset``, which is a constant or a 64-bit value."""
    if bits == 0:
        return const(0)
    moved = shifted_right(builder, code, offset)
    return masked(builder, resize(builder, moved, register(bits)), bits)


def put(builder: ir.IRBuilder, code: Value, offset: int | Value, bits: int, part: Value) -> Value:
    """``code`` with ``bits`` bits starting at ``offset`` replaced by ``part``."""
    if bits == 0:
        return code
    hole = shifted_left(builder, const((1 << bits) - 1, code.type), offset)
    cleared = builder.and_(code, builder.not_(hole))
    return builder.or_(cleared, shifted_left(builder, resize(builder, part, code.type), offset))


def code_of(builder: ir.IRBuilder, kind: Type, value: Value) -> Value:
    """The packed code of a value that is held in a register."""
    if isinstance(kind, BoolType):
        return builder.zext(value, I64)
    if isinstance(kind, IntType):
        return builder.sub(value, const(kind.low)) if kind.low else value
    return value


def value_of(builder: ir.IRBuilder, kind: Type, code: Value) -> Value:
    """The value, as held in a register, that a code stands for."""
    if isinstance(kind, BoolType):
        return builder.icmp_unsigned("!=", code, const(0, code.type))
    if isinstance(kind, IntType):
        code = resize(builder, code, I64)
        return builder.add(code, const(kind.low)) if kind.low else code
    return resize(builder, code, register(kind.bits))


def table(module: ir.Module, name: str, numbers: Sequence[int]) -> ir.GlobalVariable:
    """Constants of 64 bits in a module, which a gep with two indices selects."""
    content = ir.LlvmConstant(ir.ArrayType(I64, len(numbers)), [const(number) for number in numbers])
    return ir.GlobalVariable(module, name, content)
