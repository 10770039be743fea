"""The sources that decide which code is made here: part of what kept code is found by."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from floodmark.checkers.native.compiled_model import _compiler


@cache
def own_sources() -> str:
    """A hash of this package's sources and of those of the compiler that it is made with."""
    whole = hashlib.sha256(_compiler().encode())
    for file in sorted(files("floodmark.checkers.liveness").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            for part in (file.name.encode(), file.read_bytes()):
                whole.update(f"{len(part)}:".encode())
                whole.update(part)
    return whole.hexdigest()
