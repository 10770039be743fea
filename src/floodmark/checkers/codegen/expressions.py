"""Emits LLVM code for the expression graph, with the meaning that CPython gives to the same source."""

from __future__ import annotations

from typing import Protocol

from floodmark.checkers.codegen import containers, conversions, elements, windows
from floodmark.checkers.codegen.bits import (
    I1,
    I64,
    Value,
    code_of,
    const,
    cut,
    put,
    register,
    register_of,
    resize,
    shifted_left,
    shifted_right,
    value_of,
)
from floodmark.checkers.codegen.comprehensions import Comprehensions
from floodmark.checkers.codegen.routine import Routine
from floodmark.checkers.codegen.state_words import StateWords
from floodmark.compiler.failures import may_outgrow
from floodmark.compiler.ir import (
    INT,
    And,
    Applied,
    Arithmetic,
    BagChange,
    Choose,
    Compare,
    Const,
    Contains,
    Convert,
    Count,
    Equal,
    Expr,
    Extremum,
    Field,
    Implies,
    Inline,
    IsNone,
    Local,
    MapGet,
    Marked,
    NoneType,
    Not,
    NothingType,
    OpenConstant,
    Or,
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
    Witness,
)
from floodmark.compiler.layout import encode
from floodmark.compiler.visitor import Visitor
from floodmark.language.errors import ModelError
from floodmark.language.types import (
    BagType,
    BoolType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)


class Calls(Protocol):
    """The operations that expressions leave to statements: calls, whose bodies are statements, and the place of a
    premise."""

    def inline(self, node: Inline) -> Value:
        """The result of a call whose body stands where the call is."""

    def apply(self, node: Applied) -> Value:
        """The result of a call of a function that calls share."""

    def see_premise(self, index: int) -> None:
        """Notes that the premise of a property was true."""

    def is_premise_seen(self, index: int) -> Value:
        """Whether the premise of a property was noted before."""

    def set_mark(self, mark: int, counted: bool) -> None:
        """Sets a mark of coverage, or counts it at once."""


