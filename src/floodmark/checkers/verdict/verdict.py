"""The result of a check: blank before the search, judged against the spec's expectations, or ended by an error;
also as another process passes it on."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Set
from dataclasses import replace
from pathlib import Path

from floodmark.checkers.processes import LostJob, OverdueJob
from floodmark.checkers.project import spec_address
from floodmark.checkers.project.paths import shown
from floodmark.checkers.project.spec import Spec
from floodmark.checkers.search_result import SearchResult, Violation
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.result import CheckResult, ExitCode, Verdict
from floodmark.language.errors import SourceError
from floodmark.language.plurals import counted_seconds


def blank(check: Check) -> CheckResult:
    """The result of a check before anything is known."""
    spec = check.spec
    return CheckResult(
        spec=shown(spec.path),
        row=spec.row,
        spec_line=spec.first_line,
        name=spec.name,
        model=spec.model,
        variant=None if check.flawed is None else check.flawed.name,
        tier=check.tier,
        title=spec.title,
        constants=check.constants,
        symmetry=check.symmetry,
        reproduce=check.reproduce(),
        idle=spec.idle,
        vacuous=spec.vacuous,
        empty=spec.expect.distinct == 0,
        invariant_files=[shown(file) for file in check.settings.invariant_files],
    )


def unreadable_spec(address: Path, error: SourceError) -> CheckResult:
    """The result of a spec that could not be read."""
    file, _ = spec_address.split_address(address)
    result = CheckResult(spec=shown(file), name=shown(address), model="", variant=None, tier="")
    return ended_by_error(result, error)


def ended_by_error(result: CheckResult, error: SourceError) -> CheckResult:
    """The result of a check whose files have a mistake."""
    return replace(result, message=error.message, file=error.file, line=error.line)


def misplaced_file(error: SourceError) -> CheckResult:
    """The result of a file that belongs to no spec, with the error that names it."""
    assert error.file is not None
    return unreadable_spec(Path(error.file), error)


def internal_error(check: Check, message: str, trace: str = "") -> CheckResult:
    """The result of a check that failed because of a fault in Floodmark."""
    return replace(blank(check), exit_code=ExitCode.INTERNAL_ERROR, message=message, traceback=trace)


def judge(check: Check, result: CheckResult, found: SearchResult) -> CheckResult:
    """The result with the verdict, and whether that is as expected."""
    violation = _main_violation(check, found)
    result = replace(result, violation=violation, verdict=_verdict(result, violation, found))
    if violation is not None:
        result = replace(
            result, property=violation.property or None, message=violation.message, file=violation.file,
            line=violation.line,
        )
    elif result.unreached:
        wanted = check.wanted_property
        missed = wanted if wanted in result.unreached else result.unreached[0]
        result = replace(result, property=missed, message="no reachable state satisfies it")
    elif result.verdict == "undetermined" and found.complete:
        finding = found.undetermined[0]
        result = replace(result, property=finding.property, message=finding.ended_by())
    elif result.verdict == "undetermined" and found.walked is not None:
        result = replace(result, message="no violation in these walks; other runs remain unchecked")
    elif result.verdict == "undetermined":
        result = replace(result, message=f"the search ended before it was complete, at {found.stopped}")
    differences = _differences(check, result, found)
    code = ExitCode.NOT_AS_EXPECTED if differences else ExitCode.AS_EXPECTED
    code = {"error": ExitCode.USER_ERROR, "undetermined": ExitCode.UNDETERMINED}.get(result.verdict, code)
    result = replace(result, expected=not differences, exit_code=code)
    is_explained = check.wanted_property is not None or result.verdict == "holds"
    if code == ExitCode.NOT_AS_EXPECTED and is_explained:
        return replace(result, message="; ".join(filter(None, [result.message, *differences])))
    return result


def _verdict(result: CheckResult, violation: Violation | None, found: SearchResult) -> Verdict:
    if violation is not None:
        return "error" if violation.kind == "error" else "violated"
    if result.unreached:
        return "violated"
    return "holds" if found.complete and not found.undetermined else "undetermined"


def _main_violation(check: Check, found: SearchResult) -> Violation | None:
    """The violation to show: that of the expected property, else an error in the model, else the first one found."""
    for violation in found.violations:
        if violation.property == check.wanted_property and violation.kind != "error":
            return violation
    errors = [violation for violation in found.violations if violation.kind == "error"]
    return next(iter([*errors, *found.violations]), None)


def _differences(check: Check, result: CheckResult, found: SearchResult) -> list[str]:
    """The differences from the spec's expectations; empty when there are none."""
    wanted = "holds" if check.wanted_property is None else "violated"
    if result.verdict != wanted:
        return [f"expected {check.wanted_property} to be violated" if wanted == "violated" else "expected to hold"]
    if wanted == "violated" and result.property != check.wanted_property:
        return [f"expected {check.wanted_property} to be violated, not {result.property}"]
    if check.changed:
        return []
    if check.wanted_property is None and check.spec.expect.verdict == "violated":
        return []  # the figures are those of a search that ends at a property that was not requested
    depth = len(result.violation.trace) if result.violation is not None else found.depth
    expect = check.spec.expect
    figures = [("depth", check.wanted_depth, depth)]
    if check.flawed is None:
        figures += [("distinct", expect.distinct, found.distinct), ("generated", expect.generated, found.generated)]
    differ = [(name, want, is_) for name, want, is_ in figures if want is not None and want != is_]
    lines = [f"{name} {is_:,}, expected {want:,}" for name, want, is_ in differ]
    checked = {prop.name for prop in result.properties}
    return lines if check.flawed is not None else [*lines, *_not_silent(check.spec, found, checked)]


def counts_are_expected(check: Check) -> bool:
    """Whether the spec's expected numbers of states, successors or levels apply."""
    expect = check.spec.expect
    if check.flawed is not None or check.changed or expect.verdict == "violated":
        return False
    return any(figure is not None for figure in (expect.depth, expect.distinct, expect.generated))


def _not_silent(spec: Spec, found: SearchResult, checked: Set[str]) -> list[str]:
    """The actions listed as idle, and the checked properties listed as vacuous, that are not so."""
    lines = [f"{name} fires, although the spec lists it as idle" for name in spec.idle if found.actions.get(name)]
    if not found.complete:
        return lines
    vacuous = {premise.property for premise in found.vacuous}
    never = [name for name in spec.vacuous if name not in vacuous and {name, name.partition(".")[0]} & checked]
    return lines + [f"the premise of {name} is met, although the spec lists it as vacuous" for name in never]


def pickled(result: CheckResult) -> bytes:
    """A result, pickled for another process."""
    bare = replace(result, properties=[])  # functions of the user's files, which the asking process loads itself
    return pickle.dumps(bare, pickle.HIGHEST_PROTOCOL)


def unpickled(check: Check, content: bytes) -> CheckResult:
    """The result that another process passed through ``pickled``."""
    result: CheckResult = pickle.loads(content)
    return result if result.search_result is None else replace(result, properties=check.properties())


def received(check: Check, content: bytes | Exception) -> CheckResult:
    """The result that another process passed through ``pickled``, or one that reports why there is none."""
    if isinstance(content, bytes):
        return unpickled(check, content)
    if isinstance(content, OverdueJob):
        return replace(
            blank(check), verdict="undetermined", exit_code=ExitCode.UNDETERMINED,
            message=f"the search was still in a single step long after its limit of {counted_seconds(check.seconds)}",
        )
    if isinstance(content, LostJob):
        return internal_error(check, str(content))
    return internal_error(check, f"{type(content).__name__}: {content}", "".join(traceback.format_exception(content)))
