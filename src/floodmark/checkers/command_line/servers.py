"""The options of ``floodmark explore``, ``floodmark lsp`` and ``floodmark mcp``, which serve a browser, an editor and
an assistant.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import click

from floodmark.checkers.command_line.parameters import MemorySize, Seconds, SpecName, set_option
from floodmark.checkers.project.arguments import spec_path
from floodmark.language.errors import SourceError


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


@click.command()
@click.option("--max-seconds", type=Seconds(), default=30.0, show_default=True, help="The most time of a check.")
@click.option("--max-memory", type=MemorySize(), default=2 << 30, show_default="2G", help="The most memory of a check.")
def lsp(max_seconds: float, max_memory: int) -> None:
    """Serves an editor, by the Language Server Protocol.

    The connection is standard input and output. Specs and models are checked when they are opened or saved: what is
    refused, violated, vacuous or never fires shows at its line. A variable's type and bits show under the pointer.
    """
    if find_spec("pygls") is None:
        raise SourceError("this needs the package pygls: pip install 'floodmark[editor]'")
    from floodmark.checkers.assistants.budget import Budget
    from floodmark.checkers.editor.server import serve

    serve(Budget(max_seconds, max_memory))


@click.command()
@click.argument("project", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--max-seconds", type=Seconds(), default=60.0, show_default=True, help="The most time of a call.")
@click.option("--max-memory", type=MemorySize(), default=4 << 30, show_default="4G", help="The most memory of a call.")
def mcp(project: Path, max_seconds: float, max_memory: int) -> None:
    """Serves the commands to an assistant, by the Model Context Protocol.

    The connection is standard input and output. A call names specs and recorded runs of PROJECT (by default this
    folder), and no other files; each runs in a process of its own, within its time and memory.
    """
    if find_spec("mcp") is None:
        raise SourceError("this needs the package mcp: pip install 'floodmark[assistants]'")
    from floodmark.checkers.assistants.budget import Budget
    from floodmark.checkers.assistants.server import serve

    os.chdir(project)
    serve(Path.cwd(), Budget(max_seconds, max_memory))
