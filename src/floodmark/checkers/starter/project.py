"""Writes the starter project into a repository, and never over a file that is there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from floodmark.language.errors import SourceError

Ci = Literal["github", "gitlab", "none"]

_PROJECT = ("model", "invariants", "specs")
_WORKFLOWS = {"github": ".github", "gitlab": ".gitlab-ci.yml"}
_SUFFIX = ".txt"


def write_starter(folder: Path, ci: Ci) -> Iterator[str]:
    """Writes the project and its continuous integration; says of each file whether it was written or kept.

    The lease, its properties and its spec are for an empty repository: where there is a ``model``, ``invariants`` or
    ``specs`` folder, only the files for continuous integration are written. Raises SourceError where a file cannot be.
    """
    there = [name for name in _PROJECT if (folder / name).exists()]
    if there:
        yield f"no example is written: there is {' and '.join(f'{name}/' for name in there)} already"
    unwanted = {name for key, name in _WORKFLOWS.items() if key != ci} | (set(_PROJECT) if there else set())
    for name, text in _files(files("floodmark.checkers.starter")):
        if name.split("/")[0] not in unwanted:
            yield _written(folder, name, text)


def _files(folder: Traversable, above: str = "") -> Iterator[tuple[str, str]]:
    """The files of the starter project, by their paths in the repository."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, f"{above}{entry.name}/")
        elif entry.name.endswith(_SUFFIX):
            text = entry.read_text(encoding="utf-8").replace("@INSTALL@", f"floodmark=={version('floodmark')}")
            yield f"{above}{entry.name.removesuffix(_SUFFIX)}", text


def _written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    try:
        if os.path.lexists(path):
            return f"kept     {name}  (it is there already)"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
    except OSError as error:
        raise SourceError(f"cannot be written: {error.strerror}", str(path)) from None
    return f"written  {name}"


def next_steps(folder: Path) -> Iterator[str]:
    """The next steps for the user, after the files are written."""
    yield ""
    yield "next:"
    if folder.resolve() != Path.cwd():
        yield f"  cd {folder}"
    if (folder / "specs/lease.toml").exists():
        yield "  floodmark check --traces        explores the lease, and shows how the known-bad design fails"
    yield "  floodmark gate --update-lock    writes specs/floodmark.lock; commit it"
    yield "  git config core.hooksPath .githooks"
