"""The options of ``floodmark plan``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodmark.checkers.commands.options.engine import engine_option, master_option, require_spark
from floodmark.checkers.commands.options.epilog import EPILOG
from floodmark.checkers.commands.options.parameters import Count, Positive, must_be_writable, workers_option
from floodmark.checkers.file_parameter import Named


@click.command(epilog=EPILOG)
@click.argument("plan_file", metavar="FILE.json", type=Named())
@click.option("--current", required=True, type=Named(), metavar="CURRENT.json",
              help="The partitions' current replicas, in the same format.")
@click.option("--min-insync", type=Positive, default=1, help="The topics' min.insync.replicas.")
@click.option("--failures", type=Count,
              help="How many brokers may fail during the move; any number by default.")
@click.option("--design", type=click.Choice(["kraft", "kip236"]), default="kraft",
              help="The controller that moves them.")
@engine_option()
@master_option
@workers_option
@click.option("--json", "json_file", type=Named(), metavar="FILE",
              help="Writes the verdicts as JSON.")
def plan(plan_file: Path, current: Path, json_file: Path | None, **given: Any) -> int:
    """Checks whether a reassignment can be cancelled at every point.

    FILE.json has the format of kafka-reassign-partitions. Each partition is reduced to its shape (its replica sets, up
    to renaming of brokers), and each shape is checked once. If the answer is no, the shortest way into trouble is
    shown.
    """
    from floodmark.checkers.commands.plan import Settings, check_plan

    require_spark(given["engine"], {"--master": given["master"]})
    must_be_writable(json_file, [plan_file, current])
    code = 0
    for said in check_plan(plan_file, current, Settings(**given), json_file):
        if isinstance(said, str):
            click.echo(said)
        else:
            code = int(said)
    return code
