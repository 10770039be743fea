"""What a verdict depends on: users' files, the objects made from them, and that nothing replaced a part of
floodmark."""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import abc
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from floodmark.checkers.gate.modules import FileHashes, Modules, text_of
from floodmark.checkers.gate.values import NotKept, ValueHasher, is_ours, pure_modules


@dataclass(frozen=True, slots=True)
class Basis:
    """The files by their hashes, and the hash of the objects."""

    files: FileHashes
    values: str

    def is_still_there(self) -> bool:
        """Whether the files are unchanged."""
        try:
            return all(text_of(file) == text for file, text in self.files.items())
        except NotKept:
            return False


class Bases:
    """Determines what verdicts depend on, once a run has loaded everything that it loads."""

    def __init__(self, at_first: dict[str, Any]) -> None:
        self._changed = _changed(at_first)
        self._modules = Modules()
        self._values = ValueHasher()

    def of(self, modules: Iterable[ModuleType], roots: Iterable[Any]) -> Basis:
        """The dependences of a verdict on classes and functions that were looked up in modules. Raises NotKept."""
        if self._changed is not None:
            raise NotKept(f"{self._changed} was replaced while models were loaded")
        values, code = self._values.digest(roots)
        files = [file for module in modules if isinstance(file := getattr(module, "__file__", None), str)]
        return Basis(self._modules.of([*files, *sorted(code)]), values)


def _changed(at_first: dict[str, Any]) -> str | None:
    """The first name that means something else than before models were loaded, or is new."""
    for name, value in own_definitions().items():
        if name in at_first:
            if at_first[name] is not value:
                return name
        elif name.rpartition(".")[0] in at_first:  # not what was loaded later
            return name
    return None


def own_definitions() -> dict[str, Any]:
    """The objects that no user's file may change, by their dotted names: the functions (as their code) and classes of
    floodmark, and everything in the language and in the pure modules of Python."""
    found: dict[str, Any] = {}
    for name, module in list(sys.modules.items()):
        if is_ours(name):
            whole = name.startswith("floodmark.language") or name == "floodmark"
            _define(found, name, module, name, whole)
    for name, module in pure_modules().items():
        _define(found, name, module, name, whole=True)
    return found


def _define(found: dict[str, Any], place: str, owner: Any, module: str, whole: bool) -> None:
    """Adds what an owner defines. A gate does this twice for 20,000 names before its first check."""
    if whole:
        found[place] = owner
    if isinstance(owner, abc.ABCMeta):
        found[f"{place}.register"] = len(_abc._get_dump(owner)[0])
    for key, value in list(vars(owner).items()):
        if isinstance(value, FunctionType):
            found[f"{place}.{key}"] = value.__code__
        elif isinstance(value, type):
            if value.__module__ == module and value is not owner:
                _define(found, f"{place}.{key}", value, module, whole)
            found[f"{place}.{key}"] = value
        elif isinstance(value, _DESCRIPTORS) or (
            whole and not isinstance(value, ModuleType) and key not in _KEPT_BY_PYTHON
        ):
            found[f"{place}.{key}"] = value


_DESCRIPTORS = (property, staticmethod, classmethod)
_KEPT_BY_PYTHON = frozenset({
    "__abstractmethods__", "__annotations__", "__builtins__", "__dict__", "__doc__", "__slotnames__",
    "__warningregistry__", "__weakref__", "_abc_impl",
})  # fmt: skip
"""Attributes that Python sets itself, some of them later."""
