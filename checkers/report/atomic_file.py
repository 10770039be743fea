"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from floodmark.language.errors import SourceError


def write(path: Path, text: str) -> None:
    """Writes a file in one step: a reader sees the old content or the new one. Raises SourceError where it cannot."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device takes no other file's place
            path.write_text(text, encoding="utf-8")
        else:
            _replace(path, text)
    except OSError as error:
        raise unwritable(path, error) from None


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "w", encoding="utf-8") as file:
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


SOURCES = (".lock", ".py", ".toml")
"""What ends the names of files that people write or commit."""


def must_be_writable(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuses a path at once that could not be written after a long search, or that must not be overwritten.

    That is one of the run's ``inputs``, or any file that is a source by its name.
    """
    folder = path.parent
    if path.is_dir():
        raise SourceError("cannot be written: it is a folder", str(path))
    if any(path.exists() and each.exists() and path.samefile(each) for each in inputs):
        raise SourceError("would be overwritten: it is an input of this run; name another file", str(path))
    if path.suffix in SOURCES:
        raise SourceError(f"would be overwritten: a {path.suffix} file is a source; name another file", str(path))
    if not folder.is_dir():
        raise SourceError(f"cannot be written: there is no folder {folder}", str(path))
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise SourceError("cannot be written: permission denied", str(path))


def folder(path: Path) -> Path:
    """The folder, made when it is not there. Raises SourceError where it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from None
    return path


def unwritable(path: Path, error: OSError) -> SourceError:
    """What is said of a path that the system refuses."""
    return SourceError(f"cannot be written: {error.strerror}", str(path))
