"""The option ``--engine``, with the same choices and the same meaning for every command, and what belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

ENGINES = ("auto", "native", "spark", "reference")
_HELP = (
    "What does the work, and where: native (machine code on this machine), spark (the same on a cluster), "
    "reference (CPython on this machine); auto chooses."
)

master_option = click.option(
    "--master", metavar="URL", help="The Spark cluster to use, local[*] by default; implies --engine spark."
)


def engine_option(**refused: str) -> Callable[[F], F]:
    """The option; ``refused`` are the engines that a command cannot use, with reasons."""

    def usable(context: click.Context, parameter: click.Parameter, value: str) -> str:
        if value in refused:
            raise click.BadParameter(f"{value}: {refused[value]}", context, parameter)
        return value

    return click.option("--engine", type=click.Choice(ENGINES), default="auto", callback=usable, help=_HELP)


def require_spark(engine: str, given: Mapping[str, object]) -> None:
    """Refuses options of the Spark engine, by their names, next to another engine, which would ignore them."""
    for name, value in given.items():
        if value is not None and engine not in ("auto", "spark"):
            raise click.UsageError(f"{name} is for Spark; leave out --engine {engine}, or {name}")
