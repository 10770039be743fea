"""An attempt by inferring an inductive invariant."""

from __future__ import annotations

from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.methods.ic3 import CHECKS, infer
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.verdict.result import ExitCode
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
