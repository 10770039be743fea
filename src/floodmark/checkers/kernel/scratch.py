"""Scratch files: where they are, and how they get their size."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from pathlib import Path
from typing import IO


def base_folder() -> Path:
    """The first folder that the user names for scratch files, else the system's folder for temporary files."""
    return Path(os.environ.get("FLOODMARK_LOCAL_DIR", "").split(",")[0].strip() or tempfile.gettempdir())


def is_in_memory(folder: Path) -> bool:
    """Whether what is written to a folder stays in memory."""
    best, kind = "", ""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    resolved = folder.resolve()
    for line in mounts:
        _, place, system, *_ = line.split()
        if len(place) >= len(best) and resolved.is_relative_to(place):
            best, kind = place, system
    return kind in ("tmpfs", "ramfs", "devtmpfs")


def allocate(file: IO[bytes], size: int, folder: Path) -> None:
    """Gives a file its size, with disk blocks allocated: without them, a full disk would end a process that maps it."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            os.ftruncate(file.fileno(), size)
    except OSError as error:
        if not is_full(error):
            raise
        raise full_disk(error, folder, size) from None


class FullDiskError(OSError):
    """A disk is full. The message names its folder and its host."""


def full_disk(error: OSError, folder: Path, size: int | None = None) -> FullDiskError:
    """The error for a full disk, to which a file of ``size`` bytes was to be written."""
    wanted = "" if size is None else f"; a file of {size / 1e6:,.1f} MB does not fit"
    return FullDiskError(error.errno, f"{_DISK} {folder} on {socket.gethostname()} is full{wanted}")


_DISK = "the disk of"


def tells_of_full_disk(report: str) -> bool:
    """Whether a report has the text of a FullDiskError. Spark hands on what a worker raises as text alone."""
    return _DISK in report


def is_full(error: OSError) -> bool:
    """Whether an error of the system says that a disk is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
