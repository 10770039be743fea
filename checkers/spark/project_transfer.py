"""Projects as they travel to workers.

Where a worker does not see a spec's files, it unpacks them from what the driver sends along, under the module names
that they have on the driver.
"""

from __future__ import annotations

import functools
import hashlib
import io
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from floodmark.checkers.check import Check
from floodmark.checkers.project import Project, project_at

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

_SUFFIXES = (".py", ".toml", ".lock")
Files = dict[str, tuple[str, bytes]]
"""For each project's root on the driver: the prefix of its modules' names and a zip file of its sources."""
_SHIPPED = ""
"""Stands for the root of the shipped project, which every worker has."""


def broadcast_files(context: SparkContext, every: Sequence[Check]) -> Broadcast[Files]:
    """The projects of checks for the workers of a cluster; the sources only where those are on other machines."""
    return context.broadcast(files_of(every, with_sources=not str(context.master).startswith("local")))


def files_of(every: Sequence[Check], with_sources: bool = True) -> Files:
    """Every project that a check belongs to, and the shipped one."""
    projects = dict.fromkeys(check.spec.project for check in every)
    found = {str(each.root): (each.prefix, _sources(each, every) if with_sources else b"") for each in projects}
    return {_SHIPPED: (Project.shipped().prefix, b""), **found}


def _sources(project: Project, every: Sequence[Check]) -> bytes:
    """A zip file with the models, properties and specs of a project, and what lies beside the specs of its checks."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in ("model", "invariants", "specs"):
            for file in sorted((project.root / folder).rglob("*")):
                if file.suffix in _SUFFIXES and file.is_file():
                    archive.write(file, file.relative_to(project.root).as_posix())
        for path in (check.spec.path.resolve() for check in every if check.spec.project is project):
            for file in (path, *path.parent.glob("*.py")):
                name = file.relative_to(project.root).as_posix()
                if name not in archive.namelist():
                    archive.write(file, name)
    return buffer.getvalue()


def placed(files: Files, check: Check) -> Check:
    """The check with the paths that its files have on this machine."""
    places: dict[str, Path] = {}
    for root, (prefix, content) in files.items():
        if root == _SHIPPED:
            Project.shipped().prefix = prefix
        else:
            places[root] = _root_here(root, prefix, content)

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
def _root_here(root: str, prefix: str, content: bytes) -> Path:
    """The folder of a project on this machine, whose modules then have the names that they have on the driver."""
    folder = Path(root)
    if not folder.exists():
        folder = Path(tempfile.gettempdir()) / f"floodmark-files-{hashlib.sha256(content).hexdigest()[:16]}"
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(folder)
    project_at(folder.resolve()).prefix = prefix
    return folder.resolve()
