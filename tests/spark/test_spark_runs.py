"""Whole runs on Spark in this process: tasks, what is kept of them, checkpoints, and files that are lost on the way."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import pytest

from benchmarks.standalone import kill, python_workers
from floodmark import Between, Model, Set, action, initial, invariant, refines, require
from floodmark.checkers.codegen.model_module import COUNTERS
from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.kernel.memory import SHARE_OF_MEMORY
from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import ExpectedVerdict, read
from floodmark.checkers.project.unpacking import unpack
from floodmark.checkers.resources import cores, physical_memory
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.run.engines import cluster_of
from floodmark.checkers.search_result import Limit, Limits, Options, SearchResult, Stop
from floodmark.checkers.spark import check_tasks, cluster, project_transfer
from floodmark.checkers.spark.check_run import _may_be_a_task, run_on_spark
from floodmark.checkers.spark.checkpoint import _sum
from floodmark.checkers.spark.cluster import Cluster
from floodmark.checkers.spark.code_transfer import build_code
from floodmark.checkers.spark.engine import SparkEngine
from floodmark.checkers.spark.folders import SparkFolder
from floodmark.checkers.spark.jobs import JobFailed, reason
from floodmark.checkers.spark.reader import StateReader
from floodmark.checkers.spark.search import Distribution, search_states
from floodmark.checkers.spark.session import session
from floodmark.checkers.spark.tasks import scratch_folder
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.checkers.verdict.verdict import unpickled
from floodmark.language.errors import SourceError
from specs.examples.philosophers import Philosophers
from tests.support.projects import INVARIANTS, TANK, tank_project, write

pytestmark = pytest.mark.usefixtures("spark")

FLAWED = '[[flawed]]\nclass = "flawed:Leaks"\nproperty = "gets_full"\n'
FIGURES = ("distinct", "generated", "depth", "digest", "levels", "actions", "violations", "values_seen")


class Sieve(Model):
    """A few levels of states of two words, with a variable named as the column of levels is."""

    level: Annotated[int, Between(0, 4)]
    struck: Set[Annotated[int, Between(0, 69)]]
    last: Annotated[int, Between(0, 69)] | None

    @initial
    def start(self) -> None:
        self.level = 0
        self.struck = Set()
        self.last = None

    @action
    def strike(self, by: Annotated[int, Between(2, 4)]) -> None:
        require(self.level < 4)
        self.level += 1
        self.last = by * 7 + self.level
        self.struck.add(by * 7 + self.level)


class Unlucky(Sieve):
    """A sieve that must not strike a number, and does."""

    @invariant
    def spares_eighteen(self) -> bool:
        return 18 not in self.struck


class Depth(Model):
    """How deep a sieve is."""

    level: Annotated[int, Between(0, 4)] = 0

    @action
    def goes_down(self) -> None:
        require(self.level < 4)
        self.level += 1

    @action
    def comes_up(self) -> None:
        require(self.level == 4)
        self.level = 0


class SieveOfDepth(Sieve):
    """A sieve whose steps each go down a level."""

    @refines
    def as_depth(self) -> Depth:
        return Depth(level=self.level)


class LeapingSieve(SieveOfDepth):
    """A sieve that leaves out the last but one level."""

    @action
    def strike(self, by: Annotated[int, Between(2, 4)]) -> None:
        require(self.level < 4)
        self.level = 4 if self.level == 2 else self.level + 1
        self.last = by * 7 + self.level
        self.struck.add(by * 7 + self.level)


def found_by(model: Model, options: Options = Options(workers=1), **how: Any) -> SearchResult:  # noqa: B008
    properties = list(collect(type(model), []).values())
    return search_states(model, properties, options, None, Distribution(**{"partitions": 2, "wide": 0, **how}))


def same(found: SearchResult, model: Model) -> None:
    wanted = native.search_states(model, list(collect(type(model), []).values()), Options(workers=1))
    for name in FIGURES:
        assert getattr(found, name) == getattr(wanted, name), name


@pytest.mark.slow
def test_what_a_level_shuffled_is_removed_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "MAX_BYTES", -1)
    tasks = session().sparkContext.parallelize([0], 1)
    (given,) = tasks.map(lambda _: os.environ["SPARK_LOCAL_DIRS"]).collect()
    folders = [Path(folder) for folder in given.split(",")]
    before: set[str] = set()
    known: list[set[str]] = []
    original = Cluster._next_level

    def shuffles() -> set[str]:
        return {path.name.split("_")[1] for folder in folders for path in folder.rglob("shuffle_*.data")}

    def next_level(self: Cluster, *given: Any) -> Any:
        known.append(shuffles() - before)
        return original(self, *given)

    before = shuffles()
    monkeypatch.setattr(Cluster, "_next_level", next_level)
    model = Philosophers(last=1)
    found = found_by(model)
    same(found, model)
    assert max(map(len, known)) < 5 < len(known), "a few that are being removed, of many"


# Checkpoints.


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints of a search that a limit ended."""
    folder = tmp_path_factory.mktemp("interrupted")
    found = found_by(Sieve(), Options(workers=1, limits=Limits(states=20)), checkpoint=str(folder))
    assert found.stopped == Stop(Limit.STATES, 20)
    return folder


