"""What a verdict depends on: users' files, the objects made from them, and that nothing replaced a part of
floodmark."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from floodmark.checkers.gate.modules import Files, Modules, text_of
from floodmark.checkers.gate.values import NotKept, Values, is_ours


@dataclass(frozen=True, slots=True)
class Basis:
    """The files by their hashes, and the hash of the objects."""

    files: Files
    values: str

    def is_still_there(self) -> bool:
        """Whether the files are unchanged."""
        try:
            return all(text_of(file) == text for file, text in self.files.items() if file.startswith("/"))
        except NotKept:
            return False


class Bases:
    """Determines what verdicts depend on, once a run has loaded everything that it loads."""

    def __init__(self, at_first: dict[str, Any]) -> None:
        self._changed = next((name for name, value in own_definitions() if at_first.get(name, value) != value), None)
        self._modules = Modules()
        self._values = Values()

    def of(self, modules: Iterable[ModuleType], roots: Iterable[Any]) -> Basis:
        """What a verdict on classes and functions that were looked for in modules depends on. Raises NotKept."""
        if self._changed is not None:
            raise NotKept(f"{self._changed} of floodmark was replaced while models were loaded")
        values, code = self._values.digest(roots)
        files = [file for module in modules if isinstance(file := getattr(module, "__file__", None), str)]
        return Basis(self._modules.of([*files, *sorted(code)]), values)


def own_definitions() -> Iterator[tuple[str, Any]]:
    """Each function (as its code) and class of floodmark with its dotted name; no user's file may replace one."""
    for name, module in list(sys.modules.items()):
        if is_ours(name):
            yield from _definitions(f"{name}.", vars(module), name)


def _definitions(place: str, names: Any, module: str) -> Iterator[tuple[str, Any]]:
    for key, value in list(names.items()):
        if isinstance(value, FunctionType):
            yield f"{place}{key}", value.__code__
        elif isinstance(value, type):
            yield f"{place}{key}", value
            if value.__module__ == module:
                yield from _definitions(f"{place}{key}.", vars(value), "")
        elif isinstance(value, property | staticmethod | classmethod):
            yield f"{place}{key}", value
