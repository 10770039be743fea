"""Loads the files of a project, the repository that a spec belongs to, without clashes between projects.

Every project has a top-level ``model/``, ``invariants/`` and ``specs/``, including the one that Floodmark ships, which
holds its protocols. While a file is being loaded, ``import model.foo`` means ``foo`` in ``model/`` of its own project
if it exists there, and otherwise that of the shipped project; other names mean what Python would find with the
project's root first on its path, except that nothing replaces the standard library. A project's modules have unique
names (``floodmark_1a2b3c4d.model.foo``), so one process can load any number of projects.

A file is loaded once, whatever names it is requested by and in whatever order: a spec uses the module that a script or
a test has already imported as ``model.foo``, and such an import uses the module that a spec has loaded. So there is one
copy of each class.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import importlib
import importlib.util
import os
import re
import sys
import traceback
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import ClassVar

from floodmark.checkers.project.imported import ModuleTable, place_of
from floodmark.checkers.project.loading import SHIPPED, SourceLoader, is_users, observed
from floodmark.checkers.project.paths import resolved
from floodmark.language.errors import SourceError
from floodmark.language.source import TOO_DEEP

_PACKAGES = ("model", "invariants")
"""The packages that a project may take from the shipped one."""
_ROOT_MARKS = (".git", "pyproject.toml", "specs")
_PROTOCOLS = "floodmark_protocols"
"""The prefix of the names of the shipped project's modules."""
_OFFERED = "floodmark.protocols."
"""The prefix by which programs import the shipped project's models."""
_SCRIPTS = ("__main__", "__mp_main__")
"""The name of a script being run; importing its file gives another module, as always in Python."""


def load_file(path: str | Path, beside: str | Path | None = None) -> ModuleType:
    """Loads a file of a repository as the module that its specs see, for tests that replay counterexamples.

    A relative path is relative to a folder above ``beside``, which is the test's ``__file__``, so it does not matter
    where the test is run; for a test elsewhere, to the current folder or one above it, else to the shipped project.
    Raises SourceError if there is no such file.
    """
    starts = [Path.cwd() / "_", SHIPPED / "_"] if beside is None else [Path(beside), Path.cwd() / "_", SHIPPED / "_"]
    for folder in (above for start in starts for above in resolved(start).parents):
        if os.path.isfile(folder / path):
            return Project.of(folder / path).load(folder / path)
    raise SourceError("there is no such file, neither above the test nor above the current folder", str(path))


