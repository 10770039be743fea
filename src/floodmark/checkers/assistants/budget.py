"""A call in a process of its own: it cannot write to the connection, and ends when its budget is used up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floodmark.checkers.resources import memory_of
from floodmark.language.plurals import counted_seconds

GRACE_SECONDS = 5.0
"""The seconds beyond its time limit in which a call may report its progress."""
_POLL_SECONDS = 0.1
_MAX_SHOWN_OUTPUT = 2_000
"""The maximum number of characters of a failed call's output in its answer."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The time and the memory of a call, with all processes that it starts."""

    seconds: float = 60.0
    memory: int = 4 << 30


def answer(root: Path, tool: str, arguments: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """The answer of a tool, or the reason why there is none."""
    request = {"tool": tool, "arguments": arguments, "seconds": budget.seconds, "memory": budget.memory}
    with tempfile.TemporaryFile() as printed, _worker(root, printed) as process:
        assert process.stdin is not None and process.stdout is not None
        received: list[bytes] = []
        reader = threading.Thread(target=lambda out=process.stdout: received.append(out.read()), daemon=True)
        reader.start()
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode())
            process.stdin.close()
        ended = _ended(process, budget)
        if ended:
            return {"verdict": "undetermined", "exit_code": 3, "error": ended}
        reader.join(GRACE_SECONDS)
        try:
            found: dict[str, Any] = json.loads(b"".join(received))
        except ValueError:
            printed.seek(0)
            text = printed.read().decode(errors="backslashreplace")[-_MAX_SHOWN_OUTPUT:]
            return {"verdict": "error", "exit_code": 70, "error": f"the call ended without an answer: {text.strip()}"}
        return found


@contextmanager
def _worker(root: Path, printed: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process, in a group of its own, that answers one request; it and all that it started are ended at the end."""
    command = [sys.executable, "-P", "-m", "floodmark.checkers.assistants.worker"]
    process = subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=printed, start_new_session=True
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _ended(process: subprocess.Popen[bytes], budget: Budget) -> str:
    """Waits for a process; returns the limit that ended it, or an empty text."""
    until = time.monotonic() + budget.seconds + GRACE_SECONDS
    while True:
        try:
            process.wait(_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            if time.monotonic() > until:
                return f"ended after the budget of {counted_seconds(budget.seconds)}"
            if memory_of(process.pid) > budget.memory:
                return f"ended at the budget of {budget.memory >> 20:,} MiB of memory"
        else:
            return ""
