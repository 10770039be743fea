"""Tests that the CI examples work, in a minimal repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from floodmark.checkers.result import ExitCode
from tests.projects import tank_project

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples/ci"


def environment(**more: str) -> dict[str, str]:
    """One in which the command is found, and git knows nothing of this machine's user."""
    names = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": "/dev/null"}
    return {**os.environ, **names, **more}


def repository(root: Path) -> Path:
    """A repository with one spec that is as expected, and a lock that says so."""
    tank_project(root, 'invariants = ["below_size"]\n[constants]\nsize = 1\n')
    git(root, "init", "-q")
    command = [sys.executable, "-m", "floodmark", "gate", "--update-lock"]
    subprocess.run(command, cwd=root, env=environment(), capture_output=True, check=True)
    return root


def git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments]
    return subprocess.run(command, cwd=root, env=environment(), capture_output=True, text=True, check=False)


def spoil(root: Path) -> None:
    path = root / "model/tank.py"
    path.write_text(path.read_text().replace("return self.level == self.size", "return False", 1))


def steps() -> dict[str, dict[str, Any]]:
    """The steps of the workflow by name, or by the action that they use."""
    (job,) = yaml.safe_load((EXAMPLES / "floodmark.yml").read_text())["jobs"].values()
    return {step.get("name") or step["uses"].partition("@")[0]: step for step in job["steps"]}


def run_gate(root: Path) -> subprocess.CompletedProcess[str]:
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps()["Gate"]["run"]]
    names = environment(GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(root / "summary.md"))
    return subprocess.run(shell, cwd=root, env=names, capture_output=True, text=True, check=False)


def test_the_workflow_writes_every_report(tmp_path: Path) -> None:
    ran = run_gate(repository(tmp_path))
    assert ran.returncode == ExitCode.AS_EXPECTED, ran.stdout + ran.stderr
    assert "::error" not in ran.stdout
    assert ElementTree.parse(tmp_path / "reports/junit.xml").getroot().get("tests") == "1"
    assert json.loads((tmp_path / steps()["github/codeql-action/upload-sarif"]["with"]["sarif_file"]).read_text())
    assert (tmp_path / "reports/floodmark.html").read_text().startswith("<!doctype html>")
    assert "| tank | Tank | holds:" in (tmp_path / "summary.md").read_text()
    assert steps()["actions/upload-artifact"]["with"]["path"] == "reports"


def test_the_workflow_is_red_at_the_line_when_a_rule_is_weakened(tmp_path: Path) -> None:
    spoil(repository(tmp_path))
    ran = run_gate(tmp_path)
    assert ran.returncode == ExitCode.USER_ERROR
    assert re.search(r"^::error file=model/tank.py,line=\d+,title=tank Tank::", ran.stdout, re.MULTILINE)
    assert "```mermaid" in (tmp_path / "summary.md").read_text()
    assert len(list((tmp_path / "reports/traces").iterdir())) == 1


def test_reports_are_uploaded_when_the_check_is_red() -> None:
    after = list(steps().values())[list(steps()).index("Gate") + 1 :]
    assert len(after) == 2
    assert all("always()" in step["if"] for step in after)


def test_the_workflow_installs_as_the_readme_does() -> None:
    readme = (ROOT / "README.md").read_text()
    for line in steps()["Install"]["run"].splitlines():
        arguments = line.removeprefix("python -m pip install --quiet ")
        assert f".venv/bin/pip install -q {arguments}" in readme


@pytest.fixture
def hooked(tmp_path: Path) -> Path:
    """A repository with the hook and a first commit."""
    root = repository(tmp_path)
    shutil.copy(EXAMPLES / "pre-commit", root / ".git/hooks/pre-commit")
    git(root, "add", ".")
    assert git(root, "commit", "-qm", "first").returncode == 0
    return root


def test_the_hook_stops_a_commit_that_breaks_a_spec(hooked: Path) -> None:
    spoil(hooked)
    refused = git(hooked, "commit", "-qam", "weaker")
    assert refused.returncode != 0
    assert "reproduce: floodmark check specs/tank.toml" in refused.stdout + refused.stderr
    assert git(hooked, "log", "--oneline").stdout.count("\n") == 1


def test_the_hook_does_not_look_at_other_commits(hooked: Path) -> None:
    spoil(hooked)
    (hooked / "notes.txt").write_text("a")
    git(hooked, "add", "notes.txt")
    assert git(hooked, "commit", "-qm", "notes").returncode == 0


def test_the_pre_commit_configuration_runs_the_same_command(tmp_path: Path) -> None:
    ((hook,),) = (it["hooks"] for it in yaml.safe_load((EXAMPLES / ".pre-commit-config.yaml").read_text())["repos"])
    root = repository(tmp_path)
    assert subprocess.run(hook["entry"].split(), cwd=root, env=environment(), check=False).returncode == 0
    spoil(root)
    assert subprocess.run(hook["entry"].split(), cwd=root, env=environment(), check=False).returncode != 0
    assert not hook["pass_filenames"]
    assert all(re.search(hook["files"], name) for name in ("model/a.py", "specs/a/b.toml", "specs/floodmark.lock"))
    assert not any(re.search(hook["files"], name) for name in ("README.md", "src/model/a.py", "model/notes.txt"))
