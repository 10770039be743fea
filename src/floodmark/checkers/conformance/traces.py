"""Judges many traces: in this process, in several, or as Spark tasks."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from floodmark.checkers import processes
from floodmark.checkers.conformance.behaviour import TraceResult, judge
from floodmark.checkers.conformance.foreign_traces import reader_of
from floodmark.checkers.conformance.rejection import RejectionReason, reasons
from floodmark.checkers.conformance.trace_file import parse
from floodmark.checkers.explanation.trace import trace_entries
from floodmark.checkers.project import input_file, json_text
from floodmark.checkers.resources import cores
from floodmark.checkers.search_result import Limits
from floodmark.checkers.value_text import show_step
from floodmark.checkers.verdict.check import Check
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

if TYPE_CHECKING:
    from pyspark import Broadcast

Recorded = tuple[str, str]
"""The name of a trace's file, and its text."""
MAX_LOCAL_TRACES = 4
"""The maximum number of traces that are judged in this process."""


@dataclass(frozen=True)
class TraceOutcome:
    """The result of a trace, for reports. The verdict "error" means that a file or a model cannot be read, "lost" an
    internal error.

    ``line`` is the number of the line that no run fits, or that is malformed; ``run`` is the longest run that fits, if
    it was requested.
    """

    file: str
    verdict: Literal["accepted", "rejected", "undetermined", "error", "lost"]
    message: str = ""
    line: int | None = None
    lines: int = 0
    matched: int = 0
    unseen: int = 0
    given: Any = None
    last_step: str = ""
    reasons: Sequence[RejectionReason] = ()
    run: Sequence[dict[str, Any]] = ()
    expanded: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class TraceComparison:
    """The model with which traces are compared, and the settings of the comparison. ``reader`` is the file that reads
    traces in a foreign format; ``runs`` is whether the outcomes include runs, whose states may be large."""

    check: Check
    hidden: int = 0
    limits: Limits = field(default_factory=Limits)
    reader: Path | None = None
    runs: bool = True

    def model(self) -> Model:
        """The model with its constants, or a known-bad design if one is chosen."""
        return self.check.cls()(**self.check.constants)


def judge_text(work: TraceComparison, recorded: Recorded) -> TraceOutcome:
    """Judges one trace. Never raises SourceError: an error in a file is its result."""
    file, text = recorded
    try:
        model = work.model()
        trace = parse(text if work.reader is None else reader_of(work.reader).read(text), model, file)
        result = judge(model, trace, work.hidden, work.limits)
        return _outcome(model, result, work.runs)
    except SourceError as error:
        elsewhere = "" if error.file in (None, file) else f"{error.file}:{error.line}: "
        return TraceOutcome(file, "error", elsewhere + error.message, None if elsewhere else error.line)


def _outcome(model: Model, result: TraceResult, runs: bool) -> TraceOutcome:
    failed = result.failed_line
    entries = trace_entries(model, result.run) if runs else []
    for entry, index in zip(entries, result.seen, strict=False):
        entry["line"] = None if index is None else result.trace.lines[index].number
    lines = result.trace.lines
    matched = {line.number for line in lines[: result.matched]} - {None if failed is None else failed.number}
    return TraceOutcome(
        result.trace.file,
        result.verdict,
        f"the search ended at {result.stopped}" if result.stopped else "",
        None if failed is None else failed.number,
        len({line.number for line in lines}),
        len(matched),
        sum(1 for index in result.seen[1:] if index is None),
        None if failed is None else failed.data,
        show_step(result.run[-1].step) if result.run else "",
        reasons(model, result),
        entries,
        result.expanded,
        result.seconds,
    )


def trace_files(paths: Iterable[Path], suffixes: Sequence[str] = (".jsonl",)) -> list[Path]:
    """The traces that paths denote: a file itself, or every file with a suffix below a folder."""
    files: list[Path] = []
    for path in paths:
        if not os.path.lexists(path):
            raise SourceError("there is no such file or folder", str(path))
        below = [file for suffix in suffixes for file in input_file.below(path, suffix)] if os.path.isdir(path) else []
        files += below if os.path.isdir(path) else [path]
    return list(dict.fromkeys(files))


