"""Claims in files: functions, each with the answer that its author expects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from floodmark.checkers.project import input_file
from floodmark.checkers.project.modules import Project
from floodmark.claims import Expectation, expectation_of, fails, holds
from floodmark.language.bindings import require_outside_functions, require_own_decorators
from floodmark.language.errors import SourceError
from floodmark.language.source import source_of

_MENTION = b"floodmark.claims"


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


def misplaced_files(folder: Path) -> Iterator[SourceError]:
    """An error for each file with claims in a folder below the folder of claims, where nobody would read it."""
    for file in input_file.below(folder, ".py") if folder.is_dir() else []:
        if file.parent != folder and file.is_file() and _MENTION in file.read_bytes():
            message = f"claims are read from the files in {folder.name} itself; move this file there"
            yield SourceError(message, str(file))


def read_claims(path: Path) -> list[Claim]:
    """The claims of a file, in order."""
    module: ModuleType = Project.of(path).load(path)
    require_own_decorators(str(path), vars(module), (holds, fails))
    require_outside_functions(str(path), vars(module), (holds, fails))
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
        for error in misplaced_files(path):
            raise error
        for file in claim_files(path):
            yield from read_claims(file)
