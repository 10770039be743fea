"""The options of ``floodmark gate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodmark.checkers.commands.options.epilog import EPILOG
from floodmark.checkers.commands.options.parameters import workers_option
from floodmark.checkers.report.outputs import Reports, report_options


@click.command(epilog=EPILOG)
@click.argument("folder", default="specs", metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--tier", type=click.Choice(["quick", "deep"]), default="quick", help="Which specs and proofs.")
@click.option("--update-lock", "update", is_flag=True, help="Accepts what is found: writes DIR/floodmark.lock.")
@click.option("--no-cache", is_flag=True, help="Finds every verdict anew, and keeps none.")
@report_options
@click.option("--engine", type=click.Choice(["auto", "native", "spark"]), default="auto",
              help="What searches; auto takes Spark for the deep tier.")
@click.option("--master", metavar="URL", help="The Spark cluster to use; local[*] when Spark is used without it.")
@workers_option
def gate(folder: Path, tier: str, update: bool, no_cache: bool, **given: Any) -> int:
    """Checks everything, and that nothing was weakened: the command for CI.

    Explores every spec of DIR (./specs without it) with its known-bad designs, asks the claims in DIR/claims, makes the
    proofs that specs list, and holds all of it against DIR/floodmark.lock: properties, verdicts, states, how often each
    action fired, premises that are never true, sources. What differs is drift, shown as was | now. Verdicts are kept,
    so that only what depends on a change is found again.

    \b
    Examples:
      floodmark gate                        everything below ./specs that is quick
      floodmark gate --update-lock          accepts what differs; commit the lock with the change
      floodmark gate specs/kraft            a part of it
      floodmark gate --tier deep            the large searches, on Spark
      floodmark gate --junit junit.xml --sarif floodmark.sarif --html report.html
    """
    from floodmark.checkers.check import Settings
    from floodmark.checkers.commands.gate import Asked
    from floodmark.checkers.commands.gate import gate as run_gate

    reports = Reports.of(given)
    asked = Asked(folder, "deep" if tier == "deep" else "quick", update, not no_cache, Settings(**given))
    return int(run_gate(asked, reports, click.echo))
