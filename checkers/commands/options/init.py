"""The options of ``floodmark init``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from floodmark.checkers.starter.project import Ci


@click.command()
@click.argument("folder", default=".", metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--ci", type=click.Choice(["github", "gitlab", "none"]), default="github", show_default=True,
              help="Whose continuous integration runs the gate.")
def init(folder: Path, ci: Ci) -> None:
    """Writes a small project into a repository: a model, its properties, a spec with a known-bad design, and CI.

    The workflow runs the gate on each push and pull request, with annotations, JUnit, SARIF and the page of
    counterexamples; .githooks/pre-commit runs it before a commit. A file that is there already is left as it is.
    """
    from floodmark.checkers.starter.project import next_steps, write_starter

    for line in (*write_starter(folder, ci), *next_steps(folder)):
        click.echo(line)
