"""The lock's entries for the results of a run: one for each spec, claim and proof.

An entry has only reproducible results. It leaves out times, and the figures of a search that ends at a violation, as
these vary. The entry of an incomplete search has only the keys that need no search.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from floodmark.checkers.gate.job import PROPERTIES, Sources
from floodmark.checkers.gate.lock import LockEntry
from floodmark.checkers.project.spec import Spec, Tier
from floodmark.checkers.project.spec_entries import Scenario
from floodmark.checkers.report.liveness import needs_lines
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult

FLAWED = "flawed"
"""The table of known-bad designs in the entry of their model."""
_USUAL: Tier = "quick"


def spec_entry(result: CheckResult, sources: Sources, spec: Spec) -> LockEntry:
    """The entry of a spec's model; those of its known-bad designs are a table in it, ``flawed``."""
    entry: LockEntry = {"tier": result.tier, "model": result.model}
    entry |= {name: digest for name, digest in sources.items() if name != PROPERTIES}
    entry["constants"] = dict(sorted(result.constants.items()))
    if result.symmetry:
        entry["symmetry"] = sorted(result.symmetry) if isinstance(result.symmetry, tuple) else True
    if spec.deadlock:
        entry["deadlock"] = True
    entry[PROPERTIES] = sources.get(PROPERTIES, {})
    if result.scenarios:
        tried = {each.name for each in result.scenarios}
        entry["scenarios"] = dict(sorted((each.name, _meaning(each)) for each in spec.scenario if each.name in tried))
    if result.verdict in ("holds", "violated"):
        entry |= _figures(result)
    return entry


def _meaning(scenario: Scenario) -> str:
    """The hash of a scenario's meaning."""
    text = "\n".join([str(scenario.possible), *scenario.steps])
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:8]


def unchecked_entry(spec: Spec) -> LockEntry:
    """The entry of a spec of which only known-bad designs were ever checked."""
    return {"tier": spec.tier, "model": spec.model}


def with_designs(entry: LockEntry, designs: Mapping[str, LockEntry]) -> LockEntry:
    """The entry of a model with those of its known-bad designs, which have a tier if it differs from the model's."""
    rest = {key: value for key, value in entry.items() if key != FLAWED}
    table = {name: relative(design, entry["tier"]) for name, design in sorted(designs.items())}
    return {**rest, FLAWED: table} if table else rest


def designs_of(entry: LockEntry) -> dict[str, LockEntry]:
    """The entries of a model's known-bad designs, each with its tier."""
    return {name: {"tier": entry.get("tier"), **design} for name, design in entry.get(FLAWED, {}).items()}


def relative(design: LockEntry, tier: str) -> LockEntry:
    """The entry of a known-bad design, with its tier if that differs from the model's."""
    return {key: value for key, value in design.items() if key != "tier" or value != tier}


def flawed_entry(result: CheckResult, sources: Sources) -> LockEntry:
    """The entry of a known-bad design; it lists properties when more than the one that breaks are checked."""
    names = _names(result)
    entry: LockEntry = {"tier": result.tier, **sources, **({"properties": names} if len(names) > 1 else {})}
    if result.verdict in ("holds", "violated"):
        entry["verdict"] = result.verdict
        entry |= _violation(result)
    return entry


def _names(result: CheckResult) -> list[str]:
    return sorted(prop.name for prop in result.properties)


def _violation(result: CheckResult) -> LockEntry:
    found: LockEntry = {} if result.property is None else {"property": result.property}
    if result.violation is not None:
        found["depth"] = len(result.violation.trace)
        if result.violation.loop is not None:
            found["loop"] = len(result.violation.trace) - 1 - result.violation.loop
    return found


def _figures(result: CheckResult) -> LockEntry:
    entry: LockEntry = {"verdict": result.verdict, **_violation(result)}
    found = result.search_result
    if found is None or not found.complete:
        return entry
    entry |= {"distinct": found.distinct, "generated": found.generated, "depth": found.depth, "digest": found.digest}
    if found.cut:
        entry["cut"] = found.cut
    entry["vacuous"] = sorted({premise.property for premise in found.vacuous})
    entry["actions"] = dict(sorted(found.actions.items()))
    if found.liveness:
        entry["fairness"] = sorted(found.assumed)
        entry["needs"] = sorted(needs_lines(found))
    return entry


def proof_entry(proved: ProofResult, sources: Sources, tier: Tier) -> LockEntry:
    """The entry of a claim or a proof, with its tier if that is not the quick one."""
    entry: LockEntry = {**sources, "verdict": proved.verdict}
    if tier != _USUAL:
        entry["tier"] = tier
    if proved.verdict == "undetermined":  # a bounded search of which no more is expected
        entry["depth"] = proved.facts["depth"]
    for key in ("properties", "lemmas", "rankings", "fairness"):
        names: Sequence[str] = proved.facts.get(key, ())
        if names:
            entry[key] = sorted(names)
    return entry


def proof_tier(entry: LockEntry) -> Tier:
    """The tier of the entry of a claim or a proof."""
    return "deep" if entry.get("tier") == "deep" else _USUAL
