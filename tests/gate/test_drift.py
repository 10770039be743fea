"""Tests how drift is told: what comes with a failure is part of it, the rest is one table a spec."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from floodmark.checkers.gate import lock
from floodmark.checkers.gate.drift import DriftSources, table_drift
from floodmark.checkers.gate.lock import LockEntry
from floodmark.checkers.report.outputs import Reports
from floodmark.checkers.verdict.result import ExitCode
from tests.support.gates import Ended, edited, locked, repository, run

OTHER = {"specs/other.toml": 'model = "model.tank:Tank"\ninvariants = ["below_size"]\n'}
TWO = '''
[[flawed]]
class = "flawed:StopsHalf"
property = "gets_full"

[[flawed]]
class = "flawed:Leaks"
property = "gets_full"
'''
STRICT = "tank.level != 4", "tank.level != 3"


def words(text: str) -> str:
    return " ".join(text.split())


def after(root: Path, *edits: tuple[str, str]) -> tuple[Ended, Path]:
    """The gate after edits of a repository with two specs and two known-bad designs, and its reports."""
    locked(repository(root / "before", spec=TWO, files=OTHER))
    reports = Reports(json=root / "gate.json", junit=root / "gate.xml", html=root / "gate.html")
    return run(edited(root / "before", root / "after", *edits, spec=TWO, files=OTHER), reports=reports), root


def cases(root: Path) -> dict[str, list[str]]:
    """The test cases that are not green, by suite."""
    found: dict[str, list[str]] = {}
    for case in ElementTree.parse(root / "gate.xml").iter("testcase"):
        if len(case):
            found.setdefault(case.get("classname") or "", []).append(case.get("name") or "")
    return found


def test_drift_that_comes_with_a_violation_is_part_of_it(tmp_path: Path) -> None:
    """The edit breaks a property of one spec, and changes what is found of its designs and of another spec."""
    ended, root = after(tmp_path, ("require(self.level > 0)", "require(self.level >= 0)"),
                        ("self.level -= 1", "self.level = min(self.level + 2, self.size) if self.level < 1 else 0"))
    assert ended.code == ExitCode.NOT_AS_EXPECTED, ended.text
    assert cases(root) == {"tank": ["Tank"], "floodmark.lock": ["other"]}
    failure = "\n".join(each.text or "" for each in ElementTree.parse(root / "gate.xml").iter("failure"))
    assert "with it, these differ from the lock (was | now):" in failure
    assert "  verdict: holds | violated (one_step)" in failure
    assert "tank Tank: verdict, source differ from the lock too, because it fails" in words(ended.text)
    assert "differences from the lock:" in ended.text
    assert "is gone" not in ended.text
    assert "different property" not in ended.text
    drift = json.loads((root / "gate.json").read_text())["drift"]
    assert {each["follows"] for each in drift} == {"", "tank Tank"}
    assert {each["table"] for each in drift} == {"tank", "other"}
    assert (root / "gate.html").read_text().count("differs from the lock") == 2


def test_a_design_that_is_missed_has_its_own_drift(tmp_path: Path) -> None:
    ended, root = after(tmp_path, ("return self.level == 2", "return self.level == self.size"))
    assert ended.code == ExitCode.NOT_AS_EXPECTED
    assert cases(root) == {"tank": ["StopsHalf"]}
    assert ended.drift() == []
    assert "tank StopsHalf: verdict, source differ from the lock too, because it fails" in words(ended.text)


def test_what_is_weakened_besides_is_not_folded(tmp_path: Path) -> None:
    ended, root = after(tmp_path, STRICT, ("@invariant\n    def below_size", "def below_size"),
                        ('[[flawed]]\nclass = "flawed:Leaks"\nproperty = "gets_full"\n', ""),
                        ('invariants = ["below_size"]', 'invariants = ["gets_full"]'))  # fmt: skip
    assert ended.code == ExitCode.NOT_AS_EXPECTED, ended.text
    assert cases(root) == {"tank": ["Tank"], "floodmark.lock": ["other", "tank"]}
    assert "property: below_size | -  the property is no longer checked" in ended.drift()
    assert "known-bad design: Leaks | -  the design is no longer checked" in ended.drift()


@pytest.mark.parametrize("file", ["invariants/tank.py", "model/tank.py"])
def test_the_property_that_changed_is_named_with_its_line(tmp_path: Path, file: str) -> None:
    edit = STRICT if file.startswith("inv") else ("self.level < self.size + 1", "self.level <= self.size")
    edit = (edit[0], edit[1].replace("!= 3", "< 4"))
    ended, root = after(tmp_path, edit)
    name = "never_four" if file.startswith("inv") else "below_size"
    line = next(number for number, text in enumerate((root / "after" / file).read_text().splitlines(), 1)
                if f"def {name}" in text)  # fmt: skip
    assert ended.code == ExitCode.DRIFT
    assert any(row.startswith(f"property {name}: ") and "its meaning changed" in row for row in ended.drift())
    assert f"{file}:{line})" in ended.text
    assert not any(row.startswith(("property one_step", "predicates")) for row in ended.drift())


@pytest.mark.parametrize("constant", ["True", "tank.level > 9 or True", "tank.size == 3"])
def test_a_property_that_became_constant_is_called_that(tmp_path: Path, constant: str) -> None:
    ended, _ = after(tmp_path, ("return tank.level != 4", f"return {constant}"))
    assert any("property never_four: " in row and "it is constant now, so it is vacuous" in row
               for row in ended.drift()), ended.text  # fmt: skip


def test_a_lock_that_has_only_the_names_of_properties_is_understood(tmp_path: Path) -> None:
    found = locked(repository(tmp_path / "before", spec=TWO))
    old = {**found.specs["tank"], "properties": list(found.specs["tank"]["properties"])}
    lock.write(tmp_path / "before/specs" / lock.NAME, lock.Lock(specs={"tank": old}))
    assert run(tmp_path / "before").code == 0
    ended = run(edited(tmp_path / "before", tmp_path / "after", ("!= 4", "< 4"), spec=TWO))
    assert [row.partition(":")[0] for row in ended.drift()] == ["predicates"]


def test_a_lock_of_no_known_version_is_replaced(tmp_path: Path) -> None:
    root = repository(tmp_path)
    path = root / "specs" / lock.NAME
    path.write_text("version = 0\n[old]\n")
    locked(root)
    assert run(root).code == 0


WAS: LockEntry = {"verdict": "holds", "distinct": 4, "actions": {"up": 3}, "digest": "d"}


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        (WAS, {"verdict": "violated", "property": "p", "depth": 2}, ["verdict: holds | violated (p) "]),
        ({**WAS, "verdict": "violated", "property": "p"}, {"verdict": "violated", "property": "p", "depth": 2},
         ["distinct: 4 | - the search stopped before all states were seen", "depth: - | 2 "]),
        ({"verdict": "violated", "property": "p"}, {"verdict": "violated", "property": "q"},
         ["property: p | q a different property is broken"]),
        (WAS, {**WAS, "actions": {}}, ["action up: 3 | - the action is gone"]),
        (WAS, {**WAS, "actions": {"up": 0}}, ["action up: 3 | 0 never fires"]),
        (WAS, {"properties": ["p"]}, []),
        ({**WAS, "cut": 3}, WAS, ["cut: 3 | - "]),
        (WAS, {**WAS, "cut": 3}, ["cut: - | 3 "]),
        ({**WAS, "cut": 3}, {**WAS, "cut": 4}, ["cut: 3 | 4 more than before"]),
        ({**WAS, "flawed": {"D": {"verdict": "violated"}}}, WAS,
         ["known-bad design: D | - the design is no longer checked"]),
        ({"verdict": "holds", "actions": {"fill": 3}}, {"verdict": "holds"}, ["action fill: 3 | - the action is gone"]),
    ],
)  # fmt: skip
def test_no_more_is_said_than_is_known(was: LockEntry, now: LockEntry, said: list[str]) -> None:
    now = {"source": "a", "properties": ["p"], **now}
    was = {"source": "a", "properties": ["p"], **was}
    found = table_drift("spec", was, now, DriftSources(("spec.toml", None)))
    assert [f"{each.what}: {each.was} | {each.now} {each.note}" for each in found] == said
