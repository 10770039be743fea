"""The options of ``floodmark explore``."""

from __future__ import annotations

import click

from floodmark.checkers.command_line.parameters import SpecName, set_option
from floodmark.checkers.project.spec_names import spec_path


@click.command()
@click.argument("spec", type=SpecName())
@click.option("--only-variant", metavar="NAME", help="Begins with the known-bad design of this name.")
@set_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port of the page; any free one by default.")
def explore(spec: str, only_variant: str | None, assignments: tuple[tuple[str, int], ...], port: int) -> None:
    """Opens a spec's model for walking, on a page that only this machine can reach.

    It shows the state, what every enabled action would change, and for every other the guard that stops it. A
    counterexample can be loaded and left at any step, a known-bad design stands beside the good one in the same state,
    and the address of the page has the whole path.

    CPython runs the model, so a breakpoint() in an action stops in this terminal when the step is taken.
    """
    from floodmark.checkers.commands.explore import explore as serve

    serve(spec_path(spec), only_variant, dict(assignments), port)
