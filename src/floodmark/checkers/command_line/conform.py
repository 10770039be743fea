"""The options of ``floodmark conform``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodmark.checkers.command_line.engine import engine_option, spark_option, take_spark
from floodmark.checkers.command_line.parameters import Count, Seconds, SpecName, echo_all, set_option, workers_option
from floodmark.checkers.project.arguments import PathParameter, spec_path
from floodmark.checkers.report.outputs import json_option, must_be_writable


@click.command()
@click.argument("spec", required=False, type=SpecName())
@click.option("--trace", "traces", type=PathParameter(), multiple=True, metavar="FILE.jsonl",
              help="A recorded run, a folder of them, or the output of check --json; may be repeated.")
@click.option("--reader", type=PathParameter(), metavar="FILE.py",
              help="Reads traces of another format: a file with SUFFIXES, and lines(text), which yields their steps.")
@click.option("--metadata-log", "logs", type=PathParameter(), multiple=True, metavar="FILE",
              help="Output of kafka-dump-log.sh --cluster-metadata-decoder; may be repeated, in any order.")
@click.option("--hidden", type=Count, default=0,
              help="How many unrecorded steps may have happened before each line, at most.")
@click.option("--strict", is_flag=True, help="Also checks the rules of KIP-455 that Apache Kafka is known to break.")
@click.option("--only-variant", metavar="NAME",
              help="Uses the known-bad design of this name instead of the spec's model.")
@set_option
@click.option("--max-states", type=Count, help="Stops each trace, undetermined, after this many states.")
@click.option("--max-seconds", type=Seconds(), help="Stops each trace, undetermined, after this time.")
@engine_option(native="recorded runs and logs are judged by CPython, not by machine code: reference or spark")
@spark_option("master", "keep_results")
@workers_option
@json_option
def conform(spec: str | None, traces: tuple[Path, ...], logs: tuple[Path, ...], json_file: Path | None,
            assignments: tuple[tuple[str, int], ...], **given: Any) -> int:
    """Judges recorded runs and metadata logs.

    Checks whether recorded runs are behaviours of SPEC's model, or whether metadata logs obey the rules.

    A trace has one JSON object per line: {"action": NAME, "arguments": {...}, "state": {VARIABLE: value}, "skip": N}.
    Every part may be omitted, and so may fields of records and keys of maps: what is missing was not observed. Of a
    sequence, {"length": N, "0": value} says its length and some elements. A line without an action observes the state
    after one step or, if steps may be hidden, after any number of them; with "step": false, it observes the state as it
    is. "before" is observed before the line's action, and "line" is the number of the line in another file that reports
    name instead. "skip" is --hidden for this line alone. Values are written as check --json writes them. The first line
    is about the initial state, unless it has an action. If no run of the model fits, the nearest actions are shown with
    the guard that stopped each.

    The records of a metadata log are judged partition by partition: epochs, leaders, the ISR, reassignments.
    """
    from floodmark.checkers.commands.conform import ConformSettings, conform_log, conform_traces

    spark = take_spark(given, "master", "keep_results")
    settings = ConformSettings(constants=dict(assignments), **given, **spark)
    must_be_writable(json_file, [*traces, *logs])
    if logs and not traces and spec is None:
        lines = conform_log(logs, settings, json_file)
    elif traces and not logs and spec is not None:
        lines = conform_traces(spec_path(spec), traces, settings, json_file)
    else:
        raise click.UsageError("give either SPEC and --trace, or --metadata-log alone")
    return echo_all(lines)
