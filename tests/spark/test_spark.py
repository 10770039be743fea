"""The Spark engine agrees with the native one: figures, verdicts, traces."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import pytest

from floodmark import (
    Between,
    Constant,
    Model,
    Set,
    action,
    boundary,
    initial,
    invariant,
    reachable,
    require,
    transition,
)
from floodmark.checkers.kernel.memory import MemoryBudget
from floodmark.checkers.native import memory
from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import find, read
from floodmark.checkers.search.driver import Search
from floodmark.checkers.search_result import Limit, Limits, Options, Progress, SearchResult, Stop
from floodmark.checkers.spark import java
from floodmark.checkers.spark.checkpoint import Checkpoints
from floodmark.checkers.spark.search import ClusterMigration, Distribution, search_states
from floodmark.checkers.spark.session import session
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.language.errors import SourceError
from floodmark.language.reference import initial_states, successors
from specs.examples.flawed import AbortsAfterPrepared, CommitsOnMajority
from specs.examples.philosophers import Philosophers
from specs.examples.two_phase_commit import TwoPhaseCommit
from tests.repository.test_readme import block

pytestmark = pytest.mark.usefixtures("spark")

ROOT = Path(__file__).resolve().parents[2]
SLOW = pytest.mark.slow
FIGURES = (
    "complete", "stopped", "distinct", "generated", "depth", "digest", "levels", "actions", "violations", "vacuous",
    "values_seen", "cut",
)


class Colour(Enum):
    """Something with a few values."""

    RED = 1
    GREEN = 2


class Walk(Model):
    """A walk on a line whose last step leaves the declared range, and whose states are two words wide."""

    end = Constant(6)
    leaves = Constant(False)

    place: Annotated[int, Between(0, "end")]
    seen: Set[Annotated[int, Between(0, 79)]]
    colour: Colour

    @initial
    def start(self, colour: Colour) -> None:
        self.place = 0
        self.seen = Set()
        self.colour = colour

    @action
    def step(self, by: Annotated[int, Between(1, 3)]) -> None:
        require(self.leaves or self.place + by <= self.end)
        self.place += by
        self.seen.add(self.place * 13)

    @action
    def paint(self) -> None:
        require(self.place > 2)
        self.colour = Colour.GREEN

    @boundary
    def few(self) -> bool:
        return len(self.seen) < 5

    @transition
    def steps_are_short(old: Walk, new: Walk) -> bool:  # noqa: N805
        return new.place - old.place < 3

    @invariant
    def sees_little(self) -> bool:
        return len(self.seen) < 5

    @reachable
    def gets_there(self) -> bool:
        return self.place == self.end


class ShortWalk(Walk):
    """A walk without a property that breaks."""

    @action
    def step(self, by: Annotated[int, Between(1, 3)]) -> None:
        require(self.place + by <= self.end and len(self.seen) < 4)
        require(by < 3)
        self.place += by
        self.seen.add(self.place * 13)

    @action
    def paint(self) -> None:
        require(self.place > 2 and self.colour == Colour.RED)
        self.colour = Colour.GREEN


def found_by(engine: Any, model: Model, options: Options, *more: Any) -> SearchResult:
    found: SearchResult = engine(model, list(collect(type(model), []).values()), options, *more)
    return found


def both(model: Model, options: Options = Options(workers=1), **how: Any) -> SearchResult:  # noqa: B008
    """What both engines find, after it was compared."""
    wanted = found_by(native.search_states, model, options)
    found = found_by(search_states, model, options, None, Distribution(**{"partitions": 2, "wide": 0, **how}))
    agree(found, wanted)
    return found


def agree(found: SearchResult, wanted: SearchResult) -> None:
    for name in FIGURES:
        assert getattr(found, name) == getattr(wanted, name), name
    assert found.reached.keys() == wanted.reached.keys()
    assert found.engine == "spark"


@pytest.mark.parametrize("partitions", [3, *(pytest.param(other, marks=SLOW) for other in (1, 2, 7))])
def test_figures_do_not_depend_on_partitions(partitions: int) -> None:
    found = both(Philosophers(last=1), partitions=partitions)
    assert (found.distinct, found.depth) == (36, 11)


@SLOW
@pytest.mark.parametrize("path", find([ROOT / "specs"], "quick"), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_quick_spec_has_the_native_figures(path: Path) -> None:
    """With 1, 2, 3 and 7 partitions; the search moves over at the first level that is a tenth as wide as the widest."""
    check = Check(read(path), None, CheckSettings(workers=1))
    model, properties = check.cls()(**check.constants), check.properties()
    wanted = native.search_states(model, properties, check.options)
    for partitions in (1, 2, 3, 7):
        how = Distribution(partitions=partitions, wide=max(wanted.levels) // 10)
        agree(search_states(model, properties, check.options, None, how), wanted)


@pytest.mark.parametrize("wide", [pytest.param(0, marks=SLOW), 100])
@pytest.mark.parametrize("design", [
    CommitsOnMajority, *(pytest.param(design, marks=SLOW) for design in (TwoPhaseCommit, AbortsAfterPrepared)),
])
def test_verdicts_and_traces_are_the_native_ones(design: type[Model], wide: int) -> None:
    found = both(design(managers=4), wide=wide)
    assert bool(found.violations) == (design is not TwoPhaseCommit)


@SLOW
def test_a_distributed_search_finds_deadlocks() -> None:
    found = both(ShortWalk(), Options(workers=1, deadlock=True))
    assert [violation.kind for violation in found.violations] == ["deadlock"]


@SLOW
def test_a_distributed_search_counts_orbits_as_a_native_one() -> None:
    both(TwoPhaseCommit(managers=4), Options(workers=1, symmetry=True))


@pytest.mark.parametrize("leaves", [pytest.param(False, marks=SLOW), True])
def test_transitions_boundaries_and_model_errors_are_found_on_spark(leaves: bool) -> None:
    found = both(Walk(leaves=leaves))
    assert {violation.kind for violation in found.violations} >= {"transition"}


@SLOW
def test_wide_states_are_explored_to_the_end() -> None:
    found = both(ShortWalk())
    assert found.complete
    assert found.reached.keys() == {"gets_there"}


@pytest.mark.parametrize("room", [pytest.param(2_000, marks=SLOW), 9_000, pytest.param(40_000, marks=SLOW)])
def test_a_search_that_does_not_fit_moves_over(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, finds the same, and what it shows never becomes less."""
    moved: list[int] = []
    original = ClusterMigration._moved

    def noting(self: ClusterMigration, search: Search) -> Any:
        moved.append(search.level)
        return original(self, search)

    monkeypatch.setattr(ClusterMigration, "_moved", noting)
    monkeypatch.setattr("floodmark.checkers.search.driver.PROGRESS_SECONDS", 0.0)
    model = TwoPhaseCommit(managers=5)
    wanted = found_by(native.search_states, model, Options(workers=1))
    monkeypatch.setattr(memory, "FIRST_CELLS", 64)
    monkeypatch.setattr(MemoryBudget, "room", lambda self, held: room)
    monkeypatch.setattr(MemoryBudget, "of_pages", lambda self, workers: 0)
    told: list[Progress] = []
    found = found_by(search_states, model, Options(workers=2), told.append, Distribution(wide=10**9, partitions=2))
    assert moved
    assert 0 < moved[0] < wanted.depth
    for name in FIGURES:
        assert getattr(found, name) == getattr(wanted, name), name
    assert found.engine == "spark"
    (note,) = found.notes
    assert "continued on Spark" in note
    assert told[-1].note == note
    for before, after in pairwise(told):
        assert (before.level, before.distinct) <= (after.level, after.distinct)
        assert before.distinct <= after.distinct


