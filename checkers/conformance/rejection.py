"""Explains why no run of a model fits a line of a trace: the nearest actions, and the guard that stopped each."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from floodmark.checkers.conformance.behaviour import Judgement
from floodmark.checkers.conformance.external_values import value_of
from floodmark.checkers.conformance.trace_file import Line
from floodmark.checkers.report.guard import false_guard
from floodmark.checkers.report.value import plain, show, show_step
from floodmark.language import reference
from floodmark.language.errors import Disabled, SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, parameter_types
from floodmark.language.source import leading_guards, names_in, source_of
from floodmark.language.types import Type
from floodmark.language.universe import universe
from floodmark.language.values import running

MOST_CANDIDATES = 20
MOST_INSTANCES = 4096
MOST_REASONS = 5


@dataclass(frozen=True)
class Reason:
    """Why an action is not the step that a line describes.

    ``unlike`` is the number of variables that it would leave different from the line; None when it is not enabled, and
    then ``file`` and ``line`` are those of the guard that stopped it, and ``part`` the index of the false conjunct.
    """

    step: str
    text: str
    unlike: int | None = None
    file: str | None = None
    line: int | None = None
    part: int = 0


def reasons(subject: Model, judgement: Judgement) -> list[Reason]:
    """The nearest first: enabled actions that differ least; then, for each action, the instance that got furthest."""
    line = judgement.failed_line
    if line is None:
        return []
    initial = line.action is not None and line.action not in type(subject).methods("action")
    if initial and judgement.matched > 0:
        return [Reason(f"{line.action}()", "begins a run, so only the first line can be about it")]
    if initial or (line.action is None and judgement.matched == 0):
        starts = reference.initial_states(subject)
        found = [_differs(subject, line, step, state) for step, state in starts if line.fits(step)]
    else:
        found = _of_actions(subject, line, judgement.candidates[:MOST_CANDIDATES])
    enabled = sorted({it for it in found if it.unlike is not None}, key=lambda it: (it.unlike, it.step))
    farthest: dict[str, Reason] = {}
    for reason in found:
        name = reason.step.partition("(")[0]
        if reason.unlike is None and _came(reason) > (_came(farthest[name]) if name in farthest else (-1, -1)):
            farthest[name] = reason
    nearest = sorted(farthest.values(), key=lambda reason: -reason.part)
    return [*enabled[:MOST_REASONS], *nearest[:MOST_REASONS]]


def _came(reason: Reason) -> tuple[int, int]:
    return reason.line or 0, reason.part


def _of_actions(subject: Model, line: Line, states: Sequence[State]) -> list[Reason]:
    actions = type(subject).methods("action")
    names = [line.action] if line.action is not None else list(actions)
    found = []
    for state, name in itertools.product(states, names):
        steps = list(itertools.islice(_instances(subject, state, name, actions[name], line), MOST_INSTANCES))
        if not steps:
            found.append(_nothing_offered(subject, name, actions[name]))
        found += [reason for step in steps if (reason := _reason(subject, state, step, line)) is not None]
    return found


def _instances(
    subject: Model, state: State, name: str, method: Callable[..., Any], line: Line
) -> Iterator[Step]:
    """The ways to take an action that a line may describe, including those that a guard rules out at once."""
    kinds = parameter_types(subject, method)
    given = line.given.get("arguments") or {}
    values: list[list[Any]] = []
    for parameter, kind in kinds.items():
        values.append(_values(subject, kind, parameter, given))
    if any(not choices for choices in values):
        steps: Iterator[Step] = iter(reference.choices(subject, state, name))
    else:
        steps = (Step(name, dict(zip(kinds, chosen, strict=True))) for chosen in itertools.product(*values))
    return (step for step in steps if line.fits(step))


def _values(subject: Model, kind: Type, name: str, given: Mapping[str, Any]) -> list[Any]:
    """The one given value, or every value of the type; nothing when there are too many."""
    if name in given:
        try:
            return [value_of(kind, given[name], name)]
        except SourceError:
            pass
    if kind.codes > MOST_INSTANCES:
        return []
    with running(subject):
        return list(universe(kind))


def _reason(subject: Model, state: State, step: Step, line: Line) -> Reason | None:
    subject.load(state)
    method = type(subject).methods("action")[step.action]
    with running(subject):
        try:
            method(subject, **step.arguments)
        except Disabled as disabled:
            return _stopped(step, disabled.__traceback__)
        except Exception as error:
            return Reason(show_step(step), f"leaves the model's types: {error}", len(line.state) + 1)
    return _differs(subject, line, step, subject.snapshot())


def _differs(subject: Model, line: Line, step: Step, after: State) -> Reason:
    names = list(subject.variable_types)
    said = line.given.get("state") or {}
    unlike = [
        f"{names[index]} is {show(after[index])}, the line has {_shown(said[names[index]])}"
        for index in line.unlike(after)
    ]
    return Reason(show_step(step), "; ".join(unlike), len(unlike))


def _shown(given: Any) -> str:
    return show(given) if isinstance(given, str | int | bool | None) else str(plain(given)).replace("'", '"')


def _stopped(step: Step, traceback: TracebackType | None) -> Reason:
    guard = false_guard(traceback)
    if guard.file is None:
        return Reason(show_step(step), "is not enabled")
    return Reason(show_step(step), f"is not enabled: {guard.text}", None, guard.file, guard.line, guard.part)


def _nothing_offered(subject: Model, name: str, method: Callable[..., Any]) -> Reason:
    """No value of a parameter passes the guards at the start of an action, such as ``require(request in
    self.requests)``."""
    source = source_of(method)
    parameters = set(parameter_types(subject, method))
    guards, _ = leading_guards(source)
    drawing = next((guard for guard in guards if names_in(guard) & parameters), None)
    text = "is not enabled" if drawing is None else f"is not enabled: nothing satisfies {ast.unparse(drawing)}"
    return Reason(f"{name}(...)", text, None, source.file, source.tree.lineno if drawing is None else drawing.lineno)
