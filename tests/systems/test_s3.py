"""Tests what the command keeps in an S3 server on loopback; `tests/spark/test_spark_s3.py` has the quick tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers.spark.folders import ObjectFolder
from tests.support.s3 import served
from tests.systems.test_spark_cluster import eventually, finished, native, same, start

pytestmark = pytest.mark.slow

ALWAYS = ["--spark", "master=local[2]", "--spark", "distribute=always"]


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket, which this process and those that it starts reach."""
    with served(os.environ) as url:
        yield url


def test_a_run_that_is_killed_is_resumed(bucket: str) -> None:
    url = f"{bucket}/kept"
    process = start([*ALWAYS, "--set", "last=4", "--spark", f"checkpoint={url}"])
    folder = ObjectFolder(f"{url}/spec=examples%2Fphilosophers/variant=Philosophers")

    def levels() -> list[str]:
        return [name for name in folder.names() if name.startswith("level-")]

    eventually(lambda: len(levels()) > 5)
    process.kill()
    process.communicate()
    done = levels()
    second = start([*ALWAYS, "--set", "last=4", "--spark", f"checkpoint={url}"])
    said, errors = second.communicate()
    assert "already holds checkpoints" in said + errors
    found = finished(start([*ALWAYS, "--set", "last=4", "--spark", f"resume={url}"]))
    same(found, native(4))
    assert set(levels()) > set(done)
    assert sorted({int(name.split("-")[1]) for name in levels()}) == list(range(found["depth"] + 1))
    last = finished(start([*ALWAYS, "--set", "last=4", "--spark", f"resume={url}"]))
    same(last, native(4))


def test_states_and_results_are_tables(bucket: str) -> None:
    from pyarrow import parquet

    def table(url: str) -> Any:
        import s3fs

        return parquet.read_table(url.removeprefix("s3://"), filesystem=s3fs.S3FileSystem(skip_instance_cache=True))

    options = [*ALWAYS, "--set", "last=2", "--spark", f"keep_states={bucket}/states"]
    for times in (1, 2):
        found = finished(start([*options, "--spark", f"keep_results={bucket}/results"]))
        states = table(f"{bucket}/states")
        assert states.num_rows == found["distinct"]
        levels = states.column("level").to_pylist()
        assert [levels.count(level + 1) for level in range(found["depth"])] == found["levels"]
        results = table(f"{bucket}/results")
        assert results.column("distinct").to_pylist() == [found["distinct"]] * times


def test_a_bucket_that_is_not_there_is_an_error(bucket: str, tmp_path: Path) -> None:
    process = start([*ALWAYS, "--set", "last=2", "--spark", "checkpoint=s3://nobody/kept"])
    said, errors = process.communicate()
    assert process.returncode == 2
    assert "s3://nobody/kept" in said + errors
    assert "Traceback" not in said + errors
