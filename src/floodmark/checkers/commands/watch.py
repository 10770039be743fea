"""``floodmark check --watch``: checks again whenever a file of the project changes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import click

from floodmark.checkers.project import spec_address
from floodmark.checkers.project.modules import Project
from floodmark.checkers.project.paths import shown
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.plurals import counted

_SECONDS = 0.3
"""Seconds between two scans of the files."""
_ENDINGS = (".py", ".toml")
_OTHERS = {"__pycache__", "node_modules"}

Stamps = dict[Path, tuple[int, int]]
"""The time of the last change of each file, and its size."""


def watch(arguments: Sequence[str], paths: Iterable[Path]) -> NoReturn:
    """Runs the command with these arguments now and after each change, each time in a new process, until it is
    interrupted."""
    roots = sorted({_root(path) for path in paths})
    command = [sys.executable, "-P", "-m", "floodmark", *arguments]
    while True:
        before = _stamps(roots)
        if subprocess.run(command).returncode == ExitCode.INTERRUPTED:
            raise click.exceptions.Exit(ExitCode.INTERRUPTED)
        click.echo(f"watching {counted(len(before), 'file')} below {', '.join(map(shown, roots))}  (Ctrl-C ends)")
        sys.stdout.flush()
        while (now := _stamps(roots)) == before:
            time.sleep(_SECONDS)
        changed = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
        click.echo(f"\nchanged: {', '.join(map(shown, changed))}")
        sys.stdout.flush()


def _root(path: Path) -> Path:
    """The folder of the project that a spec, a row of one or a folder of specs belongs to."""
    place, _ = spec_address.split_address(path)
    return Project.of(place / "any.toml" if place.is_dir() else place).root


def _stamps(roots: Iterable[Path]) -> Stamps:
    return {file: stamp for root in roots for file, stamp in _files(root)}


def _files(folder: Path) -> Iterator[tuple[Path, tuple[int, int]]]:
    """The specs and the Python files below a folder, except those of hidden folders and virtual environments."""
    for place, inner, files in os.walk(folder):
        inner[:] = [name for name in inner if _is_watched(Path(place, name))]
        for name in files:
            if name.endswith(_ENDINGS):
                try:
                    found = os.stat(Path(place, name))
                except OSError:
                    continue  # it was removed meanwhile
                yield Path(place, name), (found.st_mtime_ns, found.st_size)


def _is_watched(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in _OTHERS
    return not hidden and not (folder / "pyvenv.cfg").exists()
