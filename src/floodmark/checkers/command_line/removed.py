"""Options of earlier versions: using one is an error that names what replaces it."""

from __future__ import annotations

import click

_REPORT = "write the results with --json FILE, then floodmark report FILE --as"
_REPLACED = {
    "--junit": f"{_REPORT} junit",
    "--sarif": f"{_REPORT} sarif",
    "--html": f"{_REPORT} html",
    "--itf": f"{_REPORT} itf --into DIR",
    "--graph": f"{_REPORT} graph --into FILE.dot",
    "--emit-test": f"{_REPORT} test",
    "--junit-family": "JUnit XML always keeps to Jenkins's schema, which every reader accepts",
    "--engine": "proofs are z3's; the engines are of floodmark check",
    "--tla": "--as tla",
    "--promela": "--as promela",
    "-o": "--into DIR",
    "--master": "--spark master=URL",
    "--distribute": "--spark distribute=always",
    "--partitions": "--spark partitions=N",
    "--checkpoint": "--spark checkpoint=DIR",
    "--resume": "--spark resume=DIR",
    "--keep-states": "--spark keep_states=DIR",
    "--keep-results": "--spark keep_results=DIR",
}


class Command(click.Command):
    """A command some of whose options have been replaced."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            instead = _REPLACED.get(error.option_name)
            if instead is None:
                raise
            raise click.UsageError(f"there is no option {error.option_name}; instead: {instead}", ctx) from None
