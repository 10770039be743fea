"""The options of ``floodmark check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from floodmark.checkers.commands.options.epilog import EPILOG
from floodmark.checkers.commands.options.parameters import (
    Memory,
    invariants_option,
    set_option,
    spec_paths,
    workers_option,
)
from floodmark.checkers.report.outputs import Reports, report_options
from floodmark.language.errors import SourceError

if TYPE_CHECKING:
    from floodmark.checkers.check import Settings


@click.command(epilog=EPILOG)
@click.argument("specs", nargs=-1, metavar="[SPEC ...]")
@click.option("--tier", type=click.Choice(["quick", "deep", "all"]), default="quick", help="Which specs of a folder.")
@click.option("--engine", type=click.Choice(["auto", "native", "spark", "reference"]), default="auto",
              help="What searches.")
@set_option
@invariants_option
@report_options
@click.option("--max-states", type=click.IntRange(0), help="Gives up, undetermined, after this many states.")
@click.option("--max-seconds", type=click.FloatRange(0), help="Gives up, undetermined, after this time.")
@click.option("--max-memory", type=Memory(), help="Gives up, undetermined, at this size, such as 8G.")
@workers_option
@click.option("--symmetry/--no-symmetry", default=None,
              help="Whether states are counted up to renaming of identifiers.")
@click.option("--deadlock", is_flag=True, help="A state without successors is a violation.")
@click.option("--master", metavar="URL", help="The Spark cluster to use; local[*] when Spark is used without it.")
@click.option("--distribute", type=click.Choice(["auto", "always"]), default="auto",
              help="Whether narrow levels are distributed too.")
@click.option("--partitions", type=click.IntRange(1), help="Partitions of a distributed search; one for each core.")
@click.option("--checkpoint", metavar="DIR", help="Keeps each complete level there, so that --resume can go on.")
@click.option("--resume", metavar="DIR", help="Goes on from the checkpoints there.")
@click.option("--keep-states", metavar="DIR", help="Writes the reachable states there as Parquet.")
@click.option("--keep-results", metavar="DIR", help="Adds the results to the Parquet there.")
@click.option("--only-variant", metavar="NAME", help="Only the model's class or the flawed design of this name.")
@click.option("--traces", is_flag=True, help="Prints the counterexample of every known-bad design.")
@click.option("--emit-test", is_flag=True,
              help="Prints, instead of verdicts, a pytest function that replays each counterexample in CPython.")
def check(specs: tuple[str, ...], tier: str, traces: bool, emit_test: bool, **given: Any) -> int:
    """Explores the models of specs (files or folders) and prints verdicts.

    Without SPEC, every quick spec under ./specs.
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

    for file in given["files"]:
        if not file.is_file():
            raise SourceError("there is no such file", str(file))
    return Settings(
        engine=given["engine"],
        constants=dict(given["assignments"]),
        invariant_files=given["files"],
        limits=Limits(given["max_states"], given["max_seconds"], given["max_memory"]),
        workers=given["workers"],
        symmetry=given["symmetry"],
        deadlock=given["deadlock"],
        only_variant=given["only_variant"],
        master=given["master"],
        distribute=given["distribute"],
        partitions=given["partitions"],
        checkpoint=given["checkpoint"],
        resume=given["resume"],
        keep_states=given["keep_states"],
        keep_results=given["keep_results"],
    )
