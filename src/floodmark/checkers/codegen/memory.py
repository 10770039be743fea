"""The cache in which code keeps results of evaluations, in words behind the counters of its context.

A call that may be remembered (``Inline``) has a number of entries there, each for a key and a result. A hash of the key
selects the entry, and the key is stored whole: a later key replaces an earlier one with the same hash. A hit is
therefore always the result for this very key. An empty entry is all zeros, and a used one is not: it has a bit that is
in no key, or else a word for itself.

For a state, a key has the bits that the call reads (``footprint``), packed into as few words as these bits fit into:
each bit has a position of its own, so different keys are stored as different words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, Value, const
from floodmark.checkers.codegen.footprint import footprint
from floodmark.compiler.identity_key import MAX_KEYS, IdentityKey
from floodmark.compiler.ir import Inline, Predicate, walk
from floodmark.compiler.layout import Layout
from floodmark.language.types import WORD, Type

_STEPS = 1 << 18
_IMAGES = 1 << 17
_PAIRS = 1 << 18
"""Bytes for steps, mapped states, and pairs of these: what the caches of a processor hold beside the rest of a search.
"""
_MULTIPLIER = 0x9E3779B97F4A7C15


def words_of(kind: Type) -> int:
    """The words that a code of a type takes."""
    return max(1, -(-kind.bits // WORD))


@dataclass(frozen=True, slots=True)
class _Room:
    """The places of a call."""

    first: int
    """The word of the context, counted from where the memory begins."""
    places: int
    turns: tuple[tuple[int, int], ...]
    masks: tuple[int, ...]
    """The layout of a key (``packed``)."""
    found: int
    """The words of what is found: it is nothing but true, or the result of a call of one state."""

    @property
    def spare(self) -> tuple[int, int] | None:
        """A bit that no key has: which word it is in, and the word in which nothing else is set."""
        for index, mask in enumerate(self.masks):
            if free := ~mask & ((1 << WORD) - 1):
                return index, free & -free
        return None

    @property
    def words(self) -> int:
        """The words of one place."""
        return len(self.masks) + (self.spare is None) + self.found

    @property
    def size(self) -> int:
        return self.places * self.words


def memory_of(predicate: Predicate, layout: Layout) -> int:
    """The words in which the code of a predicate remembers what it has evaluated."""
    return max((room.first + room.size for room in _rooms(predicate, layout).values()), default=0)


def _rooms(predicate: Predicate, layout: Layout) -> Mapping[int, _Room]:
    """The rooms of calls, by their identities. The images of the two states share one: what was found of a state when
    a step led to it is found again when it is left."""
    return _rooms_of(IdentityKey(predicate), IdentityKey(layout))


@lru_cache(maxsize=MAX_KEYS)
def _rooms_of(whole: IdentityKey, packing: IdentityKey) -> Mapping[int, _Room]:
    """``_rooms``, for which the graph of a predicate is walked once for each of its layouts."""
    predicate, layout = whole.it, packing.it
    found: dict[int, _Room] = {}
    first = 0
    for call in walk(predicate.value):
        if not isinstance(call, Inline) or id(call) in found or not (call.remembered or call.of_state or call.images):
            continue
        found[id(call)] = room = _room(call, layout, first)
        first += room.size
        if call.images:
            one, other = call.images
            found[id(one)] = found[id(other)] = shared = _room(one, layout, first)
            assert shared == _room(other, layout, first)
            first += shared.size
    return found


def _room(call: Inline, layout: Layout, first: int) -> _Room:
    turns, masks = packed(_key_bits(call, layout))
    found = 0 if call.of_state is None or call.result is None else words_of(call.result.type)
    one = _Room(first, 1, turns, masks, found)
    size = _STEPS if call.images else _IMAGES if call.of_state else _PAIRS
    most = max(1, size // (WORD // 8 * one.words))
    return _Room(first, 1 << (most.bit_length() - 1), turns, masks, found)


def _key_bits(call: Inline, layout: Layout) -> list[int]:
    """For each word of a key of a call, the bits that a key may have."""
    if call.images:
        return [mask for image in call.images for mask in _key_bits(image, layout)]
    if call.of_state is not None:
        return [mask for mask in footprint(call, call.of_state, layout) if mask]
    return [
        (1 << min(max(local.type.bits - WORD * index, 0), WORD)) - 1
        for local in call.remembered
        for index in range(words_of(local.type))
    ]


def packed(masks: Sequence[int]) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """Packs words of which only some bits are used into fewer words, each bit at a position of its own.

    Returns, for each word, its target word and the number of bits by which it is rotated; and for each target word, the
    bits that are used there.
    """
    kept: list[int] = []
    found = []
    for mask in masks:
        ways = ((place, by) for place in range(len(kept)) for by in range(WORD))
        place, by = next((it for it in ways if not kept[it[0]] & _turned(mask, it[1])), (len(kept), 0))
        if place == len(kept):
            kept.append(0)
        kept[place] |= _turned(mask, by)
        found.append((place, by))
    return tuple(found), tuple(kept)


def _turned(word: int, by: int) -> int:
    return (word << by | word >> (WORD - by)) & ((1 << WORD) - 1)


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """The place of a key."""

    known: Value
    """Whether the key is there."""
    found: list[Value]
    """Pointers to the words that were found."""
    _key: list[Value]
    _places: list[Value]

    def keep(self, builder: ir.IRBuilder, found: list[Value]) -> None:
        """Stores the result for the key."""
        for word, place in zip([*self._key, *found], self._places, strict=True):
            builder.store(word, place)


class Memory:
    """The memory of one predicate; ``first`` is the place in the context where it begins."""

    def __init__(self, predicate: Predicate, layout: Layout, first: int) -> None:
        self._rooms = _rooms(predicate, layout)
        self._first = first

    def look(self, builder: ir.IRBuilder, context: Value, call: Inline, key: list[Value]) -> MemoryEntry:
        """Looks a key of a call up."""
        room = self._rooms[id(call)]
        kept: list[Value] = [const(0) for _ in room.masks]
        for word, (place, by) in zip(key, room.turns, strict=True):
            turned = builder.or_(builder.shl(word, const(by)), builder.lshr(word, const(WORD - by))) if by else word
            kept[place] = builder.or_(kept[place], turned)
        at = builder.mul(_hash(builder, kept, room.places), const(room.words))
        first = builder.add(at, const(self._first + room.first))
        pointers = [builder.gep(context, [builder.add(first, const(index))]) for index in range(room.words)]
        if room.spare is None:
            kept.append(const(1))
        else:
            place, bit = room.spare
            kept[place] = builder.or_(kept[place], const(bit))
        known: Value = const(1, I1)
        for word, pointer in zip(kept, pointers, strict=False):
            known = builder.and_(known, builder.icmp_unsigned("==", builder.load(pointer), word))
        return MemoryEntry(known, pointers[len(kept) :], kept, pointers)


def _hash(builder: ir.IRBuilder, key: Sequence[Value], places: int) -> Value:
    """A number below ``places``. Each word has its own multiplier, so no product waits for another."""
    if places == 1:
        return const(0)
    mixed: Value = const(0)
    for index, word in enumerate(key):
        mixed = builder.add(mixed, builder.mul(word, const(_MULTIPLIER ** (2 * index + 1))))
    return builder.lshr(mixed, const(WORD - (places - 1).bit_length()))
