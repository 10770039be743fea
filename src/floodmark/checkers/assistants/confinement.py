"""The files that a call of an assistant may name: those of the project, and the specs that come with Floodmark.

A path is resolved, so a link does not lead out of the project. This limits the files that a call itself reads and runs.
It is no sandbox: CPython runs the models of the project, which can do whatever Python can.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from floodmark.checkers.project import spec_address
from floodmark.checkers.project.arguments import spec_path
from floodmark.checkers.project.loading import SHIPPED
from floodmark.checkers.project.spec import Spec, read_all
from floodmark.language.errors import SourceError


def specs_of(root: Path, name: str) -> list[Spec]:
    """The specs that a name means. Raises SourceError if the spec, or a file that it names, is outside of the
    project."""
    address = spec_path(name)
    file, _ = spec_address.split_address(address)
    require_inside(root, file)
    specs = read_all(address)
    for spec in specs:
        for named in _named(spec):
            require_inside(root, named)
    return specs


def _named(spec: Spec) -> Iterator[Path]:
    """The files that a spec names by their paths."""
    yield from spec.invariant_files
    yield from () if spec.mutation is None else spec.mutation.also
    for reference in (spec.model, *(flawed.reference for flawed in spec.flawed)):
        where = reference.rpartition(":")[0]
        yield from (path for path in (spec.path.parent / where, spec.path.parent / f"{where}.py") if path.is_file())


def require_inside(root: Path, path: Path) -> Path:
    """The real place of a path. Raises SourceError if it is neither in the project nor shipped with Floodmark."""
    real = path.resolve()
    shipped = (SHIPPED / "specs", SHIPPED / "model", SHIPPED / "invariants")
    if not any(real.is_relative_to(folder.resolve()) for folder in (root, *shipped)):
        raise SourceError("is outside of the project, and a call may name no such file", str(path))
    return real
