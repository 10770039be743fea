"""The users' files that results rest on, by their hashes, so that results can be told from those of other files."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from floodmark.checkers.project import input_file
from floodmark.checkers.project.loading import SHIPPED, SourceLoader, digest, is_users
from floodmark.checkers.project.modules import Project
from floodmark.checkers.project.paths import resolved, shown
from floodmark.language.errors import SourceError


def used_files(specs: Iterable[str]) -> dict[str, str]:
    """The hash of each spec as it is now, and of each Python file of their projects or of the shipped one as it was
    loaded. Names are relative to the current folder for files below it.

    A listed file may be unrelated to a result. None is missing: the parts of a model, a property or a known-bad design
    were loaded into this process when its properties were read.
    """
    found: dict[str, str] = {}
    roots = {SHIPPED}
    for spec in dict.fromkeys(specs):
        roots.add(Project.of(Path(spec)).root)
        text = current(spec)
        if text is not None:
            found[spec] = text
    for module in list(sys.modules.values()):
        loader, file = getattr(module, "__loader__", None), getattr(module, "__file__", None)
        if isinstance(loader, SourceLoader) and isinstance(file, str) and loader.digest and is_users(file):
            path = resolved(Path(file))
            if any(path.is_relative_to(root) for root in roots):
                found[shown(path)] = loader.digest
    return dict(sorted(found.items()))


def current(file: str) -> str | None:
    """The hash of a file's current content; None where there is no such file."""
    try:
        return digest(input_file.bytes_of(Path(file)))
    except SourceError:
        return None
