"""Which constants of a model only bound integers, so that a proof can cover every value of them at once."""

from __future__ import annotations

from floodmark.language.errors import ModelError
from floodmark.language.model import Model, opened
from floodmark.language.reference import parameter_types
from floodmark.language.types import OpenIntType, parts_of


def unbounded_constants(model: Model) -> list[str]:
    """The constants that bound an integer of the state, if everything else that they bound can be left open too."""
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
        parts = [part for kind in read.variable_types.values() for part in parts_of(kind)]
        if any(isinstance(part, OpenIntType) for part in parts):
            found.append(name)
    return found
