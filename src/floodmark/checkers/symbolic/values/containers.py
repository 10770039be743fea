"""The elements of a set, a bag, a map or a sequence, before and after a change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from floodmark.checkers.symbolic.terms.booleans import Truth, conj, disj, either, negation
from floodmark.checkers.symbolic.values import unordered_slots
from floodmark.checkers.symbolic.values.comparison import Comparison, Conditionals
from floodmark.checkers.symbolic.values.components import Components, Relation
from floodmark.checkers.symbolic.values.translation import Translation
from floodmark.checkers.symbolic.values.types import Types, UnsupportedError, Value
from floodmark.compiler.ir import NothingType
from floodmark.language.types import (
    BagType,
    MapType,
    OpenIdentifierType,
    OpenIntType,
    SeqType,
    SetType,
    Type,
    has_any_size,
)


@dataclass(frozen=True, slots=True)
class Containers:
    """Reads and changes containers."""

    types: Types
    components: Components
    comparison: Comparison
    conditionals: Conditionals
    translation: Translation

    def elements(self, kind: Type, value: Value) -> list[tuple[Truth, Value]]:
        """The elements that an iteration may visit, in its order, each with whether it does."""
        match kind:
            case SetType(NothingType(), _):
                return []
            case SetType(element, None) if not isinstance(value, Relation):
                pairs = zip(value, self.translation.lifted(element), strict=True)
                return [(there, item) for there, item in pairs if there is not False]
            case SetType(_, int()) | BagType() if not isinstance(value, Relation):
                return [(there, item) for there, item in reversed(value) if there is not False]
            case SeqType() if not isinstance(value, Relation):
                length, items = value
                found = [(self.types.numbers.less(index, length), item) for index, item in enumerate(items)]
                return [(there, item) for there, item in found if there is not False]
        raise UnsupportedError("a set of any size has no elements that can be counted or iterated in order here")

    def contains(self, kind: Type, value: Value, item: Value) -> Truth:
        """Whether a container has an element of its own element type."""
        assert isinstance(kind, SetType | BagType | SeqType)
        if isinstance(value, Relation):
            return value.holds(item)
        if isinstance(kind.element, NothingType):
            return False
        equal = self.comparison.equal
        return disj(conj((there, equal(kind.element, held, item))) for there, held in self.elements(kind, value))

    def with_element(self, kind: SetType, value: Value, item: Value) -> tuple[Truth, Value]:
        """A set with one more element, and whether there is room."""
        equal = self.comparison.equal
        if isinstance(value, Relation):
            return True, Relation(lambda it: disj((value.holds(it), equal(kind.element, it, item))), None)
        if kind.capacity is None:
            pairs = zip(value, self.translation.lifted(kind.element), strict=True)
            return True, tuple(disj((there, equal(kind.element, known, item))) for there, known in pairs)
        if self.types.is_unordered(kind):
            absent = negation(self.contains(kind, value, item))
            return unordered_slots.placed(value, absent, item, partial(self.conditionals.either, kind.element))
        return self.insert(kind.element, value, item, once=True)

    def resized(self, source: SetType, target: SetType, value: Value) -> tuple[Truth, Value]:
        """A set without an order in the slots of another capacity, and whether it fits."""
        assert target.capacity is not None
        empty, either = self.components.default(target.element), partial(self.conditionals.either, source.element)
        return unordered_slots.within(value, target.capacity, empty, either)

    def insert(self, element: Type, slots: Value, item: Value, once: bool) -> tuple[Truth, Value]:
        """Descending slots with one more element, and whether there is room; ``once`` for a set."""
        carried: tuple[Truth, Value] = (True, item)
        result = []
        for used, held in slots:
            moving, moved = carried
            same = conj((moving, used, self.comparison.equal(element, moved, held))) if once else False
            first = conj((moving, disj((negation(used), self.comparison.less(element, held, moved)))))
            placed = self.conditionals.either(element, first, moved, held)
            result.append((disj((used, first)), placed))
            onward = either(first, used, conj((moving, negation(same))))
            pushed = self.conditionals.either(element, first, held, moved)
            carried = (onward, self.conditionals.either(element, onward, pushed, self.components.default(element)))
        return negation(carried[0]), tuple(result)

    def without(self, element: Type, slots: Value, item: Value) -> tuple[Truth, Value]:
        """Slots with one occurrence of an element removed, and whether there was one."""
        if has_any_size(element):
            here = [conj((used, self.comparison.equal(element, held, item))) for used, held in slots]
            kept = ((conj((used, negation(it))), held) for it, (used, held) in zip(here, slots, strict=True))
            return disj(here), tuple(kept)
        gone: Truth = False
        result = []
        following = (*slots[1:], (False, self.components.default(element)))
        for (used, held), (next_used, next_held) in zip(slots, following, strict=True):
            gone = disj((gone, conj((used, self.comparison.equal(element, held, item)))))
            result.append((either(gone, next_used, used), self.conditionals.either(element, gone, next_held, held)))
        return gone, tuple(result)

    def positions(self, kind: Type, key: Value) -> list[Truth]:
        """The condition, for each value of a finite type, that ``key`` is that value."""
        return [self.comparison.equal(kind, key, known) for known in self.translation.lifted(kind)]

    def selected(self, kind: Type, entries: tuple[Value, ...], which: list[Truth]) -> Value:
        """The entry whose condition is true; any entry when none is."""
        for entry, here in zip(entries, which, strict=True):
            if here is True:
                return entry
        candidates = [(entry, here) for entry, here in zip(entries, which, strict=True) if here is not False]
        if not candidates:
            return entries[0]
        result = candidates[-1][0]
        for entry, here in reversed(candidates[:-1]):
            result = self.conditionals.either(kind, here, entry, result)
        return result

    def size(self, kind: Type, value: Value) -> Any:
        match kind:
            case MapType(OpenIdentifierType() as identifiers, _):
                return self.types.individuals(identifiers).limit
            case MapType(OpenIntType() as key, _):
                least, most = self.types.range(key)
                return self.types.numbers.plus(self.types.numbers.minus(most, least), 1)
            case SetType(OpenIdentifierType() as identifiers, _) if isinstance(value, Relation):
                return self.types.individuals(identifiers).size(self.components.whole(identifiers, value))
            case MapType(key, _):
                return len(self.types.members(key))
            case SeqType(OpenIdentifierType() as identifiers, _) if isinstance(value, Relation) and not value.repeats:
                return self.types.individuals(identifiers).size(self.components.whole(identifiers, value))
            case SeqType() if isinstance(value, Relation):
                raise UnsupportedError("how often something occurs in a list of any length cannot be counted here")
            case SeqType():
                return value[0]
        return self.types.numbers.count(there for there, _ in self.elements(kind, value))
