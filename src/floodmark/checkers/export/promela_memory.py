"""Values in the memory of a Promela process: cached values, and the places where values are written."""

from __future__ import annotations

from collections.abc import Callable

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
    Slots,
    Value,
    cells,
    choice,
    empty,
    load,
    plus,
    stride,
)
from floodmark.compiler.ir import NoneType, NothingType
from floodmark.language.types import BagType, MapType, OptionalType, RecordType, SeqType, SetType, Type

UNROLLED = 4
"""Up to this many parts are written out one by one; more become a loop."""


MAX_REPEATED_LENGTH = 60
"""A longer expression that is needed more than once is computed once."""


class PromelaMemory:
    """Stores and writes values."""

    def __init__(self, text: Text, unrolled: int = UNROLLED) -> None:
        self.text = text
        self._unrolled = unrolled

    def short(self, text: str, name: str = "t") -> str:
        """An expression that may be written more than once."""
        if len(text) <= MAX_REPEATED_LENGTH:
            return text
        place = self.text.temporary(name, 1)
        self.text.emit(f"{place.cell('0')} = {text};")
        return place.cell("0")

    def index_of(self, text: str, name: str) -> str:
        """An expression that may be used as an index; Spin rejects an array there that may be the indexed one."""
        return self.held(text, name) if "[" in text else self.short(text, name)

    def held(self, text: str, name: str) -> str:
        place = self.text.temporary(name, 1)
        self.text.emit(f"{place.cell('0')} = {text};")
        return place.cell("0")

    def fail_unless(self, condition: str) -> None:
        if condition != "1":
            self.text.emit(f"assert({condition});")

    def kept(self, kind: Type, value: Value, name: str = "v") -> Value:
        """A copy of the present value, independent of later changes of its operands."""
        return load(kind, self.saved(kind, value, name))

    def saved(self, kind: Type, value: Value, name: str = "v") -> CellAddress:
        place = self.text.temporary(name, cells(kind))
        self.write(kind, place, value)
        return place

    def repeat(self, count: int, body: Callable[[str], None]) -> None:
        """Writes the body for each index."""
        if count <= self._unrolled:
            for index in range(count):
                body(str(index))
            return
        with self.text.loop("0", str(count)) as index_name:
            body(index_name)

    def write(self, kind: Type, place: CellAddress, value: Value) -> None:
        """Writes a value to a place; the value must not depend on the place's content."""
        text = self.text
        match kind, value:
            case (NoneType() | NothingType(), _) | (_, NoValue()):
                return
            case OptionalType(inner), OptionalValue(there, held):
                if there in ("0", "1"):
                    text.emit(f"{place.cell('0')} = {there};")
                    self.write(inner, place.at("1"), held if there == "1" else empty(inner))
                    return
                there = self.short(there)
                text.emit(f"{place.cell('0')} = {there};")
                self.write_if(inner, place.at("1"), there, held)
            case RecordType(_, fields), FieldCells(parts):
                offset = 0
                for name, of in fields:
                    self.write(of, place.at(str(offset)), parts[name])
                    offset += cells(of)
            case SetType(element, None), Mask(at):
                self.repeat(element.size, lambda index: text.emit(f"{place.cell(index)} = {at(index)};"))
            case SetType(element, int() as room) | BagType(element, room), Slots(slot):
                self.repeat(room, lambda index: self._write_slot(element, place, index, *slot(index)))
            case MapType(key, of), Entries(entry):
                self.repeat(key.size, lambda index: self.write(of, place.at(stride(index, cells(of))), entry(index)))
            case SeqType(element, room), SequenceValue(length, item):
                text.emit(f"{place.cell('0')} = {length};")
                length = place.cell("0")

                def put(index: str) -> None:
                    here = place.at(plus(stride(index, cells(element)), "1"))
                    self.write_if(element, here, f"({index} < {length})", item(index))

                self.repeat(room, put)
            case _, Number(found):
                text.emit(f"{place.cell('0')} = {found};")
            case _:
                raise AssertionError((kind, value))

    def _write_slot(self, element: Type, place: CellAddress, index: str, used: str, value: Value) -> None:
        here = place.at(stride(index, 1 + cells(element)))
        self.text.emit(f"{here.cell('0')} = {used};")
        self.write_if(element, here.at("1"), here.cell("0"), value)

    def write_if(self, kind: Type, place: CellAddress, condition: str, value: Value) -> None:
        """Writes a value to a place if the condition is true, and the value for nothing if it is not."""
        if cells(kind) == 0:
            return
        if isinstance(value, Number):
            self.text.emit(f"{place.cell('0')} = {choice(condition, value.text, '0')};")
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

    def guarded(self, condition: str, evaluate: Callable[[], str]) -> str:
        """A value that is computed only if the condition is true."""
        with self.text.aside() as lines:
            found = evaluate()
        if not lines:
            return found
        result = self.held("0", "b")
        self.text.emit(f"if :: {condition} ->")
        with self.text.indented():
            for line in lines:
                self.text.emit(line.strip() if not line.startswith(" ") else line.lstrip())
            self.text.emit(f"{result} = {found}")
        self.text.emit(":: else fi;")
        return result
