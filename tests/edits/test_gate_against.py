"""floodmark gate --against: a pull request says which behaviours it adds and removes, and what it checks less."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import Ended, floodmark
from tests.support.repositories import Repository

GUARD = "return self.granted == 0"


@pytest.fixture
def lease(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    assert floodmark("gate", "--update-lock", "--no-cache", at=made.root).code == 0
    made.commit("lock")
    return made


def gate(lease: Repository, *words: str) -> Ended:
    return floodmark("gate", "--against", "main", "--no-cache", *words, at=lease.root)


def test_a_pull_request_that_changes_nothing_says_so(lease: Repository) -> None:
    found = gate(lease)
    assert "what the edit changes: 0 specs changed since main, 1 spec did not" in found.out
    assert found.code == 0


def test_what_checks_less_is_said_first_and_then_what_changed(lease: Repository) -> None:
    lease.edit(GUARD, "return self.granted == 1")
    found = gate(lease)
    lines = [line.strip() for line in found.out.splitlines()]
    first = lines.index("what the edit changes: 1 spec changed since main, 0 specs did not")
    assert lines[first + 1] == "lease checks less: server_grants fired and never fires now"
    assert lines[first + 2] == "lease checks less: the model reaches fewer states: 1 instead of 7"
    assert lines[first + 3].startswith("lease: it allows nothing new; the edit forbids, in 2 steps: server_grants(")
    assert found.code == 4


def test_every_report_has_it(lease: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lease.edit(GUARD, "return self.granted <= 1")
    summary, page, results = tmp_path / "summary.md", tmp_path / "page.html", tmp_path / "results.json"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    found = gate(lease, "--html", str(page), "--json", str(results))
    monkeypatch.delenv("GITHUB_ACTIONS")
    said = "edit allows, in 4 steps: server_grants(client=c1)"
    assert said in found.out
    assert said in page.read_text()
    assert said in json.loads(results.read_text())["edits"]["specs"][0]["headline"]
    text = summary.read_text()
    assert said in text and "main differs here" in text
    assert text.index("What this edit changes") < text.index("| GrantsEarly |")
    again = tmp_path / "again.html"
    assert floodmark("report", str(results), "--as", "html", "--into", str(again), at=lease.root).code == 0
    assert said in again.read_text()


def test_every_report_says_first_what_checks_less(
    lease: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease.edit(GUARD, "return self.granted == 1")
    summary, page, results = tmp_path / "summary.md", tmp_path / "page.html", tmp_path / "results.json"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    gate(lease, "--html", str(page), "--json", str(results))
    less, forbids = "server_grants fired and never fires now", "edit forbids, in 2 steps: server_grants("
    entry = json.loads(results.read_text())["edits"]["specs"][0]
    assert entry["emptier"][0] == less
    for text in (summary.read_text(), page.read_text(), " ".join(entry["text"])):
        assert 0 <= text.index(less) < text.index(forbids)


def test_a_commit_that_is_not_there_is_an_error(lease: Repository) -> None:
    found = floodmark("gate", "--against", "origin/main", at=lease.root)
    assert "git knows no commit origin/main here; in CI, fetch it first: git fetch origin" in found.err
    assert found.code == 2


def test_an_old_version_that_is_broken_changes_no_verdict(lease: Repository) -> None:
    lease.edit("def start(self)", "def start(self, broken)")
    lease.commit("broken")
    lease.edit("def start(self, broken)", "def start(self)")
    found = gate(lease)
    assert "lease: undetermined" in found.out
    assert found.code == 0


SCENARIO = '\n[[scenario]]\nname = "a grant"\nsteps = ["server_grants(client=c1)"]\n'
PROOF = '\n[[prove]]\nproperties = ["never_longer"]\n'
ONCE = """

@eventually
def granted_once(model: Lease) -> bool:
    \"\"\"The lease is granted.\"\"\"
    return model.granted > 0
"""


@pytest.fixture
def whole(lease: Repository) -> Repository:
    """A repository whose spec has a bit of everything."""
    lease.model.write_text(lease.model.read_text().replace("import (", "import (\n    eventually, fair,") + ONCE)
    lease.edit("    @action\n    def server", "    @fair\n    @action\n    def server")
    lease.spec.write_text(lease.spec.read_text() + SCENARIO + PROOF)
    lease.commit("whole")
    return lease


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (SCENARIO, "", "lease checks less: scenario a grant was possible: server_grants(client=c1) and is -: "),
        ('["server_grants(client=c1)"]', '["time_passes()"]',
         "lease: scenario a grant was possible: server_grants(client=c1) and is possible: time_passes()"),
        (PROOF, f'{PROOF}tier = "deep"\n',
         "lease checks less: proof induction never_longer was tier quick and is tier deep: "),
        ('"one_holder"\n', '"one_holder"\ntier = "deep"\n',
         "lease checks less: known-bad design GrantsEarly was tier quick and is tier deep: "),
        ("[[flawed]]", '[fairness]\ntime_passes = "weak"\n[[flawed]]',
         "lease checks less: fairness of time_passes was - and is weakly fair: "),
        ("    @fair\n    @action", "    @fair(strong=True)\n    @action",
         "lease checks less: fairness of server_grants was weakly fair and is strongly fair: "),
        ("    @fair\n    @action", "    @action", "lease: fairness of server_grants was weakly fair and is -"),
        ('The lease is granted."""\n    return model.granted > 0', 'The lease is granted."""\n    return True',
         "lease: property granted_once changed, and was not compared: it is about whole runs or another model"),
    ],
)  # fmt: skip
def test_what_is_assumed_or_tried_otherwise_is_said(whole: Repository, old: str, new: str, said: str) -> None:
    whole.edit(old, new, whole.model if old in whole.model.read_text() else whole.spec)
    found = gate(whole)
    assert "what the edit changes: 1 spec changed since main, 0 specs did not" in found.out
    assert any(line.strip().startswith(said) for line in found.out.splitlines()), found.out
