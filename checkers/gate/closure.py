"""The source closure of a model: every definition that what is checked can reach.

It begins with the class of the model, or with a function, and goes on with whatever a definition mentions: base
classes, helper functions, records, types, values, wherever they are imported from, of the user's repository or of the
protocols that come with floodmark. A module that is mentioned as a whole counts as a whole, and statements of a module
that bind no name count as soon as anything of it does. What is not covered: the language and the checkers (the verdict
cache has a hash of those), the standard library, installed packages.

A closure has two hashes. ``exact`` is of the text with its place: equal where a result is the same to the last line
number. ``Numbering.hash`` is of the meaning: comments, docstrings, layout, and the names of variables, actions, rules,
classes, properties and files do not count, because names are replaced by numbers in the order of their first mention.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import model.language
from checkers.gate.definitions import Definition, Definitions, Import, definitions_of
from checkers.project import OWN_ROOT, Project

Target = tuple[Path, str]
"""A name of a file; the name is empty for the module as a whole."""


@dataclass(slots=True)
class Closure:
    """Definitions in the order in which they are reached."""

    definitions: list[Definition] = field(default_factory=list)
    _known: set[int] = field(default_factory=set)

    def copy(self) -> Closure:
        return Closure(list(self.definitions), set(self._known))

    def add(self, roots: Iterable[Any]) -> list[Definition]:
        """Adds what classes and functions reach, and gives what is new."""
        before = len(self.definitions)
        for root in roots:
            self._reach(_root(root))
        return self.definitions[before:]

    def _reach(self, start: list[Definition]) -> None:
        waiting = start
        while waiting:
            new = []
            for definition in waiting:
                if id(definition) not in self._known:
                    self._known.add(id(definition))
                    self.definitions.append(definition)
                    new.append(definition)
            waiting = [each for definition in new for each in _reached_from(definition)]

    def exact(self) -> str:
        """The hash of the text of all definitions with their places."""
        whole = hashlib.sha256()
        for each in sorted(self.definitions, key=lambda each: (each.file, each.line)):
            whole.update(f"{each.file}:{each.line}\n{each.text}\n".encode())
        return whole.hexdigest()


@functools.cache
def _reached_from(definition: Definition) -> list[Definition]:
    file = definitions_of(definition.file)
    found = list(file.loose)
    for name in definition.mentioned:
        target = resolved(file, name)
        if target is not None:
            found += _of(target)
    return found


def _of(target: Target) -> list[Definition]:
    file, name = target
    found = definitions_of(file)
    return found.bound[name] if name else found.all()


def _root(root: Any) -> list[Definition]:
    """The definition of a class or a function; of one that is made in another way, its whole module."""
    file = Path(sys.modules[root.__module__].__file__ or "") if isinstance(root, type) else _file_of(root)
    found = definitions_of(file.resolve())
    name = root.__qualname__.split(".")[0]
    return found.bound[name] if name in found.bound else found.all()


def _file_of(function: Callable[..., Any]) -> Path:
    return Path(inspect.unwrap(function).__code__.co_filename)


def resolved(file: Definitions, name: str, seen: frozenset[Target] = frozenset()) -> Target | None:
    """Where a name of a file is defined; None for what no closure covers."""
    here = (file.file, name)
    if name in file.bound:
        return here
    if here in seen:
        return None
    if name in file.imports:
        return _imported(file.file, file.imports[name], seen | {here})
    for star in file.stars:
        found = _imported(file.file, Import(star.module, name, star.level), seen | {here})
        if found is not None:
            return found
    return None


def _imported(file: Path, what: Import, seen: frozenset[Target]) -> Target | None:
    module = _module(file, what.module, what.level)
    if what.name is None:
        return None if module is None else (module, "")
    if module is not None:
        found = resolved(definitions_of(module), what.name, seen)
        if found is not None:
            return found
    inner = _module(file, f"{what.module}.{what.name}" if what.module else what.name, what.level)
    return None if inner is None else (inner, "")


@functools.cache
def _module(file: Path, dotted: str, level: int) -> Path | None:
    """The file of a module that a file imports; None when it is none of a project's."""
    if level:
        base = file.parents[level - 1].joinpath(*filter(None, dotted.split(".")))
        candidates: list[Path | None] = [base.with_name(f"{base.name}.py"), base / "__init__.py"]
    else:
        ours = any(file.is_relative_to(OWN_ROOT / package) for package in ("model", "invariants"))
        project = Project.ours() if ours else Project.of(file)
        candidates = [project.imported(dotted, file.parent)]
    return next((each.resolve() for each in candidates if each is not None and each.is_file()), None)


def _language() -> Iterator[str]:
    """The names that mean something by themselves, which a number must not replace."""
    yield from dir(builtins)
    for name in model.language.__all__:  # not all that the package has: submodules are there once somebody imports them
        yield name
        yield from dir(getattr(model.language, name))
    for kind in (str, int, list, dict, tuple, set, frozenset):
        yield from dir(kind)


_LANGUAGE = frozenset(_language())


class Numbering:
    """Numbers for the names of definitions, so that hashes of them do not depend on the names."""

    def __init__(self) -> None:
        self.globals: dict[Target, int] = {}
        self.attributes: dict[str, int] = {}
        self.members: set[str] = set()

    def copy(self) -> Numbering:
        other = Numbering()
        other.globals = dict(self.globals)
        other.attributes = dict(self.attributes)
        other.members = set(self.members)
        return other

    def hash(self, definitions: Iterable[Definition]) -> str:
        """The hash of what definitions mean, 16 hexadecimal digits; numbers go on from those of earlier ones."""
        definitions = list(definitions)
        for definition in definitions:
            self.members |= definition.attributes - _LANGUAGE
        whole = hashlib.sha256()
        for definition in definitions:
            whole.update("\x1f".join(self._words(definition)).encode())
        return whole.hexdigest()[:16]

    def _words(self, definition: Definition) -> Iterator[str]:
        file = definitions_of(definition.file)
        for kind, text in definition.tokens:
            if kind == "plain":
                yield text
            elif kind == "local":
                yield f"L{text}"
            elif kind == "global" or text not in self.members:
                yield self._global(file, text) if kind in ("global", "word") else f".{text}"
            else:
                yield f"A{self.attributes.setdefault(text, len(self.attributes))}"

    def _global(self, file: Definitions, name: str) -> str:
        target = resolved(file, name)
        if target is not None:
            return f"G{self.globals.setdefault(target, len(self.globals))}"
        where = file.imports.get(name)
        return f".{name}" if where is None else f".{where.level}{where.module}.{where.name}"
