"""A model without properties: its states are counted, which is a check only where the spec says how many there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.checkers.project.spec import read
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.value_text import plain, show, source_form
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.values import Map, Record, Set
from tests.support.projects import write

MODEL = """
from typing import Annotated
from floodmark import Between, Constant, Model, action

class Counter(Model):
    most = Constant(3)
    x: Annotated[int, Between(0, "most")] = 0

    @action
    def counts(self) -> None:
        self.x = (self.x + 1) % (self.most + 1)

class Fails(Counter):
    def counts(self) -> None:
        self.x += 1
"""


@pytest.mark.parametrize(("spec", "changed", "code", "said"), [
    ("", {}, ExitCode.NOTHING_CHECKED, "nothing was checked: no property belongs to this model"),
    ("[expect]\ndistinct = 4\n", {}, ExitCode.AS_EXPECTED, ""),
    ("[expect]\ndepth = 4\n", {}, ExitCode.AS_EXPECTED, ""),
    ("[expect]\ngenerated = 5\n", {}, ExitCode.AS_EXPECTED, ""),
    ("[expect]\ndistinct = 5\n", {}, ExitCode.NOT_AS_EXPECTED, "distinct 4, expected 5"),
    ("[expect]\ndistinct = 4\n", {"most": 2}, ExitCode.NOTHING_CHECKED, "nothing was checked"),
    ("[limits]\nstates = 1\n[expect]\ndistinct = 4\n", {}, ExitCode.UNDETERMINED, "at the limit of 1 state"),
])
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_counts_are_checked_only_where_they_are_stated(
    tmp_path: Path, spec: str, changed: dict[str, int], code: ExitCode, said: str, engine: str
) -> None:
    write(tmp_path, {"m.py": MODEL, "m.toml": f'model = "m.py:Counter"\n{spec}'})
    settings = CheckSettings(engine="reference" if engine == "reference" else "native", workers=1, constants=changed)
    [check] = checks(read(tmp_path / "m.toml"), settings)
    result = run_check(check)
    assert (result.exit_code, said in result.message) == (code, True)
    assert result.expected == (code == ExitCode.AS_EXPECTED)
    assert result.search_result is not None
    if code == ExitCode.NOTHING_CHECKED:
        assert (result.verdict, result.search_result.complete) == ("undetermined", True)
        assert result.search_result.distinct == changed.get("most", 3) + 1


def test_a_model_error_is_one_without_any_property(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": MODEL, "m.toml": 'model = "m.py:Fails"\n'})
    [check] = checks(read(tmp_path / "m.toml"), CheckSettings(engine="native", workers=1))
    assert run_check(check).exit_code == ExitCode.USER_ERROR


class Entry(Record):
    """What traces call by a short name."""

    offset: int
    epoch: int

    def __str__(self) -> str:
        return f"e{self.epoch}"


def test_a_record_is_shown_as_it_says_but_never_read_so() -> None:
    one, two = Entry(offset=0, epoch=1), Entry(offset=1, epoch=1)
    assert show(Set({one})) == "{e1}"
    assert show(Map({one: two})) == "{e1: e1}"
    assert source_form(Set({one})) == "{Entry(offset=0, epoch=1)}"
    assert plain(Map({one: 1, two: 2})) == {"Entry(offset=0, epoch=1)": 1, "Entry(offset=1, epoch=1)": 2}
