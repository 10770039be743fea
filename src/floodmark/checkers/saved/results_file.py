"""Reads the results of a run from the file that ``--json`` wrote, as the objects that all reports are made from."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from floodmark.checkers.liveness.goals import goals_of
from floodmark.checkers.liveness.mapped_runs import mapped_goals
from floodmark.checkers.project import input_file, json_text
from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.used_files import current
from floodmark.checkers.report.json import SCHEMA
from floodmark.checkers.saved.retrace import WrittenEntry, require_shown, retraced, step_of
from floodmark.checkers.search_result import (
    Coverage,
    CoverageCount,
    Estimate,
    FairReason,
    Finding,
    Limit,
    Premise,
    SearchResult,
    Stop,
    Violation,
    WalkFigures,
)
from floodmark.checkers.verdict.check import Check, CheckSettings, one_check
from floodmark.checkers.verdict.divergence import Divergence, RuleDifference, RuleResult
from floodmark.checkers.verdict.gate_outcome import Drift
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult, ExitCode, ScenarioResult
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

STANDARD_INPUT = Path("-")


@dataclass(frozen=True, slots=True)
class SavedResults:
    """The results of a run of ``check``, ``gate`` or ``prove``."""

    results: list[CheckResult]
    proofs: list[ProofResult]
    drift: list[Drift]
    edits: Mapping[str, Any] | None = None


def read(path: Path) -> SavedResults:
    """The results in a file; ``-`` is standard input.

    Raises SourceError for a file that no run wrote so, if a source has changed since, and if the model, run by CPython,
    does not take the recorded steps, or does not break the recorded property.
    """
    text = sys.stdin.read() if path == STANDARD_INPUT else input_file.text_of(path)
    try:
        whole = json_text.parse(text)
        schema = whole["schema"]
    except (json_text.NotJsonError, KeyError, TypeError):
        raise SourceError("is not what --json of floodmark check, gate or prove writes", str(path)) from None
    if schema != SCHEMA:
        message = f"has {schema}, and reports are made of {SCHEMA}, which --json of check, gate and prove writes"
        raise SourceError(message, str(path))
    try:
        _require_unchanged(whole["sources"])
        reader = _ResultsReader()
        every = [reader.result(entry) for entry in whole["results"]]
        drift = [Drift(**entry) for entry in whole.get("drift", [])]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        description = f"{type(error).__name__}: {error}"
        raise SourceError(f"was changed since floodmark wrote it ({description})", str(path)) from None
    checks = [it for it in every if isinstance(it, CheckResult)]
    return SavedResults(checks, [it for it in every if isinstance(it, ProofResult)], drift, whole.get("edits"))


def _require_unchanged(sources: Mapping[str, str]) -> None:
    for file, was in sources.items():
        now = current(file)
        if now is None:
            raise SourceError("there is no such file here; make reports in the folder in which it was checked", file)
        if now != was:
            raise SourceError("has changed since the results were found; check it again", file)


class _ResultsReader:
    def __init__(self) -> None:
        self._checks = functools.cache(_check)

    def result(self, entry: WrittenEntry) -> CheckResult | ProofResult:
        if "method" in entry:
            return ProofResult.of_json(entry)
        result = CheckResult(
            **{name: entry[name] for name in _SAME},
            symmetry=_symmetry(entry["symmetry"]),
            exit_code=ExitCode(entry["exit_code"]),
            divergence=_divergence(entry["divergence"]),
            scenarios=tuple(ScenarioResult(**each) for each in entry["scenarios"]),
        )
        return self._completed(result, entry) if entry["loaded"] else result

    def _completed(self, result: CheckResult, entry: WrittenEntry) -> CheckResult:
        """The result with the model, and with the findings about it."""
        check = self._checks(result.address(), result.variant, tuple(result.invariant_files))
        asked = replace(check.settings, constants=result.constants, properties=tuple(entry["checked"]))
        check = replace(check, settings=asked)
        model = check.model()
        if model.constant_values != result.constants:
            raise SourceError("the model has other constants than the results say; check it again", result.spec)
        result = replace(result, subject=model)
        if not entry["searched"]:
            return result
        spec, properties = check.spec, check.properties() if entry["checked"] else []
        if [prop.name for prop in properties] != entry["checked"]:
            raise SourceError("the spec has other properties than the results say; check it again", result.spec)
        found = _search_result(model, properties, entry)
        return replace(
            result, idle=spec.idle, vacuous=spec.vacuous, empty=spec.expect.distinct == 0, properties=properties,
            search_result=found, violation=None if entry["violation"] is None else found.violations[0],
        )


def _check(address: str, variant: str | None, files: Sequence[str]) -> Check:
    settings = CheckSettings(invariant_files=tuple(map(Path, files)))
    return one_check(Path(address), variant, settings)


_SAME = (
    "spec", "row", "spec_line", "name", "title", "model", "variant", "tier", "constants", "engine", "verdict",
    "expected", "property", "message", "file", "line", "traceback", "reproduce", "unreached", "invariant_files",
)  # fmt: skip
"""The keys of an entry that are equal to the fields of a result."""
_FIGURES = (
    "engine", "complete", "distinct", "generated", "depth", "digest", "levels", "actions", "values_seen",
    "sizes", "widths", "cut", "seconds", "compile_seconds", "memory", "workers", "state_bits", "notes",
)  # fmt: skip
"""The keys of an entry that are equal to the fields of a search's result."""
_COUNT = ("part", "kind", "file", "line", "column", "outcome", "count")
"""The keys of a count of coverage that are equal to its fields."""


