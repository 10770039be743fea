"""Runs checks: each spec's model, then each of its known-bad designs, small ones in parallel processes."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from floodmark.checkers import processes
from floodmark.checkers.designs.divergence import where_the_good_design_differs
from floodmark.checkers.engine import ClusterEngine, RunCheck
from floodmark.checkers.project.lint import require_named
from floodmark.checkers.resources import cores
from floodmark.checkers.run.engines import cluster_of, engine_of
from floodmark.checkers.search_result import Watcher
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.checkers.verdict.verdict import (
    blank,
    counts_are_expected,
    ended_by_error,
    internal_error,
    judge,
    pickled,
    received,
)
from floodmark.checkers.walking.scenarios import run_scenario
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.plurals import counted
from floodmark.language.source import TOO_DEEP

Watch = Callable[[Check, Any], None]
"""Receives reports of the progress of a check's search."""


def run(
    every: Sequence[Check], watch: Watch | None = None, run_one: RunCheck | None = None
) -> Iterator[tuple[Check, CheckResult]]:
    """Runs the checks and yields each with its result in order, as soon as it and all before it are done: small checks
    first, then large ones, then those that a cluster runs, where ``run_one`` may take the place of ``run_check``."""
    here: list[Check] = []
    elsewhere: dict[ClusterEngine, list[Check]] = {}
    for check in every:
        cluster = cluster_of(check)
        (here if cluster is None else elsewhere.setdefault(cluster, [])).append(check)
    yield from _run_here(here, watch)
    for cluster, checks in elsewhere.items():
        one = run_one or run_check
        yield from cluster.run(checks, one, lambda check: None if watch is None else _watcher(watch, check))


def _watcher(watch: Watch, check: Check) -> Watcher:
    return lambda progress: watch(check, progress)


def _run_here(every: Sequence[Check], watch: Watch | None) -> Iterator[tuple[Check, CheckResult]]:
    """Runs each check in another process, which leaves this one free to notice interrupts and processes that die."""
    _load(every)
    small = [check for check in every if not check.large]
    large = [check for check in every if check.large]
    count = min(len(small), (small[0].settings.workers if small else 0) or cores())
    if count < 2:
        large, small = [*small, *large], []
    yield from _run_parallel(small, [check.beside(count) for check in small], _run_for_another, count, None)
    yield from _run_parallel(large, large, _run_and_tell, 1, watch)


def _run_parallel(
    original: Sequence[Check],
    run_as: Sequence[Check],
    function: Callable[[Check], bytes],
    count: int,
    watch: Watch | None,
) -> Iterator[tuple[Check, CheckResult]]:
    def on_report(position: int, progress: object) -> None:
        if watch is not None:
            watch(original[position], progress)

    seconds, kin = (lambda check: check.seconds), (lambda check: check.spec.address)
    found = processes.run_each(function, run_as, count, seconds, on_report, kin=kin)
    for check, content in zip(original, processes.in_order(found), strict=True):
        yield check, replace(received(check, content), reproduce=check.reproduce())


def _load(every: Sequence[Check]) -> None:
    """Loads the models once, so that no worker has to; errors in a model are reported when its check runs."""
    for check in every:
        with suppress(SourceError):
            check.properties()
    for engine in {engine_of(check) for check in every}:
        engine.load()


def _run_for_another(check: Check) -> bytes:
    """Runs a check for another process."""
    return pickled(run_check(check))


def _run_and_tell(check: Check) -> bytes:
    """Runs a check for another process and reports progress to it."""
    return pickled(run_check(check, processes.tell))


def run_check(check: Check, watch: Watcher | None = None) -> CheckResult:
    """Searches, and judges the result. Never raises: an error is a result too."""
    result = blank(check)
    try:
        properties = check.properties()
        model = check.model()
        require_named(model)
        result = replace(result, constants=model.constant_values, properties=properties, subject=model)
        return _search(check, model, result, watch)
    except SourceError as error:
        return ended_by_error(result, error)
    except RecursionError:
        return ended_by_error(result, SourceError(f"{TOO_DEEP}, with the helpers that it calls"))
    except MemoryError:
        return replace(result, verdict="undetermined", exit_code=ExitCode.UNDETERMINED, message="out of memory")
    except Exception as error:
        return internal_error(check, f"{type(error).__name__}: {error}", traceback.format_exc())


def _search(check: Check, model: Model, result: CheckResult, watch: Watcher | None) -> CheckResult:
    properties = result.properties
    found = engine_of(check).search(check, model, properties, watch)
    missed = [prop.name for prop in properties if prop.kind == "reachable" and prop.name not in found.reached]
    result = replace(result, search_result=found, engine=found.engine, unreached=missed if found.complete else ())
    judged = judge(check, result, found)
    if check.settings.compare or judged.exit_code != ExitCode.AS_EXPECTED:
        judged = with_divergence(check, judged)
    judged = _with_scenarios(check, model, judged)
    says = properties or check.options.deadlock or judged.scenarios
    if says or judged.verdict != "holds" or counts_are_expected(check):
        return judged
    counts = "those that a spec expects are compared at its own constants and symmetry only"
    missing = f"no counts were compared: {counts}" if check.changed else "its spec expects no counts"
    message = f"nothing was checked: no property belongs to this model, and {missing}"
    return replace(judged, verdict="undetermined", exit_code=ExitCode.NOTHING_CHECKED, expected=False, message=message)


def _with_scenarios(check: Check, model: Model, result: CheckResult) -> CheckResult:
    """The result with the outcomes of the spec's scenarios. These are about the model at the spec's constants, so a run
    with other constants takes none, nor does one that requests certain properties. An undetermined search stays
    undetermined."""
    if check.flawed is not None or check.settings.constants or check.settings.properties:
        return result
    found = tuple(run_scenario(model, scenario) for scenario in check.spec.scenario)
    failed = [each for each in found if each.problem]
    result = replace(result, scenarios=found)
    if not failed or result.exit_code not in (ExitCode.AS_EXPECTED, ExitCode.NOT_AS_EXPECTED):
        return result
    text = f"{len(failed)} of {counted(len(found), 'scenario')} not as expected"
    message = "; ".join(filter(None, [result.message, text]))
    return replace(result, expected=False, exit_code=ExitCode.NOT_AS_EXPECTED, message=message)


def with_divergence(check: Check, result: CheckResult) -> CheckResult:
    """A result with the step at which the good design differs in the counterexample of a known-bad one, if there is
    one. A failure is noted; the verdict stands."""
    if result.violation is None or not isinstance(result.subject, Model):
        return result
    try:
        differs = where_the_good_design_differs(check, result.subject, result.violation)
        return replace(result, divergence=differs)
    except Exception as error:
        assert result.search_result is not None
        text = f"an internal fault hides where the good design decides otherwise: {type(error).__name__}: {error}"
        noted = replace(result.search_result, notes=[*result.search_result.notes, text])
        return replace(result, search_result=noted)
