"""``floodmark simulate``, ``[simulate]`` in a spec, and ``floodmark.simulate``: what a walk finds, and never green."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import floodmark as package
from floodmark.checkers.verdict.result import ExitCode
from tests.simulation.test_walks import OrderedRing, Ring
from tests.support.command import floodmark

MODEL = '''
from typing import Annotated
from floodmark import Between, Constant, Model, action, invariant, require

class Climb(Model):
    """A number that goes up by one, or begins anew."""
    top = Constant(6)
    height: Annotated[int, Between(0, "top")] = 0

    @action
    def climb(self) -> None:
        require(self.height < self.top)
        self.height = self.height + 1

    @action
    def begin_anew(self) -> None:
        self.height = 0

    @invariant
    def is_low(self) -> bool:
        return self.height < 5

class LowClimb(Climb):
    @action
    def climb(self) -> None:
        require(self.height < 4)
        self.height = self.height + 1
'''
GOOD = 'model = "climb.py:LowClimb"\n'
BAD = 'model = "climb.py:Climb"\n[expect]\nverdict = "violated"\nproperty = "is_low"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/climb.py").write_text(MODEL)
    (tmp_path / "specs/good.toml").write_text(GOOD)
    (tmp_path / "specs/bad.toml").write_text(BAD)
    return tmp_path


def test_walks_without_a_violation_are_undetermined(folder: Path) -> None:
    said = floodmark("simulate", "specs/good.toml", "--walks", "300", at=folder)
    assert said.code == ExitCode.UNDETERMINED
    assert "no violation in these walks" in said.out
    assert "300 walks (actions, seed 0), 30,300 states, 5 of them distinct, at most 100 steps" in said.out
    assert "reproduce: floodmark simulate specs/good.toml --walks 300\n" in said.out


def test_a_violation_is_shown_as_that_of_a_search(folder: Path) -> None:
    unexpected = BAD.partition("[expect]")[0]
    (folder / "specs/bad.toml").write_text(unexpected)
    said = floodmark("simulate", "specs/bad.toml", "--seed", "3", "--json", "found.json", at=folder)
    assert said.code == ExitCode.NOT_AS_EXPECTED
    assert "Climb violates is_low (specs/climb.py:20) after 6 steps" in said.out
    assert "reproduce: floodmark simulate specs/bad.toml --seed 3" in said.out
    (entry,) = json.loads((folder / "found.json").read_text())["results"]
    assert entry["walked"]["seed"] == 3
    assert len(entry["trace"]) == 6
    shown = floodmark("report", "found.json", "--as", "html", "--into", "page.html", at=folder)
    assert shown.code == 0
    assert "is_low" in (folder / "page.html").read_text()


@pytest.mark.slow
def test_the_gate_walks_a_spec_that_expects_a_violation(folder: Path) -> None:
    (folder / "specs/good.toml").unlink()
    (folder / "specs/bad.toml").write_text(f"{BAD}\n[simulate]\nwalks = 500\nsteps = 40\nseed = 2\n")
    assert floodmark("gate", "--update-lock", at=folder).code == 0
    said = floodmark("gate", "--json", "found.json", at=folder)
    assert said.code == 0
    (entry,) = json.loads((folder / "found.json").read_text())["results"]
    assert entry["engine"] == "walks"
    (folder / "specs/climb.py").write_text(MODEL.replace("self.height < 5", "self.height < 7"))
    missed = floodmark("gate", at=folder)
    assert missed.code != 0
    assert "undetermined  bad" in missed.out


def test_a_spec_that_expects_no_violation_is_not_walked(folder: Path) -> None:
    (folder / "specs/good.toml").write_text(f"{GOOD}[simulate]\nwalks = 5\n")
    said = floodmark("check", "specs/good.toml", at=folder)
    assert said.code == ExitCode.USER_ERROR
    assert "specs/good.toml:2: random walks never show that a property holds" in said.out


def test_a_program_takes_walks(tmp_path: Path) -> None:
    found = package.simulate(OrderedRing, walks=2000, nodes=3, workers=1)
    assert found.verdict == "violated"
    assert found.counterexample is not None
    missed = package.simulate(Ring, walks=10, steps=5, nodes=2, workers=1)
    assert not missed.holds
    assert missed.verdict == "undetermined"


def test_a_program_is_told_which_arguments_are_wrong() -> None:
    with pytest.raises(ValueError, match="strategy is one of actions, instances, priorities, swarm, novel"):
        package.simulate(Ring, strategy="luck")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="walks must be a whole number, 1 or more, not 0"):
        package.simulate(Ring, walks=0)
    with pytest.raises(ValueError, match=r"seed must be at most 10\*\*18"):
        package.simulate(Ring, seed=1 << 64)
