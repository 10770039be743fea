"""The dependences of a verdict: users' files, the objects made from them, and an unmodified floodmark."""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import abc
import gc
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import is_
from types import FunctionType, ModuleType
from typing import Any

from floodmark.checkers.gate.modules import FileHashes, Modules, text_of
from floodmark.checkers.gate.values import NotCacheable, ValueHasher, is_ours, pure_modules


@dataclass(frozen=True, slots=True)
class Basis:
    """The files by their hashes, and the hash of the objects."""

    files: FileHashes
    values: str

    def is_still_there(self) -> bool:
        """Whether the files are unchanged."""
        try:
            return all(text_of(file) == text for file, text in self.files.items())
        except NotCacheable:
            return False


class Bases:
    """Determines what verdicts depend on, once a run has loaded everything that it loads."""

    def __init__(self, at_first: OwnDefinitions) -> None:
        self._changed = _changed(at_first)
        self._modules = Modules()
        self._values = ValueHasher()

    def of(self, modules: Iterable[ModuleType], roots: Iterable[Any]) -> Basis:
        """The dependences of a verdict on classes and functions that were looked up in modules. Raises NotCacheable."""
        if self._changed is not None:
            raise NotCacheable(f"{self._changed} was replaced while models were loaded")
        values, code = self._values.digest(roots)
        files = [file for module in modules if isinstance(file := getattr(module, "__file__", None), str)]
        return Basis(self._modules.of([*files, *sorted(code)]), values)


def _changed(at_first: OwnDefinitions) -> str | None:
    """The first name that is new or has another meaning than before models were loaded."""
    others = [
        each
        for place, each in own_definitions().items()
        if (was := at_first.get(place)) is not each and (was is None or not each.has_only_of(was))
    ]
    if not others:
        return None
    before = {name: value for each in at_first.values() for name, value in each.found.items()}
    for name, value in (item for each in others for item in each.found.items()):
        if name in before:
            if before[name] is not value:
                return name
        elif name.rpartition(".")[0] in before:  # not modules that were loaded later
            return name
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _OwnerDefinitions:
    """The definitions of a module or a class: its names with their objects. ``found`` has those that no user's file may
    change, by their dotted names; ``classes`` are the classes whose own definitions are recorded too."""

    owner: Any
    names: list[str]
    values: list[Any]
    functions: list[FunctionType]
    parts: list[Any]
    registered: int | None
    found: dict[str, Any]
    classes: list[tuple[str, type]]

    def is_current(self) -> bool:
        """Whether the owner has the same names with the same objects, and its functions the same code."""
        names = vars(self.owner)
        return (
            _are_same(self.values, names.values())
            and [*names] == self.names
            and _are_same(self.parts, _parts(self.functions))
            and self.registered == _registered(self.owner)
        )

    def has_only_of(self, was: _OwnerDefinitions) -> bool:
        """Whether every protected definition was there before, as the same object."""
        return all(was.found.get(name, self) is value for name, value in self.found.items())


def _are_same(some: Collection[Any], others: Collection[Any]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))


def _parts(functions: Sequence[FunctionType]) -> list[Any]:
    """The parts of functions, including their code. Reading ``__code__`` directly would raise an audit event for each
    function, which takes longer than everything else here."""
    return gc.get_referents(*functions)


OwnDefinitions = dict[tuple[str, bool], _OwnerDefinitions]
"""The definitions of modules and classes, by dotted name and by whether the owner is a class."""
_latest: OwnDefinitions = {}


def own_definitions() -> OwnDefinitions:
    """The objects that no user's file may change: the functions (as their code) and classes of floodmark, and
    everything in the language and in the pure modules of Python.

    A gate computes this twice for 20,000 names before its first check, so unchanged owners are not read again.
    """
    found: OwnDefinitions = {}
    for name, module in list(sys.modules.items()):
        if is_ours(name):
            whole = name.startswith("floodmark.language") or name == "floodmark"
            _define(found, name, module, name, whole)
    for name, module in pure_modules().items():
        _define(found, name, module, name, whole=True)
    return found


def _define(found: OwnDefinitions, place: str, owner: Any, module: str, whole: bool) -> None:
    """Adds the definitions of an owner and of the classes in it."""
    key = place, isinstance(owner, type)
    defined = _latest.get(key)
    if defined is None or defined.owner is not owner or not defined.is_current():
        defined = _latest[key] = _read(place, owner, module, whole)
    found[key] = defined
    for inner, cls in defined.classes:
        _define(found, inner, cls, module, whole)


def _read(place: str, owner: Any, module: str, whole: bool) -> _OwnerDefinitions:
    names, values = [*vars(owner)], [*vars(owner).values()]
    functions = [value for value in values if isinstance(value, FunctionType)]
    defined = _OwnerDefinitions(owner, names, values, functions, _parts(functions), _registered(owner), {}, [])
    found = defined.found
    if whole:
        found[place] = owner
    if defined.registered is not None:
        found[f"{place}.register"] = defined.registered
    for name, value in zip(names, values, strict=True):
        if isinstance(value, FunctionType):
            found[f"{place}.{name}"] = value.__code__
        elif isinstance(value, type):
            if value.__module__ == module and value is not owner:
                defined.classes.append((f"{place}.{name}", value))
            found[f"{place}.{name}"] = value
        elif isinstance(value, _DESCRIPTORS) or (
            whole and not isinstance(value, ModuleType) and name not in _KEPT_BY_PYTHON
        ):
            found[f"{place}.{name}"] = value
    return defined


def _registered(owner: Any) -> int | None:
    """The number of classes that are registered as subclasses of an abstract class."""
    return len(_abc._get_dump(owner)[0]) if isinstance(owner, abc.ABCMeta) else None


_DESCRIPTORS = (property, staticmethod, classmethod)
_KEPT_BY_PYTHON = frozenset({
    "__abstractmethods__", "__annotations__", "__builtins__", "__dict__", "__doc__", "__slotnames__",
    "__warningregistry__", "__weakref__", "_abc_impl",
})  # fmt: skip
"""Attributes that Python sets itself, some of them later."""
