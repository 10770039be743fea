"""Presents a model class as a spec, for programs that have the class and no file that names it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floodmark.checkers.project.loading import is_loading
from floodmark.checkers.project.properties import Property, add_function
from floodmark.checkers.project.spec import Spec
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

Design = type[Model] | Model
"""A model's class, or the class with constants, as ``floodmark.conformance.model_of`` returns it."""
PropertyArgument = str | Callable[..., Any]
"""A property: its name, or its function."""


@dataclass(frozen=True, slots=True)
class ClassSpec(Spec):
    """The spec that a program's arguments amount to. ``functions`` are properties that it passes as functions."""

    design: type[Model] = Model
    functions: tuple[Callable[..., Any], ...] = ()

    @property
    def name(self) -> str:
        return self.design.__name__

    def model_class(self) -> type[Model]:
        return self.design

    def properties(self, cls: type[Model], files: tuple[Path, ...] = ()) -> dict[str, Property]:
        """The properties that the spec's file would find, and those that were passed."""
        found = Spec.properties(self, cls, files)
        for function in self.functions:
            add_function(found, function, cls)
        return found


def class_spec(
    design: Design, constants: Mapping[str, int] | None, sizes: Mapping[str, int], taken: Sequence[str], **more: Any
) -> ClassSpec:
    """The spec of a class with constants. ``taken`` are the names of settings, which ``sizes`` cannot have.

    Raises TypeError for what is no model or is given twice, and for a constant that only ``constants`` can mean.
    """
    if is_loading():
        message = "a file that is being loaded for a check cannot run one; write it below if __name__ == \"__main__\":"
        raise SourceError(message)
    cls = type(design) if isinstance(design, Model) else design
    if not isinstance(cls, type) or not issubclass(cls, Model) or cls is Model:
        raise TypeError(f"a model's class is needed, one derived from floodmark.Model, not {design!r}")
    bound = dict(constants or {})
    for name in taken:
        if name in cls.constants() and name not in bound:
            message = f"{name} is a setting, and also a constant of {cls.__name__}"
            raise TypeError(f"{message}; write constants={{{name!r}: ...}}")
    twice = next((name for name in sizes if name in bound), None)
    if twice is not None:
        raise TypeError(f"the constant {twice} is given twice")
    values = {**(design.constant_values if isinstance(design, Model) else {}), **bound, **sizes}
    return ClassSpec(_file(cls), f"{_file(cls).name}:{cls.__qualname__}", constants=values, design=cls, **more)


def _file(cls: type[Model]) -> Path:
    """The file of a class; for one in a notebook, a name in the current folder, whose project is then the class's."""
    try:
        file = Path(inspect.getsourcefile(cls) or "")
    except (OSError, TypeError):
        file = Path()
    return file if file.is_file() else Path.cwd() / "notebook"


def names_of(
    properties: Sequence[PropertyArgument] | None,
) -> tuple[tuple[str, ...] | None, tuple[Callable[..., Any], ...]]:
    """The names of properties, None for all, and those of them that are passed as functions."""
    if properties is None:
        return None, ()
    if isinstance(properties, str) or callable(properties):
        raise TypeError(f"properties is a list: write properties=[{getattr(properties, '__name__', repr(properties))}]")
    for each in properties:
        if not isinstance(each, str) and not callable(each):
            raise TypeError(f"a property is a name or a function, not {each!r}")
    names = [each if isinstance(each, str) else each.__name__ for each in properties]
    return tuple(dict.fromkeys(names)), tuple(each for each in properties if not isinstance(each, str))
