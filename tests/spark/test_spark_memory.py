"""What a limit of memory means for Spark on this machine. No session is started here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers.kernel.memory import MemoryBudget
from floodmark.checkers.project.spec import read
from floodmark.checkers.resources import cores
from floodmark.checkers.run.checks import run
from floodmark.checkers.search_result import Limits
from floodmark.checkers.spark import session
from floodmark.checkers.spark.check_tasks import _is_too_large, for_a_task
from floodmark.checkers.spark.memory import (
    BESIDE_HEAP_BYTES,
    DRIVER_BYTES,
    MAX_HEAP_BYTES,
    MIN_HEAP_BYTES,
    MIN_LIMIT,
    MemoryShares,
    share,
)
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language.errors import SourceError

SPEC = Path(__file__).resolve().parents[2] / "specs" / "examples" / "philosophers.toml"


@pytest.mark.parametrize("tasks", [1, 2, 3, 16])
@pytest.mark.parametrize("more", [0, 1, 10**7, 10**8, 3 * 10**8, 10**9, 10**10, 10**12])
def test_the_parts_come_to_no_more_than_the_limit(more: int, tasks: int) -> None:
    own = share(MIN_LIMIT + more, tasks)
    assert own.elsewhere + DRIVER_BYTES <= MIN_LIMIT + more
    assert own.workers is not None
    assert own.elsewhere == own.heap + BESIDE_HEAP_BYTES + own.workers * own.each
    assert 1 <= own.workers <= tasks
    assert MIN_HEAP_BYTES <= own.heap <= MAX_HEAP_BYTES


def test_without_a_limit_spark_takes_what_it_takes() -> None:
    assert share(None, 2) == MemoryShares()
    assert session._limited(MemoryShares()) == {}
    assert session._limited(share(MIN_LIMIT, 2)) == {"spark.driver.memory": "512m"}


@pytest.mark.parametrize(
    ("url", "tasks", "used"), [("local[4]", 4, "local[1,8]"), ("spark://host:7077", 2, "spark://host:7077")]
)
def test_a_limit_decides_how_many_workers_there_are(url: str, tasks: int, used: str) -> None:
    assert session._retrying(url, share(MIN_LIMIT, tasks).workers) == used


def test_local_masters_are_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLOODMARK_MASTER", raising=False)
    assert session.is_local(None)
    assert session.is_local("local[3]")
    assert not session.is_local("spark://host:7077")
    monkeypatch.setenv("FLOODMARK_MASTER", "yarn")
    assert not session.is_local(None)
    monkeypatch.delenv("FLOODMARK_MASTER")
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert not session.is_local(None)


def test_a_task_has_a_limit_of_memory_where_the_command_has_one_for_this_machine() -> None:
    def limit(memory: int | None, master: str | None = "local[2]") -> int | None:
        (check,) = checks(read(SPEC), CheckSettings(engine="spark", limits=Limits(memory=memory), master=master))
        return for_a_task(check).settings.limits.memory

    assert limit(None) is None
    assert limit(4 * 10**9) == share(4 * 10**9, cores()).each
    assert limit(4 * 10**9, "spark://host:7077") == 4 * 10**9


def test_a_check_that_has_no_search_was_not_too_large_for_a_task() -> None:
    (check,) = checks(read(SPEC), CheckSettings(engine="spark"))
    for verdict in ("error", "undetermined"):
        result = CheckResult("s.toml", "s", "m", None, "quick", verdict=verdict, expected=False)
        assert not _is_too_large(check, result)


@pytest.fixture
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any) -> None:
        raise AssertionError("a session was started")

    monkeypatch.setattr("floodmark.checkers.spark.check_run.session", fail)


@pytest.mark.usefixtures("no_session")
def test_a_limit_too_small_for_spark_is_told_and_the_search_stays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, used in (("used", lambda self: 0), ("room", lambda self, held: MIN_LIMIT)):
        monkeypatch.setattr(MemoryBudget, name, used)  # other tests of this process may have taken more than the limit
    limits = Limits(memory=MIN_LIMIT - 1)
    (check,) = checks(read(SPEC), CheckSettings(engine="spark", distribute="always", limits=limits))
    ((_, result),) = run([check])
    assert (result.verdict, result.engine) == ("holds", "native")
    assert result.search_result is not None
    assert result.search_result.notes == ["without Spark, whose processes alone take 1225 MB of memory"]
    assert "--spark distribute=always" in result.reproduce


@pytest.mark.usefixtures("no_session")
@pytest.mark.parametrize("option", ["checkpoint", "resume", "keep_states", "keep_results"])
def test_what_needs_spark_is_refused_under_such_a_limit(option: str, tmp_path: Path) -> None:
    settings = CheckSettings(engine="spark", limits=Limits(memory=10**9))
    given: dict[str, Any] = {option: str(tmp_path)}
    (check,) = checks(read(SPEC), replace(settings, **given))
    with pytest.raises(SourceError, match=f"--{option.replace('_', '-')} needs Spark.*give --max-memory 1225M or more"):
        list(run([check]))
