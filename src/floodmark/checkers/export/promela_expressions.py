"""Expressions of the graph as Promela: what fits in an expression, and statements before it for the rest."""

from __future__ import annotations

from collections.abc import Callable

from floodmark.checkers.export.graph_queries import open_end, refuse
from floodmark.checkers.export.promela_comprehensions import PromelaComprehensions
from floodmark.checkers.export.promela_containers import PromelaContainers
from floodmark.checkers.export.promela_conversions import PromelaConversions
from floodmark.checkers.export.promela_memory import UNROLLED, PromelaMemory
from floodmark.checkers.export.promela_text import Text
from floodmark.checkers.export.promela_values import (
    CellAddress,
    Entries,
    FieldCells,
    Mask,
    NoValue,
    Number,
    OptionalValue,
    SequenceValue,
    Value,
    both,
    cells,
    choice,
    choose,
    code,
    either,
    empty,
    literal,
    load,
    must_fit,
    no,
    pick,
    plus,
    same,
    stride,
)
from floodmark.compiler import ir
from floodmark.compiler.joins import fits
from floodmark.compiler.visitor import Visitor
from floodmark.language.types import BagType, IntType, MapType, SeqType, SetType


class PromelaExpressions(Visitor[Value]):
    """Writes expressions; ``run`` writes the statements of an inlined call."""

    def __init__(self, text: Text, state: dict[str, dict[str, Value]], run: Callable[[list[ir.Stmt]], None]) -> None:
        self.text = text
        self.state = state
        self.locals: dict[int, Value] = {}
        self.memory = PromelaMemory(text)
        self.containers = PromelaContainers(self.memory)
        self.conversions = PromelaConversions(self.containers)
        self.comprehensions = PromelaComprehensions(self, self.containers)
        self._run = run

    def evaluate(self, node: ir.Expr) -> Value:
        """The value of an expression; statements that must run first are written."""
        must_fit(node.type, node.at)
        if not isinstance(node, ir.Inline):
            parts = ir.children(node)
            if len(parts) > 1 and any(ir.has_effects(part) for part in parts):
                raise refuse("an expression that changes a variable midway; assign its value first", node.at)
        return node.accept(self)

    def number(self, node: ir.Expr) -> str:
        """The value of an expression that is one cell."""
        value = self.evaluate(node)
        if isinstance(value, NoValue):
            return "0"
        assert isinstance(value, Number), node
        return value.text

    def visit_const(self, node: ir.Const) -> Value:
        return literal(node.type, node.value)

    def visit_open_constant(self, node: ir.OpenConstant) -> Value:
        raise AssertionError(f"{node.name} is open in a proof alone")

    def visit_local(self, node: ir.Local) -> Value:
        return self.locals[node.slot]

    def visit_state_var(self, node: ir.StateVar) -> Value:
        return self.state[node.which][node.name]

    def visit_field(self, node: ir.Field) -> Value:
        record = self.evaluate(node.record)
        assert isinstance(record, FieldCells)
        return record.fields[node.name]

    def visit_map_get(self, node: ir.MapGet) -> Value:
        entries = self.evaluate(node.map)
        kind = node.map.type
        assert isinstance(entries, Entries) and isinstance(kind, MapType)
        return entries.at(self.memory.index_of(code(kind.key, self.evaluate(node.key)), "key"))

    def visit_seq_get(self, node: ir.SeqGet) -> Value:
        seq, kind = self.evaluate(node.seq), node.seq.type
        assert isinstance(seq, SequenceValue) and isinstance(kind, SeqType)
        return seq.at(self.index(seq.length, node.index))

    def index(self, length: str, node: ir.Expr) -> str:
        """The position that an index denotes, by Python's rules; fails when it is out of range."""
        length = self.memory.short(length)
        index = self.memory.index_of(self.number(node), "index")
        assert isinstance(node.type, IntType)
        if node.type.low < 0:
            index = self.memory.held(f"({index} < 0 -> {index} + {length} : {index})", "index")
        self.memory.fail_unless(both([f"{index} >= 0" if node.type.low < 0 else "1", f"{index} < {length}"]))
        return index

    def visit_seq_slice(self, node: ir.SeqSlice) -> Value:
        seq, kind = self.evaluate(node.seq), node.seq.type
        assert isinstance(seq, SequenceValue) and isinstance(kind, SeqType)
        length = self.memory.short(seq.length)
        low = "0" if node.low is None else self._clipped(self.number(node.low), length)
        high = length if node.high is None else self._end(node.high, length)
        if (low, high) != ("0", length):
            length = self.memory.held(f"({high} > {low} -> {high} - {low} : 0)", "n")
        return SequenceValue(length, lambda index: seq.at(plus(low, index)))

    def _end(self, node: ir.Expr, length: str) -> str:
        maybe = open_end(node)
        if maybe is None:
            return self._clipped(self.number(node), length)
        result = self.memory.held(length, "n")
        closed = no(self.number(maybe[0]))
        with self.text.when(closed):
            end = self._clipped(self.number(maybe[1]), length)
            self.text.emit(f"{result} = {end};")
        return result

    def _clipped(self, index: str, length: str) -> str:
        index = self.memory.index_of(index, "n")
        if index.isdigit():
            return self.memory.held(f"({index} < {length} -> {index} : {length})", "n") if index != "0" else "0"
        index = self.memory.held(f"({index} < 0 -> {index} + {length} : {index})", "n")
        return self.memory.held(f"({index} < 0 -> 0 : ({index} > {length} -> {length} : {index}))", "n")

    def visit_seq_concat(self, node: ir.SeqConcat) -> Value:
        kind, left, right = node.type, self.evaluate(node.left), self.evaluate(node.right)
        assert isinstance(left, SequenceValue) and isinstance(right, SequenceValue) and isinstance(kind, SeqType)
        first = self.memory.index_of(left.length, "n")

        def item(index: str) -> Value:
            behind = right.at("0" if index == first else f"({index} - {first})")
            return choose(kind.element, f"({index} < {first})", left.at(index), behind)

        if isinstance(node.right, ir.SeqOf) and len(node.right.elements) == 1:
            last = right.at("0")
            return SequenceValue(plus(first, "1"),
                           lambda index: choose(kind.element, f"({index} < {first})", left.at(index), last))
        return SequenceValue(plus(first, right.length), item)

    def visit_seq_of(self, node: ir.SeqOf) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        values = [self.evaluate(element) for element in node.elements]
        if any(not isinstance(value, Number) for value in values) and len(values) > 1:
            values = [self.memory.kept(kind.element, value) for value in values]
        return SequenceValue(str(len(values)), lambda index: pick(kind.element, values, index))

    def visit_record_of(self, node: ir.RecordOf) -> Value:
        return FieldCells({name: self.evaluate(value) for name, value in node.fields.items()})

    def visit_set_of(self, node: ir.SetOf) -> Value:
        kind = node.type
        assert isinstance(kind, SetType)
        items = [self.evaluate(element) for element in node.elements]
        if isinstance(kind.element, ir.NothingType):
            return empty(kind)
        if kind.capacity is None:
            codes = [self.memory.short(code(kind.element, item), "e") for item in items]
            return Mask(lambda index: either(same(index, found) for found in codes))
        place = self.memory.saved(kind, empty(kind), "s")
        for item in items:
            self.containers.insert(kind, place, item)
        return load(kind, place)

    def visit_set_binary(self, node: ir.SetBinary) -> Value:
        kind, of = node.type, node.left.type
        assert isinstance(kind, SetType) and isinstance(of, SetType)
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(kind.element, ir.NothingType):
            return empty(kind)
        if isinstance(left, Mask) and isinstance(right, Mask):
            combined: dict[str, Callable[[str, str], str]] = {
                "|": lambda a, b: either([a, b]),
                "&": lambda a, b: both([a, b]),
                "-": lambda a, b: both([a, no(b)]),
                "^": lambda a, b: choice(a, no(b), b),
            }
            one, other = left, right
            return Mask(lambda index: combined[node.op](one.at(index), other.at(index)))
        left, right = self.memory.kept(of, left), self.memory.kept(node.right.type, right)
        place = self.memory.saved(kind, empty(kind), "s")
        for source, against, needed in _sources(node.op, left, right):
            with self.containers.elements(of, source) as item:
                if needed is None:
                    self.containers.insert(kind, place, item)
                    continue
                inside = self.memory.held(self.containers.contains(of, against, item), "b")
                with self.text.when(inside if needed else no(inside)):
                    self.containers.insert(kind, place, item)
        return load(kind, place)

    def visit_subset(self, node: ir.Subset) -> Value:
        kind = node.left.type
        assert isinstance(kind, SetType)
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(kind.element, ir.NothingType):
            return Number("0" if node.strict else "1")
        if isinstance(left, Mask) and isinstance(right, Mask):
            one, other = left, right
            size = kind.element.size
            inside = self.containers.all_of(size, lambda index: either([no(one.at(index)), other.at(index)]))
        else:
            inside = self.memory.held("1", "b")
            with self.containers.elements(kind, left) as item:
                there = self.containers.contains(kind, right, item)
                self.text.emit(f"{inside} = ({inside} && {there});")
        if node.strict:
            inside = both([inside, no(self.containers.equal(kind, left, right))])
        return Number(inside)

    def visit_bag_change(self, node: ir.BagChange) -> Value:
        kind = node.bag.type
        assert isinstance(kind, SetType | BagType)
        held, item = self.evaluate(node.bag), self.evaluate(node.item)
        if isinstance(held, Mask):
            index = self.memory.index_of(code(kind.element, item), "e")
            self.memory.fail_unless(held.at(index))
            mask = held
            return Mask(lambda position: both([mask.at(position), no(same(position, index))]))
        place = self.memory.saved(kind, held, "s")
        if not node.remove:
            self.containers.insert(kind, place, item)
            return load(kind, place)
        item = self.memory.kept(kind.element, item, "e")
        found = self.memory.held("0", "b")
        assert kind.capacity is not None
        step = 1 + cells(kind.element)
        with self.text.loop("0", str(kind.capacity)) as position:
            here = place.at(stride(position, step))
            equal = self.containers.equal(kind.element, load(kind.element, here.at("1")), item)
            self.text.emit(f"{found} = ({found} || ({here.cell('0')} && {equal}));")
            with self.text.when(found):
                for cell in range(step):
                    behind = place.at(stride(f"({position} + 1)", step)).cell(str(cell))
                    last = f"({position} == {kind.capacity - 1} -> 0 : {behind})"
                    self.text.emit(f"{here.cell(str(cell))} = {last};")
        self.memory.fail_unless(found)
        return load(kind, place)

    def visit_contains(self, node: ir.Contains) -> Value:
        kind = node.container.type
        assert isinstance(kind, SetType | SeqType | BagType)
        item, container = self.evaluate(node.item), self.evaluate(node.container)
        if isinstance(kind.element, ir.NothingType):
            return Number("0")
        if node.item.type == kind.element or (isinstance(node.item.type, IntType) and not isinstance(container, Mask)):
            return Number(self.containers.contains(kind, container, item))
        possible = self.memory.short(self.conversions.fits(node.item.type, kind.element, item))
        element = kind.element
        converted = self.conversions.converted(node.item.type, element, item)
        there = self.memory.guarded(possible, lambda: self.containers.contains(kind, container, converted))
        return Number(both([possible, there]))

    def visit_size(self, node: ir.Size) -> Value:
        kind, container = node.container.type, self.evaluate(node.container)
        match kind, container:
            case SeqType(), SequenceValue(length, _):
                return Number(length)
            case MapType(key, _), _:
                return Number(str(key.size))
            case SetType(element, None), Mask(at) if element.size <= UNROLLED:
                parts = [at(str(index)) for index in range(element.size)]
                return Number(f"({' + '.join(f'({part})' for part in parts)})" if parts else "0")
            case SetType(ir.NothingType(), _), _:
                return Number("0")
        total = self.memory.held("0", "n")
        with self.containers.elements(kind, container):
            self.text.emit(f"{total} = {total} + 1;")
        return Number(total)

    def visit_count(self, node: ir.Count) -> Value:
        kind = node.bag.type
        assert isinstance(kind, BagType)
        item, bag = self.evaluate(node.item), self.evaluate(node.bag)
        total = self.memory.held("0", "n")
        with self.containers.elements(kind, bag) as held:
            equal = self.containers.equal(kind.element, held, item)
            self.text.emit(f"{total} = {total} + ({equal} -> 1 : 0);")
        return Number(total)

    def visit_arithmetic(self, node: ir.Arithmetic) -> Value:
        left, right = self.number(node.left), self.number(node.right)
        if node.op in ("+", "-", "*"):
            return Number(f"({left} {node.op} {right})")
        a, b = node.left.type, node.right.type
        assert isinstance(a, IntType) and isinstance(b, IntType)
        if b.low <= 0 <= b.high:
            right = self.memory.short(right)
            self.memory.fail_unless(f"{right} != 0")
        if a.low >= 0 and b.low >= 0:
            return Number(f"({left} {'/' if node.op == '//' else '%'} {right})")
        left, right = self.memory.held(left, "x"), self.memory.held(right, "y")
        rest = self.memory.held(f"{left} % {right}", "r")  # C's remainder has the sign of the dividend
        corrected = f"({rest} != 0 && (({rest} < 0) != ({right} < 0)))"
        if node.op == "//":
            return Number(f"({left} / {right} - ({corrected} -> 1 : 0))")
        return Number(f"({rest} + ({corrected} -> {right} : 0))")

    def visit_compare(self, node: ir.Compare) -> Value:
        return Number(f"({self.number(node.left)} {node.op} {self.number(node.right)})")

    def visit_equal(self, node: ir.Equal) -> Value:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        return Number(self.containers.equal(node.left.type, left, right))

    def visit_not(self, node: ir.Not) -> Value:
        return Number(no(self.number(node.operand)))

    def visit_and(self, node: ir.And) -> Value:
        return Number(self._chained(node.operands, "1"))

    def visit_or(self, node: ir.Or) -> Value:
        return Number(self._chained(node.operands, "0"))

    def _chained(self, operands: list[ir.Expr], going_on: str) -> str:
        """Operands from the left, each evaluated only if those before it do not decide the result."""
        joined = both if going_on == "1" else either
        found = self.number(operands[0])
        for operand in operands[1:]:
            with self.text.aside() as lines:
                value = self.number(operand)
            if not lines:
                found = joined([found, value])
                continue
            result = self.memory.held(found, "b")
            self.text.emit(f"if :: {result if going_on == '1' else no(result)} ->")
            with self.text.indented():
                for line in lines:
                    self.text.emit(line.lstrip())
                self.text.emit(f"{result} = {value}")
            self.text.emit(":: else fi;")
            found = result
        return found

    def visit_implies(self, node: ir.Implies) -> Value:
        premise, conclusion = self.number(node.premise), self.number(node.conclusion)
        return Number(either([no(premise), conclusion]))

    def visit_choose(self, node: ir.Choose) -> Value:
        condition = self.number(node.condition)
        branches, buffers = [], []
        for branch in (node.then, node.otherwise):
            with self.text.aside() as lines:
                branches.append(self.evaluate(branch))
            buffers.append(lines)
        if not buffers[0] and not buffers[1]:
            return choose(node.type, self.memory.short(condition), *branches)
        place = self.text.temporary("v", cells(node.type))
        self.text.emit(f"if :: {condition} ->")
        for position, (value, lines) in enumerate(zip(branches, buffers, strict=True)):
            if position == 1:
                self.text.emit(":: else ->")
            with self.text.indented():
                for line in lines:
                    self.text.emit(line.lstrip())
                self.memory.write(node.type, place, value)
                self.text.emit("skip")
        self.text.emit("fi;")
        return load(node.type, place)

    def visit_is_none(self, node: ir.IsNone) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(value, OptionalValue):
            return Number(no(value.is_present))
        return Number("1" if isinstance(value, NoValue) else "0")

    def visit_extremum(self, node: ir.Extremum) -> Value:
        best = self.number(node.operands[0])
        for operand in node.operands[1:]:
            best, other = self.memory.short(best), self.memory.short(self.number(operand))
            best = f"({other} {'>' if node.largest else '<'} {best} -> {other} : {best})"
        return Number(best)

    def visit_witness(self, node: ir.Witness) -> Value:
        return self.evaluate(node.operand)

    def visit_marked(self, node: ir.Marked) -> Value:
        return self.evaluate(node.operand)

    def visit_reduce(self, node: ir.Reduce) -> Value:
        return self.comprehensions.reduce(node)

    def visit_inline(self, node: ir.Inline) -> Value:
        self._run(node.body)
        return load(node.type, CellAddress("", None)) if node.result is None else self.locals[node.result.slot]

    def visit_applied(self, node: ir.Applied) -> Value:
        message = f"{node.function.name} with all that it calls is too large to be written out for each call"
        raise refuse(message, node.at)

    def visit_convert(self, node: ir.Convert) -> Value:
        source, value = node.operand.type, self.evaluate(node.operand)
        if not fits(source, node.type):
            self.memory.fail_unless(self.conversions.fits(source, node.type, value))
        return self.conversions.converted(source, node.type, value)

    def visit_sorted(self, node: ir.Sorted) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        place = self.memory.saved(kind, self.evaluate(node.seq), "s")
        length = place.cell("0")
        with self.text.loop("1", length) as end:
            index = self.memory.held(end, "p")
            before, here = place.cell(index), place.cell(f"({index} + 1)")
            wrong = f"{before} {'<' if node.reverse else '>'} {here}"
            self.text.emit(f"do :: {index} > 0 ->")
            with self.text.indented():
                swap = self.text.temporary("x", 1).cell("0")
                self.text.emit(f"if :: {wrong} -> {swap} = {before}; {before} = {here}; {here} = {swap} :: else fi;")
                self.text.emit(f"{index} = {index} - 1")
            self.text.emit(":: else -> break od;")
        return load(kind, place)


def _sources(op: str, left: Value, right: Value) -> list[tuple[Value, Value, bool | None]]:
    """The parts of a combination of two sets: elements of one that are, are not, or may be in the other."""
    return {
        "|": [(left, right, None), (right, left, None)],
        "&": [(left, right, True)],
        "-": [(left, right, False)],
        "^": [(left, right, False), (right, left, False)],
    }[op]  # type: ignore[return-value]
