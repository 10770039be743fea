"""The options of ``floodmark check``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from floodmark.checkers.command_line.engine import engine_option, spark_option, take_spark
from floodmark.checkers.command_line.parameters import (
    Count,
    MemorySize,
    Seconds,
    SpecName,
    coverage_option,
    invariants_option,
    set_option,
    workers_option,
)
from floodmark.checkers.project import input_file
from floodmark.checkers.project.arguments import spec_paths
from floodmark.checkers.report.outputs import Reports, json_option

if TYPE_CHECKING:
    from floodmark.checkers.verdict.check import CheckSettings

SPARK_SETTINGS = ("master", "distribute", "partitions", "checkpoint", "resume", "keep_states", "keep_results")

@click.command()
@click.argument("specs", nargs=-1, metavar="[SPEC ...]", type=SpecName())
@click.option("--tier", type=click.Choice(["quick", "deep", "all"]),
              help="By default quick of a folder, all of a file.")
@click.option("--property", "properties", multiple=True, metavar="NAME",
              help="Only this one, and the designs that violate it.")
@click.option("--only-variant", metavar="NAME", help="Only the model or design of this class name.")
@click.option("--traces", is_flag=True, help="Prints counterexamples of known-bad designs.")
@click.option("--for", "only", multiple=True, metavar="WHAT",
              help="In steps: only b2, a variable or an expression.")
@json_option
@set_option
@invariants_option
@click.option("--deadlock", is_flag=True, help="A state without successors is a violation.")
@click.option("--symmetry/--no-symmetry", default=None,
              help="Counts states up to renaming of identifiers.")
@click.option("--max-states", type=Count, help="Stops, undetermined, after this many states.")
@click.option("--max-seconds", type=Seconds(), help="Stops, undetermined, after this time.")
@click.option("--max-memory", type=MemorySize(), help="A search that needs more continues in files.")
@workers_option
@engine_option()
@spark_option(*SPARK_SETTINGS)
@coverage_option
@click.option("--watch", is_flag=True, help="Checks again whenever a file changes.")
def check(
    specs: tuple[str, ...], tier: str | None, traces: bool, only: tuple[str, ...], watch: bool, **given: Any
) -> int:
    """Checks specs: files, rows (lease.toml@small) or folders; by default ./specs."""
    from floodmark.checkers.commands.check import CheckRequest
    from floodmark.checkers.commands.check import check as run_check

    if watch:
        from floodmark.checkers.commands.watch import watch as run_again

        run_again([each for each in sys.argv[1:] if each != "--watch"], spec_paths(specs or ("specs",)))
    reports = Reports.of(given)
    settings = _settings(given)
    shown = traces or bool(only) or settings.only_variant is not None
    asked = CheckRequest(spec_paths(specs or ("specs",)), tier, settings, shown, only)
    return int(run_check(asked, reports))


def _settings(given: dict[str, Any]) -> CheckSettings:
    from floodmark.checkers.search_result import Limits
    from floodmark.checkers.verdict.check import CheckSettings

    spark = take_spark(given, *SPARK_SETTINGS)
    if given["coverage"] and given["engine"] == "reference":
        raise click.UsageError("--coverage counts in compiled code; leave out --engine reference")
    for file in given["files"]:
        input_file.size_of(file)
    return CheckSettings(
        engine=given["engine"],
        constants=dict(given["assignments"]),
        invariant_files=given["files"],
        limits=Limits(given["max_states"], given["max_seconds"], given["max_memory"]),
        workers=given["workers"],
        symmetry=given["symmetry"],
        deadlock=given["deadlock"],
        properties=given["properties"],
        only_variant=given["only_variant"],
        coverage=given["coverage"],
        **spark,
    )
