"""Renames several states side by side, each by a renaming of its own.

No lane takes a branch that another one does not. So a type is renamed here only if what its values contain is at places
that are known (``is_straight``): entries of maps, the bits of a set of identifiers, and few slots. The members of other
sets are renamed one after the other, in all lanes until none has any left.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import reduce

from floodmark.checkers.codegen.bits import I64, Value, const, cut, masked, register, resize, shifted_left
from floodmark.checkers.codegen.lanes import VECTOR, LaneBuilder
from floodmark.checkers.codegen.routine import Routine
from floodmark.checkers.codegen.state_words import code_in
from floodmark.compiler.layout import Layout, Slot
from floodmark.compiler.renaming import is_renamed
from floodmark.language.types import (
    WORD,
    BagType,
    IdentifierType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)
from floodmark.language.universe import universe
from floodmark.language.values import Identifier

MAX_SLOTS = 8
"""The capacity up to which slots are renamed and sorted, and sequences are renamed."""
_MAX_ENTRIES = 16
NIBBLE = 4
"""The bits of an identifier's new number."""


def is_straight(kind: Type, kinds: Sequence[IdentifierType]) -> bool:
    """Whether values of a type are renamed here, where identifiers of some kinds are renamed."""
    if not is_renamed(kind, {each.cls for each in kinds}):
        return True
    match kind:
        case IdentifierType():
            return kind in kinds
        case OptionalType(inner):
            return kind.bits <= WORD and is_straight(inner, kinds)
        case RecordType(_, fields):
            return all(is_straight(of, kinds) for _, of in fields)
        case SetType(element, None):
            return kind.bits <= WORD and is_straight(element, kinds)
        case SetType(element, capacity) | BagType(element, capacity):
            fits = capacity is not None and capacity <= MAX_SLOTS and element.codes.bit_length() <= WORD
            return fits and is_straight(element, kinds)
        case MapType(key, value):
            if is_renamed(key, {each.cls for each in kinds}):
                return key in kinds and is_straight(value, kinds)
            return key.codes <= _MAX_ENTRIES and is_straight(value, kinds)
        case SeqType(element, capacity):
            return capacity <= MAX_SLOTS and is_straight(element, kinds)
    return False


