"""``floodmark conform``: recorded runs against a model, and metadata logs against the rules."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodmark.checkers.conformance.foreign_traces import reader_of
from floodmark.checkers.conformance.metadata_log.judge import LogReport, RuleViolation
from floodmark.checkers.conformance.metadata_log.registration import Registration
from floodmark.checkers.conformance.metadata_log.run import judge_log
from floodmark.checkers.conformance.rejection import RejectionReason
from floodmark.checkers.conformance.traces import (
    TraceComparison,
    TraceOutcome,
    judge_all,
    judge_all_on_spark,
    read_texts,
    trace_files,
)
from floodmark.checkers.project.paths import shown, shown_line
from floodmark.checkers.report.outputs import write_json
from floodmark.checkers.report.progress import CountingLine
from floodmark.checkers.search_result import Limits
from floodmark.checkers.spark.session import session
from floodmark.checkers.verdict.check import Check, CheckSettings, EngineName, one_check, variant_name
from floodmark.checkers.verdict.result import ExitCode, worst
from floodmark.language.plurals import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


MAX_SHOWN = 20
_MAX_LINE = 200
_EXIT_CODES = {
    "accepted": ExitCode.AS_EXPECTED,
    "rejected": ExitCode.NOT_AS_EXPECTED,
    "undetermined": ExitCode.UNDETERMINED,
    "error": ExitCode.USER_ERROR,
    "lost": ExitCode.INTERNAL_ERROR,
}


@dataclass(frozen=True, slots=True)
class ConformSettings:
    """The arguments of the command, apart from the files."""

    hidden: int = 0
    strict: bool = False
    constants: Mapping[str, int] = field(default_factory=dict)
    only_variant: str | None = None
    max_states: int | None = None
    max_seconds: float | None = None
    engine: EngineName = "auto"
    master: str | None = None
    workers: int = 0
    keep_results: str | None = None
    reader: Path | None = None

    @property
    def on_spark(self) -> bool:
        return self.engine == "spark"


def conform_traces(
    spec: Path, traces: Sequence[Path], settings: ConformSettings, json_file: Path | None
) -> Iterator[str | ExitCode]:
    """The lines to print, then the exit code."""
    work = TraceComparison(
        _check(spec, settings), settings.hidden, Limits(settings.max_states, settings.max_seconds), settings.reader,
        runs=json_file is not None,
    )
    work.model()  # errors in the spec or the model are reported once
    suffixes = (".jsonl",) if settings.reader is None else reader_of(settings.reader).suffixes
    texts = read_texts(trace_files(traces, suffixes))
    if not texts:
        yield f"nothing was checked: there is no {' or '.join(f'*{suffix}' for suffix in suffixes)} there"
        yield ExitCode.NOTHING_CHECKED
        return
    many = len(texts) > MAX_SHOWN
    outcomes = []
    judged = judge_all_on_spark(work, texts, settings.master) if settings.on_spark else judge_all(
        work, texts, settings.workers
    )
    with CountingLine(len(texts), "trace") as counting:
        for outcome in judged:
            outcomes.append(outcome)
            if not (many and outcome.verdict == "accepted"):
                counting.clear()
                yield from _outcome_lines(outcome, variant_name(work.check))
            counting.one()
    counts = Counter(outcome.verdict for outcome in outcomes)
    text = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(counts.items()))
    yield f"{counted(len(outcomes), 'trace')}: {text}"
    if settings.on_spark and settings.keep_results is not None:
        _keep(outcomes_frame(session(settings.master), outcomes), settings.keep_results)
    content = {"model": work.check.spec.model, "variant": settings.only_variant,
               "traces": [asdict(outcome) for outcome in outcomes]}
    yield worst([*(_EXIT_CODES[outcome.verdict] for outcome in outcomes), write_json(json_file, "traces", content)])


def _check(path: Path, settings: ConformSettings) -> Check:
    roomy = {} if settings.reader is None else reader_of(settings.reader).constants
    return one_check(path, settings.only_variant, CheckSettings(constants={**roomy, **settings.constants}))


def _outcome_lines(outcome: TraceOutcome, model: str) -> Iterator[str]:
    file = shown(Path(outcome.file))
    place = file if outcome.line is None else f"{file}:{outcome.line}"
    if outcome.verdict == "accepted":
        unseen = f", with {counted(outcome.unseen, 'unseen step')} between them" if outcome.unseen else ""
        every = "the line" if outcome.lines == 1 else f"all {outcome.lines:,} lines"
        yield f"accepted  {file}: a run of {model} fits {every}{unseen}"
        return
    if outcome.verdict != "rejected":
        yield f"{outcome.verdict}  {place}: {outcome.message}"
        return
    before = "nor any before it" if outcome.matched == 0 else f"one fits the {counted(outcome.matched, 'line')} before"
    yield f"rejected  {place}: no run of {model} fits this line; {before}"
    text = json.dumps(outcome.given)
    yield f"  the line: {text if len(text) <= _MAX_LINE else text[:_MAX_LINE - 4] + ' ...'}"
    if outcome.last_step:
        yield f"  the last step that fits: {outcome.last_step}"
    if outcome.reasons:
        yield "  nearest:"
        yield from (f"    {_reason(reason)}" for reason in outcome.reasons)


def _reason(reason: RejectionReason) -> str:
    if reason.unlike is not None:
        return f"{reason.step}: {reason.text}"
    place = "" if reason.file is None else f" ({shown_line(reason.file, reason.line)})"
    return f"{reason.step} {reason.text}{place}"


def conform_log(paths: Sequence[Path], settings: ConformSettings, json_file: Path | None) -> Iterator[str | ExitCode]:
    """The lines to print, then the exit code."""
    report = judge_log(paths, settings.strict, settings.on_spark, settings.workers, settings.master)
    for malformed in report.malformed[:MAX_SHOWN]:
        yield f"malformed  {shown_line(malformed.file, malformed.line)}: {malformed.message}"
    yield from _more(len(report.malformed), "malformed line")
    for finding in report.findings[:MAX_SHOWN]:
        yield from _finding_lines(finding)
    yield from _more(len(report.findings), "broken rule")
    yield from _counts(report)
    if settings.on_spark and settings.keep_results is not None:
        _keep(findings_frame(session(settings.master), report), settings.keep_results)
    yield worst([_log_exit_code(report), write_json(json_file, "metadata-log", _log_json(report))])


def _log_exit_code(report: LogReport) -> ExitCode:
    codes = []
    if report.malformed:
        codes.append(ExitCode.USER_ERROR)
    if report.findings:
        codes.append(ExitCode.NOT_AS_EXPECTED)
    if report.unknown or report.gaps:
        codes.append(ExitCode.UNDETERMINED)
    if report.judged == 0:
        codes.append(ExitCode.NOTHING_CHECKED)
    return worst([*codes, ExitCode.AS_EXPECTED])


def _finding_lines(finding: RuleViolation) -> Iterator[str]:
    place = shown_line(finding.file, finding.line)
    yield f"broken  {finding.rule}: {finding.topic}-{finding.partition} at offset {finding.offset} ({place})"
    yield f"  {finding.message}"
    if finding.before is not None:
        yield f"  before: {_partition(finding.before)}"
    if finding.after is not None:
        yield f"  after:  {_partition(finding.after)}"


def _partition(partition: Registration) -> str:
    text = f"replicas {list(partition.replicas)}, ISR {list(partition.isr)}, leader {partition.leader}"
    if partition.is_reassigning:
        text += f", adding {list(partition.adding)}, removing {list(partition.removing)}"
    return f"{text}, leader epoch {partition.leader_epoch}, partition epoch {partition.partition_epoch}"


def _counts(report: LogReport) -> Iterator[str]:
    yield f"{counted(report.lines, 'line')}: {counted(report.headers, 'header')}, {report.control:,} control, " \
          f"{counted(report.records, 'record')}, {len(report.malformed):,} malformed"
    skipped = ", ".join(f"{name} {count:,}" for name, count in sorted(report.skipped.items()))
    parts = [f"{report.judged:,} judged", f"{report.skipped.total():,} of other types{f' ({skipped})' * bool(skipped)}"]
    for count, what in ((report.repeated, "repeated"), (report.aborted, "of unfinished transactions"),
                        (report.unknown, "not judged: the partition's beginning is not in the log")):
        if count:
            parts.append(f"{count:,} {what}")
    yield f"{counted(report.records, 'record')}, {counted(report.partitions, 'partition')}: {'; '.join(parts)}"
    if report.gaps:
        yield f"the log has {counted(report.gaps, 'hole')}: judging resumes at the next snapshot"
    yield "no rule is broken" if not report.findings else f"{counted(len(report.findings), 'broken rule')}"


def _log_json(report: LogReport) -> dict[str, Any]:
    content = asdict(report)
    content["skipped"] = dict(report.skipped)
    content["malformed"] = [malformed._asdict() for malformed in report.malformed]
    for entry, finding in zip(content["findings"], report.findings, strict=True):
        for side in ("before", "after"):
            partition: Registration | None = getattr(finding, side)
            entry[side] = None if partition is None else partition._asdict()
    return content


def _more(count: int, what: str) -> Iterator[str]:
    if count > MAX_SHOWN:
        yield f"and {counted(count - MAX_SHOWN, f'{what}')} more; --json has all of them"


def _keep(frame: DataFrame, folder: str) -> None:
    """Adds rows to the Parquet table in a folder."""
    frame.coalesce(1).write.mode("append").parquet(folder)


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
