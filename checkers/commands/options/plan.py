"""The options of ``floodmark plan``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodmark.checkers.commands.options.epilog import EPILOG
from floodmark.checkers.commands.options.parameters import must_be_writable, workers_option


@click.command(epilog=EPILOG)
@click.argument("plan_file", metavar="FILE.json", type=click.Path(path_type=Path))
@click.option("--current", required=True, type=click.Path(path_type=Path), metavar="CURRENT.json",
              help="The replicas that the partitions have now, in the same format.")
@click.option("--min-insync", type=click.IntRange(1), default=1, help="The topics' min.insync.replicas.")
@click.option("--failures", type=click.IntRange(0), help="How many brokers may fail on the way; else any number.")
@click.option("--design", type=click.Choice(["kraft", "kip236"]), default="kraft", help="Whose controller moves them.")
@click.option("--engine", type=click.Choice(["auto", "native", "spark"]), default="auto",
              help="Where shapes are checked.")
@click.option("--master", metavar="URL", help="The Spark master; implies --engine spark.")
@workers_option
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Writes the verdicts as JSON.")
def plan(plan_file: Path, current: Path, json_file: Path | None, **given: Any) -> int:
    """Says of each partition of a reassignment whether it can be cancelled at every point.

    FILE.json is what kafka-reassign-partitions takes. Each partition is reduced to its shape, its replica sets up to
    renaming of brokers, and every shape is checked once. Where the answer is no, the shortest way into trouble is told.
    """
    from floodmark.checkers.commands.plan import Settings, check_plan

    must_be_writable(json_file, [plan_file, current])
    code = 0
    for said in check_plan(plan_file, current, Settings(**given), json_file):
        if isinstance(said, str):
            click.echo(said)
        else:
            code = int(said)
    return code
