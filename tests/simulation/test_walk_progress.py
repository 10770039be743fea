"""What walks show while they run: actions, kinds of arguments, goals, lines, branches, guards, values and depth."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import pytest

from floodmark import Between, action, invariant, require
from floodmark.checkers.coverage.places import arguments, shares
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import Spec
from floodmark.checkers.report import progress as shown
from floodmark.checkers.report.progress import SearchProgress, describe
from floodmark.checkers.report.progress_file import ProgressFile
from floodmark.checkers.search_result import Options, Progress, Proportion, SearchResult, WalkProgress
from floodmark.checkers.simulation import simulate as simulation
from floodmark.checkers.simulation.simulate import simulate
from floodmark.checkers.simulation.walker import GROUP, WalkPlan, WalkStrategy
from floodmark.checkers.verdict.check import Check, CheckSettings
from tests.simulation.test_walks import Node, Ring
from tests.support.json_schemas import require_schema

CHECK = Check(Spec(Path("specs/ring.toml"), "model.ring:Ring"), None, CheckSettings())
WALKED = WalkProgress(
    Proportion(12_800, 100_000),
    60,
    {"count_up": 9_000, "begin_anew": 0},
    {"at_nine": 37, "at_eight": 0},
    {
        "lines": Proportion(11, 12), "branches": Proportion(3, 4), "guards": Proportion(1, 2),
        "values": Proportion(20, 22),
    },
    {"count_up": Proportion(3, 3), "begin_anew": Proportion(0, 3)},
)
AT = Progress(0, 0, 0, 600_000, 0.5, 0, walked=WALKED)


class JumpingRing(Ring):
    @action
    def jumps(self, node: Node, by: Annotated[int, Between(1, 9)]) -> None:
        require(self.marks[node] + by < 8)
        self.marks[node] = self.marks[node] + by

    @invariant
    def not_all_are_at_nine(self) -> bool:
        return any(self.marks[node] < 9 for node in Node)


def walked(walks: int, workers: int, coverage: bool, seen: list[Progress]) -> SearchResult:
    """The result of some walks; what is shown of them before each group is in ``seen``."""
    properties = list(collect(JumpingRing, []).values())
    options = Options(workers=workers, coverage=coverage)
    return simulate(JumpingRing(), properties, options, WalkPlan(walks, 12, 1, WalkStrategy.ACTIONS), seen.append)


def test_progress_is_what_the_result_of_as_many_walks_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "PROGRESS_SECONDS", -1.0)
    seen: list[Progress] = []
    walked(3 * GROUP, 1, True, seen)
    last, so_far = seen[-1].walked, walked(2 * GROUP, 1, True, [])
    assert last is not None
    assert so_far.coverage is not None
    assert (last.walks, last.longest) == (Proportion(3 * GROUP, 3 * GROUP), 12)  # the last group has begun
    assert seen[-1].generated == so_far.generated
    assert last.actions == so_far.actions
    assert so_far.walked is not None
    assert last.goals == so_far.walked.goals
    assert list(last.goals) == ["somebody_is_at_nine"]
    assert last.covered == shares(so_far.coverage)
    assert last.arguments == arguments(so_far.coverage) == {"jumps": Proportion(7, 9)}


def test_progress_grows_with_several_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "PROGRESS_SECONDS", -1.0)
    seen: list[Progress] = []
    walked(8 * GROUP, 2, False, seen)
    every = [at.walked for at in seen if at.walked is not None]
    assert [it.walks.taken for it in every] == sorted(it.walks.taken for it in every)
    assert every[-1].walks == Proportion(8 * GROUP, 8 * GROUP)
    assert all(each.covered == each.arguments == {} for each in every), "coverage is not counted"


def test_a_line_has_what_was_taken_and_what_never_was() -> None:
    assert describe(CHECK, AT) == (
        "ring Ring: 12,800 of 100,000 walks, 1.2 M steps/s, at most 60 steps, "
        "actions 1 of 2 (never: begin_anew), goals 1 of 2 (not reached: at_eight), "
        "arguments 3 of 6 (fewest: begin_anew 0 of 3), lines 11 of 12, branches 3 of 4, guards that refuse 1 of 2, "
        "values 20 of 22"
    )
    many = replace(WALKED, actions={f"a{number}": 0 for number in range(5)}, goals={}, covered={}, arguments={})
    assert describe(CHECK, replace(AT, walked=many)).endswith("actions 0 of 5 (never: a0, a1, a2 and 2 more)")


def test_walks_that_have_just_begun_have_no_rate() -> None:
    assert " 0  steps/s, " in describe(CHECK, replace(AT, seconds=0.0))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    now = SimpleNamespace(value=0.0)
    monkeypatch.setattr(shown, "time", SimpleNamespace(monotonic=lambda: now.value))
    return now


def test_without_a_terminal_walks_say_now_and_then_how_far_they_are(
    clock: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    line = SearchProgress(lambda _: None)
    for seconds in range(1, 25):
        clock.value = float(seconds)
        line.show(CHECK, AT)
    assert capsys.readouterr().err.splitlines() == [describe(CHECK, AT)] * 2
    assert line.clear() == describe(CHECK, AT), "an interrupt says how far they came"


def test_on_a_terminal_walks_have_a_table(
    clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    line = SearchProgress(lambda _: None)
    clock.value = 1.0
    line.show(CHECK, AT)
    drawn = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", capsys.readouterr().err)
    line.clear()
    rows = [re.sub(r"  +", "|", row.strip()) for row in drawn.splitlines() if row.strip()]
    assert rows == [
        "ring Ring: 12,800 of 100,000 walks, 1.2 M steps/s, at most …",
        "actions|1 of 2|never: begin_anew",
        "goals|1 of 2|not reached: at_eight",
        "arguments|3 of 6|fewest: begin_anew 0 of 3",
        "lines|11 of 12",
        "branches|3 of 4",
        "guards that refuse|1 of 2",
        "values|20 of 22",
    ]


def test_the_json_file_has_the_progress_of_walks(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    ProgressFile(path, 1, lambda _: None).show(CHECK, AT)
    written = path.read_text()
    require_schema(written)
    assert '"begin_anew": 0' in written
