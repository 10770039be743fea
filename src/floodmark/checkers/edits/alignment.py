"""The correspondence between two versions of a model: their common variables, types and actions.

The two versions are loaded as two projects, so each has classes of its own. Records, enums and identifier kinds
correspond if they have the same name. A name that only the old version has and a name that only the new version has are
taken for a rename if their definitions are alike and no other pairing is possible; each such rename is reported.

Two types have the same codes if they have the same structure, with the same names (after renaming) at the same
positions. Only then may packed values be compared directly. Names that swapped positions (members of an enum, fields of
a record) are not renames: such values are compared by their meaning, not by their codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from floodmark.compiler.fingerprint import fingerprint
from floodmark.compiler.program import Program
from floodmark.language.model import Model
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
    classes_in,
)
from floodmark.language.values import Bag, Identifier, Map, Record, Seq, Set


@dataclass
class Renames:
    """Renames, from new name to old name, grouped by what they rename: ``"class"``, or a class for its fields and
    members."""

    new: dict[str, dict[str, str]] = field(default_factory=dict)
    classes: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    """The names of all classes that the variables of either version are made of."""

    def take(self, of: str, old: Iterable[str], new: Iterable[str]) -> bool:
        """Records that names at equal positions correspond; False if this contradicts an earlier rename."""
        before, after = list(old), list(new)
        if len(before) != len(after):
            return False
        if of == "class":
            before, after = [*before, *self.classes[0]], [*after, *self.classes[1]]
            return self._take(of, before[:1], after[:1], before, after)
        return self._take(of, before, after, before, after)

    def _take(self, of: str, before: list[str], after: list[str], theirs: list[str], ours: list[str]) -> bool:
        known = self.new.setdefault(of, {})
        for one, other in zip(before, after, strict=True):
            if one != other and (one in ours or other in theirs):
                return False
            if known.get(one, other) != other:
                return False
            if any(name == other and key != one for key, name in known.items()):
                return False
            known[one] = other
        return True

    def empty_copy(self) -> Renames:
        """An empty copy with the same ``classes``."""
        return Renames(classes=self.classes)

    def merge(self, other: Renames) -> bool:
        """Adds the renames of another instance; False if the two contradict each other."""
        merged = {of: dict(names) for of, names in self.new.items()}
        for of, names in other.new.items():
            known = merged.setdefault(of, {})
            for one, name in names.items():
                if known.get(one, name) != name or any(value == name and key != one for key, value in known.items()):
                    return False
                known[one] = name
        self.new = merged
        return True

    @property
    def changed(self) -> list[tuple[str, str, str]]:
        """The renames that change a name, as (kind, old name, new name)."""
        return [
            ("class" if of == "class" else of, one, other)
            for of, names in self.new.items()
            for one, other in names.items()
            if one != other
        ]


def alike(old: Type, new: Type, renames: Renames) -> bool:
    """Whether two types have the same codes for the same values; ``renames`` takes the names that changed."""
    match old, new:
        case BoolType(), BoolType():
            return True
        case IntType(), IntType():
            return (old.low, old.high) == (new.low, new.high)
        case EnumType(), EnumType():
            return _class(old.cls, new.cls, renames) and renames.take(
                old.cls.__name__, [each.name for each in old.cls], [each.name for each in new.cls]
            )
        case IdentifierType(), IdentifierType():
            return old.count == new.count and _class(old.cls, new.cls, renames)
        case OptionalType(), OptionalType():
            return alike(old.inner, new.inner, renames)
        case UnionType(), UnionType():
            return (
                len(old.members) == len(new.members)
                and all(alike(*pair, renames) for pair in zip(old.members, new.members, strict=True))
                and _fields(old, new, renames, "")
            )
        case RecordType(), RecordType():
            if isinstance(old, UnionType) or isinstance(new, UnionType):
                return False
            return _class(old.cls, new.cls, renames) and _fields(old, new, renames, old.cls.__name__)
        case SetType(), SetType():
            return old.capacity == new.capacity and alike(old.element, new.element, renames)
        case BagType(), BagType():
            return old.capacity == new.capacity and alike(old.element, new.element, renames)
        case SeqType(), SeqType():
            return old.capacity == new.capacity and alike(old.element, new.element, renames)
        case MapType(), MapType():
            return alike(old.key, new.key, renames) and alike(old.value, new.value, renames)
    return False


def _class(old: type, new: type, renames: Renames) -> bool:
    return renames.take("class", [old.__name__], [new.__name__])


def _fields(old: RecordType, new: RecordType, renames: Renames, of: str) -> bool:
    names = [[name for name, _ in kind.fields] for kind in (old, new)]
    fits = renames.take(of, *names) if of else names[0] == names[1]
    return fits and all(alike(one, other, renames) for (_, one), (_, other) in zip(old.fields, new.fields, strict=True))


@dataclass(frozen=True)
class SharedVariable:
    """A variable of both models. ``same_codes`` is whether its packed values can be compared as they are."""

    old: str
    new: str
    same_codes: bool


@dataclass(frozen=True)
class Alignment:
    """The variables that two models share, in the order of the new model; the variables of only one; the renames."""

    shared: tuple[SharedVariable, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    renames: Renames

    @property
    def renamed_variables(self) -> dict[str, str]:
        """The new name of each variable that is taken to have one."""
        return {each.old: each.new for each in self.shared if each.old != each.new}

    @property
    def is_whole(self) -> bool:
        """Whether both models have the same variables, of the same types."""
        return not self.only_old and not self.only_new and all(each.same_codes for each in self.shared)

    def in_new_names(self, texts: Iterable[str]) -> list[str]:
        """Replaces the old names of variables, classes, fields and members in some texts by the new ones."""
        names = {**self.renamed_variables, **{old: new for _, old, new in self.renames.changed}}
        if not names:
            return list(texts)
        words = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
        return [words.sub(lambda found: names[found[1]], text) for text in texts]


def align(old: Model, new: Model) -> Alignment:
    """Pairs the variables of two models: first by name, then by type where only one pairing is possible."""
    before, after = old.variable_types, new.variable_types
    renames = Renames(classes=(_classes(old), _classes(new)))
    same = {name: _fits(before[name], after[name], renames) for name in after if name in before}
    left, come = [name for name in before if name not in after], [name for name in after if name not in before]
    pairs = {}
    for name in come:
        rivals = [each for each in come if alike(after[each], after[name], Renames())]
        likely = [each for each in left if alike(before[each], after[name], renames.empty_copy())]
        if len(rivals) == len(likely) == 1 and _fits(before[likely[0]], after[name], renames):
            pairs[name] = likely[0]
    shared = [SharedVariable(pairs.get(name, name), name, same.get(name, True)) for name in after
              if name in before or name in pairs]
    return Alignment(
        tuple(shared),
        tuple(name for name in left if name not in pairs.values()),
        tuple(name for name in come if name not in pairs),
        renames,
    )


def _classes(model: Model) -> frozenset[str]:
    return frozenset(cls.__name__ for kind in model.variable_types.values() for cls in classes_in(kind))


def _fits(old: Type, new: Type, renames: Renames) -> bool:
    """Whether two types have the same codes under names that do not contradict the known renames."""
    tried = renames.empty_copy()
    return alike(old, new, tried) and renames.merge(tried)


def paired_actions(old: Program, new: Program) -> dict[str, str]:
    """The old name of each action of the new program that has a partner in the old one: the action of the same name, or
    else the only action that is equal but for its name."""
    before, after = ({action.name: action for action in program.actions} for program in (old, new))
    pairs = {name: name for name in after if name in before}
    left = {name: _nameless(action) for name, action in before.items() if name not in after}
    come = {name: _nameless(action) for name, action in after.items() if name not in before}
    for name, text in come.items():
        likely = [each for each, its in left.items() if its == text]
        if len(likely) == 1 and list(come.values()).count(text) == 1:
            pairs[name] = likely[0]
    return pairs


def _nameless(action: Any) -> str:
    """The fingerprint of an action without its name and the names of its parameters."""
    return fingerprint(action.parameters, action.guards, action.body)


def canonical(value: Any, names: Mapping[str, Mapping[str, str]]) -> Any:
    """A comparable, hashable form of a value; equal values of the two versions have equal forms.

    ``names`` maps the old version's names to the new ones; it is empty for a value of the new version.
    """
    return _CanonicalValues(names).of(value)


class _CanonicalValues:
    def __init__(self, names: Mapping[str, Mapping[str, str]]) -> None:
        self._names = names

    def _name(self, of: str, name: str) -> str:
        return self._names.get(of, {}).get(name, name)

    def of(self, value: Any) -> Any:
        cls = type(value).__name__
        match value:
            case None | bool() | int():
                return (cls, value)
            case Enum():
                return ("member", self._name("class", cls), self._name(cls, value.name))
            case Identifier():
                return ("identifier", self._name("class", cls), value.number)
            case Record():
                fields = ((self._name(cls, name), self.of(item)) for name, item in value._values.items())
                return ("record", self._name("class", cls), frozenset(fields))
            case Map():
                return ("map", frozenset((self.of(key), self.of(item)) for key, item in value.items()))
            case Set():
                return ("set", frozenset(self.of(item) for item in value))
            case Bag():
                items = [self.of(item) for item in value]
                return ("bag", frozenset((item, items.count(item)) for item in items))
            case Seq():
                return ("sequence", tuple(self.of(item) for item in value))
        raise TypeError(f"{value!r} is no value of a model")
