"""An attempt by induction for every number of identifiers, and every value of the constants that bound integers."""

from __future__ import annotations

from collections import Counter

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants, require_open_counts
from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.attempts.obligation_text import obligation_lines
from floodmark.checkers.symbolic.attempts.small_sizes import cross_check
from floodmark.checkers.symbolic.crosscheck.countermodels import countermodels
from floodmark.checkers.symbolic.methods.induction import InductionProof, induction
from floodmark.checkers.symbolic.methods.lemmas import lemmas_of
from floodmark.checkers.symbolic.tactics.alternation_cycles import cycle_lines
from floodmark.checkers.symbolic.translate.obligations import INITIAL
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.plurals import counted


def attempt_at_any_size(attempt: Attempt) -> None:
    """Checks whether each action preserves each property for every number of identifiers."""
    check, task, model, draft = attempt.check, attempt.task, attempt.model, attempt.draft
    names, counting = counting_constants(model)
    lemmas = lemmas_of(check.spec, type(model), check.settings.invariant_files)
    every = [*attempt.properties, *lemmas]
    system = system_of(model, every, names, any_size=True)
    proof = induction(
        system, every, task.seconds, attempt.record, book=attempt.book, watch=attempt.watch, workers=task.workers
    )
    draft.seconds = proof.seconds
    attempt.note_induction(proof, lemmas, names)
    draft.facts |= {
        "any_size": counting,
        "times": [[it.action, it.property, it.seconds] for it in proof.obligations],
    }
    text = f"{counted(len(attempt.properties), 'property')} with {counted(len(lemmas), 'lemma')}"
    text += f", {counted(len(proof.obligations), 'obligation')}"
    text += f", for every {', '.join(names)}"
    domain = domain_of(system)
    draft.facts["domain"] = domain
    if domain:
        text += f" with {', '.join(domain)}"
    if proof.outcome == "proved":
        attempt.proved(f"inductive: {text}", every)
        if draft.verdict == "holds":
            cross_check(attempt, system, every, counting)
        return
    _show_what_is_missing(attempt, every, counting, proof, text, system)


def counting_constants(model: Model) -> tuple[list[str], list[str]]:
    """The constants that are left open, and those among them that count identifiers. Raises SourceError if none counts
    any, or those that do cannot be left open."""
    names, counting = any_size_constants(model)
    if not counting:
        require_open_counts(model)
        message = f"no constant of {type(model).__name__} counts identifiers; any size means any number of them"
        raise SourceError(message, *type(model).source_position())
    return names, counting


def domain_of(system: System) -> list[str]:
    """The constraints on open constants under which no type is empty; a proof covers these values."""
    return [f"{form - form.number} >= {-form.number}" for form in system.domain]


def _show_what_is_missing(
    attempt: Attempt, properties: list[Property], counting: list[str], proof: InductionProof, text: str, system: System
) -> None:
    draft = attempt.draft
    failing = proof.failing()
    wanted = [(obligation.action, obligation.property) for obligation in failing]
    found = countermodels(attempt.model, properties, counting, wanted, attempt.left)
    shown = {(it.obligation.action, it.obligation.property): it for it in found}
    counts = Counter("fails" if key in shown else "undetermined" for key in wanted)
    parts = [f"{counts['fails']} fail"] if counts["fails"] else []
    parts += [f"{counts['undetermined']} are undetermined"] if counts["undetermined"] else []
    draft.verdict, draft.exit_code = "undetermined", ExitCode.UNDETERMINED
    if any(it.obligation.counterexample is not None and it.obligation.counterexample.reachable for it in found):
        draft.verdict, draft.exit_code = "violated", ExitCode.NOT_AS_EXPECTED
    draft.headline = f"not proved: {text}; {' and '.join(parts)}"
    draft.facts["open"] = [
        [it.action, it.property, "fails" if (it.action, it.property) in shown else "undetermined", it.reason]
        for it in failing
    ]
    book = attempt.book
    missing = [it for it in failing if book is not None and it.reason == book.missing]
    if book is not None and missing:
        draft.lines.append(f"{counted(len(missing), 'obligation')}: {book.missing}")
    for obligation in (it for it in failing if it not in missing):
        real = shown.get((obligation.action, obligation.property))
        if real is not None:
            draft.lines += obligation_lines(real.system, real.obligation, attempt.not_assumed)
        else:
            draft.lines += obligation_lines(system, obligation)
    if book is None or book.finds:
        open_ones = [key for key in wanted if key not in shown and key[0] != INITIAL]
        draft.lines += cycle_lines(system, properties, *open_ones[0]) if open_ones else []
