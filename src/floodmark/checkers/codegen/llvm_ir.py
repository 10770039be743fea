"""LLVM modules as text, written instruction by instruction.

The names are those of ``llvmlite.ir``, of which this is the part that the code generator needs. llvmlite builds an
object for each instruction and turns it into text afterwards; for a small model that took longer than LLVM itself.

What is known while a function is written need not be written: operations on constants, those that change nothing, one
that the same block has already, and reading a variable of the frame that the same block has set or read. So LLVM gets
less to do, and code that it does not optimise is faster.

Integers wider than a word are written as words. Where LLVM does not optimise, it selects instructions for words several
times faster; and what is read of a wide integer is often a word or two, so the others need no instructions.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, reduce
from typing import Any, TypeGuard


class LlvmType:
    """A type; ``text`` is how LLVM writes it."""

    text: str

    def as_pointer(self) -> PointerType:
        return PointerType(self)


class VoidType(LlvmType):
    """The type of no result."""

    text = "void"


class LlvmIntType(LlvmType):
    """Integers of ``width`` bits; there is one object for each width."""

    width: int

    def __new__(cls, width: int) -> LlvmIntType:
        return _integers(width)


@cache
def _integers(width: int) -> LlvmIntType:
    kind = object.__new__(LlvmIntType)
    kind.width, kind.text = width, f"i{width}"
    return kind


WORD = LlvmIntType(64)


def _is_wide(kind: LlvmType) -> TypeGuard[LlvmIntType]:
    """Whether a type is of integers that are written as words."""
    return isinstance(kind, LlvmIntType) and kind.width > 64


class PointerType(LlvmType):
    """Pointers. To LLVM they are all alike; ``pointee`` is what is read and written through one."""

    text = "ptr"

    def __init__(self, pointee: LlvmType) -> None:
        self.pointee = pointee


class ArrayType(LlvmType):
    """Arrays of ``count`` elements."""

    def __init__(self, element: LlvmType, count: int) -> None:
        self.element = element
        self.text = f"[{count} x {element.text}]"


class VectorType(LlvmType):
    """``count`` integers that one instruction processes together."""

    def __init__(self, element: LlvmIntType, count: int) -> None:
        self.element = element
        self.count = count
        self.text = f"<{count} x {element.text}>"


class StructType(LlvmType):
    """Several values side by side."""

    def __init__(self, elements: Sequence[LlvmType]) -> None:
        self.elements = elements
        self.text = f"{{{', '.join(each.text for each in elements)}}}"


class FunctionType(LlvmType):
    """Functions with these parameters."""

    def __init__(self, return_type: LlvmType, args: Sequence[LlvmType]) -> None:
        self.return_type = return_type
        self.args = args


class Value:
    """The result of an instruction, an argument, or an address; ``text`` is how LLVM refers to it."""

    __slots__ = ("text", "type")

    def __init__(self, kind: LlvmType, text: str) -> None:
        self.type: Any = kind
        self.text = text

    @property
    def typed(self) -> str:
        """The value as an argument."""
        return f"{self.type.text} {self.text}"


class WideValue(Value):
    """An integer wider than a word, as ``words``, the lowest first; it begins at bit ``skipped`` of the first one.
    Words behind the last one are zero. ``IRBuilder.words`` has as many as the type has."""

    __slots__ = ("skipped", "words")

    def __init__(self, kind: LlvmIntType, words: Sequence[Value], skipped: int = 0) -> None:
        self.type = kind
        self.words = words
        self.skipped = skipped


class LlvmConstant(Value):
    """A number that is not negative and fits its type; or the numbers of an array."""

    __slots__ = ("constant",)

    def __init__(self, kind: LlvmType, constant: int | Sequence[LlvmConstant]) -> None:
        text = str(constant) if isinstance(constant, int) else f"[{', '.join(each.typed for each in constant)}]"
        super().__init__(kind, text)
        self.constant: Any = constant


class FrameVariable(Value):
    """The address of a variable in a function's frame. It is ``shared`` once it is used other than to read or write
    the whole variable."""

    __slots__ = ("shared",)

    def __init__(self, kind: LlvmType, text: str) -> None:
        super().__init__(PointerType(kind), text)
        self.shared = not isinstance(kind, LlvmIntType)


class GlobalVariable(Value):
    """The address of a table of constants in a module."""

    __slots__ = ("initializer",)

    def __init__(self, module: Module, name: str, initializer: LlvmConstant) -> None:
        super().__init__(PointerType(initializer.type), _symbol(name))
        self.initializer = initializer
        module.tables.append(self)


class Module:
    """Functions, some of them only declared."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.globals: dict[str, Function] = {}
        self.tables: list[GlobalVariable] = []
        self.unrolled_loops = 0

    @property
    def functions(self) -> list[Function]:
        return list(self.globals.values())

    def declared(self, name: str, result: LlvmType, arguments: Sequence[LlvmType]) -> Function:
        """The function of that name, declared if it is not there yet."""
        return self.globals.get(name) or Function(self, FunctionType(result, arguments), name)

    def __str__(self) -> str:
        tables = [f"{each.text} = internal constant {each.initializer.typed}" for each in self.tables]
        return "\n".join([*tables, *map(str, self.functions), *self._loop_metadata(), ""])

    def _loop_metadata(self) -> Iterator[str]:
        for loop in range(1, self.unrolled_loops + 1):
            yield f"!{loop} = distinct !{{!{loop}, !0}}"
        if self.unrolled_loops:
            yield '!0 = !{!"llvm.loop.unroll.full"}'


