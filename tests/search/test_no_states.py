"""Tests a model none of whose states is within its boundary, where nothing fails and nothing is believed of it, and a
model without an initial state, which is an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import floodmark
from floodmark.checkers.command_line.cli import command
from floodmark.checkers.native.search import reachable_set
from floodmark.checkers.search_result import Options
from floodmark.language.errors import SourceError
from tests.support.engines import imported

MODEL = """
from typing import Annotated
from floodmark import *

class Tank(Model):
    level: Annotated[int, Between(0, 5)]

    @initial
    def start(self) -> None:
        self.level = 0

    @fair
    @action
    def rises(self) -> None:
        require(self.level < 5)
        self.level += 1

    @action
    def empties(self) -> None:
        self.level = 0

    @invariant
    def never_floods(self) -> bool:
        return self.level < 9

    @boundary
    def deep(self) -> bool:
        return self.level > 3
"""
PROGRESS = """
    @always_eventually
    def is_empty(self) -> bool:
        return self.level == 0

    @recoverable
    def can_be_empty(self) -> bool:
        return self.level == 0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tank.py").write_text(MODEL)
    (tmp_path / "tank.toml").write_text('model = "tank.py:Tank"\n')
    return tmp_path


def said(*words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(command, words, standalone_mode=False)
    return ended.return_value or 0, ended.output


@pytest.mark.parametrize("progress", ["", PROGRESS], ids=["safety", "progress"])
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_check_warns_when_no_state_is_within_the_boundary(folder: Path, engine: str, progress: str) -> None:
    (folder / "tank.py").write_text(MODEL + progress)
    code, text = said("check", "tank.toml", "--engine", engine)
    assert code == 0
    assert "warning  no state is within the boundary" in text
    assert " 0 states" in text


@pytest.mark.parametrize("method", ["bmc", "induction", "k-induction", "infer"])
def test_a_proof_without_states_is_none(folder: Path, method: str) -> None:
    code, text = said("prove", "tank.toml", "--method", method)
    assert code == 5, text
    assert "no state is within the boundary; nothing was proved" in text
    assert "holds" not in text


def test_a_proof_is_what_the_spec_expects(folder: Path) -> None:
    (folder / "tank.toml").write_text('model = "tank.py:Tank"\n[expect]\ndistinct = 0\n')
    code, text = said("prove", "tank.toml", "--method", "induction")
    assert code == 0, text
    assert "no state is within the boundary" in text


def test_the_reachable_set_is_empty(tmp_path: Path) -> None:
    with imported(MODEL, "Tank", tmp_path) as tank:
        rows, _ = reachable_set(tank(), Options(workers=2))
        assert rows.shape == (0, 1)


BEGINS_NEVER = MODEL.replace("-> None:\n", "-> None:\n        require(self.most > 5)\n", 1).replace(
    "    level:", "    most = Constant(5)\n    level:"
)
SAID = "the model has no initial state"


@pytest.mark.parametrize("words", [("check", "--engine", "native"), ("check", "--engine", "reference"), ("simulate",)])
def test_a_model_without_an_initial_state_is_an_error(folder: Path, words: tuple[str, ...]) -> None:
    (folder / "tank.py").write_text(BEGINS_NEVER)
    code, text = said(words[0], "tank.toml", *words[1:])
    assert code == 2, text
    assert SAID in text


def test_the_states_of_a_model_without_an_initial_state_are_an_error(tmp_path: Path) -> None:
    with imported(BEGINS_NEVER, "Tank", tmp_path) as tank, pytest.raises(SourceError, match=SAID):
        list(floodmark.states(tank))


def test_versions_without_an_initial_state_are_not_the_same(folder: Path) -> None:
    (folder / "tank.py").write_text(BEGINS_NEVER)
    (folder / "lower.py").write_text(BEGINS_NEVER.replace("self.level < 5", "self.level < 4"))
    (folder / "lower.toml").write_text('model = "lower.py:Tank"\n')
    code, text = said("diff", "tank.toml", "lower.toml")
    assert code == 3, text
    assert f"tank.toml fails after 0 steps: {SAID}" in text
