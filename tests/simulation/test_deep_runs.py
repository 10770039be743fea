"""Tests that walks find deep runs, and that walks and Hypothesis begin where these end."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from floodmark import Between, Model, action, invariant, require
from floodmark.checkers.simulation.compiled_walks import build_walk_code
from floodmark.checkers.simulation.deep_runs import deep_runs
from floodmark.checkers.simulation.walker import Walker, WalkPlan, WalkStrategy
from floodmark.conformance import Adapter, Mismatch, model_of, observable, state_machine, trace_of, walk
from floodmark.conformance import deep_runs as runs_of
from floodmark.language.errors import SourceError
from floodmark.language.reference import fire, initial_states
from tests.simulation.test_walks import Ring
from tests.support.command import floodmark as command

WALKING = WalkPlan(200, 30, 5, WalkStrategy.ACTIONS)


class Stair(Model):
    """A stair that is climbed step by step; one may fall from it."""

    height: Annotated[int, Between(0, 40)] = 0

    @action
    def climb(self) -> None:
        require(self.height < 40)
        self.height = self.height + 1

    @action
    def rest(self) -> None:
        require(self.height > 0)
        self.height = self.height - 1

    @invariant
    def stays_below_the_top(self) -> bool:
        return self.height < 17


def test_deep_runs_are_runs_to_the_states_that_the_fewest_walks_visit() -> None:
    model = Ring()
    runs = deep_runs(model, WALKING, 5)
    assert runs == deep_runs(model, WALKING, 5)
    for run in runs:
        assert (run[0].step, run[0].state) in list(initial_states(model))
        for before, after in itertools.pairwise(run):
            assert fire(model, before.state, after.step) == after.state
    code = build_walk_code(model, {}, good=False)
    layout = code.interface.layout
    walker = Walker(code, [layout.pack(state) for _, state in initial_states(model)], WALKING, 0, False)
    visits = Counter(state for rows in walker.paths(200) for state in {tuple(row) for row in rows.tolist()})
    counts = [visits[layout.pack(run[-1].state)] for run in runs]
    assert counts == [1] * 5
    assert len({run[-1].state for run in runs}) == 5


class StairAdapter(Adapter):
    """Counts with four bits only, and says so too late for tests that are short."""

    def __init__(self, start: Stair) -> None:
        self.bits = start.height

    def climb(self) -> None:
        self.bits = (self.bits + 1) % 14

    def rest(self) -> None:
        self.bits -= 1

    @observable
    def height(self) -> int:
        return self.bits


class SafeStair(Stair):
    @action
    def climb(self) -> None:
        require(self.height < 14)
        self.height = self.height + 1


def test_walks_in_lockstep_begin_after_deep_runs() -> None:
    model = SafeStair()
    runs = [run[:-1] for run in runs_of(model, walks=400, steps=60) if len(run) > 14]
    assert runs
    assert walk(model, StairAdapter, "uniform", most=40) is None
    found = walk(model, StairAdapter, "uniform", most=4000, after=runs)
    assert found is not None
    assert len(found.steps) == 15
    with pytest.raises(SourceError, match="is not enabled"):
        walk(model, StairAdapter, after=[[*runs[0], *runs[0][1:2] * 20]])


def test_hypothesis_begins_after_deep_runs() -> None:
    runs = runs_of(SafeStair(), walks=400, steps=60)
    machine = state_machine(SafeStair, StairAdapter, after=runs)
    once = settings(phases=[Phase.generate], database=None)  # to shrink and explain the failure takes seconds
    with pytest.raises(Mismatch, match="the implementation differs from the model"):
        run_state_machine_as_test(machine, settings=once)


def test_deep_runs_are_traces_that_conform(tmp_path: Path) -> None:
    spec = tmp_path / "stair.toml"
    spec.write_text(f'model = "{Path(__file__)}:SafeStair"\n')
    (tmp_path / "runs").mkdir()
    runs = runs_of(model_of(spec), walks=50, most=4)
    for number, run in enumerate(runs):
        lines = "\n".join(json.dumps(entry) for entry in trace_of(run))
        (tmp_path / "runs" / f"{number}.jsonl").write_text(lines)
    said = command("conform", str(spec), "--trace", "runs", at=tmp_path)
    assert said.code == 0
    assert "4 traces" in said.out
