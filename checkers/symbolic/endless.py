"""Which constants of a model only bound integers, so that a proof can be for every value of them at once."""

from __future__ import annotations

from collections.abc import Iterator

from model.language.errors import ModelError
from model.language.linear import Linear
from model.language.model import Model, opened
from model.language.reference import parameter_types
from model.language.types import (
    BagType,
    MapType,
    OpenIntType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)


def endless_constants(model: Model) -> list[str]:
    """The constants that bound an integer of the state, and whatever else they bound may be left open as well."""
    found = []
    for name, value in model.constant_values.items():
        if isinstance(value, bool):
            continue
        try:
            read = opened(model, [name])
            for kind in ("action", "initial"):
                for method in type(model).methods(kind).values():
                    parameter_types(read, method)
        except ModelError:
            continue
        if any(_bounded_by(name, kind) for kind in read.variable_types.values()):
            found.append(name)
    return found


def _bounded_by(name: str, kind: Type) -> bool:
    """Whether a constant bounds an integer in a type."""
    return any(
        isinstance(bound, Linear) and name in dict(bound.times)
        for of in _integers(kind)
        for bound in (of.least, of.most)
    )


def _integers(kind: Type) -> Iterator[OpenIntType]:
    match kind:
        case OpenIntType():
            yield kind
        case OptionalType(inner):
            yield from _integers(inner)
        case RecordType(_, fields):
            for _, of in fields:
                yield from _integers(of)
        case SetType(element, _) | BagType(element, _) | SeqType(element, _):
            yield from _integers(element)
        case MapType(_, value):
            yield from _integers(value)
