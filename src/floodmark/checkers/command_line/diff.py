"""The options of ``floodmark diff``."""

from __future__ import annotations

from pathlib import Path

import click

from floodmark.checkers.command_line.parameters import Count, MemorySize, Seconds, SpecName, set_option, workers_option
from floodmark.checkers.report.outputs import edits_page_option, json_option


class _DiffCommand(click.Command):
    """A command that tells arguments before ``--`` from those behind it; options may stand anywhere."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [_BEHIND if word == "--" else word for word in args])


_BEHIND = "\0--"
"""The replacement of ``--``; no argument can have this value."""


@click.command(cls=_DiffCommand)
@click.argument("named", nargs=-1, required=True, metavar="OLD [NEW] [-- SPEC ...]", type=SpecName())
@click.option("--all", "every", is_flag=True, help="Also prints the specs in which nothing has changed.")
@set_option
@workers_option
@click.option("--max-states", type=Count, help="Ends each search at so many states, undetermined.")
@click.option("--max-seconds", type=Seconds(), help="Ends each search after this time, undetermined.")
@click.option("--max-memory", type=MemorySize(), help="The most memory for a search, such as 8G.")
@json_option
@edits_page_option
def diff(
    named: tuple[str, ...], every: bool, assignments: tuple[tuple[str, int], ...], workers: int,
    max_states: int | None, max_seconds: float | None, max_memory: int | None, json_file: Path | None,
    html_file: Path | None,
) -> int:
    """Says which behaviours an edit added and removed.

    OLD and NEW are two specs, or two commits; one commit is compared with the files as they are. The answer is exact
    within the specs' bounds: "the same" is said only where a complete search shows it, and each difference comes with a
    shortest run. What changed of actions, properties, known-bad designs and constants follows, and what makes a check
    say less than before comes first. Symmetry is not used.

    \b
    Examples:
      floodmark diff main -- specs/lease.toml      the files as they are, and those of main
      floodmark diff v1 v2                         every quick spec in ./specs, in two commits
      floodmark diff lease.toml lease_new.toml     two specs

    Exit codes: 0 nothing differs, 1 something does, 3 undetermined.
    """
    from floodmark.checkers.commands.diff import DiffRequest
    from floodmark.checkers.commands.diff import diff as run
    from floodmark.checkers.search_result import Limits

    limits = Limits(states=max_states, seconds=max_seconds, memory=max_memory)
    place = named.index(_BEHIND) if _BEHIND in named else len(named)
    behind = named[place + 1 :] if place < len(named) else None
    asked = DiffRequest(named[:place], behind, every, dict(assignments), limits, workers, json_file, html_file)
    return int(run(asked, click.echo))
