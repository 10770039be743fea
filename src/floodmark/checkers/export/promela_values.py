"""The types and values of the language in Promela: a row of cells, each a small integer.

    bool, enum, identifier  one cell, numbered from 0
    int                     one cell, the integer itself
    T | None                whether there is a value, and its cells
    record, Map             the cells of its fields, or of its entries in the order of the keys
    Set                     one cell for each possible element; with a capacity, as a Bag
    Bag                     slots in the order of their elements: whether each is used, and its element
    Seq                     the length, and its elements

A cell without a value is 0, so that equal values have equal cells and a state of the model is one state of
Spin.

A value that is not in cells yet is a tree whose leaves are expressions; an indexed part is a function of the index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.export.graph_queries import refuse
from floodmark.compiler.ir import INT, NoneType, NothingType, Position
from floodmark.language.types import (
    TAG,
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
    UnionType,
)
from floodmark.language.universe import universe
from floodmark.language.values import order_key

MAX_C_INTEGER = 2**31 - 1
"""Spin's integers are C's."""


@dataclass(frozen=True, slots=True)
class Number:
    text: str


@dataclass(frozen=True, slots=True)
class OptionalValue:
    is_present: str
    value: Value


@dataclass(frozen=True, slots=True)
class FieldCells:
    fields: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Mask:
    """A set: for the index of an element, whether it is in the set."""

    at: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Slots:
    """A bag, or a set with a capacity: for the index of a slot, whether it is used, and its element."""

    at: Callable[[str], tuple[str, Value]]


@dataclass(frozen=True, slots=True)
class Entries:
    """A map: for the index of a key, its value."""

    at: Callable[[str], Value]


@dataclass(frozen=True, slots=True)
class SequenceValue:
    length: str
    at: Callable[[str], Value]


@dataclass(frozen=True, slots=True)
class NoValue:
    """None alone, and the elements of empty containers."""


Value = Number | OptionalValue | FieldCells | Mask | Slots | Entries | SequenceValue | NoValue


@dataclass(frozen=True, slots=True)
class CellAddress:
    """The address of cells: a variable and the index of the first cell, or no index if the variable is a single cell.
    """

    name: str
    offset: str | None = "0"

    def cell(self, index: str) -> str:
        return self.name if self.offset is None else f"{self.name}[{plus(self.offset, index)}]"

    def at(self, index: str) -> CellAddress:
        return self if self.offset is None else CellAddress(self.name, plus(self.offset, index))


def cells(kind: Type) -> int:
    """The number of cells of a value."""
    match kind:
        case NoneType() | NothingType():
            return 0
        case OptionalType(inner):
            return 1 + cells(inner)
        case RecordType(_, fields):
            return sum(cells(of) for _, of in fields)
        case SetType(element, None):
            return element.size
        case SetType(element, capacity) | BagType(element, capacity):
            assert capacity is not None
            return capacity * (1 + cells(element))
        case MapType(key, value):
            return key.size * cells(value)
        case SeqType(element, capacity):
            return 1 + capacity * cells(element)
    return 1


def cell_type(kind: Type) -> str:
    """The smallest Promela type that holds every cell of a value."""
    low, high = _range(kind)
    if high <= 1 and low >= 0:
        return "bit"
    if high <= 255 and low >= 0:
        return "byte"
    return "short" if low >= -(2**15) and high < 2**15 else "int"


def _range(kind: Type) -> tuple[int, int]:
    match kind:
        case IntType(low, high):
            must_fit(kind, None)
            return min(low, 0), max(high, 0)
        case EnumType() | IdentifierType():
            return 0, kind.codes - 1
        case OptionalType(inner) | SetType(inner, int()) | BagType(inner, _) | MapType(_, inner):
            low, high = _range(inner)
            return low, max(high, 1)
        case SeqType(element, capacity):
            low, high = _range(element)
            return low, max(high, capacity)
        case RecordType(_, fields):
            ranges = [(0, 1), *(_range(of) for _, of in fields)]
            return min(low for low, _ in ranges), max(high for _, high in ranges)
    return 0, 1


def must_fit(kind: Type, at: Position | None) -> None:
    """Refuses integers that would wrap around in C."""
    if isinstance(kind, IntType) and (kind == INT or max(abs(kind.low), abs(kind.high)) > MAX_C_INTEGER):
        raise refuse(f"an integer in {'no bounds' if kind == INT else kind}; Spin's have 32 bits", at)


def load(kind: Type, place: CellAddress) -> Value:
    match kind:
        case NoneType() | NothingType():
            return NoValue()
        case OptionalType(inner):
            return OptionalValue(place.cell("0"), load(inner, place.at("1")))
        case RecordType(_, fields):
            found, offset = {}, 0
            for name, of in fields:
                found[name] = load(of, place.at(str(offset)))
                offset += cells(of)
            return FieldCells(found)
        case SetType(_, None):
            return Mask(place.cell)
        case SetType(element, _) | BagType(element, _):
            step = 1 + cells(element)

            def slot(index: str) -> tuple[str, Value]:
                here = place.at(times(index, step))
                return here.cell("0"), load(element, here.at("1"))

            return Slots(slot)
        case MapType(_, value):
            return Entries(lambda index: load(value, place.at(times(index, cells(value)))))
        case SeqType(element, _):
            return SequenceValue(
                place.cell("0"), lambda index: load(element, place.at(plus(times(index, cells(element)), "1")))
            )
    return Number(place.cell("0"))


def literal(kind: Type, value: Any) -> Value:
    """A value of the language."""
    match kind:
        case NoneType() | NothingType():
            return NoValue()
        case IntType():
            if abs(value) > MAX_C_INTEGER:
                raise refuse(f"{value} is beyond the integers of Spin, which have 32 bits")
            return Number(number(value))
        case BoolType():
            return Number("1" if value else "0")
        case EnumType(cls):
            return Number(str(list(cls).index(value)))
        case IdentifierType():
            return Number(str(value.number - 1))
        case OptionalType(inner):
            return OptionalValue("0", empty(inner)) if value is None else OptionalValue("1", literal(inner, value))
        case RecordType(_, fields):
            held = kind.parts(value)
            return FieldCells({name: literal(of, held[name]) for name, of in fields})
        case SetType(element, None):
            inside = [index for index, item in enumerate(members(element)) if item in value]
            return Mask(lambda index: either(same(index, str(code)) for code in inside))
        case SetType(element, _) | BagType(element, _):
            items = [literal(element, item) for item in value]
            return Slots(lambda index: (f"{index} < {len(items)}", pick(element, items, index)))
        case MapType(_, of):
            entries = [literal(of, item) for item in value.values()]
            return Entries(lambda index: pick(of, entries, index))
        case SeqType(element, _):
            parts = [literal(element, item) for item in value]
            return SequenceValue(str(len(parts)), lambda index: pick(element, parts, index))
    raise refuse(f"a value of {kind}")


def members(kind: Type) -> list[Any]:
    """Every value of a type, in the order in which the language iterates over them."""
    return sorted(universe(kind), key=order_key)


def empty(kind: Type) -> Value:
    """The value of cells that hold nothing."""
    match kind:
        case NoneType() | NothingType():
            return NoValue()
        case OptionalType(inner):
            return OptionalValue("0", empty(inner))
        case RecordType(_, fields):
            return FieldCells({name: empty(of) for name, of in fields})
        case SetType(_, None):
            return Mask(lambda _: "0")
        case SetType(element, _) | BagType(element, _):
            return Slots(lambda _: ("0", empty(element)))
        case MapType(_, value):
            return Entries(lambda _: empty(value))
        case SeqType(element, _):
            return SequenceValue("0", lambda _: empty(element))
    return Number("0")


def pick(kind: Type, values: list[Value], index: str) -> Value:
    if not values:
        return empty(kind)
    if index.isdigit():
        return values[int(index)] if int(index) < len(values) else empty(kind)
    result = values[-1]
    for position in range(len(values) - 2, -1, -1):
        result = choose(kind, same(index, str(position)), values[position], result)
    return result


def choose(kind: Type, condition: str, a: Value, b: Value) -> Value:
    """``a`` or ``b``; only the chosen one is evaluated."""
    if condition in ("0", "1"):
        return a if condition == "1" else b
    match a, b:
        case Number(text=x), Number(text=y):
            return Number(x if x == y else f"({condition} -> {x} : {y})")
        case OptionalValue(), OptionalValue() if isinstance(kind, OptionalType):
            there = choose(BoolType(), condition, Number(a.is_present), Number(b.is_present))
            assert isinstance(there, Number)
            return OptionalValue(there.text, choose(kind.inner, condition, a.value, b.value))
        case FieldCells(fields=x_fields), FieldCells(fields=y_fields) if isinstance(kind, RecordType):
            return FieldCells({name: choose(of, condition, x_fields[name], y_fields[name]) for name, of in kind.fields})
        case Mask(at=x_at), Mask(at=y_at):
            return Mask(lambda index: choice(condition, x_at(index), y_at(index)))
        case Slots(at=x_slot), Slots(at=y_slot) if isinstance(kind, SetType | BagType):
            of = kind.element

            def slot(index: str) -> tuple[str, Value]:
                (used, one), (other_used, other) = x_slot(index), y_slot(index)
                return choice(condition, used, other_used), choose(of, condition, one, other)

            return Slots(slot)
        case Entries(at=x_entry), Entries(at=y_entry) if isinstance(kind, MapType):
            value = kind.value
            return Entries(lambda index: choose(value, condition, x_entry(index), y_entry(index)))
        case SequenceValue(), SequenceValue() if isinstance(kind, SeqType):
            element, left, right = kind.element, a, b
            length = choice(condition, a.length, b.length)
            return SequenceValue(length, lambda index: choose(element, condition, left.at(index), right.at(index)))
    return a


def choice(condition: str, a: str, b: str) -> str:
    """One of two texts, chosen by a condition."""
    if condition in ("0", "1"):
        return a if condition == "1" else b
    return a if a == b else f"({condition} -> {a} : {b})"


def code(kind: Type, value: Value) -> str:
    """The index of a value among all those of its type."""
    match kind, value:
        case (NoneType() | NothingType()), _:
            return "0"
        case IntType(low, _), Number(text):
            return text if low == 0 else f"({text} - {number(low)})"
        case OptionalType(inner), OptionalValue(there, held):
            return f"({there} -> 1 + {code(inner, held)} : 0)"
        case UnionType(), FieldCells(parts):
            return _code_of_union(kind, parts)
        case RecordType(_, fields), FieldCells(parts):
            result = "0"
            for name, of in fields:
                result = plus(times(result, of.size), code(of, parts[name]))
            return f"({result})" if len(fields) > 1 else result
        case SetType(element, None), Mask(at):
            return _digits([at(str(index)) for index in range(element.size)], 2)
        case MapType(key, of), Entries(entry):
            return _digits([code(of, entry(str(index))) for index in range(key.size)], of.size)
        case _, Number(text):
            return text
    raise refuse(f"a number for each value of {kind}")


def _digits(digits: list[str], base: int) -> str:
    parts = [times(digit, base**position) for position, digit in enumerate(digits)]
    return f"({' + '.join(parts)})" if parts else "0"


def _code_of_union(kind: UnionType, parts: dict[str, Value]) -> str:
    """The index of a record: after those of the classes before its own."""
    tag, texts, before = parts[TAG], [], 0
    assert isinstance(tag, Number)
    for member in kind.members:
        held = {name: _held(kind.field(name), of, parts[name]) for name, of in member.fields}
        texts.append(plus(code(member, FieldCells(held)), str(before)))
        before += member.size
    result = texts[-1]
    for number in range(len(texts) - 2, -1, -1):
        result = f"({same(tag.text, str(number))} -> {texts[number]} : {result})"
    return result


def _held(source: Type, kind: Type, value: Value) -> Value:
    """A field of a union as the field of a class that has it."""
    return value.value if isinstance(value, OptionalValue) and source != kind else value


def _decoded_union(kind: UnionType, index: str) -> Value:
    """The record with this index: one of the first class whose values do not all come before it."""
    rows, ends, before = [], [], 0
    for number, member in enumerate(kind.members):
        own = decoded(member, f"({index} - {before})" if before else index)
        assert isinstance(own, FieldCells)
        found: dict[str, Value] = {TAG: Number(str(number))}
        for name, of in kind.fields[1:]:
            value = own.fields.get(name)
            if value is None:
                found[name] = empty(of)
            else:
                found[name] = value if member.field(name) == of else OptionalValue("1", value)
        before += member.size
        rows.append(FieldCells(found))
        ends.append(before)
    result: Value = rows[-1]
    for row, end in zip(rows[-2::-1], ends[-2::-1], strict=True):
        result = choose(kind, f"({index} < {end})", row, result)
    return result


def decoded(kind: Type, index: str) -> Value:
    """The value with this index among all those of its type."""
    if isinstance(kind, NoneType | NothingType):
        return NoValue()
    if index.isdigit():
        return literal(kind, members(kind)[int(index)])
    match kind:
        case IntType(low, _):
            return Number(index if low == 0 else f"({index} + {number(low)})")
        case OptionalType(inner):
            return OptionalValue(f"({index} > 0)", decoded(inner, f"({index} - 1)"))
        case UnionType():
            return _decoded_union(kind, index)
        case RecordType(_, fields):
            found, stride = {}, 1
            for name, of in reversed(fields):
                found[name] = decoded(of, _digit(index, stride, of.size))
                stride *= of.size
            return FieldCells(found)
        case SetType(_, None):
            return Mask(lambda position: f"(({index} >> {position}) & 1)")
        case MapType(_, of):
            return Entries(lambda position: decoded(of, _digit(index, of.size ** _constant(position), of.size)))
        case SetType() | BagType() | SeqType():
            raise refuse(f"a choice among all values of {kind}")
    return Number(index)


def _constant(position: str) -> int:
    if not position.isdigit():
        raise refuse("a loop over maps")
    return int(position)


def _digit(index: str, stride: int, base: int) -> str:
    return f"(({index} / {stride}) % {base})" if stride > 1 else f"({index} % {base})"


# Combining text.


def number(value: int) -> str:
    return str(value) if value >= 0 else f"(-{-value})"


def plus(a: str, b: str) -> str:
    if a == "0" or b == "0":
        return b if a == "0" else a
    return str(int(a) + int(b)) if a.isdigit() and b.isdigit() else f"{a} + {b}"


def times(a: str, factor: int) -> str:
    if factor == 1:
        return a
    if a.isdigit() or factor == 0:
        return str(int(a) * factor) if factor else "0"
    return f"({a}) * {factor}" if not a.isidentifier() else f"{a} * {factor}"


def same(a: str, b: str) -> str:
    if a == b:
        return "1"
    return "0" if a.isdigit() and b.isdigit() else f"({a} == {b})"


def both(parts: Any) -> str:
    return _chain(parts, "1", "0", " && ")


def either(parts: Any) -> str:
    return _chain(parts, "0", "1", " || ")


def _chain(parts: Any, neutral: str, decisive: str, operator: str) -> str:
    needed = [part for part in parts if part != neutral]
    if decisive in needed:
        return decisive
    if not needed:
        return neutral
    return needed[0] if len(needed) == 1 else f"({operator.join(needed)})"


def no(text: str) -> str:
    return {"0": "1", "1": "0"}.get(text, f"!({text})")


def stride(index: str, step: int) -> str:
    """The cell where an entry begins, if each has ``step`` cells."""
    if index.isdigit():
        return str(int(index) * step)
    return index if step == 1 else f"{index} * {step}"
