"""Properties in a project's ``invariants/`` that nothing checks, because no spec finds their file.

A spec finds properties by the name of its model's module (``Spec.invariant_modules``). A file with another name, a file
in another folder and a folder in place of a file would be ignored silently, and their properties never checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from floodmark.checkers.project import input_file, spec_address
from floodmark.checkers.project.modules import Project
from floodmark.checkers.project.properties import is_about, own_properties
from floodmark.checkers.project.spec import INVARIANT_KINDS, read_all, within_model
from floodmark.checkers.verdict.check import Check
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.source import source_of


def unfound_properties(every: Iterable[Check], all_there_are: bool = False) -> list[SourceError]:
    """An error for each property in ``invariants/`` that the checks do not find.

    If ``every`` is only a part of the project's checks, other specs may find the property. Then it counts only if it is
    about a model that is checked, in a file that is named after no model and that no spec of the project lists.
    """
    by_project: dict[Project, list[Check]] = {}
    for check in every:
        by_project.setdefault(check.spec.project, []).append(check)
    return [
        error
        for project, checks in by_project.items()
        for error in _UnfoundProperties(project, checks, all_there_are).errors()
    ]


class _UnfoundProperties:
    def __init__(self, project: Project, checks: Sequence[Check], all_there_are: bool) -> None:
        self.project = project
        self.checks = checks
        self.all_there_are = all_there_are
        self.found: set[Callable[..., Any]] = set()
        self.classes: set[type[Model]] = set()

    def errors(self) -> Iterator[SourceError]:
        """The errors. If a check itself has an error, its properties are unknown, so only errors about files are
        reported."""
        folder = self.project.root / "invariants"
        files = sorted(folder.rglob("*.py"))
        for path in files:
            if not path.is_file():
                message = f"{path.name} is not a file here, so no spec finds properties in it; put a file in its place"
                yield SourceError(message, str(path))
        every = self.all_there_are
        files = [path for path in files if path.is_file() and (every or not self._is_for_a_model(path, folder))]
        unfound: list[SourceError] = []
        try:
            for designs in (False, True):  # known-bad designs seldom have properties of their own
                self._find(designs)
                unfound = [error for path in files for error in self._in_file(path)]
                if not unfound:
                    return
        except SourceError:
            return
        listed = set() if every else self._listed()
        yield from (error for error in unfound if error.file is None or Path(error.file).resolve() not in listed)

    def _listed(self) -> set[Path]:
        """The files that any spec of the project lists under ``invariant_files``."""
        found: set[Path] = set()
        for path in input_file.below(self.project.root / "specs", spec_address.SUFFIX):
            with suppress(SourceError):
                found |= {file.resolve() for spec in read_all(path) for file in spec.invariant_files}
        return found

    def _find(self, designs: bool) -> None:
        searched = set()
        for check in self.checks:
            if (check.flawed is not None) == designs:
                cls, files = check.cls(), (*check.spec.invariant_files, *check.settings.invariant_files)
                self.classes.add(cls)
                if (cls, files) not in searched:
                    searched.add((cls, files))
                    properties = check.spec.properties(cls, check.settings.invariant_files)
                    self.found |= {prop.function for prop in properties.values()}

    def _is_for_a_model(self, path: Path, folder: Path) -> bool:
        """Whether a model's file has the name after which the file is named."""
        path = path.relative_to(folder)
        ends = [f"_{kind}" for kind in INVARIANT_KINDS if path.stem.endswith(f"_{kind}")]
        names = [path, *(path.with_name(f"{path.stem.removesuffix(end)}.py") for end in ends)]
        roots = [project.root / "model" for project in (self.project, Project.shipped())]
        elsewhere = [self.project.root / "model", self.project.root / "specs"] if len(path.parts) == 1 else []
        return any((root / name).is_file() for root in roots for name in names) or any(
            True for root in elsewhere for name in names for _ in root.rglob(name.name)
        )

    def _in_file(self, path: Path) -> Iterator[SourceError]:
        try:
            for function in own_properties(self.project.load(path)):
                if function not in self.found:
                    about = [cls for cls in sorted(self.classes, key=str) if is_about(function, cls)]
                    if about or self.all_there_are:
                        yield self._unfound(function, about)
        except SourceError as error:
            yield error

    def _unfound(self, function: Callable[..., Any], about: list[type[Model]]) -> SourceError:
        source, name = source_of(function), function.__name__
        message = f"no spec has a model that {name} is about, so nothing checks it"
        if about:
            bases = (base for base in reversed(about[0].__mro__) if issubclass(base, Model))
            cls = next(base for base in bases if is_about(function, base))
            file = "invariants/MODEL.py" if cls is Model else f"invariants/{within_model(cls).replace('.', '/')}.py"
            message = f"no spec finds {name}, a property of {cls.__name__}, in this file; move it to {file}"
            message += ", or list this file under invariant_files in the spec"
        return SourceError(message, source.file, source.tree.lineno)
