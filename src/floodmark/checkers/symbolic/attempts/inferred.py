"""Attempts with lemmas that are inferred: clauses that make the properties inductive at one size and, for every number
of identifiers, lemmas that are inferred for a few and lifted, or suggested.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from floodmark.checkers.symbolic.attempts.any_size import counting_constants, domain_of
from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.attempts.small_sizes import cross_check
from floodmark.checkers.symbolic.methods.cardinality_atoms import counts_of
from floodmark.checkers.symbolic.methods.ic3 import CHECKS, infer
from floodmark.checkers.symbolic.methods.induction import InductionProof, induction
from floodmark.checkers.symbolic.methods.lifting import LiftedLemma, lemma_of, lifted_lemmas
from floodmark.checkers.symbolic.suggestions.grammar import Grammar
from floodmark.checkers.symbolic.suggestions.scopes import scopes_of
from floodmark.checkers.symbolic.suggestions.sentences import AtomFilter, QuantifiedClause
from floodmark.checkers.symbolic.suggestions.sized import SizedSystem
from floodmark.checkers.symbolic.suggestions.sizes import reachable_states, sizes_of
from floodmark.checkers.symbolic.suggestions.support import NothingFoundError, Support
from floodmark.checkers.symbolic.suggestions.vocabulary import Vocabulary, vocabulary_of
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import ModelError
from floodmark.language.plurals import counted


def attempt_inferred(attempt: Attempt) -> None:
    """Searches for clauses that make the properties inductive."""
    task, draft, properties = attempt.task, attempt.draft, attempt.properties
    found = infer(system_of(attempt.model, properties), properties, task.seconds, attempt.record)
    draft.seconds = found.seconds
    draft.facts |= {
        "clauses": found.clauses,
        "frames": found.frames,
        "queries": found.queries,
        "checks": found.checks,
    }
    if found.refuted:
        _refuted(attempt)
    elif found.stopped:
        draft.headline = f"undetermined: ended by {found.stopped}, after {found.frames} frames"
    elif not found.found or found.predicate is None:
        wrong = ", ".join(name for name in CHECKS if not found.checks.get(name))
        raise RuntimeError(f"the inferred invariant does not pass its check: {wrong}")
    else:
        draft.lines = list(found.clauses)
        clauses = counted(len(found.clauses), "inferred clause")
        headline = f"inductive with {clauses} (checked: {', '.join(found.checks)})"
        attempt.proved(headline, [*properties, found.predicate])


def _refuted(attempt: Attempt) -> None:
    """z3 claims that a reachable state violates a property: compiled code shows the run if it can."""
    found = attempt.enumerated(attempt.properties)
    if found.complete:
        raise RuntimeError(f"z3 says that a reachable state breaks a property; none of the {found.states:,} does")
    if found.violation is not None:
        attempt.violated(found.violation)
        return
    attempt.draft.verdict, attempt.draft.exit_code = "violated", ExitCode.NOT_AS_EXPECTED
    attempt.draft.headline = "a reachable state breaks a property; bmc shows the run"


@dataclass(frozen=True, slots=True)
class LemmaTrial:
    """Inferred lemmas, and the induction of the properties with them, in a system that includes them."""

    lemmas: Sequence[LiftedLemma]
    proof: InductionProof
    system: System


def _report(attempt: Attempt, tried: LemmaTrial, inferred: str, names: Sequence[str], counting: list[str]) -> None:
    """Shows the lemmas, and reports a proof if the induction succeeded. ``inferred`` describes them."""
    properties, draft, proof = attempt.properties, attempt.draft, tried.proof
    every = [*properties, *(it.lemma for it in tried.lemmas)]
    if attempt.record is not None:
        proof = induction(tried.system, every, attempt.left, attempt.record)
        draft.seconds += proof.seconds
    domain = domain_of(tried.system)
    draft.facts["clauses"] = [it.text for it in tried.lemmas]
    attempt.note_induction(proof, [it.lemma for it in tried.lemmas], names)
    draft.facts |= {
        "any_size": counting,
        "times": [[it.action, it.property, it.seconds] for it in proof.obligations],
        "domain": domain,
    }
    text = f"{counted(len(properties), 'property')} with {inferred}"
    text += f", {counted(len(proof.obligations), 'obligation')}, for every {', '.join(names)}"
    text += f" with {', '.join(domain)}" if domain else ""
    draft.lines = [line for it in tried.lemmas for line in ("", *it.text.splitlines())]
    if proof.outcome == "proved":
        attempt.proved(f"inductive: {text}", every)
        if draft.verdict == "holds":
            cross_check(attempt, tried.system, every, counting)
        return
    draft.verdict, draft.exit_code = "undetermined", ExitCode.UNDETERMINED
    draft.headline = f"not proved: {text}; {counted(len(proof.failing()), 'open obligation')}"


SUGGESTION_EFFORT = 1_000_000_000
"""z3's resource limit for finding clauses."""
SUGGESTION_ROUNDS = 6
"""The number of searches for clauses, each without those that proved not to be inductive for any size."""


