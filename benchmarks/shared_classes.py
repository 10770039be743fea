"""Java for many short-lived processes of Spark. Each maps its classes from an archive (class data sharing), instead of
reading and verifying them once more, which is half of what its start costs."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from floodmark.checkers.disk_cache import cache_directory
from floodmark.checkers.spark.java import find_java

MAX_SECONDS = 600
"""The time limit for writing the archive, in seconds."""
_LAUNCHER = """#!/bin/sh
case "$*" in
*org.apache.spark.launcher.Main*) exec '{java}' "$@" ;;
*{main}*) exec '{java}' {options} "$@" ;;
*) exec '{java}' "$@" ;;
esac
"""
_DRIVER, _ANY = "org.apache.spark.deploy.SparkSubmit", "org.apache.spark."
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"
_TRAINING = """
from pyspark import SparkContext
from floodmark.checkers.spark.session import session, stop
numbers = session("local[2]").sparkContext.parallelize(range(8), 2)
for _ in range(20):
    numbers.map(lambda number: (number % 2, number)).groupByKey(2).collect()
java = SparkContext._gateway.proc
stop()
java.wait()
"""


@contextmanager
def java_home() -> Iterator[Path]:
    """A JAVA_HOME whose ``java`` uses the archive, which is written when it is first needed. Only a Java that has such
    an archive of its own classes can write one; another is used as it is.
    """
    java = find_java()
    with tempfile.TemporaryDirectory() as folder:
        shares = (java.resolve().parent.parent / "lib" / "server" / "classes.jsa").exists()
        _launcher(Path(folder), java, _ANY, f"-XX:SharedArchiveFile='{_archive(java)}' {_QUIET}" if shares else "")
        yield Path(folder)


def _launcher(home: Path, java: Path, main: str, options: str) -> None:
    """Makes ``bin/java``, which runs ``java``, with these options if it is to run a class named like ``main``."""
    launcher = home / "bin" / "java"
    launcher.parent.mkdir()
    launcher.write_text(_LAUNCHER.format(java=java, main=main, options=options))
    launcher.chmod(0o755)


def _archive(java: Path) -> Path:
    """The archive for this Java and this Spark."""
    of = f"{java.resolve()} {java.stat().st_mtime} {pyspark.__file__} {pyspark.__version__}"
    path = cache_directory() / f"spark-classes-{hashlib.sha256(of.encode()).hexdigest()[:16]}.jsa"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            draft = Path(folder) / "draft.jsa"
            _launcher(Path(folder), java, _DRIVER, f"-XX:ArchiveClassesAtExit='{draft}' {_QUIET}")
            subprocess.run(
                [sys.executable, "-c", _TRAINING], env={**os.environ, "JAVA_HOME": folder}, timeout=MAX_SECONDS,
                stdout=subprocess.DEVNULL, check=True,
            )
            shutil.move(draft, path)
    return path
