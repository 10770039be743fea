"""An attempt by bounded search."""

from __future__ import annotations

from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.search_result import Violation
from floodmark.checkers.simulation.deep_runs import deep_runs
from floodmark.checkers.simulation.walker import WalkPlan, WalkStrategy
from floodmark.checkers.symbolic.attempts.attempt import Attempt, all_states
from floodmark.checkers.symbolic.methods import bmc
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.value_text import show
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.model import Model
from floodmark.language.plurals import counted
from floodmark.language.values import Identifier

MAX_RUNS = 20
"""The maximum number of random walks after whose runs a bounded search begins."""
WALKED_STEPS = 100
"""The maximum number of steps of these walks."""


def attempt_bounded(attempt: Attempt) -> None:
    """Searches for a run that violates a property, up to a depth.

    A container without a capacity may be too narrow for a step; a run to such a step is found like one to a model
    error. The search then begins anew with twice the width.
    """
    draft, task, wanted = attempt.draft, attempt.task, attempt.properties
    deadline = Deadline(task.seconds)
    if task.after_walks:
        _after_walks(attempt, deadline)
        return

    def search(model: Model) -> bmc.BmcResult:
        return bmc.search(system_of(model, wanted), wanted, task.depth, deadline, record=attempt.record)

    found = at_widths(attempt.model, search)
    draft.seconds = found.seconds
    draft.facts["depth"] = found.depth
    draft.lines = [_interchangeable(members) for members in found.interchangeable]
    if found.violation is not None:
        _violated(attempt, found.violation)
        draft.headline += "; there is no shorter run"
        return
    draft.headline = f"no violation within {counted(found.depth, 'state')}"
    if found.stopped:
        draft.headline += f"; ended by {found.stopped}"
        return
    _to_the_end(attempt, found.depth)


def _violated(attempt: Attempt, violation: Violation) -> None:
    attempt.violated(violation)
    if attempt.check.wanted_property == violation.property and violation.kind != "error":
        attempt.draft.exit_code = ExitCode.AS_EXPECTED


def _after_walks(attempt: Attempt, deadline: Deadline) -> None:
    """Searches for a violation near the deepest states of random walks. Finding none says nothing about other runs."""
    draft, task, wanted = attempt.draft, attempt.task, attempt.properties
    walking = WalkPlan(task.after_walks, WALKED_STEPS, 0, WalkStrategy.ACTIONS)

    def search(model: Model) -> tuple[int, bmc.BmcResult]:
        found = bmc.BmcResult()
        runs = deep_runs(model, walking, MAX_RUNS)
        for number, run in enumerate(runs):
            found = bmc.search(system_of(model, wanted), wanted, task.depth, deadline, after=run)
            if found.violation is not None or found.stopped:
                return number, found
        return len(runs), found

    searched, found = at_widths(attempt.model, search)
    draft.seconds = deadline.seconds_used
    draft.facts["after"] = searched
    walks = f"of {counted(task.after_walks, 'walk')}"
    if found.violation is not None:
        _violated(attempt, found.violation)
        draft.headline += f"; z3 began after run {searched + 1} {walks}"
        return
    within = counted(task.depth, "state")
    draft.headline = f"no violation within {within} from the ends of {counted(searched, 'run')} {walks}"
    draft.headline += f"; ended by {found.stopped}" if found.stopped else "; nothing is known of other runs"


def _to_the_end(attempt: Attempt, depth: int) -> None:
    """Determines whether runs of ``depth`` states cover everything; if not, longer ones are unknown.

    Each state ends a shortest run, which has at most as many states as the search has levels. A step from the last
    level, on which a transition property is checked, adds one more state, and so does a state outside the boundary.
    """
    draft, headline = attempt.draft, attempt.draft.headline
    found = attempt.enumerated(attempt.properties)
    violation = found.violation
    if violation is not None and len(violation.trace) <= depth:
        attempt.contradicted(headline, violation, attempt.properties)
    elif violation is not None:
        name = violation.property or violation.message
        draft.headline += f"; {name} fails after {counted(len(violation.trace), 'state')}, which check shows"
    elif found.complete and found.depth + _beyond(attempt) <= depth:
        where = f"which lead to {all_states(found)}" if found.states else "for no state is within the boundary"
        draft.headline = f"{headline}, {where}"
        attempt.report_holding(found)
    elif attempt.task.expect == "bounded" and attempt.check.wanted_property is None:
        draft.exit_code = ExitCode.AS_EXPECTED
        draft.headline += ", as the spec expects"
    else:
        draft.headline += "; deeper states were not searched"


def _beyond(attempt: Attempt) -> int:
    """The number of states that a run may have beyond the last level of a search."""
    steps = any(prop.kind == "transition" for prop in attempt.properties)
    return int(steps or bool(type(attempt.model).methods("boundary")))


def _interchangeable(members: tuple[Identifier, ...]) -> str:
    names = ", ".join(show(member) for member in members)
    return f"z3 proved that no action, property or boundary distinguishes {names}: runs mention them in this order"
