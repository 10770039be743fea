"""Scratch files: where they lie, and how one is made as large as it has to be."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from pathlib import Path
from typing import IO


def base_folder() -> Path:
    """The folder that the user names for scratch files, else the system's for temporary ones."""
    return Path(os.environ.get("FLOODMARK_LOCAL_DIR") or tempfile.gettempdir())


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
    """Makes a file as large, with blocks of the disk: a mapped file without them ends the process on a full disk."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            os.ftruncate(file.fileno(), size)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise full_disk(error, size, folder) from None


def full_disk(error: OSError, size: int, folder: Path) -> OSError:
    """What is said of a disk that is full."""
    where = f"{folder} on {socket.gethostname()}"
    return OSError(error.errno, f"the disk of {where} is full; a file of {size / 1e6:,.1f} MB does not fit")
