"""Runs the command ``floodmark``: in this process, which has imported it, or as an installed command would run."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

import floodmark as package
from floodmark.checkers.command_line import cli
from tests.support.gates import forget
from tests.support.outcomes import inside

REPOSITORY = Path(__file__).parents[2]
IMPORTS = f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})
import floodmark.__main__, floodmark.checkers.command_line.cli, floodmark.checkers.reference.search
del sys.path[0]
"""
"""Our packages and nothing else of the repository are importable, as where they are installed."""
COMMAND = [sys.executable, "-P", "-c", f"{IMPORTS}floodmark.__main__.main()"]


def found_in(*folders: Path | str) -> dict[str, str]:
    """The environment in which Python finds modules in these folders, and the same Floodmark as here: in a copy of the
    repository the copy's, not the installed one."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*folders, Path(package.__file__).parents[1]]))}


@dataclass
class Ended:
    code: int
    out: str
    err: str


def floodmark(*arguments: str | Path, at: Path, said: str = "") -> Ended:
    """Runs the command in a folder; it reads what is said. Modules of the folder are loaded anew, as by another
    process."""
    if at != REPOSITORY:
        forget(at.resolve())
    read, out, err = (io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8") for text in (said, "", ""))
    words = patch.multiple(sys, argv=["floodmark", *map(str, arguments)], stdin=read)
    with inside(at), words, redirect_stdout(out), redirect_stderr(err):
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert isinstance(ended.value.code, int)
        return _ended(ended.value.code, *(_written(stream) for stream in (out, err)))


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def installed(*arguments: str | Path, at: Path, said: str | None = None) -> Ended:
    """Runs the installed command in a folder, in a process of its own."""
    done = subprocess.run([*COMMAND, *map(str, arguments)], cwd=at, text=True, capture_output=True, input=said)
    return _ended(done.returncode, done.stdout, done.stderr)


def _ended(code: int, out: str, err: str) -> Ended:
    assert "Traceback" not in out + err or code == 70
    return Ended(code, out, err)
