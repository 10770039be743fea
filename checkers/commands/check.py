"""``floodmark check``: plans the checks of specs, runs them and reports what they found."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from floodmark.checkers.check import Check, Settings, checks, must_matter, variant_name, with_properties
from floodmark.checkers.gate.totals import states_expected
from floodmark.checkers.properties import did_you_mean
from floodmark.checkers.report import text
from floodmark.checkers.report.outputs import Reports, write_reports
from floodmark.checkers.report.progress import progress
from floodmark.checkers.report.replay import test_module
from floodmark.checkers.result import CheckResult, ExitCode, worst
from floodmark.checkers.run import run
from floodmark.checkers.spec import Spec, find, read
from floodmark.checkers.unfound_properties import unfound_properties
from floodmark.checkers.verdict import failed, misplaced
from floodmark.language.errors import SourceError
from floodmark.language.plurals import counted


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for. ``traces`` prints counterexamples, ``emit_test`` a test instead of verdicts."""

    paths: list[Path]
    tier: str | None
    settings: Settings
    traces: bool
    emit_test: bool


def check(asked: Asked, reports: Reports) -> ExitCode:
    """Checks, prints verdicts or a test, writes reports, and returns the exit code."""
    paths = find(asked.paths, asked.tier)
    reports.must_be_writable([*paths, *asked.settings.invariant_files])
    broken, every = _plan(paths, asked.settings)
    results: list[CheckResult] = []
    line = progress(states_expected)
    try:
        for result in itertools.chain(broken, run(every, line.show)):
            line.clear()
            results.append(result)
            _tell(result, not asked.emit_test and asked.traces, asked.emit_test)
    except KeyboardInterrupt:
        under_way = line.clear()
        click.echo(f"interrupted: {len(results)} of {counted(len(broken) + len(every), 'check')} ended", err=True)
        if under_way:
            click.echo(f"the last figures of a search that did not end: {under_way}", err=True)
        raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None
    except SourceError:
        line.clear()
        click.echo(f"ended by an error: {len(results)} of {counted(len(broken) + len(every), 'check')} ended", err=True)
        raise
    code = _emit_test(results) if asked.emit_test else _conclude(results, asked.tier or "quick", asked.traces)
    return worst([code, write_reports(reports, results)])


def _plan(paths: Sequence[Path], settings: Settings) -> tuple[list[CheckResult], list[Check]]:
    """The checks of all specs, and a result for each spec that cannot be read."""
    broken: list[CheckResult] = []
    specs: list[Spec] = []
    for path in paths:
        try:
            specs.append(read(path))
        except SourceError as error:
            broken.append(failed(path, error))
    every = [check for spec in specs for check in checks(spec, settings)]
    if settings.properties and not broken:
        every = with_properties(every, settings.properties)
    wanted = settings.only_variant
    if wanted is not None and specs and not every:
        names = [variant_name(check) for spec in specs for check in checks(spec, replace(settings, only_variant=None))]
        raise SourceError(f"no spec has a variant {wanted!r}{did_you_mean(wanted, dict.fromkeys(names))}")
    if not broken:
        must_matter(settings.invariant_files, every)
    return [*broken, *map(misplaced, unfound_properties(every))], every


def _tell(result: CheckResult, traces: bool, aside: bool) -> None:
    """Prints a result; with ``aside``, on standard error, because standard output is for something else."""
    for line in text.lines(result, traces):
        click.echo(line, err=aside)
    if result.traceback:
        click.echo(result.traceback, err=True)
    sys.stdout.flush()


def _emit_test(results: Sequence[CheckResult]) -> ExitCode:
    source = test_module(results)
    click.echo(source or "no counterexample was found, so there is no test", nl=not source, err=not source)
    return worst(result.exit_code for result in results)


def _conclude(results: Sequence[CheckResult], tier: str, traces: bool) -> ExitCode:
    code = worst(result.exit_code for result in results)
    if not results:
        click.echo(f"nothing was checked: there is no {'' if tier == 'all' else f'{tier} '}spec here")
        return code
    if not traces:
        for line in text.hint(results):
            click.echo(line)
    click.echo(text.summary(results, code))
    return code
