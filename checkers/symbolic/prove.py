"""Proves the properties of one check by a method, or answers one claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from floodmark.checkers.check import Check, Settings, variant_name
from floodmark.checkers.claim import Claim
from floodmark.checkers.paths import shown
from floodmark.checkers.proof_command import proof_command
from floodmark.checkers.proof_result import Proved
from floodmark.checkers.report.value import plain, show
from floodmark.checkers.result import ExitCode, Verdict
from floodmark.checkers.spec import Proving, Spec
from floodmark.checkers.symbolic import claims
from floodmark.checkers.symbolic.attempts.any_size import attempt_at_any_size
from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.attempts.bounded import attempt_bounded
from floodmark.checkers.symbolic.attempts.inductive import attempt_inductive
from floodmark.checkers.symbolic.attempts.inferred import attempt_inferred
from floodmark.checkers.symbolic.attempts.k_inductive import attempt_k_inductive
from floodmark.checkers.symbolic.attempts.lifted import attempt_lifted
from floodmark.checkers.symbolic.attempts.ranked import attempt_ranked
from floodmark.checkers.symbolic.capacities import require_capacities
from floodmark.checkers.symbolic.smtlib import Scripts
from floodmark.checkers.symbolic.task import Task, subjects, task_of
from floodmark.language.errors import SourceError


def prove_check(check: Check, task: Task, scripts: Scripts | None = None) -> Proved:
    """Runs the method on a spec's model, or on one of its known-bad designs."""
    if task.unbounded and task.method not in ("induction", "ranking"):
        raise SourceError("--unbounded needs --method induction or ranking")
    if task.any_size and task.method not in ("induction", "infer"):
        raise SourceError("--any-size needs --method induction or infer")
    model = check.model()
    properties = subjects(check, task)
    result = Proved(check.spec.name, task.method, "undetermined", ExitCode.UNDETERMINED, "", 0.0)
    result.spec, result.model = shown(check.spec.path), check.spec.model
    result.variant = None if check.flawed is None else variant_name(check)
    result.constants = model.constant_values
    result.facts["properties"] = [prop.name for prop in properties]
    if not properties:
        result.exit_code = ExitCode.NOTHING_CHECKED
        missing = f"there is no invariant and no transition property of {type(model).__name__}"
        if task.method == "ranking":
            missing = f"no property of runs of {type(model).__name__} that the spec checks has a @ranking"
        result.headline = f"nothing was checked: {missing}"
        return result
    if task.method != "bmc":
        require_capacities(model, [prop for prop in properties if not prop.is_liveness])
    record = None if scripts is None else scripts.of(subject_of(result.name, task, result.variant))
    attempt = Attempt(check, task, model, properties, result, record)
    match task.method:
        case "bmc":
            attempt_bounded(attempt)
        case "induction" if task.any_size:
            attempt_at_any_size(attempt)
        case "induction":
            attempt_inductive(attempt)
        case "k-induction":
            attempt_k_inductive(attempt)
        case "ranking":
            attempt_ranked(attempt)
        case "infer" if task.any_size:
            attempt_lifted(attempt)
        case "infer":
            attempt_inferred(attempt)
    return result


def subject_of(name: str, task: Task, variant: str | None = None) -> str:
    """What a proof is called where its obligations are written."""
    words = [name, *filter(None, [variant]), task.method, *(["unbounded"] if task.unbounded else [])]
    words += ["any size"] if task.any_size else []
    words += [f"{name}={value}" for name, value in task.constants.items()]
    return " ".join([*words, *task.properties])


def prove_listed(
    spec: Spec, proving: Proving, scripts: Scripts | None = None, seconds: float | None = None
) -> Proved:
    """Makes a proof that a spec lists. An unknown property is an error at its line."""
    check = Check(spec, None, Settings(constants=dict(proving.constants)))
    task = replace(task_of(proving), seconds=seconds)
    subjects(check, task, proving.line)
    proved = prove_check(check, task, scripts=scripts)
    proved.name = f"{spec.name} {proving.name}"
    proved.line = proving.line
    proved.reproduce = proof_command(spec, proving)
    return proved


def claim_subject(claim: Claim) -> str:
    """What a claim is called where its questions are written."""
    return f"claim {Path(claim.file).stem}.{claim.name}"


def prove_claim(claim: Claim, seconds: float | None = None, scripts: Scripts | None = None) -> Proved:
    """Asks one claim."""
    name = f"{Path(claim.file).stem}.{claim.name}"
    answered = claims.ask(claim, seconds, None if scripts is None else scripts.of(claim_subject(claim)))
    code = ExitCode.AS_EXPECTED if answered.expected else ExitCode.NOT_AS_EXPECTED
    verdict: Verdict = "holds"
    lines = []
    headline = "true of everything"
    if answered.any_size:
        headline += ", for any number of identifiers"
    if answered.answer == "undetermined":
        verdict, code = "undetermined", ExitCode.UNDETERMINED
        headline = f"z3 does not know: {answered.reason}"
    elif answered.answer == "fails":
        verdict = "violated"
        headline = "false"
        lines = [claim.doc, f"  {claim.expectation.source}"] if claim.doc else [claim.expectation.source]
        case = ", ".join(f"{key} = {show(value)}" for key, value in answered.witness.items())
        lines.append(f"  smallest case: {case}")
        if answered.computed:
            lines.append("  there: " + ", ".join(f"{key} = {show(value)}" for key, value in answered.computed.items()))
    if code == ExitCode.NOT_AS_EXPECTED:
        headline += ", but the file expects it to " + ("hold" if claim.expectation.holds else "fail")
    facts: dict[str, Any] = {"source": claim.expectation.source, "any_size": answered.any_size}
    if answered.witness:
        facts["witness"] = {key: plain(value) for key, value in answered.witness.items()}
    place = shown(Path(claim.file))
    return Proved(name, "claim", verdict, code, headline, answered.seconds, place, claim.line, lines=lines, facts=facts)
