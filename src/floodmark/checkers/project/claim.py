"""Claims in files: functions, each with the answer that its author expects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from floodmark.checkers.project.modules import Project
from floodmark.claims import Expectation, expectation_of, fails, holds
from floodmark.language.bindings import require_own_decorators
from floodmark.language.source import source_of


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: its function and the expected answer."""

    name: str
    function: Callable[..., bool]
    expectation: Expectation
    file: str
    line: int

    @property
    def doc(self) -> str:
        return " ".join((self.function.__doc__ or "").split())


def claim_files(folder: Path) -> list[Path]:
    """The files of claims below a path."""
    return sorted(path for path in folder.glob("*.py") if path.name != "__init__.py") if folder.is_dir() else [folder]


def read_claims(path: Path) -> list[Claim]:
    """The claims of a file, in order."""
    module: ModuleType = Project.of(path).load(path)
    require_own_decorators(str(path), vars(module), (holds, fails))
    found = []
    for name, function in vars(module).items():
        expectation = expectation_of(function)
        if expectation is not None and function.__module__ == module.__name__:
            source = source_of(function)
            found.append(Claim(name, function, expectation, source.file, source.tree.lineno))
    return found


def claims_of(paths: list[Path]) -> Iterator[Claim]:
    """The claims in files and folders."""
    for path in paths:
        for file in claim_files(path):
            yield from read_claims(file)
