"""The option ``--engine``, with the same choices and the same meaning for every command, and what belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from floodmark.checkers.project.input_limits import brief
from floodmark.language.errors import SourceError

F = TypeVar("F", bound=Callable[..., Any])

ENGINES = ("auto", "native", "spark", "reference")
_HELP = "auto, native, spark, or reference (CPython)."


def spark_option(*names: str) -> Callable[[F], F]:
    """The option ``--spark``, with the settings of these names."""
    return click.option("--spark", "spark", multiple=True, type=_Setting(names),
                        help="Works on Spark, with this setting; repeatable.")


def engine_option(**refused: str) -> Callable[[F], F]:
    """The option; ``refused`` are the engines that a command cannot use, with reasons."""

    def usable(context: click.Context, parameter: click.Parameter, value: str) -> str:
        if value in refused:
            raise click.BadParameter(f"{value}: {refused[value]}", context, parameter)
        return value

    return click.option("--engine", type=click.Choice(ENGINES), default="auto", callback=usable, metavar="NAME",
                        help=_HELP)


class _Setting(click.ParamType[tuple[str, Any]]):
    """A setting of Spark with its value. ``names`` are those that a command has."""

    name = "NAME=VALUE"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        from floodmark.checkers.project.properties import did_you_mean
        from floodmark.checkers.project.spec_keys import SPARK
        from floodmark.checkers.project.spec_values import POSITIVE, TEXT, SpecReader

        if isinstance(value, tuple):
            return value
        name, sign, text = str(value).partition("=")
        name = name.strip().replace("-", "_")
        if not sign or not text:
            self.fail(f"{brief(value)} is not NAME=VALUE", param, ctx)
        if name not in self.names:
            self.fail(f"there is no setting {brief(name)}{did_you_mean(name, self.names)}", param, ctx)
        try:
            kind = next((key.kind for key in SPARK if key.name == name), TEXT)
            given = int(text) if kind is POSITIVE and text.isascii() and text.isdigit() else text
            return name, kind.read(SpecReader(Path("--spark"), {}), given, name)
        except SourceError as error:
            self.fail(error.message, param, ctx)


def take_spark(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Takes the settings of Spark out of a command's options: those of ``--spark``, which implies the engine, over
    those of the project, as far as they are among ``names``. Refuses them next to another engine, which would ignore
    them."""
    from floodmark.checkers.project.modules import Project
    from floodmark.checkers.project.spec import tool_settings

    asked = dict(given.pop("spark"))
    engine = given["engine"]
    if asked and engine not in ("auto", "spark"):
        raise click.UsageError(f"--spark is for Spark; leave out --engine {engine}, or --spark")
    if asked:
        given["engine"] = "spark"
    own = tool_settings(Project.of(Path.cwd() / "_").root).get("spark", {}) if engine in ("auto", "spark") else {}
    return {**{name: value for name, value in own.items() if name in names}, **asked}
