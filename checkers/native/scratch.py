"""Scratch files: where they are, and how they get their size."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from pathlib import Path
from typing import IO


def base_folder() -> Path:
    """The folder that the user names for scratch files, else the system's folder for temporary files."""
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
    """Gives a file its size, with disk blocks allocated: without them, a full disk would end a process that maps it."""
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
    """The message for a full disk."""
    where = f"{folder} on {socket.gethostname()}"
    return OSError(error.errno, f"the disk of {where} is full; a file of {size / 1e6:,.1f} MB does not fit")
