"""Tests what a check is compared with (figures, silent parts), and the files and properties that are asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers.project.spec import read
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Limits, SearchResult
from floodmark.checkers.verdict.check import Check, CheckSettings, checks, must_matter, with_properties
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.language.errors import SourceError
from tests.support.gates import SPEC, repository

ALONE = CheckSettings(engine="reference", workers=1)


def checked(root: Path, spec: str, settings: CheckSettings = ALONE, edits: Any = ()) -> tuple[ExitCode, str]:
    result = run_check(Check(read(repository(root, edits, spec=spec) / "specs/tank.toml"), None, settings))
    return result.exit_code, result.message


@pytest.mark.parametrize(
    ("figure", "right"), [("distinct", 4), ("generated", 7), ("depth", 4)],
)
def test_every_figure_that_a_spec_expects_is_compared(tmp_path: Path, figure: str, right: int) -> None:
    assert checked(tmp_path / "right", f"[expect]\n{figure} = {right}\n") == (ExitCode.AS_EXPECTED, "")
    code, said = checked(tmp_path / "wrong", f"[expect]\n{figure} = {right + 1}\n")
    assert code == ExitCode.NOT_AS_EXPECTED and f"{figure} {right}, expected {right + 1}" in said


@pytest.mark.parametrize("spec", ['idle = ["drain"]\n', 'idle = ["fill", "drain"]\n'])
def test_an_action_that_is_called_idle_may_not_fire(tmp_path: Path, spec: str) -> None:
    code, said = checked(tmp_path, spec)
    assert code == ExitCode.NOT_AS_EXPECTED and "drain fires, although the spec lists it as idle" in said


def test_a_state_without_a_step_is_no_violation_where_nobody_asks(tmp_path: Path) -> None:
    edits = (("require(self.level > 0)", "require(self.level > 8)"),)
    assert checked(tmp_path / "plain", "", ALONE, edits)[0] == ExitCode.AS_EXPECTED
    assert checked(tmp_path / "spec", "deadlock = true\n", ALONE, edits)[0] == ExitCode.NOT_AS_EXPECTED
    assert checked(tmp_path / "asked", "", replace(ALONE, deadlock=True), edits)[0] == ExitCode.NOT_AS_EXPECTED


@pytest.mark.parametrize(
    ("spec", "asked", "searched"),
    [
        ("", None, False), ("symmetry = true\n", None, True), ("", True, True), ("symmetry = true\n", False, False),
        ("symmetry = true\n", True, True), ("", False, False),
        ('symmetry = ["Node"]\n', True, ("Node",)), ('symmetry = ["Node"]\n', None, ("Node",)),
        ('symmetry = ["Node"]\n', False, False),
    ],
)
def test_the_symmetry_of_a_spec_remains_where_some_is_asked_for(
    tmp_path: Path, spec: str, asked: bool | None, searched: Any
) -> None:
    path = repository(tmp_path, spec=spec) / "specs/tank.toml"
    assert Check(read(path), None, replace(ALONE, symmetry=asked)).symmetry == searched


def test_the_command_of_a_check_has_all_limits(tmp_path: Path) -> None:
    settings = CheckSettings(limits=Limits(states=9, seconds=2.5, memory=1 << 30), workers=3)
    (check, *_) = checks(read(repository(tmp_path, spec="") / "specs/tank.toml"), settings)
    assert " --max-states 9 --max-seconds 2.5 --max-memory 1G --workers 3" in check.reproduce()


def test_nothing_is_counted_of_sources_where_nobody_asks(tmp_path: Path) -> None:
    spec = read(repository(tmp_path, spec="") / "specs/tank.toml")
    for settings in (CheckSettings(), CheckSettings(coverage=True)):
        assert [check.options.coverage for check in checks(spec, settings)] == [settings.coverage]
    assert not CheckSettings().coverage


def test_each_file_of_properties_has_to_be_about_a_model(tmp_path: Path) -> None:
    other = "from model.other import Other\nfrom floodmark import invariant\n\n\n@invariant\n"
    other += "def fine(it: Other) -> bool:\n    return True\n"
    model = "from floodmark import Model, action\n\n\nclass Other(Model):\n    on: bool = False\n\n    @action\n"
    model += "    def flips(self) -> None:\n        self.on = not self.on\n"
    root = repository(tmp_path, spec="", files={"more/other.py": other, "model/other.py": model})
    every = checks(read(root / "specs/tank.toml"), ALONE)
    fine, useless = root / "invariants/tank.py", root / "more/other.py"
    must_matter([fine], every)
    for files in ([useless], [fine, useless], [useless, fine]):
        with pytest.raises(SourceError, match="no property in this file is about Tank"):
            must_matter(files, every)


def test_the_checks_of_a_property_are_those_of_models_that_have_it(tmp_path: Path) -> None:
    every = checks(read(repository(tmp_path, spec=SPEC) / "specs/tank.toml"), ALONE)
    assert with_properties(every, ["never_four"]) == every
    assert with_properties(every, ["deadlock"]) == every
    with pytest.raises(SourceError, match="no model being checked has a property 'never_fou'; did you mean"):
        with_properties(every, ["never_fou"])


def test_what_was_not_exercised_is_told_of_models_whose_search_went_on() -> None:
    found = SearchResult("native", True, distinct=1, actions={"up": 0, "down": 3})
    result = CheckResult("s.toml", "s", "m", None, "quick", verdict="holds", expected=True, search_result=found)
    assert result.unexercised() == ["never fired: up"]
    assert replace(result, idle=["up"]).unexercised() == []
    assert replace(result, variant="Design").unexercised() == []
    assert replace(result, verdict="violated").unexercised() == []
    assert replace(result, search_result=None).unexercised() == []