def _symmetry(given: Any) -> bool | tuple[str, ...]:
    return tuple(given) if isinstance(given, list) else bool(given)


def _divergence(given: Any) -> Divergence | None:
    if given is None:
        return None
    ruling = given["ruling"]
    if ruling is not None:
        ruling = RuleDifference(ruling["call"], RuleResult(**ruling["good"]), RuleResult(**ruling["bad"]))
    return Divergence(**{**given, "reasons": tuple(given["reasons"]), "ruling": ruling})


def _search_result(model: Model, properties: Sequence[Property], entry: WrittenEntry) -> SearchResult:
    """The result of the search, the main violation first."""
    known = {prop.name: prop for prop in properties}
    shown = [] if entry["violation"] is None else [{**entry["violation"], **_of(entry, "trace", "loop")}]
    violations = [_violation(model, each, known) for each in (*shown, *entry["also"])]
    return SearchResult(
        **_of(entry, *_FIGURES),
        stopped=_stop(entry["stopped"]),
        violations=violations,
        reached=dict.fromkeys(entry["reached"], ()),
        vacuous=[Premise(it["property"], it["file"], it["line"], it["said"]) for it in entry["vacuous"]],
        liveness=_findings(model, properties, entry["liveness"]),
        assumed=tuple(entry["fairness"]),
        walked=_walked(entry["walked"]),
        coverage=_coverage(entry["coverage"]),
    )


def _walked(given: Any) -> WalkFigures | None:
    if given is None:
        return None
    estimates = {name: given[name] and Estimate(**given[name]) for name in ("distinct", "new_states")}
    return WalkFigures(**{**given, **estimates})


def _coverage(given: Any) -> Coverage | None:
    if given is None:
        return None
    counts = (CoverageCount(**_of(it, *_COUNT), text=it["said"]) for it in given["counts"])
    return Coverage(given["states"], given["whole"], tuple(counts))


def _stop(given: Any) -> Stop | None:
    return None if given is None else Stop(Limit(given["limit"]), given["amount"], given["what"], given["detail"])


def _of(entry: WrittenEntry, *names: str) -> dict[str, Any]:
    return {name: entry[name] for name in names}


def _violation(model: Model, entry: WrittenEntry, known: Mapping[str, Property]) -> Violation:
    failed = entry["failed_step"]
    violation = Violation(
        **_of(entry, "kind", "property", "message", "file", "line", "loop", "overfull"),
        trace=retraced(model, entry["trace"]),
        failed_step=None if failed is None else step_of(model, failed),
    )
    require_shown(model, violation, known.get(violation.property))
    return violation


def _findings(model: Model, properties: Sequence[Property], entries: Sequence[WrittenEntry]) -> list[Finding]:
    goals = [*goals_of(model, properties), *mapped_goals(model, properties)] if entries else []
    chosen = {goal.name: goal.arguments for goal in goals}
    return [
        Finding(
            **_of(entry, "property", "name", "verdict", "loop"),
            arguments=chosen[entry["name"]],
            trace=retraced(model, entry["trace"]),
            fair=tuple(FairReason(**reason) for reason in entry["fair"]),
            bounds=tuple(entry["bounds"]),
            needs=tuple(entry["needs"]),
            mapped=tuple(entry["mapped"]),
        )
        for entry in entries
    ]


