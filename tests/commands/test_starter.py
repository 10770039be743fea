"""``floodmark init``: what it writes works in a repository of the user's, as it stands."""

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

from floodmark.checkers.verdict.result import ExitCode

EXAMPLES = Path(__file__).parents[2] / "examples/ci"


def environment(**more: str) -> dict[str, str]:
    """One in which the command is found, and git knows nothing of this machine's user."""
    names = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": "/dev/null"}
    return {**os.environ, **names, **more}


def run(root: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "floodmark", *arguments]
    return subprocess.run(command, cwd=root, env=environment(**more), capture_output=True, text=True, check=False)


def git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments]
    return subprocess.run(command, cwd=root, env=environment(), capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new repository with the starter project and its lock."""
    root = tmp_path_factory.mktemp("started")
    git(root, "init", "-q")
    said = run(root, "init")
    assert said.returncode == 0, said.stderr
    assert "written  specs/lease.toml" in said.stdout
    assert run(root, "gate", "--update-lock").returncode == 0
    return root


@pytest.fixture
def started(first: Path, tmp_path: Path) -> Path:
    """A repository of the test's own with the starter project and its lock."""
    return Path(shutil.copytree(first, tmp_path / "repository"))


def spoil(root: Path) -> None:
    path = root / "model/lease.py"
    path.write_text(path.read_text().replace("return self.granted == 0", "return True"))


@pytest.mark.slow
def test_the_project_is_as_expected(started: Path) -> None:
    checked = run(started, "check", "--json", "found.json")
    assert checked.returncode == ExitCode.AS_EXPECTED, checked.stdout
    results = json.loads((started / "found.json").read_text())["results"]
    assert [(each["variant"], each["verdict"]) for each in results] == [(None, "holds"), ("GrantsAnyTime", "violated")]
    gate = run(started, "gate")
    assert gate.returncode == ExitCode.AS_EXPECTED, gate.stdout
    mutants = run(started, "mutate", "specs/lease.toml")
    assert mutants.returncode == ExitCode.AS_EXPECTED, mutants.stdout


def steps(root: Path) -> dict[str, dict[str, Any]]:
    """The steps of the workflow by name, or by the action that they use."""
    (job,) = yaml.safe_load((root / ".github/workflows/floodmark.yml").read_text())["jobs"].values()
    return {step.get("name") or step["uses"].partition("@")[0]: step for step in job["steps"]}


def run_gate(root: Path) -> subprocess.CompletedProcess[str]:
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps(root)["Gate"]["run"]]
    names = environment(GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(root / "summary.md"))
    return subprocess.run(shell, cwd=root, env=names, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_workflow_writes_every_report(started: Path) -> None:
    ran = run_gate(started)
    assert ran.returncode == ExitCode.AS_EXPECTED, ran.stdout + ran.stderr
    assert "::error" not in ran.stdout
    assert ElementTree.parse(started / "reports/junit.xml").getroot().get("tests") == "2"
    sarif = steps(started)["github/codeql-action/upload-sarif"]["with"]["sarif_file"]
    assert json.loads((started / sarif).read_text())
    assert (started / "reports/floodmark.html").read_text().startswith("<!doctype html>")
    assert "| lease | Lease | holds:" in (started / "summary.md").read_text()
    assert steps(started)["actions/upload-artifact"]["with"]["path"] == "reports"


@pytest.mark.slow
def test_the_workflow_is_red_at_the_line_when_a_rule_is_weakened(started: Path) -> None:
    spoil(started)
    ran = run_gate(started)
    assert ran.returncode == ExitCode.NOT_AS_EXPECTED
    assert re.search(r"^::error file=invariants/lease.py,line=\d+,title=lease Lease::", ran.stdout, re.MULTILINE)
    assert "```mermaid" in (started / "summary.md").read_text()
    traces = steps(started)["Traces"]
    assert traces["if"] == "always() && hashFiles('reports/floodmark.json') != ''"
    assert run(started, *traces["run"].split()[1:]).returncode == 0
    assert len(list((started / "reports/traces").iterdir())) >= 1


def test_the_workflow_pins_actions_and_keeps_what_a_red_run_found(started: Path) -> None:
    every = steps(started)
    uses = [step["uses"] for step in every.values() if "uses" in step]
    assert all(re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40}", action) for action in uses)
    traces, *after = list(every.values())[list(every).index("Gate") + 1 :]
    assert traces is every["Traces"]
    assert [step["uses"].partition("@")[0] for step in after] == [
        "actions/cache/save", "actions/upload-artifact", "github/codeql-action/upload-sarif",
    ]
    assert all("always()" in step["if"] for step in after)
    assert "hashFiles('reports/floodmark.sarif')" in after[2]["if"]
    assert every["actions/cache/save"]["with"]["key"] == every["actions/cache/restore"]["with"]["key"]
    assert re.fullmatch(r"python -m pip install --quiet floodmark==\S+", every["Install"]["run"])


@pytest.mark.slow
def test_the_gitlab_starter_runs_its_gate(tmp_path: Path) -> None:
    assert run(tmp_path, "init", "--ci", "gitlab").returncode == 0
    assert not (tmp_path / ".github").exists()
    job = yaml.safe_load((tmp_path / ".gitlab-ci.yml").read_text())["floodmark"]
    assert run(tmp_path, "gate", "--update-lock").returncode == 0
    shell = ["bash", "-ec", "\n".join(line for line in job["script"] if "pip install" not in line)]
    ran = subprocess.run(shell, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert ran.returncode == ExitCode.AS_EXPECTED, ran.stdout + ran.stderr
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).exists()
    subprocess.run(["bash", "-ec", *job["after_script"]], cwd=tmp_path, env=environment(), check=True)
    assert job["cache"]["when"] == job["artifacts"]["when"] == "always"
    assert job["cache"]["paths"][0] in job["variables"]["FLOODMARK_CACHE"]


@pytest.fixture
def hooked(started: Path) -> Path:
    """A repository with the hook turned on and a first commit."""
    git(started, "config", "core.hooksPath", ".githooks")
    git(started, "add", ".")
    assert git(started, "commit", "-qm", "first").returncode == 0
    return started


@pytest.mark.slow
def test_the_hook_stops_a_commit_that_breaks_a_spec(hooked: Path) -> None:
    spoil(hooked)
    refused = git(hooked, "commit", "-qam", "weaker")
    assert refused.returncode != 0
    assert "reproduce: floodmark check specs/lease.toml" in refused.stdout + refused.stderr
    assert git(hooked, "log", "--oneline").stdout.count("\n") == 1


def test_the_hook_says_what_to_do_where_floodmark_is_not_installed(hooked: Path) -> None:
    spoil(hooked)
    folders = (folder for folder in os.environ["PATH"].split(os.pathsep) if not Path(folder, "floodmark").exists())
    hook = subprocess.run([".githooks/pre-commit"], cwd=hooked, env={**os.environ, "PATH": os.pathsep.join(folders)},
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert hook.returncode == 0  # nothing is about to be committed
    git(hooked, "add", "-A")
    hook = subprocess.run([".githooks/pre-commit"], cwd=hooked, env={**os.environ, "PATH": os.pathsep.join(folders)},
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert hook.returncode == 1
    assert "floodmark is not installed here: pip install floodmark==" in hook.stderr


def test_the_workflow_runs_on_every_branch(started: Path) -> None:
    workflow = yaml.safe_load((started / ".github/workflows/floodmark.yml").read_text())
    assert workflow[True] == {"push": None, "pull_request": None}  # YAML reads the word `on` as a truth value


@pytest.mark.slow
def test_the_hook_does_not_look_at_other_commits(hooked: Path) -> None:
    spoil(hooked)
    (hooked / "notes.txt").write_text("a")
    git(hooked, "add", "notes.txt")
    assert git(hooked, "commit", "-qm", "notes").returncode == 0


@pytest.mark.slow
def test_the_pre_commit_configuration_runs_the_same_command(started: Path) -> None:
    ((hook,),) = (it["hooks"] for it in yaml.safe_load((EXAMPLES / ".pre-commit-config.yaml").read_text())["repos"])
    assert subprocess.run(hook["entry"].split(), cwd=started, env=environment(), check=False).returncode == 0
    spoil(started)
    assert subprocess.run(hook["entry"].split(), cwd=started, env=environment(), check=False).returncode != 0
    assert not hook["pass_filenames"]
    assert all(re.search(hook["files"], name) for name in ("model/a.py", "specs/a/b.toml", "specs/floodmark.lock"))
    assert not any(re.search(hook["files"], name) for name in ("README.md", "src/model/a.py", "model/notes.txt"))


def test_init_overwrites_no_file(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / ".githooks").mkdir()
    (tmp_path / ".githooks/pre-commit").write_text("mine")
    said = run(tmp_path, "init")
    assert "no example is written: there is model/ already" in said.stdout
    assert "kept     .githooks/pre-commit" in said.stdout
    assert (tmp_path / ".githooks/pre-commit").read_text() == "mine"
    assert not (tmp_path / "specs").exists()
    assert (tmp_path / ".github/workflows/floodmark.yml").exists()


def test_a_starter_in_an_unwritable_folder_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = run(tmp_path, "init", "file")
    assert said.returncode == ExitCode.USER_ERROR
