"""Writes the reachable set as Parquet: a readable column for each variable, and the level of each state.

Workers do not have the model's classes, so the distinct codes of each variable are collected first, the driver decodes
them, and the workers look up the results, whole columns at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from floodmark.checkers.search.statistics import column
from floodmark.checkers.spark.cluster import Cluster
from floodmark.checkers.spark.parquet import as_function
from floodmark.checkers.value_text import show
from floodmark.compiler.layout import Layout, Slot, decode
from floodmark.language.types import BoolType, IntType, Type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

LEVEL = "level"
ROWS = 1 << 16


def frame(spark: SparkSession, cluster: Cluster, layout: Layout) -> DataFrame:
    """All states as a DataFrame. ``level`` is the number of states on a shortest path, 1 for initial states."""
    known = cluster.codes()
    meanings = {name: _meanings(layout.variables[name], codes) for name, codes in known.items()}
    fields = ", ".join(f"`{name}` {_sql(layout.variables[name])}" for name in layout.variables)
    words = spark.createDataFrame(
        cluster.all_pieces(), f"{_level_name(layout)} int, words binary", verifySchema=False
    )
    columns = {name: (layout.slots[name], known[name], meanings[name]) for name in layout.variables}
    convert = partial(_convert, cluster.words, spark.sparkContext.broadcast(columns), _level_name(layout))
    return words.mapInArrow(as_function(convert), f"{_level_name(layout)} int, {fields}")


def _level_name(layout: Layout) -> str:
    """``level``, unless the model has a variable of that name."""
    name = LEVEL
    while name in layout.variables:
        name += "_"
    return name


def _sql(kind: Type) -> str:
    match kind:
        case BoolType():
            return "boolean"
        case IntType():
            return "bigint"
    return "string"


def _meanings(kind: Type, codes: Any) -> list[Any]:
    """The meanings of a variable's codes, as text if SQL has no better type."""
    plain = isinstance(kind, BoolType | IntType)
    values = (decode(kind, _whole(code)) for code in codes)
    return [value if plain or value is None else show(value) for value in values]


def _whole(code: Any) -> int:
    """A code that may span several words, lowest first."""
    return sum(int(word) << (64 * place) for place, word in enumerate(np.atleast_1d(code)))


def _convert(words: int, columns: Any, level_name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    known = {name: (slot, codes, pa.array(meanings)) for name, (slot, codes, meanings) in columns.value.items()}
    for batch in batches:
        for level, packed in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            rows = np.frombuffer(packed.as_buffer(), dtype=np.uint64).reshape(-1, words)
            for start in range(0, len(rows), ROWS):
                part = rows[start : start + ROWS]
                places = ((meanings, _places(part, slot, codes)) for slot, codes, meanings in known.values())
                arrays = [meanings.take(pa.array(place)) for meanings, place in places]
                levels = pa.array(np.full(len(part), level, dtype=np.int32))
                yield pa.RecordBatch.from_arrays([levels, *arrays], [level_name, *known])


def _places(rows: Any, slot: Slot, codes: Any) -> Any:
    """The index of each row's code in the codes, which are in ascending order."""
    own = column(rows, slot)
    if own.ndim > 1:
        codes, own = _as_bytes(codes), _as_bytes(own)
    places = np.searchsorted(codes, own)
    if (codes.take(places, mode="clip") != own).any():
        raise ValueError("a state has a value that was not seen when the values were collected")
    return places


def _as_bytes(rows: Any) -> Any:
    """Rows of words as byte strings in the same order as the rows: by their first word, then the next."""
    return np.ascontiguousarray(rows.astype(">u8")).view(f"V{rows.shape[1] * 8}").ravel()
