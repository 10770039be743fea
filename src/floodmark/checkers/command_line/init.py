"""The options of ``floodmark init``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from floodmark.checkers.starter.project import Ci
from floodmark.checkers.project.file_parameter import PathParameter


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
