"""The command ``floodmark``."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from typing import Any

import click

from floodmark.checkers import interrupts
from floodmark.checkers.command_line.check import check
from floodmark.checkers.command_line.conform import conform
from floodmark.checkers.command_line.diff import diff
from floodmark.checkers.command_line.gate import gate
from floodmark.checkers.command_line.listing import clean, list_, schema, show
from floodmark.checkers.command_line.mutate import mutate
from floodmark.checkers.command_line.plan import plan
from floodmark.checkers.command_line.prove import prove
from floodmark.checkers.command_line.servers import explore, lsp, mcp
from floodmark.checkers.command_line.simulate import simulate
from floodmark.checkers.command_line.writers import export, init, report
from floodmark.checkers.report import colour
from floodmark.checkers.verdict.result import MEANINGS, ExitCode
from floodmark.language.errors import SourceError
from floodmark.language.source import TOO_DEEP


def main() -> None:
    """Runs the command and ends the process with one of the exit codes."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - whoever closed it wants the exit code alone
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may not have every character of a name
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
        interrupts.tell("interrupted")
        code = ExitCode.INTERRUPTED
    except Exception as error:
        code = _of_other_error(error)
    sys.exit(int(_flushed(code) or 0))


def _of_other_error(error: Exception) -> ExitCode:
    """Says what went wrong, and returns the exit code. What fails while an interrupt is under way, such as the clearing
    up of a library that it came upon, is part of the interrupt."""
    if interrupts.is_behind(error):
        interrupts.tell("interrupted")
        return ExitCode.INTERRUPTED
    if isinstance(error, OSError) and error.errno in _REFUSALS:
        place = f"{error.filename}: " if error.filename is not None else ""
        click.echo(f"error: {place}{error.strerror}", err=True)
        return ExitCode.USER_ERROR
    if isinstance(error, RecursionError):
        click.echo(f"error: {_DEEP}", err=True)
        return ExitCode.USER_ERROR
    return _internal(error)


_REFUSALS = (
    errno.EACCES, errno.EDQUOT, errno.EEXIST, errno.EFBIG, errno.EIO, errno.EISDIR, errno.ELOOP, errno.EMFILE,
    errno.ENAMETOOLONG, errno.ENFILE, errno.ENOENT, errno.ENOSPC, errno.ENOTDIR, errno.EPERM, errno.EROFS,
)  # fmt: skip
"""Errors of the system about files and disks. Any other error of the system counts as a fault of this program."""


_DEEP = f"{TOO_DEEP}, in a function with the helpers that it calls; compute parts of it in local names"


def _internal(error: Exception) -> ExitCode:
    click.echo(f"internal error in floodmark: {type(error).__name__}: {error}", err=True)
    traceback.print_exc()
    return ExitCode.INTERNAL_ERROR


def _flushed(code: int) -> int:
    """The exit code when everything is written; another one if standard output takes no more, as on a full disk."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _drop_output()
        if isinstance(error, BrokenPipeError):
            return ExitCode.BROKEN_PIPE
        click.echo(f"error: standard output: {error.strerror}", err=True)
        return ExitCode.USER_ERROR
    return code


def _drop_output() -> None:
    """Discards pending output, so that Python does not try to write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Command(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        ctx.color = colour.colour_setting(os.environ)
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click itself would exit with 1, which means violated
            _drop_output()
            raise click.exceptions.Exit(ExitCode.BROKEN_PIPE) from None


_EXIT_CODES = "\b\nExit codes:\n" + "\n".join(f"  {int(code):<3} {text}" for code, text in MEANINGS.items())


@click.group(cls=_Command, epilog=_EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="floodmark")
def command() -> None:
    """Checks replication protocols written as plain Python classes."""


for each in (
    init, check, simulate, explore, report, gate, diff, mutate, export, list_, show, plan, prove, conform, schema, mcp,
    lsp, clean,
):  # fmt: skip
    command.add_command(each)
