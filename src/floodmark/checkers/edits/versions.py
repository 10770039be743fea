"""Two versions of a repository: the working tree, and a commit whose files are written to a temporary folder.

The files of a commit are loaded as those of another project, so the two versions share no class and no module.
"""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from floodmark.checkers.project.paths import resolved, shown
from floodmark.language.errors import SourceError


@dataclass(frozen=True)
class Version:
    """A version of a repository: ``root`` has its files, ``label`` is its name in messages. ``home`` is the folder of
    the files that people edit, which is ``root`` for the working tree."""

    label: str
    root: Path
    home: Path

    @property
    def is_checkout(self) -> bool:
        return self.root != self.home

    def path_of(self, path: Path) -> Path:
        """The path in this version of a file of the repository."""
        return self.root / resolved(path).relative_to(self.home)

    def place(self, file: str | None, line: int | None = None) -> str:
        """A line of a file of this version, as messages name it: ``main:model/lease.py:12``."""
        if file is None:
            return ""
        path = resolved(Path(file))
        at = "" if line is None else f":{line}"
        if self.is_checkout and path.is_relative_to(self.root):
            return f"{self.label}:{path.relative_to(self.root).as_posix()}{at}"
        return f"{shown(path)}{at}"


def working_tree(near: Path) -> Version:
    """The working tree of the repository that contains a path; without git, the folder of the path."""
    folder = resolved(near if near.is_dir() else near.parent)
    try:
        root = resolved(Path(_git(folder, "rev-parse", "--show-toplevel")))
    except SourceError:
        root = folder
    return Version("the working tree", root, root)


@contextmanager
def commit(ref: str, near: Path) -> Iterator[Version]:
    """The files of a commit of the repository that contains a path, in a temporary folder.

    Raises SourceError where there is no git, no repository, or no such commit.
    """
    home = resolved(Path(_git(resolved(near if near.is_dir() else near.parent), "rev-parse", "--show-toplevel")))
    if ref.startswith("-"):
        raise SourceError(f"{ref} is not the name of a commit")
    try:
        name = _git(home, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    except SourceError:
        raise SourceError(f"git knows no commit {ref} here; in CI, fetch it first: git fetch origin {ref}") from None
    with tempfile.TemporaryDirectory(prefix="floodmark-") as folder:
        root = resolved(Path(folder)) / "files"
        root.mkdir()
        index = {"GIT_INDEX_FILE": str(resolved(Path(folder)) / "index")}
        _git(home, "read-tree", name, **index)
        _git(home, "checkout-index", "--all", "--quiet", f"--prefix={root}{os.sep}", **index)
        (root / ".git").mkdir(exist_ok=True)  # the mark of a project's root, as in the repository
        yield Version(ref, root, home)


def is_same_file(path: Path, old: Version, new: Version) -> bool:
    """Whether a file of the new version has the same content in the old version."""
    try:
        return path.read_bytes() == (old.root / path.relative_to(new.root)).read_bytes()
    except (OSError, ValueError):
        return False


@functools.cache
def has_lost_files(old: Version, new: Version) -> bool:
    """Whether the new version lacks a Python file of the old one. Nothing in the new version reaches such a file, but
    the old version may have."""
    return any(not (new.root / path).is_file() for path in _files(old.root))


def _files(root: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name != ".git"]
        yield from ((Path(folder) / name).relative_to(root) for name in files if name.endswith(".py"))


def _git(folder: Path, *words: str, **environment: str) -> str:
    """The output of a git command. Raises SourceError with git's message."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, env={**os.environ, **environment},
            check=False,
        )
    except FileNotFoundError:
        raise SourceError("git is not installed, so no commit can be read") from None
    if done.returncode:
        raise SourceError(f"git {words[0]}: {done.stderr.strip() or 'no such object'}", str(folder))
    return done.stdout.strip()
