"""Parts of the Spark engine that need no Spark: rows from packed states, the package that travels, settings."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from floodmark.checkers.project.spec import read  # noqa: E402
from floodmark.checkers.search.statistics import column  # noqa: E402
from floodmark.checkers.spark import parquet, project_transfer, session, state_table  # noqa: E402
from floodmark.checkers.spark.package import package_zip  # noqa: E402
from floodmark.checkers.verdict.check import CheckSettings, checks  # noqa: E402
from floodmark.compiler.layout import encode, lay_out  # noqa: E402
from floodmark.language.errors import SourceError  # noqa: E402
from floodmark.language.reference import initial_states, successors  # noqa: E402
from tests.spark.test_spark_runs import Sieve  # noqa: E402
from tests.support.projects import tank_project  # noqa: E402


def test_packed_states_become_rows() -> None:
    model = Sieve()
    layout = lay_out(model.variable_types)
    (first,) = (state for _, state in initial_states(model))
    known = [first, *(after for _, after in islice(successors(model, first), 3))]
    words = np.array([layout.pack(state) for state in known], dtype=np.uint64)
    columns: dict[str, Any] = {}
    for place, (name, kind) in enumerate(layout.variables.items()):
        slot = layout.slots[name]
        own = column(words, slot)
        codes = np.unique(own, axis=0 if slot.bits > 64 else None)
        columns[name] = (slot, codes, state_table._meanings(kind, codes))
        assert {state_table._whole(code) for code in codes} == {encode(kind, state[place]) for state in known}
    batch = pa.RecordBatch.from_arrays(
        [pa.array([2], pa.int32()), pa.array([words.tobytes()], pa.binary())], ["level_", "words"]
    )
    convert = parquet.as_function(
        lambda batches: state_table._convert(layout.words, SimpleNamespace(value=columns), "level_", batches)
    )
    rows = [row for found in convert(iter([batch])) for row in found.to_pylist()]
    assert [row["level_"] for row in rows] == [2] * len(known)
    assert [row["level"] for row in rows] == [state[0] for state in known]
    assert [row["struck"] for row in rows] == ["{}", "{15}", "{22}", "{29}"]
    assert [row["last"] for row in rows] == [None, "15", "22", "29"]


def test_a_table_is_written_in_objects_that_hold_whole_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow.parquet import read_table

    written: dict[str, bytes] = {}
    folder = SimpleNamespace(write=written.__setitem__)
    monkeypatch.setattr(parquet, "ObjectFolder", lambda url: folder)
    batches = [pa.RecordBatch.from_arrays([pa.array(list(range(start, start + 3)))], ["n"]) for start in (0, 3, 6)]
    for size, objects in ((1, 3), (1 << 20, 1)):
        written.clear()
        monkeypatch.setattr(parquet, "OBJECT_BYTES", size)
        told = [row for found in parquet._objects("s3://a", "part-1", iter(batches)) for row in found.to_pylist()]
        assert [row["name"] for row in told] == list(written)
        assert len(written) == objects
        assert sum(row["rows"] for row in told) == 9
        tables = [read_table(io.BytesIO(content)) for content in written.values()]
        assert [n for table in tables for n in table.column("n").to_pylist()] == list(range(9))
    assert list(parquet._objects("s3://a", "part-1", iter([]))) == []


def test_a_table_takes_the_place_of_the_objects_of_an_older_one(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["older-1", "older-2", "new-1", "new-2"]
    folder = SimpleNamespace(names=lambda: list(names), remove=names.remove)
    monkeypatch.setattr(parquet, "ObjectFolder", lambda url: folder)
    monkeypatch.setattr(parquet, "_written", lambda frame, folder: {"new-1": 3, "new-2": 4})
    frame: Any = None
    assert parquet.replace(frame, "s3://a") == 7
    assert names == ["new-1", "new-2"]


def test_all_sources_of_a_project_travel(tmp_path: Path) -> None:
    """Also those that no check has loaded, and none that is no source."""
    more = {"invariants/other.py": "", "specs/deep/other.toml": "", "specs/floodmark.lock": "", "specs/notes.txt": ""}
    root = tank_project(tmp_path, **more)
    ((_, content),) = project_transfer.files_of(checks(read(root / "specs/tank.toml"), CheckSettings())).values()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert sorted(archive.namelist()) == [
            "invariants/other.py", "model/tank.py", "specs/deep/other.toml", "specs/flawed.py", "specs/floodmark.lock",
            "specs/tank.toml",
        ]


def test_the_package_travels_whole() -> None:
    path = package_zip()
    assert path is not None
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
    wanted = ("language/model.py", "checkers/spark/tasks.py", "project/invariants/kraft/quorum.py")
    assert {f"floodmark/{name}" for name in wanted} <= names
    assert all(name.startswith("floodmark/") for name in names)


def test_settings_from_the_environment_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOODMARK_SPARK_CONF", "spark.ui.enabled=true spark.executor.cores=3 nonsense")
    assert session._user_settings() == {"spark.ui.enabled": "true", "spark.executor.cores": "3"}
    settings = session._defaults()
    log = Path(settings["spark.driver.extraJavaOptions"].rpartition("file:")[2].split()[0])
    assert "rootLogger" in log.read_text()


@pytest.mark.parametrize(
    ("url", "used"),
    [("local", "local[1,8]"), ("local[*]", "local[*,8]"), ("local[2]", "local[2,8]"), ("local[2,3]", "local[2,3]"),
     ("spark://host:7077", "spark://host:7077")],
)
def test_local_tasks_are_tried_again(url: str, used: str) -> None:
    assert session._retrying(url, None) == used


@pytest.mark.parametrize(
    ("url", "tasks"), [("local", 5), ("local[*]", 5), ("local[2]", 2), ("local[2,3]", 5), ("spark://host:7077", 5)]
)
def test_a_limit_is_divided_among_the_tasks_that_run_at_once(
    url: str, tasks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "cores", lambda: 5)
    assert session._cores(url) == tasks


@pytest.mark.parametrize(
    ("master", "variable", "asked"),
    [("local[2]", "yarn", "local[2]"), (None, "yarn", "yarn"), (None, "", "local[*]"), (None, None, "local[*]")],
)
def test_a_master_is_the_one_that_is_named_or_this_machine(
    master: str | None, variable: str | None, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.delenv("FLOODMARK_MASTER", raising=False)
    if variable is not None:
        monkeypatch.setenv("FLOODMARK_MASTER", variable)

    def prepare(url: str) -> None:
        raise SourceError(f"asked for {url}")

    monkeypatch.setattr(session, "_prepare_launch", prepare)
    with pytest.raises(SourceError) as told:
        session._start(master, None)
    assert told.value.message == f"asked for {asked}"


class Session:
    """A session that Spark has, which knows whether it was ended."""

    def __init__(self) -> None:
        self.sparkContext = SimpleNamespace(_jsc=object())
        self.stopped = 0

    def stop(self) -> None:
        self.stopped += 1


def test_a_session_is_started_once_and_ended_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark is not asked for the session of a thread: other threads of a search may have none."""
    started = Session()
    monkeypatch.setattr(session, "available", lambda: True)
    monkeypatch.setattr(session, "_STARTED", [started])
    monkeypatch.setattr(session, "_end_gateway", lambda: None)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    monkeypatch.setattr(session, "_start", lambda *given: pytest.fail("another session was started"))
    assert session.session() is started  # type: ignore[comparison-overlap]
    session.stop()
    session.stop()
    assert (started.stopped, session._STARTED) == (1, [])