class Survey(Module):
    """A module to be measured, not compiled: it counts the instructions for each place that they come from."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.places: Counter[Any] = Counter()


class Function(Value):
    """A function; without blocks it is only declared. ``parameters`` are attributes that all of its arguments have.

    Names within it never meet: those of blocks have a hyphen, those of variables a dot, and the others neither.
    """

    __slots__ = ("_names", "args", "attributes", "blocks", "function_type", "linkage", "module", "name", "parameters")

    def __init__(self, module: Module, kind: FunctionType, name: str, parameters: str = "") -> None:
        super().__init__(PointerType(kind), _symbol(name))
        self.module = module
        self.name = name
        self.function_type = kind
        self.parameters = parameters
        self.linkage = ""
        self.attributes: list[str] = []
        self.args = _arguments(kind.args)
        self.blocks: list[Block] = []
        self._names = 0
        module.globals[name] = self

    def append_basic_block(self, name: str = "") -> Block:
        block = Block(self, f"{name}-{len(self.blocks)}")
        self.blocks.append(block)
        return block

    def fresh(self) -> str:
        """A name for a value that no other value of the function has."""
        self._names += 1
        return f"%v{self._names}"

    def __str__(self) -> str:
        parts = [part for each in self.args for part in (each.words if isinstance(each, WideValue) else [each])]
        arguments = ", ".join(f"{each.type.text} {self.parameters} {each.text}" for each in parts)
        result, attributes = self.function_type.return_type.text, " ".join(self.attributes)
        if not self.blocks:
            return f"declare {result} {self.text}({arguments}) {attributes}"
        lines = [f"define {self.linkage} {result} {self.text}({arguments}) {attributes} {{"]
        for block in self.blocks:
            lines.append(f"{block.name}:")
            lines += block.lines
        lines.append("}")
        return "\n".join(lines)


def _arguments(kinds: Sequence[LlvmType]) -> list[Value]:
    """The arguments of a function; a wide integer is one for each of its words."""
    numbers = itertools.count()
    return [
        WideValue(of, [Value(WORD, f"%a{next(numbers)}") for _ in range(of.width // WORD.width)])
        if _is_wide(of) else Value(of, f"%a{next(numbers)}")
        for of in kinds
    ]


class Block:
    """A part of a function that ends in a jump. It is written from its beginning to its end."""

    __slots__ = ("function", "is_terminated", "known", "lines", "name")

    def __init__(self, function: Function, name: str) -> None:
        self.function = function
        self.name = name
        self.lines: list[str] = []
        self.is_terminated = False
        self.known: dict[str, Value] = {}
        """The values known at its present end: results of its operations, and contents of variables."""


class IRBuilder:
    """Writes instructions at the end of a block. In a Survey, ``place`` is where they come from."""

    __slots__ = ("_places", "block", "place")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.place: Any = None
        module = block.function.module
        self._places = module.places if isinstance(module, Survey) else None

    @property
    def function(self) -> Function:
        return self.block.function

    def position_at_end(self, block: Block) -> None:
        self.block = block

    def _write(self, line: str) -> None:
        assert not self.block.is_terminated, line
        self.block.lines.append(line)
        if self._places is not None and self.place is not None:
            self._places[self.place] += 1

    def _named(self, kind: LlvmType, operation: str) -> Value:
        name = self.block.function.fresh()
        self._write(f"{name} = {operation}")
        return Value(kind, name)

    def _pure(self, kind: LlvmType, operation: str) -> Value:
        """The result of an operation that depends on its operands alone."""
        known = self.block.known.get(operation)
        if known is None:
            known = self.block.known[operation] = self._named(kind, operation)
        return known

    # Arithmetic.

    def add(self, left: Value, right: Value) -> Value:
        return self._binary("add", left, right)

    def sub(self, left: Value, right: Value) -> Value:
        return self._binary("sub", left, right)

    def mul(self, left: Value, right: Value) -> Value:
        return self._binary("mul", left, right)

    def and_(self, left: Value, right: Value) -> Value:
        return self._binary("and", left, right)

    def or_(self, left: Value, right: Value) -> Value:
        return self._binary("or", left, right)

    def xor(self, left: Value, right: Value) -> Value:
        return self._binary("xor", left, right)

    def shl(self, left: Value, right: Value) -> Value:
        return self._binary("shl", left, right)

    def lshr(self, left: Value, right: Value) -> Value:
        return self._binary("lshr", left, right)

    def udiv(self, left: Value, right: Value) -> Value:
        return self._pure(left.type, f"udiv {left.typed}, {right.text}")

    def urem(self, left: Value, right: Value) -> Value:
        return self._pure(left.type, f"urem {left.typed}, {right.text}")

    def sdiv(self, left: Value, right: Value) -> Value:
        return self._pure(left.type, f"sdiv {left.typed}, {right.text}")

    def srem(self, left: Value, right: Value) -> Value:
        return self._pure(left.type, f"srem {left.typed}, {right.text}")

    def not_(self, value: Value) -> Value:
        return self._binary("xor", value, LlvmConstant(value.type, (1 << value.type.width) - 1))

    def _binary(self, name: str, left: Value, right: Value) -> Value:
        kind = left.type
        if type(right) is LlvmConstant or type(left) is LlvmConstant:
            known = _folded(name, kind, left, right)
            if known is not None:
                return known
        if _is_wide(kind):
            return self._wide_binary(name, left, right)
        return self._operation(kind, name, left, right)

    def _operation(self, kind: LlvmIntType, name: str, left: Value, right: Value) -> Value:
        """The result, of type ``kind``, of an operation on two integers that are no wider than a word."""
        return self._pure(kind, f"{name} {left.type.text} {left.text}, {right.text}")

    def icmp_unsigned(self, order: str, left: Value, right: Value) -> Value:
        return self._compare(_UNSIGNED[order], left, right)

    def icmp_signed(self, order: str, left: Value, right: Value) -> Value:
        return self._compare(_SIGNED[order], left, right)

    def _compare(self, order: str, left: Value, right: Value) -> Value:
        if type(left) is LlvmConstant and type(right) is LlvmConstant:
            sides = [_signed(side) if order[0] == "s" else side.constant for side in (left, right)]
            return LlvmConstant(_BIT, int(_ORDERS[order](*sides)))
        if _is_wide(left.type):
            return self._wide_compare(order, left, right)
        return self._operation(_BIT, f"icmp {order}", left, right)

    # Wide integers.

    def words(self, value: Value) -> list[Value]:
        """The words of an integer of any width, the lowest first."""
        if not _is_wide(value.type):
            return [value if value.type is WORD else self.zext(value, WORD)]
        return [self._word(value, index) for index in range(value.type.width // WORD.width)]

    def _word(self, value: Value, index: int) -> Value:
        """A word of a wide integer."""
        if isinstance(value, LlvmConstant):
            return LlvmConstant(WORD, value.constant >> WORD.width * index & _ONES)
        assert isinstance(value, WideValue)
        low, high = (value.words[at] if at < len(value.words) else _ZERO for at in (index, index + 1))
        return self._funnel(high, low, value.skipped) if value.skipped else low

    def _funnel(self, high: Value, low: Value, by: int) -> Value:
        """The lower one of two words after a shift to the right by 1 to 63 bits."""
        return self.or_(
            self.lshr(low, LlvmConstant(WORD, by)), self.shl(high, LlvmConstant(WORD, WORD.width - by))
        )

    def _filled(self, words: Sequence[Value], kind: LlvmIntType) -> list[Value]:
        """The first words of an integer of this type, extended with zeros if there are fewer."""
        return [words[index] if index < len(words) else _ZERO for index in range(kind.width // WORD.width)]

    def _wide_binary(self, name: str, left: Value, right: Value) -> Value:
        kind = left.type
        match name:
            case "and" | "or" | "xor":
                pairs = zip(self.words(left), self.words(right), strict=True)
                return WideValue(kind, [self._binary(name, *pair) for pair in pairs])
            case "add" | "sub":
                return self._wide_sum(name, left, right)
            case "shl" | "lshr" if isinstance(right, LlvmConstant):
                whole, bits = divmod(right.constant, WORD.width)
                if name == "lshr":
                    assert isinstance(left, WideValue)
                    whole, bits = divmod(right.constant + left.skipped, WORD.width)
                    return WideValue(kind, left.words[whole:], bits)
                words = self._filled([*[_ZERO] * whole, *self.words(left)], kind)
                if bits:
                    pairs = zip(words, [_ZERO, *words], strict=False)
                    words = [self._funnel(high, low, WORD.width - bits) for high, low in pairs]
                return WideValue(kind, words)
            case "shl" | "lshr" if kind.width == 2 * WORD.width:
                return self._shifted(name, left, self._word(right, 0))
        return self._natively(name, left, right)

    def _wide_sum(self, name: str, left: Value, right: Value) -> Value:
        """Word by word, with the carry from each to the next."""
        words: list[Value] = []
        carry: Value = LlvmConstant(_BIT, 0)
        for one, other in zip(self.words(left), self.words(right), strict=True):
            found = self._binary(name, one, other)
            over = self._carried(name, one, found)
            further = self._binary(name, found, self.zext(carry, WORD))
            words.append(further)
            carry = self.or_(over, self._carried(name, found, further))
        return WideValue(left.type, words)

    def _carried(self, name: str, before: Value, after: Value) -> Value:
        """Whether a sum, or a difference, of two words wrapped around."""
        if before is after:
            return LlvmConstant(_BIT, 0)
        return self._compare("ult" if name == "add" else "ugt", after, before)

    def _shifted(self, name: str, value: Value, by: Value) -> Value:
        """Two words shifted by a distance that is known only when the machine code runs."""
        low, high = self.words(value)
        far = self._compare("uge", by, LlvmConstant(WORD, WORD.width))
        moved = self._binary(name, low if name == "shl" else high, self.and_(by, LlvmConstant(WORD, WORD.width - 1)))
        joined = self.intrinsic("llvm.fshl" if name == "shl" else "llvm.fshr", WORD, [high, low, by], WORD)
        pair = [self.select(far, _ZERO, moved), self.select(far, moved, joined)]
        return WideValue(value.type, pair if name == "shl" else pair[::-1])

    def _wide_compare(self, order: str, left: Value, right: Value) -> Value:
        pairs = list(zip(self.words(left), self.words(right), strict=True))
        if order in ("eq", "ne"):
            return self._compare(order, reduce(self.or_, [self.xor(*pair) for pair in pairs]), _ZERO)
        assert order[0] == "u", order
        found = self._compare(order, *pairs[0])
        for pair in pairs[1:]:
            found = self.select(self._compare("eq", *pair), found, self._compare(order, *pair))
        return found

    def _wide_cttz(self, value: Value, zero_is_undefined: Value) -> Value:
        *lower, last = self.words(value)
        found = self.cttz(last, zero_is_undefined)
        for word in reversed(lower):
            further = self.add(found, LlvmConstant(WORD, WORD.width))
            found = self.select(self._compare("ne", word, _ZERO), self.cttz(word, zero_is_undefined), further)
        return self.zext(found, value.type)

    def _natively(self, name: str, left: Value, right: Value) -> Value:
        """The result of an operation that LLVM does on the whole integers."""
        kind = left.type
        result = self._pure(kind, f"{name} {kind.text} {self._native(left)}, {self._native(right)}")
        words = []
        for index in range(kind.width // WORD.width):
            moved = self._pure(kind, f"lshr {kind.text} {result.text}, {WORD.width * index}") if index else result
            words.append(self._pure(WORD, f"trunc {moved.typed} to {WORD.text}"))
        return WideValue(kind, words)

    def _native(self, value: Value) -> str:
        """LLVM's text for a wide integer as a whole."""
        if isinstance(value, LlvmConstant):
            return value.text
        kind = value.type
        whole: Value | None = None
        for index, word in enumerate(self.words(value)):
            if isinstance(word, LlvmConstant) and not word.constant:
                continue
            part = self._pure(kind, f"zext {word.typed} to {kind.text}")
            if index:
                part = self._pure(kind, f"shl {part.typed}, {WORD.width * index}")
            whole = part if whole is None else self._pure(kind, f"or {whole.typed}, {part.text}")
        return "0" if whole is None else whole.text

    # Vectors.

    def same_lanes(self, left: Value, right: Value) -> Value:
        """A bit for each element of two vectors: whether they are equal there."""
        lanes = VectorType(_BIT, left.type.count)
        equal = self._pure(lanes, f"icmp eq {left.typed}, {right.text}")
        return self._pure(LlvmIntType(lanes.count), f"bitcast {equal.typed} to i{lanes.count}")

    def splat(self, value: Value, count: int) -> Value:
        """A vector that has the same integer ``count`` times."""
        kind = VectorType(value.type, count)
        first = self._pure(kind, f"insertelement {kind.text} poison, {value.typed}, i32 0")
        zeros = f"<{count} x i32> zeroinitializer"
        return self._pure(kind, f"shufflevector {first.typed}, {kind.text} poison, {zeros}")

    def lanes(self, element: LlvmIntType, numbers: Sequence[int]) -> Value:
        """A vector of constants."""
        kind = VectorType(element, len(numbers))
        return Value(kind, f"<{', '.join(f'{element.text} {number}' for number in numbers)}>")

    def insert_element(self, vector: Value, element: Value, index: int) -> Value:
        return self._pure(vector.type, f"insertelement {vector.typed}, {element.typed}, i32 {index}")

    def select(self, condition: Value, then: Value, otherwise: Value) -> Value:
        if type(condition) is LlvmConstant:
            return then if condition.constant else otherwise
        if then is otherwise:
            return then
        if _is_wide(then.type):
            pairs = zip(self.words(then), self.words(otherwise), strict=True)
            return WideValue(then.type, [self.select(condition, *pair) for pair in pairs])
        return self._pure(then.type, f"select i1 {condition.text}, {then.typed}, {otherwise.typed}")

    def zext(self, value: Value, kind: LlvmIntType | VectorType) -> Value:
        if type(value) is LlvmConstant:
            return LlvmConstant(kind, value.constant)
        if _is_wide(kind):
            return WideValue(kind, self._filled(self.words(value), kind))
        return self._pure(kind, f"zext {value.typed} to {kind.text}")

    def trunc(self, value: Value, kind: LlvmIntType) -> Value:
        if type(value) is LlvmConstant:
            return LlvmConstant(kind, value.constant & ((1 << kind.width) - 1))
        if isinstance(value, WideValue):
            if _is_wide(kind):
                return WideValue(kind, [self._word(value, index) for index in range(kind.width // WORD.width)])
            first = self._word(value, 0)
            return first if kind is WORD else self.trunc(first, kind)
        return self._pure(kind, f"trunc {value.typed} to {kind.text}")

    def ctpop(self, value: Value) -> Value:
        if _is_wide(value.type):
            return self.zext(reduce(self.add, map(self.ctpop, self.words(value))), value.type)
        return self.intrinsic("llvm.ctpop", value.type, [value], value.type)

    def cttz(self, value: Value, zero_is_undefined: Value) -> Value:
        if _is_wide(value.type):
            return self._wide_cttz(value, zero_is_undefined)
        return self.intrinsic("llvm.cttz", value.type, [value, zero_is_undefined], value.type)

    def sadd_with_overflow(self, left: Value, right: Value) -> Value:
        return self.intrinsic("llvm.sadd.with.overflow", left.type, [left, right], StructType([left.type, _BIT]))

    def ssub_with_overflow(self, left: Value, right: Value) -> Value:
        return self.intrinsic("llvm.ssub.with.overflow", left.type, [left, right], StructType([left.type, _BIT]))

    def smul_with_overflow(self, left: Value, right: Value) -> Value:
        return self.intrinsic("llvm.smul.with.overflow", left.type, [left, right], StructType([left.type, _BIT]))

    def intrinsic(self, name: str, of: LlvmType, arguments: Sequence[Value], result: LlvmType) -> Value:
        """An operation of LLVM's that depends on its arguments alone, and has the form of a function."""
        kind = f"v{of.count}{of.element.text}" if isinstance(of, VectorType) else of.text
        called = self.function.module.declared(f"{name}.{kind}", result, [each.type for each in arguments])
        return self._pure(result, _call(called, result, arguments))

    def extract_value(self, pair: Value, index: int) -> Value:
        return self._pure(pair.type.elements[index], f"extractvalue {pair.typed}, {index}")

    # Memory.

    def alloca(self, kind: LlvmType, name: str = "") -> FrameVariable:
        text = f"%{name if name.isascii() else 'local'}.{self.function.fresh()[2:]}"
        room = ArrayType(WORD, kind.width // WORD.width) if _is_wide(kind) else kind
        self._write(f"{text} = alloca {room.text}")
        return FrameVariable(kind, text)

    def load(self, pointer: Value, align: int = 0) -> Value:
        kind = pointer.type.pointee
        if not isinstance(pointer, FrameVariable) or pointer.shared:
            return self._loaded(kind, pointer, align)
        known = self.block.known.get(pointer.text)
        if known is None:
            known = self.block.known[pointer.text] = self._loaded(kind, pointer, align)
        return known

    def _loaded(self, kind: LlvmType, pointer: Value, align: int) -> Value:
        if _is_wide(kind):
            return WideValue(kind, [self._loaded(WORD, place, align) for place in self._places_of(kind, pointer)])
        return self._named(kind, f"load {kind.text}, ptr {pointer.text}{_aligned(align)}")

    def store(self, value: Value, pointer: Value, align: int = 0) -> None:
        if isinstance(pointer, FrameVariable) and not pointer.shared:
            known = self.block.known.get(pointer.text)
            if known is not None and (known is value or (not _is_wide(value.type) and known.text == value.text)):
                return
            self.block.known[pointer.text] = value
        if _is_wide(value.type):
            for word, place in zip(self.words(value), self._places_of(value.type, pointer), strict=True):
                self._write(f"store {word.typed}, ptr {place.text}{_aligned(align)}")
            return
        self._write(f"store {value.typed}, ptr {pointer.text}{_aligned(align)}")

    def _places_of(self, kind: LlvmIntType, pointer: Value) -> list[Value]:
        """The addresses of the words of a wide integer."""
        address = PointerType(WORD)
        return [
            self._pure(address, f"getelementptr {WORD.text}, ptr {pointer.text}, {WORD.text} {index}")
            if index else Value(address, pointer.text)
            for index in range(kind.width // WORD.width)
        ]

    def gep(self, pointer: Value, indices: Sequence[Value]) -> Value:
        _share(pointer)
        kind = pointer.type.pointee
        of = kind.element if isinstance(kind, ArrayType) else kind
        if all(type(index) is LlvmConstant and index.constant == 0 for index in indices):
            return Value(PointerType(of), pointer.text)
        places = ", ".join(index.typed for index in indices)
        return self._pure(PointerType(of), f"getelementptr {kind.text}, ptr {pointer.text}, {places}")

    def bitcast(self, pointer: Value, kind: PointerType) -> Value:
        _share(pointer)
        return Value(kind, pointer.text)

    def ptrtoint(self, pointer: Value, kind: LlvmIntType) -> Value:
        return self._pure(kind, f"ptrtoint {pointer.typed} to {kind.text}")

    def inttoptr(self, value: Value, kind: PointerType) -> Value:
        return Value(kind, self._pure(kind, f"inttoptr {value.typed} to ptr").text)

    def load_atomic(self, pointer: Value, ordering: str, align: int) -> Value:
        _share(pointer)
        kind = pointer.type.pointee
        return self._named(kind, f"load atomic {kind.text}, ptr {pointer.text} {ordering}, align {align}")

    def store_atomic(self, value: Value, pointer: Value, ordering: str, align: int) -> None:
        _share(pointer)
        self._write(f"store atomic {value.typed}, ptr {pointer.text} {ordering}, align {align}")

    def atomic_rmw(self, operation: str, pointer: Value, value: Value, ordering: str) -> Value:
        _share(pointer)
        return self._named(value.type, f"atomicrmw {operation} ptr {pointer.text}, {value.typed} {ordering}")

    def cmpxchg(self, pointer: Value, wanted: Value, value: Value, ordering: str, failing: str) -> Value:
        _share(pointer)
        operation = f"cmpxchg ptr {pointer.text}, {wanted.typed}, {value.typed} {ordering} {failing}"
        return self._named(StructType([value.type, _BIT]), operation)

    # Control.

    def call(self, function: Value, arguments: Sequence[Value]) -> Value:
        result = function.type.pointee.return_type
        for argument in arguments:
            _share(argument)
        given = [part for each in arguments for part in (self.words(each) if _is_wide(each.type) else [each])]
        operation = _call(function, result, given)
        if isinstance(result, VoidType):
            self._write(operation)
            return Value(result, "")
        return self._named(result, operation)

    def branch(self, target: Block) -> None:
        self._end(f"br label %{target.name}")

    def repeat(self, head: Block, unrolled: bool = False) -> None:
        """Jumps back to the head of a loop. Where LLVM optimises, an ``unrolled`` one has its body once for each round;
        the number of rounds must be a constant."""
        if not unrolled:
            self.branch(head)
            return
        self.function.module.unrolled_loops += 1
        self._end(f"br label %{head.name}, !llvm.loop !{self.function.module.unrolled_loops}")

    def cbranch(self, condition: Value, then: Block, otherwise: Block) -> None:
        if type(condition) is LlvmConstant:
            self.branch(then if condition.constant else otherwise)
        else:
            self._end(f"br i1 {condition.text}, label %{then.name}, label %{otherwise.name}")

    def ret(self, value: Value) -> None:
        self._end(f"ret {value.typed}")

    def ret_void(self) -> None:
        self._end("ret void")

    def unreachable(self) -> None:
        self._end("unreachable")

    def _end(self, line: str) -> None:
        self._write(line)
        self.block.is_terminated = True

    @contextmanager
    def if_then(self, condition: Value) -> Iterator[None]:
        """Within this context, code that runs only when the condition is true."""
        then, after = (self.function.append_basic_block(name) for name in ("then", "after"))
        self.cbranch(condition, then, after)
        self.position_at_end(then)
        yield
        if not self.block.is_terminated:
            self.branch(after)
        self.position_at_end(after)


_BIT = LlvmIntType(1)
_ZERO = LlvmConstant(WORD, 0)
_ONES = (1 << WORD.width) - 1
_UNSIGNED = {"==": "eq", "!=": "ne", "<": "ult", "<=": "ule", ">": "ugt", ">=": "uge"}
_SIGNED = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
_ORDERS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    **dict.fromkeys(("ult", "slt"), lambda a, b: a < b),
    **dict.fromkeys(("ule", "sle"), lambda a, b: a <= b),
    **dict.fromkeys(("ugt", "sgt"), lambda a, b: a > b),
    **dict.fromkeys(("uge", "sge"), lambda a, b: a >= b),
}
_COMPUTED: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "lshr": lambda a, b: a >> b,
}
_SYMMETRIC = frozenset({"add", "mul", "and", "or", "xor"})


def _signed(constant: LlvmConstant) -> int:
    width: int = constant.type.width
    number: int = constant.constant
    return number - (number >> (width - 1) << width)


def _folded(name: str, kind: LlvmIntType, left: Value, right: Value) -> Value | None:
    """The result of an operation where one operand is a constant, if it is known now.

    A shift by a constant as large as its type is wide leaves no bit, as in Python: a record may begin with a field that
    takes none. To LLVM it would have no result, and so might be anything.
    """
    if name in ("shl", "lshr") and type(right) is LlvmConstant and right.constant >= kind.width:
        return LlvmConstant(kind, 0)
    if type(left) is LlvmConstant:
        if type(right) is LlvmConstant:
            return LlvmConstant(kind, _COMPUTED[name](left.constant, right.constant) & ((1 << kind.width) - 1))
        if name not in _SYMMETRIC:
            return None
        left, right = right, left
    assert isinstance(right, LlvmConstant)
    number = right.constant
    if number == 0:
        return right if name in ("mul", "and") else left
    if name == "mul" and number == 1:
        return left
    if name in ("and", "or") and number == (1 << kind.width) - 1:
        return left if name == "and" else right
    return None


def _share(value: Value) -> None:
    """Notes that an address is used other than to read or write the whole variable."""
    if isinstance(value, FrameVariable):
        value.shared = True


def _aligned(align: int) -> str:
    return f", align {align}" if align else ""


def _call(function: Value, result: LlvmType, arguments: Sequence[Value]) -> str:
    return f"call {result.text} {function.text}({', '.join(each.typed for each in arguments)})"


def _symbol(name: str) -> str:
    """A name, which may have any letters, as LLVM refers to it."""
    if re.fullmatch(r"[\w.]+", name, re.ASCII):
        return f"@{name}"
    return '@"' + "".join(f"\\{byte:02x}" for byte in name.encode()) + '"'
