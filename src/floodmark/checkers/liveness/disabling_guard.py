"""Explains why an action is not enabled in a state: the false guard, with its location."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from floodmark.checkers.project.paths import shown_line
from floodmark.checkers.value_text import show, show_step
from floodmark.language.errors import ActionDisabled, user_position
from floodmark.language.model import Model, State
from floodmark.language.reference import (
    MAX_PARAMETER_VALUES,
    Step,
    _evaluate,
    count_choices,
    domain_of,
    every_choice,
    guard_names,
    parameter_types,
)
from floodmark.language.source import Source, leading_guards, source_of
from floodmark.language.values import running

_MAX_GUARD = 100


def why_disabled(model: Model, state: State, action: str, is_meant: Callable[[Step], bool]) -> str:
    """``it requires turn == me (peterson.py:40)``: the guard that stops the selected step that gets furthest."""
    method = type(model).methods("action")[action]
    furthest: tuple[int, str] = (-1, "")
    for step in _steps(model, action):
        if is_meant(step):
            furthest = max(furthest, _stopped(model, state, step), key=lambda found: found[0])
    if furthest[0] >= 0:
        return furthest[1]
    source = source_of(method)
    guards, _ = leading_guards(source)
    line = guards[0].lineno if guards else source.tree.lineno
    return f"no choice of its parameters is allowed by its guards ({_place(source.file, line)})"


def _steps(model: Model, action: str) -> list[Step]:
    """The choices of an action's parameters; empty if there are too many."""
    kinds = parameter_types(model, type(model).methods("action")[action])
    if count_choices(kinds) > MAX_PARAMETER_VALUES:
        return []
    return [Step(action, chosen) for chosen in every_choice(model, kinds)]


def _stopped(model: Model, state: State, step: Step) -> tuple[int, str]:
    """The progress of a step until it is disabled: by one of the guards in order, a later require, or its effect."""
    method = type(model).methods("action")[step.action]
    source = source_of(method)
    guards, _ = leading_guards(source)
    model.load(state)
    names = guard_names(model, method, step.arguments)
    for place, guard in enumerate(guards):
        if _evaluate(model, guard, names) is False:
            return place, f"{_false(model, guard, names, step)} ({_place(source.file, guard.lineno)})"
    line = source.tree.lineno
    try:
        with running(model):
            method(model, **step.arguments)
    except ActionDisabled as stop:
        file, line_there = user_position(stop.__traceback__)
        return len(guards), f"{_subject(step)} requires {_required(source, line_there)} ({_place(file, line_there)})"
    except Exception:
        return -1, ""
    what = "changes nothing" if model.snapshot() == state else "leaves the boundary"
    return len(guards) + 1, f"{show_step(step)} {what} ({_place(source.file, line)})"


def _false(model: Model, guard: ast.expr, names: dict[str, Any], step: Step) -> str:
    """A description of a false guard; for one that draws a parameter from a set, the content of that set."""
    for domain in filter(None, (domain_of(guard, name) for name in step.arguments)):
        return f"{_short(domain)} is {show(_evaluate(model, domain, names))}"
    return f"{_subject(step)} requires {_short(guard)}"


def _required(source: Source, line: int | None) -> str:
    """The condition of the require on a line of an action, unless the line belongs to another function."""
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(func=ast.Name(id="require"), args=[condition]) if line is not None and (
                node.lineno <= line <= (node.end_lineno or line)
            ):
                return _short(condition)
    return "what a helper requires"


def _subject(step: Step) -> str:
    return show_step(step) if step.arguments else "it"


def _short(guard: ast.expr) -> str:
    text = ast.unparse(guard)
    return text if len(text) <= _MAX_GUARD else f"{text[: _MAX_GUARD - 4]} ..."


def _place(file: str | None, line: int | None) -> str:
    return "?" if file is None else shown_line(file, line)
