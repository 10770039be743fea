"""Emits LLVM code for the expression graph: the machine code means what CPython means by the same source."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from checkers.explicit.bits import (
    I1,
    I64,
    code_of,
    const,
    cut,
    held,
    masked,
    put,
    register,
    resize,
    shifted_left,
    shifted_right,
    value_of,
)
from model.compiler.ir import (
    INT,
    And,
    Arithmetic,
    BagChange,
    Choose,
    Compare,
    Const,
    Contains,
    Convert,
    Count,
    Domain,
    Equal,
    Expr,
    Extremum,
    Field,
    Implies,
    Inline,
    IsNone,
    Local,
    MapGet,
    NoneType,
    Not,
    NothingType,
    Or,
    Range,
    RecordOf,
    Reduce,
    SeqConcat,
    SeqGet,
    SeqOf,
    SeqSlice,
    SetBinary,
    SetOf,
    Size,
    Sorted,
    StateVar,
    Subset,
    Universe,
    Witness,
)
from model.compiler.joins import fits
from model.compiler.layout import Layout, encode
from model.language.errors import ModelError
from model.language.types import (
    BagType,
    BoolType,
    IdentifierType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)
from model.language.values import Record

Value = Any


class Emitter:
    """Emits one LLVM function: its state words, its local variables, its way out when the model fails."""

    def __init__(self, function: ir.Function, layout: Layout, context: Value) -> None:
        self.function = function
        self.layout = layout
        self.context = context
        self.entry = function.append_basic_block("entry")
        self.builder = ir.IRBuilder(self.entry)
        body = function.append_basic_block("body")
        self.leave_entry = body
        self.builder.position_at_end(body)
        self.locals: dict[int, Value] = {}
        self.words: dict[str, list[Value]] = {}
        self.failed: ir.Block | None = None

    def finish(self) -> None:
        """Closes the entry block, which only makes room for variables."""
        ir.IRBuilder(self.entry).branch(self.leave_entry)

    # Room, blocks, failure.

    def room(self, kind: ir.IntType, name: str = "") -> Value:
        """A variable in the function's frame."""
        builder = ir.IRBuilder(self.entry)
        return builder.alloca(kind, name=name)

    def variable(self, local: Local) -> Value:
        known = self.locals.get(local.slot)
        if known is None:
            known = self.locals[local.slot] = self.room(held(local.type), local.name)
        return known

    def bind_words(self, which: str, words: list[Value]) -> None:
        """Where the state that ``which`` names ("new" or "old") is: one pointer to 64 bits for each word."""
        self.words[which] = words

    def block(self, name: str) -> ir.Block:
        return self.function.append_basic_block(name)

    def fail_unless(self, condition: Value) -> None:
        """Goes to the failure block when the model leaves its declared types here."""
        if isinstance(condition, ir.Constant) and condition.constant in (1, True):
            return
        assert self.failed is not None
        good = self.block("good")
        self.builder.cbranch(condition, good, self.failed)
        self.builder.position_at_end(good)

    def fail(self) -> None:
        """Goes to the failure block."""
        self.fail_unless(const(0, I1))

    # Loops.

    @contextmanager
    def counting(self, start: Value, stop: Value, step: int = 1) -> Any:
        """A loop of a 64-bit counter from start up (or down) to, not including, stop; yields (counter, next, exit)."""
        counter = self.room(I64, "i")
        head, body, onward, leave = (self.block(name) for name in ("head", "loop", "next", "leave"))
        self.builder.store(start, counter)
        self.builder.branch(head)
        self.builder.position_at_end(head)
        index = self.builder.load(counter)
        more = self.builder.icmp_signed("<" if step > 0 else ">", index, stop)
        self.builder.cbranch(more, body, leave)
        self.builder.position_at_end(body)
        yield index, onward, leave
        if not self.builder.block.is_terminated:
            self.builder.branch(onward)
        self.builder.position_at_end(onward)
        self.builder.store(self.builder.add(index, const(step)), counter)
        self.builder.branch(head)
        self.builder.position_at_end(leave)

    @contextmanager
    def members(self, mask: Value) -> Any:
        """A loop over the set bits of a mask, from the lowest up; yields (position, next, exit)."""
        kind = mask.type
        rest = self.room(kind, "rest")
        head, body, onward, leave = (self.block(name) for name in ("bits", "bit", "next", "leave"))
        self.builder.store(mask, rest)
        self.builder.branch(head)
        self.builder.position_at_end(head)
        left = self.builder.load(rest)
        self.builder.cbranch(self.builder.icmp_unsigned("!=", left, const(0, kind)), body, leave)
        self.builder.position_at_end(body)
        position = self.builder.cttz(left, const(1, I1))
        yield resize(self.builder, position, I64), onward, leave
        if not self.builder.block.is_terminated:
            self.builder.branch(onward)
        self.builder.position_at_end(onward)
        self.builder.store(self.builder.and_(left, self.builder.sub(left, const(1, kind))), rest)
        self.builder.branch(head)
        self.builder.position_at_end(leave)

    @contextmanager
    def when(self, condition: Value) -> Any:
        """Code that runs only when the condition is true."""
        then, after = self.block("then"), self.block("after")
        self.builder.cbranch(condition, then, after)
        self.builder.position_at_end(then)
        yield
        if not self.builder.block.is_terminated:
            self.builder.branch(after)
        self.builder.position_at_end(after)

    @contextmanager
    def over(self, domain: Domain, of: Type, distinct: bool = False) -> Any:
        """A loop over a domain; yields (value of the loop variable, next, exit).

        With ``distinct`` an element that a bag holds several times comes once.
        """
        match domain:
            case Universe(kind):
                with self.counting(const(0), const(kind.codes)) as (index, onward, leave):
                    code = resize(self.builder, index, register(kind.bits))
                    self._skip_unless(self.is_code(kind, code), onward)
                    yield value_of(self.builder, kind, code), onward, leave
            case Range():
                low, high = self.emit(domain.low), self.emit(domain.high)
                with self.counting(low, high, domain.step) as (index, onward, leave):
                    yield index, onward, leave
            case _:
                with self._elements(self.emit(domain), domain.type, distinct) as (value, onward, leave):
                    yield value, onward, leave

    def _skip_unless(self, condition: Value | None, onward: ir.Block) -> None:
        if condition is None:
            return
        good = self.block("valid")
        self.builder.cbranch(condition, good, onward)
        self.builder.position_at_end(good)

    @contextmanager
    def _elements(self, code: Value, kind: Type, distinct: bool = False) -> Any:
        match kind:
            case SetType(NothingType(), _):
                with self.counting(const(0), const(0)) as (index, onward, leave):
                    yield index, onward, leave
            case SetType(element, None):
                with self.members(code) as (position, onward, leave):
                    value = resize(self.builder, position, register(element.bits))
                    yield value_of(self.builder, element, value), onward, leave
            case SetType(element, capacity) | BagType(element, capacity):
                width = element.codes.bit_length()
                assert capacity is not None
                with self.counting(const(capacity - 1), const(-1), -1) as (index, onward, leave):
                    offset = self.builder.mul(index, const(width))
                    slot = cut(self.builder, code, offset, width)
                    self._skip_unless(self.builder.icmp_unsigned("!=", slot, const(0, slot.type)), onward)
                    if distinct and isinstance(kind, BagType):
                        self._skip_unless(self._first_of_its_kind(code, width, index, offset, slot), onward)
                    inner = self.builder.sub(slot, const(1, slot.type))
                    yield value_of(self.builder, element, inner), onward, leave
            case SeqType(element, _):
                with self.counting(const(0), self.seq_length(kind, code)) as (index, onward, leave):
                    yield self.seq_element(kind, code, index), onward, leave
            case _:
                raise ModelError(f"{kind} cannot be iterated")

    def _first_of_its_kind(self, code: Value, width: int, index: Value, offset: Value, slot: Value) -> Value:
        """Whether the slot before this one, in the packed order, holds something else."""
        first = self.builder.icmp_unsigned("==", index, const(0))
        before_at = self.builder.select(first, const(0), self.builder.sub(offset, const(width)))
        before = cut(self.builder, code, before_at, width)
        return self.builder.or_(first, self.builder.icmp_unsigned("!=", before, slot))

    def is_code(self, kind: Type, code: Value) -> Value | None:
        """Whether a code in the type's code space stands for a value; None when every one does."""
        match kind:
            case RecordType(_, fields):
                valid: Value | None = None
                offset = sum(of.bits for _, of in fields)
                for _, of in fields:
                    offset -= of.bits
                    part = cut(self.builder, code, offset, of.bits)
                    checks = [self.is_code(of, part)]
                    if of.codes != 1 << of.bits:
                        checks.append(self.builder.icmp_unsigned("<", part, const(of.codes, part.type)))
                    for check in checks:
                        if check is not None:
                            valid = check if valid is None else self.builder.and_(valid, check)
                return valid
            case MapType(key, of):
                fields = tuple((str(number), of) for number in range(key.codes))
                return self.is_code(RecordType(Record, fields), code)
            case SeqType() | BagType() | SetType(_, int()):
                raise ModelError(f"a parameter of the type {kind} has to be drawn: require(x in self.requests)")
            case OptionalType(inner) if isinstance(inner, RecordType | SeqType | BagType | MapType):
                raise ModelError(f"a parameter of the type {kind} has to be drawn: require(x in self.requests)")
        return None

    # State.

    def read(self, name: str, which: str) -> Value:
        """The value of a state variable."""
        kind = self.layout.variables[name]
        return value_of(self.builder, kind, self.read_code(name, which))

    def read_code(self, name: str, which: str) -> Value:
        slot = self.layout.slots[name]
        words = self.words[which]
        if slot.bits <= 64:
            return cut(self.builder, self.builder.load(words[slot.word]), slot.offset, slot.bits)
        wide = register(slot.bits)
        code: Value = const(0, wide)
        for index in range(wide.width // 64):
            word = self.builder.zext(self.builder.load(words[slot.word + index]), wide)
            code = self.builder.or_(code, shifted_left(self.builder, word, 64 * index))
        return masked(self.builder, code, slot.bits)

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

    # Expressions.

    def emit(self, node: Expr) -> Value:
        """The value of an expression."""
        method: Callable[[Any], Value] = getattr(self, "_emit_" + type(node).__name__.lower())
        return method(node)

    def _emit_const(self, node: Const) -> Value:
        match node.type:
            case BoolType():
                return const(int(node.value), I1)
            case IntType():
                return const(node.value)
            case NoneType():
                return const(0)
        return const(encode(node.type, node.value), register(node.type.bits))

    def _emit_local(self, node: Local) -> Value:
        return self.builder.load(self.variable(node))

    def _emit_statevar(self, node: StateVar) -> Value:
        return self.read(node.name, node.which)

    def _emit_field(self, node: Field) -> Value:
        kind = node.record.type
        assert isinstance(kind, RecordType)
        offset, of = field_place(kind, node.name)
        return value_of(self.builder, of, cut(self.builder, self.emit(node.record), offset, of.bits))

    def _emit_mapget(self, node: MapGet) -> Value:
        kind = node.map.type
        assert isinstance(kind, MapType)
        code = self.emit(node.map)
        offset = self.map_offset(kind, self.emit(node.key))
        return value_of(self.builder, kind.value, cut(self.builder, code, offset, kind.value.bits))

    def map_offset(self, kind: MapType, key: Value) -> Value:
        """The bit at which the entry of a key starts."""
        position = resize(self.builder, code_of(self.builder, kind.key, key), I64)
        return self.builder.mul(position, const(kind.value.bits))

    def seq_length(self, kind: SeqType, code: Value) -> Value:
        return resize(self.builder, cut(self.builder, code, 0, kind.capacity.bit_length()), I64)

    def seq_element(self, kind: SeqType, code: Value, index: Value) -> Value:
        offset = self.seq_offset(kind, index)
        return value_of(self.builder, kind.element, cut(self.builder, code, offset, kind.element.bits))

    def seq_offset(self, kind: SeqType, index: Value) -> Value:
        """The bit at which an element starts."""
        return self.builder.add(self.builder.mul(index, const(kind.element.bits)), const(kind.capacity.bit_length()))

    def seq_index(self, kind: SeqType, code: Value, index: Value) -> Value:
        """An index as Python means it, negative ones from the end; a failure when it is outside."""
        length = self.seq_length(kind, code)
        negative = self.builder.icmp_signed("<", index, const(0))
        index = self.builder.select(negative, self.builder.add(index, length), index)
        self.fail_unless(self.builder.icmp_unsigned("<", index, length))
        return index

    def _emit_seqget(self, node: SeqGet) -> Value:
        kind = node.seq.type
        assert isinstance(kind, SeqType)
        code = self.emit(node.seq)
        if kind.capacity == 0:
            self.fail()
            return const(0, held(kind.element))
        return self.seq_element(kind, code, self.seq_index(kind, code, self.emit(node.index)))

    def _emit_seqslice(self, node: SeqSlice) -> Value:
        kind = node.seq.type
        assert isinstance(kind, SeqType)
        code = self.emit(node.seq)
        length = self.seq_length(kind, code)
        low = const(0) if node.low is None else self._clipped(self.emit(node.low), length)
        high = length if node.high is None else self._clipped(self.emit(node.high), length)
        size = self.builder.sub(high, low)
        size = self.builder.select(self.builder.icmp_signed("<", size, const(0)), const(0), size)
        start = kind.capacity.bit_length()
        data = shifted_right(self.builder, code, start)
        data = shifted_right(self.builder, data, self.builder.mul(low, const(kind.element.bits)))
        kept = self.builder.mul(size, const(kind.element.bits))
        mask = self.builder.sub(shifted_left(self.builder, const(1, data.type), kept), const(1, data.type))
        full = self.builder.icmp_unsigned(">=", kept, const(data.type.width))
        data = self.builder.select(full, data, self.builder.and_(data, mask))
        return self.builder.or_(shifted_left(self.builder, data, start), resize(self.builder, size, data.type))

    def _clipped(self, index: Value, length: Value) -> Value:
        negative = self.builder.icmp_signed("<", index, const(0))
        index = self.builder.select(negative, self.builder.add(index, length), index)
        index = self.builder.select(self.builder.icmp_signed("<", index, const(0)), const(0), index)
        return self.builder.select(self.builder.icmp_signed(">", index, length), length, index)

    def _emit_seqconcat(self, node: SeqConcat) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        wide = register(kind.bits)
        total: Value = const(0)
        data: Value = const(0, wide)
        for part in (node.left, node.right):
            of = part.type
            assert isinstance(of, SeqType)
            code = self.emit(part)
            items = resize(self.builder, shifted_right(self.builder, code, of.capacity.bit_length()), wide)
            offset = self.builder.mul(total, const(kind.element.bits))
            data = self.builder.or_(data, shifted_left(self.builder, items, offset))
            total = self.builder.add(total, self.seq_length(of, code))
        data = shifted_left(self.builder, data, kind.capacity.bit_length())
        return self.builder.or_(data, resize(self.builder, total, wide))

    def _emit_seqof(self, node: SeqOf) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        code: Value = const(len(node.elements), register(kind.bits))
        offset = kind.capacity.bit_length()
        for element in node.elements:
            part = code_of(self.builder, kind.element, self.emit(element))
            code = put(self.builder, code, offset, kind.element.bits, part)
            offset += kind.element.bits
        return code

    def _emit_recordof(self, node: RecordOf) -> Value:
        kind = node.type
        assert isinstance(kind, RecordType)
        code: Value = const(0, register(kind.bits))
        for name, of in kind.fields:
            part = code_of(self.builder, of, self.emit(node.fields[name]))
            code = shifted_left(self.builder, code, of.bits)
            code = self.builder.or_(code, resize(self.builder, part, code.type))
        return code

    # Sets and bags.

    def _emit_setof(self, node: SetOf) -> Value:
        kind = node.type
        assert isinstance(kind, SetType)
        code: Value = const(0, register(kind.bits))
        for element in node.elements:
            code = self.with_element(kind, code, code_of(self.builder, kind.element, self.emit(element)))
        return code

    def with_element(self, kind: SetType, code: Value, item: Value) -> Value:
        """A set with one element more."""
        if kind.capacity is None:
            bit = shifted_left(self.builder, const(1, code.type), resize(self.builder, item, I64))
            return self.builder.or_(code, bit)
        return self.insert(kind.element, kind.capacity, code, item, once=True)

    def insert(self, element: Type, capacity: int, code: Value, item: Value, once: bool) -> Value:
        """Descending slots with one element more; a failure when all are taken."""
        width = element.codes.bit_length()
        wide = code.type
        slot_kind = register(width)
        carried, result = self.room(slot_kind, "carried"), self.room(wide, "slots")
        first = self.builder.add(resize(self.builder, item, slot_kind), const(1, slot_kind))
        self.builder.store(first, carried)
        self.builder.store(const(0, wide), result)
        with self.counting(const(0), const(capacity)) as (index, _, _):
            offset = self.builder.mul(index, const(width))
            slot = cut(self.builder, code, offset, width)
            moving = self.builder.load(carried)
            larger = self.builder.icmp_unsigned(">", moving, slot)
            kept = self.builder.select(larger, moving, slot)
            onward = self.builder.select(larger, slot, moving)
            if once:
                same = self.builder.icmp_unsigned("==", moving, slot)
                onward = self.builder.select(same, const(0, slot_kind), onward)
            self.builder.store(onward, carried)
            placed = shifted_left(self.builder, resize(self.builder, kept, wide), offset)
            self.builder.store(self.builder.or_(self.builder.load(result), placed), result)
        self.fail_unless(self.builder.icmp_unsigned("==", self.builder.load(carried), const(0, slot_kind)))
        return self.builder.load(result)

    def without(self, element: Type, capacity: int, code: Value, item: Value) -> tuple[Value, Value]:
        """Slots with one occurrence of an element less, and whether it was there."""
        width = element.codes.bit_length()
        wide, slot_kind = code.type, register(width)
        found, result = self.room(I1, "found"), self.room(wide, "slots")
        wanted = self.builder.add(resize(self.builder, item, slot_kind), const(1, slot_kind))
        self.builder.store(const(0, I1), found)
        self.builder.store(const(0, wide), result)
        with self.counting(const(0), const(capacity)) as (index, _, _):
            offset = self.builder.mul(index, const(width))
            slot = cut(self.builder, code, offset, width)
            here = self.builder.icmp_unsigned("==", slot, wanted)
            gone = self.builder.or_(self.builder.load(found), here)
            self.builder.store(gone, found)
            following_at = self.builder.add(offset, const(width))
            outside = self.builder.icmp_unsigned(">=", following_at, const(width * capacity))
            following_at = self.builder.select(outside, const(0), following_at)
            following = self.builder.select(outside, const(0, slot.type), cut(self.builder, code, following_at, width))
            kept = self.builder.select(gone, following, slot)
            placed = shifted_left(self.builder, resize(self.builder, kept, wide), offset)
            self.builder.store(self.builder.or_(self.builder.load(result), placed), result)
        return self.builder.load(result), self.builder.load(found)

    def _emit_setbinary(self, node: SetBinary) -> Value:
        kind, of = node.type, node.left.type
        assert isinstance(kind, SetType) and isinstance(of, SetType)
        left, right = self.emit(node.left), self.emit(node.right)
        if of.capacity is None:
            match node.op:
                case "|":
                    return self.builder.or_(left, right)
                case "&":
                    return self.builder.and_(left, right)
                case "-":
                    return self.builder.and_(left, self.builder.not_(right))
            return self.builder.xor(left, right)
        result = self.room(register(kind.bits), "set")
        keeps_left = {"|": None, "&": True, "-": False, "^": False}[node.op]
        self.builder.store(const(0, register(kind.bits)), result)
        self._gather(kind, of, left, result, right, keeps_left)
        if node.op in ("|", "^"):
            self._gather(kind, of, right, result, left, None if node.op == "|" else False)
        return self.builder.load(result)

    def _gather(
        self, kind: SetType, of: SetType, source: Value, result: Value, other: Value, wanted: bool | None
    ) -> None:
        """Adds the elements of ``source`` that are (wanted), are not, or may be in ``other`` to ``result``."""
        with self._elements(source, of) as (value, onward, _):
            if wanted is not None:
                inside = self.contains(of, other, value)
                self._skip_unless(inside if wanted else self.builder.not_(inside), onward)
            item = code_of(self.builder, of.element, value)
            self.builder.store(self.with_element(kind, self.builder.load(result), item), result)

    def contains(self, kind: Type, code: Value, value: Value) -> Value:
        """Whether a container has an element, given as a value of the container's element type."""
        match kind:
            case SetType(element, None):
                item = resize(self.builder, code_of(self.builder, element, value), I64)
                bit = shifted_right(self.builder, code, item)
                return self.builder.trunc(bit, I1)
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

    def _emit_contains(self, node: Contains) -> Value:
        kind = node.container.type
        assert isinstance(kind, SetType | SeqType | BagType)
        value, code = self.emit(node.item), self.emit(node.container)
        if isinstance(kind.element, NothingType):
            return const(0, I1)
        found = self.room(I1, "within")
        self.builder.store(const(0, I1), found)
        fitting, embedded = self.embed(node.item.type, kind.element, value)
        with self.when(fitting):
            self.builder.store(self.contains(kind, code, embedded()), found)
        return self.builder.load(found)

    def embed(self, source: Type, target: Type, value: Value) -> tuple[Value, Callable[[], Value]]:
        """Whether a value belongs to another type, and it there (to be asked only when it does)."""
        if source == target:
            return const(1, I1), lambda: value
        match source, target:
            case IntType(), IntType():
                low = self.builder.icmp_signed(">=", value, const(target.low))
                high = self.builder.icmp_signed("<=", value, const(target.high))
                return self.builder.and_(low, high), lambda: value
            case NoneType(), OptionalType():
                return const(1, I1), lambda: const(0, register(target.bits))
            case NoneType(), _:
                return const(0, I1), lambda: const(0, held(target))
            case OptionalType(inner), OptionalType():
                if inner == target.inner:
                    return const(1, I1), lambda: value
                return const(1, I1), lambda: self.convert(value, source, target)
            case OptionalType(inner), _:
                there = self.builder.icmp_unsigned("!=", value, const(0, value.type))
                code = self.builder.sub(value, const(1, value.type))
                fitting, embedded = self.embed(inner, target, value_of(self.builder, inner, code))
                return self.builder.and_(there, fitting), embedded
            case _, OptionalType(inner):
                fitting, embedded = self.embed(source, inner, value)
                return fitting, lambda: self.convert(embedded(), inner, target)
        return const(1, I1), lambda: self.convert(value, source, target)

    def _emit_subset(self, node: Subset) -> Value:
        kind = node.left.type
        assert isinstance(kind, SetType)
        left, right = self.emit(node.left), self.emit(node.right)
        if kind.capacity is None:
            outside = self.builder.and_(left, self.builder.not_(right))
            inside = self.builder.icmp_unsigned("==", outside, const(0, outside.type))
        else:
            flag = self.room(I1, "subset")
            self.builder.store(const(1, I1), flag)
            with self._elements(left, kind) as (value, _, _):
                still = self.builder.and_(self.builder.load(flag), self.contains(kind, right, value))
                self.builder.store(still, flag)
            inside = self.builder.load(flag)
        if not node.strict:
            return inside
        return self.builder.and_(inside, self.builder.icmp_unsigned("!=", left, right))

    def _emit_bagchange(self, node: BagChange) -> Value:
        kind = node.bag.type
        assert isinstance(kind, BagType | SetType)
        code = self.emit(node.bag)
        item = code_of(self.builder, kind.element, self.emit(node.item))
        if kind.capacity is None:
            bit = shifted_left(self.builder, const(1, code.type), resize(self.builder, item, I64))
            there = self.builder.and_(code, bit)
            self.fail_unless(self.builder.icmp_unsigned("!=", there, const(0, code.type)))
            return self.builder.xor(code, there)
        if not node.remove:
            return self.insert(kind.element, kind.capacity, code, item, once=False)
        result, found = self.without(kind.element, kind.capacity, code, item)
        self.fail_unless(found)
        return result

    def _emit_size(self, node: Size) -> Value:
        return self.size(node.container.type, self.emit(node.container))

    def size(self, kind: Type, code: Value) -> Value:
        match kind:
            case SetType(_, None):
                return resize(self.builder, self.builder.ctpop(code), I64)
            case SeqType():
                return self.seq_length(kind, code)
            case MapType(key, _):
                return const(key.codes)
        count = self.room(I64, "size")
        self.builder.store(const(0), count)
        with self._elements(code, kind):
            self.builder.store(self.builder.add(self.builder.load(count), const(1)), count)
        return self.builder.load(count)

    def _emit_count(self, node: Count) -> Value:
        kind = node.bag.type
        assert isinstance(kind, BagType)
        wanted, code = self.emit(node.item), self.emit(node.bag)
        count = self.room(I64, "count")
        self.builder.store(const(0), count)
        with self._elements(code, kind) as (value, _, _):
            same = self.builder.zext(self.builder.icmp_unsigned("==", value, wanted), I64)
            self.builder.store(self.builder.add(self.builder.load(count), same), count)
        return self.builder.load(count)

    # Arithmetic and logic.

    def _emit_arithmetic(self, node: Arithmetic) -> Value:
        left, right = self.emit(node.left), self.emit(node.right)
        match node.op:
            case "//" | "%":
                self.fail_unless(self.builder.icmp_signed("!=", right, const(0)))
                quotient, rest = self.builder.sdiv(left, right), self.builder.srem(left, right)
                signs = self.builder.icmp_signed("<", self.builder.xor(rest, right), const(0))
                uneven = self.builder.and_(self.builder.icmp_signed("!=", rest, const(0)), signs)
                if node.op == "//":
                    return self.builder.select(uneven, self.builder.sub(quotient, const(1)), quotient)
                return self.builder.select(uneven, self.builder.add(rest, right), rest)
        plain = {"+": self.builder.add, "-": self.builder.sub, "*": self.builder.mul}
        checked = {
            "+": self.builder.sadd_with_overflow,
            "-": self.builder.ssub_with_overflow,
            "*": self.builder.smul_with_overflow,
        }
        if node.type != INT:
            return plain[node.op](left, right)
        pair = checked[node.op](left, right)
        self.fail_unless(self.builder.not_(self.builder.extract_value(pair, 1)))
        return self.builder.extract_value(pair, 0)

    def _emit_compare(self, node: Compare) -> Value:
        return self.builder.icmp_signed(node.op, self.emit(node.left), self.emit(node.right))

    def _emit_equal(self, node: Equal) -> Value:
        return self.builder.icmp_unsigned("==", self.emit(node.left), self.emit(node.right))

    def _emit_not(self, node: Not) -> Value:
        return self.builder.not_(self.emit(node.operand))

    def _emit_and(self, node: And) -> Value:
        return self._chain(node.operands, stop_at=False)

    def _emit_or(self, node: Or) -> Value:
        return self._chain(node.operands, stop_at=True)

    def _chain(self, operands: list[Expr], stop_at: bool) -> Value:
        """Evaluates operands from the left until one is ``stop_at``."""
        result = self.room(I1, "chain")
        leave = self.block("decided")
        for position, operand in enumerate(operands):
            value = self.emit(operand)
            self.builder.store(value, result)
            if position + 1 < len(operands):
                onward = self.block("operand")
                if stop_at:
                    self.builder.cbranch(value, leave, onward)
                else:
                    self.builder.cbranch(value, onward, leave)
                self.builder.position_at_end(onward)
        self.builder.branch(leave)
        self.builder.position_at_end(leave)
        return self.builder.load(result)

    def _emit_implies(self, node: Implies) -> Value:
        premise, conclusion = self.emit(node.premise), self.emit(node.conclusion)
        return self.builder.or_(self.builder.not_(premise), conclusion)

    def _emit_choose(self, node: Choose) -> Value:
        result = self.room(held(node.type), "choice")
        then, otherwise, after = self.block("then"), self.block("else"), self.block("after")
        self.builder.cbranch(self.emit(node.condition), then, otherwise)
        for block, branch in ((then, node.then), (otherwise, node.otherwise)):
            self.builder.position_at_end(block)
            self.builder.store(self.emit(branch), result)
            self.builder.branch(after)
        self.builder.position_at_end(after)
        return self.builder.load(result)

    def _emit_isnone(self, node: IsNone) -> Value:
        match node.operand.type:
            case NoneType():
                return const(1, I1)
            case OptionalType():
                value = self.emit(node.operand)
                return self.builder.icmp_unsigned("==", value, const(0, value.type))
        return const(0, I1)

    def _emit_extremum(self, node: Extremum) -> Value:
        best = self.emit(node.operands[0])
        for operand in node.operands[1:]:
            value = self.emit(operand)
            better = self.builder.icmp_signed(">" if node.largest else "<", value, best)
            best = self.builder.select(better, value, best)
        return best

    def _emit_witness(self, node: Witness) -> Value:
        self.see_premise(node.index)
        return self.emit(node.operand)

    def see_premise(self, index: int) -> None:
        """Notes that the premise of a property came true; which place that is, the function's maker says."""
        raise NotImplementedError

    # Conversions.

    def _emit_convert(self, node: Convert) -> Value:
        return self.convert(self.emit(node.operand), node.operand.type, node.type)

    def convert(self, value: Value, source: Type, target: Type) -> Value:
        """A value in another type; a failure when that does not hold it."""
        if source == target:
            return value
        match source, target:
            case NothingType(), _:
                return const(0, held(target))  # never evaluated: there is no such element
            case NoneType(), OptionalType():
                return const(0, register(target.bits))
            case NoneType(), _:
                self.fail()
                return const(0, held(target))
            case OptionalType(inner), OptionalType():
                return self._convert_optional(value, source, target)
            case _, OptionalType(inner):
                code = code_of(self.builder, inner, self.convert(value, source, inner))
                code = resize(self.builder, code, register(target.bits))
                return self.builder.add(code, const(1, code.type))
            case OptionalType(inner), _:
                self.fail_unless(self.builder.icmp_unsigned("!=", value, const(0, value.type)))
                code = self.builder.sub(value, const(1, value.type))
                return self.convert(value_of(self.builder, inner, code), inner, target)
            case IntType(), IntType():
                if not fits(source, target):
                    if source.low < target.low:
                        self.fail_unless(self.builder.icmp_signed(">=", value, const(target.low)))
                    if source.high > target.high:
                        self.fail_unless(self.builder.icmp_signed("<=", value, const(target.high)))
                return value
            case SetType(), SetType():
                return self._convert_set(value, source, target)
            case SeqType(), SeqType():
                return self._convert_seq(value, source, target)
            case (SeqType() | BagType()), BagType():
                return self._convert_bag(value, source, target)
            case MapType(), MapType():
                return self._convert_map(value, source, target)
        raise ModelError(f"{source} cannot be converted to {target}")

    def _convert_optional(self, value: Value, source: OptionalType, target: OptionalType) -> Value:
        result = self.room(register(target.bits), "optional")
        self.builder.store(const(0, register(target.bits)), result)
        with self.when(self.builder.icmp_unsigned("!=", value, const(0, value.type))):
            code = self.builder.sub(value, const(1, value.type))
            inner = value_of(self.builder, source.inner, code)
            self.builder.store(self.convert(inner, source.inner, target), result)
        return self.builder.load(result)

    def _convert_set(self, value: Value, source: SetType, target: SetType) -> Value:
        if isinstance(source.element, NothingType):
            return const(0, register(target.bits))
        if source.element == target.element and source.capacity is None and target.capacity is None:
            return value
        result = self.room(register(target.bits), "set")
        self.builder.store(const(0, register(target.bits)), result)
        with self._elements(value, source) as (item, _, _):
            code = code_of(self.builder, target.element, self.convert(item, source.element, target.element))
            self.builder.store(self.with_element(target, self.builder.load(result), code), result)
        return self.builder.load(result)

    def _convert_seq(self, value: Value, source: SeqType, target: SeqType) -> Value:
        if source.capacity == 0:
            return const(0, register(target.bits))
        length = self.seq_length(source, value)
        if source.capacity > target.capacity:
            self.fail_unless(self.builder.icmp_unsigned("<=", length, const(target.capacity)))
        start, goal = source.capacity.bit_length(), target.capacity.bit_length()
        if source.element == target.element:
            wide = register(max(source.bits, target.bits))
            data = shifted_right(self.builder, resize(self.builder, value, wide), start)
            data = shifted_left(self.builder, data, goal)
            code = self.builder.or_(data, resize(self.builder, length, wide))
            return resize(self.builder, code, register(target.bits))
        result = self.room(register(target.bits), "seq")
        self.builder.store(resize(self.builder, length, register(target.bits)), result)
        with self.counting(const(0), length) as (index, _, _):
            item = self.convert(self.seq_element(source, value, index), source.element, target.element)
            self._append(target, result, index, item)
        return self.builder.load(result)

    def _append(self, kind: SeqType, result: Value, index: Value, item: Value) -> None:
        """Puts an element at a position that is still zero."""
        code = resize(self.builder, code_of(self.builder, kind.element, item), register(kind.bits))
        placed = shifted_left(self.builder, code, self.seq_offset(kind, index))
        self.builder.store(self.builder.or_(self.builder.load(result), placed), result)

    def _convert_bag(self, value: Value, source: SeqType | BagType, target: BagType) -> Value:
        result = self.room(register(target.bits), "bag")
        self.builder.store(const(0, register(target.bits)), result)
        if isinstance(source.element, NothingType):
            return self.builder.load(result)
        with self._elements(value, source) as (item, _, _):
            code = code_of(self.builder, target.element, self.convert(item, source.element, target.element))
            bag = self.builder.load(result)
            self.builder.store(self.insert(target.element, target.capacity, bag, code, once=False), result)
        return self.builder.load(result)

    def _convert_map(self, value: Value, source: MapType, target: MapType) -> Value:
        result = self.room(register(target.bits), "map")
        self.builder.store(const(0, register(target.bits)), result)
        with self.counting(const(0), const(source.key.codes)) as (index, _, _):
            old = cut(self.builder, value, self.builder.mul(index, const(source.value.bits)), source.value.bits)
            item = self.convert(value_of(self.builder, source.value, old), source.value, target.value)
            code = resize(self.builder, code_of(self.builder, target.value, item), register(target.bits))
            placed = shifted_left(self.builder, code, self.builder.mul(index, const(target.value.bits)))
            self.builder.store(self.builder.or_(self.builder.load(result), placed), result)
        return self.builder.load(result)

    # Sorting and comprehensions.

    def _emit_sorted(self, node: Sorted) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        code = self.emit(node.seq)
        length = self.seq_length(kind, code)
        result = self.room(register(kind.bits), "sorted")
        self.builder.store(code, result)
        width = kind.element.bits
        with self.counting(const(1), length) as (index, _, _):  # insertion sort
            with self.counting(index, const(0), -1) as (position, _, leave):
                now = self.builder.load(result)
                high_at = self.seq_offset(kind, position)
                low_at = self.builder.sub(high_at, const(width))
                high, low = cut(self.builder, now, high_at, width), cut(self.builder, now, low_at, width)
                swap = self.builder.icmp_unsigned(">" if node.reverse else "<", high, low)
                exchange = self.block("exchange")
                self.builder.cbranch(swap, exchange, leave)
                self.builder.position_at_end(exchange)
                moved = put(self.builder, put(self.builder, now, high_at, width, low), low_at, width, high)
                self.builder.store(moved, result)
        return self.builder.load(result)

    def _emit_reduce(self, node: Reduce) -> Value:
        match node.kind:
            case "any" | "all":
                return self._any_or_all(node)
            case "sum":
                return self._sum(node)
            case "min" | "max":
                return self._best(node)
            case "set":
                return self._set_of(node)
            case "seq":
                return self._seq_of(node)
        return self._map_of(node)

    def generate(self, node: Reduce, body: Callable[[], None], depth: int = 0) -> None:
        """The nested loops of a comprehension, with ``body`` inside."""
        if depth == len(node.generators):
            body()
            return
        generator = node.generators[depth]
        with self.over(generator.domain, generator.variable.type) as (value, onward, _):
            self.builder.store(value, self.variable(generator.variable))
            for condition in generator.conditions:
                self._skip_unless(self.emit(condition), onward)
            self.generate(node, body, depth + 1)

    def _any_or_all(self, node: Reduce) -> Value:
        looking_for = node.kind == "any"
        result = self.room(I1, node.kind)
        self.builder.store(const(int(not looking_for), I1), result)
        leave = self.block("found")

        def body() -> None:
            value = self.emit(node.body)
            hit, onward = self.block("hit"), self.block("miss")
            if looking_for:
                self.builder.cbranch(value, hit, onward)
            else:
                self.builder.cbranch(value, onward, hit)
            self.builder.position_at_end(hit)
            self.builder.store(const(int(looking_for), I1), result)
            self.builder.branch(leave)
            self.builder.position_at_end(onward)

        self.generate(node, body)
        self.builder.branch(leave)
        self.builder.position_at_end(leave)
        return self.builder.load(result)

    def _sum(self, node: Reduce) -> Value:
        result = self.room(I64, "sum")
        self.builder.store(const(0), result)

        def body() -> None:
            self.builder.store(self.builder.add(self.builder.load(result), self.emit(node.body)), result)

        self.generate(node, body)
        return self.builder.load(result)

    def _best(self, node: Reduce) -> Value:
        result, some = self.room(I64, node.kind), self.room(I1, "some")
        self.builder.store(const(0, I1), some)
        self.builder.store(const(0), result)

        def body() -> None:
            value, best = self.emit(node.body), self.builder.load(result)
            better = self.builder.icmp_signed(">" if node.kind == "max" else "<", value, best)
            first = self.builder.not_(self.builder.load(some))
            self.builder.store(self.builder.select(self.builder.or_(first, better), value, best), result)
            self.builder.store(const(1, I1), some)

        self.generate(node, body)
        if node.default is None:
            self.fail_unless(self.builder.load(some))
        else:
            with self.when(self.builder.not_(self.builder.load(some))):
                self.builder.store(self.emit(node.default), result)
        return self.builder.load(result)

    def _set_of(self, node: Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, SetType)
        result = self.room(register(kind.bits), "set")
        self.builder.store(const(0, register(kind.bits)), result)

        def body() -> None:
            item = code_of(self.builder, kind.element, self.emit(node.body))
            self.builder.store(self.with_element(kind, self.builder.load(result), item), result)

        self.generate(node, body)
        return self.builder.load(result)

    def _seq_of(self, node: Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        result, count = self.room(register(kind.bits), "seq"), self.room(I64, "count")
        self.builder.store(const(0, register(kind.bits)), result)
        self.builder.store(const(0), count)

        def body() -> None:
            index = self.builder.load(count)
            self._append(kind, result, index, self.emit(node.body))
            self.builder.store(self.builder.add(index, const(1)), count)

        self.generate(node, body)
        length = resize(self.builder, self.builder.load(count), register(kind.bits))
        return self.builder.or_(self.builder.load(result), length)

    def _map_of(self, node: Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, MapType) and node.key is not None
        result = self.room(register(kind.bits), "map")
        self.builder.store(const(0, register(kind.bits)), result)

        def body() -> None:
            assert node.key is not None
            value = code_of(self.builder, kind.value, self.emit(node.body))
            offset = self.map_offset(kind, self.emit(node.key))
            placed = shifted_left(self.builder, resize(self.builder, value, register(kind.bits)), offset)
            self.builder.store(self.builder.or_(self.builder.load(result), placed), result)

        self.generate(node, body)
        return self.builder.load(result)

    # Calls; the statements are in checkers.explicit.effects.

    def _emit_inline(self, node: Inline) -> Value:
        raise NotImplementedError


def field_place(kind: RecordType, name: str) -> tuple[int, Type]:
    """The bit at which a field starts, and its type."""
    offset = kind_bits = sum(of.bits for _, of in kind.fields)
    for field, of in kind.fields:
        offset -= of.bits
        if field == name:
            return offset, of
    raise ModelError(f"{kind} has no field {name!r} in its {kind_bits} bits")


__all__ = ["Emitter", "IdentifierType", "Value", "field_place"]
