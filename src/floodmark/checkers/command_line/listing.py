"""The commands ``floodmark list`` and ``floodmark show``, which check nothing."""

from __future__ import annotations

import os
from pathlib import Path

import click

from floodmark.checkers.command_line.parameters import SpecName, set_option
from floodmark.checkers.project.spec_names import shipped_specs, spec_path, spec_paths


@click.command("list")
@click.argument("specs", nargs=-1, metavar="[SPEC ...]", type=SpecName())
def list_(specs: tuple[str, ...]) -> None:
    """Lists specs with their models and known-bad designs.

    Without SPEC, lists all specs in ./specs or, where there is no such folder, those that come with Floodmark.
    """
    from floodmark.checkers.project.spec import find, read
    from floodmark.checkers.report.listing import listing

    folders = spec_paths(specs) if specs else [Path("specs")]
    if not specs and not os.path.lexists("specs"):
        folders = [shipped_specs()]
        click.echo("There is no folder specs here. These come with Floodmark; floodmark check NAME checks one, and")
        click.echo("floodmark init begins a project of your own.")
        click.echo()
    found = find(folders, "all")
    if not found:
        click.echo(f"There is no spec in {' '.join(map(str, folders))}; floodmark init writes a small project.")
    for path in found:
        for line in listing(read(path)):
            click.echo(line)


@click.command()
@click.argument("spec", type=SpecName())
@set_option
def show(spec: str, assignments: tuple[tuple[str, int], ...]) -> None:
    """Shows what a spec's model consists of.

    These are its variables, actions, rules, properties and constants, and the size of a state in bits.
    """
    from floodmark.checkers.project.spec import read_all
    from floodmark.checkers.report.listing import description
    from floodmark.checkers.verdict.check import Check, CheckSettings

    for each in read_all(spec_path(spec)):
        for line in description(Check(each, None, CheckSettings(constants=dict(assignments)))):
            click.echo(line)
