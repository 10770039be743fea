"""The options of ``floodmark mutate``."""

from __future__ import annotations

from typing import Any

import click

from floodmark.checkers.command_line.engine import engine_option, spark_option, take_spark
from floodmark.checkers.command_line.parameters import Factor, Seconds, SpecName, echo_all, workers_option
from floodmark.checkers.project.arguments import spec_paths
from floodmark.checkers.report.outputs import json_option


@click.command()
@click.argument("specs", nargs=-1, required=True, metavar="SPEC ...", type=SpecName())
@click.option("--only", metavar="TEXT", help="Only the mutants whose line contains TEXT.")
@click.option("--list", "listing", is_flag=True, help="Lists the mutants without trying them.")
@click.option("--all", "every", is_flag=True, help="Prints the outcome of every mutant and the check that noticed it.")
@engine_option(reference="mutants are distinguished by the digests of compiled searches")
@spark_option("master")
@workers_option
@click.option("--states", type=Factor(), default=8.0, show_default=True, metavar="TIMES",
              help="Stops a mutant, undetermined, at TIMES as many states as the model has.")
@click.option("--max-seconds", "seconds", type=Seconds(), default=60.0, show_default=True,
              help="Stops each search of a mutant, undetermined, after this time.")
@click.option("--update-lock", is_flag=True, help="Records the surviving mutants in specs/floodmark.lock.")
@json_option
def mutate(specs: tuple[str, ...], **given: Any) -> int:
    """Tests whether checks notice small mistakes in a model.

    Each mutant is the model with one small change in the code that its actions run: a guard dropped or negated, a
    comparison, a set operation or a sum changed, an assignment or a call dropped, a branch forced. It is killed if a
    property is violated, the model leaves its declared types, an action never fires, a premise is never true, or a
    known-bad design of the spec is no longer caught. A mutant with the same state graph as the model is equal at this
    size. The others survive: add a property that notices them, or say in the spec why none has to:

    \b
      [mutation]
      also = ["larger.toml"]            # specs that a mutant has to survive as well
      own = true                        # only what the model adds to the models that it extends
      [[mutation.survivors]]
      reason = "why no property has to notice these"
      changes = ["Tank.drain: - require(self.level > 0)  + (dropped)"]
    """
    from floodmark.checkers.commands.mutate import MutateSettings, mutate

    spark = take_spark(given, "master")
    return echo_all(mutate(spec_paths(specs), MutateSettings(**given, **spark)))