def copied(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to / "kept")
    return to / "kept"


def test_a_search_is_resumed(interrupted: Path, tmp_path: Path) -> None:
    kept = copied(interrupted, tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in kept.glob("level-*.json")}
    found = found_by(Sieve(), resume=str(kept))
    same(found, Sieve())
    assert len(before) < len(list(kept.glob("level-*.json")))
    assert before == {name: (kept / name).stat().st_mtime_ns for name in before}


def test_a_context_has_room_for_what_code_remembers_and_a_report_leaves_it_out() -> None:
    model = SieveOfDepth()
    properties = {prop.name: prop.function for prop in collect(SieveOfDepth, []).values()}
    code, interface = build_code(model, properties, False), build_kernel(model, properties, False).interface
    assert interface.memory_words > 0
    reader = StateReader(code.load())
    assert len(reader._context) > code.context_words == interface.context_words
    reader._context[:] = 7
    assert len(reader.take_counters()) == 8 * interface.first_memory
    assert not reader._context[COUNTERS : interface.first_memory].any()
    assert (reader._context[interface.first_memory :] == 7).all()


@pytest.mark.parametrize("cls", [pytest.param(SieveOfDepth, marks=pytest.mark.slow), LeapingSieve])
def test_a_search_that_judges_a_refinement_is_resumed(cls: type[SieveOfDepth], tmp_path: Path) -> None:
    """What was taken before the search ended counts, and what breaks the refinement later is found."""
    stopped = found_by(cls(), Options(workers=1, limits=Limits(states=5)), checkpoint=str(tmp_path))
    assert stopped.stopped == Stop(Limit.STATES, 5)
    found = found_by(cls(), resume=str(tmp_path))
    same(found, cls())
    assert [it.property for it in found.violations] == (["as_depth"] if cls is LeapingSieve else [])
    assert [it.property for it in found.vacuous] == ([] if cls is LeapingSieve else ["as_depth.comes_up"])


