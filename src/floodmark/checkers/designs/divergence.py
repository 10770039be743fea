"""The first step of a counterexample that the good design would not take, and the rule by which it decides so.

The good design takes each step of the known-bad design again, from the same state, with the same action and arguments.
The two designs diverge at the first step that the good one does not take or that leads it elsewhere; up to there, the
runs of both are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from floodmark.checkers.designs import distinctions
from floodmark.checkers.designs.design_pair import Decision, DesignPair
from floodmark.checkers.designs.distinctions import CheckSubject
from floodmark.checkers.project.spec import Spec
from floodmark.checkers.search_result import Violation
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.divergence import Divergence
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
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


def with_constants(cls: type[Model], model: Model) -> Model:
    """A model of ``cls`` with the constants of another; those that only one of the two has keep their defaults."""
    known = cls.constants()
    return cls(**{name: value for name, value in model.constant_values.items() if name in known})


def where_the_good_design_differs(check: Check, model: Model, violation: Violation) -> Divergence | None:
    """The step at which the spec's model diverges in the counterexample of its known-bad design ``model``; None for a
    check of the spec's model itself."""
    if check.flawed is None:
        return None
    cls = check.spec.model_class()
    try:
        good = with_constants(cls, model)
        changed = _changed(check.spec, cls, model)
    except SourceError as error:
        text = f"{cls.__name__} cannot be compared, as it cannot be made with these constants: {error.message}"
        return Divergence(cls.__name__, type(model).__name__, "unlike", None, text, (), error.file, error.line)
    properties = check.spec.properties(cls, check.settings.invariant_files)
    subject = CheckSubject(properties, check.spec.fairness, changed)
    return divergence(DesignPair(model, good), violation, subject)


def _changed(spec: Spec, cls: type[Model], model: Model) -> dict[str, tuple[int, int]]:
    """The constants that the known-bad design sets differently: its value, and that of the spec's model."""
    usual = cls(**spec.constants).constant_values
    return {
        name: (value, usual[name])
        for name, value in model.constant_values.items()
        if name in usual and usual[name] != value
    }
