"""The options of ``floodmark report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from floodmark.checkers.project.file_parameter import PathParameter

if TYPE_CHECKING:
    from floodmark.checkers.commands.report import ReportKind


@click.command()
@click.argument("results", metavar="RESULTS.json", type=PathParameter())
@click.option("--as", "kind", required=True, type=click.Choice(["html", "sarif", "junit", "itf", "graph", "test"]),
              help="The kind of report.")
@click.option("--into", type=PathParameter(), metavar="FILE|DIR",
              help="Where to write it; standard output by default. itf needs a folder.")
def report(results: Path, kind: ReportKind, into: Path | None) -> None:
    """Makes a report of results that check, gate or prove wrote with --json.

    \b
      html    one page with verdicts, counterexamples and coverage
      sarif   unexpected results, for code scanning
      junit   the results as JUnit XML, for CI servers
      itf     each counterexample in the Informal Trace Format, in a folder
      graph   the state graph of a counterexample, or of the first check (.dot, .graphml)
      test    a pytest function for each counterexample, which replays it in CPython

    Nothing is searched again, but CPython takes the steps of every counterexample again, from sources that must be the
    same as when they were found. A graph has the states near the counterexample, if all are more than 500. RESULTS.json
    may be - for standard input.

    \b
    Examples:
      floodmark check lease.toml --json lease.json
      floodmark report lease.json --as html --into lease.html
      floodmark check lease.toml --json - | floodmark report - --as test > test_lease.py
    """
    from floodmark.checkers.commands.report import report as run

    run(results, kind, into)
