"""An attempt for every number of identifiers with lemmas that are inferred for a few, and lifted or suggested."""

from __future__ import annotations

import time
from collections.abc import Sequence

from floodmark.checkers.symbolic.attempts.any_size import counting_constants
from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.attempts.inferred_lemmas import LemmaTrial, report
from floodmark.checkers.symbolic.attempts.suggested import attempt_suggested
from floodmark.checkers.symbolic.methods.cardinality_atoms import counts_of
from floodmark.checkers.symbolic.methods.ic3 import infer
from floodmark.checkers.symbolic.methods.induction import induction
from floodmark.checkers.symbolic.methods.lifting import LiftedLemma, lifted
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.language.errors import ModelError
from floodmark.language.plurals import counted

IC3_EFFORT = 10_000_000
"""z3's resource limit for IC3, after which clauses are suggested instead."""


def attempt_lifted(attempt: Attempt) -> None:
    """Infers clauses with the constants of the spec, lifts them, and keeps those that are inductive at any size.

    If that proves nothing, clauses are suggested. Nothing rests on the inference: the clauses that are kept are lemmas
    of an induction like any others.
    """
    task, model, draft, properties = attempt.task, attempt.model, attempt.draft, attempt.properties
    names, counting = counting_constants(model)
    started = time.perf_counter()
    counts = counts_of(model)
    small = system_of(model, [*properties, *(count.question for count in counts)])
    found = infer(small, properties, task.seconds, counts=counts, effort=IC3_EFFORT)
    draft.seconds = time.perf_counter() - started
    draft.facts |= {"frames": found.frames, "queries": found.queries}
    if found.refuted:
        draft.headline = "undetermined: nothing was inferred to be lifted, a reachable state breaks a property"
        return
    if found.found:
        guesses = lifted(type(model).__name__, small.variables, found.literals, counts)
        tried = _inductive(attempt, [it for it in guesses if _is_meaningful(attempt, it, names)], names)
        if tried.proof.outcome == "proved":
            report(attempt, tried, f"{len(tried.lemmas)} of {counted(len(guesses), 'lifted clause')}", names, counting)
            return
    attempt_suggested(attempt, names, counting)


def _is_meaningful(attempt: Attempt, guess: LiftedLemma, names: Sequence[str]) -> bool:
    """Whether a lifted clause is meaningful for any number: one about a position in a set of messages is not."""
    try:
        system = system_of(attempt.model, [guess.lemma], names, any_size=True)
        system.judge(system.predicates[guess.lemma.name], system.now.state)
    except ModelError:
        return False
    return True


def _inductive(attempt: Attempt, guesses: list[LiftedLemma], names: Sequence[str]) -> LemmaTrial:
    """The largest inductive subset of the guesses: those that are not preserved are dropped until all are. The result
    has the last induction.

    That induction includes the properties, whether or not it proves them.
    """
    every = [*attempt.properties, *(it.lemma for it in guesses)]
    system = system_of(attempt.model, every, names, any_size=True)
    kept = guesses
    while True:
        proof = induction(system, [*attempt.properties, *(it.lemma for it in kept)], attempt.left)
        attempt.draft.seconds += proof.seconds
        broken = {it.property for it in proof.failing()}
        left = [it for it in kept if it.lemma.name not in broken]
        if len(left) == len(kept):
            return LemmaTrial(kept, proof, system)
        kept = left
