"""The command ``floodmark clean``."""

from __future__ import annotations

import click


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