class LaneRenaming:
    """Emits the renaming of states, one in each lane. ``images`` has, for each kind of identifiers, their new numbers,
    a nibble each."""

    def __init__(self, builder: LaneBuilder, routine: Routine, images: Mapping[IdentifierType, Value]) -> None:
        self._builder = builder
        self._routine = routine
        self._images = images
        self._classes: Container[type[Identifier]] = {kind.cls for kind in images}
        self._places = {
            kind: [cut(builder, numbers, NIBBLE * number, NIBBLE) for number in range(kind.count)]
            for kind, numbers in images.items()
        }
        self._goes_to: dict[IdentifierType, list[list[Value]]] = {}

    def state(self, layout: Layout, words: Sequence[Value]) -> list[Value]:
        """The words of the renamed states."""
        renamed = {name: kind for name, kind in layout.variables.items() if is_renamed(kind, self._classes)}
        found: list[Value] = []
        for index, word in enumerate(words):
            moving = reduce(int.__or__, (_bits(layout.slots[name], index) for name in renamed), 0)
            found.append(self._builder.and_(word, const(~moving)) if moving else word)
        for name, kind in renamed.items():
            slot = layout.slots[name]
            image = self.renamed(kind, code_in(self._builder, slot, words.__getitem__))
            for more, part in enumerate(self._builder.words(image)):
                moved = shifted_left(self._builder, part, slot.offset)
                if slot.word + more < len(found):
                    found[slot.word + more] = self._builder.or_(found[slot.word + more], moved)
        return found

    def renamed(self, kind: Type, code: Value) -> Value:
        """The codes of values after the renaming."""
        if not is_renamed(kind, self._classes):
            return code
        builder = self._builder
        match kind:
            case IdentifierType():
                place = builder.mul(code, const(NIBBLE))
                return cut(builder, self._images[kind], masked(builder, place, WORD.bit_length() - 1), NIBBLE)
            case OptionalType(inner):
                return self._or_nothing(inner, code)
            case RecordType(_, fields):
                offset = sum(of.bits for _, of in fields)
                result: Value = const(0, code.type)
                for _, of in fields:
                    offset -= of.bits
                    part = self.renamed(of, cut(builder, code, offset, of.bits))
                    result = self._with(result, offset, part)
                return result
            case SetType(IdentifierType() as element, None):
                result = const(0)
                for number, place in enumerate(self._places[element]):
                    result = builder.or_(result, builder.shl(cut(builder, code, number, 1), place))
                return result
            case SetType(element, None):
                return self._members(element, code)
            case SetType(element, int() as capacity) | BagType(element, int() as capacity):
                return self._slots(element, capacity, code)
            case MapType(key, value):
                return self._map(key, value, code)
            case SeqType(element, capacity):
                return self._sequence(element, capacity, code)
        raise AssertionError(kind)

    def _with(self, code: Value, offset: int, part: Value) -> Value:
        """A code with a part where all bits are still zero."""
        builder = self._builder
        return builder.or_(code, shifted_left(builder, resize(builder, part, code.type), offset))

    def _or_nothing(self, kind: Type, code: Value) -> Value:
        """0 is nothing, and stays; other codes are those of a value plus one."""
        builder = self._builder
        part = masked(builder, builder.sub(code, const(1)), kind.bits)
        image = builder.add(self.renamed(kind, part), const(1))
        return builder.select(builder.icmp_unsigned("!=", code, const(0)), image, const(0))

    def _members(self, element: Type, code: Value) -> Value:
        """The images of a set's members."""
        builder = self._builder
        left, found = (self._routine.room(VECTOR, name) for name in ("members", "images"))
        builder.store_all(code, left)
        builder.store_all(const(0), found)
        head, body, leave = (self._routine.block(name) for name in ("members", "member", "left"))
        builder.branch(head)
        builder.position_at_end(head)
        rest = builder.load_all(left)
        builder.cbranch(builder.any_but_zero(rest), body, leave)
        builder.position_at_end(body)
        lowest = builder.and_(rest, builder.sub(const(0), rest))
        position = masked(builder, builder.ctpop(builder.sub(lowest, const(1))), WORD.bit_length() - 1)
        image = masked(builder, self.renamed(element, masked(builder, position, element.bits)), WORD.bit_length() - 1)
        bit = builder.shl(const(1), image)
        some = builder.select(builder.icmp_unsigned("!=", rest, const(0)), bit, const(0))
        builder.store_all(builder.or_(builder.load_all(found), some), found)
        builder.store_all(builder.xor(rest, lowest), left)
        builder.branch(head)
        builder.position_at_end(leave)
        return builder.load_all(found)

    def _slots(self, element: Type, capacity: int, code: Value) -> Value:
        """Renamed slots in descending order."""
        builder, width = self._builder, element.codes.bit_length()
        kept: list[Value] = []
        for index in range(capacity):
            moving = self._or_nothing(element, cut(builder, code, index * width, width))
            for place, slot in enumerate(kept):
                larger = builder.icmp_unsigned(">", moving, slot)
                kept[place] = builder.select(larger, moving, slot)
                moving = builder.select(larger, slot, moving)
            kept.append(moving)
        result: Value = const(0, code.type)
        for place, slot in enumerate(kept):
            result = self._with(result, place * width, slot)
        return result

    def _sequence(self, element: Type, capacity: int, code: Value) -> Value:
        """Behind the last element, all bits stay zero."""
        builder, offset = self._builder, capacity.bit_length()
        length = cut(builder, code, 0, offset)
        result = resize(builder, length, code.type)
        for index in range(capacity):
            image = self.renamed(element, cut(builder, code, offset, element.bits))
            is_there = builder.icmp_unsigned(">", length, const(index))
            result = self._with(result, offset, builder.select(is_there, image, const(0, image.type)))
            offset += element.bits
        return result

    def _map(self, key: Type, value: Type, code: Value) -> Value:
        builder, width = self._builder, value.bits
        count = key.count if isinstance(key, IdentifierType) else len(list(universe(key)))
        images = [self.renamed(value, cut(builder, code, rank * width, width)) for rank in range(count)]
        result: Value = const(0, code.type)
        if not isinstance(key, IdentifierType) or key not in self._places:
            for rank, image in enumerate(images):
                result = self._with(result, rank * width, image)
        elif code.type is I64:
            for place, image in zip(self._places[key], images, strict=True):
                result = builder.or_(result, builder.shl(image, builder.mul(place, const(width))))
        else:
            for rank, arrives in enumerate(self._arrivals(key)):
                chosen: Value = const(0, register(width))
                for comes, image in zip(arrives, images, strict=True):
                    chosen = builder.select(comes, image, chosen)
                result = self._with(result, rank * width, chosen)
        return result

    def _arrivals(self, kind: IdentifierType) -> list[list[Value]]:
        """For each new number of an identifier, which one it is that has it."""
        if kind not in self._goes_to:
            self._goes_to[kind] = [
                [self._builder.icmp_unsigned("==", place, const(rank)) for place in self._places[kind]]
                for rank in range(kind.count)
            ]
        return self._goes_to[kind]


def _bits(slot: Slot, word: int) -> int:
    """The bits of a variable in a word of a state."""
    bits = ((1 << slot.bits) - 1) << slot.offset >> WORD * (word - slot.word) if word >= slot.word else 0
    return bits & ((1 << WORD) - 1)
