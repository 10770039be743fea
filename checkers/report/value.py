"""Values of the modelling language as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any

from floodmark.language.reference import Step
from floodmark.language.values import Bag, Identifier, Record, Seq, Set


def show(value: Any) -> str:
    """A value as the model would write it: ``{b1,b2}``, ``LEADER``, ``Proposal(isr={b1}, version=1)``."""
    match value:
        case Enum():
            return value.name
        case Record():
            return f"{type(value).__name__}({_named(value._values)})"
        case Mapping():
            return _bracketed("{}", (f"{show(key)}: {show(item)}" for key, item in value.items()))
        case Set():
            return _listed("{}", value)
        case AbstractSet():
            return show(Set(value))
        case Seq() | Bag() | list():
            return _listed("[]", value)
        case tuple():
            return _listed("()", value)
    return repr(value)


def show_step(step: Step) -> str:
    """A step as a call: ``leader_requests_shrink(follower=b2)``."""
    return f"{step.action}({_named(step.arguments)})"


def plain(value: Any) -> Any:
    """A value for JSON: names for enums and identifiers, objects for records and maps, arrays for the rest."""
    match value:
        case None | bool() | int() | str():
            return value
        case Enum():
            return value.name
        case Identifier():
            return repr(value)
        case Record():
            return {name: plain(item) for name, item in value._values.items()}
        case Mapping():
            return {show(key): plain(item) for key, item in value.items()}
        case AbstractSet():
            return [plain(item) for item in Set(value)]
        case Seq() | Bag() | list() | tuple():
            return [plain(item) for item in value]
    return repr(value)


def _named(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={show(item)}" for name, item in values.items())


def _listed(brackets: str, items: Iterable[Any]) -> str:
    """Short elements without spaces, as in ``{b1,b2}``; with spaces when elements contain commas themselves."""
    return _bracketed(brackets, (show(item) for item in items))


def _bracketed(brackets: str, parts: Iterable[str]) -> str:
    texts = list(parts)
    separator = ", " if any(" " in text or "," in text for text in texts) else ","
    return brackets[0] + separator.join(texts) + brackets[1]
