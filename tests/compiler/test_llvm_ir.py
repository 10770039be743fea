"""The writer of LLVM's text: what it leaves out makes no difference to what the machine computes."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Iterator, Sequence

import pytest

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, I64, const, resize
from floodmark.checkers.codegen.jit import GOOD, UNOPTIMISED, Effort, MachineCode, _compile
from floodmark.checkers.codegen.routine import Routine

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


@pytest.mark.parametrize("effort", [UNOPTIMISED, GOOD], ids=["unoptimised", "optimised"])
def test_an_unrolled_loop_computes_what_the_loop_does(effort: Effort) -> None:
    module = ir.Module("loops")
    for name, unrolled in (("loop", False), ("first", True), ("second", True)):
        made = ir.Function(module, ir.FunctionType(I64, [I64, I64]), name)
        routine = Routine(made)
        total, builder = routine.room(I64, "total"), routine.builder
        builder.store(const(0), total)
        with routine.counting(const(0), const(3), unrolled=unrolled) as (index, onward, _):
            routine.skip_unless(builder.icmp_unsigned("!=", made.args[1], index), onward)
            shifted = builder.lshr(made.args[0], builder.mul(index, const(13)))
            builder.store(builder.add(builder.load(total), shifted), total)
        builder.ret(builder.load(total))
        routine.finish()
    assert str(module).count("!llvm.loop") == module.unrolled_loops == 2
    code = MachineCode([_compile(module, effort)])
    for left_out in range(4):
        expected = sum(0x123456789ABCDEF >> 13 * index for index in range(3) if index != left_out)
        found = {name: code.function(name, 2)(0x123456789ABCDEF, left_out) for name in ("loop", "first", "second")}
        assert found == dict.fromkeys(found, expected)


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


WIDTHS = (128, 192, 320)
WIDE_EDGES = (0, 1, 63, (1 << 64) - 1, 1 << 64, (1 << 127) + 5, (1 << 128) - 1, 0x0123456789ABCDEF << 60)
DISTANCES = (0, 1, 63, 64, 65, 127)


def joined(builder: ir.IRBuilder, words: Sequence[ir.Value]) -> ir.Value:
    """The wide integer that has these words."""
    kind = ir.LlvmIntType(WIDTH * len(words))
    whole: ir.Value = const(0, kind)
    for index, word in enumerate(words):
        whole = builder.or_(whole, builder.shl(builder.zext(word, kind), const(WIDTH * index, kind)))
    return whole


def digest(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """A word that each word of an integer changes in its own way."""
    found: ir.Value = const(0)
    for index in range(-(-value.type.width // WIDTH)):
        moved = builder.lshr(value, const(WIDTH * index, value.type)) if index else value
        word = moved if value.type.width == WIDTH else resize(builder, moved, I64)
        found = builder.add(builder.mul(found, const(1_000_003)), word)
    return found


def wanted_digest(number: int, width: int) -> int:
    found = 0
    for index in range(-(-width // WIDTH)):
        found = (found * 1_000_003 + (number >> WIDTH * index) % (1 << WIDTH)) % (1 << WIDTH)
    return found


def _wide_cases(width: int) -> Iterator[tuple[str, Write, Callable[[int, int], int], int]]:
    """Operations on two integers of a width: a name, how it is written, what it computes, and the result's width."""
    count = width // WIDTH

    def both(write: Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]) -> Write:
        return lambda builder, given: digest(
            builder, write(builder, joined(builder, given[:count]), joined(builder, given[count:]))
        )

    def by(name: str, distance: int) -> tuple[Write, Write]:
        kind = ir.LlvmIntType(width)
        known = both(lambda builder, a, b: getattr(builder, name)(a, const(distance, kind)))
        unknown = both(lambda builder, a, b: getattr(builder, name)(a, builder.and_(b, const(127, kind))))
        return known, unknown

    for name in ("add", "sub", "mul", "and_", "or_", "xor"):
        yield name, both(lambda builder, a, b, name=name: getattr(builder, name)(a, b)), COMPUTED[name], width  # type: ignore[misc]
    for name in ("shl", "lshr"):
        for distance in DISTANCES:
            known, _ = by(name, distance)
            yield f"{name} {distance}", known, lambda a, b, name=name, n=distance: COMPUTED[name](a, n), width  # type: ignore[misc]
        _, unknown = by(name, 0)
        yield name, unknown, lambda a, b, name=name: COMPUTED[name](a, b & 127), width  # type: ignore[misc]
    for order, holds in ORDERS.items():
        compared = both(lambda builder, a, b, order=order: builder.zext(builder.icmp_unsigned(order, a, b), I64))  # type: ignore[misc]
        yield order, compared, holds, WIDTH

        def against(builder: ir.IRBuilder, a: ir.Value, b: ir.Value, order: str = order) -> ir.Value:
            return builder.zext(builder.icmp_unsigned(order, a, const(5, b.type)), I64)

        yield f"{order} 5", both(against), lambda a, b, holds=holds: holds(a, 5), WIDTH  # type: ignore[misc]
    yield "one more", both(lambda builder, a, b: builder.add(a, const(1, a.type))), lambda a, b: a + 1, width
    yield "one less", both(lambda builder, a, b: builder.sub(a, const(1, a.type))), lambda a, b: a - 1, width
    yield "not", both(lambda builder, a, b: builder.not_(a)), lambda a, b: ~a, width
    yield "bits", both(lambda builder, a, b: builder.ctpop(a)), lambda a, b: a.bit_count(), width
    yield (
        "lowest", both(lambda builder, a, b: builder.cttz(builder.or_(a, const(1 << 100, a.type)), const(1, I1))),
        lambda a, b: ((a | 1 << 100) & -(a | 1 << 100)).bit_length() - 1, width,
    )
    yield (
        "select", both(lambda builder, a, b: builder.select(builder.icmp_unsigned("<", a, b), a, b)), min, width
    )
    of_six_words = ir.LlvmIntType(384)
    for bits in (8, 64, 128):
        def part(builder: ir.IRBuilder, a: ir.Value, b: ir.Value, bits: int = bits) -> ir.Value:
            return builder.zext(builder.trunc(builder.lshr(a, const(61, a.type)), ir.LlvmIntType(bits)), of_six_words)

        yield f"{bits} bits", both(part), lambda a, b, bits=bits: (a >> 61) % (1 << bits), 384  # type: ignore[misc]

    def of_a_variable(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
        variable = builder.alloca(a.type)
        builder.store(a, variable)
        assert builder.load(variable) is a
        then = builder.function.append_basic_block("then")
        builder.branch(then)
        builder.position_at_end(then)
        return builder.xor(builder.load(variable), b)

    yield "variable", both(of_a_variable), operator.xor, width

    def of_a_call(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
        kinds = [a.type.as_pointer(), a.type, I64, b.type]
        inner = ir.Function(builder.function.module, ir.FunctionType(I64, kinds), f"{builder.function.name} inner")
        inside = ir.IRBuilder(inner.append_basic_block("entry"))
        inside.store(inside.sub(inner.args[1], inner.args[3]), inner.args[0])
        inside.ret(inner.args[2])
        variable = builder.alloca(a.type)
        builder.store(const(7, a.type), variable)
        three = builder.call(inner, [variable, a, const(3), builder.lshr(b, const(3, b.type))])
        return builder.add(builder.load(variable), builder.zext(three, a.type))

    yield "call", both(of_a_call), lambda a, b: a - (b >> 3) + 3, width


@pytest.mark.parametrize("effort", [UNOPTIMISED, GOOD])
@pytest.mark.parametrize("width", WIDTHS)
def test_integers_wider_than_a_word_are_computed_as_wholes(width: int, effort: Effort) -> None:
    module = ir.Module("wide")
    count = width // WIDTH
    cases = list(_wide_cases(width))
    for name, write, _, _ in cases:
        function(module, name, 2 * count, write)
    code = MachineCode([_compile(module, effort)])
    numbers = [number % (1 << width) for number in WIDE_EDGES] + [-1 % (1 << width), -(1 << 64) % (1 << width)]
    for name, _, computed, result in cases:
        called = code.function(name, 2 * count)
        for a in numbers:
            for b in numbers:
                words = [number >> WIDTH * index & (1 << WIDTH) - 1 for number in (a, b) for index in range(count)]
                assert called(*words) == wanted_digest(computed(a, b) % (1 << result), result), (name, a, b)
