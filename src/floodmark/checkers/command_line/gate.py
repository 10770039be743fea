"""The options of ``floodmark gate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodmark.checkers.command_line.engine import engine_option, spark_option, take_spark
from floodmark.checkers.command_line.parameters import MemorySize, Seconds, workers_option
from floodmark.checkers.project.arguments import PathParameter
from floodmark.checkers.report.outputs import Reports, report_options


@click.command()
@click.argument("folder", default="specs", metavar="[DIR|SPEC]", type=PathParameter())
@click.option("--tier", type=click.Choice(["quick", "deep"]), default="quick", help="Which specs and proofs to check.")
@click.option("--update-lock", "update", is_flag=True, help="Accepts the results: writes DIR/floodmark.lock.")
@click.option("--against", metavar="REF", help="Also compares with a commit, as floodmark diff REF does.")
@click.option("--no-cache", is_flag=True, help="Neither uses cached verdicts nor caches new ones.")
@report_options
@engine_option(reference="it would take hours for what a gate checks; use floodmark check")
@spark_option("master", "distribute", "partitions")
@workers_option
@click.option("--max-seconds", type=Seconds(),
              help="Ends the whole run after this time; checks without a verdict are then undetermined.")
@click.option("--max-memory", type=MemorySize(), help="The most memory for all processes, such as 8G.")
def gate(folder: Path, tier: str, update: bool, against: str | None, no_cache: bool, **given: Any) -> int:
    """Checks everything, and that no check was weakened.

    This is the command for CI. It checks every spec in DIR (default: ./specs) with its known-bad designs, checks the
    claims in DIR/claims, runs the proofs that specs list, and compares all of it with DIR/floodmark.lock: properties,
    verdicts, number of states, how often each action fired, premises that are never true, sources. Each difference is
    drift, shown as was | now. Verdicts are cached, so only what depends on a change is checked again. Limits of the
    whole run may also be in pyproject.toml: [tool.floodmark.gate.limits] with seconds = 900 and memory = "8G".

    \b
    Examples:
      floodmark gate                        every quick spec in ./specs
      floodmark gate --update-lock          accepts the differences; commit the lock with the change
      floodmark gate specs/kraft            only a part, which may be one spec
      floodmark gate --tier deep            the large searches, on Spark
      floodmark gate --against origin/main  also says which behaviours the change adds and removes
      floodmark gate --junit junit.xml --sarif floodmark.sarif --html report.html
    """
    from floodmark.checkers.commands.gate import GateRequest
    from floodmark.checkers.commands.gate import gate as run_gate
    from floodmark.checkers.search_result import Limits
    from floodmark.checkers.verdict.check import CheckSettings

    reports = Reports.of(given)
    spark = take_spark(given, "master", "distribute", "partitions")
    limits = Limits(seconds=given.pop("max_seconds"), memory=given.pop("max_memory"))
    settings = CheckSettings(**given, **spark, limits=limits)
    asked = GateRequest(folder, "deep" if tier == "deep" else "quick", update, not no_cache, settings, against)
    return int(run_gate(asked, reports, click.echo))
