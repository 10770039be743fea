"""Distinguishes designs that take the same steps: by further steps, by the value of a property, or by fairness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from floodmark.checkers.designs.design_pair import DesignPair, StateMismatch
from floodmark.checkers.designs.rule_calls import first_difference, recording_calls
from floodmark.checkers.liveness.assumptions import Assumption, assumptions_of
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Violation
from floodmark.checkers.value_text import show_step, written_step
from floodmark.checkers.verdict.divergence import Divergence, How, RuleDifference
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.fairness import Fairness
from floodmark.language.model import Model, State
from floodmark.language.reference import Step

_MAX_STEPS = 4


@dataclass(frozen=True, slots=True)
class CheckSubject:
    """The subject of a check besides its model: the good design's properties, what its spec adds to fairness, and the
    constants that the known-bad design sets differently, with the values that the spec gives the good one."""

    properties: Mapping[str, Property]
    fairness: Mapping[str, Fairness | None]
    constants: Mapping[str, tuple[int, int]]


def distinction_of(beside: DesignPair, violation: Violation, subject: CheckSubject) -> Divergence:
    """The finding for a counterexample of which the good design takes every step."""
    found = None
    if violation.kind in ("deadlock", "liveness"):
        found = _continuation(beside, violation)
    if found is None and violation.kind == "liveness":
        found = _unfair(beside, violation, subject.fairness)
    if found is None and violation.kind in ("invariant", "transition"):
        found = _property_divergence(beside, violation, subject.properties.get(violation.property))
    return found or _alike(beside, subject.constants)


def _divergence(
    beside: DesignPair, how: How, step: int | None, text: str, reasons: Sequence[str] = (),
    ruling: RuleDifference | None = None,
) -> Divergence:
    bad, good = beside.names
    return Divergence(good, bad, how, step, f"{good} {text}", tuple(reasons), ruling=ruling)


def _continuation(beside: DesignPair, violation: Violation) -> Divergence | None:
    """The first state of the run's end or loop in which the good design can take a step that is not the
    other's."""
    first = len(violation.trace) - 1 if violation.loop is None else violation.loop
    for number, entry in enumerate(violation.trace[first:], first + 1):
        try:
            more = _only_in_other(beside, entry.state)
        except (StateMismatch, SourceError):
            return None
        if more:
            steps = [show_step(step) for step in more[:_MAX_STEPS]]
            steps += [f"{len(more) - _MAX_STEPS} more"] if len(more) > _MAX_STEPS else []
            text = f"takes each of these steps, too, but after step {number} it can also take {', '.join(steps)}"
            return _divergence(beside, "goes_on", number, text, (), _ruling(beside, entry.state, more[0]))
    return None


def _only_in_other(beside: DesignPair, state: State) -> list[Step]:
    here = beside.carried(state)
    ours = {written_step(step) for step, after in reference.successors(beside.mine, state) if after != state}
    steps = [(step, after) for step, after in reference.successors(beside.other, here) if after != here]
    return [step for step, _ in steps if written_step(step) not in ours]


def _ruling(beside: DesignPair, state: State, step: Step) -> RuleDifference | None:
    """The rule by which the other takes a step that is not enabled here."""
    if step.action not in type(beside.mine).methods("action"):
        return None
    with recording_calls([pair[0] for pair in beside.methods.values()]) as theirs:
        reference.fire(beside.other, beside.carried(state), step)
    with recording_calls([pair[1] for pair in beside.methods.values()]) as ours:
        reference.fire(beside.mine, state, step)
    return first_difference(beside.methods, (beside.names[1], theirs), (beside.names[0], ours))


def _unfair(beside: DesignPair, violation: Violation, changes: Mapping[str, Fairness | None]) -> Divergence | None:
    """Fairness assumptions of the good design that the loop violates: steps that it enables and does not take."""
    if violation.loop is None:
        return None
    try:
        loop = [beside.carried(entry.state) for entry in violation.trace[violation.loop :]]
    except StateMismatch:
        return None
    lines = []
    for assumption in assumptions_of(beside.other, changes).by_action.values():
        step = _neglected(beside.other, loop, assumption)
        if step is not None:
            when = "at times" if assumption.strong else "all the time"
            lines.append(f"{assumption} in {beside.names[1]}: {show_step(step)} is enabled {when}, and never taken")
    if not lines:
        return None
    text = "takes each of these steps, too, but not forever: the loop is unfair to one of its steps"
    return _divergence(beside, "fairness", None, text, lines)


def _neglected(model: Model, loop: Sequence[State], assumption: Assumption) -> Step | None:
    """A step to which a loop is not fair. Its last state is its first again; a loop of one state stutters."""
    states = loop[:-1] or loop
    moves = set(pairwise(loop))
    offers = [_offers(model, state, assumption) for state in states]
    for label in {label for offered in offers for label in offered}:
        offered = [found.get(label, []) for found in offers]
        taken = any((state, after) in moves for state, found in zip(states, offered, strict=True) for _, after in found)
        if not taken and (assumption.strong or all(offered)):
            return next(step for found in offered for step, _ in found)
    return None


def _offers(model: Model, state: State, assumption: Assumption) -> dict[int, list[tuple[Step, State]]]:
    """The steps of a fair action that change a state, by their labels."""
    found: dict[int, list[tuple[Step, State]]] = {}
    for step in reference.choices(model, state, assumption.action):
        after = reference.fire(model, state, step)
        if after is not None and after != state:
            found.setdefault(assumption.label(model, state, step.arguments), []).append((step, after))
    return found


def _property_divergence(beside: DesignPair, violation: Violation, prop: Property | None) -> Divergence | None:
    """The divergence that the property is true in the good design, whose rule returns something else."""
    entries = violation.trace[-2:] if violation.kind == "transition" else violation.trace[-1:]
    if prop is None:
        return None
    try:
        states = [beside.carried(entry.state) for entry in entries]
        with recording_calls([pair[0] for pair in beside.methods.values()]) as theirs:
            if not reference.holds(beside.other, prop.function, *states):
                return None
        with recording_calls([pair[1] for pair in beside.methods.values()]) as ours:
            own = getattr(type(beside.mine), prop.name, prop.function)
            reference.holds(beside.mine, own, *[entry.state for entry in entries])
    except (StateMismatch, SourceError):
        return None
    ruling = first_difference(beside.methods, (beside.names[1], theirs), (beside.names[0], ours))
    return _divergence(
        beside, "judged", None, f"takes each of these steps, too, but in it {prop.name} is true", (), ruling
    )


def _alike(beside: DesignPair, constants: Mapping[str, tuple[int, int]]) -> Divergence:
    text = "takes each of these steps, too"
    if constants:
        given = ", ".join(f"{name} = {here}" for name, (here, _) in constants.items())
        usual = ", ".join(f"{name} = {there}" for name, (_, there) in constants.items())
        text += f", with {given}; its own check has {usual}"
    return _divergence(beside, "alike", None, text)
