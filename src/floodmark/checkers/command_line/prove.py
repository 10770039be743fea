"""The options of ``floodmark prove``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodmark.checkers.command_line.parameters import (
    Positive,
    Seconds,
    SpecName,
    invariants_option,
    set_option,
    workers_option,
)
from floodmark.checkers.project.arguments import PathParameter, spec_paths
from floodmark.checkers.report.outputs import json_option, must_be_writable


@click.command()
@click.argument("specs", nargs=-1, metavar="[SPEC ...]", type=SpecName())
@click.option("--proof", metavar="NAME",
              help="Only the listed proof of this name, or those whose names begin with it.")
@click.option("--find", is_flag=True,
              help="Searches for new answers to obligations of any size, and writes them beside the spec.")
@click.option("--method", type=click.Choice(["induction", "bmc", "k-induction", "infer", "ranking"]),
              help="The proof method; claims need none. A ranking proves liveness properties. Default: induction.")
@click.option("--depth", type=Positive,
              help="The largest number of states in a run, for bmc and k-induction. Default: 10.")
@click.option("--after-walks", type=Positive, metavar="N",
              help="For bmc: begins at the ends of the deepest runs of N random walks.")
@click.option("--unbounded", is_flag=True, help="Proves it for every value of each constant that only bounds integers.")
@click.option("--any-size", is_flag=True,
              help="Proves it for every number of identifiers as well, such as brokers; includes --unbounded. With "
                   "--method infer, lifts what is inferred and prints it as lemmas.")
@click.option("--property", "properties", multiple=True, metavar="NAME",
              help="Proves only this property; may be repeated.")
@workers_option
@click.option("--max-seconds", "seconds", type=Seconds(), help="Stops, undetermined, after this time.")
@set_option
@invariants_option
@click.option("--only-variant", metavar="NAME", help="Only the model class or the known-bad design of this name.")
@click.option("--smt", type=PathParameter(), metavar="DIR",
              help="Writes every obligation to DIR as an SMT-LIB 2 file; DIR must be empty.")
@json_option
def prove(specs: tuple[str, ...], json_file: Path | None, **given: Any) -> int:
    """Proves properties for all states at once, and checks claims.

    Makes the proofs that SPEC lists or, with --method and other options, the proof that these describe. Proofs and
    claims (Python files in specs/claims) use z3. Without SPEC, checks every claim in ./specs/claims.
    """
    from floodmark.checkers.commands.prove import run

    paths = spec_paths(specs or ("specs/claims",))
    must_be_writable(json_file, [*paths, *given["files"]])
    return run(paths, given, json_file, click.echo)
