"""An index of ``sys.modules``, which is queried for each file that is loaded. A process may have thousands of modules,
so each query reads only those that were imported since the last one."""

from __future__ import annotations

import functools
import sys
from collections.abc import Collection, Iterator
from itertools import compress, count
from operator import is_, is_not, ne, or_
from pathlib import Path
from types import ModuleType


class ModuleTable:
    """The modules in the order of ``sys.modules``, each with its name, the first part of its name, and its file when it
    was read. Modules are compared by identity; those without a file are read again by each query."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._modules: list[ModuleType] = []
        self._firsts: list[str] = []
        self._places: list[str] = []
        self._without: list[int] = []

    def firsts(self) -> set[str]:
        """The first parts of the names."""
        self._look()
        return set(self._firsts)

    def beginning_with(self, firsts: Collection[str]) -> list[str]:
        """The names whose first part is one of these, of the modules at the last query."""
        return [*compress(self._names, map(firsts.__contains__, self._firsts))] if firsts else []

    def at(self, place: str) -> Iterator[tuple[str, ModuleType]]:
        """The modules of a file, with their names."""
        self._look()
        return compress(zip(self._names, self._modules, strict=True), map(place.__eq__, self._places))

    def _look(self) -> None:
        now = sys.modules.copy()
        names, modules = [*now], [*now.values()]
        same = len(names)
        if names != self._names or not all(map(is_, modules, self._modules)):
            others = map(or_, map(ne, names, self._names), map(is_not, modules, self._modules))
            same = next(compress(count(), others), min(len(names), len(self._names)))
        self._names, self._modules = names, modules
        self._firsts[same:] = [name.partition(".")[0] for name in names[same:]]
        self._places[same:] = [""] * len(names[same:])
        asked = [*(index for index in self._without if index < same), *range(same, len(names))]
        for index in asked:
            self._places[index] = place_of(modules[index]) or ""
        self._without = [index for index in asked if not self._places[index]]


def place_of(module: object) -> str | None:
    """The file of a module, without links."""
    file = getattr(module, "__dict__", {}).get("__file__")
    return _resolved(file) if isinstance(file, str) else None


@functools.cache
def _resolved(file: str) -> str:
    return str(Path(file).resolve())
