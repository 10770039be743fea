"""Attempts by induction, with the constants of a spec or for every value of some of them, and by k-induction."""

from __future__ import annotations

from collections import Counter

from floodmark.checkers.explanation.trace import trace_lines
from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.any_size.unbounded_constants import unbounded_constants
from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.attempts.obligation_text import obligation_lines
from floodmark.checkers.symbolic.crosscheck.enumeration import ReachabilityOracle
from floodmark.checkers.symbolic.crosscheck.spot_checks import spot_check
from floodmark.checkers.symbolic.methods.induction import InductionProof, confirm, induction, with_reachability
from floodmark.checkers.symbolic.methods.k_induction import k_induction
from floodmark.checkers.symbolic.methods.lemmas import lemmas_of
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.checkers.verdict.result import ExitCode, Verdict
from floodmark.language.errors import SourceError
from floodmark.language.plurals import counted, plural


def attempt_inductive(attempt: Attempt) -> None:
    """Checks whether each action preserves each property."""
    check, task, model, draft, properties = (
        attempt.check, attempt.task, attempt.model, attempt.draft, attempt.properties
    )
    lemmas = lemmas_of(check.spec, type(model), check.settings.invariant_files)
    unbounded = unbounded_constants(model) if task.unbounded else []
    if task.unbounded and not unbounded:
        raise SourceError(f"no constant of {type(model).__name__} only bounds integers, so nothing can be unbounded")
    every = [*properties, *lemmas]
    system = system_of(model, every, unbounded)
    proof = induction(system, every, task.seconds, attempt.record, book=attempt.book, watch=attempt.watch)
    draft.seconds = proof.seconds
    if not unbounded:
        for obligation in proof.failing():
            confirm(model, every, obligation)
        proof = with_reachability(proof, ReachabilityOracle(model).asks)
    attempt.note_induction(proof, lemmas, unbounded)
    with_lemmas = (
        f"{counted(len(properties), 'property')} with {counted(len(lemmas), 'lemma')}, "
        f"{counted(len(proof.obligations), 'obligation')}"
    )
    for_every = f", for every {', '.join(unbounded)}" if unbounded else ""
    if system.domain:
        for_every += f" with {', '.join(f'{form} >= 0' for form in system.domain)}"
    draft.verdict, draft.exit_code = _verdict_of(proof)
    if draft.verdict == "holds":
        attempt.proved(f"inductive: {with_lemmas}{for_every}", every)
        if unbounded and draft.verdict == "holds":
            spot_checked(attempt, system, every)
        return
    _show_what_fails(attempt, system, proof, f"{with_lemmas}{for_every}")


def induction_failed(attempt: Attempt, system: System, properties: list[Property], proof: InductionProof) -> None:
    """Reports that the basis of another proof is not inductive."""
    if not system.values.types.unbounded:
        for obligation in proof.failing():
            confirm(attempt.model, properties, obligation)
        proof = with_reachability(proof, ReachabilityOracle(attempt.model).asks)
    attempt.draft.verdict, attempt.draft.exit_code = _verdict_of(proof)
    about = f"{len(properties)} invariants and lemmas that it rests on"
    _show_what_fails(attempt, system, proof, f"{about}, {counted(len(proof.obligations), 'obligation')}")


def _show_what_fails(attempt: Attempt, system: System, proof: InductionProof, about: str) -> None:
    failing = proof.failing()
    counts = Counter(obligation.outcome for obligation in failing)
    parts = [f"{counts['fails']} fail"] if counts["fails"] else []
    parts += [f"{counts['undetermined']} are undetermined ({failing[0].reason})"] if counts["undetermined"] else []
    attempt.draft.headline = f"not proved: {about}; {' and '.join(parts)}"
    for obligation in failing:
        attempt.draft.lines += obligation_lines(system, obligation, attempt.not_assumed)


def spot_checked(attempt: Attempt, system: System, properties: list[Property]) -> None:
    """Proves the properties again at a few of the values; if no repetition succeeds, the proof is rejected."""
    draft = attempt.draft
    spots = spot_check(system, properties, attempt.left)
    draft.facts["spots"] = spots.proved
    draft.seconds += spots.seconds
    tried = [", ".join(str(value) for value in constants.values()) for constants in spots.proved]
    draft.lines.append(f"proved again at {', '.join(system.values.types.unbounded)} = {'; '.join(tried) or 'nothing'}")
    if not spots.proved:
        draft.verdict, draft.exit_code = "undetermined", ExitCode.UNDETERMINED
        draft.headline += ", but it could not be proved again at any of their values"
    attempt.says_no_limit()


def _verdict_of(proof: InductionProof) -> tuple[Verdict, ExitCode]:
    if proof.outcome == "proved":
        return "holds", ExitCode.AS_EXPECTED
    shown = [obligation.counterexample for obligation in proof.failing() if obligation.counterexample is not None]
    if any(counterexample.reachable for counterexample in shown):
        return "violated", ExitCode.NOT_AS_EXPECTED
    return "undetermined", ExitCode.UNDETERMINED


def attempt_k_inductive(attempt: Attempt) -> None:
    """Checks whether the properties, if true throughout a run of some length, are true after one more step."""
    task, draft, properties = attempt.task, attempt.draft, attempt.properties
    found = k_induction(system_of(attempt.model, properties), properties, task.depth, task.seconds, attempt.record)
    draft.seconds = found.seconds
    draft.facts["depth"] = found.depth
    if found.violation is not None:
        attempt.violated(found.violation)
        draft.headline += "; there is no shorter run"
    elif found.outcome == "proved":
        every = f"{counted(len(properties), 'property')} {plural(len(properties), 'is', 'are')}"
        attempt.proved(f"{every} {found.depth}-inductive", properties)
    elif found.outcome == "undetermined":
        draft.headline = f"undetermined at k = {found.depth}: {found.reason}"
    else:
        draft.headline = f"not {found.depth}-inductive; there is no violation within {counted(found.depth, 'state')}"
        draft.lines = trace_lines(attempt.model, found.counterexample)
