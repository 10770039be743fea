"""The elements of a set, a bag, a map or a sequence, before and after a change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floodmark.checkers.symbolic.terms.booleans import Truth, conj, disj, either, negation
from floodmark.checkers.symbolic.values import unordered_slots
from floodmark.checkers.symbolic.values.components import Relation
from floodmark.checkers.symbolic.values.translation import Translation
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
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


class ContainerTerms(Translation):
    """Reads and changes containers."""

    def elements(self, kind: Type, value: Value) -> list[tuple[Truth, Value]]:
        """The elements that an iteration may visit, in its order, each with whether it does."""
        match kind:
            case SetType(NothingType(), _):
                return []
            case SetType(element, None) if not isinstance(value, Relation):
                pairs = zip(value, self.lifted(element), strict=True)
                return [(there, item) for there, item in pairs if there is not False]
            case SetType(_, int()) | BagType() if not isinstance(value, Relation):
                return [(there, item) for there, item in reversed(value) if there is not False]
            case SeqType() if not isinstance(value, Relation):
                length, items = value
                found = [(self.numbers.less(index, length), item) for index, item in enumerate(items)]
                return [(there, item) for there, item in found if there is not False]
        raise UnsupportedError("a set of any size has no elements that can be counted or iterated in order here")

    def contains(self, kind: Type, value: Value, item: Value) -> Truth:
        """Whether a container has an element of its own element type."""
        assert isinstance(kind, SetType | BagType | SeqType)
        if isinstance(value, Relation):
            return value.holds(item)
        if isinstance(kind.element, NothingType):
            return False
        return disj(conj((there, self.equal(kind.element, held, item))) for there, held in self.elements(kind, value))

    def with_element(self, kind: SetType, value: Value, item: Value) -> tuple[Truth, Value]:
        """A set with one more element, and whether there is room."""
        if isinstance(value, Relation):
            old = value
            return True, Relation(lambda it: disj((old.holds(it), self.equal(kind.element, it, item))), None)
        if kind.capacity is None:
            lifted = self.lifted(kind.element)
            return True, tuple(
                disj((there, self.equal(kind.element, known, item))) for there, known in zip(value, lifted, strict=True)
            )
        if self.is_unordered(kind):
            absent = negation(self.contains(kind, value, item))
            return unordered_slots.placed(value, absent, item, self._chooser(kind))
        return self.insert(kind.element, value, item, once=True)

    def resized(self, source: SetType, target: SetType, value: Value) -> tuple[Truth, Value]:
        """A set without an order in the slots of another capacity, and whether it fits."""
        assert target.capacity is not None
        return unordered_slots.within(value, target.capacity, self.default(target.element), self._chooser(source))

    def _chooser(self, kind: SetType) -> Callable[[Truth, Value, Value], Value]:
        return lambda condition, then, otherwise: self.either(kind.element, condition, then, otherwise)

    def insert(self, element: Type, slots: Value, item: Value, once: bool) -> tuple[Truth, Value]:
        """Descending slots with one more element, and whether there is room; ``once`` for a set."""
        carried: tuple[Truth, Value] = (True, item)
        result = []
        for used, held in slots:
            moving, moved = carried
            same = conj((moving, used, self.equal(element, moved, held))) if once else False
            first = conj((moving, disj((negation(used), self.less(element, held, moved)))))
            placed = self.either(element, first, moved, held)
            result.append((disj((used, first)), placed))
            onward = either(first, used, conj((moving, negation(same))))
            pushed = self.either(element, first, held, moved)
            carried = (onward, self.either(element, onward, pushed, self.default(element)))
        return negation(carried[0]), tuple(result)

    def without(self, element: Type, slots: Value, item: Value) -> tuple[Truth, Value]:
        """Slots with one occurrence of an element removed, and whether there was one."""
        if has_any_size(element):
            here = [conj((used, self.equal(element, held, item))) for used, held in slots]
            kept = ((conj((used, negation(it))), held) for it, (used, held) in zip(here, slots, strict=True))
            return disj(here), tuple(kept)
        gone: Truth = False
        result = []
        following = (*slots[1:], (False, self.default(element)))
        for (used, held), (next_used, next_held) in zip(slots, following, strict=True):
            gone = disj((gone, conj((used, self.equal(element, held, item)))))
            result.append((either(gone, next_used, used), self.either(element, gone, next_held, held)))
        return gone, tuple(result)

    def size(self, kind: Type, value: Value) -> Any:
        match kind:
            case MapType(OpenIdentifierType() as identifiers, _):
                return self.individuals(identifiers).limit
            case MapType(OpenIntType() as key, _):
                least, most = self.range(key)
                return self.numbers.plus(self.numbers.minus(most, least), 1)
            case SetType(OpenIdentifierType() as identifiers, _) if isinstance(value, Relation):
                return self.individuals(identifiers).size(self.whole(identifiers, value))
            case MapType(key, _):
                return len(self.members(key))
            case SeqType(OpenIdentifierType() as identifiers, _) if isinstance(value, Relation) and not value.repeats:
                return self.individuals(identifiers).size(self.whole(identifiers, value))
            case SeqType() if isinstance(value, Relation):
                raise UnsupportedError("how often something occurs in a list of any length cannot be counted here")
            case SeqType():
                return value[0]
        return self.numbers.count(there for there, _ in self.elements(kind, value))
