"""Values of the modelling language as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any

from floodmark.checkers.part_kinds import element_kind, field_kind, is_of_union
from floodmark.language.errors import ModelError
from floodmark.language.reference import Step
from floodmark.language.types import TAG, Type
from floodmark.language.values import Bag, Identifier, Record, Seq, Set


def show(value: Any) -> str:
    """A value for display: as it is written in source, but a record by its class's own ``__str__``, if it has one.

    ``{b1,b2}``, ``LEADER``, ``Proposal(isr={b1}, version=1)``.
    """
    return _text(value, show)


def source_form(value: Any) -> str:
    """The source form of a value: different values have different texts."""
    return _text(value, source_form)


def _text(value: Any, inner: Callable[[Any], str]) -> str:
    match value:
        case Enum():
            return value.name
        case Identifier() if inner is source_form:
            return Identifier.__repr__(value)  # its class may print two of them alike
        case Record():
            if inner is show and type(value).__str__ is not object.__str__:
                return str(value)
            return f"{type(value).__name__}({_named(value._values, inner)})"
        case Mapping():
            return _bracketed("{}", (f"{inner(key)}: {inner(item)}" for key, item in value.items()))
        case AbstractSet():
            return _listed("{}", _ordered(value), inner)
        case Seq() | Bag() | list():
            return _listed("[]", value, inner)
        case tuple():
            return _listed("()", value, inner)
    return repr(value)


def show_step(step: Step) -> str:
    """A step as a call: ``leader_requests_shrink(follower=b2)``."""
    return f"{step.action}({show_arguments(step.arguments)})"


def written_step(step: Step) -> str:
    """The source form of a step: different steps have different texts."""
    return f"{step.action}({_named(step.arguments, source_form)})"


def show_arguments(arguments: Mapping[str, Any]) -> str:
    """The text between the brackets of a call: ``follower=b2, epoch=1``."""
    return _named(arguments, show)


def plain(value: Any, kind: Type | None = None) -> Any:
    """A value for JSON: names for enums and identifiers, objects for records and maps, arrays for the rest.

    With its type, a record of a union has its class: ``{"class": "Vote", "term": 1}``.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case Enum():
            return value.name
        case Identifier():
            return source_form(value)
        case Record():
            fields = {name: plain(item, field_kind(kind, value, name)) for name, item in value._values.items()}
            return {TAG: type(value).__name__, **fields} if is_of_union(kind) else fields
        case Mapping():
            return {source_form(key): plain(item, element_kind(kind)) for key, item in value.items()}
        case AbstractSet():
            return [plain(item, element_kind(kind)) for item in _ordered(value)]
        case Seq() | Bag() | list() | tuple():
            return [plain(item, element_kind(kind)) for item in value]
    return repr(value)


def _ordered(items: AbstractSet[Any]) -> Iterable[Any]:
    """The elements in order. An implementation's set may hold values outside the language: their texts give the order.
    """
    try:
        return tuple(Set(items))
    except ModelError:
        return sorted(items, key=repr)


def _named(values: Mapping[str, Any], inner: Callable[[Any], str]) -> str:
    return ", ".join(f"{name}={inner(item)}" for name, item in values.items())


def _listed(brackets: str, items: Iterable[Any], inner: Callable[[Any], str]) -> str:
    """Short elements without spaces, as in ``{b1,b2}``; with spaces when elements contain commas themselves."""
    return _bracketed(brackets, (inner(item) for item in items))


def _bracketed(brackets: str, parts: Iterable[str]) -> str:
    texts = list(parts)
    separator = ", " if any(" " in text or "," in text for text in texts) else ","
    return brackets[0] + separator.join(texts) + brackets[1]
