"""Conversion of values from one type to another, in Promela."""

from __future__ import annotations

from floodmark.checkers.export.graph_queries import refuse
from floodmark.checkers.export.promela_containers import PromelaContainers
from floodmark.checkers.export.promela_values import (
    Entries,
    Mask,
    Number,
    OptionalValue,
    SequenceValue,
    Value,
    both,
    code,
    either,
    empty,
    load,
    no,
    number,
)
from floodmark.compiler.ir import NoneType, NothingType
from floodmark.compiler.joins import fits
from floodmark.language.types import (
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OptionalType,
    SeqType,
    SetType,
    Type,
)


class PromelaConversions:
    """Tests whether a value belongs to another type, and converts it."""

    def __init__(self, containers: PromelaContainers) -> None:
        self.containers = containers
        self.memory = containers.memory
        self.text = containers.text

    def fits(self, source: Type, target: Type, value: Value) -> str:
        """Whether a value of ``source`` belongs to ``target``."""
        if fits(source, target):
            return "1"
        match source, target, value:
            case NoneType(), _, _:
                return "0"
            case OptionalType(inner), OptionalType(other), OptionalValue(there, held):
                return either([no(there), self.memory.guarded(there, lambda: self.fits(inner, other, held))])
            case OptionalType(inner), _, OptionalValue(there, held):
                return both([there, self.memory.guarded(there, lambda: self.fits(inner, target, held))])
            case _, OptionalType(other), _:
                return self.fits(source, other, value)
            case IntType(), IntType(low, high), Number(text):
                assert isinstance(source, IntType)
                text = self.memory.short(text)
                return both([
                    "1" if low <= source.low else f"{text} >= {number(low)}",
                    "1" if source.high <= high else f"{text} <= {number(high)}",
                ])
            case (SetType(), SetType()) | (SeqType(), SeqType() | BagType()) | (BagType(), BagType()), _:
                pass
            case MapType(key, of), MapType(_, other), Entries(entry):
                return self.containers.all_of(key.size, lambda index: self.fits(of, other, entry(index)))
        return self._all_fit(source, target, value)

    def _all_fit(self, source: Type, target: Type, value: Value) -> str:
        if not isinstance(source, SetType | SeqType | BagType) or not isinstance(target, SetType | SeqType | BagType):
            raise refuse(f"{source} as {target}")
        total, result = self.memory.held("0", "n"), self.memory.held("1", "b")
        with self.containers.elements(source, value) as item:
            self.text.emit(f"{total} = {total} + 1;")
            holds = self.fits(source.element, target.element, item)
            self.text.emit(f"{result} = ({result} && {holds});")
        room = target.capacity
        return result if room is None else both([result, f"{total} <= {room}"])

    def converted(self, source: Type, target: Type, value: Value) -> Value:
        """A value of ``source`` that belongs to ``target``, in the cells of ``target``."""
        if source == target:
            return value
        match source, target, value:
            case (NothingType() | NoneType()), _, _:
                return empty(target)
            case OptionalType(inner), OptionalType(other), OptionalValue(there, held):
                return OptionalValue(there, self.converted(inner, other, held))
            case OptionalType(inner), _, OptionalValue(_, held):
                return self.converted(inner, target, held)
            case _, OptionalType(other), _:
                return OptionalValue("1", self.converted(source, other, value))
            case (SetType() | BagType() | SeqType()), _, _ if isinstance(source.element, NothingType):
                return empty(target)
            case SetType(element, None), SetType(other, None), Mask():
                if element == other:
                    return value
                place = self.memory.saved(target, empty(target), "s")
                with self.containers.elements(source, value) as item:
                    index = self.memory.index_of(code(other, self.converted(element, other, item)), "e")
                    self.text.emit(f"{place.cell(index)} = 1;")
                return load(target, place)
            case (SetType() | SeqType() | BagType()), (SetType() | BagType()), _:
                place = self.memory.saved(target, empty(target), "s")
                with self.containers.elements(source, value) as item:
                    member = self.converted(source.element, target.element, item)
                    if isinstance(target, SetType) and target.capacity is None:
                        self.text.emit(f"{place.cell(self.memory.index_of(code(target.element, member), 'e'))} = 1;")
                    else:
                        self.containers.insert(target, place, member)
                return load(target, place)
            case SeqType(element, _), SeqType(other, _), SequenceValue(length, item_at):
                if element == other:
                    return value
                return SequenceValue(length, lambda index: self.converted(element, other, item_at(index)))
            case MapType(_, of), MapType(_, other), Entries(entry):
                return Entries(lambda index: self.converted(of, other, entry(index)))
            case (BoolType() | EnumType() | IdentifierType() | IntType()), _, _:
                return value
        raise refuse(f"{source} as {target}")
