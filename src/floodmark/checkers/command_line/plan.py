"""The options of ``floodmark plan``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodmark.checkers.command_line.engine import engine_option, spark_option, take_spark
from floodmark.checkers.command_line.parameters import Count, Positive, echo_all, workers_option
from floodmark.checkers.project.arguments import PathParameter
from floodmark.checkers.report.outputs import json_option, must_be_writable


@click.command()
@click.argument("plan_file", metavar="FILE.json", type=PathParameter())
@click.option("--current", required=True, type=PathParameter(), metavar="CURRENT.json",
              help="The partitions' current replicas, in the same format.")
@click.option("--min-insync", type=Positive, default=1, help="The topics' min.insync.replicas.")
@click.option("--failures", type=Count,
              help="How many brokers may fail during the move; any number by default.")
@click.option("--design", type=click.Choice(["kraft", "kip236"]), default="kraft",
              help="The controller that moves them.")
@engine_option()
@spark_option("master")
@workers_option
@json_option
def plan(plan_file: Path, current: Path, json_file: Path | None, **given: Any) -> int:
    """Checks whether a reassignment can be cancelled at every point.

    FILE.json has the format of kafka-reassign-partitions. Each partition is reduced to its shape (its replica sets, up
    to renaming of brokers), and each shape is checked once. If the answer is no, the shortest way into trouble is
    shown.
    """
    from floodmark.checkers.commands.plan import PlanSettings, check_plan

    spark = take_spark(given, "master")
    must_be_writable(json_file, [plan_file, current])
    return echo_all(check_plan(plan_file, current, PlanSettings(**given, **spark), json_file))