def read_texts(paths: Sequence[Path]) -> list[Recorded]:
    """The texts of traces. Raises SourceError for a file that cannot be read."""
    texts: list[Recorded] = []
    for path in paths:
        texts += _traces_of(str(path), input_file.text_of(path))
    return texts


def _traces_of(file: str, text: str) -> list[Recorded]:
    """One trace, or every counterexample in the output of ``check --json``, with a line for each step."""
    if not file.endswith(".json"):
        return [(file, text)]
    try:
        results = json_text.parse(text)["results"]
        traces = [(f"{file} ({_title(it)})", it["trace"]) for it in results if it["trace"]]
    except (json_text.NotJsonError, KeyError, TypeError, AttributeError):
        raise SourceError("is not the output of check --json; name a trace of JSON lines *.jsonl", file) from None
    return [(name, "\n".join(json.dumps(entry) for entry in trace)) for name, trace in traces]


def _title(result: Mapping[str, Any]) -> str:
    """The subject of a result: the spec, which earlier versions did not name, and the class."""
    return " ".join(filter(None, [result.get("name"), result["variant"] or result["model"]]))


def judge_all(work: TraceComparison, texts: Sequence[Recorded], workers: int = 0) -> Iterator[TraceOutcome]:
    """Judges traces, in processes of their own when there are many; ``workers=0`` means one per core."""
    count = min(workers or (cores() if len(texts) > MAX_LOCAL_TRACES else 1), len(texts))
    if count <= 1:
        yield from (judge_text(work, text) for text in texts)
        return
    judged = processes.run_each(functools.partial(judge_text, work), texts, count, lambda _: work.limits.seconds)
    for (file, _), outcome in zip(texts, processes.in_order(judged), strict=True):
        if isinstance(outcome, processes.OverdueJob):
            yield TraceOutcome(file, "undetermined", str(outcome))
        elif isinstance(outcome, Exception):
            yield TraceOutcome(file, "lost", str(outcome))
        else:
            yield outcome


def judge_all_on_spark(
    work: TraceComparison, texts: Sequence[Recorded], master: str | None = None
) -> list[TraceOutcome]:
    """Judges traces in Spark tasks, which get the traces and, where needed, the model's sources."""
    from floodmark.checkers.spark.project_transfer import broadcast_files
    from floodmark.checkers.spark.session import session

    context = session(master).sparkContext
    spec = replace(work.check.spec, path=work.check.spec.path.resolve())
    work = replace(work, check=replace(work.check, spec=spec))
    texts, unread = _read_here(work, texts)
    work = replace(work, reader=None)
    files = broadcast_files(context, [work.check])
    slices = max(1, min(len(texts), 4 * context.defaultParallelism))
    outcomes = context.parallelize(list(texts), slices).map(functools.partial(_on_worker, files, work)).collect()
    files.destroy()
    return [*unread, *outcomes]


def _read_here(work: TraceComparison, texts: Sequence[Recorded]) -> tuple[list[Recorded], list[TraceOutcome]]:
    """Reads traces in foreign formats, for workers without the reader; also returns the results of unreadable ones."""
    if work.reader is None:
        return list(texts), []
    reader = reader_of(work.reader)
    read, unread = [], []
    for file, text in texts:
        try:
            read.append((file, reader.read(text)))
        except SourceError as error:
            unread.append(TraceOutcome(file, "error", error.message, error.line))
    return read, unread


def _on_worker(files: Broadcast[Any], work: TraceComparison, text: Recorded) -> TraceOutcome:
    from floodmark.checkers.spark.project_transfer import check_on_worker

    return judge_text(replace(work, check=check_on_worker(files.value, work.check)), text)
