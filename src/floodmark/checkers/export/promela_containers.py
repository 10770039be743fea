"""Sets, bags, maps and sequences in Promela: reading them, adding to them, and comparing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from floodmark.checkers.export.graph_queries import refuse
from floodmark.checkers.export.promela_memory import UNROLLED, PromelaMemory
from floodmark.checkers.export.promela_values import (
    MAX_C_INTEGER,
    CellAddress,
    Entries,
    FieldCells,
    Mask,
    Number,
    OptionalValue,
    SequenceValue,
    Slots,
    Value,
    both,
    cells,
    code,
    decoded,
    empty,
    load,
    no,
    same,
    stride,
)
from floodmark.compiler.ir import NoneType, NothingType
from floodmark.compiler.sizes import size_bound
from floodmark.language.types import BagType, MapType, OptionalType, RecordType, SeqType, SetType, Type


class PromelaContainers:
    """Iterates over containers, and compares values of any type."""

    def __init__(self, memory: PromelaMemory) -> None:
        self.memory = memory
        self.text = memory.text

    def insert(self, kind: SetType | BagType, place: CellAddress, item: Value) -> None:
        """Puts an element into its slot, at most once for a set; fails when there is no room."""
        element, room = kind.element, kind.capacity
        assert room is not None
        if room == 0:
            self.memory.fail_unless("0")
            return
        step = 1 + cells(element)
        value = self.memory.saved(element, item, "e")
        new = self.memory.held(self._code(element, load(element, value)), "c")
        at, end = self.memory.held("0", "p"), self.text.label("found")

        def slot(index: str) -> CellAddress:
            return place.at(stride(index, step))

        def held(index: str) -> str:
            return code(element, load(element, slot(index).at("1")))

        self.text.emit(f"do :: {at} < {room} ->")
        with self.text.indented():
            before = f"{held(at)} {'<' if isinstance(kind, SetType) else '<='} {new}"
            self.text.emit(f"if :: {slot(at).cell('0')} && {before} -> {at} = {at} + 1 :: else -> goto {end} fi")
        self.text.emit(":: else -> break od;")
        self.text.emit(f"{end}: skip;")
        present = "0"
        if isinstance(kind, SetType):
            present = self.memory.held("0", "b")
            with self.text.when(f"{at} < {room}"):
                self.text.emit(f"{present} = ({slot(at).cell('0')} && {held(at)} == {new});")
        with self.text.when(no(present)):
            self.text.emit(f"assert(!{slot(str(room - 1)).cell('0')});")
            with self.text.loop(str(room - 1), at, -1) as index:
                for cell in range(step):
                    self.text.emit(f"{slot(index).cell(str(cell))} = {slot(f'({index} - 1)').cell(str(cell))};")
            self.text.emit(f"{slot(at).cell('0')} = 1;")
            for cell in range(cells(element)):
                self.text.emit(f"{slot(at).cell(str(1 + cell))} = {value.cell(str(cell))};")

    def _code(self, kind: Type, value: Value) -> str:
        if kind.size > MAX_C_INTEGER:
            raise refuse(f"sets and bags of {kind}, which has more values than a Spin integer")
        return code(kind, value)

    @contextmanager
    def elements(self, kind: Type, container: Value) -> Iterator[Value]:
        """Iterates over the elements of a container, in order."""
        if isinstance(kind, SetType | BagType | SeqType) and size_bound(kind) == 0:
            with self.text.aside():  # it is always empty
                yield empty(kind.element)
            return
        match kind, container:
            case SetType(element, None), Mask(at):
                with self.text.loop("0", str(element.size)) as index, self.text.when(at(index)):
                    yield decoded(element, index)
            case SetType(element, int() as room) | BagType(element, room), Slots(slot):
                with self.text.loop("0", str(room)) as index:
                    used, item = slot(index)
                    with self.text.when(used):
                        yield item
            case SeqType(), SequenceValue(length, item_at):
                with self.text.loop("0", self.memory.short(length)) as index:
                    yield item_at(index)
            case _:
                raise AssertionError(kind)

    def contains(self, kind: Type, container: Value, item: Value) -> str:
        """Whether an element is in a container."""
        assert isinstance(kind, SetType | BagType | SeqType)
        if isinstance(kind.element, NothingType):
            return "0"
        if isinstance(container, Mask):
            return container.at(self.memory.index_of(code(kind.element, item), "e"))
        found = self.memory.held("0", "b")
        with self.elements(kind, container) as held:
            equal = self.equal(kind.element, held, item)
            self.text.emit(f"{found} = ({found} || {equal});")
        return found

    def all_of(self, count: int, part: Callable[[str], str]) -> str:
        """Whether something is true for each index."""
        if count <= UNROLLED:
            with self.text.aside() as lines:
                parts = [part(str(index)) for index in range(count)]
            if not lines:
                return both(parts)
        result = self.memory.held("1", "b")
        with self.text.loop("0", str(count)) as index:
            holds = part(index)
            self.text.emit(f"{result} = ({result} && {holds});")
        return result

    def equal(self, kind: Type, a: Value, b: Value) -> str:
        """Whether two values of one type are equal."""
        match kind, a, b:
            case (NoneType() | NothingType()), _, _:
                return "1"
            case OptionalType(inner), OptionalValue(), OptionalValue():
                if b.is_present in ("0", "1") or a.is_present in ("0", "1"):
                    a, b = (b, a) if a.is_present in ("0", "1") else (a, b)
                    if b.is_present == "0":
                        return no(a.is_present)
                    same_value = self.memory.guarded(a.is_present, lambda: self.equal(inner, a.value, b.value))
                    return both([a.is_present, same_value])
                there = self.memory.short(a.is_present), self.memory.short(b.is_present)
                held = self.memory.guarded(f"({there[0]} && {there[1]})", lambda: self.equal(inner, a.value, b.value))
                return f"(({there[0]}) == ({there[1]}) && ({no(there[0])} || {held}))"
            case RecordType(_, fields), FieldCells(), FieldCells():
                return both(self.equal(of, a.fields[name], b.fields[name]) for name, of in fields)
            case SetType(element, None), Mask(), Mask():
                return self.all_of(element.size, lambda index: f"({a.at(index)}) == ({b.at(index)})") \
                    if element.size > UNROLLED else \
                    both(f"(({a.at(str(i))}) == ({b.at(str(i))}))" for i in range(element.size))
            case SetType(element, int() as room) | BagType(element, room), Slots(), Slots():
                one, other = load(kind, self.memory.saved(kind, a)), load(kind, self.memory.saved(kind, b))
                assert isinstance(one, Slots) and isinstance(other, Slots)
                first, second = one, other

                def slot(index: str) -> str:
                    (used, held), (other_used, other_held) = first.at(index), second.at(index)
                    return both([f"({used} == {other_used})", self.equal(element, held, other_held)])

                return self.all_of(room, slot)
            case MapType(key, of), Entries(), Entries():
                return self.all_of(key.size, lambda index: self.equal(of, a.at(index), b.at(index)))
            case SeqType(element, room), SequenceValue(), SequenceValue():
                length = self.memory.short(a.length)
                alike = self.memory.held(f"({length} == {b.length})", "b")
                with self.text.when(alike), self.text.loop("0", length) as index:
                    holds = self.equal(element, a.at(index), b.at(index))
                    self.text.emit(f"{alike} = ({alike} && {holds});")
                return alike
            case _, Number(x), Number(y):
                return same(x, y)
        raise AssertionError((kind, a, b))
