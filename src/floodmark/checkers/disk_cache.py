"""The disk cache: one folder in which compiled code and verdicts are kept between runs.

It is neither read nor written while Floodmark's sources differ from what the process has loaded, because every key has
a hash of these sources (``own_sources.py``).
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from floodmark.checkers import own_sources

_DIGEST_BYTES = 32


def cache_directory() -> Path:
    """The cache folder: FLOODMARK_CACHE if it is set, else the user's cache directory."""
    own = os.environ.get("FLOODMARK_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "floodmark"


def read(path: Path) -> bytes | None:
    """The content stored in a file; None when the file is absent or damaged."""
    if not own_sources.are_as_loaded():
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, kept = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return kept if kept and _digest(path, kept) == digest else None


def _digest(path: Path, content: bytes) -> bytes:
    """The hash of a file's content and its name, so that content stored under another name does not count."""
    return hashlib.sha256(path.name.encode() + b"\0" + content).digest()


def write(path: Path, content: bytes) -> None:
    """Stores a content. A folder that cannot be written to is not an error.

    The file is not written elsewhere and renamed, which takes several times as long: a part of a content, or a mixture
    of two, does not have the digest that ``read`` asks for, so it counts as absent.
    """
    if not own_sources.are_as_loaded():
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb", buffering=0) as file:
            file.write(_digest(path, content) + content)
