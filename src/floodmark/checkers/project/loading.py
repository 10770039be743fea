"""Loads the Python files of users' repositories, and observes their dependences besides their own text.

Files are always compiled from their source, by every importer. Python would use cached bytecode whenever a file's size
and time match, and a quick edit, a checkout or an archive can leave both unchanged.

While files are loaded, an audit hook observes when one of them opens a file, reads the environment, starts a process,
talks to another machine, or executes text. Python raises no event for clocks, randomness, or tests of whether a file
exists: none of the modules that offer these is on the list of modules that a file may use if its verdicts are to be
cached (``floodmark.checkers.gate.cacheable_names``).
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

from floodmark.checkers.project import input_file
from floodmark.checkers.project.unpacking import unpack

PACKAGE = Path(__file__).resolve().parents[2]
"""The folder of the package ``floodmark``."""


def _shipped() -> Path:
    """The root of the project that Floodmark ships: a folder of the installed package, or the repository itself.

    If the package is imported from a zip file, as on a cluster's workers, the project is unpacked.
    """
    if (PACKAGE / "project").exists():
        return PACKAGE / "project"
    if PACKAGE.is_dir():
        return PACKAGE.parent.parent
    return unpack(PACKAGE.parent.read_bytes(), "floodmark-package", "floodmark/project/") / "floodmark" / "project"


SHIPPED = _shipped()
_TOOL = f"{PACKAGE}{os.sep}"
_PROTOCOLS = tuple(f"{SHIPPED / name}{os.sep}" for name in ("model", "invariants", "specs"))
_INSTALLED = ("site-packages", "dist-packages")
_STANDARD = tuple(
    f"{Path(folder).resolve()}{os.sep}" for folder in {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
)


@functools.cache
def is_users(file: str) -> bool:
    """Whether a file is a model, a property or something they use: not Python's, not installed, not Floodmark's own."""
    if file.startswith("<"):
        return False
    path = str(Path(file).resolve())
    if path.startswith(_PROTOCOLS):
        return True
    if is_floodmarks(file):
        return False
    return not path.startswith(_STANDARD) and not any(part in _INSTALLED for part in Path(path).parts)


@functools.cache
def is_floodmarks(file: str) -> bool:
    """Whether a file is Floodmark's own."""
    return not file.startswith("<") and str(Path(file).resolve()).startswith(_TOOL)


class SourceLoader(SourceFileLoader):
    """Loads a file from its source. ``digest`` is that of the loaded text, ``code`` what it was compiled to; ``inner``
    has the names of the modules that were loaded meanwhile."""

    code: CodeType

    def __init__(self, fullname: str, path: str) -> None:
        super().__init__(fullname, path)
        self.digest = ""
        self.inner: set[str] = set()

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        _noticed.pop(str(Path(path).resolve()), None)
        content = input_file.bytes_of(Path(path))
        input_file.require_source(content, Path(path))
        self.digest = digest(content)
        self.code = self.source_to_code(content, path)
        return self.code

    def exec_module(self, module: ModuleType) -> None:
        for outer in _loading:
            outer.inner.add(module.__name__)
        _loading.append(self)
        try:
            super().exec_module(module)
        finally:
            _loading.pop()


def digest(content: bytes) -> str:
    """The hash of a file's content."""
    return hashlib.sha256(content).hexdigest()


class _UserFileFinder(MetaPathFinder):
    """Finds modules as ``PathFinder`` does, and lets ``SourceLoader`` load users' files."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader and is_users(spec.origin or ""):
            spec.loader = SourceLoader(fullname, spec.loader.path)
        return spec


_loading: list[SourceLoader] = []
_observers = 0
_noticed: dict[str, str] = {}
_hooked = False


def is_loading() -> bool:
    """Whether a user's file is being run as a module of a project."""
    return bool(_loading)


def observed_dependences(file: str) -> str | None:
    """The observed dependences of a user's file besides its text: ``m.py:3 reads the environment``."""
    return _noticed.get(file)


@contextmanager
def observed() -> Iterator[None]:
    """Inside the block, users' files are loaded from source, by ``SourceLoader`` if Python finds them, and their
    dependences are observed."""
    global _observers, _hooked
    if not _hooked:
        _hooked = True
        sys.addaudithook(_audit)
    if _observers:
        yield
        return
    place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
    sys.meta_path.insert(place, _UserFileFinder)
    _observers = 1
    try:
        with _environment_observed(), _without_bytecode():
            yield
    finally:
        _observers = 0
        sys.meta_path.remove(_UserFileFinder)


@contextmanager
def _without_bytecode() -> Iterator[None]:
    """Inside the block, users' files have no cached bytecode for loaders that a user's file makes for itself."""
    importing = sys.modules["_frozen_importlib_external"]
    found = importing.cache_from_source

    def cache_from_source(path: Any, *arguments: Any, **named: Any) -> Any:
        if is_users(os.fspath(path)):
            raise NotImplementedError  # which says to a loader that there is no place for bytecode
        return found(path, *arguments, **named)

    importing.cache_from_source = cache_from_source  # type: ignore[attr-defined]
    try:
        yield
    finally:
        importing.cache_from_source = found  # type: ignore[attr-defined]


@contextmanager
def _environment_observed() -> Iterator[None]:
    """Notices reads of variables in the functions that ``os.environ`` encodes names with; there is no audit event."""
    watched = [os.environ, *([os.environb] if os.supports_bytes_environ else [])]
    kept = [(each, name, vars(each)[name]) for each in watched for name in ("encodekey", "decodekey")]
    for each, name, function in kept:
        setattr(each, name, _noting(function))
    try:
        yield
    finally:
        for each, name, function in kept:
            setattr(each, name, function)


def _noting(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def noting(key: Any) -> Any:
        _note("reads the environment", sys._getframe(1))
        return function(key)

    return noting


_EVENTS = {
    "open": "opens a file",
    "sqlite3.connect": "opens a file",
    "os.listdir": "lists a folder",
    "os.scandir": "lists a folder",
    "os.putenv": "changes the environment",
    "os.unsetenv": "changes the environment",
    "exec": "executes text",
    "compile": "executes text",
    "os.system": "starts a process",
    "os.exec": "starts a process",
    "os.fork": "starts a process",
    "os.posix_spawn": "starts a process",
    "subprocess.Popen": "starts a process",
    "socket.__new__": "opens a socket",
    "ctypes.dlopen": "loads a library",
    "builtins.input": "asks for input",
}
_DIRECT = ("exec", "compile")
"""Events that the standard library also raises for text that it makes itself, for named tuples and the like."""


def _audit(event: str, _: tuple[Any, ...]) -> None:
    if _observers and event in _EVENTS:
        _note(_EVENTS[event], sys._getframe(1), event in _DIRECT)


def _note(what: str, frame: FrameType | None, direct: bool = False) -> None:
    """Records an event for the nearest user's file among the callers, unless that was only importing a module.

    Frames of libraries may lie between it and the event, but not frames that load a module: the effects of importing a
    library do not depend on the importer.
    """
    while frame is not None:
        file, function = frame.f_code.co_filename, frame.f_code.co_name
        if is_users(file):
            _noticed.setdefault(str(Path(file).resolve()), f"{file}:{frame.f_lineno} {what}")
            return
        by_importing = function == "<module>" or (file.startswith("<frozen importlib") and function != "get_data")
        if direct or by_importing or is_floodmarks(file):
            return
        frame = frame.f_back
