"""The first step of a counterexample that the good design would not take, and the rule by which it decides so.

The good design takes each step of the known-bad design again, from the same state, with the same action and arguments.
The two designs diverge at the first step that the good one does not take or that leads it elsewhere; up to there, the
runs of both are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from floodmark.checkers.designs import distinctions
from floodmark.checkers.designs.design_pair import Decision, DesignPair
from floodmark.checkers.search_result import Violation
from floodmark.checkers.verdict.divergence import Divergence
from floodmark.language.model import State
from floodmark.language.reference import Step


@dataclass(frozen=True, slots=True)
class _BadStep:
    """A step of the known-bad design; ``before`` is None for the first, ``after`` for one that fails."""

    number: int
    before: State | None
    step: Step
    after: State | None


def divergence(beside: DesignPair, violation: Violation, subject: distinctions.CheckSubject) -> Divergence:
    """The step at which ``beside.other``, the good design, diverges in a counterexample to ``beside.mine``.

    The state before a step is one of both designs: the analysis stops at the first step into a state that only one of
    them can be in.
    """
    hidden: Divergence | None = None
    for taken in _steps(violation):
        decision = _decision(beside, taken)
        if decision.how is None:
            continue
        if taken.before is None or taken.after is None or not beside.is_hidden(taken.before, taken.after):
            return _found(beside, taken.number, decision)
        hidden = hidden or _found(beside, taken.number, decision)
    return hidden or distinctions.distinction_of(beside, violation, subject)


def _steps(violation: Violation) -> list[_BadStep]:
    states = [entry.state for entry in violation.trace]
    found = [
        _BadStep(number, before, entry.step, entry.state)
        for number, (before, entry) in enumerate(zip([None, *states], violation.trace, strict=False), 1)
    ]
    if violation.failed_step is not None and states:
        found.append(_BadStep(len(found) + 1, states[-1], violation.failed_step, None))
    return found


def _decision(beside: DesignPair, taken: _BadStep) -> Decision:
    if taken.before is not None:
        return beside.decision(taken.before, taken.step, taken.after)
    assert taken.after is not None
    return beside.begins(taken.step, taken.after)


def _found(beside: DesignPair, step: int, decision: Decision) -> Divergence:
    bad, good = beside.names
    text = f"{good} {decision.text}"
    return Divergence(good, bad, decision.how or "alike", step, text, decision.reasons, decision.file, decision.line,
                      decision.ruling)


