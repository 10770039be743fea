"""Expressions of the graph as Promela: what can be said in an expression, and statements before it for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from floodmark.checkers.export.promela_text import Text
from floodmark.checkers.export.promela_values import (
    WIDEST,
    Entries,
    Listing,
    Mask,
    Maybe,
    Nothing,
    Number,
    Place,
    Row,
    Slots,
    Value,
    both,
    cells,
    choose,
    code,
    decoded,
    either,
    empty,
    literal,
    load,
    must_fit,
    no,
    number,
    plus,
    same,
    size,
)
from floodmark.checkers.export.refusal import refuse
from floodmark.checkers.export.slices import open_end
from floodmark.compiler.ir import (
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
    Generator,
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
    children,
    has_effects,
)
from floodmark.compiler.joins import fits
from floodmark.compiler.lowering import size_bound
from floodmark.language.types import (
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)

UNROLLED = 4
"""Up to this many parts are written one after the other, more are a loop."""
LONG = 60
"""A longer expression that is needed more than once is computed once."""


class Expressions:
    """Writes expressions."""

    def __init__(self, text: Text, state: dict[str, dict[str, Value]]) -> None:
        self.text = text
        self.state = state
        self.locals: dict[int, Value] = {}
        self.unrolled = UNROLLED

    def evaluate(self, node: Expr) -> Value:
        """The value of an expression; what has to be computed first is written."""
        must_fit(node.type, node.at)
        if not isinstance(node, Inline):
            parts = children(node)
            if len(parts) > 1 and any(has_effects(part) for part in parts):
                raise refuse("an expression that changes a variable in its middle; assign its value first", node.at)
        method: Callable[[Any], Value] = getattr(self, "_" + type(node).__name__.lower())
        return method(node)

    def number(self, node: Expr) -> str:
        """The value of an expression that is one cell."""
        value = self.evaluate(node)
        if isinstance(value, Nothing):
            return "0"
        assert isinstance(value, Number), node
        return value.text

    def short(self, text: str, wanted: str = "t") -> str:
        """An expression that may be written more than once."""
        if len(text) <= LONG:
            return text
        place = self.text.temporary(wanted, 1)
        self.text.emit(f"{place.cell('0')} = {text};")
        return place.cell("0")

    def index_of(self, text: str, wanted: str) -> str:
        """An expression that may stand in brackets; Spin does not take an array there that may be the indexed one."""
        return self._held(text, wanted) if "[" in text else self.short(text, wanted)

    def fail_unless(self, condition: str) -> None:
        if condition != "1":
            self.text.emit(f"assert({condition});")

    # Memory.

    def kept(self, kind: Type, value: Value, wanted: str = "v") -> Value:
        """A value as it is now, whatever becomes of what it was computed from."""
        return load(kind, self.saved(kind, value, wanted))

    def saved(self, kind: Type, value: Value, wanted: str = "v") -> Place:
        place = self.text.temporary(wanted, cells(kind))
        self.write(kind, place, value)
        return place

    def repeat(self, count: int, body: Callable[[str], None]) -> None:
        """The body for each index."""
        if count <= self.unrolled:
            for index in range(count):
                body(str(index))
            return
        with self.text.loop("0", str(count)) as index_name:
            body(index_name)

    def write(self, kind: Type, place: Place, value: Value) -> None:
        """Puts a value, which does not depend on what is there, into a place."""
        text = self.text
        match kind, value:
            case (NoneType() | NothingType(), _) | (_, Nothing()):
                return
            case OptionalType(inner), Maybe(there, held):
                if there in ("0", "1"):
                    text.emit(f"{place.cell('0')} = {there};")
                    self.write(inner, place.at("1"), held if there == "1" else empty(inner))
                    return
                there = self.short(there)
                text.emit(f"{place.cell('0')} = {there};")
                self.write_if(inner, place.at("1"), there, held)
            case RecordType(_, fields), Row(parts):
                offset = 0
                for name, of in fields:
                    self.write(of, place.at(str(offset)), parts[name])
                    offset += cells(of)
            case SetType(element, None), Mask(at):
                self.repeat(size(element), lambda index: text.emit(f"{place.cell(index)} = {at(index)};"))
            case SetType(element, int() as room) | BagType(element, room), Slots(slot):
                self.repeat(room, lambda index: self._write_slot(element, place, index, *slot(index)))
            case MapType(key, of), Entries(entry):
                self.repeat(size(key), lambda index: self.write(of, place.at(_stride(index, cells(of))), entry(index)))
            case SeqType(element, room), Listing(length, item):
                text.emit(f"{place.cell('0')} = {length};")
                length = place.cell("0")

                def put(index: str) -> None:
                    here = place.at(plus(_stride(index, cells(element)), "1"))
                    self.write_if(element, here, f"({index} < {length})", item(index))

                self.repeat(room, put)
            case _, Number(found):
                text.emit(f"{place.cell('0')} = {found};")
            case _:
                raise AssertionError((kind, value))

    def _write_slot(self, element: Type, place: Place, index: str, used: str, value: Value) -> None:
        here = place.at(_stride(index, 1 + cells(element)))
        self.text.emit(f"{here.cell('0')} = {used};")
        self.write_if(element, here.at("1"), here.cell("0"), value)

    def write_if(self, kind: Type, place: Place, condition: str, value: Value) -> None:
        """Puts a value into a place when the condition is true, and nothing when it is not."""
        if cells(kind) == 0:
            return
        if isinstance(value, Number):
            self.text.emit(f"{place.cell('0')} = {_choice(condition, value.text, '0')};")
            return
        self.text.emit(f"if :: {condition} ->")
        with self.text.indented():
            self.write(kind, place, value)
            self.text.emit("skip")
        self.text.emit(":: else ->")
        with self.text.indented():
            self.write(kind, place, empty(kind))
            self.text.emit("skip")
        self.text.emit("fi;")

    # Leaves and access.

    def _const(self, node: Const) -> Value:
        return literal(node.type, node.value)

    def _local(self, node: Local) -> Value:
        return self.locals[node.slot]

    def _statevar(self, node: StateVar) -> Value:
        return self.state[node.which][node.name]

    def _field(self, node: Field) -> Value:
        record = self.evaluate(node.record)
        assert isinstance(record, Row)
        return record.fields[node.name]

    def _mapget(self, node: MapGet) -> Value:
        entries = self.evaluate(node.map)
        kind = node.map.type
        assert isinstance(entries, Entries) and isinstance(kind, MapType)
        return entries.at(self.index_of(code(kind.key, self.evaluate(node.key)), "key"))

    def _seqget(self, node: SeqGet) -> Value:
        seq, kind = self.evaluate(node.seq), node.seq.type
        assert isinstance(seq, Listing) and isinstance(kind, SeqType)
        return seq.at(self.index(seq.length, node.index))

    def index(self, length: str, node: Expr) -> str:
        """Where an index points, as Python means it; a failure when it is outside."""
        length = self.short(length)
        index = self.index_of(self.number(node), "index")
        assert isinstance(node.type, IntType)
        if node.type.low < 0:
            index = self._held(f"({index} < 0 -> {index} + {length} : {index})", "index")
        self.fail_unless(both([f"{index} >= 0" if node.type.low < 0 else "1", f"{index} < {length}"]))
        return index

    def _held(self, text: str, wanted: str) -> str:
        place = self.text.temporary(wanted, 1)
        self.text.emit(f"{place.cell('0')} = {text};")
        return place.cell("0")

    def _seqslice(self, node: SeqSlice) -> Value:
        seq, kind = self.evaluate(node.seq), node.seq.type
        assert isinstance(seq, Listing) and isinstance(kind, SeqType)
        length = self.short(seq.length)
        low = "0" if node.low is None else self._clipped(self.number(node.low), length)
        high = length if node.high is None else self._end(node.high, length)
        taken = self._held(f"({high} > {low} -> {high} - {low} : 0)", "n") if (low, high) != ("0", length) else length
        return Listing(taken, lambda index: seq.at(plus(low, index)))

    def _end(self, node: Expr, length: str) -> str:
        maybe = open_end(node)
        if maybe is None:
            return self._clipped(self.number(node), length)
        result = self._held(length, "n")
        closed = no(self.number(maybe[0]))
        with self.text.when(closed):
            end = self._clipped(self.number(maybe[1]), length)
            self.text.emit(f"{result} = {end};")
        return result

    def _clipped(self, index: str, length: str) -> str:
        index = self.index_of(index, "n")
        if index.isdigit():
            return self._held(f"({index} < {length} -> {index} : {length})", "n") if index != "0" else "0"
        index = self._held(f"({index} < 0 -> {index} + {length} : {index})", "n")
        return self._held(f"({index} < 0 -> 0 : ({index} > {length} -> {length} : {index}))", "n")

    def _seqconcat(self, node: SeqConcat) -> Value:
        kind, left, right = node.type, self.evaluate(node.left), self.evaluate(node.right)
        assert isinstance(left, Listing) and isinstance(right, Listing) and isinstance(kind, SeqType)
        first = self.index_of(left.length, "n")

        def item(index: str) -> Value:
            behind = right.at("0" if index == first else f"({index} - {first})")
            return choose(kind.element, f"({index} < {first})", left.at(index), behind)

        if isinstance(node.right, SeqOf) and len(node.right.elements) == 1:
            last = right.at("0")
            return Listing(plus(first, "1"),
                           lambda index: choose(kind.element, f"({index} < {first})", left.at(index), last))
        return Listing(plus(first, right.length), item)

    def _seqof(self, node: SeqOf) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        values = [self.evaluate(element) for element in node.elements]
        if any(not isinstance(value, Number) for value in values) and len(values) > 1:
            values = [self.kept(kind.element, value) for value in values]

        def item(index: str) -> Value:
            if index.isdigit():
                return values[int(index)] if int(index) < len(values) else empty(kind.element)
            if not values:
                return empty(kind.element)
            result = values[-1]
            for position in range(len(values) - 2, -1, -1):
                result = choose(kind.element, same(index, str(position)), values[position], result)
            return result

        return Listing(str(len(values)), item)

    def _recordof(self, node: RecordOf) -> Value:
        return Row({name: self.evaluate(value) for name, value in node.fields.items()})

    # Sets and bags.

    def _setof(self, node: SetOf) -> Value:
        kind = node.type
        assert isinstance(kind, SetType)
        items = [self.evaluate(element) for element in node.elements]
        if isinstance(kind.element, NothingType):
            return empty(kind)
        if kind.capacity is None:
            codes = [self.short(code(kind.element, item), "e") for item in items]
            return Mask(lambda index: either(same(index, found) for found in codes))
        place = self.saved(kind, empty(kind), "s")
        for item in items:
            self.insert(kind, place, item)
        return load(kind, place)

    def insert(self, kind: SetType | BagType, place: Place, item: Value) -> None:
        """Puts an element into its slot, once in a set; a failure when there is no room."""
        element, room = kind.element, kind.capacity
        assert room is not None
        if room == 0:
            self.fail_unless("0")
            return
        step = 1 + cells(element)
        value = self.saved(element, item, "e")
        wanted = self._held(self._code(element, load(element, value)), "c")
        at, end = self._held("0", "p"), self.text.label("found")

        def slot(index: str) -> Place:
            return place.at(_stride(index, step))

        def held(index: str) -> str:
            return code(element, load(element, slot(index).at("1")))

        self.text.emit(f"do :: {at} < {room} ->")
        with self.text.indented():
            before = f"{held(at)} {'<' if isinstance(kind, SetType) else '<='} {wanted}"
            self.text.emit(f"if :: {slot(at).cell('0')} && {before} -> {at} = {at} + 1 :: else -> goto {end} fi")
        self.text.emit(":: else -> break od;")
        self.text.emit(f"{end}: skip;")
        present = "0"
        if isinstance(kind, SetType):
            present = self._held("0", "b")
            with self.text.when(f"{at} < {room}"):
                self.text.emit(f"{present} = ({slot(at).cell('0')} && {held(at)} == {wanted});")
        with self.text.when(no(present)):
            self.text.emit(f"assert(!{slot(str(room - 1)).cell('0')});")
            with self.text.loop(str(room - 1), at, -1) as index:
                for cell in range(step):
                    self.text.emit(f"{slot(index).cell(str(cell))} = {slot(f'({index} - 1)').cell(str(cell))};")
            self.text.emit(f"{slot(at).cell('0')} = 1;")
            for cell in range(cells(element)):
                self.text.emit(f"{slot(at).cell(str(1 + cell))} = {value.cell(str(cell))};")

    def _code(self, kind: Type, value: Value) -> str:
        if size(kind) > WIDEST:
            raise refuse(f"sets and bags of {kind}, which has more values than an integer of Spin")
        return code(kind, value)

    def _setbinary(self, node: SetBinary) -> Value:
        kind, of = node.type, node.left.type
        assert isinstance(kind, SetType) and isinstance(of, SetType)
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(kind.element, NothingType):
            return empty(kind)
        if isinstance(left, Mask) and isinstance(right, Mask):
            combined: dict[str, Callable[[str, str], str]] = {
                "|": lambda a, b: either([a, b]),
                "&": lambda a, b: both([a, b]),
                "-": lambda a, b: both([a, no(b)]),
                "^": lambda a, b: _choice(a, no(b), b),
            }
            one, other = left, right
            return Mask(lambda index: combined[node.op](one.at(index), other.at(index)))
        left, right = self.kept(of, left), self.kept(node.right.type, right)
        place = self.saved(kind, empty(kind), "s")
        for source, against, needed in _sources(node.op, left, right):
            with self.elements(of, source) as item:
                if needed is None:
                    self.insert(kind, place, item)
                    continue
                inside = self._held(self.contains(of, against, item), "b")
                with self.text.when(inside if needed else no(inside)):
                    self.insert(kind, place, item)
        return load(kind, place)

    @contextmanager
    def elements(self, kind: Type, container: Value) -> Iterator[Value]:
        """Runs through what is in a container, in order."""
        if isinstance(kind, SetType | BagType | SeqType) and size_bound(kind) == 0:
            with self.text.aside():  # nothing is ever in it
                yield empty(kind.element)
            return
        match kind, container:
            case SetType(element, None), Mask(at):
                with self.text.loop("0", str(size(element))) as index, self.text.when(at(index)):
                    yield decoded(element, index)
            case SetType(element, int() as room) | BagType(element, room), Slots(slot):
                with self.text.loop("0", str(room)) as index:
                    used, item = slot(index)
                    with self.text.when(used):
                        yield item
            case SeqType(), Listing(length, item_at):
                with self.text.loop("0", self.short(length)) as index:
                    yield item_at(index)
            case _:
                raise AssertionError(kind)

    def contains(self, kind: Type, container: Value, item: Value) -> str:
        """Whether an element is in a container."""
        assert isinstance(kind, SetType | BagType | SeqType)
        if isinstance(kind.element, NothingType):
            return "0"
        if isinstance(container, Mask):
            return container.at(self.index_of(code(kind.element, item), "e"))
        found = self._held("0", "b")
        with self.elements(kind, container) as held:
            equal = self.equal(kind.element, held, item)
            self.text.emit(f"{found} = ({found} || {equal});")
        return found

    def _subset(self, node: Subset) -> Value:
        kind = node.left.type
        assert isinstance(kind, SetType)
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(kind.element, NothingType):
            return Number("0" if node.strict else "1")
        if isinstance(left, Mask) and isinstance(right, Mask):
            one, other = left, right
            inside = self.all_of(size(kind.element), lambda index: either([no(one.at(index)), other.at(index)]))
        else:
            inside = self._held("1", "b")
            with self.elements(kind, left) as item:
                there = self.contains(kind, right, item)
                self.text.emit(f"{inside} = ({inside} && {there});")
        if node.strict:
            inside = both([inside, no(self.equal(kind, left, right))])
        return Number(inside)

    def all_of(self, count: int, part: Callable[[str], str]) -> str:
        """Whether something is true for each index."""
        if count <= UNROLLED:
            with self.text.aside() as lines:
                parts = [part(str(index)) for index in range(count)]
            if not lines:
                return both(parts)
        result = self._held("1", "b")
        with self.text.loop("0", str(count)) as index:
            holds = part(index)
            self.text.emit(f"{result} = ({result} && {holds});")
        return result

    def equal(self, kind: Type, a: Value, b: Value) -> str:
        """Whether two values of one type are the same."""
        match kind, a, b:
            case (NoneType() | NothingType()), _, _:
                return "1"
            case OptionalType(inner), Maybe(), Maybe():
                if b.there in ("0", "1") or a.there in ("0", "1"):
                    a, b = (b, a) if a.there in ("0", "1") else (a, b)
                    if b.there == "0":
                        return no(a.there)
                    return both([a.there, self._guarded(a.there, lambda: self.equal(inner, a.held, b.held))])
                there = self.short(a.there), self.short(b.there)
                held = self._guarded(f"({there[0]} && {there[1]})", lambda: self.equal(inner, a.held, b.held))
                return f"(({there[0]}) == ({there[1]}) && ({no(there[0])} || {held}))"
            case RecordType(_, fields), Row(), Row():
                return both(self.equal(of, a.fields[name], b.fields[name]) for name, of in fields)
            case SetType(element, None), Mask(), Mask():
                return self.all_of(size(element), lambda index: f"({a.at(index)}) == ({b.at(index)})") \
                    if size(element) > UNROLLED else \
                    both(f"(({a.at(str(i))}) == ({b.at(str(i))}))" for i in range(size(element)))
            case SetType(element, int() as room) | BagType(element, room), Slots(), Slots():
                one, other = load(kind, self.saved(kind, a)), load(kind, self.saved(kind, b))
                assert isinstance(one, Slots) and isinstance(other, Slots)
                first, second = one, other

                def slot(index: str) -> str:
                    (used, held), (other_used, other_held) = first.at(index), second.at(index)
                    return both([f"({used} == {other_used})", self.equal(element, held, other_held)])

                return self.all_of(room, slot)
            case MapType(key, of), Entries(), Entries():
                return self.all_of(size(key), lambda index: self.equal(of, a.at(index), b.at(index)))
            case SeqType(element, room), Listing(), Listing():
                length = self.short(a.length)
                alike = self._held(f"({length} == {b.length})", "b")
                with self.text.when(alike), self.text.loop("0", length) as index:
                    holds = self.equal(element, a.at(index), b.at(index))
                    self.text.emit(f"{alike} = ({alike} && {holds});")
                return alike
            case _, Number(x), Number(y):
                return same(x, y)
        raise AssertionError((kind, a, b))

    def _guarded(self, condition: str, evaluate: Callable[[], str]) -> str:
        """What is computed only when the condition is true."""
        with self.text.aside() as lines:
            found = evaluate()
        if not lines:
            return found
        result = self._held("0", "b")
        self.text.emit(f"if :: {condition} ->")
        with self.text.indented():
            for line in lines:
                self.text.emit(line.strip() if not line.startswith(" ") else line.lstrip())
            self.text.emit(f"{result} = {found}")
        self.text.emit(":: else fi;")
        return result

    def _bagchange(self, node: BagChange) -> Value:
        kind = node.bag.type
        assert isinstance(kind, SetType | BagType)
        held, item = self.evaluate(node.bag), self.evaluate(node.item)
        if isinstance(held, Mask):
            index = self.index_of(code(kind.element, item), "e")
            self.fail_unless(held.at(index))
            mask = held
            return Mask(lambda position: both([mask.at(position), no(same(position, index))]))
        place = self.saved(kind, held, "s")
        if not node.remove:
            self.insert(kind, place, item)
            return load(kind, place)
        item = self.kept(kind.element, item, "e")
        found = self._held("0", "b")
        assert kind.capacity is not None
        step = 1 + cells(kind.element)
        with self.text.loop("0", str(kind.capacity)) as position:
            here = place.at(_stride(position, step))
            equal = self.equal(kind.element, load(kind.element, here.at("1")), item)
            self.text.emit(f"{found} = ({found} || ({here.cell('0')} && {equal}));")
            with self.text.when(found):
                for cell in range(step):
                    behind = place.at(_stride(f"({position} + 1)", step)).cell(str(cell))
                    last = f"({position} == {kind.capacity - 1} -> 0 : {behind})"
                    self.text.emit(f"{here.cell(str(cell))} = {last};")
        self.fail_unless(found)
        return load(kind, place)

    def _contains(self, node: Contains) -> Value:
        kind = node.container.type
        assert isinstance(kind, SetType | SeqType | BagType)
        item, container = self.evaluate(node.item), self.evaluate(node.container)
        if isinstance(kind.element, NothingType):
            return Number("0")
        if node.item.type == kind.element or (isinstance(node.item.type, IntType) and not isinstance(container, Mask)):
            return Number(self.contains(kind, container, item))
        possible = self.short(self.fits(node.item.type, kind.element, item))
        element = kind.element
        converted = self.converted(node.item.type, element, item)
        return Number(both([possible, self._guarded(possible, lambda: self.contains(kind, container, converted))]))

    def _size(self, node: Size) -> Value:
        kind, container = node.container.type, self.evaluate(node.container)
        match kind, container:
            case SeqType(), Listing(length, _):
                return Number(length)
            case MapType(key, _), _:
                return Number(str(size(key)))
            case SetType(element, None), Mask(at) if size(element) <= UNROLLED:
                parts = [at(str(index)) for index in range(size(element))]
                return Number(f"({' + '.join(f'({part})' for part in parts)})" if parts else "0")
            case SetType(NothingType(), _), _:
                return Number("0")
        total = self._held("0", "n")
        with self.elements(kind, container):
            self.text.emit(f"{total} = {total} + 1;")
        return Number(total)

    def _count(self, node: Count) -> Value:
        kind = node.bag.type
        assert isinstance(kind, BagType)
        item, bag = self.evaluate(node.item), self.evaluate(node.bag)
        total = self._held("0", "n")
        with self.elements(kind, bag) as held:
            equal = self.equal(kind.element, held, item)
            self.text.emit(f"{total} = {total} + ({equal} -> 1 : 0);")
        return Number(total)

    # Arithmetic and logic.

    def _arithmetic(self, node: Arithmetic) -> Value:
        left, right = self.number(node.left), self.number(node.right)
        if node.op in ("+", "-", "*"):
            return Number(f"({left} {node.op} {right})")
        a, b = node.left.type, node.right.type
        assert isinstance(a, IntType) and isinstance(b, IntType)
        if b.low <= 0 <= b.high:
            right = self.short(right)
            self.fail_unless(f"{right} != 0")
        if a.low >= 0 and b.low >= 0:
            return Number(f"({left} {'/' if node.op == '//' else '%'} {right})")
        left, right = self._held(left, "x"), self._held(right, "y")
        rest = self._held(f"{left} % {right}", "r")  # of C, with the sign of the dividend
        corrected = f"({rest} != 0 && (({rest} < 0) != ({right} < 0)))"
        if node.op == "//":
            return Number(f"({left} / {right} - ({corrected} -> 1 : 0))")
        return Number(f"({rest} + ({corrected} -> {right} : 0))")

    def _compare(self, node: Compare) -> Value:
        return Number(f"({self.number(node.left)} {node.op} {self.number(node.right)})")

    def _equal(self, node: Equal) -> Value:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        return Number(self.equal(node.left.type, left, right))

    def _not(self, node: Not) -> Value:
        return Number(no(self.number(node.operand)))

    def _and(self, node: And) -> Value:
        return Number(self._chained(node.operands, "1"))

    def _or(self, node: Or) -> Value:
        return Number(self._chained(node.operands, "0"))

    def _chained(self, operands: list[Expr], going_on: str) -> str:
        """Operands from the left, each only while those before leave it open."""
        joined = both if going_on == "1" else either
        found = self.number(operands[0])
        for operand in operands[1:]:
            with self.text.aside() as lines:
                value = self.number(operand)
            if not lines:
                found = joined([found, value])
                continue
            result = self._held(found, "b")
            self.text.emit(f"if :: {result if going_on == '1' else no(result)} ->")
            with self.text.indented():
                for line in lines:
                    self.text.emit(line.lstrip())
                self.text.emit(f"{result} = {value}")
            self.text.emit(":: else fi;")
            found = result
        return found

    def _implies(self, node: Implies) -> Value:
        premise, conclusion = self.number(node.premise), self.number(node.conclusion)
        return Number(either([no(premise), conclusion]))

    def _choose(self, node: Choose) -> Value:
        condition = self.number(node.condition)
        branches, buffers = [], []
        for branch in (node.then, node.otherwise):
            with self.text.aside() as lines:
                branches.append(self.evaluate(branch))
            buffers.append(lines)
        if not buffers[0] and not buffers[1]:
            return choose(node.type, self.short(condition), *branches)
        place = self.text.temporary("v", cells(node.type))
        self.text.emit(f"if :: {condition} ->")
        for position, (value, lines) in enumerate(zip(branches, buffers, strict=True)):
            if position == 1:
                self.text.emit(":: else ->")
            with self.text.indented():
                for line in lines:
                    self.text.emit(line.lstrip())
                self.write(node.type, place, value)
                self.text.emit("skip")
        self.text.emit("fi;")
        return load(node.type, place)

    def _isnone(self, node: IsNone) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(value, Maybe):
            return Number(no(value.there))
        return Number("1" if isinstance(value, Nothing) else "0")

    def _extremum(self, node: Extremum) -> Value:
        best = self.number(node.operands[0])
        for operand in node.operands[1:]:
            best, other = self.short(best), self.short(self.number(operand))
            best = f"({other} {'>' if node.largest else '<'} {best} -> {other} : {best})"
        return Number(best)

    def _witness(self, node: Witness) -> Value:
        return self.evaluate(node.operand)

    def _convert(self, node: Convert) -> Value:
        source, value = node.operand.type, self.evaluate(node.operand)
        if not fits(source, node.type):
            self.fail_unless(self.fits(source, node.type, value))
        return self.converted(source, node.type, value)

    def fits(self, source: Type, target: Type, value: Value) -> str:
        """Whether a value of ``source`` is one of ``target``."""
        if fits(source, target):
            return "1"
        match source, target, value:
            case NoneType(), _, _:
                return "0"
            case OptionalType(inner), OptionalType(other), Maybe(there, held):
                return either([no(there), self._guarded(there, lambda: self.fits(inner, other, held))])
            case OptionalType(inner), _, Maybe(there, held):
                return both([there, self._guarded(there, lambda: self.fits(inner, target, held))])
            case _, OptionalType(other), _:
                return self.fits(source, other, value)
            case IntType(), IntType(low, high), Number(text):
                assert isinstance(source, IntType)
                text = self.short(text)
                return both([
                    "1" if low <= source.low else f"{text} >= {number(low)}",
                    "1" if source.high <= high else f"{text} <= {number(high)}",
                ])
            case (SetType(), SetType()) | (SeqType(), SeqType() | BagType()) | (BagType(), BagType()), _:
                pass
            case MapType(key, of), MapType(_, other), Entries(entry):
                return self.all_of(size(key), lambda index: self.fits(of, other, entry(index)))
        return self._all_fit(source, target, value)

    def _all_fit(self, source: Type, target: Type, value: Value) -> str:
        if not isinstance(source, SetType | SeqType | BagType) or not isinstance(target, SetType | SeqType | BagType):
            raise refuse(f"{source} as {target}")
        total, result = self._held("0", "n"), self._held("1", "b")
        with self.elements(source, value) as item:
            self.text.emit(f"{total} = {total} + 1;")
            holds = self.fits(source.element, target.element, item)
            self.text.emit(f"{result} = ({result} && {holds});")
        room = target.capacity
        return result if room is None else both([result, f"{total} <= {room}"])

    def converted(self, source: Type, target: Type, value: Value) -> Value:
        """A value of ``source``, which is one of ``target``, in the cells of that."""
        if source == target:
            return value
        match source, target, value:
            case (NothingType() | NoneType()), _, _:
                return empty(target)
            case OptionalType(inner), OptionalType(other), Maybe(there, held):
                return Maybe(there, self.converted(inner, other, held))
            case OptionalType(inner), _, Maybe(_, held):
                return self.converted(inner, target, held)
            case _, OptionalType(other), _:
                return Maybe("1", self.converted(source, other, value))
            case (SetType() | BagType() | SeqType()), _, _ if isinstance(source.element, NothingType):
                return empty(target)
            case SetType(element, None), SetType(other, None), Mask():
                if element == other:
                    return value
                place = self.saved(target, empty(target), "s")
                with self.elements(source, value) as item:
                    index = self.index_of(code(other, self.converted(element, other, item)), "e")
                    self.text.emit(f"{place.cell(index)} = 1;")
                return load(target, place)
            case (SetType() | SeqType() | BagType()), (SetType() | BagType()), _:
                place = self.saved(target, empty(target), "s")
                with self.elements(source, value) as item:
                    made = self.converted(source.element, target.element, item)
                    if isinstance(target, SetType) and target.capacity is None:
                        self.text.emit(f"{place.cell(self.index_of(code(target.element, made), 'e'))} = 1;")
                    else:
                        self.insert(target, place, made)
                return load(target, place)
            case SeqType(element, _), SeqType(other, _), Listing(length, item_at):
                if element == other:
                    return value
                return Listing(length, lambda index: self.converted(element, other, item_at(index)))
            case MapType(_, of), MapType(_, other), Entries(entry):
                return Entries(lambda index: self.converted(of, other, entry(index)))
            case (BoolType() | EnumType() | IdentifierType() | IntType()), _, _:
                return value
        raise refuse(f"{source} as {target}")

    def _sorted(self, node: Sorted) -> Value:
        kind = node.type
        assert isinstance(kind, SeqType)
        place = self.saved(kind, self.evaluate(node.seq), "s")
        length = place.cell("0")
        with self.text.loop("1", length) as end:
            index = self._held(end, "p")
            before, here = place.cell(index), place.cell(f"({index} + 1)")
            wrong = f"{before} {'<' if node.reverse else '>'} {here}"
            self.text.emit(f"do :: {index} > 0 ->")
            with self.text.indented():
                swap = self.text.temporary("x", 1).cell("0")
                self.text.emit(f"if :: {wrong} -> {swap} = {before}; {before} = {here}; {here} = {swap} :: else fi;")
                self.text.emit(f"{index} = {index} - 1")
            self.text.emit(":: else -> break od;")
        return load(kind, place)

    def _inline(self, node: Inline) -> Value:
        raise NotImplementedError

    # Loops and comprehensions.

    @contextmanager
    def each(self, variable: Local, domain: Domain, freeze: bool) -> Iterator[None]:
        """Runs through a domain with the variable set."""
        match domain:
            case Universe(kind):
                with self.text.loop("0", str(size(kind))) as index:
                    self.locals[variable.slot] = decoded(kind, index)
                    yield
                return
            case Range(low, high, step):
                must_fit(variable.type, low.at)
                first, last = self.number(low), self._held(self.number(high), "end")
                with self.text.loop(first, last, step) as index:
                    self.locals[variable.slot] = Number(index)
                    yield
                return
        container = self.evaluate(domain)
        if isinstance(variable.type, NothingType):
            with self.text.aside():  # nothing is ever in it
                self.locals[variable.slot] = Nothing()
                yield
            return
        if freeze:
            container = self.kept(domain.type, container, "domain")
        with self.elements(domain.type, container) as item:
            self.locals[variable.slot] = item
            yield

    @contextmanager
    def _generated(self, generators: list[Generator], depth: int = 0) -> Iterator[None]:
        """Runs through what a comprehension runs through."""
        if depth == len(generators):
            yield
            return
        generator = generators[depth]
        with (
            self.each(generator.variable, generator.domain, False),
            self._conditions(generator.conditions),
            self._generated(generators, depth + 1),
        ):
            yield

    @contextmanager
    def _conditions(self, conditions: list[Expr]) -> Iterator[None]:
        if not conditions:
            yield
            return
        with self.text.when(self.number(conditions[0])), self._conditions(conditions[1:]):
            yield

    def _reduce(self, node: Reduce) -> Value:
        if has_effects(node):
            raise refuse("a comprehension that changes variables; write a for loop", node.at)
        match node.kind:
            case "any" | "all":
                return self._any_or_all(node)
            case "sum":
                total = self._held("0", "n")
                with self._generated(node.generators):
                    self.text.emit(f"{total} = {total} + {self.number(node.body)};")
                return Number(total)
            case "min" | "max":
                return self._best(node)
            case "map":
                return self._map_of(node)
        return self._gathered(node)

    def _any_or_all(self, node: Reduce) -> Value:
        sought = "1" if node.kind == "any" else "0"
        result, decided = self._held(no(sought), "b"), self.text.label("decided")
        with self._generated(node.generators):
            body = self.number(node.body)
            hit = body if sought == "1" else no(body)
            self.text.emit(f"if :: {hit} -> {result} = {sought}; goto {decided} :: else fi;")
        self.text.emit(f"{decided}: skip;")
        return Number(result)

    def _best(self, node: Reduce) -> Value:
        best, some = self._held("0", "n"), self._held("0", "b")
        with self._generated(node.generators):
            value = self.short(self.number(node.body))
            better = f"{value} {'>' if node.kind == 'max' else '<'} {best}"
            self.text.emit(f"if :: !{some} || {better} -> {best} = {value}; {some} = 1 :: else fi;")
        if node.default is None:
            self.fail_unless(some)
            return Number(best)
        with self.text.when(no(some)):
            default = self.number(node.default)
            self.text.emit(f"{best} = {default};")
        return Number(best)

    def _map_of(self, node: Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, MapType)
        place = self.text.temporary("m", cells(kind))
        (generator,) = node.generators
        with self.text.loop("0", str(size(kind.key))) as index:
            self.locals[generator.variable.slot] = decoded(kind.key, index)
            self.write(kind.value, place.at(_stride(index, cells(kind.value))), self.evaluate(node.body))
        return load(kind, place)

    def _gathered(self, node: Reduce) -> Value:
        kind = node.type
        assert isinstance(kind, SetType | SeqType)
        if isinstance(kind.element, NothingType):
            return empty(kind)
        place = self.saved(kind, empty(kind), "s")
        with self._generated(node.generators):
            item = self.evaluate(node.body)
            match kind:
                case SetType(element, None):
                    self.text.emit(f"{place.cell(self.index_of(code(element, item), 'e'))} = 1;")
                case SetType():
                    self.insert(kind, place, item)
                case SeqType(element, _):
                    end = self.index_of(place.cell("0"), "n")
                    here = place.at(plus(_stride(end, cells(element)), "1"))
                    self.write(element, here, item)
                    self.text.emit(f"{place.cell('0')} = {place.cell('0')} + 1;")
        return load(kind, place)


def _choice(condition: str, a: str, b: str) -> str:
    if condition in ("0", "1"):
        return a if condition == "1" else b
    return a if a == b else f"({condition} -> {a} : {b})"


def _stride(index: str, step: int) -> str:
    if index.isdigit():
        return str(int(index) * step)
    return index if step == 1 else f"{index} * {step}"


def _sources(op: str, left: Value, right: Value) -> list[tuple[Value, Value, bool | None]]:
    """What a combination of two sets is made of: elements of one that are, are not, or may be in the other."""
    return {
        "|": [(left, right, None), (right, left, None)],
        "&": [(left, right, True)],
        "-": [(left, right, False)],
        "^": [(left, right, False), (right, left, False)],
    }[op]  # type: ignore[return-value]

