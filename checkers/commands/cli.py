"""The command ``floodmark``."""

from __future__ import annotations

import itertools
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from floodmark.checkers.report.outputs import Reports, report_options, write_reports
from floodmark.checkers.result import MEANINGS, CheckResult, ExitCode, worst
from floodmark.language.errors import SourceError

if TYPE_CHECKING:
    from floodmark.checkers.run import Check, Settings
    from floodmark.checkers.spec import Spec

_EXIT_CODES = "\b\nExit codes:\n" + "\n".join(f"  {int(code):<3} {text}" for code, text in MEANINGS.items())


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
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click itself would end with 1, which means violated
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be flushed
            raise click.exceptions.Exit(ExitCode.BROKEN_PIPE) from None


@click.group(cls=_Command, epilog=_EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="floodmark")
def command() -> None:
    """Checks replication protocols that are written as plain Python classes."""


class _Memory(click.ParamType[int]):
    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from floodmark.checkers.spec import parse_memory

        try:
            return parse_memory(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _Assignment(click.ParamType[tuple[str, int]]):
    name = "NAME=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        name, _, text = str(value).partition("=")
        if text in ("true", "false"):
            return name.strip(), text == "true"
        try:
            return name.strip(), int(text)
        except ValueError:
            self.fail(f"{value!r} is no NAME=VALUE with a whole number, true or false", param, ctx)


@command.command(epilog=_EXIT_CODES)
@click.argument("specs", nargs=-1, metavar="[SPEC ...]")
@click.option("--tier", type=click.Choice(["quick", "deep", "all"]), default="quick", help="Which specs of a folder.")
@click.option("--engine", type=click.Choice(["auto", "native", "spark", "reference"]), default="auto",
              help="What searches.")
@click.option("--set", "assignments", type=_Assignment(), multiple=True, help="Sets a constant of the model.")
@click.option("--invariants", "files", type=click.Path(path_type=Path), multiple=True, metavar="FILE.py",
              help="Adds the properties of a file.")
@report_options
@click.option("--max-states", type=click.IntRange(0), help="Gives up, undetermined, after this many states.")
@click.option("--max-seconds", type=click.FloatRange(0), help="Gives up, undetermined, after this time.")
@click.option("--max-memory", type=_Memory(), help="Gives up, undetermined, at this size, such as 8G.")
@click.option("--workers", type=click.IntRange(0), default=0, help="Worker processes; 0 means one for each core.")
@click.option("--symmetry/--no-symmetry", default=None,
              help="Whether states are counted up to renaming of identifiers.")
@click.option("--deadlock", is_flag=True, help="A state without successors is a violation.")
@click.option("--master", metavar="URL", help="The Spark cluster to use; local[*] when Spark is used without it.")
@click.option("--distribute", type=click.Choice(["auto", "always"]), default="auto",
              help="Whether narrow levels are distributed too.")
@click.option("--partitions", type=click.IntRange(1), help="Partitions of a distributed search; one for each core.")
@click.option("--checkpoint", metavar="DIR", help="Keeps each complete level there, so that --resume can go on.")
@click.option("--resume", metavar="DIR", help="Goes on from the checkpoints there.")
@click.option("--keep-states", metavar="DIR", help="Writes the reachable states there as Parquet.")
@click.option("--keep-results", metavar="DIR", help="Adds the results to the Parquet there.")
@click.option("--only-variant", metavar="NAME", help="Only the model's class or the flawed design of this name.")
@click.option("--traces", is_flag=True, help="Prints the counterexample of every known-bad design.")
@click.option("--emit-test", is_flag=True,
              help="Prints, instead of verdicts, a pytest function that replays each counterexample in CPython.")
def check(specs: tuple[str, ...], tier: str, traces: bool, emit_test: bool, **given: Any) -> int:
    """Explores the models of specs (files or folders) and prints verdicts.

    Without SPEC, every quick spec under ./specs.
    """
    from floodmark.checkers.report.progress import progress
    from floodmark.checkers.run import run
    from floodmark.checkers.spec import find

    reports = Reports.of(given)
    settings = _settings(given)
    paths = find(_existing(specs or ("specs",)), tier)
    reports.must_be_writable([*paths, *settings.invariant_files])
    broken, every = _plan(paths, settings)
    results: list[CheckResult] = []
    line = progress()
    shown = traces or settings.only_variant is not None
    try:
        for result in itertools.chain(broken, run(every, line.show)):
            line.clear()
            results.append(result)
            _tell(result, not emit_test and shown, emit_test)
    except KeyboardInterrupt:
        under_way = line.clear()
        click.echo(f"interrupted: {len(results)} of {len(broken) + len(every)} checks ended", err=True)
        if under_way:
            click.echo(f"the last figures of a search that did not end: {under_way}", err=True)
        raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None
    code = _emit_test(results) if emit_test else _conclude(results, tier, shown)
    return worst([code, write_reports(reports, results)])


def _must_be_writable(path: Path | None, inputs: Sequence[Path]) -> None:
    """Refuses a file for results that cannot be written or is an input."""
    from floodmark.checkers.report import atomic_file

    if path is not None:
        atomic_file.must_be_writable(path, inputs)


def _settings(given: dict[str, Any]) -> Settings:
    from floodmark.checkers.exploration import Limits
    from floodmark.checkers.run import Settings

    for file in given["files"]:
        if not file.is_file():
            raise SourceError("there is no such file", str(file))
    return Settings(
        engine=given["engine"],
        constants=dict(given["assignments"]),
        invariant_files=given["files"],
        limits=Limits(given["max_states"], given["max_seconds"], given["max_memory"]),
        workers=given["workers"],
        symmetry=given["symmetry"],
        deadlock=given["deadlock"],
        only_variant=given["only_variant"],
        master=given["master"],
        distribute=given["distribute"],
        partitions=given["partitions"],
        checkpoint=given["checkpoint"],
        resume=given["resume"],
        keep_states=given["keep_states"],
        keep_results=given["keep_results"],
    )


def _existing(names: Sequence[str]) -> list[Path]:
    """The paths that the arguments mean; ``alter_isr/core`` means ``specs/alter_isr/core.toml``."""
    return [_existing_path(name) for name in names]


def _existing_path(name: str) -> Path:
    from floodmark.checkers.properties import did_you_mean

    path = Path(name)
    for candidate in (path, Path("specs") / f"{name}.toml", Path("specs") / name):
        if candidate.exists():
            return candidate
    have = [spec.relative_to("specs").with_suffix("").as_posix() for spec in sorted(Path("specs").rglob("*.toml"))]
    raise SourceError(f"there is no spec or folder {name!r} here{did_you_mean(name, have)}")


def _plan(paths: Sequence[Path], settings: Settings) -> tuple[list[CheckResult], list[Check]]:
    """The checks of all specs, and a result for each spec that cannot be read."""
    from floodmark.checkers.properties import did_you_mean
    from floodmark.checkers.run import checks, failed, must_matter, variant_name
    from floodmark.checkers.spec import read

    broken: list[CheckResult] = []
    specs: list[Spec] = []
    for path in paths:
        try:
            specs.append(read(path))
        except SourceError as error:
            broken.append(failed(path, error))
    every = [check for spec in specs for check in checks(spec, settings)]
    wanted = settings.only_variant
    if wanted is not None and specs and not every:
        from dataclasses import replace

        names = [variant_name(check) for spec in specs for check in checks(spec, replace(settings, only_variant=None))]
        raise SourceError(f"no spec has a variant {wanted!r}{did_you_mean(wanted, dict.fromkeys(names))}")
    if not broken:
        must_matter(settings.invariant_files, every)
    return broken, every


def _tell(result: CheckResult, traces: bool, aside: bool) -> None:
    """Prints a result; ``aside`` on standard error, where standard output is for something else."""
    from floodmark.checkers.report import text

    for line in text.lines(result, traces):
        click.echo(line, err=aside)
    if result.traceback:
        click.echo(result.traceback, err=True)
    sys.stdout.flush()


def _emit_test(results: Sequence[CheckResult]) -> ExitCode:
    from floodmark.checkers.report.replay import test_module

    source = test_module(results)
    click.echo(source or "no counterexample was found, so there is no test", nl=not source, err=not source)
    return worst(result.exit_code for result in results)


def _conclude(results: Sequence[CheckResult], tier: str, traces: bool) -> ExitCode:
    from floodmark.checkers.report import text

    code = worst(result.exit_code for result in results)
    if not results:
        click.echo(f"nothing was checked: there is no {'' if tier == 'all' else f'{tier} '}spec here")
        return code
    if not traces:
        for line in text.hint(results):
            click.echo(line)
    click.echo(text.summary(results, code))
    return code


@command.command(epilog=_EXIT_CODES)
@click.argument("folder", default="specs", metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--tier", type=click.Choice(["quick", "deep"]), default="quick", help="Which specs and proofs.")
@click.option("--update-lock", "update", is_flag=True, help="Accepts what is found: writes DIR/floodmark.lock.")
@click.option("--no-cache", is_flag=True, help="Finds every verdict anew, and keeps none.")
@report_options
@click.option("--engine", type=click.Choice(["auto", "native", "spark"]), default="auto",
              help="What searches; auto takes Spark for the deep tier.")
@click.option("--master", metavar="URL", help="The Spark cluster to use; local[*] when Spark is used without it.")
@click.option("--workers", type=click.IntRange(0), default=0, help="Worker processes; 0 means one for each core.")
def gate(folder: Path, tier: str, update: bool, no_cache: bool, **given: Any) -> int:
    """Checks everything, and that nothing was weakened: the command for CI.

    Explores every spec of DIR (./specs without it) with its known-bad designs, asks the claims in DIR/claims, makes the
    proofs that specs list, and holds all of it against DIR/floodmark.lock: properties, verdicts, states, how often each
    action fired, premises that are never true, sources. What differs is drift, shown as was | now. Verdicts are kept,
    so that only what depends on a change is found again.

    \b
    Examples:
      floodmark gate                        everything below ./specs that is quick
      floodmark gate --update-lock          accepts what differs; commit the lock with the change
      floodmark gate specs/kraft            a part of it
      floodmark gate --tier deep            the large searches, on Spark
      floodmark gate --junit junit.xml --sarif floodmark.sarif --html report.html
    """
    from floodmark.checkers.commands.gate import Asked
    from floodmark.checkers.commands.gate import gate as run_gate
    from floodmark.checkers.run import Settings

    reports = Reports.of(given)
    asked = Asked(folder, "deep" if tier == "deep" else "quick", update, not no_cache, Settings(**given))
    return int(run_gate(asked, reports, click.echo))


@command.command(epilog=_EXIT_CODES)
@click.argument("specs", nargs=-1, required=True, metavar="SPEC ...")
@click.option("--only", metavar="TEXT", help="Only the mutants whose line has this text.")
@click.option("--list", "listing", is_flag=True, help="Lists the mutants and tries none.")
@click.option("--all", "every", is_flag=True, help="Tells what became of every mutant and what noticed it.")
@click.option("--engine", type=click.Choice(["native", "spark"]), default="native",
              help="Whether mutants are tried in processes here or as Spark tasks.")
@click.option("--master", metavar="URL", help="The Spark master for --engine spark; local[*] without it.")
@click.option("--workers", type=click.IntRange(0), default=0, help="Worker processes; 0 means one for each core.")
@click.option("--states", type=click.FloatRange(1), default=8.0, show_default=True, metavar="TIMES",
              help="Gives a mutant up, undetermined, at this many times the states of the model.")
@click.option("--max-seconds", "seconds", type=click.FloatRange(0), default=60.0, show_default=True,
              help="Gives a search of a mutant up, undetermined, after this time.")
@click.option("--update-lock", is_flag=True, help="Writes the surviving mutants to specs/floodmark.lock.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Writes what became of each mutant as JSON.")
def mutate(specs: tuple[str, ...], **given: Any) -> int:
    """Tests whether the checks of a spec notice small mistakes in its model.

    Each mutant is the model with one small change in what its actions run: a guard dropped or negated, a comparison, a
    set operation or a sum changed, an assignment or a call dropped, a branch forced. It is killed when a property
    breaks, the model leaves its declared types, an action never fires, a premise is never true, or a known-bad design
    of the spec is no longer caught. A mutant that changes no figure of the search is equal at this size. The others
    survive: add a property that notices them, or say in the spec why none has to:

    \b
      [mutation]
      also = ["larger.toml"]            # specs that a mutant has to survive as well
      own = true                        # only what the model adds to those that it extends
      [[mutation.survivors]]
      reason = "why no property has to notice these"
      changes = ["Tank.drain: - require(self.level > 0)  + (dropped)"]
    """
    from floodmark.checkers.commands.mutate import Settings, mutate

    code = 0
    for said in mutate(_existing(specs), Settings(**given)):
        if isinstance(said, str):
            click.echo(said)
            sys.stdout.flush()
        else:
            code = int(said)
    return code


@command.command()
@click.argument("spec")
@click.option("--tla", "language", flag_value="tla", help="Writes NAME.tla and NAME.cfg, for TLC.")
@click.option("--promela", "language", flag_value="promela", help="Writes NAME.pml, for Spin.")
@click.option("-o", "folder", default=".", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
              help="Where the files go; here without it.")
@click.option("--only-variant", metavar="NAME", help="The flawed design of this name instead of the model's class.")
@click.option("--set", "assignments", type=_Assignment(), multiple=True, help="Sets a constant of the model.")
def export(spec: str, language: str | None, folder: Path, only_variant: str | None,
           assignments: tuple[tuple[str, int], ...]) -> None:
    """Writes a spec's model in TLA+ or in Promela, so that a checker that is not ours can read it.

    States, depths and verdicts are the same: without symmetry, TLC finds as many distinct states as floodmark check
    does, and Spin one more. What the language has no words for is refused, with file, line and reason. The files say
    how to run them.

    \b
    Examples:
      floodmark export alter_isr/core --tla -o out && cd out && java -cp tla2tools.jar tlc2.TLC AlterIsr
      floodmark export kraft/quorum --promela --only-variant VotesTwice
    """
    from floodmark.checkers.commands.export import export as write

    if language is None:
        raise click.UsageError("say --tla or --promela")
    for line in write(_existing_path(spec), language == "tla", folder, only_variant, dict(assignments)):
        click.echo(line)


@command.command("list")
@click.argument("specs", nargs=-1, metavar="[SPEC ...]")
def list_(specs: tuple[str, ...]) -> None:
    """Lists specs with their models and known-bad designs. Without SPEC, all of ./specs."""
    from floodmark.checkers.report.listing import listing
    from floodmark.checkers.spec import find, read

    for path in find(_existing(specs or ("specs",)), "all"):
        for line in listing(read(path)):
            click.echo(line)


@command.command()
@click.argument("spec")
@click.option("--set", "assignments", type=_Assignment(), multiple=True, help="Sets a constant of the model.")
def show(spec: str, assignments: tuple[tuple[str, int], ...]) -> None:
    """Shows a spec's model: variables, actions, rules, properties, constants, state size in bits."""
    from floodmark.checkers.report.listing import description
    from floodmark.checkers.run import Check, Settings
    from floodmark.checkers.spec import read

    for line in description(Check(read(_existing_path(spec)), None, Settings(constants=dict(assignments)))):
        click.echo(line)


@command.command(epilog=_EXIT_CODES)
@click.argument("plan_file", metavar="FILE.json", type=click.Path(path_type=Path))
@click.option("--current", required=True, type=click.Path(path_type=Path), metavar="CURRENT.json",
              help="The replicas that the partitions have now, in the same format.")
@click.option("--min-insync", type=click.IntRange(1), default=1, help="The topics' min.insync.replicas.")
@click.option("--failures", type=click.IntRange(0), help="How many brokers may fail on the way; else any number.")
@click.option("--design", type=click.Choice(["kraft", "kip236"]), default="kraft", help="Whose controller moves them.")
@click.option("--engine", type=click.Choice(["auto", "native", "spark"]), default="auto",
              help="Where shapes are checked.")
@click.option("--master", metavar="URL", help="The Spark master; implies --engine spark.")
@click.option("--workers", type=click.IntRange(0), default=0, help="Worker processes; 0 means one for each core.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Writes the verdicts as JSON.")
def plan(plan_file: Path, current: Path, json_file: Path | None, **given: Any) -> int:
    """Says of each partition of a reassignment whether it can be cancelled at every point.

    FILE.json is what kafka-reassign-partitions takes. Each partition is reduced to its shape, its replica sets up to
    renaming of brokers, and every shape is checked once. Where the answer is no, the shortest way into trouble is told.
    """
    from floodmark.checkers.commands.plan import Settings, check_plan

    _must_be_writable(json_file, [plan_file, current])
    code = 0
    for said in check_plan(plan_file, current, Settings(**given), json_file):
        if isinstance(said, str):
            click.echo(said)
        else:
            code = int(said)
    return code


@command.command(epilog=_EXIT_CODES)
@click.argument("specs", nargs=-1, metavar="[SPEC ...]")
@click.option("--method", type=click.Choice(["induction", "bmc", "k-induction", "infer"]), default="induction",
              help="How; claims are just asked.")
@click.option("--depth", type=click.IntRange(1), default=10, help="States of a run at most, for bmc and k-induction.")
@click.option("--unbounded", is_flag=True, help="For every natural number as a constant that only bounds.")
@click.option("--property", "properties", multiple=True, metavar="NAME", help="Only this property; may be repeated.")
@click.option("--max-seconds", "seconds", type=click.FloatRange(0), help="Gives up, undetermined, after this time.")
@click.option("--set", "assignments", type=_Assignment(), multiple=True, help="Sets a constant of the model.")
@click.option("--invariants", "files", type=click.Path(path_type=Path), multiple=True, metavar="FILE.py",
              help="Adds the properties of a file.")
@click.option("--only-variant", metavar="NAME", help="Only the model's class or the flawed design of this name.")
@click.option("--smt", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Writes every obligation there as SMT-LIB 2, a file each; the folder is to be empty.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Writes the results as JSON.")
def prove(specs: tuple[str, ...], json_file: Path | None, **given: Any) -> int:
    """Proves the properties of specs with z3, for all states at once, and asks claims (Python files in specs/claims).

    Without SPEC, every claim under ./specs/claims.
    """
    from floodmark.checkers.symbolic.prove import run

    paths = _existing(specs or ("specs/claims",))
    _must_be_writable(json_file, [*paths, *given["files"]])
    return run(paths, given, json_file, click.echo)


@command.command(epilog=_EXIT_CODES)
@click.argument("spec", required=False)
@click.option("--trace", "traces", type=click.Path(path_type=Path), multiple=True, metavar="FILE.jsonl",
              help="A recorded run, a folder of them, or what check --json wrote; may be repeated.")
@click.option("--metadata-log", "logs", type=click.Path(path_type=Path), multiple=True, metavar="FILE",
              help="What kafka-dump-log.sh --cluster-metadata-decoder printed; may be repeated, in any order.")
@click.option("--hidden", type=click.IntRange(0), default=0,
              help="So many steps at most may have happened unseen before each line.")
@click.option("--strict", is_flag=True, help="Also the rules of KIP-455 that Apache Kafka is known not to keep.")
@click.option("--only-variant", metavar="NAME", help="The known-bad design of this name instead of the spec's model.")
@click.option("--set", "assignments", type=_Assignment(), multiple=True, help="Sets a constant of the model.")
@click.option("--max-states", type=click.IntRange(0), help="Gives a trace up, undetermined, after so many states.")
@click.option("--max-seconds", type=click.FloatRange(0), help="Gives a trace up, undetermined, after this time.")
@click.option("--engine", type=click.Choice(["auto", "spark"]), default="auto", help="Where traces are judged.")
@click.option("--master", metavar="URL", help="The Spark master; implies --engine spark.")
@click.option("--workers", type=click.IntRange(0), default=0, help="Worker processes; 0 means one for each core.")
@click.option("--keep-results", metavar="DIR", help="Adds what was found to the Parquet there, by Spark.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Writes what was found as JSON.")
def conform(spec: str | None, traces: tuple[Path, ...], logs: tuple[Path, ...], json_file: Path | None,
            assignments: tuple[tuple[str, int], ...], **given: Any) -> int:
    """Says whether recorded runs are behaviours of a spec's model, or whether metadata logs keep the rules.

    A trace has one JSON object in a line, {"action": NAME, "arguments": {...}, "state": {VARIABLE: value}, "skip": N}.
    Each part may be left out, as may fields of records and keys of maps: what is not there was not seen. A line
    without an action is a look at the state after one step, or where steps may be unseen, after any number of them.
    "skip" is --hidden for this line alone. Values are written as check --json writes them. The first line is about the
    beginning, unless it has an action. Where no run of the model fits, the nearest actions are shown, and the guard
    that stopped each.

    The records of a metadata log are judged partition by partition: epochs, leaders, the ISR, reassignments.
    """
    from floodmark.checkers.commands.conform import Settings, conform_log, conform_traces

    settings = Settings(constants=dict(assignments), **given)
    _must_be_writable(json_file, [*traces, *logs])
    if logs and not traces and spec is None:
        told = conform_log(logs, settings, json_file)
    elif traces and not logs and spec is not None:
        told = conform_traces(_existing_path(spec), traces, settings, json_file)
    else:
        raise click.UsageError("give either SPEC and --trace, or --metadata-log alone")
    code = 0
    for said in told:
        if isinstance(said, str):
            click.echo(said)
        else:
            code = int(said)
    return code
