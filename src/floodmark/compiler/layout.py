"""The packed layout of a state: the bits of 64-bit words that hold each variable.

A value is numbered by its type's code: an integer by its distance from the lower bound, None as 0, a record by its
fields from the most significant down, a set as a bit mask (or as descending slots, each its element's code plus one), a
map by its keys from the least significant entry up, a sequence by its length and then its elements upwards. Equal
values have equal codes, so states are compared as words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from floodmark.language.errors import ModelError
from floodmark.language.model import State
from floodmark.language.types import (
    WORD,
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
from floodmark.language.universe import universe
from floodmark.language.values import Bag, Map, Seq, Set

_MASK = (1 << WORD) - 1


@dataclass(frozen=True, slots=True)
class Slot:
    """The position of a variable: from bit ``offset`` of word ``word``; a wide one continues in the next words."""

    word: int
    offset: int
    bits: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The packed layout of a model's states."""

    variables: dict[str, Type]
    slots: dict[str, Slot]
    words: int
    bits: int

    def pack(self, state: State) -> tuple[int, ...]:
        """The words that encode a state."""
        words = [0] * self.words
        for (name, kind), value in zip(self.variables.items(), state, strict=True):
            slot = self.slots[name]
            code = encode(kind, value) << slot.offset
            for index in range(slot.word, self.words):
                words[index] |= code & _MASK
                code >>= WORD
        return tuple(words)

    def unpack(self, words: Iterable[int]) -> State:
        """The state that words encode."""
        packed = joined(words)
        return tuple(self._value(name, packed) for name in self.variables)

    def value(self, variable: str, words: Iterable[int]) -> Any:
        """The value of one variable in the state that words encode."""
        return self._value(variable, joined(words))

    def _value(self, variable: str, packed: int) -> Any:
        slot = self.slots[variable]
        code = packed >> (slot.word * WORD + slot.offset) & ((1 << slot.bits) - 1)
        return decode(self.variables[variable], code)


def joined(words: Iterable[int]) -> int:
    """Words as one number, the first one the least significant."""
    packed = 0
    for index, word in enumerate(words):
        packed |= int(word) << (index * WORD)
    return packed


def lay_out(variables: Mapping[str, Type], behind: Mapping[str, Type] | None = None) -> Layout:
    """Packs variables into as few words as first fit finds; only one wider than a word crosses words.

    The variables ``behind`` begin with a word of their own: the words before it are those of a layout without them.
    """
    if behind:
        first, then = lay_out(variables), lay_out(behind)
        moved = {name: replace(slot, word=first.words + slot.word) for name, slot in then.slots.items()}
        return Layout(
            {**first.variables, **then.variables}, {**first.slots, **moved}, first.words + then.words,
            first.bits + then.bits,
        )
    free: list[int] = []
    slots: dict[str, Slot] = {}
    for name, kind in sorted(variables.items(), key=lambda item: -item[1].bits):
        bits = kind.bits
        if bits > WORD:
            slots[name] = Slot(len(free), 0, bits)
            whole, rest = divmod(bits, WORD)
            free.extend([0] * whole + ([WORD - rest] if rest else []))
            continue
        word = next((index for index, room in enumerate(free) if room >= bits), None)
        if word is None:
            word = len(free)
            free.append(WORD)
        slots[name] = Slot(word, WORD - free[word], bits)
        free[word] -= bits
    words = max(1, len(free))
    return Layout(dict(variables), slots, words, sum(kind.bits for kind in variables.values()))


def encode(kind: Type, value: Any) -> int:
    """The code of a value."""
    match kind:
        case BoolType():
            return int(value)
        case IntType(low, _):
            return int(value) - low
        case EnumType(cls):
            return list(cls).index(value)
        case IdentifierType():
            return int(value.number) - 1
        case OptionalType(inner):
            return 0 if value is None else 1 + encode(inner, value)
        case RecordType(_, fields):
            code, parts = 0, kind.parts(value)
            for name, of in fields:
                code = code << of.bits | encode(of, parts[name])
            return code
        case SetType(element, None):
            mask = 0
            for item in value:
                mask |= 1 << encode(element, item)
            return mask
        case SetType(element, _) | BagType(element, _):
            return _slots(element, (encode(element, item) + 1 for item in value))
        case MapType(_, of):
            code = 0
            for position, item in enumerate(value.values()):
                code |= encode(of, item) << (position * of.bits)
            return code
        case SeqType(element, capacity):
            code = len(value)
            for position, item in enumerate(value):
                code |= encode(element, item) << (capacity.bit_length() + position * element.bits)
            return code
    raise ModelError(f"{kind} cannot be packed")


def _slots(element: Type, codes: Iterable[int]) -> int:
    width = element.codes.bit_length()
    packed = 0
    for position, code in enumerate(sorted(codes, reverse=True)):
        packed |= code << (position * width)
    return packed


def decode(kind: Type, code: int) -> Any:
    """The value of a code."""
    match kind:
        case BoolType():
            return bool(code)
        case IntType(low, _):
            return low + code
        case EnumType(cls):
            return list(cls)[code]
        case IdentifierType(cls, _):
            return cls(code + 1)
        case OptionalType(inner):
            return None if code == 0 else decode(inner, code - 1)
        case RecordType(_, fields):
            values = {}
            for name, of in reversed(fields):
                values[name] = decode(of, code & ((1 << of.bits) - 1))
                code >>= of.bits
            return kind.made_of({name: values[name] for name, _ in fields})
        case SetType(element, None):
            return Set(decode(element, position) for position in range(element.codes) if code >> position & 1)
        case SetType(element, capacity):
            assert capacity is not None
            return Set(_from_slots(element, capacity, code))
        case BagType(element, capacity):
            return Bag(_from_slots(element, capacity, code))
        case MapType(key, of):
            mask = (1 << of.bits) - 1
            return Map({k: decode(of, code >> (position * of.bits) & mask) for position, k in enumerate(universe(key))})
        case SeqType(element, capacity):
            start = capacity.bit_length()
            length, mask = code & ((1 << start) - 1), (1 << element.bits) - 1
            return Seq(decode(element, code >> (start + i * element.bits) & mask) for i in range(length))
    raise ModelError(f"{kind} cannot be unpacked")


def _from_slots(element: Type, capacity: int, code: int) -> list[Any]:
    width = element.codes.bit_length()
    codes = [code >> (position * width) & ((1 << width) - 1) for position in range(capacity)]
    return [decode(element, slot - 1) for slot in codes if slot]


DIGEST_SEEDS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
DIGEST_MULTIPLIERS = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)


def fingerprint(words: Iterable[int], seed: int) -> int:
    """A 64-bit fingerprint of one packed state, for the digest of a set of states."""
    h = seed
    for word in words:
        h = (h ^ word) * DIGEST_MULTIPLIERS[0] & _MASK
        h ^= h >> 32
        h = h * DIGEST_MULTIPLIERS[1] & _MASK
        h ^= h >> 29
    return h


def digest_text(first: int, second: int) -> str:
    """A digest as it is printed: the sums, modulo 2**64, of all states' fingerprints under the two seeds."""
    return f"{first & _MASK:016x}{second & _MASK:016x}"


def digest(states: Iterable[tuple[int, ...]]) -> str:
    """The order-independent digest of a set of packed states: 32 hexadecimal digits, the same for every engine."""
    sums = [0, 0]
    for words in states:
        for index, seed in enumerate(DIGEST_SEEDS):
            sums[index] += fingerprint(words, seed)
    return digest_text(*sums)
