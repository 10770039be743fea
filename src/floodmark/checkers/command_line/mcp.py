"""The options of ``floodmark mcp``."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import click

from floodmark.checkers.command_line.parameters import MemorySize, Seconds
from floodmark.language.errors import SourceError


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