class Project:
    """The repository that a spec belongs to. ``prefix`` begins the names of its modules in ``sys.modules``."""

    def __init__(self, root: Path) -> None:
        self.root = resolved(root)
        digest = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:8]
        self.prefix = _PROTOCOLS if self.root == SHIPPED else f"floodmark_{digest}"
        self._loaded: dict[str, ModuleType] = {}

    def __reduce__(self) -> tuple[Callable[[Path], Project], tuple[Path]]:
        """Another process has a project of its own for the same folder."""
        return project_at, (self.root,)

    @classmethod
    def of(cls, path: Path) -> Project:
        """The project of a file: the nearest folder above it with .git, pyproject.toml or specs/, else its own."""
        folder = resolved(path).parent
        for candidate in (folder, *folder.parents):
            if any(os.path.exists(candidate / mark) for mark in _ROOT_MARKS):
                return project_at(candidate)
        return project_at(folder)

    @staticmethod
    def shipped() -> Project:
        """The project of the protocols that Floodmark ships."""
        return _by_prefix.get(_PROTOCOLS) or project_at(SHIPPED)

    def find(self, dotted: str) -> Path | None:
        """The file of the project that a dotted name means, or its folder for a package without ``__init__.py``."""
        return _found_in(self.root, dotted)

    def owner(self, dotted: str) -> Project:
        """The project, this one or the shipped one, in which to look for a name in ``model`` or ``invariants``.

        A protocol belongs to one project as a whole: a file missing from a repository's own ``model/kraft`` is not
        taken from the shipped ``model/kraft``.
        """
        return self if self.find(_protocol(dotted)) is not None else self.shipped()

    def module(self, dotted: str) -> ModuleType | None:
        """The module that a dotted name means to this project; None when there is none."""
        owner = self.owner(dotted) if _is_shared(dotted) else self
        found = None if reserved(dotted) else owner.find(dotted)
        if found is not None and found.is_file():
            return owner.load(found)
        if _is_shared(dotted) and owner.find(_protocol(dotted)) is not None:
            return None
        with observed(), _errors_placed(self.root):
            try:
                if importlib.util.find_spec(dotted) is None:
                    return None
            except (ModuleNotFoundError, ValueError):  # the latter for a module that is half imported
                return None
            return importlib.import_module(dotted)

    def required(self, dotted: str) -> ModuleType:
        """A module that this project must have."""
        found = self.find(dotted)
        if found is None:
            raise ModuleNotFoundError(f"{self.root} has no {dotted}", name=dotted)
        return self.load(found)

    def imported(self, dotted: str, folder: Path) -> Path | None:
        """The file that a file in ``folder`` means by a dotted name; None for the language and installed packages."""
        if dotted.startswith(_OFFERED):
            return self.shipped().find(f"model.{dotted.removeprefix(_OFFERED)}")
        found = _ProjectFinder(self, folder).locate(dotted)
        return None if found is None else found[1]

    def load(self, path: Path) -> ModuleType:
        """Runs a Python file once, as a module of this project. Raises SourceError with the place of a failure."""
        place = os.path.abspath(path)
        before = self._loaded.get(place)
        if before is not None and sys.modules.get(before.__name__) is before:
            return before
        self._loaded[place] = self._load(resolved(path))
        return self._loaded[place]

    def _load(self, path: Path) -> ModuleType:
        name = self.name_of(path)
        _by_prefix.setdefault(self.prefix, self)
        _OutsideImportFinder.install()
        known = sys.modules.get(name)
        if known is not None and _file_of(known) != path:
            raise SourceError(f"this module has the same name as {_file_of(known)}; rename one of them", str(path))
        self._make_root_package()
        module = known or _module_of(path)
        if module is None:
            with observed(), self._imports(path.parent), _errors_placed(path):
                module = _execute(name, path)
        _OutsideImportFinder.last_names.add(_last_name(path))
        return sys.modules.setdefault(name, module)

    def loaded_files(self) -> Iterator[Path]:
        """The user's files below the root that are loaded as modules."""
        for module in list(sys.modules.values()):
            file = _file_of(module)
            if file is not None and file.is_relative_to(self.root) and is_users(str(file)) and file.is_file():
                yield file

    def _make_root_package(self) -> None:
        """Makes the first part of modules' names importable, for relative imports and pickle."""
        if self.prefix not in sys.modules:
            package = ModuleType(self.prefix)
            package.__path__ = [str(self.root)]
            sys.modules[self.prefix] = package

    def name_of(self, path: Path) -> str:
        """The name in ``sys.modules`` of a file, which no file of another project has."""
        if path.is_relative_to(self.root):
            parts = list(path.relative_to(self.root).with_suffix("").parts)
        else:
            parts = ["elsewhere", hashlib.sha256(os.fsencode(path.parent)).hexdigest()[:8], path.stem]
        if parts[-1] == "__init__":
            parts.pop()
        return ".".join([self.prefix, *(part.replace(".", "_") for part in parts)])

    @contextmanager
    def _imports(self, folder: Path) -> Iterator[None]:
        """Inside the block, imports mean what they mean in this project, for a file in ``folder``."""
        finder = _ProjectFinder(self, folder)
        hidden = _hide(finder.gives())
        _hidden.append(hidden)
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)
            _hidden.remove(hidden)
            _hide(finder.found_modules)
            sys.modules.update(hidden)
            for name, module in hidden.items():
                _bind(name, module)


