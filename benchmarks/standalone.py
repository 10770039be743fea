"""A standalone Spark cluster on loopback for fault injection: two workers, each with its own disk."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyspark

from floodmark.checkers.spark.java import find_java, java_home

SPARK = Path(pyspark.__file__).parent
LOOPBACK = "127.0.0.1"
START_SECONDS = 180


@dataclass
class Standalone:
    """A master and its workers, child processes of this one. They write to ``folder``. Each worker has so many cores,
    and a gigabyte for each, and takes ``worker_options``. Their Python finds modules in the folder ``modules``, besides
    those that are installed."""

    folder: Path
    home: Path
    port: int
    cores: int = 1
    modules: Path | None = None
    worker_options: str = ""
    master: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    replacing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"spark://{LOOPBACK}:{self.port}"

    def disk(self, number: int) -> Path:
        """The folder in which the tasks of a worker keep partitions."""
        return self.folder / f"disk-{number}"

    def scratch(self, number: int) -> Path:
        """The folder in which a worker's executors keep shuffled data."""
        return self.folder / f"shuffled-{number}"

    def start_master(self) -> None:
        options = ["--host", LOOPBACK, "--port", str(self.port), "--webui-port", "0"]
        self.master = self._start("org.apache.spark.deploy.master.Master", options, {})
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, self.port), 1):
                return
            time.sleep(0.1)
        raise TimeoutError("the master of the cluster did not start")

    def start_worker(self, number: int) -> None:
        """Starts a worker, or a replacement for one that was killed."""
        for folder in (self.disk(number), self.scratch(number)):
            folder.mkdir(exist_ok=True)
        host = f"127.0.0.{2 + number}"  # still loopback, but to Spark another machine
        size = ["--cores", str(self.cores), "--memory", f"{self.cores}g"]
        options = ["--host", host, *size, "--webui-port", "0", self.url]
        own = {
            "SPARK_LOCAL_IP": host,
            "FLOODMARK_LOCAL_DIR": str(self.disk(number)),
            "SPARK_LOCAL_DIRS": str(self.scratch(number)),
            "SPARK_WORKER_OPTS": self.worker_options,
        }
        started = self._start("org.apache.spark.deploy.worker.Worker", options, own)
        self.workers[number : number + 1] = [started]

    def replace_worker(self, number: int) -> None:
        """Kills a worker with all that it runs, and starts another, which has its disk.

        An executor that has just started would not notice the end of its worker.
        """
        with self.replacing:
            process = self.workers[number]
            kill(*descendants(process.pid), process.pid)
            process.wait()
            self.start_worker(number)

    def _start(self, name: str, options: list[str], more: dict[str, str]) -> subprocess.Popen[bytes]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment |= {"PYTHONPATH": str(self.modules)} if self.modules is not None else {}
        environment |= {
            "JAVA_HOME": str(self.home),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_WORKER_DIR": str(self.folder / "work"),
            "SPARK_MASTER_OPTS": "-Dspark.deploy.maxExecutorRetries=-1",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            **more,
        }
        return subprocess.Popen(
            ["bash", SPARK / "bin" / "spark-class", name, *options], cwd=self.folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def executors(self) -> dict[int, str]:
        """The processes in which Spark's tasks run, with their command lines."""
        below = [item for worker in self.workers for item in descendants(worker.pid).items()]
        return {
            pid: line for pid, (_, line) in below
            if "CoarseGrainedExecutorBackend" in line and "java" in line.split()[0]
        }

    def close(self) -> None:
        """Ends all processes started here and their descendants."""
        for process in [*self.workers, *([self.master] if self.master else [])]:
            below = descendants(process.pid)
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            kill(*below, process.pid)
            process.wait()
        shutil.rmtree(self.home, ignore_errors=True)


@contextlib.contextmanager
def standalone(folder: Path, workers: int = 2, **options: Any) -> Iterator[Standalone]:
    """A cluster that ends with the block."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = Standalone(folder, java_home(find_java()), free_port(), **options)
    try:
        cluster.start_master()
        for number in range(workers):
            cluster.start_worker(number)
        yield cluster
    finally:
        cluster.close()


def descendants(root: int) -> dict[int, tuple[int, str]]:
    """The descendants of a process, with their parents and command lines."""
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


def python_workers(root: int) -> list[int]:
    """The Python workers below a process: those that a daemon of PySpark's has started."""
    below = descendants(root)
    return [
        pid for pid, (parent, line) in below.items()
        if "pyspark.worker" in line and "pyspark.worker" in below.get(parent, (0, ""))[1]
    ]


def kill(*processes: int) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port
