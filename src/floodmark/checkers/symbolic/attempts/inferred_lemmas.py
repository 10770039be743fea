"""Reports an induction by inferred lemmas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from floodmark.checkers.symbolic.attempts.any_size import domain_of
from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.attempts.small_sizes import cross_check
from floodmark.checkers.symbolic.methods.induction import InductionProof, induction
from floodmark.checkers.symbolic.methods.lifting import LiftedLemma
from floodmark.checkers.symbolic.translate.transition_system import System
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.plurals import counted


@dataclass(frozen=True, slots=True)
class LemmaTrial:
    """Inferred lemmas, and the induction of the properties with them, in a system that includes them."""

    lemmas: Sequence[LiftedLemma]
    proof: InductionProof
    system: System


def report(attempt: Attempt, tried: LemmaTrial, inferred: str, names: Sequence[str], counting: list[str]) -> None:
    """Shows the lemmas, and reports a proof if the induction succeeded. ``inferred`` describes them."""
    properties, draft, proof = attempt.properties, attempt.draft, tried.proof
    every = [*properties, *(it.lemma for it in tried.lemmas)]
    if attempt.record is not None:
        proof = induction(tried.system, every, attempt.left, attempt.record)
        draft.seconds += proof.seconds
    domain = domain_of(tried.system)
    draft.facts |= {
        "clauses": [it.text for it in tried.lemmas],
        "lemmas": [it.lemma.name for it in tried.lemmas],
        "obligations": len(proof.obligations),
        "open": [[it.action, it.property, it.outcome, it.reason] for it in proof.failing()],
        "unbounded": list(names),
        "any_size": counting,
        "times": [[it.action, it.property, it.seconds] for it in proof.obligations],
        "domain": domain,
    }
    said = f"{counted(len(properties), 'property')} with {inferred}"
    said += f", {counted(len(proof.obligations), 'obligation')}, for every {', '.join(names)}"
    said += f" with {', '.join(domain)}" if domain else ""
    draft.lines = [line for it in tried.lemmas for line in ("", *it.text.splitlines())]
    if proof.outcome == "proved":
        attempt.proved(f"inductive: {said}", every)
        if draft.verdict == "holds":
            cross_check(attempt, tried.system, every, counting)
        return
    draft.verdict, draft.exit_code = "undetermined", ExitCode.UNDETERMINED
    draft.headline = f"not proved: {said}; {counted(len(proof.failing()), 'open obligation')}"
