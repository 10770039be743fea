"""The options of ``floodmark init``, ``floodmark export`` and ``floodmark report``, which write files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from floodmark.checkers.command_line.parameters import SpecName, set_option
from floodmark.checkers.project.arguments import PathParameter, spec_path

if TYPE_CHECKING:
    from floodmark.checkers.commands.report import ReportKind
    from floodmark.checkers.starter.project import Ci


@click.command()
@click.argument("folder", default=".", metavar="[DIR]", type=PathParameter())
@click.option("--ci", type=click.Choice(["github", "gitlab", "none"]), default="github", show_default=True,
              help="The CI system that runs the gate.")
def init(folder: Path, ci: Ci) -> None:
    """Writes a small project into a repository.

    The project has a model, its properties, a spec with a known-bad design, and files for CI. The workflow runs the
    gate on each push and pull request, with annotations, JUnit, SARIF and the page of counterexamples;
    .githooks/pre-commit runs it before a commit. Existing files are left as they are.
    """
    from floodmark.checkers.starter.project import next_steps, write_starter

    for line in (*write_starter(folder, ci), *next_steps(folder)):
        click.echo(line)


@click.command()
@click.argument("spec", type=SpecName())
@click.option("--as", "language", required=True, type=click.Choice(["tla", "promela"]),
              help="NAME.tla and NAME.cfg, for TLC; or NAME.pml, for Spin.")
@click.option("--into", "folder", default=".", metavar="DIR", type=PathParameter(),
              help="The folder for the files; the current one by default.")
@click.option("--only-variant", metavar="NAME", help="Exports the known-bad design of this name instead of the model.")
@set_option
def export(spec: str, language: str, folder: Path, only_variant: str | None,
           assignments: tuple[tuple[str, int], ...]) -> None:
    """Writes a spec's model in TLA+ or Promela.

    An independent checker can then read it. States, depths and verdicts are the same: without symmetry, TLC finds the
    same number of distinct states as floodmark check, and Spin one more. What the language cannot express is refused,
    with file, line and reason. The files say how to run them.

    \b
    Examples:
      floodmark export alter_isr/core --as tla --into out && cd out && java -cp tla2tools.jar tlc2.TLC AlterIsr
      floodmark export kraft/quorum --as promela --only-variant VotesTwice
    """
    from floodmark.checkers.commands.export import export as write

    for line in write(spec_path(spec), language == "tla", folder, only_variant, dict(assignments)):
        click.echo(line)


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
