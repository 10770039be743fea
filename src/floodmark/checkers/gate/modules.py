"""The files of users' repositories that a verdict depends on: every module that was loaded for it.

A module depends on what it imports according to its text, and on whatever was loaded while it was loaded, by whatever
means. This is coarser than the definitions that the lock hashes: the whole text of a file counts. Two protocols that
share no file are not affected by each other's changes.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import decode_source
from pathlib import Path
from types import ModuleType

from floodmark.checkers.gate.cacheable_names import ambiguous_name, foreign
from floodmark.checkers.gate.definitions import imports_by_name, is_dotted, may_import_by_name
from floodmark.checkers.gate.values import NotCacheable
from floodmark.checkers.project.loading import SourceLoader, digest, is_users, observed_dependences
from floodmark.checkers.project.modules import Project
from floodmark.language.bindings import parsed, statements_in

FileHashes = dict[str, str]
"""The hash of each file's text."""


class Modules:
    """The modules that are currently loaded."""

    def __init__(self) -> None:
        self._of_file: dict[str, list[ModuleType]] = {}
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and is_users(file):
                self._of_file.setdefault(_resolved(file), []).append(module)
        self._imported: dict[str, list[str]] = {}
        self._texts: dict[str, str] = {}
        self._projects: dict[Path, Project] = {}
        self._found: dict[frozenset[str], FileHashes] = {}

    def of(self, files: Iterable[str]) -> FileHashes:
        """The modules that are loaded for these files. Raises NotCacheable when a file depends on more than its text,
        or has changed since it was loaded."""
        first = frozenset(_resolved(file) for file in files if is_users(file))
        if first not in self._found:
            self._found[first] = self._reached(first)
        return self._found[first]

    def _reached(self, first: Iterable[str]) -> FileHashes:
        found: FileHashes = {}
        waiting = [*first]
        while waiting:
            file = waiting.pop()
            if file not in found:
                found[file] = self._text(file)
                waiting += self._imports(file)
        return found

    def _text(self, file: str) -> str:
        if file not in self._texts:
            self._texts[file] = self._as_loaded(file)
        return self._texts[file]

    def _as_loaded(self, file: str) -> str:
        why = observed_dependences(file)
        if why is not None:
            raise NotCacheable(why)
        text = text_of(file)
        for module in self._of_file.get(file, []):
            loader = module.__loader__
            if not isinstance(loader, SourceLoader):
                raise NotCacheable(f"{file} was loaded by a custom loader")
            if loader.digest != text:
                raise NotCacheable(f"{file} was changed after it was loaded")
            stray = ambiguous_name(loader.code)
            if stray is not None:
                raise NotCacheable(f"{file}:{stray[0]} uses {stray[1]}")
        return text

    def _imports(self, file: str) -> list[str]:
        """The files that a file imports, and those that were loaded while it was. Raises NotCacheable if it imports
        more than users' files and modules without dependences."""
        if file not in self._imported:
            found: dict[str, None] = {}
            for module in self._of_file.get(file, []):
                inner = module.__loader__.inner if isinstance(module.__loader__, SourceLoader) else ()
                for name in inner:
                    found.update(self._loaded_as(name))
            meant = {name: self._denoted_files(file, name) for name in _named_in(file, self._text(file))}
            for files in meant.values():
                found.update(files)
            for line, names in _foreign_in(file, self._text(file)):
                if not any(meant.get(name) for name in names):
                    whole = " as a whole; import the names that you use" if names[0] == "floodmark" else ""
                    raise NotCacheable(f"{file}:{line} imports {names[0]}{whole}")
            self._imported[file] = list(found)
        return self._imported[file]

    def _loaded_as(self, name: str) -> dict[str, None]:
        file = getattr(sys.modules.get(name), "__file__", None)
        return {_resolved(file): None} if isinstance(file, str) and is_users(file) else {}

    def _denoted_files(self, file: str, name: str) -> dict[str, None]:
        """The files that a module's name in a file may denote, loaded or not; it is safe to list too many."""
        path = Path(file)
        level = len(name) - len(name.lstrip("."))
        if level:
            base = path.parents[level - 1].joinpath(*filter(None, name[level:].split(".")))
            places = [base.with_name(f"{base.name}.py"), base / "__init__.py"]
        else:
            if path.parent not in self._projects:
                self._projects[path.parent] = Project.of(path)
            place = self._projects[path.parent].imported(name, path.parent)
            places = [] if place is None else [place]
        found = {_resolved(str(place)): None for place in places if place.is_file() and is_users(str(place))}
        if not level:
            found |= self._loaded_as(name)
        return found


def text_of(file: str) -> str:
    """The hash of a file's current text. Raises NotCacheable when it cannot be read."""
    try:
        return digest(Path(file).read_bytes())
    except OSError:
        raise NotCacheable(f"{file} can no longer be read") from None


@cache
def _resolved(file: str) -> str:
    return str(Path(file).resolve())


def _parsed(file: str) -> tuple[str, ast.AST]:
    try:
        text = decode_source(Path(file).read_bytes())
        return text, parsed(text)
    except (SyntaxError, UnicodeDecodeError):
        return "", ast.Module([], [])


@cache
def _foreign_in(file: str, _: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """The imports of a file that have to be users' files, by their possible names, with the line."""
    return tuple((node.lineno, names) for node in _imports_in(_parsed(file)[1]) for names in foreign(node))


@cache
def _named_in(file: str, _: str) -> tuple[str, ...]:
    """The names of all modules that a file's import statements mean or may mean, with leading dots for relative ones;
    and, where a file imports modules by name, the texts that may be such names."""
    text, tree = _parsed(file)
    found: dict[str, None] = {}
    for node in _imports_in(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    found.update(_with_parents(alias.name))
            case ast.ImportFrom(module=module, names=names, level=level):
                base = "." * level + (module or "")
                found.update(_with_parents(base))
                for alias in names:
                    found[f"{base}{'.' if module else ''}{alias.name}"] = None
    if may_import_by_name(text) and imports_by_name(tree):
        for constant in ast.walk(tree):
            match constant:
                case ast.Constant(value=str(name)) if is_dotted(name):
                    found[name] = None
    return tuple(found)


def _imports_in(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements of a file, wherever they are: expressions have none."""
    for inner in statements_in(node):
        if isinstance(inner, ast.Import | ast.ImportFrom):
            yield inner
        else:
            yield from _imports_in(inner)


def _with_parents(name: str) -> dict[str, None]:
    """``a.b.c`` with its parents ``a`` and ``a.b``, which are loaded before it."""
    dots = len(name) - len(name.lstrip("."))
    parts = name[dots:].split(".")
    return {name[:dots] + ".".join(parts[: end + 1]): None for end in range(len(parts))}
