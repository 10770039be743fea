"""Tests that a step has one number wherever it is told: the initial one is the first."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from floodmark.checkers.conformance.adapter import Adapter
from floodmark.checkers.conformance.lockstep import Mismatch, replay
from floodmark.conformance import model_of, observable
from floodmark.language.errors import SourceError
from floodmark.language.model import State
from tests.support.hostile import Run, put, runs
from tests.support.projects import INVARIANTS

__all__ = ["runs"]

STEPS = ["start()", "fill()", "fill()"]
"""The shortest run to a level of two, which ``never_two`` forbids."""
NUMBERED = [f"{number}  {step}" for number, step in enumerate(STEPS, 1)]


def numbered(text: str) -> list[str]:
    return [f"{number}  {step}" for number, step in re.findall(r"^ +(\d+)  (\w+\(.*?\))|^(?!)", text, re.MULTILINE)]


@pytest.fixture(name="broken")
def breaks(run: Run) -> Run:
    """A project in which ``never_two`` is violated."""
    put("specs/tank.toml", 'model = "model.tank:Tank"\ninvariants = ["never_two"]\n')(Path())
    put("invariants/tank.py", INVARIANTS)(Path())
    return run


def test_the_check_and_its_reports_number_steps_alike(broken: Run) -> None:
    _, text = broken("check", "--engine", "reference", "--json", "r.json")
    for kind in ("sarif", "html", "junit"):
        broken("report", "r.json", "--as", kind, "--into", f"r.{kind}")
    assert "after 3 steps" in text
    assert re.findall(r"^\d+  .*", text, re.MULTILINE) == NUMBERED
    (case,) = json.loads(Path("r.json").read_text())["results"]
    assert [f"{step['action']}()" for step in case["trace"]] == STEPS
    (found,) = json.loads(Path("r.sarif").read_text())["runs"][0]["results"]
    flow = found["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [f"{at['executionOrder']}  {at['location']['message']['text']}" for at in flow[:3]] == NUMBERED
    page = Path("r.html").read_text()
    assert re.findall(r"step (\d+)</", page) == ["2", "3"]  # and before them the initial state
    assert "after 3 steps" in Path("r.junit").read_text()


def test_an_emitted_test_numbers_steps_as_the_check_does(broken: Run) -> None:
    broken("check", "--engine", "reference", "--json", "r.json")
    _, text = broken("report", "r.json", "--as", "test")
    assert '"""Tank breaks never_two after 3 steps (specs/tank.toml)."""' in text


@pytest.mark.parametrize("method", ["bmc", "k-induction"])
def test_what_z3_finds_is_numbered_as_a_search_numbers_it(broken: Run, method: str) -> None:
    _, text = broken("prove", "tank", "--method", method)
    assert "violates never_two in 3 states" in text
    assert numbered(text) == NUMBERED


def test_a_recorded_run_has_a_line_for_each_step(broken: Run) -> None:
    broken("check", "--engine", "reference", "--json", "r.json")
    code, text = broken("conform", "tank", "--trace", "r.json")
    assert (code, "fits all 3 lines" in text) == (0, True)
    lines = "".join(f'{{"action": "{name}"}}\n' for name in ("start", "fill", "drain", "drain"))
    code, text = broken("conform", "tank", "--trace", "t.jsonl", lay=put("t.jsonl", lines))
    assert (code, "t.jsonl:4: no run of Tank fits this line; one fits the 3 lines before" in text) == (1, True)


class Leaks(Adapter):
    """It loses what it has at the second filling."""

    environment = ("drain",)

    def __init__(self, start: State) -> None:
        super().__init__(start)
        self.content = 0

    def fill(self) -> None:
        self.content = 0 if self.content else 1

    @observable
    def level(self) -> int:
        return self.content


def test_a_difference_from_an_implementation_is_numbered_as_a_search_numbers_it(broken: Run) -> None:
    broken("check", "--engine", "reference", "--json", "r.json")
    (case,) = json.loads(Path("r.json").read_text())["results"]
    model = model_of("specs/tank.toml")
    with pytest.raises(Mismatch) as found:
        replay(model, Leaks, case["trace"])
    assert "after 3 steps the implementation differs" in str(found.value)
    assert numbered(str(found.value)) == NUMBERED
    for trace, number in ((["start", "drain"], 2), (["start", "fill", "fil"], 3)):
        with pytest.raises(SourceError, match=f"step {number}: "):
            replay(model, Leaks, [{"action": name} for name in trace])
