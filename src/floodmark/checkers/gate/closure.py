"""The source closure of a model: every definition that a check can reach.

It starts from the class of the model, or from a function, and follows whatever a definition mentions: base classes,
helper functions, records, types and values, wherever they are imported from, in the user's repository or in the
protocols that come with floodmark. A module that is mentioned as a whole counts as a whole. Of a file that is loaded
on the way, the statements that bind no name count; and where a list, an object whose class sets its attributes, or a
class that is notified of its subclasses, is reached, so do the statements that may add to it. Not covered are the
language and the checkers (the verdict cache has a hash of those), the standard library, installed packages, and what
only a running program knows, such as a module name that is put together at run time, or what another file's function
or class made. For that, the cache hashes values, and the lock has the figures of the search.

``Numbering.hash`` is of the meaning: comments, docstrings, layout, and the names of variables, actions, rules, classes,
properties and files do not count, because names are replaced by numbers in the order of their first mention.
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

import floodmark.language
from floodmark.checkers.gate.definitions import Definition, Definitions, Import, definitions_of
from floodmark.checkers.project.loading import is_users
from floodmark.checkers.project.modules import Project, on_path

Target = tuple[Path, str]
"""A name in a file; the empty name stands for the module as a whole."""


@dataclass(frozen=True, slots=True)
class Closure:
    """Definitions, in the order in which they are reached."""

    definitions: list[Definition] = field(default_factory=list)
    _known: set[int] = field(default_factory=set)
    _loaded: dict[Path, None] = field(default_factory=dict)

    @property
    def files(self) -> set[Path]:
        """The files of the definitions, and those that are loaded with them."""
        return {*self._loaded, *(each.file for each in self.definitions)}

    def copy(self) -> Closure:
        """A closure that grows independently of this one."""
        return Closure([*self.definitions], {*self._known}, {**self._loaded})

    def add(self, roots: Iterable[Any], files: Iterable[Path] = ()) -> list[Definition]:
        """Adds what classes and functions reach, and files that are loaded with them; returns the new definitions."""
        before = len(self.definitions)
        for root in roots:
            self._reach(_root(root))
        for file in files:
            self._reach(self._load(file.resolve()))
        while adding := self._adding():
            self._reach(adding)
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
            waiting = [each for definition in new for each in self._reached_from(definition)]

    def _reached_from(self, definition: Definition) -> list[Definition]:
        found = self._load(definition.file)
        for file in _loaded_by(definition):
            found += self._load(file)
        return [*found, *_mentioned_by(definition)]

    def _load(self, file: Path) -> list[Definition]:
        """The definitions that count because a file is loaded, with those of the files that it loads."""
        found: list[Definition] = []
        waiting = [file]
        while waiting:
            each = waiting.pop()
            if each not in self._loaded:
                self._loaded[each] = None
                found += definitions_of(each).loose
                waiting += _loaded_with(each)
        return found

    def _adding(self) -> list[Definition]:
        """Statements that run when a loaded file runs and that reach an object that may grow."""
        growing = {id(each) for each in self.definitions if each.grows}
        running = [each for file in self._loaded for each in definitions_of(file).every if each.runs] if growing else []
        missing = [each for each in running if id(each) not in self._known]
        return [each for each in missing if any(id(one) in growing for one in _all_from(each))]


@functools.cache
def _mentioned_by(definition: Definition) -> tuple[Definition, ...]:
    file = definition.within
    targets = [target for name in definition.mentioned for target in resolved(file, name)]
    targets += [target for what in definition.imported for target in _imported(file.file, what, frozenset())]
    return tuple(each for target in dict.fromkeys(targets) for each in _of(target))


@functools.cache
def _all_from(definition: Definition) -> tuple[Definition, ...]:
    """Everything that a definition reaches through mentions."""
    found: dict[int, Definition] = {}
    waiting = [definition]
    while waiting:
        each = waiting.pop()
        if id(each) not in found:
            found[id(each)] = each
            waiting += _mentioned_by(each)
    return tuple(found.values())


@functools.cache
def _loaded_with(file: Path) -> tuple[Path, ...]:
    """The files that loading a file loads."""
    return tuple(dict.fromkeys(each for what in definitions_of(file).loads for each in _files(file, what)))


@functools.cache
def _loaded_by(definition: Definition) -> tuple[Path, ...]:
    """The files that the functions of a definition load."""
    return tuple(dict.fromkeys(each for what in definition.imported for each in _files(definition.file, what)))


def _files(file: Path, what: Import) -> Iterator[Path]:
    names = [what.module]
    names += [] if what.name is None else [f"{what.module}.{what.name}" if what.module else what.name]
    parts = what.module.split(".")
    names += [".".join(parts[:end]) for end in range(1, len(parts))]
    for name in names:
        found = _module(file, name, what.level)
        if found is not None:
            yield found


def _of(target: Target, seen: frozenset[Path] = frozenset()) -> list[Definition]:
    """The definitions of a name; for a module as a whole, with all that it imports from others."""
    file, name = target
    found = definitions_of(file)
    if name:
        return found.bound[name]
    if file in seen:
        return []
    inner = [each for key in found.imports for each in resolved(found, key)]
    inner += [each for star in found.stars for each in _imported(file, star, frozenset())]
    seen |= {file}
    return [*found.every, *(each for one in dict.fromkeys(inner) for each in _of(one, seen))]


def _root(root: Any) -> list[Definition]:
    """The definition of a class or a function; for one that was made in another way, its whole module."""
    file = Path(sys.modules[root.__module__].__file__ or "") if isinstance(root, type) else _file_of(root)
    found = definitions_of(file.resolve())
    name = root.__qualname__.split(".")[0]
    return found.bound.get(name, found.every)


def _file_of(function: Callable[..., Any]) -> Path:
    return Path(inspect.unwrap(function).__code__.co_filename)


def resolved(file: Definitions, name: str, seen: frozenset[Target] = frozenset()) -> tuple[Target, ...]:
    """The candidate definitions of a file's name: every place that binds it, whichever binds it last, except places
    that no closure covers."""
    here = (file.file, name)
    if here in seen:
        return ()
    seen |= {here}
    found = [here] if name in file.bound else []
    for what in file.imports.get(name, ()):
        found += _imported(file.file, what, seen)
    for star in file.stars:
        module = _module(file.file, star.module, star.level)
        if module is not None:
            found += resolved(definitions_of(module), name, seen)
    return tuple(dict.fromkeys(found))


def _imported(file: Path, what: Import, seen: frozenset[Target]) -> tuple[Target, ...]:
    """The definitions behind an import. A module that does not define the name may create it, so it counts as a
    whole."""
    module = _module(file, what.module, what.level)
    if what.name is None:
        return () if module is None else ((module, ""),)
    found = () if module is None else resolved(definitions_of(module), what.name, seen)
    inner = _module(file, f"{what.module}.{what.name}" if what.module else what.name, what.level)
    if inner is not None:
        found = (*found, (inner, ""))
    made = module is not None and not found and (module, what.name) not in seen and not _elsewhere(module, what.name)
    return ((module, ""),) if made and module is not None else found


def _elsewhere(module: Path, name: str) -> bool:
    """Whether a module may get a name from a place that no closure covers, such as the language."""
    return name in definitions_of(module).imports


@functools.cache
def _module(file: Path, dotted: str, level: int) -> Path | None:
    """The file of a module that a file imports; None when it is not a user's."""
    if level:
        base = file.parents[level - 1].joinpath(*filter(None, dotted.split(".")))
        candidates: list[Path | None] = [base.with_name(f"{base.name}.py"), base / "__init__.py"]
    else:
        candidates = [Project.of(file).imported(dotted, file.parent), on_path(dotted)]
    found = (each.resolve() for each in candidates if each is not None and each.is_file())
    return next((each for each in found if is_users(str(each)) and each.suffix == ".py"), None)