_imported = ModuleTable()
_by_prefix: dict[str, Project] = {}
"""The projects from which something was loaded."""
_hidden: list[dict[str, ModuleType]] = []
"""The modules whose names mean other modules while files are loaded."""


@functools.cache
def project_at(root: Path) -> Project:
    return Project(root)


def placed_project(root: Path, prefix: str) -> Project:
    """The project in a folder, with the module names that another process uses for its copy of it."""
    project = project_at(root)
    project.prefix = prefix
    _by_prefix[prefix] = project
    return project


def reserved(dotted: str) -> bool:
    """Whether a name is Floodmark's own, whatever a project contains."""
    return dotted.split(".")[0] == "floodmark"


def on_path(dotted: str) -> Path | None:
    """The file that Python itself finds for a module, as in a folder of PYTHONPATH."""
    folders: list[str] | None = None
    found: ModuleSpec | None = None
    for part in dotted.split("."):
        spec = PathFinder.find_spec(part, folders) if found is None or folders else None
        if spec is None:
            return None
        folders, found = spec.submodule_search_locations, spec
    return Path(found.origin) if found is not None and found.origin is not None else None


def module_name(cls: type) -> str:
    """The name of a class's module; for a script being run, the name that it has when it is imported."""
    file = _file_of(sys.modules.get(cls.__module__)) if cls.__module__ in _SCRIPTS else None
    return cls.__module__ if file is None else Project.of(file).name_of(file)


def is_copy(one: type, other: type) -> bool:
    """Whether two different classes come from the same source text, run twice."""
    if one.__qualname__ != other.__qualname__ or "<locals>" in one.__qualname__:
        return False
    places = [_file_of(sys.modules.get(cls.__module__)) for cls in (one, other)]
    return places[0] is not None and places[0] == places[1]


def _is_shared(dotted: str) -> bool:
    return dotted.split(".")[0] in _PACKAGES


def _protocol(dotted: str) -> str:
    """The first two parts of a name: ``model.kraft``."""
    return ".".join(dotted.split(".")[:2])


_looked_up: dict[tuple[Path, str], Path | None] | None = None


@contextmanager
def names_looked_up_once() -> Iterator[None]:
    """Inside the block, the meaning of a dotted name in a folder is looked up once: hundreds of models look up the same
    names some ten thousand times. Outside of it, new files are found."""
    global _looked_up
    before, _looked_up = _looked_up, {} if _looked_up is None else _looked_up
    try:
        yield
    finally:
        _looked_up = before


def _found_in(root: Path, dotted: str) -> Path | None:
    """The module that Python finds for a dotted name in a folder: a package, a file, or a folder without
    ``__init__.py``."""
    if _looked_up is None:
        return _look_up(root, dotted)
    if (root, dotted) not in _looked_up:
        _looked_up[root, dotted] = _look_up(root, dotted)
    return _looked_up[root, dotted]


def _look_up(root: Path, dotted: str) -> Path | None:
    base = os.path.join(root, *filter(None, dotted.split(".")))
    for file in (os.path.join(base, "__init__.py"), f"{base}.py"):
        if os.path.isfile(file):
            return Path(file)
    return Path(base) if os.path.isdir(base) else None


