"""Proves the properties of one check by a method, or answers one claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from floodmark.checkers.project.claim import Claim
from floodmark.checkers.project.paths import shown
from floodmark.checkers.project.properties import Property, functions_by_name
from floodmark.checkers.project.spec import ListedProof, Spec
from floodmark.checkers.search.beginning import wrong_beginnings
from floodmark.checkers.search_result import TraceState, Violation
from floodmark.checkers.symbolic.attempts.any_size import attempt_at_any_size
from floodmark.checkers.symbolic.attempts.attempt import Attempt, Draft
from floodmark.checkers.symbolic.attempts.bounded import attempt_bounded
from floodmark.checkers.symbolic.attempts.inductive import attempt_inductive, attempt_k_inductive
from floodmark.checkers.symbolic.attempts.inferred import attempt_inferred, attempt_lifted
from floodmark.checkers.symbolic.attempts.ranked import attempt_ranked
from floodmark.checkers.symbolic.methods import claims
from floodmark.checkers.symbolic.methods.induction import WatchInduction
from floodmark.checkers.symbolic.methods.smtlib import SmtScripts
from floodmark.checkers.symbolic.methods.task import ProofTask, subjects, task_of
from floodmark.checkers.symbolic.records.answer_file import AnswerRecord, keep, recorded_answers
from floodmark.checkers.symbolic.tactics.answers import AnswerBook, Answers, ObligationKey, solver_version
from floodmark.checkers.value_text import plain, show
from floodmark.checkers.verdict.check import Check, CheckSettings, variant_name
from floodmark.checkers.verdict.proof_result import ProofResult, proof_command
from floodmark.checkers.verdict.result import ExitCode, Verdict
from floodmark.compiler.program import growing_parts, read_program
from floodmark.language.bindings import annotation_position
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, sized
from floodmark.language.reference import initial_states
from floodmark.language.types import growing
from floodmark.language.widths import FIRST_WIDTHS


def prove_check(
    check: Check, task: ProofTask, scripts: SmtScripts | None = None, book: AnswerBook | None = None,
    watch: WatchInduction | None = None,
) -> ProofResult:
    """Runs the method on a spec's model, or on one of its known-bad designs.

    ``book`` has the answers to obligations of any size; without one, they are searched for. ``watch`` receives the
    current obligation.
    """
    if task.unbounded and task.method not in ("induction", "ranking"):
        raise SourceError("--unbounded needs --method induction or ranking")
    if task.any_size and task.method not in ("induction", "infer"):
        raise SourceError("--any-size needs --method induction or infer")
    model = check.model()
    properties = subjects(check, task)
    variant = None if check.flawed is None else variant_name(check)
    draft = Draft(facts={"properties": [prop.name for prop in properties]})
    if properties:
        if task.method != "bmc":
            require_capacities(model, [prop for prop in properties if not prop.is_liveness])
        record = None if scripts is None else scripts.of(subject_of(check.spec.name, task, variant))
        _attempt(Attempt(check, task, model, properties, draft, record, book, watch))
    else:
        missing = f"there is no invariant and no transition property of {type(model).__name__}"
        if task.method == "ranking":
            missing = f"no liveness property of {type(model).__name__} that the spec checks has a @ranking"
        draft.exit_code, draft.headline = ExitCode.NOTHING_CHECKED, f"nothing was checked: {missing}"
    return ProofResult(
        check.spec.name,
        task.method,
        draft.verdict,
        draft.exit_code,
        draft.headline,
        draft.seconds,
        spec=shown(check.spec.path),
        model=check.spec.model,
        variant=variant,
        constants=model.constant_values,
        broken=draft.broken,
        lines=draft.lines,
        facts=draft.facts,
    )


def _attempt(attempt: Attempt) -> None:
    """Runs the method, unless an initial state already violates a property."""
    task = attempt.task
    wrong = _wrong_beginning(attempt.model, attempt.properties)
    if wrong is not None:
        attempt.violated(wrong)
        return
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


def _wrong_beginning(model: Model, properties: Sequence[Property]) -> Violation | None:
    """The violation of a refinement by an initial state whose image is not initial: all methods prove steps only."""
    if not any(prop.is_refinement for prop in properties):
        return None
    found = (wrong_beginnings(model, properties, TraceState(*first)) for first in initial_states(model))
    return next((violation for violations in found for violation in violations), None)


def subject_of(name: str, task: ProofTask, variant: str | None = None) -> str:
    """The name of a proof in the files of its obligations."""
    words = [name, *filter(None, [variant]), task.method, *(["unbounded"] if task.unbounded else [])]
    words += ["any size"] if task.any_size else []
    words += [f"{name}={value}" for name, value in task.constants.items()]
    return " ".join([*words, *task.properties])


def prove_listed(
    spec: Spec,
    proving: ListedProof,
    scripts: SmtScripts | None = None,
    seconds: float | None = None,
    find: bool = False,
    watch: WatchInduction | None = None,
    workers: int = 1,
) -> ProofResult:
    """Makes a proof that a spec lists. An unknown property is an error at its line.

    Obligations of any size are replayed from the answers beside the spec; with ``find`` answers are searched for and
    written.
    """
    check = Check(spec, None, CheckSettings(constants=dict(proving.constants)))
    task = replace(task_of(proving), seconds=seconds, workers=workers)
    subjects(check, task, proving.line)
    book = None
    if proving.any_size and proving.method == "induction":
        known = recorded_answers(spec, proving)

        def kept(answers: Mapping[ObligationKey, Answers]) -> None:
            keep(spec, proving, AnswerRecord(solver_version(), answers))

        book = AnswerBook(known.answers, find, proof_command(spec, proving, "--find"), known.z3, kept if find else None)
    proved = prove_check(check, task, scripts, book, watch)
    if book is not None and book.keep is not None and {**book.found} != book.known:
        book.keep(book.found)
    name, command = f"{spec.name} {proving.name}", proof_command(spec, proving)
    return replace(proved, name=name, line=proving.line, reproduce=command)


def claim_subject(claim: Claim) -> str:
    """The name of a claim in the files of its queries."""
    return f"claim {Path(claim.file).stem}.{claim.name}"


def prove_claim(claim: Claim, seconds: float | None = None, scripts: SmtScripts | None = None) -> ProofResult:
    """Decides one claim."""
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
    return ProofResult(
        name, "claim", verdict, code, headline, answered.seconds, place, claim.line, lines=lines, facts=facts
    )


def require_capacities(model: Model, properties: Sequence[Property]) -> None:
    """Raises ModelError if a model has a container without a capacity.

    An inductive step begins in any state of the declared types, reachable or not. If a type does not bound the number
    of elements of a container, any chosen size would be an assumption that the model does not make. A bounded search
    begins with the initial states, so it finds the widths that its runs need.
    """
    for name, kind in model.variable_types.items():
        for part in growing(kind):
            raise _refusal(part.grows, *annotation_position(model._variables[name], name))
    for place, at in growing_parts(read_program(sized(model, FIRST_WIDTHS), functions_by_name(properties))):
        raise _refusal(place, at.file, at.line)


def _refusal(place: str, file: str | None, line: int | None) -> ModelError:
    message = f"{place} has no capacity, and a proof begins in any state of the declared types: write "
    return ModelError(f"{message}Annotated[..., Capacity(limit)], or use --method bmc", file, line)
