"""``floodmark explore``: serves the page in which one walks a spec's model."""

from __future__ import annotations

from pathlib import Path

import click

from floodmark.checkers.check import Settings, checks, variant_name
from floodmark.checkers.explore.server import Explorer
from floodmark.checkers.explore.session import Session
from floodmark.checkers.properties import did_you_mean
from floodmark.checkers.spec import read
from floodmark.language.errors import SourceError


def explore(path: Path, only_variant: str | None, constants: dict[str, int], port: int) -> None:
    """Serves the page until the user ends it. Raises SourceError for a spec or a model that cannot be read."""
    spec = read(path)
    every = {variant_name(check): check for check in checks(spec, Settings(constants=constants))}
    name = only_variant or next(iter(every))
    if name not in every:
        raise SourceError(f"there is no variant {name!r}{did_you_mean(name, every)}", str(path))
    session = Session(spec, every[name])
    session.walk(name)  # an error in the model is told here, not on the page
    try:
        explorer = Explorer(session, port)
    except OSError as error:
        raise SourceError(f"port {port} cannot be used: {error.strerror}; choose another with --port") from None
    try:
        click.echo(f"exploring {spec.name} at {explorer.address}  (Ctrl-C ends)")
        explorer.run()
    except KeyboardInterrupt:
        click.echo()
