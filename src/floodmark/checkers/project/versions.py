"""The dependences of a verdict besides its model: versions, and the sources of the language and the checkers."""

from __future__ import annotations

import hashlib
import importlib.util
import platform
import sys
from collections.abc import Iterator
from functools import cache
from importlib.abc import InspectLoader
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable

_PACKAGES = ("floodmark", "llvmlite", "numpy", "pyspark", "z3-solver")
_NAMED_BY_MODELS = ("typing_extensions",)
"""The installed modules of which a model may use names while its verdict is cached."""


@cache
def versions() -> str:
    """The versions of Python and of the packages that affect a verdict, and whether Python skips assertions."""
    packages = [f"{name}={_version(name)}" for name in _PACKAGES]
    packages += [f"{name}={_text_of(name)}" for name in _NAMED_BY_MODELS]
    python = f"{sys.implementation.name} {sys.version} optimize={sys.flags.optimize}"
    return " ".join([python, sys.platform, platform.machine(), *packages])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "source"


def _text_of(name: str) -> str:
    """The hash of an installed module's source, wherever Python finds it."""
    spec = importlib.util.find_spec(name)
    loader = None if spec is None else spec.loader
    text = loader.get_source(name) if isinstance(loader, InspectLoader) else None
    return "absent" if text is None else hashlib.sha256(text.encode()).hexdigest()


@cache
def source_hash(*rooms: str) -> str:
    """The hash of every source file in some folders of this package, such as ``checkers/codegen``; without any, of all
    of the package. Resources are read, not files, because the package may be in an archive."""
    whole = hashlib.sha256()
    package = files("floodmark")
    for room in rooms or ("",):
        top = package.joinpath(*room.split("/")) if room else package
        for name, content in _sources(top, room):
            for part in (name.encode(), content):
                whole.update(f"{len(part)}:".encode())
                whole.update(part)
    return whole.hexdigest()


def _sources(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources(entry, f"{name}/{entry.name}")
        elif entry.name.endswith(".py"):
            yield f"{name}/{entry.name}", entry.read_bytes()
