"""The options of ``floodmark lsp``."""

from __future__ import annotations

from importlib.util import find_spec

import click

from floodmark.checkers.command_line.parameters import MemorySize, Seconds
from floodmark.language.errors import SourceError


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
