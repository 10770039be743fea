"""An attempt for every number of identifiers with lemmas that are suggested from counterexamples to induction."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.attempts.inferred_lemmas import LemmaTrial, report
from floodmark.checkers.symbolic.methods.induction import induction
from floodmark.checkers.symbolic.methods.lifting import lemma_of
from floodmark.checkers.symbolic.suggestions.grammar import Grammar
from floodmark.checkers.symbolic.suggestions.scopes import scopes_of
from floodmark.checkers.symbolic.suggestions.sentences import AtomFilter, QuantifiedClause
from floodmark.checkers.symbolic.suggestions.sized import SizedSystem
from floodmark.checkers.symbolic.suggestions.sizes import reachable_states, sizes_of
from floodmark.checkers.symbolic.suggestions.support import NothingFoundError, Support
from floodmark.checkers.symbolic.suggestions.vocabulary import Vocabulary, vocabulary_of
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.language.plurals import counted

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
        report(attempt, tried, counted(len(tried.lemmas), "suggested clause"), names, counting)


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
