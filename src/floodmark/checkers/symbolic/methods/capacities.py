"""Why a proof by induction needs capacities.

An inductive step begins in any state of the declared types, reachable or not. If a type does not bound the number of
elements of a container, any chosen size would be an assumption that the model does not make. A bounded search begins
with the initial states, so it finds the widths that its runs need.
"""

from __future__ import annotations

from collections.abc import Sequence

from floodmark.checkers.project.properties import Property, functions_by_name
from floodmark.compiler.program import growing_parts, read_program
from floodmark.language.bindings import annotation_position
from floodmark.language.errors import ModelError
from floodmark.language.model import Model, sized
from floodmark.language.types import growing
from floodmark.language.widths import FIRST_WIDTHS


def require_capacities(model: Model, properties: Sequence[Property]) -> None:
    """Raises ModelError if a model has a container without a capacity."""
    for name, kind in model.variable_types.items():
        for part in growing(kind):
            raise _refusal(part.grows, *annotation_position(model._variables[name], name))
    for place, at in growing_parts(read_program(sized(model, FIRST_WIDTHS), functions_by_name(properties))):
        raise _refusal(place, at.file, at.line)


def _refusal(place: str, file: str | None, line: int | None) -> ModelError:
    message = f"{place} has no capacity, and a proof begins in any state of the declared types: write "
    return ModelError(f"{message}Annotated[..., Capacity(limit)], or use --method bmc", file, line)
