"""The options of ``floodmark simulate``."""

from __future__ import annotations

from typing import Any

import click

from floodmark.checkers.command_line.engine import spark_option, take_spark
from floodmark.checkers.command_line.parameters import (
    Count,
    Positive,
    Seconds,
    SpecName,
    coverage_option,
    set_option,
    workers_option,
)
from floodmark.checkers.project.arguments import spec_paths
from floodmark.checkers.project.spec_entries import STRATEGIES, SimulationSettings
from floodmark.checkers.report.outputs import Reports, json_option

_USUAL = SimulationSettings()
SPARK_SETTINGS = ("master", "partitions", "keep_results")


@click.command()
@click.argument("specs", nargs=-1, required=True, metavar="SPEC ...", type=SpecName())
@click.option("--walks", type=Positive, default=_USUAL.walks, show_default=True, metavar="N", help="How many walks.")
@click.option("--steps", type=Positive, default=_USUAL.steps, show_default=True, metavar="N",
              help="The most steps of a walk.")
@click.option("--seed", type=Count, default=_USUAL.seed, show_default=True, metavar="N",
              help="The same seed is the same walks, with any number of workers.")
@click.option("--strategy", type=click.Choice(STRATEGIES), default=_USUAL.strategy, show_default=True,
              help="How a walk draws its next step.")
@click.option("--only-variant", metavar="NAME", help="Only the model or design of this class name.")
@click.option("--max-seconds", type=Seconds(), help="Stops after this time.")
@coverage_option
@json_option
@set_option
@workers_option
@spark_option(*SPARK_SETTINGS)
def simulate(specs: tuple[str, ...], **given: Any) -> int:
    """Takes random walks through models, for sizes that no search finishes.

    Every safety property is evaluated in every state and step of a walk, and in the steps that it might have taken. A
    violation is made as short as it can be and reported as that of a search. Without one the verdict is undetermined
    (exit code 3): walks show nothing about the runs that they did not take.
    """
    from floodmark.checkers.commands.check import CheckRequest, check
    from floodmark.checkers.search_result import Limits
    from floodmark.checkers.verdict.check import CheckSettings

    reports = Reports.of(given)
    spark = take_spark(given | {"engine": "auto"}, *SPARK_SETTINGS) if given["spark"] else {}
    settings = CheckSettings(
        constants=dict(given["assignments"]),
        limits=Limits(seconds=given["max_seconds"]),
        workers=given["workers"],
        only_variant=given["only_variant"],
        coverage=given["coverage"],
        engine="spark" if spark else "auto",
        **spark,
        walks=SimulationSettings(given["walks"], given["steps"], given["seed"], given["strategy"]),
    )
    return int(check(CheckRequest(spec_paths(specs), None, settings, given["only_variant"] is not None), reports))
