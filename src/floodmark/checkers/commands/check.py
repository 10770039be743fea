"""``floodmark check``: plans the checks of specs, runs them and reports the results."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from floodmark.checkers import interrupts
from floodmark.checkers.gate.scope import states_expected
from floodmark.checkers.project.properties import did_you_mean
from floodmark.checkers.project.spec import SelectedSpec, Spec, left_out, read, selected_specs
from floodmark.checkers.report import text
from floodmark.checkers.report.outputs import Reports, write_reports
from floodmark.checkers.report.progress import SearchProgress
from floodmark.checkers.report.progress_file import ProgressFile
from floodmark.checkers.report.trace_view import require_meaning
from floodmark.checkers.run.checks import run
from floodmark.checkers.run.unfound_properties import unfound_properties
from floodmark.checkers.search_result import Progress
from floodmark.checkers.verdict.check import Check, CheckSettings, checks, must_matter, variant_name, with_properties
from floodmark.checkers.verdict.result import CheckResult, ExitCode, worst
from floodmark.checkers.verdict.verdict import misplaced_file, unreadable_spec
from floodmark.language.errors import SourceError
from floodmark.language.plurals import counted


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """The arguments of the command. ``traces`` prints counterexamples of known-bad designs; ``only`` restricts the
    shown steps."""

    paths: list[Path]
    tier: str | None
    settings: CheckSettings
    traces: bool
    only: tuple[str, ...] = ()


def check(request: CheckRequest, reports: Reports) -> ExitCode:
    """Checks, prints verdicts, writes reports, and returns the exit code."""
    about = selected_specs(request.paths, request.tier)
    reports.must_be_writable([*(each.address for each in about), *request.settings.invariant_files])
    broken, every = planned([each for each in about if each.is_there], request.settings)
    require_meaning(request.only, [each.model() for each in every] if request.only and not broken else [])
    results: list[CheckResult] = []
    line = SearchProgress(states_expected)
    file = ProgressFile(reports.json, len(broken) + len(every), states_expected)

    def show(check: Check, at: Progress) -> None:
        line.show(check, at)
        file.show(check, at)

    try:
        for result in itertools.chain(broken, (found for _, found in run(every, show))):
            line.clear()
            results.append(result)
            file.done = len(results)
            _tell(result, request)
    except KeyboardInterrupt:
        under_way = line.clear()
        ended = f"interrupted: {len(results)} of {counted(len(broken) + len(every), 'check')} ended"
        interrupts.tell(f"{ended}; a search that did not end: {under_way}" if under_way else ended)
        raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None
    except SourceError:
        line.clear()
        click.echo(f"ended by an error: {len(results)} of {counted(len(broken) + len(every), 'check')} ended", err=True)
        raise
    return worst([_conclude(results, request, about), write_reports(reports, results)])


def planned(about: Sequence[SelectedSpec], settings: CheckSettings) -> tuple[list[CheckResult], list[Check]]:
    """A result for each spec that cannot be read and each property that no spec finds, and the checks of the others."""
    broken: list[CheckResult] = []
    specs: dict[Path, Spec] = {}
    for each in about:
        try:
            specs[each.address] = read(each.address) if each.spec is None else each.spec
        except SourceError as error:
            broken.append(unreadable_spec(each.address, error))
    tiers = {each.address: each.tier for each in about}
    every = [
        check
        for address, spec in specs.items()
        for check in checks(spec, settings)
        if tiers[address] in ("all", check.tier)
    ]
    if settings.properties and not broken:
        every = with_properties(every, settings.properties)
    name = settings.only_variant
    if name is not None and specs and not every:
        known = replace(settings, only_variant=None)
        names = [variant_name(check) for spec in specs.values() for check in checks(spec, known)]
        raise SourceError(f"no spec has a variant {name!r}{did_you_mean(name, dict.fromkeys(names))}")
    if not broken:
        must_matter(settings.invariant_files, every)
    return [*broken, *map(misplaced_file, unfound_properties(every))], every


def _tell(result: CheckResult, request: CheckRequest) -> None:
    for line in text.lines(result, request.traces, request.only):
        click.echo(line)
    if result.traceback:
        click.echo(result.traceback, err=True)
    sys.stdout.flush()


def _left(about: Sequence[SelectedSpec], tier: str) -> str:
    """The checks of the given specs that belong to another tier."""
    return left_out([each.spec for each in about if each.spec is not None and each.tier == tier], tier, proofs=False)


def _conclude(results: Sequence[CheckResult], request: CheckRequest, about: Sequence[SelectedSpec]) -> ExitCode:
    code = worst(result.exit_code for result in results)
    tier = request.tier or "quick"
    if not results:
        click.echo(f"nothing was checked: there is no {'' if tier == 'all' else f'{tier} '}spec here")
        return code
    if not request.traces:
        for line in text.hint(results):
            click.echo(line)
    whole = request.settings.only_variant is None and not request.settings.properties
    if tier != "all" and whole and (left := _left(about, tier)):
        click.echo(left)
    if whole and all(result.variant is not None for result in results):
        code = worst([code, ExitCode.NOTHING_CHECKED])
        message = f"no model was checked, as the {tier} tier has only known-bad designs here"
        click.echo(f"{counted(len(results), 'check')}: {message} (exit {int(code)})")
        return code
    click.echo(text.summary(results, code))
    return code
