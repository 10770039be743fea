"""The options of ``floodmark check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from floodmark.checkers import input_file
from floodmark.checkers.commands.options.engine import engine_option, master_option, require_spark
from floodmark.checkers.commands.options.epilog import EPILOG
from floodmark.checkers.commands.options.parameters import (
    Count,
    Memory,
    Positive,
    Seconds,
    SpecName,
    invariants_option,
    set_option,
    spec_paths,
    workers_option,
)
from floodmark.checkers.report.outputs import Reports, report_options

if TYPE_CHECKING:
    from floodmark.checkers.check import Settings


@click.command(epilog=EPILOG)
@click.argument("specs", nargs=-1, metavar="[SPEC ...]", type=SpecName())
@click.option("--tier", type=click.Choice(["quick", "deep", "all"]),
              help="Which specs of a folder to check, quick by default, and which rows of a file, all by default.")
@engine_option()
@set_option
@invariants_option
@report_options
@click.option("--max-states", type=Count, help="Stops, undetermined, after this many states.")
@click.option("--max-seconds", type=Seconds(), help="Stops, undetermined, after this time.")
@click.option("--max-memory", type=Memory(),
              help="The most memory for all processes, such as 8G; a search that needs more continues in files.")
@workers_option
@click.option("--symmetry/--no-symmetry", default=None,
              help="Treats states that differ only in the names of identifiers as one, or not.")
@click.option("--deadlock", is_flag=True, help="Reports a state without successors as a violation.")
@master_option
@click.option("--distribute", type=click.Choice(["auto", "always"]), default="auto",
              help="Whether to distribute narrow levels too.")
@click.option("--partitions", type=Positive,
              help="Partitions of a distributed search; by default as the expected states need, at least one per core.")
@click.option("--checkpoint", metavar="DIR", help="Saves each complete level to DIR, for --resume.")
@click.option("--resume", metavar="DIR", help="Continues from the checkpoints in DIR.")
@click.option("--keep-states", metavar="DIR", help="Writes the reachable states to DIR as Parquet.")
@click.option("--keep-results", metavar="DIR", help="Appends the results to the Parquet table in DIR.")
@click.option("--property", "properties", multiple=True, metavar="NAME",
              help="Checks only this property, and the known-bad designs that must violate it; may be repeated.")
@click.option("--only-variant", metavar="NAME",
              help="Checks only the model class or the known-bad design of this name.")
@click.option("--traces", is_flag=True, help="Prints the counterexample for every known-bad design.")
@click.option("--emit-test", is_flag=True,
              help="Instead of verdicts, prints a pytest function for each counterexample that replays it in CPython.")
def check(specs: tuple[str, ...], tier: str | None, traces: bool, emit_test: bool, **given: Any) -> int:
    """Explores the models of specs and prints verdicts.

    SPEC is a file, a row of one (lease.toml@small) or a folder. Without SPEC, checks every quick spec in ./specs.
    """
    from floodmark.checkers.commands.check import Asked
    from floodmark.checkers.commands.check import check as run_check

    reports = Reports.of(given)
    settings = _settings(given)
    shown = traces or settings.only_variant is not None
    asked = Asked(spec_paths(specs or ("specs",)), tier, settings, shown, emit_test)
    return int(run_check(asked, reports))


def _settings(given: dict[str, Any]) -> Settings:
    from floodmark.checkers.check import Settings
    from floodmark.checkers.exploration import Limits

    distributed = given["distribute"] if given["distribute"] == "always" else None
    spark = {f"--{name.replace('_', '-')}": given[name] for name in
             ("master", "partitions", "checkpoint", "resume", "keep_states", "keep_results")}
    require_spark(given["engine"], {**spark, "--distribute": distributed})
    for file in given["files"]:
        input_file.size_of(file)
    return Settings(
        engine=given["engine"],
        constants=dict(given["assignments"]),
        invariant_files=given["files"],
        limits=Limits(given["max_states"], given["max_seconds"], given["max_memory"]),
        workers=given["workers"],
        symmetry=given["symmetry"],
        deadlock=given["deadlock"],
        properties=given["properties"],
        only_variant=given["only_variant"],
        master=given["master"],
        distribute=given["distribute"],
        partitions=given["partitions"],
        checkpoint=given["checkpoint"],
        resume=given["resume"],
        keep_states=given["keep_states"],
        keep_results=given["keep_results"],
    )
