"""Reads values of a model from an implementation or a log.

They may be values of the modelling language, plain Python values (sets, dicts, lists, integers), or the form of
``--json``: names for identifiers and enums, objects for records and maps, arrays for the rest.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

from floodmark.checkers.project.properties import did_you_mean
from floodmark.checkers.value_text import source_form
from floodmark.language.errors import SourceError, ValueOutOfRange
from floodmark.language.types import (
    TAG,
    BagType,
    EnumType,
    IdentifierType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from floodmark.language.universe import universe
from floodmark.language.values import Bag, Identifier, Map, Seq, Set, admit

Matches = Callable[[Any], bool]
"""Whether a value of the model matches the given one."""


def value_of(kind: Type, given: Any, name: str) -> Any:
    """``given`` as a value of the type. Raises SourceError, which calls it ``name``, when it is not one."""
    match kind, given:
        case OptionalType(inner), _:
            return None if given is None else value_of(inner, given, name)
        case EnumType(cls), str():
            return _member(cls, given, name)
        case IdentifierType(), str():
            return _identifier(kind, given, name)
        case UnionType(), Mapping():
            member = _class_of(kind, given, name)
            return value_of(member, {field: item for field, item in given.items() if field != TAG}, name)
        case RecordType(cls, fields), Mapping():
            _known(given, [field for field, _ in fields], "field", name)
            missing = [field for field, _ in fields if field not in given]
            if missing:
                raise SourceError(f"{name} has no {missing[0]!r}")
            return cls.build({field: value_of(of, given[field], f"{name}.{field}") for field, of in fields})
        case MapType(key, of), Mapping():
            keys = _keys(key)
            entries = {_key(item, keys, name): value_of(of, value, f"{name}[{item}]") for item, value in given.items()}
            if len(entries) != len(keys):
                missing = [text for text, item in keys.items() if item not in entries]
                raise SourceError(f"{name} has no {missing[0]}; a map has a value for each key")
            return Map(entries)
        case SetType(element, _), AbstractSet() | list() | tuple() | Seq():
            return _admitted(kind, Set(_elements(element, given, name)), name)
        case SeqType(element, _), list() | tuple() | Seq():
            return _admitted(kind, Seq(_elements(element, given, name)), name)
        case BagType(element, _), list() | tuple() | Bag():
            return _admitted(kind, Bag(_elements(element, given, name)), name)
    return _admitted(kind, given, name)


def pattern(kind: Type, given: Any, name: str) -> Matches:
    """A test of a value against ``given``: all of it, or only the given keys and fields of a map or a record."""
    match kind, given:
        case OptionalType(inner), Mapping():
            matches = pattern(inner, given, name)
            return lambda value: value is not None and matches(value)
        case UnionType(), Mapping():
            member = _class_of(kind, given, name)
            rest = pattern(member, {field: item for field, item in given.items() if field != TAG}, name)
            return lambda value: type(value) is member.cls and rest(value)
        case RecordType(cls, fields), Mapping():
            kinds = dict(fields)
            _known(given, list(kinds), "field", name)
            parts = {field: pattern(kinds[field], item, f"{name}.{field}") for field, item in given.items()}
            return lambda value: type(value) is cls and all(
                matches(getattr(value, field)) for field, matches in parts.items()
            )
        case MapType(key, of), Mapping():
            keys = _keys(key)
            entries = {_key(item, keys, name): pattern(of, value, f"{name}[{item}]") for item, value in given.items()}
            return lambda value: all(matches(value[item]) for item, matches in entries.items())
        case SeqType(), Mapping():
            return _sequence_pattern(kind, given, name)
        case SeqType(element, _), list():
            items = [pattern(element, item, f"{name}[{index}]") for index, item in enumerate(given)]
            return lambda value: len(value) == len(items) and all(
                matches(item) for matches, item in zip(items, value, strict=True)
            )
    wanted = value_of(kind, given, name)
    return lambda value: bool(value == wanted)


_LENGTH = "length"


def _sequence_pattern(kind: SeqType, given: Mapping[Any, Any], name: str) -> Matches:
    """A test for the length of a sequence, and for the elements at some indices."""
    length = given.get(_LENGTH)
    if length is not None and type(length) is not int:
        raise SourceError(f"the length of {name} is a whole number, not {length!r}")
    elements = {}
    for index, item in given.items():
        if index != _LENGTH:
            if not isinstance(index, str) or not index.isdecimal():
                raise SourceError(f'{name} has "length" and indices such as "0", not {index!r}')
            elements[int(index)] = pattern(kind.element, item, f"{name}[{index}]")
    return lambda value: length in (None, len(value)) and all(
        index < len(value) and matches(value[index]) for index, matches in elements.items()
    )


def _class_of(kind: UnionType, given: Mapping[Any, Any], name: str) -> RecordType:
    """The class of a record of a union: the one that it names, or the only one with these fields."""
    classes = {str(member): member for member in kind.members}
    class_name = given.get(TAG)
    if class_name is not None:
        if class_name not in classes:
            raise SourceError(
                f"{name} is of the class {class_name!r}, not one of {kind}{did_you_mean(str(class_name), classes)}"
            )
        return classes[class_name]
    fitting = [member for member in kind.members if set(given) == {field for field, _ in member.fields}]
    if len(fitting) != 1:
        raise SourceError(f'{name} is one of {kind}; say which: "{TAG}": "{kind.members[0]}"')
    return fitting[0]


def _admitted(kind: Type, value: Any, name: str) -> Any:
    try:
        return admit(kind, value, name)
    except ValueOutOfRange as error:
        raise SourceError(error.message.replace("would become", "is")) from None


def _elements(kind: Type, given: Iterable[Any], name: str) -> list[Any]:
    return [value_of(kind, item, f"an element of {name}") for item in given]


def _member(cls: type[enum.Enum], given: str, name: str) -> enum.Enum:
    if given not in cls.__members__:
        raise SourceError(f"{name} is {given!r}, which is not a {cls.__name__}{did_you_mean(given, cls.__members__)}")
    return cls[given]


def _identifier(kind: IdentifierType, given: str, name: str) -> Identifier:
    names = _names(kind)
    if given not in names:
        raise SourceError(f"{name} is {given!r}, which is not a {kind.cls.__name__}{did_you_mean(given, names)}")
    found: Identifier = names[given]
    return found


@lru_cache
def _names(kind: IdentifierType) -> dict[str, Identifier]:
    return {source_form(item): item for item in universe(kind)}


@lru_cache
def _keys(kind: Type) -> dict[str, Any]:
    """The keys of a map by their JSON text."""
    return {source_form(key): key for key in universe(kind)}


def _key(given: Any, keys: Mapping[str, Any], name: str) -> Any:
    text = given if isinstance(given, str) else source_form(given)
    if text not in keys:
        raise SourceError(f"{name} has no key {text!r}{did_you_mean(text, keys)}")
    return keys[text]


def _known(given: Iterable[Any], names: list[str], what: str, name: str) -> None:
    for item in given:
        if item not in names:
            raise SourceError(f"{name} has no {what} {item!r}{did_you_mean(str(item), names)}")
