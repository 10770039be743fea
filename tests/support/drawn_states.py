"""States drawn at random within the types of a model, some of whose values are those of known states.

No run need reach them: what an action or a property means is defined in every state of the types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from floodmark.language.model import Model, State
from floodmark.language.types import (
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
from floodmark.language.values import Bag, Map, Seq, Set

LONGEST = 3
"""The most elements that are drawn for a container."""


def drawn_states(model: Model, known: Sequence[State], chance: Random) -> Iterator[State]:
    """States without end, each of values of two known ones and of drawn ones."""
    kinds = list(model.variable_types.values())
    while True:
        one, other = chance.choice(known), chance.choice(known)
        yield tuple(_mixed(kind, a, b, chance) for kind, a, b in zip(kinds, one, other, strict=True))


def drawn(kind: Type, chance: Random) -> Any:
    """A value of a type."""
    match kind:
        case BoolType():
            return chance.random() < 0.5
        case IntType(low, high):
            return chance.randint(low, high)
        case EnumType(cls):
            return chance.choice(list(cls))
        case IdentifierType(cls, count):
            return cls(chance.randint(1, count))
        case OptionalType(inner):
            return None if chance.random() < 0.3 else drawn(inner, chance)
        case UnionType(members=classes):
            return drawn(chance.choice(classes), chance)
        case RecordType(cls, fields):
            return cls.build({name: drawn(of, chance) for name, of in fields})
        case MapType(key, of):
            return Map({each: drawn(of, chance) for each in universe(key)})
        case SetType(element, capacity):
            return Set(_some(element, capacity, chance))
        case SeqType(element, capacity):
            return Seq(_some(element, capacity, chance))
        case BagType(element, capacity):
            return Bag(_some(element, capacity, chance))
    raise TypeError(f"{kind} has no values to draw from")


def _some(element: Type, capacity: int | None, chance: Random) -> list[Any]:
    most = LONGEST if capacity is None else min(LONGEST, capacity)
    return [drawn(element, chance) for _ in range(chance.randint(0, most))]


def _mixed(kind: Type, one: Any, other: Any, chance: Random) -> Any:
    """A value that is mostly the first one, with parts of the other and drawn ones."""
    match kind:
        case MapType(_, of):
            return Map({key: _mixed(of, value, other[key], chance) for key, value in one.items()})
        case UnionType():
            pass
        case RecordType(cls, fields):
            values = ((name, _mixed(of, getattr(one, name), getattr(other, name), chance)) for name, of in fields)
            return cls.build(dict(values))
        case SetType(element, capacity) | BagType(element, capacity):
            every = [each for each in (*one, *other) if chance.random() < 0.7]
            every += _some(element, capacity, chance)
            chance.shuffle(every)
            made = Set if isinstance(kind, SetType) else Bag
            return made(every if capacity is None else every[:capacity])
    at = chance.random()
    return one if at < 0.6 else other if at < 0.8 else drawn(kind, chance)