def test_a_torn_checkpoint_falls_back(interrupted: Path, tmp_path: Path) -> None:
    kept = copied(interrupted, tmp_path)
    newest = max(kept.glob("states-*"))
    for part in newest.glob("part-*"):
        part.write_bytes(part.read_bytes()[: part.stat().st_size // 2])
        (part.parent / f".{part.name}.crc").unlink()
    manifest = sorted(kept.glob("level-*.json"))[-2]
    manifest.write_text(manifest.read_text()[:100])
    (kept / f".{manifest.name}.crc").unlink()
    same(found_by(Sieve(), resume=str(kept)), Sieve())


def test_without_a_whole_checkpoint_nothing_is_resumed(interrupted: Path, tmp_path: Path) -> None:
    kept = copied(interrupted, tmp_path)
    for folder in kept.glob("states-*"):
        shutil.rmtree(folder)
    with pytest.raises(SourceError, match="there is no intact checkpoint in"):
        found_by(Sieve(), resume=str(kept))


def test_a_checkpoint_of_another_search_is_refused(interrupted: Path, tmp_path: Path) -> None:
    kept = str(copied(interrupted, tmp_path))
    with pytest.raises(SourceError, match="of the model Sieve, not Unlucky"):
        found_by(Unlucky(), resume=kept)
    with pytest.raises(SourceError, match="was made with other options"):
        found_by(Sieve(), Options(workers=1, deadlock=True), resume=kept)
    with pytest.raises(SourceError, match="already holds checkpoints"):
        found_by(Sieve(), checkpoint=kept)
    with pytest.raises(SourceError, match=r"the checkpoint folder nowhere://a cannot be reached: .*nowhere"):
        found_by(Sieve(), checkpoint="nowhere://a")


def test_a_checkpoint_of_another_version_is_refused(interrupted: Path, tmp_path: Path) -> None:
    kept = copied(interrupted, tmp_path)
    for path in kept.glob("level-*.json"):
        said = json.dumps({**json.loads(json.loads(path.read_text())["said"]), "format": 0})
        path.write_text(json.dumps({"sum": _sum(said), "said": said}))
        (kept / f".{path.name}.crc").unlink()
    with pytest.raises(SourceError, match=r"level-\d+-\w+\.json was written by another version of floodmark"):
        found_by(Sieve(), resume=str(kept))
    for path in kept.glob("level-*.json"):
        path.write_text(json.loads(path.read_text())["said"])  # as the first version wrote them
    with pytest.raises(SourceError, match=r"level-\d+-\w+\.json was written by another version of floodmark"):
        found_by(Sieve(), resume=str(kept))


@pytest.mark.slow
def test_an_empty_folder_is_where_a_resumed_search_begins(tmp_path: Path) -> None:
    same(found_by(Sieve(), resume=str(tmp_path / "new")), Sieve())
    assert list((tmp_path / "new").glob("level-*.json"))


# Lost files.


def lose(cluster: Cluster, *partitions: int) -> None:
    for partition in partitions:
        shutil.rmtree(scratch_folder(cluster.run) / f"{partition:05}")


def once(monkeypatch: pytest.MonkeyPatch, method: str, *partitions: int) -> None:
    """Loses partitions just before a method of the cluster is called for the first time."""
    original = getattr(Cluster, method)
    lost: list[bool] = []

    def losing(self: Cluster, *arguments: Any, **named: Any) -> Any:
        if not lost:
            lost.append(True)
            lose(self, *partitions)
        return original(self, *arguments, **named)

    monkeypatch.setattr(Cluster, method, losing)


def test_a_trace_is_found_although_partitions_were_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    once(monkeypatch, "parent_in", 0)
    found = found_by(Unlucky())
    assert [violation.property for violation in found.violations] == ["spares_eighteen"]
    same(found, Unlucky())


@pytest.mark.slow
def test_a_checkpoint_is_written_although_a_partition_was_lost(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    once(monkeypatch, "save", 1)
    same(found_by(Sieve(), checkpoint=str(tmp_path)), Sieve())
    monkeypatch.undo()
    same(found_by(Sieve(), resume=str(tmp_path)), Sieve())


def test_what_was_given_to_a_cluster_is_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    once(monkeypatch, "_adopt", 0, 1)
    same(found_by(Sieve(), wide=3), Sieve())


def test_partitions_that_are_lost_each_time_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Cluster._next_level

    def losing(self: Cluster, *arguments: Any) -> Any:
        lose(self, 0, 1)
        return original(self, *arguments)

    monkeypatch.setattr(Cluster, "_next_level", losing)
    monkeypatch.setattr("floodmark.checkers.spark.cluster.RETRIES", 2)
    with pytest.raises(JobFailed, match="lost as fast as they are recomputed"):
        found_by(Sieve())


@pytest.mark.slow
def test_killed_workers_cost_only_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a task has computed and told nobody is computed again by another process."""
    original = Cluster._next_level
    killed: list[int] = []

    def killing(self: Cluster, *arguments: Any) -> Any:
        workers = python_workers(os.getpid())
        kill(*workers)
        killed.extend(workers)
        return original(self, *arguments)

    monkeypatch.setattr(Cluster, "_next_level", killing)
    same(found_by(Sieve()), Sieve())
    assert len(killed) > 2


def test_the_reason_is_what_was_said_last() -> None:
    assert reason(ValueError("Driver stacktrace:\n  at a\nOSError: full\nCaused by: it")) == "OSError: full"
    assert reason(ValueError("at a\nit is so")) == "it is so"
    assert reason(ValueError("")) == "no reason given"


# What is kept.


def test_states_of_several_words_become_rows(tmp_path: Path) -> None:
    found = found_by(Sieve(), keep_states=str(tmp_path / "states"))
    rows = session().read.parquet(str(tmp_path / "states")).collect()
    assert len({(row["struck"], row["last"]) for row in rows}) == len(rows) == found.distinct
    assert {row["level_"] - 1 for row in rows} == {row["level"] for row in rows} == set(range(5))
    assert {row["last"] for row in rows if row["level"] < 2} == {None, "15", "22", "29"}
    with pytest.raises(SourceError, match="the states cannot be written to nowhere://a"):
        found_by(Sieve(), keep_states="nowhere://a")


def test_a_narrow_search_is_kept_too(tmp_path: Path) -> None:
    found_by(Sieve(), wide=10**9, keep_states=str(tmp_path / "states"))
    assert session().read.parquet(str(tmp_path / "states")).count() == found_by(Sieve(), wide=10**9).distinct


def test_folders_are_written_whole(tmp_path: Path) -> None:
    folder = SparkFolder(session().sparkContext, str(tmp_path / "a"))
    assert folder.names() == []
    assert folder.create("b", b"none")
    assert not folder.create("b", b"zero")
    assert folder.read("b") == b"none"
    folder.write("b", b"one")
    folder.write("b", b"two")
    assert (folder.names(), folder.read("b")) == (["b"], b"two")
    folder.remove("b")
    folder.remove("b")
    assert folder.names() == []


# Many searches.


def of_tank(root: Path, rules: str = INVARIANTS, **settings: Any) -> list[Check]:
    spec = tank_project(root, f"[expect]\ndistinct = 4\n{FLAWED}", **{"invariants/tank.py": rules})
    return checks(read(spec / "specs" / "tank.toml"), CheckSettings(engine="spark", **settings))


def summary(result: Any) -> tuple[Any, ...]:
    found = result.search_result
    return result.variant, result.verdict, result.expected, found.digest, found.distinct, result.property


def test_many_checks_run_as_spark_tasks(tmp_path: Path) -> None:
    kept = tmp_path / "results"
    first, second = (of_tank(tmp_path / name, keep_results=str(kept)) for name in ("a", "b"))
    every = [*first, *second]
    results = [result for _, result in run_on_spark(every, run_check, lambda check: None)]
    wanted = [run_check(check) for check in of_tank(tmp_path / "a")]
    assert sorted(map(summary, results), key=repr) == sorted([*map(summary, wanted)] * 2, key=repr)
    rows = session().read.parquet(str(kept)).collect()
    assert {(row["variant"], row["verdict"], row["distinct"]) for row in rows} == {
        (one.variant, one.verdict, one.search_result.distinct) for one in results if one.search_result is not None
    }
    assert {row["trace_length"] for row in rows} == {None, 3}


def test_unwritable_results_are_an_error(tmp_path: Path) -> None:
    every = of_tank(tmp_path, keep_results="nowhere://a")
    with pytest.raises(SourceError, match="the results cannot be written to nowhere://a"):
        list(run_on_spark(every, run_check, lambda check: None))


def test_a_search_that_is_too_large_for_a_task_is_distributed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_tasks, "TASK_STATES", 2)
    every = [*of_tank(tmp_path / "a", ""), *of_tank(tmp_path / "b", "")]
    distributed: list[Check] = []

    def alone(check: Check, watch: Any) -> Any:
        distributed.append(check)
        return run_check(check)

    results = list(run_on_spark(every, alone, lambda check: None))
    assert [check.flawed for check in distributed] == [None, None]
    assert len(results) == 4


def test_a_deep_search_is_a_task_unless_it_is_large(tmp_path: Path) -> None:
    """One spec of the deep tier is searched in a task; the Spark engine, asked for by name, distributes it."""
    asked = of_tank(tmp_path)[0]
    deep = replace(asked, spec=replace(asked.spec, tier="deep", expect=ExpectedVerdict()), settings=CheckSettings())
    assert isinstance(cluster_of(deep), SparkEngine)
    assert _may_be_a_task(deep, [deep])
    assert not _may_be_a_task(asked, [asked])
    large = replace(deep, spec=replace(deep.spec, expect=ExpectedVerdict(distinct=check_tasks.TASK_STATES)))
    assert not _may_be_a_task(large, [large])
    kept = replace(deep, settings=CheckSettings(checkpoint="there"))
    assert not _may_be_a_task(kept, [kept])


def test_a_task_has_a_share_of_the_memory(tmp_path: Path) -> None:
    check = of_tank(tmp_path)[0]
    share = check_tasks._with_its_share(check)
    assert share.options.limits.memory == int(SHARE_OF_MEMORY * physical_memory()) // cores()
    assert check_tasks._with_its_share(share) is share
    ended = run_check(replace(check, settings=replace(check.settings, engine="native", limits=Limits(memory=1))))
    assert ended.search_result is not None
    assert ended.search_result.stopped == Stop(Limit.MEMORY)
    assert check_tasks._is_too_large(check, ended)
    assert not check_tasks._is_too_large(share, ended)


def test_a_limit_of_the_user_is_no_reason_to_distribute(tmp_path: Path) -> None:
    every = [check for name in "ab" for check in of_tank(tmp_path / name, "", limits=Limits(states=2))]
    for check, result in check_tasks.run_as_tasks(session(), every, run_check, lambda what: None):
        assert result is not None
        if check.flawed is None:
            assert (result.verdict, result.search_result and result.search_result.stopped) == (
                "undetermined", Stop(Limit.STATES, 2)
            )


def test_resuming_without_a_checkpoint_is_an_error(tmp_path: Path) -> None:
    every = of_tank(tmp_path, resume=str(tmp_path / "nothing"))
    with pytest.raises(SourceError, match="there is no checkpoint in"):
        list(run_on_spark(every, run_check, lambda check: None))


@pytest.mark.slow
def test_a_worker_unpacks_the_files_that_it_lacks(tmp_path: Path) -> None:
    """Also where it has a folder at the driver's path, which may be an older copy."""
    write(tmp_path / "here", {"helpers/numbers.py": "TWO = 2\n"})
    rules = "from helpers.numbers import TWO\n" + INVARIANTS.replace("level != 2", "level != TWO")
    rules = rules.replace("from __future__ import annotations\n", "")
    every = of_tank(tmp_path / "here", rules, invariant_files=(tmp_path / "here" / "invariants" / "tank.py",))
    wanted = [summary(run_check(check)) for check in every]
    files = project_transfer.files_of([*every, *every])
    write(tmp_path / "here", {"model/tank.py": TANK.replace("Constant(3)", "Constant(1)")})
    (tmp_path / "here" / "helpers" / "numbers.py").unlink()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as worker:
        for check, known in zip(every, wanted, strict=True):
            place, content = worker.submit(_run_there, files, check).result()
            assert not place.is_relative_to(tmp_path)
            assert summary(unpickled(check, content)) == known


def _run_there(files: project_transfer.PackedFiles, check: Check) -> tuple[Path, bytes]:
    """What another machine does for a task, and where its spec is there."""
    there = project_transfer.check_on_worker(files, check)
    return there.spec.path, check_tasks._run(cast(Any, Sent(files)), run_check, check)


def test_a_worker_uses_no_folder_that_is_not_as_it_was_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (root, (_, content)), = project_transfer.files_of(of_tank(tmp_path / "here")).items()
    folder = unpack(content, "files")
    assert unpack(content, "files") == folder
    changes: list[Callable[[Path], object]] = [
        lambda file: file.unlink(),
        lambda file: file.write_text("more\n"),
        lambda file: file.with_name("more.py").write_text("more = 1\n"),
    ]
    for change in changes:
        damaged = tmp_path / folder.name
        change(damaged / "invariants" / "tank.py")
        other = unpack(content, "files")
        assert other != damaged
        assert (other / "invariants/tank.py").read_text() == Path(root, "invariants/tank.py").read_text()
        shutil.rmtree(damaged)
        assert unpack(content, "files") == damaged


class Sent:
    """What Spark gives a worker for something that was broadcast."""

    def __init__(self, value: project_transfer.PackedFiles) -> None:
        self.value = value
