"""Plans a run of the gate: its checks, proofs and claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from floodmark.checkers.gate.job import CheckJob, ClaimJob, Job, ProofJob, unreadable
from floodmark.checkers.gate.lock import Lock
from floodmark.checkers.gate.scope import GateScope
from floodmark.checkers.project.claim import Claim, claim_files, misplaced_files, read_claims
from floodmark.checkers.project.spec import Spec, Tier, read_all
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult
from floodmark.checkers.verdict.verdict import unreadable_spec
from floodmark.language.errors import SourceError


@dataclass(slots=True)
class GatePlan:
    """The jobs of a run. ``every`` has all specs of the folder, in any tier; ``broken`` those that cannot be read.
    ``tiers`` has the tier of every known-bad design, by its spec and its name in the lock."""

    every: list[Spec] = field(default_factory=list)
    checks: list[CheckJob] = field(default_factory=list)
    others: list[Job] = field(default_factory=list)
    broken: list[CheckResult] = field(default_factory=list)
    broken_claims: list[ProofResult] = field(default_factory=list)
    tiers: dict[tuple[str, str], Tier] = field(default_factory=dict)


def plan_of(scope: GateScope, tier: Tier, settings: CheckSettings, locked: Lock | None) -> GatePlan:
    """The plan for a folder; the lock gives estimates of search times."""
    plan = GatePlan()
    for path in scope.files():
        try:
            plan.every += read_all(path)
        except SourceError as error:
            plan.broken.append(unreadable_spec(path, error))
    for spec in plan.every:
        jobs = _checks_of(scope, spec, settings, locked)
        plan.tiers |= {(job.name, job.variant): job.check.tier for job in jobs if job.variant is not None}
        plan.checks += [job for job in jobs if job.check.tier == tier]
        plan.others += _proofs_of(scope, spec, tier)
    for folder in scope.claim_folders():
        _plan_claims(plan, scope, folder)
    return plan


def _plan_claims(plan: GatePlan, scope: GateScope, folder: Path) -> None:
    for file in claim_files(folder):
        try:
            plan.others += _claims_of(scope, read_claims(file))
        except SourceError as error:
            plan.broken_claims.append(unreadable(file, error))
    for misplaced in misplaced_files(folder):
        plan.broken_claims.append(unreadable(Path(misplaced.file or ""), misplaced))


def _checks_of(scope: GateScope, spec: Spec, settings: CheckSettings, locked: Lock | None) -> list[CheckJob]:
    """The checks of a spec: its model, then its known-bad designs, each under its own name."""
    name = scope.name_of(spec)
    entry = {} if locked is None else locked.specs.get(name, {})
    known, distinct = entry.get("generated"), spec.expect.distinct or entry.get("distinct")
    found: list[CheckJob] = []
    for check in checks(spec, settings):
        variant = None if check.flawed is None else check.flawed.name
        if check.flawed is not None and variant in [job.variant for job in found]:
            variant = f"{check.flawed.name} {check.flawed.property}"
        total = distinct if check.flawed is None and isinstance(distinct, int) else None
        found.append(CheckJob(name, variant, check, known if isinstance(known, int) else None, total))
    return found


def _proofs_of(scope: GateScope, spec: Spec, tier: str) -> list[Job]:
    """The proofs of a spec that belong to a tier."""
    name = scope.name_of(spec)
    return [ProofJob(f"{name} {proving.name}", spec, proving) for proving in spec.prove if proving.tier == tier]


def _claims_of(scope: GateScope, found: Sequence[Claim]) -> list[Job]:
    """The claims of the folder."""
    return [ClaimJob(scope.claim_name(claim), Path(claim.file), claim.name) for claim in found]
