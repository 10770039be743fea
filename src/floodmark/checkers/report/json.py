"""The results of a run as one JSON object, with everything from which ``floodmark report`` makes the other reports.

States are written as they are shown to people; to get their values, a reader lets the model take the steps again
(``checkers/saved``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from floodmark.checkers.explanation.false_property import refuted_step
from floodmark.checkers.explanation.trace import state_entry, step_entry, trace_entries
from floodmark.checkers.project.used_files import used_files
from floodmark.checkers.report.divergence import divergence_entry
from floodmark.checkers.search_result import Coverage, Finding, Premise, SearchResult, Stop, Violation
from floodmark.checkers.verdict.gate_outcome import Drift
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language.model import Model

SCHEMA = "floodmark.results/1"
"""The kind of the object and its version, which grows with each change that breaks readers."""


def document(
    results: Sequence[CheckResult], proofs: Sequence[ProofResult] = (), drift: Sequence[Drift] = (),
    edits: Mapping[str, Any] | None = None,
) -> str:
    """``{"schema": ..., "sources": {...}, "results": [...]}`` with the hash of each file that the results rest on, an
    entry for each check, claim and proof, ``"drift"`` if there is any, and ``"edits"`` if the gate compared versions.
    """
    specs = [spec for spec in (*(it.spec for it in results), *(it.spec for it in proofs)) if spec]
    whole: dict[str, Any] = {"schema": SCHEMA, "sources": used_files(specs)}
    whole["results"] = [*map(entry, results), *(proof.as_json() for proof in proofs)]
    if drift:
        whole["drift"] = [asdict(difference) for difference in drift]
    if edits is not None:
        whole["edits"] = edits
    return json.dumps(whole, indent=1) + "\n"


def entry(result: CheckResult) -> dict[str, Any]:
    """One check. ``seconds`` is the time of the search alone; ``trace`` is empty without a counterexample.

    ``loaded`` is whether the model could be made, ``searched`` whether there was a search; ``also`` are the other
    violations that it found.
    """
    found = result.search_result or SearchResult(engine=result.engine)
    trace = () if result.violation is None else result.violation.trace
    return {
        "spec": result.spec,
        "row": result.row,
        "spec_line": result.spec_line,
        "name": result.name,
        "title": result.title,
        "model": result.model,
        "variant": result.variant,
        "tier": result.tier,
        "constants": result.constants,
        "symmetry": result.symmetry,
        "engine": result.engine,
        "verdict": result.verdict,
        "expected": result.expected,
        "exit_code": int(result.exit_code),
        "property": result.property,
        "message": result.message,
        "file": result.file,
        "line": result.line,
        "traceback": result.traceback,
        "loaded": result.subject is not None,
        "searched": result.search_result is not None,
        "distinct": found.distinct,
        "generated": found.generated,
        "depth": found.depth,
        "levels": found.levels,
        "cut": found.cut,
        "complete": found.complete,
        "stopped": stop_entry(found.stopped),
        "digest": found.digest,
        "actions": found.actions,
        "checked": [prop.name for prop in result.properties],
        "invariant_files": list(result.invariant_files),
        "scenarios": [asdict(each) for each in result.scenarios],
        "reached": sorted(found.reached),
        "unreached": list(result.unreached),
        "vacuous": [premise_entry(it) for it in found.vacuous],
        "values_seen": found.values_seen,
        "sizes": found.sizes,
        "widths": found.widths,
        "trace": trace_entries(result.subject, trace),
        "loop": None if result.violation is None else result.violation.loop,
        "violation": None if result.violation is None else violation_entry(result.subject, result.violation),
        "also": [
            {**violation_entry(result.subject, other), "trace": trace_entries(result.subject, other.trace),
             "loop": other.loop}
            for other in found.violations if other is not result.violation
        ],
        "refinement": refinement_entry(result),
        "divergence": divergence_entry(result.divergence),
        "fairness": list(found.assumed),
        "liveness": [liveness_entry(result.subject, finding) for finding in found.liveness],
        "seconds": found.seconds,
        "compile_seconds": found.compile_seconds,
        "memory": found.memory,
        "notes": found.notes,
        "walked": None if found.walked is None else asdict(found.walked),
        "coverage": None if found.coverage is None else coverage_entry(found.coverage),
        "workers": found.workers,
        "state_bits": found.state_bits,
        "reproduce": result.reproduce,
    }


def premise_entry(premise: Premise) -> dict[str, Any]:
    """A premise that is never true."""
    return {"property": premise.property, "file": premise.file, "line": premise.line, "said": premise.text}


def coverage_entry(coverage: Coverage) -> dict[str, Any]:
    """The coverage of a model's source."""
    counts = [
        {"part": it.part, "kind": it.kind, "file": it.file, "line": it.line, "column": it.column,
         "outcome": it.outcome, "said": it.text, "count": it.count}
        for it in coverage.counts
    ]
    return {"states": coverage.states, "whole": coverage.whole, "counts": counts}


def stop_entry(stop: Stop | None) -> dict[str, Any] | None:
    """The limit that ended a search, and the same as text."""
    return None if stop is None else {**asdict(stop), "limit": stop.limit.value, "text": str(stop)}


def violation_entry(model: Model | None, violation: Violation) -> dict[str, Any]:
    """A violation without its trace."""
    failed = violation.failed_step
    return {
        "kind": violation.kind,
        "property": violation.property,
        "message": violation.message,
        "file": violation.file,
        "line": violation.line,
        "overfull": violation.overfull,
        "failed_step": None if model is None or failed is None else step_entry(model, failed),
    }


def refinement_entry(result: CheckResult) -> dict[str, Any] | None:
    """The refined model's view of the illegal step; ``before`` is null for an initial state."""
    violation, model = result.violation, result.subject
    prop = None if violation is None else result.find_property(violation.property)
    if violation is None or model is None or prop is None or not prop.is_refinement or violation.kind != "transition":
        return None
    found = refuted_step(model, prop, violation.trace)
    if found is None:
        return None
    states = [state_entry(found.other, state) for state in found.states]
    return {
        "refines": found.name,
        "steps": found.steps,
        "before": states[0] if len(states) == 2 else None,
        "after": states[-1],
        "nearest": None if found.nearest is None else {
            **step_entry(found.other, found.nearest.step),
            "state": state_entry(found.other, found.nearest.state),
            "differs": list(found.nearest.differs),
            "guard": None if found.nearest.guard is None else {
                "text": found.nearest.guard.text, "file": found.nearest.guard.file, "line": found.nearest.guard.line,
            },
        },
    }  # fmt: skip


def liveness_entry(model: Model | None, finding: Finding) -> dict[str, Any]:
    """One liveness property for one choice of its parameters; ``loop`` is a place in ``trace``, counted from 0."""
    return {
        "property": finding.property,
        "name": finding.name,
        "verdict": finding.verdict,
        "trace": trace_entries(model, finding.trace),
        "loop": finding.loop,
        "fair": [asdict(reason) for reason in finding.fair],
        "bounds": list(finding.bounds),
        "needs": list(finding.needs),
        "mapped": list(finding.mapped),
    }