def test_python_workers_find_the_package_where_it_is_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder has a link to it and nothing else; where it is in an archive, that is on the path."""
    assert [path.name for path in session._only_this_package().iterdir()] == ["floodmark"]
    monkeypatch.setattr(session, "PACKAGE", tmp_path / "floodmark.zip" / "floodmark")
    assert session._only_this_package() == tmp_path / "floodmark.zip"


@pytest.mark.parametrize(
    ("url", "address"),
    [("local", "127.0.0.1"), ("local[2]", "127.0.0.1"), ("local[*]", "127.0.0.1"),
     ("local-cluster[2,1,1024]", "127.0.0.1"), ("spark://127.0.0.1:7077", "127.0.0.1"),
     ("spark://localhost:7077", "127.0.0.1"), ("spark://localhosts:7077", None), ("spark://master:7077", None),
     ("spark://10.0.0.1:7077", None), ("yarn", None), ("k8s://https://host:443", None)],
)  # fmt: skip
def test_a_driver_is_at_the_loopback_address_only_if_its_cluster_is(
    url: str, address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise executors on other machines could not reach it."""
    for name in ("SPARK_LOCAL_IP", "JAVA_HOME", "PYTHONPATH", "PYSPARK_PYTHON"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.delenv("SPARK_LOCAL_IP")
    monkeypatch.setattr(session, "find_java", lambda: Path("java"))
    session._prepare_launch(url)
    assert os.environ.get("SPARK_LOCAL_IP") == address


def test_without_pyspark_a_session_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "available", lambda: False)
    with pytest.raises(SourceError, match=r"pip install .*spark"):
        session.session()


def test_what_the_launcher_says_is_shown_when_it_fails(capfd: pytest.CaptureFixture[str]) -> None:
    def launch(said: bytes, fails: bool) -> None:
        with session._silent_stderr():
            os.write(2, said)
            if fails:
                raise ValueError("lost")

    launch(b"all is well\n", False)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ValueError, match="lost"):
        launch(b"no such master\n", True)
    assert capfd.readouterr().err == "no such master\n"
    assert len(os.listdir("/proc/self/fd")) == before


def test_errors_that_py4j_raises_are_not_logged() -> None:
    """In a process of its own: a test has handlers of the root logger, which py4j's first error adds otherwise."""
    pytest.importorskip("pyspark")
    script = """
import logging
from py4j import java_gateway
from floodmark.checkers.spark.session import _keep_log_quiet
_keep_log_quiet()
try:
    raise ConnectionRefusedError
except OSError:
    logging.exception("Exception while sending command.")
    java_gateway.logger.exception("An error occurred while trying to connect to the Java server")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
