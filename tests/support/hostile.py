"""Runs the command in this process, in a small project in which something strange lies where an input is expected."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from floodmark.checkers.command_line import cli
from tests.support.projects import tank_project

SECONDS = 30
"""Far more than any of these runs takes, on a busy machine too."""
Lay = Callable[[Path], object]
Run = Callable[..., tuple[int, str]]


class Hangs(BaseException):
    """No handler of errors catches it."""


@contextlib.contextmanager
def soon() -> Iterator[None]:
    """Raises Hangs in what takes too long."""

    def late(*_: object) -> NoReturn:
        raise Hangs

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(name="run")
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in the project; gives the exit code and all that was printed."""
    monkeypatch.chdir(tank_project(tmp_path / "project"))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)

    def ran(*arguments: str, lay: Lay | None = None) -> tuple[int, str]:
        if lay is not None:
            lay(Path())
        monkeypatch.setattr(sys, "argv", ["floodmark", *arguments])
        with pytest.raises(SystemExit) as ended, soon():
            cli.main()
        said = capsys.readouterr()
        assert type(ended.value.code) is int
        return ended.value.code, said.out + said.err

    return ran


def put(name: str, content: str | bytes) -> Lay:
    """Writes a file."""

    def lay(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return lay
