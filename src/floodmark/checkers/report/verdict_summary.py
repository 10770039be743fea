"""Cases: the outcome of one check, claim, proof or drift, in the form that all reports share."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import click

from floodmark.checkers.explanation.source_location import SourceLocation, source_location
from floodmark.checkers.report import text
from floodmark.checkers.verdict.gate_outcome import Drift
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult, ExitCode

Status = Literal["passed", "failed", "error"]
_FAILED = (ExitCode.NOT_AS_EXPECTED, ExitCode.DRIFT)


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One line of a report.

    ``status`` is "failed" when the outcome is not the expected one, and "error" when there is no trustworthy outcome:
    an undetermined search, a mistake in a spec, an internal error. ``rule`` is the violated property or claim;
    ``about`` explains names, in a sentence each; ``detail`` is the counterexample as it is printed. ``result`` is set
    for checks only; ``drift`` has the differences from the lock that the case is about, or that its failure causes.
    """

    suite: str
    name: str
    word: str
    text: str
    status: Status
    exit_code: ExitCode
    rule: str
    about: dict[str, str]
    detail: str
    place: SourceLocation
    seconds: float
    reproduce: str
    result: CheckResult | None = None
    drift: Sequence[Drift] = ()

    @property
    def title(self) -> str:
        return f"{self.suite} {self.name}"


def status_of(code: ExitCode) -> Status:
    """The status of a case with this exit code."""
    if code == ExitCode.AS_EXPECTED:
        return "passed"
    return "failed" if code in _FAILED else "error"


def cases(
    results: Iterable[CheckResult], proofs: Iterable[ProofResult] = (), drift: Iterable[Drift] = ()
) -> list[SummaryLine]:
    """The cases of a run: checks, claims and proofs, and differences from the lock."""
    drift = list(drift)
    found = [*map(check_case, results), *map(proof_case, proofs)]
    tables: dict[str, list[Drift]] = {}
    for each in drift:
        if not each.follows:
            tables.setdefault(each.table or each.entry, []).append(each)
    return [*(_with_drift(case, drift) for case in found), *(drift_case(name, each) for name, each in tables.items())]


def _with_drift(case: SummaryLine, drift: Iterable[Drift]) -> SummaryLine:
    """A failed case with the differences from the lock that it causes."""
    mine = [each for each in drift if each.follows == case.title]
    if not mine or case.status == "passed":
        return case
    rows = ["", "with it, these differ from the lock (was | now):", *drift_rows(case.suite, mine)]
    return replace(case, detail="\n".join([case.detail, *rows]), drift=mine)


def drift_rows(table: str, drift: Iterable[Drift]) -> list[str]:
    """The differences in one table, each as a line."""
    return [
        f"  {what_differs(table, each)}: {each.was} | {each.now}{f'  {each.note}' if each.note else ''}"
        for each in drift
    ]


def what_differs(table: str, drift: Drift) -> str:
    """The subject of a row of a table; that of a known-bad design begins with its name."""
    return " ".join(filter(None, [drift.entry.removeprefix(table).strip(), drift.what]))


def check_case(result: CheckResult) -> SummaryLine:
    line = text.result_line(result)
    return SummaryLine(
        suite=result.name,
        name=result.design(),
        word=line.word,
        text=line.text,
        status=status_of(result.exit_code),
        exit_code=result.exit_code,
        rule=_rule(result),
        about=text.about(result),
        detail=_detail(result),
        place=_place(result),
        seconds=0.0 if result.search_result is None else result.search_result.seconds,
        reproduce=result.reproduce,
        result=result,
    )


def _rule(result: CheckResult) -> str:
    if result.verdict in ("undetermined", "error") and result.property is None:
        return {ExitCode.UNDETERMINED: "undetermined", ExitCode.INTERNAL_ERROR: "internal-error"}.get(
            result.exit_code, "error"
        )
    return result.property or "verdict"


def _detail(result: CheckResult) -> str:
    if result.violation is not None and result.subject is not None:
        return click.unstyle("\n".join([*text.scenario_lines(result), *text.counterexample(result)]))
    lines = [text.result_line(result).text, *text.scenario_lines(result)]
    lines += [line.strip() for line in text.notice_lines(result)]
    if result.traceback:
        lines += ["", result.traceback]
    if result.reproduce:
        lines += ["", f"reproduce: {result.reproduce}"]
    return click.unstyle("\n".join(lines))


def _place(result: CheckResult) -> SourceLocation:
    """The location for the author: the failed line, else the violated property, else the spec."""
    if result.file is not None:
        return source_location(result.file, result.line)
    prop = result.find_property(result.property)
    if prop is None:
        return source_location(result.spec, result.spec_line or 1)
    return source_location(prop.file, prop.line)


def drift_case(table: str, drift: Sequence[Drift]) -> SummaryLine:
    """The differences from the lock in one table as a case. They violate no property, so its rule is the lock."""
    first = next((each for each in drift if each.line is not None), drift[0])
    rows = drift_rows(table, drift)
    more = f", and {len(drift) - 1} more" if len(drift) > 1 else ""
    return SummaryLine(
        suite="floodmark.lock",
        name=table,
        word="drift",
        text=f"{drift[0].what}: was {drift[0].was} | now {drift[0].now}{more}",
        status=status_of(ExitCode.DRIFT),
        exit_code=ExitCode.DRIFT,
        rule="floodmark.lock",
        about={"floodmark.lock": "The results of the gate are those of the lock."},
        detail="\n".join([f"{table} differs from the lock (was | now):", *rows]),
        place=source_location(first.file, first.line),
        seconds=0.0,
        reproduce="",
        drift=drift,
    )


def proof_case(proved: ProofResult) -> SummaryLine:
    """A claim or a proof as a case."""
    claim = proved.method == "claim"
    reproduce = proved.reproduce or _asking(proved)
    named = claim or proved.method in proved.name.split()
    return SummaryLine(
        suite=proved.spec,
        name=" ".join([proved.name, *filter(None, [proved.variant]), *([] if named else [proved.method])]),
        word=proved.word,
        text=f"{proved.method}: {proved.headline}",
        status=status_of(proved.exit_code),
        exit_code=proved.exit_code,
        rule=proved.broken or (proved.name if claim else proved.method),
        about={proved.name: str(proved.facts["source"])} if "source" in proved.facts else {},
        detail="\n".join([proved.headline, *proved.lines, "", f"reproduce: {reproduce}"]),
        place=source_location(proved.spec, proved.line),
        seconds=proved.seconds,
        reproduce=reproduce,
    )


def _asking(proved: ProofResult) -> str:
    """The command for a proof that no spec lists."""
    words = ["floodmark", "prove", proved.spec]
    if proved.method not in ("claim", "induction"):
        words += ["--method", proved.method]
    if proved.variant is not None:
        words += ["--only-variant", proved.variant]
    return shlex.join(words)
