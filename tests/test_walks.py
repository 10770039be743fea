"""Walks in which a model proposes: what they propose, that they come again, what they find, and how it is told."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from floodmark.checkers.conformance.adapter import Contract
from floodmark.checkers.conformance.lockstep import Mismatch, shortened
from floodmark.checkers.conformance.proposals import Proposals
from floodmark.checkers.conformance.shrinking import breaking, followed, shrunk
from floodmark.checkers.conformance.side_by_side import side_by_side
from floodmark.checkers.conformance.walks import Choice, Walks
from floodmark.checkers.properties import Property, collect
from floodmark.conformance import model_of
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "conformance"
TWO_PHASE = ROOT / "specs" / "examples" / "two_phase_commit.toml"
LOST = ROOT / "specs" / "examples" / "lost_partitions.toml"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def prop_of(model: Model, name: str) -> Property:
    return collect(type(model), [])[name]


@pytest.mark.parametrize("spec", [TWO_PHASE, LOST])
def test_what_is_proposed_is_what_cpython_can_do(spec: Path) -> None:
    model = model_of(spec)
    proposals = Proposals(model, [])
    pack = proposals.layout.pack
    states = [state for _, state in reference.initial_states(model)][:1]
    for state in states:
        offered = sorted((each.action, each.after) for each in proposals.of(pack(state)).proposals)
        steps = list(reference.successors(model, state))
        assert offered == sorted((step.action, pack(after)) for step, after in steps)
        for each in proposals.of(pack(state)).proposals:
            step, after = proposals.step(state, each)
            assert (step.action, pack(after)) == (each.action, each.after)
        if len(states) < 30:
            states += [after for _, after in steps[-2:]]


@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_a_walk_finds_a_known_mistake_and_comes_again(choice: Choice) -> None:
    model = model_of(TWO_PHASE, "CommitsOnMajority")
    prop = prop_of(model, "consistent")
    found = Walks(model, [prop], choice, seed=1).search(20_000)
    assert found is not None
    assert found.property == prop
    assert found == Walks(model, [prop], choice, seed=1).search(20_000)
    assert breaking(model, prop)(found.steps) == found.steps


def test_no_step_is_left_that_can_be_left_out() -> None:
    model = model_of(TWO_PHASE, "CommitsOnMajority")
    prop = prop_of(model, "consistent")
    found = Walks(model, [prop], "guided", seed=2).search(20_000)
    assert found is not None
    fails = breaking(model, prop)
    steps = shrunk(found.steps, fails)
    assert len(steps) <= len(found.steps)
    assert [step for step, _ in followed(model, steps)] == list(steps)
    for index in range(1, len(steps)):
        assert fails([*steps[:index], *steps[index + 1 :]]) is None


def test_walks_go_on_after_a_run() -> None:
    model = model_of(TWO_PHASE)
    steps = [step for step, _ in list(reference.initial_states(model))[:1]]
    state = next(iter(reference.initial_states(model)))[1]
    for _ in range(3):
        step, state = next(iter(reference.successors(model, state)))
        steps.append(step)
    walks = Walks(model, [], "guided", seed=1)
    walks.begin_after(steps)
    assert walks.search(50) is None
    with pytest.raises(SourceError, match="is not enabled after the 3 steps"):
        Walks(model, [], "guided", seed=1).begin_after([*steps, steps[1]])


@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_an_implementation_is_driven(choice: Choice) -> None:
    loaded("broker")
    example = loaded("test_broker")
    contract = Contract(example.MODEL, example.PartitionAdapter)
    assert Walks(example.MODEL, [], choice, seed=1, contract=contract).search(150) is None

    class Buggy(example.PartitionAdapter):  # type: ignore[misc, name-defined]
        bug = example.Bug.COUNTS_PROPOSED_ISR

    found = Walks(example.MODEL, [], choice, seed=1, contract=Contract(example.MODEL, Buggy)).search(2_000)
    assert found is not None
    assert found.mismatch is not None
    assert len(shortened(Contract(example.MODEL, Buggy), found.mismatch).steps) == 2


def test_both_sides_are_told_where_they_part() -> None:
    differences = [
        ("level", 1, 2),
        ("log", {"n1": [1, 2], "n2": []}, {"n1": [1], "n2": []}),
    ]
    assert side_by_side(Mismatch("they part", [], differences)) == [
        "              model  implementation",
        "level         1      2",
        "log['n1'][1]  2      (nothing)",
    ]


def test_the_page_runs_as_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"<!-- (.+?) -->\n```\w+\n(.*?)```", page, re.DOTALL))
    for name, text in blocks.items():
        if " " not in name:
            (tmp_path / name).write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for command, expected in [("-m floodmark check copy.toml", "holds"), ("copy_adapter.py", None)]:
        words = [sys.executable, *command.split()]
        run = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert run.stdout == blocks["python copy_adapter.py"] if expected is None else expected in run.stdout
