"""The results of a run as a Spark table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from floodmark.checkers.verdict.result import CheckResult

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def results_frame(spark: SparkSession, results: Sequence[CheckResult]) -> DataFrame:
    """The results of a run, one row each."""
    return spark.createDataFrame([_row(result) for result in results], _RESULT)


_RESULT = (
    "spec string, variant string, model string, tier string, engine string, verdict string, expected boolean, "
    "property string, distinct bigint, generated bigint, depth int, digest string, seconds double, "
    "compile_seconds double, memory bigint, constants map<string,bigint>, actions map<string,bigint>, "
    "levels array<bigint>, trace_length int, walks bigint, walk_steps int, seed bigint, strategy string"
)


def _row(result: CheckResult) -> tuple[Any, ...]:
    found = result.search_result
    figures: tuple[Any, ...] = (0, 0, 0, "", 0.0, 0.0, 0)
    if found is not None:
        figures = (found.distinct, found.generated, found.depth, found.digest, found.seconds, found.compile_seconds,
                   found.memory)
    walked = None if found is None else found.walked
    drawn = (None,) * 4 if walked is None else (walked.walks, walked.steps, walked.seed, walked.strategy)
    return (
        result.name, result.variant, result.model, result.tier, result.engine, result.verdict, result.expected,
        result.property, *figures,
        {name: int(value) for name, value in result.constants.items()},
        {} if found is None else found.actions,
        [] if found is None else found.levels,
        None if result.violation is None else len(result.violation.trace),
        *drawn,
    )
