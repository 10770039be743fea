"""Renaming of identifiers, and the representative of an orbit.

States that differ only in the names of identifiers form an orbit. Its representative is the least of those states in
which identifiers are in the order of their signatures. A signature is a hash of a state's content about an identifier
without the names of others, so it is invariant under renaming; for equal signatures, both orders are tried. Most states
distinguish most identifiers, so few renamings are tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from floodmark.compiler.layout import Layout, encode
from floodmark.language.model import State
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
from floodmark.language.values import Bag, Identifier, Map, Record, Seq, Set

Renaming = dict[type[Identifier], tuple[int, ...]]
"""The number that identifier ``n`` of a class gets, at index ``n - 1``."""

SIGNATURE_MULTIPLIER = 0xFF51AFD7ED558CCD
_MASK = (1 << WORD) - 1


@dataclass(frozen=True, slots=True)
class SymmetryProof:
    """Renaming identifiers of these types preserves a model, as ``floodmark.checkers.symmetry.proof`` has shown.

    ``proved_by_z3`` are the places of the parts of the program whose syntax does not show it.
    """

    kinds: tuple[IdentifierType, ...]
    proved_by_z3: tuple[int, ...] = ()


def identifiers_in(kind: Type) -> list[IdentifierType]:
    """The identifier types within a type, in the order in which they occur."""
    match kind:
        case IdentifierType():
            return [kind]
        case OptionalType(inner):
            return identifiers_in(inner)
        case RecordType(_, fields):
            return [found for _, of in fields for found in identifiers_in(of)]
        case SetType(element, _) | BagType(element, _) | SeqType(element, _):
            return identifiers_in(element)
        case MapType(key, value):
            return [*identifiers_in(key), *identifiers_in(value)]
    return []


def is_renamed(kind: Type, classes: Container[type[Identifier]]) -> bool:
    """Whether values of the type may differ after a renaming of the identifiers of some classes."""
    return any(used.count > 1 and used.cls in classes for used in identifiers_in(kind))


def symmetric_types(kinds: Iterable[Type]) -> list[IdentifierType]:
    """The identifier types that can be renamed in values of these types, in the order in which they occur."""
    found = dict.fromkeys(used for kind in kinds for used in identifiers_in(kind))
    return [kind for kind in found if kind.count > 1]


def renamed(value: Any, renaming: Renaming) -> Any:
    """``value`` with every identifier replaced according to ``renaming``; a class missing from it stays."""
    match value:
        case Identifier():
            numbers = renaming.get(type(value))
            return value if numbers is None else type(value)(numbers[value.number - 1])
        case Record():
            return value.build({name: renamed(item, renaming) for name, item in value._values.items()})
        case Map():
            return Map({renamed(key, renaming): renamed(item, renaming) for key, item in value.items()})
        case Set():
            return Set(renamed(item, renaming) for item in value)
        case Seq():
            return Seq(renamed(item, renaming) for item in value)
        case Bag():
            return Bag(renamed(item, renaming) for item in value)
    return value


class Orbits:
    """The representatives of a model's orbits, in plain Python."""

    def __init__(self, layout: Layout, kinds: Iterable[IdentifierType]) -> None:
        self._layout = layout
        self._kinds = list(kinds)
        self._classes = {kind.cls for kind in self._kinds}

    def canonical(self, state: State) -> State:
        """The representative of the orbit of ``state``."""
        numbers = [_sorting(kind, self._signatures(kind, state)) for kind in self._kinds]
        return min((self.after(state, renaming) for renaming in self._every(numbers)), key=self._layout.pack)

    def all_of(self, state: State) -> set[State]:
        """The orbit of ``state``: its images under all renamings."""
        return {self.after(state, renaming) for renaming in self.renamings()}

    def leading(self, state: State, target: State) -> Renaming:
        """A renaming that turns ``state`` into ``target``. Raises StopIteration if they are in different orbits."""
        return next(renaming for renaming in self.renamings() if self.after(state, renaming) == target)

    def renamings(self) -> Iterator[Renaming]:
        """All renamings, the identity first."""
        return self._every(itertools.permutations(range(1, kind.count + 1)) for kind in self._kinds)

    def _every(self, numbers: Iterable[Iterator[tuple[int, ...]]]) -> Iterator[Renaming]:
        every = [kind.cls for kind in self._kinds]
        return (dict(zip(every, each, strict=True)) for each in itertools.product(*numbers))

    def after(self, state: State, renaming: Renaming) -> State:
        """``state`` with its identifiers renamed."""
        return tuple(renamed(value, renaming) for value in state)

    def _signatures(self, kind: IdentifierType, state: State) -> list[int]:
        numbers, variables = range(1, kind.count + 1), self._layout.variables
        return [_signature(variables, state, kind, number, self._classes) for number in numbers]


def _sorting(kind: IdentifierType, signatures: list[int]) -> Iterator[tuple[int, ...]]:
    """The renamings after which signatures do not decrease."""
    for numbers in itertools.permutations(range(1, kind.count + 1)):
        after = [signatures[numbers.index(number)] for number in range(1, kind.count + 1)]
        if after == sorted(after):
            yield numbers


def _signature(
    variables: Mapping[str, Type], state: State, identifier: IdentifierType, number: int,
    classes: Container[type[Identifier]],
) -> int:
    found = 0
    for kind, value in zip(variables.values(), state, strict=True):
        for part in _parts(kind, value, identifier, number, classes):
            found = (found ^ part) * SIGNATURE_MULTIPLIER & _MASK
            found ^= found >> 32
    return found


def _parts(
    kind: Type, value: Any, identifier: IdentifierType, number: int, classes: Container[type[Identifier]]
) -> Iterator[int]:
    """A value's content about an identifier, as words."""
    if not is_renamed(kind, classes):
        code = encode(kind, value)
        yield from (code >> WORD * index & _MASK for index in range(max(1, -(-kind.bits // WORD))))
        return
    this = identifier.cls(number)
    match kind:
        case IdentifierType():
            if kind == identifier:
                yield int(value == this)
        case OptionalType(inner):
            yield int(value is not None)
            if inner == identifier:
                yield int(value == this)
        case RecordType(_, fields):
            parts = kind.parts(value)
            for name, of in fields:
                yield from _parts(of, parts[name], identifier, number, classes)
        case SetType(element, None):
            yield len(value)
            if element == identifier:
                yield int(this in value)
        case MapType(key, of):
            if key == identifier:
                yield from _parts(of, value[this], identifier, number, classes)
            elif not is_renamed(key, classes):
                for item in value.values():
                    yield from _parts(of, item, identifier, number, classes)
        case SeqType():
            yield len(value)
