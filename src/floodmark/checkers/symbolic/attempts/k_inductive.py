"""An attempt by k-induction."""

from __future__ import annotations

from floodmark.checkers.explanation.trace import trace_lines
from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.methods.k_induction import k_induction
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.language.plurals import counted, plural


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
