"""The command ``floodmark``."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import click

from floodmark.checkers.commands.options.check import check
from floodmark.checkers.commands.options.conform import conform
from floodmark.checkers.commands.options.epilog import EPILOG
from floodmark.checkers.commands.options.explore import explore
from floodmark.checkers.commands.options.export import export
from floodmark.checkers.commands.options.gate import gate
from floodmark.checkers.commands.options.init import init
from floodmark.checkers.commands.options.listing import list_, show
from floodmark.checkers.commands.options.mutate import mutate
from floodmark.checkers.commands.options.plan import plan
from floodmark.checkers.commands.options.prove import prove
from floodmark.checkers.report import colour
from floodmark.checkers.result import ExitCode
from floodmark.language.errors import SourceError


def main() -> None:
    """Runs the command and ends the process with one of the exit codes."""
    try:
        code = command.main(standalone_mode=False)
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    except click.ClickException as error:
        error.show()
        code = ExitCode.USER_ERROR
    except SourceError as error:
        click.echo(f"error: {error}", err=True)
        code = ExitCode.USER_ERROR
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = ExitCode.INTERRUPTED
    except Exception as error:
        click.echo(f"internal error in floodmark: {type(error).__name__}: {error}", err=True)
        traceback.print_exc()
        code = ExitCode.INTERNAL_ERROR
    sys.stdout.flush()
    sys.exit(int(code or 0))


class _Command(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        ctx.color = colour.wanted(os.environ)
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click itself would exit with 1, which means violated
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be flushed
            raise click.exceptions.Exit(ExitCode.BROKEN_PIPE) from None


@click.group(cls=_Command, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="floodmark")
def command() -> None:
    """Checks replication protocols written as plain Python classes."""


for each in (init, check, explore, gate, mutate, export, list_, show, plan, prove, conform):
    command.add_command(each)
