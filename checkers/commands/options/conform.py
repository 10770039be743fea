"""The options of ``floodmark conform``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodmark.checkers.commands.options.epilog import EPILOG
from floodmark.checkers.commands.options.parameters import must_be_writable, set_option, spec_path, workers_option


@click.command(epilog=EPILOG)
@click.argument("spec", required=False)
@click.option("--trace", "traces", type=click.Path(path_type=Path), multiple=True, metavar="FILE.jsonl",
              help="A recorded run, a folder of them, or what check --json wrote; may be repeated.")
@click.option("--metadata-log", "logs", type=click.Path(path_type=Path), multiple=True, metavar="FILE",
              help="What kafka-dump-log.sh --cluster-metadata-decoder printed; may be repeated, in any order.")
@click.option("--hidden", type=click.IntRange(0), default=0,
              help="So many steps at most may have happened unseen before each line.")
@click.option("--strict", is_flag=True, help="Also the rules of KIP-455 that Apache Kafka is known not to keep.")
@click.option("--only-variant", metavar="NAME", help="The known-bad design of this name instead of the spec's model.")
@set_option
@click.option("--max-states", type=click.IntRange(0), help="Gives a trace up, undetermined, after so many states.")
@click.option("--max-seconds", type=click.FloatRange(0), help="Gives a trace up, undetermined, after this time.")
@click.option("--engine", type=click.Choice(["auto", "spark"]), default="auto", help="Where traces are judged.")
@click.option("--master", metavar="URL", help="The Spark master; implies --engine spark.")
@workers_option
@click.option("--keep-results", metavar="DIR", help="Adds what was found to the Parquet there, by Spark.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Writes what was found as JSON.")
def conform(spec: str | None, traces: tuple[Path, ...], logs: tuple[Path, ...], json_file: Path | None,
            assignments: tuple[tuple[str, int], ...], **given: Any) -> int:
    """Says whether recorded runs are behaviours of a spec's model, or whether metadata logs keep the rules.

    A trace has one JSON object in a line, {"action": NAME, "arguments": {...}, "state": {VARIABLE: value}, "skip": N}.
    Each part may be left out, as may fields of records and keys of maps: what is not there was not seen. A line
    without an action is a look at the state after one step, or where steps may be unseen, after any number of them.
    "skip" is --hidden for this line alone. Values are written as check --json writes them. The first line is about the
    beginning, unless it has an action. Where no run of the model fits, the nearest actions are shown, and the guard
    that stopped each.

    The records of a metadata log are judged partition by partition: epochs, leaders, the ISR, reassignments.
    """
    from floodmark.checkers.commands.conform import Settings, conform_log, conform_traces

    settings = Settings(constants=dict(assignments), **given)
    must_be_writable(json_file, [*traces, *logs])
    if logs and not traces and spec is None:
        told = conform_log(logs, settings, json_file)
    elif traces and not logs and spec is not None:
        told = conform_traces(spec_path(spec), traces, settings, json_file)
    else:
        raise click.UsageError("give either SPEC and --trace, or --metadata-log alone")
    code = 0
    for said in told:
        if isinstance(said, str):
            click.echo(said)
        else:
            code = int(said)
    return code