def test_a_search_that_fits_in_memory_stays_local() -> None:
    found = found_by(search_states, TwoPhaseCommit(), Options(workers=1), None, Distribution(wide=10**9))
    assert (found.engine, found.distinct) == ("spark", 288)


@pytest.mark.slow
def test_a_lost_partition_is_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from floodmark.checkers.spark.cluster import Cluster
    from floodmark.checkers.spark.tasks import LevelInput, scratch_folder

    original = Cluster._next_level
    lost = []

    def losing(self: Cluster, level: LevelInput, paused: Any) -> Any:
        if level.number in (5, 9) and level.number not in lost:
            lost.append(level.number)
            shutil.rmtree(scratch_folder(self.run) / "00001")
            if level.number == 9:
                shutil.rmtree(scratch_folder(self.run) / "00000")
        return original(self, level, paused)

    monkeypatch.setattr(Cluster, "_next_level", losing)
    both(Philosophers(last=1), partitions=3)
    assert lost == [5, 9]


def interrupted(folder: Path, model: Model) -> None:
    """Leaves checkpoints of a search that a limit ended."""
    options = Options(workers=1, limits=Limits(states=500))
    found = found_by(search_states, model, options, None, Distribution(partitions=2, wide=20, checkpoint=str(folder)))
    assert not found.complete


@SLOW
def test_resume_goes_on_and_does_no_level_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = TwoPhaseCommit(managers=4)
    interrupted(tmp_path / "kept", model)
    names = os.listdir(tmp_path / "kept")
    done = max(int(name[6:12]) for name in names if name.startswith("level-"))
    levels: list[int] = []
    original = Search._level

    def noting(self: Search) -> bool:
        levels.append(self.level)
        return original(self)

    monkeypatch.setattr(Search, "_level", noting)
    both(model, resume=str(tmp_path / "kept"))
    assert min(levels) == done


