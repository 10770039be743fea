"""Tests the gate: what makes it fail, what it prints, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from floodmark.checkers.gate import lock
from floodmark.checkers.report.outputs import Reports
from floodmark.checkers.run import checks
from floodmark.checkers.verdict.gate_outcome import Drift, GateOutcome
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.language.errors import SourceError
from tests.support.command import found_in
from tests.support.gates import SPEC, STEPS, edited, locked, repository, run
from tests.support.projects import write

CLAIMS = '''
from floodmark.claims import {0}

@{0}("a text")
def sum_is_larger(a: int, b: int) -> bool:
    return a + b > a
'''


def test_a_repository_that_is_as_it_was(tmp_path: Path) -> None:
    locked(repository(tmp_path))
    ended = run(tmp_path, workers=2)
    assert ended.code == 0
    assert next(line.split()[:5] for line in ended.lines if "tank" in line) == ["holds", "tank", "4", "4", "1/1"]
    assert "1 spec, 1 known-bad design: each as expected" in ended.lines[-2]
    assert ended.lines[-1].startswith("reproduce: floodmark gate ")


def test_without_a_lock_it_is_red(tmp_path: Path) -> None:
    ended = run(repository(tmp_path))
    assert ended.code == ExitCode.DRIFT
    assert "there is no lock; write it with --update-lock" in ended.text


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ((("@invariant\ndef never_four", "def never_four"),),
         "property: never_four | -  the property is no longer checked"),
        ((("!= 4", "!= 5"),), "property never_four: "),
        ((("\n@invariant\ndef never_four", "\n@invariant\ndef again(tank: Tank) -> bool:\n    return True\n\n\n"
           "@invariant\ndef never_four"),), "property: - | again  a new property"),
        ((("Constant(3)", "Constant(2)"), ('"flawed:StopsHalf"', '"flawed:Leaks"')),
         "distinct: 4 | 3  the state space shrank"),
        ((("Constant(3)", "Constant(4)"), ("!= 4", "!= 5")), "distinct: 4 | 5  the state space grew"),
        ((('Between(0, "size")', 'Between(0, 9)'),), "source: "),
    ],
)
def test_what_changed_is_named(tmp_path: Path, edits: tuple[tuple[str, str], ...], said: str) -> None:
    locked(repository(tmp_path / "before"))
    ended = run(edited(tmp_path / "before", tmp_path / "after", *edits))
    assert ended.code == ExitCode.DRIFT, ended.text
    assert any(line.startswith(said) for line in ended.drift()), ended.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "edits",
    [
        (("The level is never four.", "Never was it four."), ('"""A tank that is filled and drained."""', "")),
        (("self.level += 1", "self.level += 1  # a litre"),
         ("require(self.level > 0)", "require((self.level\n                 > 0))")),
        (("class Tank", "# A comment that moves everything\n\n\nclass Tank"),),
    ],
)
def test_comments_and_layout_change_nothing(tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    locked(repository(tmp_path / "before"))
    ended = run(edited(tmp_path / "before", tmp_path / "after", *edits))
    assert ended.code == 0, ended.text


RUNS = '[[scenario]]\nname = "fills"\nsteps = ["fill", "fill"]\n'


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("deadlock = true\n", "", "deadlock: true | -  a state without a step is no violation any more"),
        ("", "deadlock = true\n", "deadlock: - | true  a state without a step is a violation now"),
        (RUNS, RUNS.replace('"fill", "fill"', '"fill"'), "scenario fills: "),
        (RUNS.replace('"fill", "fill"', '"fill", "drain", "drain"') + "possible = false\n",
         RUNS.replace('"fill", "fill"', '"fill", "drain"'), "scenario fills: "),
        (RUNS, "", "scenario: fills | -  the scenario is no longer tried"),
        ("", RUNS, "scenario: - | fills  a new scenario"),
        (RUNS, RUNS, ""),
    ],
)
def test_what_a_spec_asks_for_is_part_of_the_lock(tmp_path: Path, was: str, now: str, said: str) -> None:
    locked(repository(tmp_path / "before", spec=was))
    ended = run(edited(tmp_path / "before", tmp_path / "after", spec=now))
    assert (ended.code, len(ended.drift())) == ((ExitCode.DRIFT, 1) if said else (0, 0)), ended.text
    assert all(line.startswith(said) for line in ended.drift())


def test_a_lock_that_has_only_the_names_of_scenarios_is_understood(tmp_path: Path) -> None:
    found = locked(repository(tmp_path, spec=RUNS))
    entry = {**found.specs["tank"], "scenarios": list(found.specs["tank"]["scenarios"])}
    lock.write(tmp_path / "specs" / lock.NAME, lock.Lock(specs={"tank": entry}))
    assert run(tmp_path).code == 0


def test_a_name_changes_only_what_is_called_by_it(tmp_path: Path) -> None:
    locked(repository(tmp_path / "before"))
    ended = run(edited(tmp_path / "before", tmp_path / "after", ("def fill(", "def pour(")))
    assert ended.drift() == ["action fill: 3 | -  the action is gone", "action pour: - | 3  a new action"]


def test_an_action_that_cannot_fire_any_more_is_drift(tmp_path: Path) -> None:
    locked(repository(tmp_path / "before", spec=""))
    edit = ("require(self.level > 0)", "require(self.level > 8)")
    after = edited(tmp_path / "before", tmp_path / "after", edit, spec="")
    ended = run(after)
    assert "action drain: 3 | 0  never fires" in ended.drift()
    assert f"({after / 'model/tank.py'}:" in ended.text


def test_a_premise_that_is_never_true_is_drift(tmp_path: Path) -> None:
    implication = STEPS.replace("tank.level != 4", "tank.level < 2 or tank.level != 4")
    before = repository(tmp_path / "before", spec="", files={"invariants/tank.py": implication})
    locked(before, cache=False)
    assert run(before, engine="native").code == 0
    after = edited(before, tmp_path / "after", ("level < 2 or", "level < 9 or"), spec="",
                   files={"invariants/tank.py": implication})
    ended = run(after, engine="native")
    assert "premise: - | never_four  its premise is never true: the property is vacuous" in ended.drift()


def test_what_is_not_checked_any_more_is_drift(tmp_path: Path) -> None:
    locked(repository(tmp_path / "before", files={"specs/other.toml": 'model = "model.tank:Tank"\n'}))
    ended = run(edited(tmp_path / "before", tmp_path / "after", spec=""))
    assert ended.code == ExitCode.DRIFT
    assert "spec: holds | -  the spec is gone" in ended.drift()
    assert "known-bad design: StopsHalf | -  the design is no longer checked" in ended.drift()
    moved = edited(tmp_path / "before", tmp_path / "moved",
                   files={"specs/other.toml": 'model = "model.tank:Tank"\ntier = "deep"\n'})
    assert "spec: holds | -  the spec is no longer in the quick tier" in run(moved).drift()


def test_a_claim_and_a_proof_are_part_of_it(tmp_path: Path) -> None:
    spec = f'{SPEC}\n[[prove]]\nmethod = "induction"\nproperties = ["below_size"]\n'
    before = repository(tmp_path / "before", spec=spec, files={"specs/claims/sums.py": CLAIMS.format("fails")})
    found = locked(before)
    assert found.claims["sums.sum_is_larger"]["verdict"] == "violated"
    assert found.proofs["tank induction below_size"]["properties"] == ["below_size"]
    after = edited(before, tmp_path / "after", files={"specs/claims/sums.py": CLAIMS.format("holds")})
    ended = run(after)
    assert ended.code == ExitCode.NOT_AS_EXPECTED
    assert "false, but the file expects it to hold" in ended.text
    assert "proof: holds | -  the proof is gone" in ended.drift()


def test_every_folder_of_claims_is_part_of_it(tmp_path: Path) -> None:
    files = {"specs/claims/sums.py": CLAIMS.format("fails"), "specs/of_tanks/claims/sums.py": CLAIMS.format("fails")}
    found = locked(repository(tmp_path / "before", files=files))
    assert list(found.claims) == ["of_tanks/sums.sum_is_larger", "sums.sum_is_larger"]
    moved = {**files, "specs/claims/of_tanks/sums.py": CLAIMS.format("fails")}
    ended = run(repository(tmp_path / "moved", files=moved))
    assert ended.code == ExitCode.USER_ERROR
    assert "claims are read from the files in claims itself; move this file there" in ended.text


def test_a_known_bad_design_that_is_not_found(tmp_path: Path) -> None:
    ended = run(repository(tmp_path, spec=SPEC.replace("gets_full", "below_size")))
    assert ended.code == ExitCode.NOT_AS_EXPECTED
    assert "expected below_size to be violated" in ended.text
    refused = run(tmp_path, update=True)
    assert "--update-lock" not in refused.text.replace(refused.lines[-1], "")
    assert refused.code == ExitCode.NOT_AS_EXPECTED
    assert "the lock was not written" in refused.lines[-1]
    assert not (tmp_path / "specs" / lock.NAME).exists()


def test_a_spec_alone_is_compared_with_its_part_of_the_lock(tmp_path: Path) -> None:
    root = repository(tmp_path)
    (root / "specs/tub.toml").write_text((root / "specs/tank.toml").read_text())
    locked(root)
    whole = (root / "specs" / lock.NAME).read_text()
    assert run(root / "specs/tub.toml").code == 0
    (root / "specs/tub.toml").write_text('model = "model.tank:Tank"\n[constants]\nsize = 2\n')
    ended = run(root / "specs/tub.toml", update=True)
    assert ended.code == 0
    changed = (root / "specs" / lock.NAME).read_text()
    at = whole.index("[specs.tub"), changed.index("[specs.tub")
    assert whole[: at[0]] == changed[: at[1]]
    assert whole != changed
    assert run(root / "specs/tank.toml").code == 0


def test_mistakes_in_specs_are_user_errors_of_the_gate(tmp_path: Path) -> None:
    locked(repository(tmp_path / "before"))
    for name, change in {"spec": ('model = "', 'modell = "'), "model": ("self.level += 1", "self.lewel += 1")}.items():
        assert run(edited(tmp_path / "before", tmp_path / name, change)).code == ExitCode.USER_ERROR
    with pytest.raises(SourceError, match="no such folder"):
        run(tmp_path / "nowhere")
    broken = tmp_path / "before/specs" / lock.NAME
    broken.write_text(broken.read_text().replace("[specs.tank]", "<<<<<<< HEAD\n[specs.tank]"))
    with pytest.raises(SourceError, match="two branches changed the lock") as error:
        run(tmp_path / "before")
    assert (error.value.file, error.value.line) == (str(broken), 5)


def test_a_claims_file_that_cannot_be_read(tmp_path: Path) -> None:
    root = repository(tmp_path, files={"specs/claims/sums.py": "import nothing_like_that\n"})
    ended = run(root)
    assert ended.code == ExitCode.USER_ERROR
    assert "nothing_like_that" in ended.text


def test_an_undetermined_search_is_never_green(tmp_path: Path) -> None:
    locked(repository(tmp_path / "before", spec=""))
    ended = run(edited(tmp_path / "before", tmp_path / "after", spec="[limits]\nstates = 2\n"))
    assert ended.code == ExitCode.UNDETERMINED, ended.text
    assert run(tmp_path / "after", update=True).code == ExitCode.UNDETERMINED


@pytest.mark.parametrize("files", [{}, {"specs/tank.toml": 'model = "model.tank:Tank"\ntier = "deep"\n'}])
def test_a_gate_without_checks_is_not_green(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, {"specs/README.md": "Specs will be here.", **files})
    (tmp_path / "specs" / lock.NAME).write_text("version = 1\n")
    ended = run(tmp_path)
    assert ended.code == ExitCode.NOTHING_CHECKED
    assert "nothing was checked" in ended.text


def test_a_spec_without_properties_has_to_expect_counts(tmp_path: Path) -> None:
    root = repository(tmp_path / "one", spec="invariants = []\n")
    (root / "specs" / lock.NAME).write_text("version = 1\n")
    ended = run(root)
    assert ended.code in (ExitCode.NOTHING_CHECKED, ExitCode.DRIFT)
    assert "nothing was checked" in ended.text
    assert run(root, update=True).code == ended.code
    locked(repository(tmp_path / "before", spec=""))
    ended = run(edited(tmp_path / "before", tmp_path / "after", spec="invariants = []\n"))
    assert "property: never_four | -  the property is no longer checked" in ended.drift()


def test_an_internal_error_is_the_gates_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> CheckResult:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(checks, "_search", fails)
    ended = run(repository(tmp_path))
    assert ended.code == ExitCode.INTERNAL_ERROR
    assert "a fault of ours" in ended.text


@pytest.mark.parametrize(
    ("codes", "drifts", "expected"),
    [
        ([], False, 5),
        ([], True, 4),
        ([0], False, 0),
        ([0, 5], False, 5),
        ([0, 3, 5], False, 3),
        ([0, 3, 5], True, 4),
        ([0, 1, 3], True, 1),
        ([1, 2], True, 2),
        ([2, 70, 1], True, 70),
    ],
)
def test_the_worst_result_decides_the_exit_code(codes: list[int], drifts: bool, expected: int, tmp_path: Path) -> None:
    results = [CheckResult("s", "s", "m", None, "quick", exit_code=ExitCode(code)) for code in codes]
    drift = [Drift("s", "distinct", "2", "1", "", "s.toml")] if drifts else []
    assert GateOutcome(results, [], drift, "quick", 0.0, "", tmp_path).exit_code == expected


def test_each_tier_has_its_own_entries(tmp_path: Path) -> None:
    deep = {"specs/deep.toml": 'model = "model.tank:Tank"\ntier = "deep"\n'}
    root = repository(tmp_path, files=deep)
    assert set(locked(root).specs) == {"tank"}
    assert run(root, update=True, tier="deep").code == 0
    assert set(locked(root).specs) == {"tank", "deep"}
    assert run(root, tier="deep").code == 0
    (root / "specs/deep.toml").unlink()
    assert "spec: holds | -  the spec is gone" in run(root).drift()


def test_a_part_of_the_specs_keeps_the_rest_of_the_lock(tmp_path: Path) -> None:
    root = repository(tmp_path, files={"specs/more/small.toml": 'model = "model.tank:Tank"\n[constants]\nsize = 1\n'})
    assert set(locked(root).specs) == {"tank", "more/small"}
    ended = run(root / "specs/more")
    assert ended.code == 0
    assert "1 spec:" in ended.text
    assert set(locked(root).specs) == {"tank", "more/small"}


def test_the_gate_command_reports_drift(tmp_path: Path) -> None:
    locked(repository(tmp_path / "before"))
    edited(tmp_path / "before", tmp_path / "after", ("!= 4", "!= 9"))
    environment = {"FLOODMARK_CACHE": str(tmp_path / "cache"), "PYTHONPATH": found_in()["PYTHONPATH"]}
    command = [sys.executable, "-P", "-m", "floodmark", "gate"]
    done = subprocess.run(command, cwd=tmp_path / "after", capture_output=True, text=True, env=environment)
    assert done.returncode == ExitCode.DRIFT, done.stdout + done.stderr
    assert done.stdout.endswith("reproduce: floodmark gate specs\n")
    helped = subprocess.run([*command, "--help"], capture_output=True, text=True, env=environment)
    assert "floodmark gate --update-lock" in helped.stdout


def test_reports_have_the_drift(tmp_path: Path) -> None:
    locked(repository(tmp_path / "before"))
    reports = Reports(json=tmp_path / "gate.json", junit=tmp_path / "gate.xml")
    edit = ("@invariant\ndef never_four", "def never_four")
    run(edited(tmp_path / "before", tmp_path / "after", edit), reports=reports)
    drift = json.loads((tmp_path / "gate.json").read_text())["drift"]
    assert {"entry": "tank", "what": "property", "was": "never_four"}.items() <= drift[0].items()
    assert "never_four" in (tmp_path / "gate.xml").read_text()


JUMPS = '''
from model.tank import Tank


class Jumps(Tank):
    """From empty to half full in one step."""

    def fill(self) -> None:
        self.level = 2
'''


@pytest.mark.parametrize(("depth", "asked", "compared"), [(2, True, True), (2, False, False), (3, False, True)])
def test_designs_are_compared_where_that_is_shown(tmp_path: Path, depth: int, asked: bool, compared: bool) -> None:
    """In a report, also after a run without one, and wherever a design is not as expected: here, not at its depth."""
    design = f'[[flawed]]\nclass = "jumps:Jumps"\nproperty = "one_step"\ndepth = {depth}\n'
    root = repository(tmp_path, spec=design, files={"specs/jumps.py": JUMPS})
    run(root, cache=True)
    known = run(root, cache=True).text
    assert ("2 of 2 from the cache" in known), known
    ended = run(root, cache=True, reports=Reports(json=tmp_path / "gate.json") if asked else None)
    assert "2 of 2 from the cache" in ended.text
    assert ("where Tank decides otherwise" in ended.text) == (depth == 3), ended.text
    if asked:
        results = json.loads((tmp_path / "gate.json").read_text())["results"]
        assert [each["divergence"] is not None for each in results if each["variant"]] == [compared]
