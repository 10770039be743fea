"""Standard output for machines: with ``--json -`` it has the JSON alone, and text goes to standard error."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import TextIO

NAME = Path("-")
"""The path that denotes standard output."""
_reserved: list[TextIO] = []


@contextmanager
def reserved() -> Iterator[None]:
    """Reserves standard output for ``write`` in the block; other output of this process and of those that it starts
    goes to standard error."""
    _reserved.append(sys.stdout)
    with ExitStack() as stack:
        stack.callback(_reserved.pop)
        handle = _handle(sys.stdout)
        if handle is not None and _handle(sys.stderr) is not None:
            sys.stdout.flush()
            kept = os.dup(handle)
            stack.callback(os.close, kept)
            os.dup2(sys.stderr.fileno(), handle)
            stack.callback(os.dup2, kept, handle)
            _reserved[-1] = stack.enter_context(open(kept, "w", encoding="utf-8", closefd=False))
        stack.enter_context(redirect_stdout(sys.stderr))
        yield


def _handle(stream: TextIO) -> int | None:
    """The file descriptor of a stream; None for one in memory."""
    try:
        return stream.fileno()
    except (io.UnsupportedOperation, AttributeError):
        return None


def write(text: str) -> None:
    """Writes to standard output."""
    stream = _reserved[-1] if _reserved else sys.stdout
    stream.write(text)
    stream.flush()
