"""Loads the files of a project, the repository that a spec belongs to, without a clash with those of another one.

Every project has a top-level ``model/``, ``invariants/`` and ``specs/``, and so has the one that Floodmark ships: its
protocols. While a file is loaded, ``import model.foo`` means ``model/foo.py`` of its own project when there is one, and
the shipped project's otherwise. A project's modules live under a name of their own (``floodmark_1a2b3c4d.model.foo``),
so that any number of projects can be loaded by one process.

One project may be where Python itself finds ``model``: that of a script or a test run, whose root is on ``sys.path``.
Its modules keep their plain names, so that the script and its specs see the same classes.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from floodmark.checkers.loading import SHIPPED, SourceLoader, observed
from floodmark.language.errors import SourceError

_PACKAGES = ("model", "invariants")
"""The packages that a project may take from the shipped one."""
_ROOT_MARKS = (".git", "pyproject.toml", "specs")


def load_file(path: str | Path) -> ModuleType:
    """A file of a repository as the module that its specs see, for tests that replay counterexamples."""
    return Project.of(Path(path)).load(Path(path))


class Project:
    """The repository that a spec belongs to. ``prefix`` begins the names of its modules; "" when those are plain."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.prefix = self._prefix()

    def _prefix(self) -> str:
        found = PathFinder.find_spec("model")
        places = [] if found is None else [*filter(None, [found.origin]), *(found.submodule_search_locations or [])]
        if places and all(Path(place).resolve().is_relative_to(self.root / "model") for place in places):
            return ""
        if self.root == SHIPPED:
            return "floodmark_protocols"
        return self._hashed()

    def _hashed(self) -> str:
        return f"floodmark_{hashlib.sha256(str(self.root).encode()).hexdigest()[:8]}"

    @classmethod
    def of(cls, path: Path) -> Project:
        """The project of a file: the nearest folder above it with .git, pyproject.toml or specs/, else its own."""
        folder = path.resolve().parent
        for candidate in (folder, *folder.parents):
            if any((candidate / mark).exists() for mark in _ROOT_MARKS):
                return project_at(candidate)
        return project_at(folder)

    @staticmethod
    def shipped() -> Project:
        """The project of the protocols that Floodmark ships."""
        return project_at(SHIPPED)

    def find(self, dotted: str) -> Path | None:
        """The file of the project that a dotted name means, or its folder for a package without ``__init__.py``."""
        base = self.root.joinpath(*dotted.split("."))
        for candidate in (base.with_name(f"{base.name}.py"), base / "__init__.py", base):
            if candidate.is_file() or (candidate is base and base.is_dir()):
                return candidate
        return None

    def module(self, dotted: str) -> ModuleType | None:
        """The module that a dotted name means to this project, theirs before ours; None when there is none."""
        for project in dict.fromkeys((self, self.shipped())) if _is_shared(dotted) else (self,):
            found = None if reserved(dotted) else project.find(dotted)
            if found is not None and found.is_file():
                return project.load(found)
        with observed():
            try:
                if importlib.util.find_spec(dotted) is None:
                    return None
            except ModuleNotFoundError:
                return None
            with _errors_placed(self.find(dotted) or self.root):
                return importlib.import_module(dotted)

    def required(self, dotted: str) -> ModuleType:
        """A module of this project that has to be there."""
        found = self.find(dotted)
        if found is None:
            raise ModuleNotFoundError(f"{self.root} has no {dotted}", name=dotted)
        return self.load(found)

    def imported(self, dotted: str, folder: Path) -> Path | None:
        """The file that a file in ``folder`` means by a dotted name; None for the language and what is installed."""
        found = _Finder(self, folder).locate(dotted)
        return None if found is None else found[1]

    def load(self, path: Path) -> ModuleType:
        """Runs a Python file once, as a module of this project. Raises SourceError with the place of what fails."""
        path = path.resolve()
        name = self.name_of(path)
        if name in sys.modules:
            return sys.modules[name]
        if not self.prefix and _is_shared(name):
            with observed(), _errors_placed(path):
                return importlib.import_module(name)
        self._top_package(name.split(".")[0])
        with observed(), self._imports(path.parent), _errors_placed(path):
            return _execute(name, path)

    def _top_package(self, name: str) -> None:
        """Makes the first part of a module's name importable: relative imports and pickle ask for it."""
        folder = self.root if name in (self.prefix, self._hashed()) else self.root / name
        if name not in sys.modules and folder.is_dir():
            package = ModuleType(name)
            package.__path__ = [str(folder)]
            sys.modules[name] = package

    def name_of(self, path: Path) -> str:
        """The name in ``sys.modules`` of a file, which no file of another project has."""
        if path.is_relative_to(self.root):
            parts = list(path.relative_to(self.root).with_suffix("").parts)
        else:
            parts = ["elsewhere", hashlib.sha256(str(path.parent).encode()).hexdigest()[:8], path.stem]
        if parts[-1] == "__init__":
            parts.pop()
        parts = [part.replace(".", "_") for part in parts]
        prefix = self.prefix or (self._hashed() if _installed(parts[0], self.root) else "")
        return ".".join([prefix, *parts] if prefix else parts)

    @contextmanager
    def _imports(self, folder: Path) -> Iterator[None]:
        """While it lasts, imports mean what they mean in this project, for a file in ``folder``."""
        finder = _Finder(self, folder)
        hidden = _hide([name for name in sys.modules if finder.gives(name)])
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)
            _hide(finder.given)
            for name, module in hidden.items():
                sys.modules[name] = module
                _bind(name, module)


