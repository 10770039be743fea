"""Classes by which other processes know a model: each has to be what its file calls by the class's own name."""

from __future__ import annotations

import sys
from typing import Any

from floodmark.language.bindings import class_place
from floodmark.language.errors import ModelError
from floodmark.language.model import Model
from floodmark.language.reference import parameter_types


def require_named(model: Model) -> None:
    """Raises ModelError, with its place, for a class of a model that is made where no other process finds it."""
    methods = [method for kind in ("initial", "action") for method in type(model).methods(kind).values()]
    for method in methods:
        parameter_types(model, method)  # whose classes the model knows from here on
    for cls in (type(model), *model._classes.values()):
        found: Any = sys.modules.get(cls.__module__)
        for part in cls.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is not cls:
            maker, _, inside = cls.__qualname__.partition(".<locals>.")
            how = f"is made inside {maker}" if inside else "has another name in its file"
            name = cls.__qualname__.rpartition(".")[2]
            message = f"{name} {how}, where other processes do not find it; write class {name} at the top of the file"
            raise ModelError(message, *class_place(cls))
