"""Any release of PySyncObj, with its clock and its random numbers under our control."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

FOLDER = "PYSYNCOBJ"
"""The environment variable that names the folder of another release, filled by ``pip install --target``."""


class Dice:
    """Replaces the module ``random``: drawn timeouts are always the shortest."""

    @staticmethod
    def random() -> float:
        return 0.0


class Library:
    """One release. ``now`` is its clock's time, in seconds, which moves only when it is set."""

    def __init__(self, folder: str | None) -> None:
        with _modules_of(folder):
            try:
                self.syncobj: Any = importlib.import_module("pysyncobj.syncobj")
            except ModuleNotFoundError:
                where = "installed" if folder is None else f"in {folder}"
                message = f'PySyncObj is not {where}; run: pip install "floodmark[test]", or set {FOLDER} to a folder'
                raise ModuleNotFoundError(message) from None
            self.transport: Any = importlib.import_module("pysyncobj.transport")
            self.tcp_connection: Any = importlib.import_module("pysyncobj.tcp_connection")
            self.node: Any = importlib.import_module("pysyncobj.node")
            self.config: Any = importlib.import_module("pysyncobj.config")
            self.version: str = importlib.import_module("pysyncobj.version").VERSION
        self.now = 0.0
        self.syncobj.monotonicTime = lambda: self.now
        self.syncobj.random = Dice

    @property
    def release(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.version.split("."))


@cache
def library(folder: str | None = None) -> Library:
    """The release in a folder, else the one that ``PYSYNCOBJ`` names, else the installed one."""
    return Library(folder if folder is not None else os.environ.get(FOLDER))


@contextmanager
def _modules_of(folder: str | None) -> Iterator[None]:
    """Lets the package be imported from a folder; other packages of that name are neither used nor replaced."""
    before = _taken_out()
    if folder is not None:
        sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder is not None:
            sys.path.remove(folder)
        _taken_out()
        sys.modules.update(before)


def _taken_out() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name == "pysyncobj" or name.startswith("pysyncobj.")]
    return {name: sys.modules.pop(name) for name in names}