class _ProjectFinder(MetaPathFinder):
    """Finds a project's files under the names by which they import each other."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project = project
        self.folder = folder
        self.found_modules: list[str] = []

    def locate(self, name: str) -> tuple[Project, Path] | None:
        """The file or folder that ``name`` means, with its project; None when the name has no special meaning here."""
        project, first = self.project, name.partition(".")[0]
        if name in _SCRIPTS or not self._may_give(first):
            return None
        if first in _PACKAGES:
            owner = project.owner(name)
            found = owner.find(name)
            return None if found is None else (owner, found)
        found = project.find(name) or _found_in(self.folder, name)
        return None if found is None else (project, found)

    def _may_give(self, first: str) -> bool:
        """Whether names that begin so may mean files here."""
        if reserved(first) or first in _by_prefix:
            return False
        return first in _PACKAGES or _is_own(first, self.project.root, self.folder, tuple(sys.path))

    def gives(self) -> list[str]:
        """The names of imported modules that refer to a file here; they do so only while a file of the project is
        loaded."""
        firsts = _imported.firsts()
        here = _beginnings((self.project.root, self.folder))
        if here is not None:  # to search the path for every loaded module takes longer than to load a file
            firsts = {each for each in firsts if each in _PACKAGES or not each.isascii() or each.lower() in here}
        own = {first for first in firsts if self._may_give(first)}
        return [name for name in _imported.beginning_with(own) if self.locate(name) is not None]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        located = self.locate(fullname)
        if located is None:
            return None
        self.found_modules.append(fullname)
        project, found = located
        if found.is_dir():
            package = ModuleSpec(fullname, None, is_package=True)
            package.submodule_search_locations = [str(found)]
            return package
        return ModuleSpec(fullname, _Alias(lambda: project.load(found)), origin=str(found))


class _ShippedModelFinder(MetaPathFinder):
    """Finds the models of the shipped project by the names under which programs import them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_OFFERED):
            return None
        project = Project.shipped()
        found = project.find(f"model.{fullname.removeprefix(_OFFERED)}")
        if found is None:
            return None
        if found.is_dir():
            return ModuleSpec(fullname, None, is_package=True)
        return ModuleSpec(fullname, _Alias(lambda: project.load(found)), origin=str(found))


def offer_protocols(package: str) -> None:
    """Lets programs import the shipped project's models as modules of a package, ``floodmark.protocols``."""
    assert f"{package}." == _OFFERED
    if not any(isinstance(finder, _ShippedModelFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _ShippedModelFinder())


class _OutsideImportFinder(MetaPathFinder):
    """Finds modules of projects for imports from outside a project: by their unique names, as relative imports and
    pickle do, and by the names under which Python itself finds their files, as scripts and tests do."""

    last_names: ClassVar[set[str]] = set()
    """The last parts of the names of all files that projects have loaded; other imports are ignored."""

    @classmethod
    def install(cls) -> None:
        if not any(isinstance(finder, cls) for finder in sys.meta_path):
            sys.meta_path.insert(0, cls())

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        prefix, _, dotted = fullname.partition(".")
        if prefix in _by_prefix and dotted:
            project = _by_prefix[prefix]
            found = project.find(dotted)
            if found is None or not found.is_file():
                return None
            return ModuleSpec(fullname, _Alias(lambda: project.load(found)), origin=str(found))
        if fullname.rpartition(".")[2] not in self.last_names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        module = _module_of(Path(spec.origin).resolve())
        return None if module is None else ModuleSpec(fullname, _Alias(lambda: module), origin=spec.origin)


class _Alias(Loader):
    """Returns the existing module of a file, whatever name it is imported by."""

    def __init__(self, module: Callable[[], ModuleType]) -> None:
        self.module = module

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = self.module()
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


@functools.cache
def _is_own(first: str, root: Path, folder: Path, _: tuple[str, ...]) -> bool:
    """Whether a top-level name is a project's, for a file in ``folder``: Python finds it there with the project first
    on its path, and it is not in the standard library."""
    if first in sys.builtin_module_names or first in sys.stdlib_module_names:
        return False
    spec = PathFinder.find_spec(first, [str(root), str(folder), *sys.path])
    if spec is None:
        return False
    place = Path(spec.origin or next(iter(spec.submodule_search_locations or [os.devnull]))).resolve()
    for own in (root, folder):
        if place.is_relative_to(own):
            return not {"site-packages", "dist-packages"} & set(place.relative_to(own).parts)
    return False


def _beginnings(folders: Iterable[Path]) -> set[str] | None:
    """The first parts, up to a dot, of the names of entries of folders, in lower case; None if they cannot be listed.
    """
    try:
        return {name.partition(".")[0].lower() for folder in folders for name in os.listdir(folder)}
    except OSError:
        return None


def _module_of(path: Path) -> ModuleType | None:
    """The module of a file, whatever name it was imported by."""
    wanted = str(path)
    hidden = (item for modules in _hidden for item in modules.items() if place_of(item[1]) == wanted)
    return next((module for name, module in chain(_imported.at(wanted), hidden) if name not in _SCRIPTS), None)


def _file_of(module: object) -> Path | None:
    place = place_of(module)
    return None if place is None else Path(place)


def _last_name(path: Path) -> str:
    return path.parent.name if path.stem == "__init__" else path.stem


def _hide(names: Sequence[str]) -> dict[str, ModuleType]:
    """Removes modules from the import system and returns them, for ``_bind`` to restore."""
    hidden = {}
    for name in names:
        if name in sys.modules:
            hidden[name] = sys.modules.pop(name)
            parent, _, last = name.rpartition(".")
            if parent in sys.modules:
                vars(sys.modules[parent]).pop(last, None)
    return hidden


def _bind(name: str, module: ModuleType) -> None:
    parent, _, last = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)