def _language() -> Iterator[str]:
    """The names of the language, which no number may replace."""
    yield from dir(builtins)
    for name in floodmark.language.__all__:  # dir() would include submodules once they are imported
        yield name
        yield from dir(getattr(floodmark.language, name))
    for kind in (str, int, list, dict, tuple, set, frozenset):
        yield from dir(kind)


_LANGUAGE = frozenset(_language())
_ONE_NAME = {"floodmark.language": "floodmark"}
"""A package, by the name under which its content is usually imported."""


class Numbering:
    """Numbers for the names of definitions, so that hashes of them do not depend on the names."""

    def __init__(self) -> None:
        self.globals: dict[tuple[Target, ...], int] = {}
        self.attributes: dict[str, int] = {}
        self.members: set[str] = set()
        self._parameters: dict[str, list[tuple[int, int, int]]] = {}
        self._denoted: dict[Target, str] = {}
        self._count = 0

    def copy(self) -> Numbering:
        """A numbering that continues independently of this one."""
        other = Numbering()
        other.globals, other.attributes, other.members = {**self.globals}, {**self.attributes}, {*self.members}
        other._parameters = {name: [*each] for name, each in self._parameters.items()}
        other._denoted, other._count = {**self._denoted}, self._count
        return other

    def hash(self, definitions: Iterable[Definition]) -> str:
        """The hash of what definitions mean, 16 hexadecimal digits; numbers continue from earlier calls."""
        definitions = list(definitions)
        for number, definition in enumerate(definitions, self._count):
            self.members |= definition.attributes - _LANGUAGE
            for function, position, name in definition.parameters:
                self._parameters.setdefault(name, []).append((number, function, position))
        self._count += len(definitions)
        whole = hashlib.sha256()
        for definition in definitions:
            _add(whole, self._words(definition))
        _add(whole, self._called_by_name(definitions))
        _add(whole, map(str, _order(definitions)))
        return whole.hexdigest()[:16]

    def _words(self, definition: Definition) -> Iterator[str]:
        file = definition.within
        for kind, text in definition.tokens:
            match kind:
                case "plain":
                    yield f"'{text}"
                case "local":
                    yield f"L{text}"
                case "global":
                    yield self._global(file, text)
                case "import":
                    yield self._numbered(file, _imported(file.file, text, frozenset()), [text])
                case "word" if text not in self.members:
                    yield self._global(file, text)
                case "member":
                    yield f"{self._attribute(text)} {self._global(file, text)}"
                case _:
                    yield self._attribute(text)

    def _attribute(self, name: str) -> str:
        if name not in self.members:
            return f".{name}"
        return f"A{self.attributes.setdefault(name, len(self.attributes))}"

    def _global(self, file: Definitions, name: str) -> str:
        """The number of a global name; it is the same at each mention."""
        here = (file.file, name)
        if here not in self._denoted:
            self._denoted[here] = self._numbered(file, resolved(file, name), file.imports.get(name, [])) or f".{name}"
        return self._denoted[here]

    def _numbered(self, file: Definitions, targets: tuple[Target, ...], imports: list[Import]) -> str:
        """A number for a covered definition, or the name of one that is not covered."""
        found = [f"G{self.globals.setdefault(targets, len(self.globals))}"] if targets else []
        elsewhere = [what for what in imports if not _imported(file.file, what, frozenset())]
        named = (f".{what.level}{_ONE_NAME.get(what.module, what.module)}.{what.name}" for what in elsewhere)
        return "".join([*found, *named])

    def _called_by_name(self, definitions: Iterable[Definition]) -> Iterator[str]:
        """The parameters that keyword arguments may refer to, which their functions number as local names."""
        names = dict.fromkeys(name for each in definitions for kind, name in each.tokens if kind == "keyword")
        for name in names:
            if name in self._parameters:
                yield f"{self._attribute(name)} {self._parameters[name]}"


def _order(definitions: list[Definition]) -> list[int]:
    """The execution order of the statements that do more than bind a function."""
    files = {file: number for number, file in enumerate(dict.fromkeys(each.file for each in definitions))}
    running = [number for number, each in enumerate(definitions) if each.runs]
    return sorted(running, key=lambda number: (files[definitions[number].file], definitions[number].place))


def _add(whole: Any, words: Iterable[str]) -> None:
    texts = [word.encode("utf-8", "backslashreplace") for word in words]
    whole.update(b"".join([b"%d:%b" % (len(text), text) for text in texts]) + b";")