def attempt_suggested(attempt: Attempt, names: Sequence[str], counting: list[str]) -> None:
    """Searches for clauses that are inductive at a few sizes, and checks whether they are at any.

    Those that are not are dropped, and others are searched for. Only the last induction proves anything.
    """
    found = attempt.enumerated(attempt.properties)
    if found.violation is not None:
        attempt.violated(found.violation)
        return
    started = time.perf_counter()
    vocabulary = vocabulary_of(attempt.model, names)
    deadline = Deadline(attempt.left, SUGGESTION_EFFORT)
    grammar, support = _support(attempt, vocabulary, names, counting, deadline)
    tried = None
    try:
        for _ in range(SUGGESTION_ROUNDS):
            clauses = support.clauses()
            tried = _tried(attempt, grammar, clauses, vocabulary, names, deadline)
            failing = {it.property for it in tried.proof.failing()}
            wrong = [name for name, it in zip(clauses, tried.lemmas, strict=True) if it.lemma.name in failing]
            if not wrong:
                break
            support.drop(wrong)
    except NothingFoundError as error:
        if tried is None:
            attempt.draft.headline = f"undetermined: nothing was inferred, {error}"
    attempt.draft.seconds += time.perf_counter() - started
    attempt.draft.facts |= {"questions": support.questions, "refuted": support.refuted}
    if tried is not None:
        _report(attempt, tried, counted(len(tried.lemmas), "suggested clause"), names, counting)


def _support(
    attempt: Attempt, vocabulary: Vocabulary, names: Sequence[str], counting: list[str], deadline: Deadline
) -> tuple[Grammar, Support]:
    sizes = sizes_of(attempt.model, names, counting)
    scopes = scopes_of(vocabulary, AtomFilter(attempt.model, vocabulary.names, names, counting))
    grammar = Grammar(scopes, list(reachable_states(sizes)))
    sized = [SizedSystem(model, attempt.properties, deadline) for model in sizes.queried]
    return grammar, Support(grammar, sized, attempt.properties, deadline)


def _tried(
    attempt: Attempt,
    grammar: Grammar,
    clauses: Mapping[str, QuantifiedClause],
    vocabulary: Vocabulary,
    names: Sequence[str],
    deadline: Deadline,
) -> LemmaTrial:
    """The induction at any size with some clauses as lemmas."""
    model = attempt.model
    lemmas = [
        lemma_of(number, type(model).__name__, grammar.scopes[clause.scope].sentence(clause), vocabulary.names)
        for number, clause in enumerate(clauses.values(), 1)
    ]
    every = [*attempt.properties, *(it.lemma for it in lemmas)]
    system = system_of(model, every, names, any_size=True)
    return LemmaTrial(lemmas, induction(system, every, deadline.left), system)


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
        guesses = lifted_lemmas(type(model).__name__, small.variables, found.literals, counts)
        tried = _inductive(attempt, [it for it in guesses if _is_meaningful(attempt, it, names)], names)
        if tried.proof.outcome == "proved":
            _report(attempt, tried, f"{len(tried.lemmas)} of {counted(len(guesses), 'lifted clause')}", names, counting)
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