def _execute(name: str, path: Path) -> ModuleType:
    loader = SourceLoader(name, str(path)) if path.suffix == ".py" else None
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None or spec.loader is None:
        raise SourceError("this is not a Python file", str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def _errors_placed(path: Path) -> Iterator[None]:
    """Turns anything that a user's file raises while being loaded into an error with its file and line."""
    try:
        yield
    except SourceError as error:
        if error.file is None:
            error.file, error.line = _place(error, path)
        raise
    except FileNotFoundError as error:
        raise SourceError(f"{error.filename} cannot be read: {error.strerror}", str(path)) from None
    except SystemExit as error:  # a command that ended here would have checked nothing, and perhaps said 0
        raise SourceError(f"the file ends the program: SystemExit: {error}", *_place(error, path)) from None
    except SyntaxError as error:
        raise SourceError(f"this is not valid Python: {error.msg}", error.filename or str(path), error.lineno) from None
    except RecursionError:
        raise SourceError(f"{TOO_DEEP}: Python itself cannot read it", str(path)) from None
    except ImportError as error:
        raise SourceError(_failed_import(error), *_place(error, path)) from None
    except Exception as error:
        raise SourceError(f"{type(error).__name__}: {error}", *_place(error, path)) from None


def _failed_import(error: ImportError) -> str:
    """Why an import failed; a name that the other file does define is not defined yet: the two import each other."""
    wanted = re.match(r"cannot import name '(\w+)' from", str(error))
    file = Path(error.path) if error.path else None
    if wanted is None or file is None or file.suffix != ".py":
        return f"{type(error).__name__}: {error}"
    text = file.read_text(encoding="utf-8")
    if re.search(rf"^(class|def)\s+{wanted[1]}\b|^{wanted[1]}\s*[:=]", text, re.MULTILINE):
        advice = "move what both need into a third file"
        return f"this file and {file.name} import each other, so {wanted[1]} is not defined there yet; {advice}"
    where = file.parent.name if file.stem == "__init__" else file.name
    return f"there is no {wanted[1]} in {where}{_elsewhere(wanted[1])}"


def _elsewhere(name: str) -> str:
    """The module of Python that has a name which models use beside those of the language, as the end of a message."""
    found = next((module.__name__ for module in (enum, typing) if name in module.__all__), None)
    return f"; it is Python's: from {found} import {name}" if found else ""


def _place(error: BaseException, path: Path) -> tuple[str, int | None]:
    """The innermost line of the file, or of one in the same folder or below, that an error passed through."""
    place: tuple[str, int | None] = (str(path), None)
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == str(path) or Path(frame.filename).is_relative_to(path.parent):
            place = (frame.filename, frame.lineno)
    return place
