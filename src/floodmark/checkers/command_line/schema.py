"""The command ``floodmark schema``."""

from __future__ import annotations

import click

from floodmark.checkers.report.schemas import KINDS, schema_text


@click.command()
@click.argument("kind", type=click.Choice(KINDS), default="results")
def schema(kind: str) -> None:
    """Prints the JSON schema of what --json writes.

    `results` is that of check, simulate, gate and prove, `progress` that of check while it runs, `mutation` that of
    mutate, `traces` and `metadata-log` those of conform, `plan` that of plan, `edits` that of diff. The key "schema" of
    an output names it, with its version.
    """
    click.echo(schema_text(kind), nl=False)
