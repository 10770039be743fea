"""Sends projects to workers.

A worker that does not see a spec's files unpacks them from what the driver sends, under the module names that they have
on the driver.
"""

from __future__ import annotations

import contextlib
import functools
import io
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from floodmark.checkers.project.modules import Project, placed_project
from floodmark.checkers.project.unpacking import unpack
from floodmark.checkers.verdict.check import Check
from floodmark.language.errors import SourceError

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

_SUFFIXES = (".py", ".toml", ".lock")
PackedFiles = dict[str, tuple[str, bytes]]
"""For each project's root on the driver: the prefix of its modules' names and a zip file of its sources, which is empty
if workers see the folder itself."""


def broadcast_files(context: SparkContext, every: Sequence[Check]) -> Broadcast[PackedFiles]:
    """The projects of checks, for a cluster's workers; with sources only if those are on other machines."""
    return context.broadcast(files_of(every, with_sources=not str(context.master).startswith("local")))


def files_of(every: Sequence[Check], with_sources: bool = True) -> PackedFiles:
    """Every project that a check belongs to."""
    for check in every:
        with contextlib.suppress(SourceError):
            check.properties()  # loads the imports of the project's files
    projects = dict.fromkeys(check.spec.project for check in every)
    return {str(each.root): (each.prefix, _sources(each, every) if with_sources else b"") for each in projects}


def _sources(project: Project, every: Sequence[Check]) -> bytes:
    """A zip file of a project: its models, properties and specs, the files in the same folders as the specs of its
    checks, and whatever else of it has been loaded."""
    found = [*project.loaded_files()]
    for folder in ("model", "invariants", "specs"):
        found += (file for file in (project.root / folder).rglob("*") if file.suffix in _SUFFIXES and file.is_file())
    for path in (check.spec.path.resolve() for check in every if check.spec.project is project):
        found += (path, *path.parent.glob("*.py"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for file in sorted(dict.fromkeys(found)):
            archive.write(file, file.relative_to(project.root).as_posix())
    return buffer.getvalue()


def check_on_worker(files: PackedFiles, check: Check) -> Check:
    """The check with the paths that its files have on this machine."""
    places: dict[str, Path] = {}
    for root, (prefix, content) in files.items():
        places[root] = _root_here(prefix, content) if content else Path(root)

    def here(path: Path) -> Path:
        for root, place in places.items():
            if path.is_relative_to(root):
                return place / path.relative_to(root)
        return path

    spec = replace(
        check.spec, path=here(check.spec.path), invariant_files=tuple(here(file) for file in check.spec.invariant_files)
    )
    settings = replace(check.settings, invariant_files=tuple(here(file) for file in check.settings.invariant_files))
    return replace(check, spec=spec, settings=settings)


@functools.cache
def _root_here(prefix: str, content: bytes) -> Path:
    """The folder of a project on this machine, whose modules then have the names that they have on the driver.

    A folder at the driver's path on this machine is not used instead: it may be an older copy.
    """
    return placed_project(unpack(content, "floodmark-files"), prefix).root
