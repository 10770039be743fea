"""Scenarios: runs that a spec lists, each of which must be possible, or must not.

CPython takes the steps, so a scenario follows the reference meaning, at the spec's constants. A scenario that must not
be possible is about its last step: all previous steps have to be possible, and the last one must be a disabled step of
the model. Neither an earlier step nor a misspelt argument can make such a scenario pass.

A step is written as a counterexample prints it, ``grants(client=c1)``, in source form (``walk.py``), or as the name of
its action alone. A name alone stands for the only step of the action in that state; as the last step of a scenario that
must not be possible, for every one.
"""

from __future__ import annotations

from dataclasses import replace

from floodmark.checkers.project.spec_entries import Scenario
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.value_text import written_step
from floodmark.checkers.verdict.result import ScenarioResult
from floodmark.checkers.walking.walk import Walk, WalkedPath, is_called
from floodmark.language.model import Model
from floodmark.language.plurals import counted


def run_scenario(model: Model, scenario: Scenario) -> ScenarioResult:
    """Takes the steps of a scenario. Raises SourceError if the model has a mistake on the way."""
    walk = Walk(model)
    result = ScenarioResult(scenario.name, scenario.line, 0)
    *before, last = scenario.steps
    begins = scenario.steps[0].partition("(")[0] in (*type(model).methods("initial"), "initial")
    starts = [WalkedPath(())] if begins else [WalkedPath((it,)) for it in walk.beginnings()]
    reached: list[WalkedPath] = []
    problem = "the model has no initial state"
    for start in starts:
        walked = _along(walk, start, before)
        if walked.stop:
            taken = len(walked.trace) - len(start.trace)
            if taken >= result.taken:
                result, problem = replace(result, taken=taken), f"step {taken + 1}: {walked.stop}"
        else:
            reached.append(walked)
    if not reached:
        unreached = "" if scenario.possible else f"; so its last step, {last}, is never tried"
        return replace(result, problem=problem + unreached)
    result = replace(result, taken=len(before))
    if scenario.possible:
        ends = [_along(walk, each, [last]) for each in reached]
        if any(not end.stop for end in ends):
            return replace(result, taken=len(scenario.steps))
        return replace(result, problem=f"step {len(scenario.steps)}: {ends[0].stop}")
    for each in reached:
        if problem := _possible(walk, each, last):
            return replace(result, problem=problem)
    return result


def _along(walk: Walk, start: WalkedPath, steps: list[str]) -> WalkedPath:
    """A path continued by steps, as far as the model takes them."""
    trace = start.trace
    for text in steps:
        after = walk.next(trace[-1].state if trace else None, text) if "(" in text else _only(walk, trace, text)
        if isinstance(after, str):
            return WalkedPath(trace, after)
        trace = (*trace, after)
    return WalkedPath(trace)


def _only(walk: Walk, trace: tuple[TraceState, ...], name: str) -> TraceState | str:
    """The only step that an action has after a trace, or why there is none."""
    if not trace:
        steps = [begun for begun in walk.beginnings() if begun.step.action == name]
    else:
        found = walk.action(trace[-1].state, name)
        if found is None:
            return f"{type(walk.model).__name__} has no action {name}"
        steps = [TraceState(step, state) for step, state in found.enabled]
    if len(steps) == 1:
        return steps[0]
    if steps:
        texts = ", ".join(written_step(each.step) for each in steps[:3])
        return f"{name} has {counted(len(steps), 'step')} here, write one of them: {texts}"
    return f"{name} is not enabled: {walk.why_none(trace[-1].state, name)}" if trace else f"{name} begins no run"


def _possible(walk: Walk, walked: WalkedPath, text: str) -> str:
    """The error about a last step that must not be possible; empty if it is a disabled step of the model."""
    if not walked.trace:
        return "a scenario that must not be possible has at least two steps, the first of which begins a run"
    state = walked.trace[-1].state
    name = text.partition("(")[0]
    found = walk.action(state, name)
    if found is None:
        return f"{type(walk.model).__name__} has no action {name}"
    enabled = [written_step(step) for step, _ in found.enabled if text == name or is_called(step, text)]
    if enabled:
        return f"its last step, {enabled[0]}, is possible, and must not be"
    if found.error is not None:
        raise found.error
    failing = [error for step, error in found.failed if text == name or is_called(step, text)]
    if failing:
        raise failing[0]
    known = (step for stopped in found.stopped for step in stopped.steps)
    if text != name and not any(is_called(step, text) for step in known):
        return f"its last step, {text}, is none that {name} can have here; write {name} alone if it can have none"
    return ""