@functools.cache
def project_at(root: Path) -> Project:
    return Project(root)


def reserved(dotted: str) -> bool:
    """Whether a name is Floodmark's own, whatever a project has."""
    return dotted.split(".")[0] == "floodmark"


def _is_shared(dotted: str) -> bool:
    return dotted.split(".")[0] in _PACKAGES


class _Finder(MetaPathFinder):
    """Gives a project's files under the names by which they import each other."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project = project
        self.folder = folder
        self.given: list[str] = []

    def locate(self, name: str) -> tuple[Project, Path] | None:
        """The file or folder that ``name`` means, with its project; None when it means what it means everywhere."""
        project, first = self.project, name.split(".")[0]
        if name == "__main__" or reserved(name) or (project.prefix and first == project.prefix):
            return None
        if first in _PACKAGES:
            every = dict.fromkeys((project, Project.shipped()))
            return next(((each, found) for each in every if (found := each.find(name)) is not None), None)
        if _installed(first, project.root):
            return None
        found = project.find(name) or Project.find(_Folder(self.folder), name)
        return None if found is None else (project, found)

    def gives(self, name: str) -> bool:
        """Whether ``name`` means a file here that is known under another name, so only while this file is loaded."""
        found = self.locate(name)
        return found is not None and found[0].name_of(found[1]) != name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        located = self.locate(fullname)
        if located is None:
            return None
        project, found = located
        if self.gives(fullname):
            self.given.append(fullname)
        elif not project.prefix and _is_shared(fullname):
            return None  # Python finds it by itself
        if found.is_dir():
            package = ModuleSpec(fullname, None, is_package=True)
            package.submodule_search_locations = [str(found)]
            return package
        return ModuleSpec(fullname, _Alias(project, found), origin=str(found))


class _Folder(Project):
    """A folder that is searched as a project's root is."""

    def __init__(self, root: Path) -> None:
        self.root = root


class _Alias(Loader):
    """Gives the module that the project has for a file, whatever name it is imported by."""

    def __init__(self, project: Project, path: Path) -> None:
        self.project = project
        self.path = path

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = self.project.load(self.path)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


@functools.cache
def _installed(first: str, root: Path) -> bool:
    """Whether a top-level name is the standard library's or an installed package's, not the project's own."""
    if first in sys.builtin_module_names or first in sys.stdlib_module_names:
        return True
    spec = PathFinder.find_spec(first)
    if spec is None:
        return False
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or [])
    return not all(Path(place).resolve().is_relative_to(root) and "site-packages" not in place for place in places)


def _hide(names: Sequence[str]) -> dict[str, ModuleType]:
    """Takes modules out of the import system and gives them back, for ``_bind`` to restore."""
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
        raise SourceError("this is no Python file", str(path))
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
    """Turns whatever a user's file raises while it is loaded into an error with its file and line."""
    try:
        yield
    except SourceError as error:
        if error.file is None:
            error.file, error.line = _place(error, path)
        raise
    except FileNotFoundError as error:
        raise SourceError(f"{error.filename} cannot be read: {error.strerror}", str(path)) from None
    except SyntaxError as error:
        raise SourceError(f"this is not valid Python: {error.msg}", error.filename or str(path), error.lineno) from None
    except Exception as error:
        raise SourceError(f"{type(error).__name__}: {error}", *_place(error, path)) from None


def _place(error: BaseException, path: Path) -> tuple[str, int | None]:
    """The innermost line of the file, or of one beside or below it, that an error passed through."""
    place: tuple[str, int | None] = (str(path), None)
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == str(path) or Path(frame.filename).is_relative_to(path.parent):
            place = (frame.filename, frame.lineno)
    return place
