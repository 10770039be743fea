"""``floodmark check --watch`` checks again when a file of the project changes, until it is interrupted."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.commands.watch import _stamps
from tests.support.command import COMMAND
from tests.support.projects import tank_project


@contextlib.contextmanager
def watching(spec: Path) -> Iterator[subprocess.Popen[str]]:
    command = [*COMMAND, "check", str(spec), "--watch", "--workers", "1"]
    with subprocess.Popen(command, cwd=spec.parent.parent, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], said: str) -> list[str]:
    """The lines that are printed up to one that begins so."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip())
        if line.startswith(said):
            return lines
    raise AssertionError(f"it ended, after {lines}")


@pytest.mark.slow
def test_a_change_is_checked_at_once(tmp_path: Path) -> None:
    root = tank_project(tmp_path)
    model = root / "model" / "tank.py"
    with watching(root / "specs" / "tank.toml") as process:
        assert any(line.startswith("holds") for line in until(process, "watching"))
        text = model.read_text()
        model.write_text(text.replace("level", "height(", 1))
        assert "changed: model/tank.py" in until(process, "changed")
        assert any(line.startswith("error") for line in until(process, "watching"))
        model.write_text(text)
        assert any(line.startswith("holds") for line in until(process, "watching"))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130


def test_what_is_run_again_is_the_command_without_the_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    def watched(words: list[str], paths: list[Path]) -> None:
        given.extend(words)
        raise KeyboardInterrupt

    root = tank_project(tmp_path)
    monkeypatch.chdir(root)
    words = ["check", "specs/tank.toml", "--watch", "--traces"]
    monkeypatch.setattr("sys.argv", ["floodmark", *words])
    monkeypatch.setattr("floodmark.checkers.commands.watch.watch", watched)
    with pytest.raises((KeyboardInterrupt, click.Abort)):
        command.main(words, standalone_mode=False)
    assert given == ["check", "specs/tank.toml", "--traces"]


@pytest.mark.parametrize("name", [".git", ".venv", "__pycache__"])
def test_files_that_are_not_the_projects_are_not_watched(tmp_path: Path, name: str) -> None:
    root = tank_project(tmp_path)
    before = _stamps([root])
    (root / name).mkdir(exist_ok=True)
    (root / name / "other.py").write_text("x = 1\n")
    assert _stamps([root]) == before
    (root / "other.py").write_text("x = 1\n")
    assert len(_stamps([root])) == len(before) + 1
