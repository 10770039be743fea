"""Runs pytest again and again, each time in a fork of a process that has imported what the tests import from others.

A test of a planted mistake takes less time than the import of z3, LLVM and Hypothesis. The process that forks imports
none of Floodmark's own modules, so each fork reads them from the copy of the repository that it is told.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

OVERDUE = 124
"""The exit code of a run that was ended, as that of ``timeout``."""


class ForkedPytest:
    """A process that forks. It ends with the process that made it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-P", __file__], text=True, bufsize=1,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, folder: Path, arguments: Sequence[str], env: Mapping[str, str], limit: float, said: Path) -> int:
        """The exit code of pytest in ``folder``, whose output goes to ``said``; OVERDUE after ``limit`` seconds."""
        assert self._process.stdin is not None and self._process.stdout is not None
        order = {"folder": str(folder), "arguments": list(arguments), "env": dict(env), "limit": limit,
                 "said": str(said)}
        self._process.stdin.write(json.dumps(order) + "\n")
        return int(self._process.stdout.readline())


def _serve() -> None:
    import click  # noqa: F401
    import hypothesis  # noqa: F401
    import llvmlite.binding  # noqa: F401
    import networkx  # noqa: F401
    import numpy  # noqa: F401
    import pytest
    import rich.console  # noqa: F401
    import z3  # type: ignore[import-untyped,unused-ignore]  # noqa: F401

    assert not any(name.partition(".")[0] == "floodmark" for name in sys.modules)
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            os.setsid()
            output = os.open(order["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.chdir(order["folder"])
            os.environ.clear()
            os.environ.update(order["env"])
            sys.path[:0] = [order["folder"], f"{order['folder']}/src"]
            sys.dont_write_bytecode = True
            sys.argv = ["pytest", *order["arguments"]]
            code = int(pytest.main(order["arguments"]))
            sys.stdout.flush()
            os._exit(code)
        print(_ended(child, order["limit"]), flush=True)


def _ended(child: int, limit: float) -> int:
    """The exit code of a child that is ended, with what it started, when its time is over."""
    end = time.monotonic() + limit
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found or time.monotonic() > end:
            break
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if found:
        return os.waitstatus_to_exitcode(status)
    os.waitpid(child, 0)
    return OVERDUE


if __name__ == "__main__":
    _serve()
