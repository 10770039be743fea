"""What a verdict depends on besides its model: versions, and the sources of the language and the checkers."""

from __future__ import annotations

import hashlib
import platform
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from floodmark.checkers.loading import PACKAGE

_PACKAGES = ("floodmark", "llvmlite", "numpy", "pyspark", "z3-solver")


@cache
def versions() -> str:
    """The versions of Python and of the packages that affect a verdict, and whether Python skips assertions."""
    packages = [f"{name}={_version(name)}" for name in _PACKAGES]
    python = f"{sys.implementation.name} {sys.version} optimize={sys.flags.optimize}"
    return " ".join([python, sys.platform, platform.machine(), *packages])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "source"


@cache
def checker_source() -> str:
    """The hash of every source file of the checkers, of the language and of its compiler."""
    folders = (PACKAGE, (PACKAGE / "checkers").resolve())
    whole = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            whole.update(f"{file.relative_to(folder)}\n".encode())
            whole.update(file.read_bytes())
    return whole.hexdigest()
