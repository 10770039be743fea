"""An attempt for every number of identifiers with lemmas that are inferred for a few and lifted."""

from __future__ import annotations

import time

from floodmark.checkers.result import ExitCode
from floodmark.checkers.symbolic.attempts.any_size import domain_of, prove_again
from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.counts import counts_of
from floodmark.checkers.symbolic.ic3 import infer
from floodmark.checkers.symbolic.induction import Proof, induction
from floodmark.checkers.symbolic.lifting import Lifted, lifted
from floodmark.checkers.symbolic.system import system_of
from floodmark.checkers.symbolic.unbounded_constants import any_size_constants
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.plurals import counted


def attempt_lifted(attempt: Attempt) -> None:
    """Infers clauses with the constants of the spec, lifts them, and keeps those that are inductive at any size.

    Nothing rests on the inference: the clauses that are kept are lemmas of an induction like any others.
    """
    task, model, result, properties = attempt.task, attempt.model, attempt.result, attempt.properties
    names, counting = any_size_constants(model)
    if not counting:
        message = f"no constant of {type(model).__name__} counts identifiers; any size means any number of them"
        raise SourceError(message, *type(model).source_position())
    started = time.perf_counter()
    counts = counts_of(model)
    small = system_of(model, [*properties, *(count.question for count in counts)])
    found = infer(small, properties, task.seconds, counts=counts)
    result.seconds = time.perf_counter() - started
    if not found.found:
        why = "a reachable state breaks a property" if found.refuted else f"ended by {found.stopped}"
        result.headline = f"undetermined: nothing was inferred to be lifted, {why}"
        return
    guesses = lifted(type(model).__name__, small.variables, found.asked, counts)
    kept, proof, domain = _inductive(attempt, [it for it in guesses if _can_be_said(attempt, it, names)], names)
    result.facts |= {
        "clauses": [it.text for it in kept],
        "frames": found.frames,
        "queries": found.queries,
        "lemmas": [it.lemma.name for it in kept],
        "obligations": len(proof.obligations),
        "open": [[it.action, it.property, it.outcome, it.reason] for it in proof.failing()],
        "unbounded": names,
        "any_size": counting,
        "times": [[it.action, it.property, it.seconds] for it in proof.obligations],
        "domain": domain,
    }
    said = f"{counted(len(properties), 'property')} with {len(kept)} of {counted(len(guesses), 'lifted clause')}"
    said += f", {counted(len(proof.obligations), 'obligation')}, for every {', '.join(names)}"
    said += f" with {', '.join(domain)}" if domain else ""
    result.lines = [line for it in kept for line in ("", *it.text.splitlines())]
    if proof.outcome == "proved":
        every = [*properties, *(it.lemma for it in kept)]
        attempt.proved(f"inductive: {said}", every)
        if result.verdict == "holds":
            prove_again(attempt, every, counting)
        return
    result.verdict, result.exit_code = "undetermined", ExitCode.UNDETERMINED
    result.headline = f"not proved: {said}; {counted(len(proof.failing()), 'open obligation')}"


def _can_be_said(attempt: Attempt, guess: Lifted, names: list[str]) -> bool:
    """Whether a lifted clause means something of any number: one about a place in a set of messages does not."""
    try:
        system = system_of(attempt.model, [guess.lemma], names, any_size=True)
        system.judge(system.predicates[guess.lemma.name], system.now.state)
    except ModelError:
        return False
    return True


def _inductive(attempt: Attempt, guesses: list[Lifted], names: list[str]) -> tuple[list[Lifted], Proof, list[str]]:
    """The guesses that are left when those that are not preserved are dropped, until all are; the last induction, and
    for which numbers it holds.

    The last one asks about the properties as well, whether or not it proves them.
    """
    every = [*attempt.properties, *(it.lemma for it in guesses)]
    system = system_of(attempt.model, every, names, any_size=True)
    kept = guesses
    while True:
        asked = [*attempt.properties, *(it.lemma for it in kept)]
        proof = induction(system, asked, attempt.left)
        attempt.result.seconds += proof.seconds
        broken = {it.property for it in proof.failing()}
        left = [it for it in kept if it.lemma.name not in broken]
        if len(left) == len(kept):
            break
        kept = left
    if attempt.record is not None:
        proof = induction(system, asked, attempt.left, attempt.record)
        attempt.result.seconds += proof.seconds
    return kept, proof, domain_of(system)
