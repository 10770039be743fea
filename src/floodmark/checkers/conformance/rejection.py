"""Explains why no run of a model fits a line of a trace: the nearest actions, and the guard that stopped each."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from floodmark.checkers.conformance.behaviour import TraceResult
from floodmark.checkers.conformance.external_values import value_of
from floodmark.checkers.conformance.trace_file import Line
from floodmark.checkers.explanation.guard import false_guard
from floodmark.checkers.value_text import plain, show, show_step, source_form
from floodmark.language import reference
from floodmark.language.errors import ActionDisabled, SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, parameter_types
from floodmark.language.source import leading_guards, names_in, source_of
from floodmark.language.values import Map, Record, Seq, running

MAX_CANDIDATES = 20
MAX_INSTANCES = 4096
MAX_REASONS = 5


@dataclass(frozen=True)
class RejectionReason:
    """Why an action is not the step that a line describes.

    ``unlike`` is the number of variables that it would leave different from the line; None when it is not enabled, and
    then ``file`` and ``line`` are those of the guard that stopped it, and ``part`` the index of the false conjunct.
    """

    step: str
    action: str
    text: str
    unlike: int | None = None
    file: str | None = None
    line: int | None = None
    part: int = 0


def reasons(subject: Model, result: TraceResult) -> list[RejectionReason]:
    """The reasons, the nearest first: enabled actions by the number of differences; then, for each action, the instance
    that got furthest."""
    line = result.failed_line
    if line is None:
        return []
    initial = line.action is not None and line.action not in type(subject).methods("action")
    if initial and result.matched > 0:
        return [RejectionReason(
            f"{line.action}()", line.action or "", "begins a run, so only the first line can be about it"
        )]
    if initial or (line.action is None and result.matched == 0):
        starts = reference.initial_states(subject)
        found = [_differs(subject, line, step, state) for step, state in starts if line.fits(step)]
    else:
        found = _of_actions(subject, line, result.candidates[:MAX_CANDIDATES])
    enabled = sorted({it for it in found if it.unlike is not None}, key=lambda it: (it.unlike, it.step))
    farthest: dict[str, RejectionReason] = {}
    for reason in found:
        name = reason.action
        if reason.unlike is None and _came(reason) > (_came(farthest[name]) if name in farthest else (-1, -1)):
            farthest[name] = reason
    nearest = sorted(farthest.values(), key=lambda reason: -reason.part)
    return [*enabled[:MAX_REASONS], *nearest[:MAX_REASONS]]


def _came(reason: RejectionReason) -> tuple[int, int]:
    return reason.line or 0, reason.part


def _of_actions(subject: Model, line: Line, states: Sequence[State]) -> list[RejectionReason]:
    if not line.steps:
        return [_unlike(subject, line, "the state", "", state, line.unlike(state), "state") for state in states]
    beginning = [state for state in states if line.begins(state)]
    if not beginning:
        return [
            _unlike(subject, line, "before the step", line.action or "", state, line.unlike_before(state), "before")
            for state in states
        ]
    return _of_enabled(subject, line, beginning)


def _of_enabled(subject: Model, line: Line, states: Sequence[State]) -> list[RejectionReason]:
    actions = type(subject).methods("action")
    names = [line.action] if line.action is not None else list(actions)
    found = []
    for state, name in itertools.product(states, names):
        steps = list(itertools.islice(_instances(subject, state, name, actions[name], line), MAX_INSTANCES))
        if not steps:
            found.append(_nothing_offered(subject, name, actions[name]))
        found += [reason for step in steps if (reason := _reason(subject, state, step, line)) is not None]
    return found


def _instances(
    subject: Model, state: State, name: str, method: Callable[..., Any], line: Line
) -> Iterator[Step]:
    """The ways to take an action that a line may describe, including those that a guard rules out at once."""
    kinds = parameter_types(subject, method)
    given: dict[str, Any] = {}
    for parameter, value in (line.data.get("arguments") or {}).items():
        with suppress(SourceError, KeyError):
            given[parameter] = value_of(kinds[parameter], value, parameter)
    if any(kind.codes > MAX_INSTANCES for parameter, kind in kinds.items() if parameter not in given):
        steps: Iterator[Step] = iter(reference.choices(subject, state, name, given))
    else:
        steps = (Step(name, chosen) for chosen in reference.every_choice(subject, kinds, given))
    return (step for step in steps if line.fits(step))


def _reason(subject: Model, state: State, step: Step, line: Line) -> RejectionReason | None:
    subject.load(state)
    method = type(subject).methods("action")[step.action]
    with running(subject):
        try:
            method(subject, **step.arguments)
        except ActionDisabled as disabled:
            return _stopped(step, disabled.__traceback__)
        except Exception as error:
            return RejectionReason(
                show_step(step), step.action, f"leaves the model's types: {error}", len(line.state) + 1
            )
    return _differs(subject, line, step, subject.snapshot())


def _differs(subject: Model, line: Line, step: Step, after: State) -> RejectionReason:
    return _unlike(subject, line, show_step(step), step.action, after, line.unlike(after), "state")


def _unlike(
    subject: Model, line: Line, step: str, action: str, state: State, unlike: Sequence[int], key: str
) -> RejectionReason:
    """The variables whose values, in ``state`` or ``before``, differ from those of a line."""
    names = list(subject.variable_types)
    recorded = line.data.get(key) or {}
    texts = [
        f"{place} is {held}, the line has {given}"
        for index in unlike
        for place, held, given in _parts(names[index], state[index], recorded[names[index]])
    ]
    return RejectionReason(step, action, "; ".join(texts), len(unlike))


def _parts(place: str, value: Any, given: Any) -> Iterator[tuple[str, str, str]]:
    """The differing parts of a value and a line: entries of a map, fields of a record, elements of a sequence."""
    if isinstance(given, Mapping) and isinstance(value, Map | Record | Seq):
        for name, item in given.items():
            if isinstance(value, Map):
                held = next(of for key, of in value.items() if source_form(key) == name)
            elif isinstance(value, Record):
                held = getattr(value, name)
            elif name == "length":
                held = len(value)
            else:
                held = value[int(name)] if int(name) < len(value) else None
            yield from _parts(f"length of {place}" if name == "length" else f"{place}[{name}]", held, item)
    elif _shown(plain(value)) != _shown(given):
        yield place, show(value), _shown(given)


def _shown(given: Any) -> str:
    return show(given) if isinstance(given, str | int | bool | None) else str(plain(given)).replace("'", '"')


def _stopped(step: Step, traceback: TracebackType | None) -> RejectionReason:
    guard = false_guard(traceback)
    if guard.file is None:
        return RejectionReason(show_step(step), step.action, "is not enabled")
    text = f"is not enabled: {guard.text}"
    return RejectionReason(show_step(step), step.action, text, None, guard.file, guard.line, guard.part)


def _nothing_offered(subject: Model, name: str, method: Callable[..., Any]) -> RejectionReason:
    """No value of a parameter passes the guards at the start of an action, such as ``require(request in
    self.requests)``."""
    source = source_of(method)
    parameters = set(parameter_types(subject, method))
    guards, _ = leading_guards(source)
    drawing = next((guard for guard in guards if names_in(guard) & parameters), None)
    text = "is not enabled" if drawing is None else f"is not enabled: nothing satisfies {ast.unparse(drawing)}"
    line = source.tree.lineno if drawing is None else drawing.lineno
    return RejectionReason(f"{name}(...)", name, text, None, source.file, line)
