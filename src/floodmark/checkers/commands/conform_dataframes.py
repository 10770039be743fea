"""The results of ``floodmark conform`` as Spark DataFrames, for storing as Parquet and querying with SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from floodmark.checkers.conformance.metadata_log.judge import LogReport
from floodmark.checkers.conformance.metadata_log.registration import Registration
from floodmark.checkers.conformance.traces import TraceOutcome

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OUTCOME = (
    "file string, verdict string, line int, lines int, matched int, unseen int, last_step string, "
    "nearest array<string>, message string, expanded bigint, seconds double"
)
_PARTITION = (
    "struct<replicas: array<int>, isr: array<int>, adding: array<int>, removing: array<int>, leader: int, "
    "recovering: boolean, leader_epoch: int, partition_epoch: int, elr: array<int>, last_known_elr: array<int>>"
)
_FINDING = (
    f"rule string, message string, topic string, partition int, offset bigint, file string, line bigint, "
    f"before {_PARTITION}, after {_PARTITION}"
)


def outcomes_frame(spark: SparkSession, outcomes: Sequence[TraceOutcome]) -> DataFrame:
    """The verdicts of traces, one row each."""
    rows = [
        (it.file, it.verdict, it.line, it.lines, it.matched, it.unseen, it.last_step,
         [f"{reason.step}: {reason.text}" for reason in it.reasons], it.message, it.expanded, it.seconds)
        for it in outcomes
    ]
    return spark.createDataFrame(rows, _OUTCOME)


def findings_frame(spark: SparkSession, report: LogReport) -> DataFrame:
    """The broken rules of a metadata log, one row each."""
    rows = [
        (it.rule, it.message, it.topic, it.partition, it.offset, it.file, it.line, _row(it.before), _row(it.after))
        for it in report.findings
    ]
    return spark.createDataFrame(rows, _FINDING)


def _row(partition: Registration | None) -> Any:
    return None if partition is None else tuple(
        list(value) if isinstance(value, tuple) else value for value in partition
    )
