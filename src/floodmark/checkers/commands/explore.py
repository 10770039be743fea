"""``floodmark explore``: serves the page for walking a spec's model."""

from __future__ import annotations

from pathlib import Path

import click

from floodmark.checkers.explorer.server import Explorer
from floodmark.checkers.explorer.session import Session
from floodmark.checkers.verdict.check import CheckSettings, one_check, variant_name
from floodmark.language.errors import SourceError


def explore(path: Path, only_variant: str | None, constants: dict[str, int], port: int) -> None:
    """Serves the page until the user ends it. Raises SourceError for a spec or a model that cannot be read."""
    check = one_check(path, only_variant, CheckSettings(constants=constants))
    session = Session(check.spec, check)
    session.walk(variant_name(check))  # reports an error in the model here, not on the page
    try:
        explorer = Explorer(session, port)
    except OSError as error:
        raise SourceError(f"port {port} cannot be used: {error.strerror}; choose another with --port") from None
    try:
        click.echo(f"exploring {check.spec.name} at {explorer.address}  (Ctrl-C ends)")
        explorer.run()
    except KeyboardInterrupt:
        click.echo()
