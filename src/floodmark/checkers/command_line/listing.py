"""The commands ``floodmark list``, ``show``, ``schema`` and ``clean``, which check nothing."""

from __future__ import annotations

import os
from pathlib import Path

import click

from floodmark.checkers.command_line.parameters import SpecName, set_option
from floodmark.checkers.project.arguments import shipped_specs, spec_path, spec_paths
from floodmark.checkers.report.schemas import KINDS, schema_text


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


@click.command()
@click.argument("kind", type=click.Choice(KINDS), default="results")
def schema(kind: str) -> None:
    """Prints the JSON schema of what --json writes.

    `results` is that of check, simulate, gate and prove, `progress` that of check while it runs, `mutation` that of
    mutate, `traces` and `metadata-log` those of conform, `plan` that of plan, `edits` that of diff. The key "schema" of
    an output names it, with its version.
    """
    click.echo(schema_text(kind), nl=False)


@click.command()
@click.argument("folders", nargs=-1, metavar="[FOLDER ...]")
def clean(folders: tuple[str, ...]) -> None:
    """Removes what killed searches on Spark have left on this machine.

    It says what it leaves, and why. FOLDER are the scratch folders of Spark's workers here; by default those of
    FLOODMARK_LOCAL_DIR or SPARK_LOCAL_DIRS, or the system's folder for temporary files.
    """
    from floodmark.checkers.spark.leftovers import cleared
    from floodmark.checkers.spark.tasks import local_folders

    places = local_folders(",".join(folders) or None, named=bool(folders))
    found = list(cleared(places))
    for folder, why in found:
        click.echo(f"left {folder}: {why}" if why else f"removed {folder}")
    if not found:
        click.echo(f"Nothing was left in {', '.join(map(str, places))}.")
    if any(why for _, why in found):
        click.echo("Remove a folder by hand if you know that its search has ended.")
