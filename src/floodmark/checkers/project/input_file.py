"""Reads the files that users name, whatever kind of file they are, and finds those below a folder.

A pipe may never end and a device may have no end at all, so only regular files are read, as a whole and up to a size;
any problem is an error with the file's name. No call blocks: a pipe is opened without waiting for a writer.
"""

from __future__ import annotations

import codecs
import importlib.util
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from floodmark.checkers.project.input_limits import brief
from floodmark.language.errors import SourceError

MAX_BYTES = 256 << 20
"""The size of the largest file that is read as a whole."""
MAX_ENTRIES = 200_000
"""The greatest number of files and folders below a folder: a repository has fewer, and a whole disk has more."""
MAX_LINE_BYTES = 64 << 20
"""The size in bytes of the longest line of a file that is read line by line."""
_MAX_NAME_BYTES = 255
_BYTE_ORDER_MARK = "\ufeff"


def text_of(path: Path) -> str:
    """The text of a file. Raises SourceError when it cannot be read or is not UTF-8 text."""
    text = require_text(bytes_of(path), path)
    if text.startswith(_BYTE_ORDER_MARK):
        raise SourceError("begins with a byte order mark; save it as UTF-8 without one", str(path), 1)
    return text


def require_text(content: bytes, path: Path) -> str:
    """The text that the content of a file is. Raises SourceError when it is not UTF-8."""
    _require_no_utf_16(content, path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SourceError("is not UTF-8 text", str(path), line) from None


def require_source(content: bytes, path: Path) -> None:
    """Refuses the content of a Python file that is not text in UTF-8, nor in an encoding that it declares. Python
    itself accepts such a file as long as the invalid bytes stand in comments."""
    _require_no_utf_16(content, path)
    try:
        importlib.util.decode_source(content)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SourceError(f"is not UTF-8 text: byte 0x{content[error.start]:02x}; save it as UTF-8, or declare its "
                          "encoding in the first line", str(path), line) from None
    except SyntaxError:
        return  # which the compiler reports with its line


def _require_no_utf_16(content: bytes, path: Path) -> None:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError("is UTF-16 text; save it as UTF-8", str(path), 1)


def bytes_of(path: Path) -> bytes:
    """The content of a file. Raises SourceError when it cannot be read."""
    try:
        with opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read(MAX_BYTES + 1) if size <= MAX_BYTES else b""
    except OSError as error:
        raise unreadable(path, error) from None
    if max(size, len(content)) > MAX_BYTES:
        raise SourceError(f"cannot be read: it is larger than {MAX_BYTES >> 20} MiB", str(path))
    return content


def opened(path: Path) -> BinaryIO:
    """A regular file, opened for reading. Raises SourceError when there is none."""
    require_plain_name(path)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise unreadable(path, error) from None
    kind = _kind(os.fstat(handle).st_mode)
    if kind is not None:
        os.close(handle)
        raise SourceError(f"cannot be read: it is {kind}, not a file", str(path))
    return open(handle, "rb")


def lines_of(path: Path, start: int = 0) -> Iterator[bytes]:
    """The lines of a file of any size, from a position on. Raises SourceError, also for a line without end."""
    try:
        with opened(path) as file:
            file.seek(start)
            while line := file.readline(MAX_LINE_BYTES):
                if len(line) == MAX_LINE_BYTES:
                    raise SourceError(f"cannot be read: a line is longer than {MAX_LINE_BYTES >> 20} MiB", str(path))
                yield line
    except OSError as error:
        raise unreadable(path, error) from None


def size_of(path: Path) -> int:
    """The size of a file in bytes. Raises SourceError when there is none."""
    with opened(path) as file:
        return os.fstat(file.fileno()).st_size


def require_plain_name(path: Path) -> None:
    """Refuses a name that no file can have, and one that is not text: no message, report or lock can repeat it."""
    name = str(path)
    if "\0" in name:
        raise SourceError("no file has a name with a NUL character", name.replace("\0", "\\0"))
    if any(len(os.fsencode(part)) > _MAX_NAME_BYTES for part in path.parts):
        raise SourceError("no file has so long a name", brief(name))
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise SourceError("the name of this file is not UTF-8 text; rename it", printable(name)) from None


def printable(name: str) -> str:
    """A name with ``\\xff`` for each byte that is not text."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def below(folder: Path, suffix: str) -> list[Path]:
    """The files with a suffix below a folder, sorted; links to folders are not followed.

    A folder with the suffix is included: reading it as a file gives an error. Raises SourceError for a folder that
    cannot be read and for one with too many entries.
    """
    found = []
    left = MAX_ENTRIES
    for place, folders, files in os.walk(folder, onerror=_raise):
        left -= len(folders) + len(files)
        if left < 0:
            message = f"has more than {MAX_ENTRIES:,} files and folders; name the folder in which to look"
            raise SourceError(message, str(folder))
        found += [Path(place, name) for name in (*folders, *files) if name.endswith(suffix)]
    return sorted(found)


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):  # deleted meanwhile
        raise unreadable(Path(os.fsdecode(error.filename)), error) from None


def unreadable(path: Path, error: OSError) -> SourceError:
    """The error for a path that the system refuses to read."""
    why = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
    return SourceError(f"cannot be read: {why}", str(path))


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def _kind(mode: int) -> str | None:
    """The kind of the thing at a path that is no regular file."""
    return next((name for test, name in _KINDS if test(mode)), None)
