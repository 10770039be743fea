"""The results of a run as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from floodmark.checkers.exploration import Exploration, Finding, TraceState
from floodmark.checkers.gate.outcome import Drift
from floodmark.checkers.proof_result import Proved
from floodmark.checkers.report.divergence import divergence_entry
from floodmark.checkers.report.part_kinds import argument_kinds
from floodmark.checkers.report.value import plain
from floodmark.checkers.result import CheckResult
from floodmark.language.model import Model


def document(
    results: Sequence[CheckResult], proofs: Sequence[Proved] = (), drift: Sequence[Drift] = ()
) -> str:
    """``{"results": [...]}`` with an entry for each check, claim and proof, and ``"drift"`` if there is any."""
    whole: dict[str, Any] = {"results": [*map(entry, results), *(proof.as_json() for proof in proofs)]}
    if drift:
        whole["drift"] = [asdict(difference) for difference in drift]
    return json.dumps(whole, indent=1) + "\n"


def entry(result: CheckResult) -> dict[str, Any]:
    """One check. ``seconds`` is the time of the search alone; ``trace`` is empty without a counterexample."""
    found = result.exploration or Exploration(engine=result.engine)
    trace = () if result.violation is None else result.violation.trace
    return {
        "spec": result.spec,
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
        "property": result.property,
        "message": result.message,
        "file": result.file,
        "line": result.line,
        "distinct": found.distinct,
        "generated": found.generated,
        "depth": found.depth,
        "levels": found.levels,
        "cut": found.cut,
        "complete": found.complete,
        "digest": found.digest,
        "actions": found.actions,
        "checked": [prop.name for prop in result.properties],
        "reached": sorted(found.reached),
        "vacuous": [{"property": it.property, "file": it.file, "line": it.line} for it in found.vacuous],
        "values_seen": found.values_seen,
        "sizes": found.sizes,
        "widths": found.widths,
        "trace": trace_entries(result.subject, trace),
        "loop": None if result.violation is None else result.violation.loop,
        "divergence": divergence_entry(result.divergence),
        "fairness": list(found.assumed),
        "liveness": [liveness_entry(result.subject, finding) for finding in found.liveness],
        "seconds": round(found.seconds, 6),
        "compile_seconds": round(found.compile_seconds, 6),
        "memory": found.memory,
        "notes": found.notes,
        "workers": found.workers,
        "state_bits": found.state_bits,
        "reproduce": result.reproduce,
    }


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
    }


def trace_entries(model: Model | None, trace: Sequence[TraceState]) -> list[dict[str, Any]]:
    """The steps of a trace with the state that each leads to."""
    return [] if model is None else [trace_entry(model, at) for at in trace]


def trace_entry(model: Model, at: TraceState) -> dict[str, Any]:
    """A step with the state that it leads to."""
    kinds = argument_kinds(model, at.step)
    values = zip(model.variable_types.items(), at.state, strict=True)
    return {
        "action": at.step.action,
        "arguments": {name: plain(value, kinds.get(name)) for name, value in at.step.arguments.items()},
        "state": {name: plain(value, kind) for (name, kind), value in values},
    }
