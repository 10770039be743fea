"""The options of ``floodmark export``."""

from __future__ import annotations

from pathlib import Path

import click

from floodmark.checkers.command_line.parameters import SpecName, set_option
from floodmark.checkers.project.file_parameter import PathParameter
from floodmark.checkers.project.spec_names import spec_path


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
