"""The writer of LLVM's text: what it leaves out makes no difference to what the machine computes."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Sequence

import pytest

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, I64, const
from floodmark.checkers.codegen.jit import GOOD, UNOPTIMISED, Effort, MachineCode, _compile

WIDTH = 64
EDGES = (0, 1, 2, 7, 63, 64, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
Write = Callable[[ir.IRBuilder, Sequence[ir.Value]], ir.Value]

COMPUTED: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "and_": operator.and_, "or_": operator.or_,
    "xor": operator.xor, "shl": operator.lshift, "lshr": operator.rshift,
}
ORDERS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}


def function(module: ir.Module, name: str, arguments: int, write: Write) -> None:
    """A function of words that returns a word."""
    made = ir.Function(module, ir.FunctionType(I64, [I64] * arguments), name)
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    builder.ret(write(builder, made.args))


def called(write: Write, *arguments: int, effort: Effort = UNOPTIMISED) -> int:
    module = ir.Module("one")
    function(module, "one", len(arguments), write)
    code = MachineCode([_compile(module, effort)])
    return code.function("one", len(arguments))(*arguments)


def signed(word: int) -> int:
    return ctypes.c_int64(word).value


def number_of(value: ir.Value) -> int:
    """The number that a value is known to be."""
    assert isinstance(value, ir.LlvmConstant)
    number: int = value.constant
    return number


def is_shift(name: str) -> bool:
    return name in ("shl", "lshr")


def _of_constants(name: str, a: int, b: int) -> int:
    """The word that an operation by a constant makes: a shift by all bits or more leaves none."""
    return 0 if is_shift(name) and b >= WIDTH else COMPUTED[name](a, b) % (1 << WIDTH)


def test_operations_with_constants_are_what_they_are_without() -> None:
    module = ir.Module("operations")
    wanted = {}
    for name, computed in COMPUTED.items():
        for number in EDGES:
            def right(builder: ir.IRBuilder, given: Sequence[ir.Value], name: str = name, of: int = number) -> ir.Value:
                found: ir.Value = getattr(builder, name)(given[0], const(of))
                return found

            def left(builder: ir.IRBuilder, given: Sequence[ir.Value], name: str = name, of: int = number) -> ir.Value:
                found: ir.Value = getattr(builder, name)(const(of), given[0])
                return found

            function(module, f"right.{name}.{number}", 1, right)
            function(module, f"left.{name}.{number}", 1, left)
            for other in EDGES:
                wanted[f"right.{name}.{number}", other] = _of_constants(name, other, number)
                if not is_shift(name) or other < WIDTH:
                    wanted[f"left.{name}.{number}", other] = computed(number, other) % (1 << WIDTH)
    code = MachineCode([_compile(module, UNOPTIMISED)])
    assert {key: code.function(key[0], 1)(key[1]) for key in wanted} == wanted


def test_constant_operands_are_folded() -> None:
    builder = ir.IRBuilder(ir.Function(ir.Module("m"), ir.FunctionType(I64, []), "f").append_basic_block("entry"))
    for a in EDGES:
        for b in EDGES:
            for name in COMPUTED:
                found = getattr(builder, name)(const(a), const(b))
                assert number_of(found) == _of_constants(name, a, b)
            for order, holds in ORDERS.items():
                assert number_of(builder.icmp_unsigned(order, const(a), const(b))) == holds(a, b)
                assert number_of(builder.icmp_signed(order, const(a), const(b))) == holds(signed(a), signed(b))
        assert number_of(builder.trunc(const(a), ir.LlvmIntType(8))) == a % 256
        assert number_of(builder.zext(const(a), ir.LlvmIntType(128))) == a
        assert number_of(builder.not_(const(a))) == a ^ ((1 << WIDTH) - 1)
    one, other = const(1), const(2)
    assert builder.select(const(1, I1), one, other) is one and builder.select(const(0, I1), one, other) is other


def test_an_operation_that_a_block_has_is_not_written_again() -> None:
    module = ir.Module("m")
    made = ir.Function(module, ir.FunctionType(I64, [I64]), "f")
    first, second = made.append_basic_block("first"), made.append_basic_block("second")
    builder = ir.IRBuilder(first)
    one = builder.add(made.args[0], const(5))
    assert builder.add(made.args[0], const(5)) is one
    assert builder.add(made.args[0], const(6)) is not one
    builder.position_at_end(second)
    assert builder.add(made.args[0], const(5)) is not one


def test_types_are_part_of_an_operation() -> None:
    def write(builder: ir.IRBuilder, given: Sequence[ir.Value]) -> ir.Value:
        narrow = builder.trunc(given[0], ir.LlvmIntType(8))
        builder.zext(narrow, ir.LlvmIntType(32))
        wide = builder.zext(narrow, ir.LlvmIntType(128))
        return builder.trunc(builder.lshr(builder.shl(wide, const(100, wide.type)), const(100, wide.type)), I64)

    assert called(write, 0x1FF) == 0xFF


@pytest.mark.parametrize("effort", [UNOPTIMISED, GOOD])
@pytest.mark.parametrize("way", ["gep", "bitcast", "call"])
def test_a_variable_that_others_reach_is_read_again(way: str, effort: Effort) -> None:
    def write(builder: ir.IRBuilder, given: Sequence[ir.Value]) -> ir.Value:
        variable = builder.alloca(I64)
        builder.store(given[0], variable)
        if way == "call":
            setter = ir.Function(builder.function.module, ir.FunctionType(I64, [I64.as_pointer()]), "setter")
            inner = ir.IRBuilder(setter.append_basic_block("entry"))
            inner.store(const(7), setter.args[0])
            inner.ret(const(0))
            builder.call(setter, [variable])
        else:
            place = builder.gep(variable, [const(0)]) if way == "gep" else builder.bitcast(variable, I64.as_pointer())
            builder.store(const(7), place)
        return builder.load(variable)

    assert called(write, 3, effort=effort) == 7


@pytest.mark.parametrize("effort", [UNOPTIMISED, GOOD])
def test_what_a_variable_holds_is_not_known_in_another_block(effort: Effort) -> None:
    def write(builder: ir.IRBuilder, given: Sequence[ir.Value]) -> ir.Value:
        total, rest = builder.alloca(I64), builder.alloca(I64)
        builder.store(const(0), total)
        builder.store(given[0], rest)
        head, body, leave = (builder.function.append_basic_block(name) for name in ("head", "body", "leave"))
        builder.branch(head)
        builder.position_at_end(head)
        builder.cbranch(builder.icmp_unsigned("!=", builder.load(rest), const(0)), body, leave)
        builder.position_at_end(body)
        builder.store(builder.add(builder.load(total), builder.load(rest)), total)
        builder.store(builder.sub(builder.load(rest), const(1)), rest)
        with builder.if_then(builder.icmp_unsigned("==", builder.load(rest), const(2))):
            builder.store(const(100), total)
        builder.store(builder.add(builder.load(total), const(1)), total)
        builder.branch(head)
        builder.position_at_end(leave)
        return builder.load(total)

    assert called(write, 4, effort=effort) == 106


def test_a_variable_keeps_what_it_holds_until_it_is_set() -> None:
    def write(builder: ir.IRBuilder, given: Sequence[ir.Value]) -> ir.Value:
        one, other = builder.alloca(I64), builder.alloca(I64)
        builder.store(given[0], one)
        builder.store(given[1], other)
        first = builder.load(one)
        builder.store(builder.load(other), one)
        builder.store(first, other)
        return builder.sub(builder.load(one), builder.load(other))

    assert called(write, 3, 10) == 7


def test_names_may_have_any_letters() -> None:
    module = ir.Module("names")
    function(module, 'zähle "alles"', 1, lambda builder, given: given[0])
    outer = ir.Function(module, ir.FunctionType(I64, [I64]), "outer")
    builder = ir.IRBuilder(outer.append_basic_block("entry"))
    variable = builder.alloca(I64, "größe")
    builder.store(builder.call(module.globals['zähle "alles"'], [outer.args[0]]), variable)
    builder.ret(builder.load(variable))
    code = MachineCode([_compile(module, UNOPTIMISED)])
    assert code.function("outer", 1)(11) == 11


def test_a_block_and_a_variable_may_be_called_the_same() -> None:
    def write(builder: ir.IRBuilder, given: Sequence[ir.Value]) -> ir.Value:
        for _ in range(20):
            variable = builder.alloca(I64, "found")
            block = builder.function.append_basic_block("found")
            builder.store(given[0], variable)
            builder.branch(block)
            builder.position_at_end(block)
        return builder.load(variable)

    assert called(write, 5) == 5
