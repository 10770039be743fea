"""What code remembers of what it has evaluated, in words behind the counters of its context.

A call that may be remembered (``Inline``) has a number of places there, each for a key and what was found. A key is
kept whole, and decides the place by a hash: a later key takes the place of an earlier one with the same hash. So what
is found is what was evaluated, however many keys there are. An empty place is zeros, and something that is kept is not:
it has a bit that is in no key, or else a word for itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, Value, const
from floodmark.checkers.codegen.footprint import footprint
from floodmark.compiler.ir import Inline, Predicate, walk
from floodmark.compiler.layout import Layout
from floodmark.language.types import WORD, Type

_PAIRS = 8192
_IMAGES = 1024
"""Powers of two: as many as the caches of a processor hold beside the rest of a search."""
_MULTIPLIER = 0x9E3779B97F4A7C15


def words_of(kind: Type) -> int:
    """The words that a code of a type takes."""
    return max(1, -(-kind.bits // WORD))


def memory_of(predicate: Predicate, layout: Layout) -> int:
    """The words in which the code of a predicate remembers what it has evaluated."""
    calls = [part for part in walk(predicate.value) if isinstance(part, Inline)]
    return sum(_places(call) * _words(call, layout) for call in calls if call.remembered or call.of_state)


def _places(call: Inline) -> int:
    return _PAIRS if call.remembered else _IMAGES


def _words(call: Inline, layout: Layout) -> int:
    """The words of one place of a call: what is found is nothing but true, or the result."""
    masks = _key_bits(call, layout)
    found = 0 if call.of_state is None or call.result is None else words_of(call.result.type)
    return len(masks) + found + (_spare_bit(masks) is None)


def _key_bits(call: Inline, layout: Layout) -> list[int]:
    """For each word of a key of a call, the bits that a key may have."""
    if call.of_state is not None:
        return [mask for mask in footprint(call, call.of_state, layout) if mask]
    return [
        (1 << min(max(local.type.bits - WORD * index, 0), WORD)) - 1
        for local in call.remembered
        for index in range(words_of(local.type))
    ]


def _spare_bit(masks: list[int]) -> tuple[int, int] | None:
    """A bit that no key has: which word it is in, and the word in which nothing else is set."""
    for index, mask in enumerate(masks):
        if free := ~mask & ((1 << WORD) - 1):
            return index, free & -free
    return None


@dataclass(frozen=True, slots=True)
class Remembered:
    """The place of a key."""

    known: Value
    """Whether the key is there."""
    found: list[Value]
    """Pointers to the words that were found."""
    _key: list[Value]
    _places: list[Value]

    def keep(self, builder: ir.IRBuilder, found: list[Value]) -> None:
        """Remembers what was found for the key."""
        for word, place in zip([*self._key, *found], self._places, strict=True):
            builder.store(word, place)


class Memory:
    """The memory of one function; ``first`` is the place in the context where it begins."""

    def __init__(self, builder: ir.IRBuilder, layout: Layout, context: Value, first: int) -> None:
        self._builder = builder
        self._layout = layout
        self._context = context
        self._next = first
        self._firsts: dict[int, int] = {}

    def look(self, call: Inline, key: list[Value]) -> Remembered:
        """Looks a key of a call up."""
        builder, size, places = self._builder, _words(call, self._layout), _places(call)
        if id(call) not in self._firsts:
            self._firsts[id(call)] = self._next
            self._next += places * size
        first = builder.add(builder.mul(self._hash(key, places), const(size)), const(self._firsts[id(call)]))
        pointers = [builder.gep(self._context, [builder.add(first, const(index))]) for index in range(size)]
        spare = _spare_bit(_key_bits(call, self._layout))
        kept = [*key, const(1)] if spare is None else list(key)
        if spare is not None:
            kept[spare[0]] = builder.or_(kept[spare[0]], const(spare[1]))
        known: Value = const(1, I1)
        for word, pointer in zip(kept, pointers, strict=False):
            known = builder.and_(known, builder.icmp_unsigned("==", builder.load(pointer), word))
        return Remembered(known, pointers[len(kept) :], kept, pointers)

    def _hash(self, key: list[Value], places: int) -> Value:
        """A number below ``places``. Each word has its own multiplier, so no product waits for another."""
        builder = self._builder
        mixed: Value = const(0)
        for index, word in enumerate(key):
            mixed = builder.add(mixed, builder.mul(word, const(_MULTIPLIER ** (2 * index + 1))))
        return builder.lshr(mixed, const(64 - (places - 1).bit_length()))