class Expressions(Visitor[Value]):
    """Evaluates the expression graph in a routine."""

    def __init__(self, routine: Routine, states: StateWords, calls: Calls) -> None:
        self.routine = routine
        self.builder = routine.builder
        self.states = states
        self.calls = calls
        self.comprehensions = Comprehensions(routine, self.emit)

    def emit(self, node: Expr) -> Value:
        """The value of an expression."""
        outer, self.builder.place = self.builder.place, node.at
        value = node.accept(self)
        self.builder.place = outer
        return value

    def visit_const(self, node: Const) -> Value:
        match node.type:
            case BoolType():
                return const(int(node.value), I1)
            case IntType():
                return const(node.value)
            case NoneType():
                return const(0)
        return const(encode(node.type, node.value), register(node.type.bits))

    def visit_open_constant(self, node: OpenConstant) -> Value:
        raise AssertionError(f"{node.name} is open in a proof alone")

    def visit_local(self, node: Local) -> Value:
        return self.builder.load(self.routine.variable(node))

    def visit_state_var(self, node: StateVar) -> Value:
        return self.states.read(node.name, node.which)

    def visit_field(self, node: Field) -> Value:
        kind = node.record.type
        assert isinstance(kind, RecordType)
        offset, of = field_place(kind, node.name)
        return value_of(self.builder, of, cut(self.builder, self.emit(node.record), offset, of.bits))

    def visit_map_get(self, node: MapGet) -> Value:
        kind = node.map.type
        assert isinstance(kind, MapType)
        entries = windows.of(self.routine, self.emit(node.map))
        offset = elements.map_offset(self.routine, kind, self.emit(node.key))
        return value_of(self.builder, kind.value, entries.cut(offset, kind.value.bits))

    def visit_seq_get(self, node: SeqGet) -> Value:
        kind = node.seq.type
        assert isinstance(kind, SeqType)
        code = self.emit(node.seq)
        if kind.capacity == 0:
            self.routine.fail()
            return const(0, register_of(kind.element))
        items = windows.of(self.routine, code)
        index = elements.seq_index(self.routine, kind, code, self.emit(node.index))
        return elements.seq_element(self.routine, kind, items, index)

    def visit_seq_slice(self, node: SeqSlice) -> Value:
        kind = node.seq.type
        assert isinstance(kind, SeqType)
        code = self.emit(node.seq)
        length = elements.seq_length(self.routine, kind, code)
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

    def visit_seq_concat(self, node: SeqConcat) -> Value:
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
            total = self.builder.add(total, elements.seq_length(self.routine, of, code))
        data = shifted_left(self.builder, data, kind.capacity.bit_length())
        return self.builder.or_(data, resize(self.builder, total, wide))

    def visit_seq_of(self, node: SeqOf) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        code: Value = const(len(node.elements), register(kind.bits))
        offset = kind.capacity.bit_length()
        for element in node.elements:
            part = code_of(self.builder, kind.element, self.emit(element))
            code = put(self.builder, code, offset, kind.element.bits, part)
            offset += kind.element.bits
        return code

    def visit_record_of(self, node: RecordOf) -> Value:
        kind = node.type
        assert isinstance(kind, RecordType)
        code: Value = const(0, register(kind.bits))
        offset = sum(of.bits for _, of in kind.fields)
        for name, of in kind.fields:
            offset -= of.bits
            part = code_of(self.builder, of, self.emit(node.fields[name]))
            code = self.builder.or_(code, shifted_left(self.builder, resize(self.builder, part, code.type), offset))
        return code

    def visit_set_of(self, node: SetOf) -> Value:
        kind = node.type
        assert isinstance(kind, SetType)
        code: Value = const(0, register(kind.bits))
        for element in node.elements:
            item = code_of(self.builder, kind.element, self.emit(element))
            code = containers.with_element(self.routine, kind, code, item)
        return code

    def visit_set_binary(self, node: SetBinary) -> Value:
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
        match node.op:
            case "|":
                return self._united(kind, of, left, right)
            case "&" | "-":
                return self._filtered(of, left, right, node.op == "&")
        return self._united(kind, of, self._filtered(of, left, right, False), self._filtered(of, right, left, False))

    def _united(self, kind: SetType, of: SetType, left: Value, right: Value) -> Value:
        """Slots with the elements of both. Slots are filled from the lowest up, so more of them are just more zeros."""
        wide = register(kind.bits)
        result = self.routine.room(wide, "set")
        self.builder.store(resize(self.builder, left, wide), result)
        with elements.iterate(self.routine, right, of) as (value, _, _):
            item = code_of(self.builder, of.element, value)
            self.builder.store(containers.with_element(self.routine, kind, self.builder.load(result), item), result)
        return self.builder.load(result)

    def _filtered(self, kind: SetType, source: Value, other: Value, wanted: bool) -> Value:
        """The slots of the elements that are (``wanted``) or are not in ``other``.

        They are visited from the smallest element up, so that each belongs before those that are already there.
        """
        width = kind.element.codes.bit_length()
        result = self.routine.room(source.type, "set")
        self.builder.store(const(0, source.type), result)
        with elements.iterate(self.routine, source, kind) as (value, onward, _):
            inside = containers.contains(self.routine, kind, other, value)
            self.routine.skip_unless(inside if wanted else self.builder.not_(inside), onward)
            item = resize(self.builder, code_of(self.builder, kind.element, value), source.type)
            others = shifted_left(self.builder, self.builder.load(result), width)
            first = self.builder.add(item, const(1, source.type))
            self.builder.store(self.builder.or_(others, first), result)
        return self.builder.load(result)

    def visit_contains(self, node: Contains) -> Value:
        kind = node.container.type
        assert isinstance(kind, SetType | SeqType | BagType)
        value, code = self.emit(node.item), self.emit(node.container)
        if isinstance(kind.element, NothingType):
            return const(0, I1)
        found = self.routine.room(I1, "within")
        self.builder.store(const(0, I1), found)
        fitting, embedded = conversions.embed(self.routine, node.item.type, kind.element, value)
        with self.routine.when(fitting):
            self.builder.store(containers.contains(self.routine, kind, code, embedded()), found)
        return self.builder.load(found)

    def visit_subset(self, node: Subset) -> Value:
        kind = node.left.type
        assert isinstance(kind, SetType)
        left, right = self.emit(node.left), self.emit(node.right)
        if kind.capacity is None:
            outside = self.builder.and_(left, self.builder.not_(right))
            inside = self.builder.icmp_unsigned("==", outside, const(0, outside.type))
        else:
            flag = self.routine.room(I1, "subset")
            self.builder.store(const(1, I1), flag)
            with elements.iterate(self.routine, left, kind) as (value, _, _):
                there = containers.contains(self.routine, kind, right, value)
                still = self.builder.and_(self.builder.load(flag), there)
                self.builder.store(still, flag)
            inside = self.builder.load(flag)
        if not node.strict:
            return inside
        return self.builder.and_(inside, self.builder.icmp_unsigned("!=", left, right))

    def visit_bag_change(self, node: BagChange) -> Value:
        kind = node.bag.type
        assert isinstance(kind, BagType | SetType)
        code = self.emit(node.bag)
        item = code_of(self.builder, kind.element, self.emit(node.item))
        if kind.capacity is None:
            window, place = windows.of(self.routine, code), resize(self.builder, item, I64)
            self.routine.fail_unless(self.builder.icmp_unsigned("!=", window.cut(place, 1), const(0)))
            window.flip(place, 1, const(1))
            return window.code()
        if not node.remove:
            return containers.insert(self.routine, kind.element, kind.capacity, code, item, once=False)
        result, found = containers.without(self.routine, kind.element, kind.capacity, code, item)
        self.routine.fail_unless(found)
        return result

    def visit_size(self, node: Size) -> Value:
        return containers.size(self.routine, node.container.type, self.emit(node.container))

    def visit_count(self, node: Count) -> Value:
        kind = node.bag.type
        assert isinstance(kind, BagType)
        wanted, code = self.emit(node.item), self.emit(node.bag)
        count = self.routine.room(I64, "count")
        self.builder.store(const(0), count)
        with elements.iterate(self.routine, code, kind) as (value, _, _):
            same = self.builder.zext(self.builder.icmp_unsigned("==", value, wanted), I64)
            self.builder.store(self.builder.add(self.builder.load(count), same), count)
        return self.builder.load(count)

    def visit_arithmetic(self, node: Arithmetic) -> Value:
        left, right = self.emit(node.left), self.emit(node.right)
        if node.op in ("//", "%"):
            return self._divided(node, left, right)
        if may_outgrow(node):
            return self.routine.exactly(node.op, left, right)
        plain = {"+": self.builder.add, "-": self.builder.sub, "*": self.builder.mul}
        return plain[node.op](left, right)

    def _divided(self, node: Arithmetic, left: Value, right: Value) -> Value:
        """Python's division, which rounds down: the remainder has the sign of the divisor.

        The machine traps in two cases. One is division by zero, an error in Python, too. The other is -2**63 divided by
        -1, whose quotient has 65 bits and whose remainder is that of a division by 1; only operands that may be any
        word get that far.
        """
        self.routine.fail_unless(self.builder.icmp_signed("!=", right, const(0)))
        if node.left.type == INT:
            inverts = self.builder.icmp_signed("==", right, const(-1))
            if node.op == "//":
                least = self.builder.icmp_signed("==", left, const(INT.low))
                self.routine.fail_unless(self.builder.not_(self.builder.and_(inverts, least)))
            else:
                right = self.builder.select(inverts, const(1), right)
        quotient, rest = self.builder.sdiv(left, right), self.builder.srem(left, right)
        signs = self.builder.icmp_signed("<", self.builder.xor(rest, right), const(0))
        uneven = self.builder.and_(self.builder.icmp_signed("!=", rest, const(0)), signs)
        if node.op == "//":
            return self.builder.select(uneven, self.builder.sub(quotient, const(1)), quotient)
        return self.builder.select(uneven, self.builder.add(rest, right), rest)

    def visit_compare(self, node: Compare) -> Value:
        return self.builder.icmp_signed(node.op, self.emit(node.left), self.emit(node.right))

    def visit_equal(self, node: Equal) -> Value:
        return self.builder.icmp_unsigned("==", self.emit(node.left), self.emit(node.right))

    def visit_not(self, node: Not) -> Value:
        return self.builder.not_(self.emit(node.operand))

    def visit_and(self, node: And) -> Value:
        return self._chain(node.operands, stop_at=False)

    def visit_or(self, node: Or) -> Value:
        return self._chain(node.operands, stop_at=True)

    def _chain(self, operands: list[Expr], stop_at: bool) -> Value:
        """Evaluates operands from left to right until one is ``stop_at``."""
        result = self.routine.room(I1, "chain")
        leave = self.routine.block("decided")
        for position, operand in enumerate(operands):
            value = self.emit(operand)
            self.builder.store(value, result)
            if position + 1 < len(operands):
                onward = self.routine.block("operand")
                if stop_at:
                    self.builder.cbranch(value, leave, onward)
                else:
                    self.builder.cbranch(value, onward, leave)
                self.builder.position_at_end(onward)
        self.builder.branch(leave)
        self.builder.position_at_end(leave)
        return self.builder.load(result)

    def visit_implies(self, node: Implies) -> Value:
        premise, conclusion = self.emit(node.premise), self.emit(node.conclusion)
        return self.builder.or_(self.builder.not_(premise), conclusion)

    def visit_choose(self, node: Choose) -> Value:
        result = self.routine.room(register_of(node.type), "choice")
        then, otherwise, after = self.routine.block("then"), self.routine.block("else"), self.routine.block("after")
        self.builder.cbranch(self.emit(node.condition), then, otherwise)
        for block, branch in ((then, node.then), (otherwise, node.otherwise)):
            self.builder.position_at_end(block)
            self.builder.store(self.emit(branch), result)
            self.builder.branch(after)
        self.builder.position_at_end(after)
        return self.builder.load(result)

    def visit_is_none(self, node: IsNone) -> Value:
        value = self.emit(node.operand)  # even if its type has the answer: evaluating it may fail
        if isinstance(node.operand.type, OptionalType):
            return self.builder.icmp_unsigned("==", value, const(0, value.type))
        return const(int(isinstance(node.operand.type, NoneType)), I1)

    def visit_extremum(self, node: Extremum) -> Value:
        best = self.emit(node.operands[0])
        for operand in node.operands[1:]:
            value = self.emit(operand)
            better = self.builder.icmp_signed(">" if node.largest else "<", value, best)
            best = self.builder.select(better, value, best)
        return best

    def visit_witness(self, node: Witness) -> Value:
        if node.condition is None:
            self.calls.see_premise(node.index)
        else:
            self._ask_premise(node.index, node.condition)
        return self.emit(node.operand)

    def _ask_premise(self, index: int, condition: Expr) -> None:
        """Evaluates a premise until it is met once; where that fails, the premise is not true."""
        routine = self.routine
        ask, seen, after = routine.block("ask"), routine.block("seen"), routine.block("after")
        self.builder.cbranch(self.calls.is_premise_seen(index), after, ask)
        self.builder.position_at_end(ask)
        outer, routine.failed = routine.failed, after
        met = self.emit(condition)
        routine.failed = outer
        self.builder.cbranch(met, seen, after)
        self.builder.position_at_end(seen)
        self.calls.see_premise(index)
        self.builder.branch(after)
        self.builder.position_at_end(after)

    def visit_marked(self, node: Marked) -> Value:
        if node.reached is not None:
            self.calls.set_mark(node.reached, node.counted)
        value = self.emit(node.operand)
        for mark, wanted in ((node.true, value), (node.false, None)):
            if mark is not None:
                with self.routine.when(self.builder.not_(value) if wanted is None else wanted):
                    self.calls.set_mark(mark, node.counted)
        return value

    def visit_inline(self, node: Inline) -> Value:
        return self.calls.inline(node)

    def visit_applied(self, node: Applied) -> Value:
        return self.calls.apply(node)

    def visit_sorted(self, node: Sorted) -> Value:
        return self.comprehensions.sort(node)

    def visit_reduce(self, node: Reduce) -> Value:
        return self.comprehensions.reduce(node)

    def visit_convert(self, node: Convert) -> Value:
        return conversions.convert(self.routine, self.emit(node.operand), node.operand.type, node.type)


def field_place(kind: RecordType, name: str) -> tuple[int, Type]:
    """The bit at which a field starts, and its type."""
    offset = kind_bits = sum(of.bits for _, of in kind.fields)
    for field, of in kind.fields:
        offset -= of.bits
        if field == name:
            return offset, of
    raise ModelError(f"{kind} has no field {name!r} in its {kind_bits} bits")
