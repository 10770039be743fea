"""Tests known-bad designs in another tier than their model: who checks what, what the lock keeps, what is drift."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.gate import lock
from floodmark.checkers.gate.lock import Lock
from floodmark.checkers.project.spec import find, left_out, read, read_all
from floodmark.checkers.spark.engine import SparkEngine
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError
from tests.interface.test_pytest_plugin import run_pytest
from tests.support.command import floodmark
from tests.support.gates import repository, run
from tests.support.projects import write

STOPS = '[[flawed]]\nclass = "flawed:StopsHalf"\nproperty = "gets_full"\n'
LEAKS = '[[flawed]]\nclass = "flawed:Leaks"\nproperty = "gets_full"\n'
DEEP, QUICK = 'tier = "deep"\n', 'tier = "quick"\n'
OTHER = {"specs/other.toml": 'model = "model.tank:Tank"\n[constants]\nsize = 2\n'}
"""Another quick model, without which a run of nothing but known-bad designs is not green."""


def project(root: Path, spec: str, others: dict[str, str] | None = None) -> Path:
    return repository(root, spec=spec, files=OTHER if others is None else others)


def respecified(root: Path, spec: str) -> None:
    """Writes what the spec says besides its model anew."""
    write(root, {"specs/tank.toml": f'model = "model.tank:Tank"\n{spec}'})


def accepted(root: Path, *tiers: str) -> Lock:
    """The lock after each tier has recorded what it found."""
    for tier in tiers:
        assert run(root, update=True, tier="deep" if tier == "deep" else "quick").code == 0
    found = lock.read(root / "specs" / lock.NAME)
    assert found is not None
    return found


def of_tank(found: Lock) -> tuple[set[str], dict[str, str]]:
    """What the entry of the tank says of itself besides its designs, and the tier of each design where it says one."""
    entry = found.specs["tank"]
    return set(entry) - {"flawed"}, {name: design.get("tier", "") for name, design in entry.get("flawed", {}).items()}


def test_a_design_has_the_tier_of_its_spec_unless_it_names_one(tmp_path: Path) -> None:
    root = project(tmp_path, DEEP + STOPS + QUICK + LEAKS)
    every = checks(read(root / "specs/tank.toml"), CheckSettings())
    assert [check.tier for check in every] == ["deep", "quick", "deep"]
    assert [SparkEngine().asked_for(check) for check in every] == [True, False, False]
    assert [check.large for check in every] == [True, False, True]


def test_the_tier_of_a_design_in_rows(tmp_path: Path) -> None:
    row = '[[row]]\nname = "{0}"\ntier = "{1}"\nconstants = {{ size = {2} }}\n'
    rows = row.format("small", "quick", 3) + row.format("large", "deep", 9)
    root = project(tmp_path, f'{rows}{STOPS}rows = ["small", "large"]\n{LEAKS}rows = "large"\n{QUICK}')
    tiers = [[check.tier for check in checks(spec, CheckSettings())] for spec in read_all(root / "specs/tank.toml")]
    assert tiers == [["quick", "quick"], ["deep", "deep", "quick"]]


def test_a_tier_that_does_not_exist_is_named_with_its_line(tmp_path: Path) -> None:
    root = project(tmp_path, STOPS + 'tier = "slow"\n')
    with pytest.raises(SourceError) as caught:
        read(root / "specs/tank.toml")
    assert 'quick' in caught.value.message and "slow" in caught.value.message
    text = (root / "specs/tank.toml").read_text().splitlines()
    assert caught.value.line == text.index('tier = "slow"') + 1


@pytest.mark.parametrize(
    ("spec", "quick", "deep"),
    [
        (DEEP + STOPS + QUICK, "1 spec, 1 known-bad design", "1 spec:"),
        (STOPS + DEEP, "2 specs:", "1 known-bad design"),
    ],
)
def test_each_tier_checks_its_own_and_tells_what_it_leaves(tmp_path: Path, spec: str, quick: str, deep: str) -> None:
    root = project(tmp_path, spec)
    accepted(root, "quick", "deep")
    for tier, counted, other in (("quick", quick, "deep"), ("deep", deep, "quick")):
        ended = run(root, tier="deep" if tier == "deep" else "quick")
        assert counted in ended.text, ended.text
        assert f"left to the {other} tier (--tier {other}): " in ended.lines[-3]
        assert not ended.drift()
    assert run(root).code == 0


def test_the_table_has_the_designs_of_a_model_that_is_left(tmp_path: Path) -> None:
    root = project(tmp_path, DEEP + STOPS + QUICK)
    accepted(root, "quick", "deep")
    assert ["designs", "tank", "1/1"] in [line.split()[:3] for line in run(root).lines]


def test_the_lock_has_what_each_tier_found(tmp_path: Path) -> None:
    root = project(tmp_path, DEEP + STOPS + QUICK + LEAKS)
    unchecked, designs = of_tank(accepted(root, "quick"))
    assert (unchecked, designs) == ({"tier", "model"}, {"StopsHalf": "quick"})
    keys, designs = of_tank(accepted(root, "deep"))
    assert "verdict" in keys
    assert designs == {"Leaks": "", "StopsHalf": "quick"}
    both = accepted(root)
    assert accepted(root, "quick", "deep", "quick") == both


def test_the_order_of_the_tiers_does_not_matter(tmp_path: Path) -> None:
    one = accepted(project(tmp_path / "one", DEEP + STOPS + QUICK + LEAKS), "quick", "deep")
    other = accepted(project(tmp_path / "other", DEEP + STOPS + QUICK + LEAKS), "deep", "quick")
    assert one == other


def test_designs_of_a_model_that_nobody_checked_are_not_green(tmp_path: Path) -> None:
    root = project(tmp_path, DEEP + STOPS + QUICK)
    accepted(root, "quick")
    ended = run(root)
    assert ended.code == ExitCode.DRIFT
    said = "model: - | -  the model was never checked; run floodmark gate --tier deep --update-lock"
    assert said in ended.drift(), ended.text
    accepted(root, "deep")
    assert run(root).code == 0


def test_designs_alone_are_not_green(tmp_path: Path) -> None:
    root = project(tmp_path, DEEP + STOPS + QUICK, {})
    accepted(root, "deep", "quick")
    ended = run(root)
    assert ended.code == ExitCode.NOTHING_CHECKED
    assert "no model was checked, as the quick tier has only known-bad designs here" in ended.text
    assert run(root, tier="deep").code == 0
    empty = repository(tmp_path / "empty", spec="")
    (empty / "specs/tank.toml").unlink()
    for reported in (root, empty):
        pages: list[str | Path] = ["--junit", reported / "junit.xml", "--sarif", reported / "log.sarif"]
        assert floodmark("gate", *pages, at=reported).code == ExitCode.NOTHING_CHECKED
        assert 'failures="1"' in (reported / "junit.xml").read_text()
        assert "no model was checked" in (reported / "log.sarif").read_text()


def test_a_tier_may_have_only_a_proof(tmp_path: Path) -> None:
    root = project(tmp_path, f'[[prove]]\nmethod = "induction"\nproperties = ["below_size"]\n{DEEP}', {})
    accepted(root, "quick", "deep")
    ended = run(root, tier="deep")
    assert ended.code == ExitCode.AS_EXPECTED, ended.text
    assert "1 proof: each as expected" in ended.text


def test_a_design_that_moves_to_the_deep_tier_is_drift_until_that_has_it(tmp_path: Path) -> None:
    root = project(tmp_path, STOPS)
    accepted(root, "quick")
    respecified(root, STOPS + DEEP)
    gone = "known-bad design: violated | -  the known-bad design is no longer in the quick tier"
    assert gone in run(root).drift()
    accepted(root, "quick")
    assert gone in run(root).drift()  # the quick tier has not checked it, and cannot say that anybody did
    accepted(root, "deep")
    assert run(root).code == 0
    assert of_tank(accepted(root))[1] == {"StopsHalf": "deep"}


def test_a_model_that_moves_to_the_deep_tier_is_drift_until_that_has_it(tmp_path: Path) -> None:
    root = project(tmp_path, STOPS)
    accepted(root, "quick")
    respecified(root, DEEP + STOPS + QUICK)
    assert run(root).drift() == ["spec: holds | -  the spec is no longer in the quick tier"]
    assert run(root, tier="deep").drift() == ["tier: quick | deep  it is in a different tier"]
    accepted(root, "deep")
    assert run(root).code == 0
    assert run(root, tier="deep").code == 0
    assert of_tank(accepted(root))[1] == {"StopsHalf": "quick"}


def test_a_model_that_moves_back_is_drift_once(tmp_path: Path) -> None:
    root = project(tmp_path, DEEP + STOPS + QUICK)
    accepted(root, "deep", "quick")
    respecified(root, STOPS)
    assert run(root).drift() == ["tier: deep | quick  it is in a different tier"]
    assert of_tank(accepted(root, "quick"))[1] == {"StopsHalf": ""}
    assert run(root).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("left", ["", LEAKS + QUICK])
def test_a_quick_design_of_a_deep_model_that_is_removed_is_drift(tmp_path: Path, left: str) -> None:
    root = project(tmp_path, DEEP + STOPS + QUICK + left)
    accepted(root, "deep", "quick")
    respecified(root, DEEP + left)
    (said,) = run(root).drift()
    assert said.startswith("known-bad design: ") and "no longer checked" in said
    assert [each.split(":")[0] for each in run(root, tier="deep").drift()] == ["known-bad design"]
    accepted(root, "quick", "deep")
    assert run(root).code == 0 and run(root, tier="deep").code == 0


def test_a_deep_design_of_a_quick_model_that_is_removed_is_drift_in_every_run(tmp_path: Path) -> None:
    root = project(tmp_path, STOPS + DEEP)
    accepted(root, "quick", "deep")
    respecified(root, "")
    assert run(root).drift() == ["known-bad design: StopsHalf | -  the design is no longer checked"]
    accepted(root, "quick")
    assert of_tank(accepted(root))[1] == {}


def test_what_changed_of_a_design_is_drift_in_its_tier(tmp_path: Path) -> None:
    root = project(tmp_path, DEEP + STOPS + QUICK)
    accepted(root, "deep", "quick")
    respecified(root, f"{DEEP}{STOPS}{QUICK}invariants = [\"never_four\"]\n")
    assert "property: - | gets_full  a new property" in run(root).drift()
    assert not run(root, tier="deep").drift()


def test_a_design_that_is_missed_is_red_in_its_tier_only(tmp_path: Path) -> None:
    root = project(tmp_path, DEEP + STOPS + QUICK)
    accepted(root, "deep", "quick")
    respecified(root, DEEP + STOPS.replace("gets_full", "never_four") + QUICK)
    assert run(root).code == ExitCode.NOT_AS_EXPECTED
    assert run(root, tier="deep").code == 0


def test_mutants_of_a_model_that_was_not_checked_are_not_asked_about(tmp_path: Path) -> None:
    root = project(tmp_path, DEEP + "[mutation]\n" + STOPS + QUICK)
    found = accepted(root, "deep", "quick")
    entry = found.specs["tank"]
    sources: dict[str, str] = {key: entry[key] for key in ("source", "predicates") if key in entry}
    lock.write(root / "specs" / lock.NAME, found.with_mutants("tank", lock.Mutants(sources, 1)))
    assert run(root).code == 0
    assert run(root, tier="deep").code == 0


def checked(*arguments: str) -> tuple[int, str]:
    words = ["check", "--engine", "reference", *arguments]
    ended = CliRunner().invoke(command, words, standalone_mode=False, catch_exceptions=False)
    return int(ended.return_value), ended.output


def test_check_takes_of_a_folder_what_is_of_the_tier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path, DEEP + STOPS + QUICK))
    code, said = checked()
    assert code == 0 and "StopsHalf" in said and said.count("holds") == 1
    assert "left to the deep tier (--tier deep): 1 spec\n" in said
    code, said = checked("--tier", "deep")
    assert code == 0 and "StopsHalf" not in said and said.count("holds") == 1
    assert "left to the quick tier (--tier quick): 1 spec, 1 known-bad design\n" in said
    code, said = checked("--tier", "all")
    assert code == 0 and "StopsHalf" in said and said.count("holds") == 2 and "left to" not in said


def test_check_takes_of_a_spec_that_is_named_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path, DEEP + STOPS + QUICK))
    for more in ([], ["specs"]):
        code, said = checked("specs/tank.toml", *more)
        assert code == 0 and "StopsHalf" in said and "left to" not in said
        assert said.count("holds") == 1 + len(more)


def test_check_of_designs_alone_says_that_the_model_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path, DEEP + STOPS + QUICK, {}))
    code, said = checked()
    assert code == ExitCode.NOTHING_CHECKED
    assert "no model was checked" in said and "left to the deep tier (--tier deep): 1 spec" in said
    assert checked("--only-variant", "StopsHalf")[0] == 0


def test_a_folder_stands_for_the_models_of_a_tier(tmp_path: Path) -> None:
    root = project(tmp_path, DEEP + STOPS + QUICK)
    assert [path.name for path in find([root / "specs"])] == ["other.toml"]
    assert [path.name for path in find([root / "specs"], "deep")] == ["tank.toml"]


def test_list_and_show_name_the_tier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path, DEEP + STOPS + QUICK + LEAKS))
    listed = CliRunner().invoke(command, ["list"]).output.splitlines()
    assert "    StopsHalf  breaks gets_full  quick" in listed
    assert "    Leaks  breaks gets_full" in listed


def test_the_other_tier_is_reported_with_its_proofs(tmp_path: Path) -> None:
    root = project(tmp_path, f'{STOPS}{DEEP}[[prove]]\nmethod = "bmc"\n{DEEP}')
    spec = read(root / "specs/tank.toml")
    assert left_out([spec], "quick") == "left to the deep tier (--tier deep): 1 known-bad design, 1 proof"
    assert left_out([spec], "quick", proofs=False) == "left to the deep tier (--tier deep): 1 known-bad design"
    assert left_out([spec], "deep").endswith(": 1 spec")
    assert not left_out([], "quick")


@pytest.mark.slow
def test_pytest_collects_what_is_of_the_tier(tmp_path: Path) -> None:
    root = project(tmp_path, DEEP + STOPS + QUICK)
    expected = {"quick": ["StopsHalf"], "deep": ["Tank"], "all": ["Tank", "StopsHalf"]}
    for tier, names in expected.items():
        printed = run_pytest(root, "specs/tank.toml", "--floodmark-tier", tier, "--collect-only")
        assert re.findall(r"<CheckItem (\w+)>", printed) == names


def test_a_proof_that_moves_to_the_deep_tier_is_drift_until_that_has_it(tmp_path: Path) -> None:
    proof = '[[prove]]\nproperties = ["below_size"]\n'
    root = project(tmp_path, proof, {})
    accepted(root, "quick")
    respecified(root, proof + DEEP)
    gone = "proof: holds | -  the proof is no longer in the quick tier"
    assert run(root).drift() == [gone]
    run(root, update=True)
    assert run(root).drift() == [gone]  # the quick tier has not made it, and cannot say that anybody did
    assert run(root, tier="deep").drift() == ["tier: - | deep  it is in a different tier"]
    accepted(root, "deep")
    assert run(root).code == 0 and run(root, tier="deep").code == 0
    respecified(root, proof)
    assert run(root, tier="deep").drift() == ["proof: holds | -  the proof is no longer in the deep tier"]
    accepted(root, "quick")
    assert run(root).code == 0
