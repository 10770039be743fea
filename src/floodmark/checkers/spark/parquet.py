"""Tables as Parquet: written by Spark where it has a file system, by the tasks themselves into an object store."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from floodmark.checkers.spark.folders import ObjectFolder, is_object_store
from floodmark.checkers.spark.object_tasks import OBJECT_BYTES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def replace(frame: DataFrame, url: str) -> int:
    """Makes a table the content of a folder; returns how many rows are there then."""
    if not is_object_store(url):
        frame.write.mode("overwrite").parquet(url)
        return frame.sparkSession.read.parquet(url).count()
    folder = ObjectFolder(url)
    written = _written(frame, folder)
    for name in set(folder.names()) - written.keys():
        folder.remove(name)
    return sum(written[name] for name in folder.names())


def append(frame: DataFrame, url: str) -> None:
    """Adds a table to the one in a folder."""
    if is_object_store(url):
        _written(frame, ObjectFolder(url))
    else:
        frame.write.mode("append").parquet(url)


def _written(frame: DataFrame, folder: ObjectFolder) -> dict[str, int]:
    """Writes the objects of a table; returns their names with the number of rows. What attempts that failed have left
    is removed."""
    run = f"part-{uuid.uuid4().hex[:12]}"
    task = as_function(partial(_objects, folder.url, run))
    written = {row.name: int(row.rows) for row in frame.mapInArrow(task, "name string, rows bigint").collect()}
    for name in folder.names():
        if name.startswith(run) and name not in written:
            folder.remove(name)
    return written


def _objects(url: str, run: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Writes a partition of a table to objects of this attempt, each held in memory until it is whole."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    folder, attempt = ObjectFolder(url), uuid.uuid4().hex[:12]
    buffer, rows, number = io.BytesIO(), 0, 0
    writer: Any = None

    def written() -> pa.RecordBatch:
        writer.close()
        name = f"{run}-{attempt}-{number:05}.parquet"
        folder.write(name, buffer.getvalue())
        return pa.RecordBatch.from_arrays([pa.array([name]), pa.array([rows], pa.int64())], ["name", "rows"])

    for batch in batches:
        writer = writer or ParquetWriter(buffer, batch.schema)
        writer.write_batch(batch)
        rows += batch.num_rows
        if buffer.tell() >= OBJECT_BYTES:
            yield written()
            buffer, rows, number, writer = io.BytesIO(), 0, number + 1, None
    if rows:
        yield written()


def as_function(convert: Callable[[Iterable[Any]], Iterator[Any]]) -> Any:
    """A partial function as PySpark takes it, which asks for its name."""

    def converted(batches: Iterator[Any]) -> Iterator[Any]:
        return convert(batches)

    return converted
