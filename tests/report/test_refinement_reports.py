"""A step that a refined model would not take: both of its states, and its nearest step, in JSON and on pages."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree.ElementTree import tostring

import pytest

from floodmark.checkers.explorer.state_view import property_values
from floodmark.checkers.project.spec import read
from floodmark.checkers.report.html.counterexample import counterexample
from floodmark.checkers.report.html.states import side_by_side
from floodmark.checkers.report.json import document
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.checkers.verdict.result import CheckResult
from tests.support.json_schemas import require_schema

ROOT = Path(__file__).parents[2]
BEGINS = '''
from floodmark import Model, action, refines

class Switch(Model):
    on: bool = False
    @action
    def flips(self) -> None:
        self.on = not self.on

class Lamp(Model):
    dark: bool = False
    @action
    def flips(self) -> None:
        self.dark = not self.dark
    @refines
    def as_switch(self) -> Switch:
        return Switch(on=not self.dark)
'''


@pytest.fixture(scope="module")
def aborts() -> CheckResult:
    """A manager that aborts although another one has committed."""
    settings = CheckSettings(workers=1, only_variant="AbortsAfterPrepared")
    (check,) = checks(read(ROOT / "specs/examples/transaction_commit.toml"), settings)
    return run_check(check)


def test_json_has_both_states_and_the_nearest_step(aborts: CheckResult) -> None:
    text = document([aborts])
    require_schema(text)
    found = json.loads(text)["results"][0]["refinement"]
    before, after = (found[name]["state"] for name in ("before", "after"))
    (changed,) = (name for name in before if before[name] != after[name])
    assert (found["refines"], found["steps"], after[changed]) == ("TransactionCommit", 1, "ABORTED")
    nearest = found["nearest"]
    assert (nearest["action"], nearest["arguments"]) == ("aborts", {"manager": changed})
    assert nearest["state"] == found["after"]
    assert "Manager.COMMITTED" in nearest["guard"]["text"]
    assert Path(nearest["guard"]["file"]).name == "transaction_commit.py"


def test_json_has_the_only_state_of_a_run_that_begins_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "lamp.py").write_text(BEGINS)
    (tmp_path / "lamp.toml").write_text('model = "lamp.py:Lamp"\n')
    (check,) = checks(read(tmp_path / "lamp.toml"), CheckSettings(workers=1))
    text = document([run_check(check)])
    require_schema(text)
    found = json.loads(text)["results"][0]["refinement"]
    assert found == {"refines": "Switch", "steps": 1, "before": None, "after": {"on": True}, "nearest": None}


SKIPS = '''
from typing import Annotated
from floodmark import Between, Model, action, refines, require

Count = Annotated[int, Between(0, 3)]

class Counter(Model):
    count: Count = 0
    turns: Count = 0
    @action
    def waits(self) -> None:
        """Nothing happens."""
    @action
    def turns_late(self) -> None:
        if self.count < 3:
            require(self.turns > 1)
        self.turns = 1
    @action
    def counts(self) -> None:
        require(self.count < 3)
        self.count += 1

class Skips(Model):
    count: Count = 0
    @action
    def skips(self) -> None:
        require(self.count < 2)
        self.count += 2
    @refines
    def as_counter(self) -> Counter:
        return Counter(count=self.count, turns=0)
'''


def test_the_nearest_step_is_one_that_changes_something(tmp_path: Path) -> None:
    (tmp_path / "skips.py").write_text(SKIPS)
    (tmp_path / "skips.toml").write_text('model = "skips.py:Skips"\n')
    (check,) = checks(read(tmp_path / "skips.toml"), CheckSettings(workers=1))
    nearest = json.loads(document([run_check(check)]))["results"][0]["refinement"]["nearest"]
    assert (nearest["action"], nearest["state"]["count"]) == ("counts", 1)


FAILS = SKIPS.replace("self.count += 1\n", "self.count += 1\n        self.turns += 4\n")


def test_a_refined_step_that_fails_is_no_step_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "skips.py").write_text(FAILS)
    (tmp_path / "skips.toml").write_text('model = "skips.py:Skips"\n')
    (check,) = checks(read(tmp_path / "skips.toml"), CheckSettings(workers=1))
    result = run_check(check)
    assert (result.verdict, result.message) == ("error", "turns would become 4, outside of 0..3")
    assert json.loads(document([result]))["results"][0]["refinement"] is None
    page = "".join(tostring(part, encoding="unicode") for part in counterexample(result, "it"))
    assert "Why as_counter is false" not in page


GROWS = '''
from typing import Annotated
from floodmark import Between, Model, action, transition

class Grows(Model):
    size: Annotated[int, Between(0, 3)] = 1
    @action
    def shrinks(self) -> None:
        self.size = 0
    @transition
    def never_smaller(self, new: "Grows") -> bool:
        return new.size >= self.size
'''


def test_a_property_of_steps_is_no_refinement(tmp_path: Path) -> None:
    (tmp_path / "grows.py").write_text(GROWS)
    (tmp_path / "grows.toml").write_text('model = "grows.py:Grows"\n')
    (check,) = checks(read(tmp_path / "grows.toml"), CheckSettings(workers=1))
    result = run_check(check)
    assert json.loads(document([result]))["results"][0]["refinement"] is None
    page = "".join(tostring(part, encoding="unicode") for part in counterexample(result, "it"))
    assert "<h4>Why never_smaller is false</h4>" in page
    assert "false: new.size &gt;= self.size, that is 0 &gt;= 1" in page


def test_json_says_nothing_of_a_refinement_that_holds() -> None:
    (check, *_) = checks(read(ROOT / "specs/examples/transaction_commit.toml"), CheckSettings(workers=1))
    assert json.loads(document([run_check(check)]))["results"][0]["refinement"] is None


def test_the_page_has_the_states_side_by_side(aborts: CheckResult) -> None:
    page = "".join(tostring(part, encoding="unicode") for part in counterexample(aborts, "it"))
    table = page[page.index('aria-label="TransactionCommit"') :].partition("</table>")[0]
    assert table.count('scope="col"') == 4  # the model, before, after, and the nearest step
    assert "The last step changes the TransactionCommit" in page
    assert "it is not enabled: it requires" in page


def test_the_explorer_has_them_as_well(aborts: CheckResult) -> None:
    assert aborts.subject is not None and aborts.violation is not None
    found, _ = property_values(aborts.subject, aborts.properties, aborts.violation.trace)
    (value,) = (it for it in found if it.prop.is_refinement)
    assert value.true is False and value.mapped is not None
    _, *rows = side_by_side(value.mapped)[0].findall(".//tr")
    marked = [[cell.find("mark") is not None for cell in row.findall("td")] for row in rows]
    assert marked == [[False, True, False]]  # before, after, and the nearest step, which leads to the same state