@SLOW
def test_a_torn_checkpoint_falls_back_to_the_level_before(tmp_path: Path) -> None:
    model = TwoPhaseCommit(managers=4)
    interrupted(tmp_path, model)
    newest = max(tmp_path.glob("states-*"))
    for part in newest.glob("part-*"):
        part.write_bytes(part.read_bytes()[: part.stat().st_size // 2])
        (part.parent / f".{part.name}.crc").unlink()
    both(model, resume=str(tmp_path))
    newest = max(tmp_path.glob("level-*.json"))
    newest.write_text(newest.read_text()[:100])
    (tmp_path / f".{newest.name}.crc").unlink()
    both(model, resume=str(tmp_path))


@SLOW
def test_a_checkpoint_of_another_search_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(tmp_path, TwoPhaseCommit(managers=4))
    how = Distribution(partitions=2, wide=0, resume=str(tmp_path))
    with pytest.raises(SourceError, match=r"other constants \(managers = 4\)"):
        found_by(search_states, TwoPhaseCommit(managers=5), Options(workers=1), None, how)
    with pytest.raises(SourceError, match="of the model TwoPhaseCommit, not Philosophers"):
        found_by(search_states, Philosophers(last=2), Options(workers=1), None, how)
    with pytest.raises(SourceError, match="another version"):
        found_by(search_states, TwoPhaseCommit(managers=4), Options(workers=1, symmetry=True), None, how)
    with pytest.raises(SourceError, match="with other properties"):
        search_states(TwoPhaseCommit(managers=4), [], Options(workers=1), None, how)
    with pytest.raises(SourceError, match="already holds checkpoints"):
        Checkpoints(session().sparkContext, str(tmp_path)).must_be_empty()


@pytest.mark.slow
def test_the_reachable_set_becomes_a_table(tmp_path: Path) -> None:
    found = both(ShortWalk(), keep_states=str(tmp_path / "states"))
    table = session().read.parquet(str(tmp_path / "states"))
    assert dict(table.dtypes) == {"level": "int", "place": "bigint", "seen": "string", "colour": "string"}
    rows = table.collect()
    assert len(rows) == len(set(rows)) == found.distinct
    assert [sum(row["level"] == level + 1 for row in rows) for level in range(found.depth)] == found.levels
    assert {"level": 2, "place": 1, "seen": "{13}", "colour": "RED"} in [row.asDict() for row in rows]


@SLOW
def test_the_question_of_the_readme_is_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both(TwoPhaseCommit(), wide=20, keep_states=str(tmp_path))
    exec(block("states in SQL").replace('parquet("states")', f"parquet({str(tmp_path)!r})"), {})
    rows = [line.strip("|").split("|") for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    found = {int(level): int(states) for level, states in rows[1:]}
    assert found == dict(sorted(_committed_unknown().items()))


def _committed_unknown() -> Counter[int]:
    """The levels of the states in which the coordinator has committed and a manager has only prepared."""
    levels: dict[Any, int] = {}
    model = TwoPhaseCommit()
    frontier, level = [state for _, state in initial_states(model)], 1
    while frontier:
        levels |= dict.fromkeys(frontier, level)
        found = {state for before in frontier for _, state in successors(model, before)}
        frontier, level = [state for state in found if state not in levels], level + 1
    places = {name: place for place, name in enumerate(model.variable_types)}
    return Counter(
        level for state, level in levels.items()
        if state[places["coordinator"]].name == "COMMITTED"
        and any(each.name == "PREPARED" for each in state[places["managers_state"]].values())
    )


def test_a_time_limit_ends_a_level() -> None:
    options = Options(workers=1, limits=Limits(seconds=1.0))
    found = found_by(search_states, Philosophers(last=7), options, None, Distribution(partitions=2, wide=0))
    assert found.stopped == Stop(Limit.SECONDS, 1)


# Java.


def fake_java(folder: Path, version: str) -> Path:
    binary = folder / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    binary.chmod(0o755)
    return folder


def test_java_is_found_in_this_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, path = fake_java(tmp_path / "home", "21.0.1"), fake_java(tmp_path / "path", "17")
    old = fake_java(tmp_path / "old", "1.8.0_402")
    monkeypatch.setenv("PATH", f"{path / 'bin'}:/usr/bin:/bin")
    assert java.find_java({"JAVA_HOME": str(home), "PATH": str(path / "bin")}) == home / "bin" / "java"
    assert java.find_java({"JAVA_HOME": str(old), "PATH": str(path / "bin")}) == path / "bin" / "java"
    assert java.find_java({"PATH": str(path / "bin")}) == path / "bin" / "java"


def test_without_java_the_message_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    old = fake_java(tmp_path / "old", "11.0.2")
    with pytest.raises(java.JavaNotFound, match=r"it is version 11.*floodmark\[java\]"):
        java.find_java({"JAVA_HOME": str(old), "PATH": ""})
