"""The constants of a model that only bound integers, so that a proof can cover all their values at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floodmark.language.errors import ModelError
from floodmark.language.model import Model, opened
from floodmark.language.reference import parameter_types
from floodmark.language.types import IdentifierType, OpenIdentifierType, OpenIntType, Type, parts_of


def unbounded_constants(model: Model) -> list[str]:
    """The constants that bound an integer of the state, if all types that they bound can be left open too."""
    found = []
    for name in _numbers(model):
        parts = _parts(model, [name], any_size=False)
        if parts is not None and any(isinstance(part, OpenIntType) for part in parts):
            found.append(name)
    return found


def any_size_constants(model: Model) -> tuple[list[str], list[str]]:
    """The constants that count identifiers, or bound integers, so that all of them can be left open together; and those
    among them that count identifiers. A constant that is 0 disables a feature, such as observers, and stays 0."""
    found: list[str] = []
    counting: list[str] = []
    for name in _numbers(model):
        alone, together = (_parts(model, names, any_size=True) for names in ([name], [*found, name]))
        if alone is None or together is None:
            continue
        if any(isinstance(part, OpenIdentifierType) for part in alone):
            if not model.constant_values[name]:
                continue
            counting.append(name)
        elif not any(isinstance(part, OpenIntType) for part in alone):
            continue
        found.append(name)
    return found, counting


def require_open_counts(model: Model) -> None:
    """Raises ModelError if a constant that counts identifiers cannot be left open."""
    parts = [part for kind in model.variable_types.values() for part in parts_of(kind)]
    counts = {part.cls.count for part in parts if isinstance(part, IdentifierType)}
    for name in _numbers(model):
        if name in counts:
            _opened_parts(model, [name], any_size=True)


def _numbers(model: Model) -> Iterator[str]:
    return (name for name, value in model.constant_values.items() if not isinstance(value, bool))


def _parts(model: Model, names: Sequence[str], any_size: bool) -> list[Type] | None:
    """The types of the state and of the actions' choices, with their parts; None if one depends on the constants'
    values."""
    try:
        return _opened_parts(model, names, any_size)
    except ModelError:
        return None


def _opened_parts(model: Model, names: Sequence[str], any_size: bool) -> list[Type]:
    """The same types. Raises ModelError where one depends on the constants' values."""
    read = opened(model, names, any_size)
    kinds = list(read.variable_types.values())
    for role in ("action", "initial"):
        for method in type(model).methods(role).values():
            kinds += parameter_types(read, method).values()
    return [part for kind in kinds for part in parts_of(kind)]
