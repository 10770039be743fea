"""Divides a metadata log among processes or Spark tasks, each of which judges the partitions of one shard."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from floodmark.checkers import processes
from floodmark.checkers.conformance.metadata_log.dump import LogShard
from floodmark.checkers.conformance.metadata_log.judge import LogReport, judge
from floodmark.checkers.project import input_file
from floodmark.checkers.resources import cores

MAX_LOCAL_BYTES = 16 << 20
"""The size in bytes up to which a log is judged in this process."""


def judge_log(
    paths: Sequence[Path], strict: bool = False, on_spark: bool = False, workers: int = 0,
    master: str | None = None,
) -> LogReport:
    """Judges a log. Every worker reads all of it and parses only its own partitions, so no data is moved.

    Spark tasks open the files themselves, so the files must be where the workers see them. Raises SourceError for a
    file that cannot be read.
    """
    size = sum(input_file.size_of(path) for path in paths)
    if on_spark:
        from floodmark.checkers.spark.session import session

        context = session(master).sparkContext
        count = workers or context.defaultParallelism
        tasks = context.parallelize(_shards(count), count)
        reports = tasks.map(partial(judge, [path.resolve() for path in paths], strict)).collect()
    else:
        count = workers or (cores() if size > MAX_LOCAL_BYTES else 1)
        if count == 1:
            return judge(paths, strict)
        reports = processes.results(partial(judge, list(paths), strict), _shards(count), count)
    return sum(reports, LogReport())


def _shards(count: int) -> list[LogShard]:
    return [LogShard(number, count) for number in range(count)]
