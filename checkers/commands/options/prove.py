"""The options of ``floodmark prove``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodmark.checkers.commands.options.engine import engine_option
from floodmark.checkers.commands.options.epilog import EPILOG
from floodmark.checkers.commands.options.parameters import (
    Positive,
    Seconds,
    SpecName,
    invariants_option,
    must_be_writable,
    set_option,
    spec_paths,
)
from floodmark.checkers.file_parameter import Named


@click.command(epilog=EPILOG)
@click.argument("specs", nargs=-1, metavar="[SPEC ...]", type=SpecName())
@click.option("--method", type=click.Choice(["induction", "bmc", "k-induction", "infer", "ranking"]),
              default="induction", help="The proof method; claims need none. A ranking proves properties of runs.")
@click.option("--depth", type=Positive, default=10,
              help="The largest number of states in a run, for bmc and k-induction.")
@click.option("--unbounded", is_flag=True, help="Proves it for every value of each constant that only bounds integers.")
@click.option("--any-size", is_flag=True,
              help="Proves it for every number of identifiers as well, such as brokers; includes --unbounded. With "
                   "--method infer, lifts what is inferred and prints it as lemmas.")
@click.option("--property", "properties", multiple=True, metavar="NAME",
              help="Proves only this property; may be repeated.")
@engine_option(**dict.fromkeys(("native", "spark", "reference"), "proofs are z3's; the engines are of floodmark check"))
@click.option("--max-seconds", "seconds", type=Seconds(), help="Stops, undetermined, after this time.")
@set_option
@invariants_option
@click.option("--only-variant", metavar="NAME", help="Only the model class or the known-bad design of this name.")
@click.option("--smt", type=Named(), metavar="DIR",
              help="Writes every obligation to DIR as an SMT-LIB 2 file; DIR must be empty.")
@click.option("--json", "json_file", type=Named(), metavar="FILE",
              help="Writes the results as JSON.")
def prove(specs: tuple[str, ...], json_file: Path | None, engine: str, **given: Any) -> int:
    """Proves properties for all states at once, and checks claims.

    Proofs and claims (Python files in specs/claims) use z3. Without SPEC, checks every claim in ./specs/claims.
    """
    from floodmark.checkers.commands.prove import run

    paths = spec_paths(specs or ("specs/claims",))
    must_be_writable(json_file, [*paths, *given["files"]])
    return run(paths, given, json_file, click.echo)
