"""Divides a metadata log among processes or Spark tasks, each of which judges the partitions of one shard."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from floodmark.checkers import processes
from floodmark.checkers.conformance.metadata_log.dump import Shard
from floodmark.checkers.conformance.metadata_log.judge import Report, judge
from floodmark.checkers.resources import cores
from floodmark.language.errors import SourceError

SMALL = 16 << 20
"""The size in bytes up to which a log is judged in this process."""


def judge_log(
    paths: Sequence[Path], strict: bool = False, engine: Literal["auto", "spark"] = "auto", workers: int = 0,
    master: str | None = None,
) -> Report:
    """Judges a log. Every worker reads all of it and parses only its own partitions, so no data is moved.

    Spark tasks open the files themselves, so the files must be where the workers see them. Raises SourceError for a
    file that cannot be read.
    """
    size = sum(_size(path) for path in paths)
    if engine == "spark" or master is not None:
        from floodmark.checkers.spark.session import session

        context = session(master).sparkContext
        count = workers or context.defaultParallelism
        tasks = context.parallelize(_shards(count), count)
        reports = tasks.map(partial(_judge_shard, [path.resolve() for path in paths], strict)).collect()
    else:
        count = workers or (cores() if size > SMALL else 1)
        if count == 1:
            return judge(paths, strict)
        reports = processes.results(partial(_judge_shard, list(paths), strict), _shards(count), count)
    whole = Report()
    for report in reports:
        whole.add(report)
    return whole


def _size(path: Path) -> int:
    try:
        with path.open("rb"):
            return path.stat().st_size
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", str(path)) from None


def _shards(count: int) -> list[Shard]:
    return [Shard(number, count) for number in range(count)]


def _judge_shard(paths: Sequence[Path], strict: bool, shard: Shard) -> Report:
    return judge(paths, strict, shard)
