"""Writes files atomically: a reader sees the whole old content or the whole new one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from floodmark.checkers.project import spec_address
from floodmark.language.errors import SourceError


def write(path: Path, text: str) -> None:
    """Replaces the content of a file in one step. Raises SourceError when that is not possible."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device cannot be replaced
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
        else:
            _replace(path, text)
    except OSError as error:
        raise unwritable(path, error) from None


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_MAX_NAME_BYTES = 200
"""The maximum length of a file's name, in bytes; systems allow 255, and the temporary name during writing is longer."""
SOURCES = (".lock", ".py", ".toml")
"""Suffixes of files that people write or commit."""


def must_be_writable(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuses, before a long search, a path that cannot be written afterwards or that must not be overwritten.

    The latter are the run's ``inputs`` and any file whose suffix makes it a source.
    """
    folder = path.parent
    if os.path.isdir(path):
        raise SourceError("cannot be written: it is a folder", str(path))
    if len(os.fsencode(path.name)) > _MAX_NAME_BYTES:
        raise SourceError("cannot be written: the name is too long", str(path))
    files = [spec_address.split_address(each)[0] for each in inputs]
    if any(os.path.exists(path) and os.path.exists(each) and path.samefile(each) for each in files):
        raise SourceError("would be overwritten: it is an input of this run; name another file", str(path))
    if path.suffix in SOURCES:
        raise SourceError(f"would be overwritten: a {path.suffix} file is a source; name another file", str(path))
    if not os.path.isdir(folder):
        raise SourceError(f"cannot be written: there is no folder {folder}", str(path))
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise SourceError("cannot be written: permission denied", str(path))


def folder(path: Path) -> Path:
    """The folder, created if necessary. Raises SourceError when it cannot be created."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from None
    return path


def unwritable(path: Path, error: OSError) -> SourceError:
    """The error for a path that the system refuses to write."""
    return SourceError(f"cannot be written: {error.strerror}", str(path))
