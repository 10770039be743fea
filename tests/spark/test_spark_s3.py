"""Tests checkpoints in an S3 server on loopback; `tests/systems/test_s3.py` has the slow tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.standalone import descendants, kill
from floodmark.checkers.spark.checkpoint import Checkpoints
from floodmark.checkers.spark.folders import ObjectFolder
from floodmark.checkers.spark.session import session
from floodmark.language.errors import SourceError
from tests.spark.test_spark_runs import Sieve, found_by, same
from tests.support.s3 import served

ROOT = Path(__file__).parents[2]
RUN = """
import sys
from tests.spark.test_spark_runs import Sieve, found_by
found_by(Sieve(), checkpoint=sys.argv[1])
"""


@pytest.fixture(scope="module")
def bucket(spark: object) -> Iterator[str]:
    with served(os.environ, session().sparkContext.environment) as url:
        yield url


def test_a_folder_is_as_it_was_written(bucket: str) -> None:
    folder = ObjectFolder(f"{bucket}/folder")
    assert folder.names() == []
    folder.write("b", b"one")
    folder.write("b", b"two")
    ObjectFolder(folder.at("c")).write("d", b"three")
    assert (folder.names(), folder.read("b")) == (["b", "c"], b"two")
    folder.remove("c")
    folder.remove("c")
    assert folder.names() == ["b"]


def test_of_many_that_create_an_object_one_succeeds(bucket: str) -> None:
    folder = ObjectFolder(f"{bucket}/claims")
    for name in ("one", "two", "three"):
        created: list[bytes] = []

        def create(content: bytes, name: str = name, into: list[bytes] = created) -> None:
            if folder.create(name, content):
                into.append(content)

        threads = [threading.Thread(target=create, args=(bytes([each]),)) for each in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert created == [folder.read(name)]


def begun(folder: ObjectFolder) -> tuple[set[str], set[str]]:
    """The levels of which there are states, and those that have a manifest."""
    names = [name.removesuffix(".json").partition("-") for name in folder.names()]
    states, manifests = ({level for kind, _, level in names if kind == wanted} for wanted in ("states", "level"))
    return states, manifests


def published(url: str) -> int:
    """The newest level that a reader finds, after all states up to it were found to be there."""
    checkpoints = Checkpoints(None, url)  # type: ignore[arg-type]
    chain = next(checkpoints.manifests(), [])
    assert not checkpoints.damaged
    for manifest in chain:
        folder = ObjectFolder(checkpoints.folder.at(manifest.data))
        size = sum(len(folder.read(name)) for _, _, name in manifest.objects)
        assert size == 16 * manifest.counts_and_digests()[:, :, 0].sum()  # a state has two words
    return chain[-1].level if chain else -1


@pytest.mark.slow
def test_a_run_that_is_killed_before_it_has_published_a_level_is_resumed(bucket: str) -> None:
    """The process is killed after it has written the states of a level, and before the manifest. Whoever reads while it
    runs finds whole levels only. The resumed search finds what the native one does."""
    url = f"{bucket}/kept"
    folder = ObjectFolder(url)
    environment = {**os.environ, "FLOODMARK_MASTER": "local[1]"}
    process = subprocess.Popen([sys.executable, "-c", RUN, url], cwd=ROOT, env=environment)
    read: set[int] = set()
    while True:
        assert process.poll() is None
        time.sleep(0.01)
        states, manifests = begun(folder)
        if len(manifests) > 1 and states > manifests:
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.2)  # a request that was on its way has arrived
            states, manifests = begun(folder)
            if states > manifests:
                break
            process.send_signal(signal.SIGCONT)
        else:
            read.add(published(url))
    kill(*descendants(process.pid), process.pid)
    process.wait()
    last = published(url)
    assert last == max(int(level.partition("-")[0]) for level in manifests)
    with pytest.raises(SourceError, match="already holds checkpoints"):
        Checkpoints(None, url).must_be_empty()  # type: ignore[arg-type]
    found = found_by(Sieve(), resume=url)
    same(found, Sieve())
    assert published(url) == found.depth
    again, _ = begun(folder)
    assert again > states
    assert read
