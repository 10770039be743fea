"""The types of the parts of a value, given the type of the whole."""

from __future__ import annotations

from collections.abc import Mapping

from floodmark.language.model import Model
from floodmark.language.reference import Step, parameter_types
from floodmark.language.types import (
    BagType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from floodmark.language.values import Record


def argument_kinds(model: Model, step: Step) -> Mapping[str, Type]:
    """The types of the arguments of a step."""
    cls = type(model)
    method = {**cls.methods("initial"), **cls.methods("action")}.get(step.action)
    return {} if method is None else parameter_types(model, method)


def is_of_union(kind: Type | None) -> bool:
    """Whether records of this type are distinguished by their classes."""
    return isinstance(_there(kind), UnionType)


def field_kind(kind: Type | None, record: Record, name: str) -> Type | None:
    match _there(kind):
        case UnionType(members=members):
            return next((member.field(name) for member in members if member.cls is type(record)), None)
        case RecordType() as whole:
            return whole.field(name)
    return None


def element_kind(kind: Type | None) -> Type | None:
    """The type of a container's elements; for a map, the type of its values."""
    match _there(kind):
        case SetType(element) | BagType(element) | SeqType(element):
            return element
        case MapType(_, value):
            return value
    return None


def _there(kind: Type | None) -> Type | None:
    return kind.inner if isinstance(kind, OptionalType) else kind
