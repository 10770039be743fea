"""Reads recorded runs: JSON lines, each of which describes one step of a model."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from floodmark.checkers.conformance.external_values import Matches, pattern, value_of
from floodmark.checkers.project import input_file, json_text
from floodmark.checkers.project.properties import did_you_mean
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, parameter_types

_KEYS = ("action", "arguments", "before", "state", "step", "skip", "line")


@dataclass(frozen=True)
class Line:
    """The content of one line: an action, its arguments, and observations before and after it.

    ``exact`` are the arguments that the line gives completely. ``steps`` is False for a line that shows the state as it
    is, without another step. ``skip`` is the maximum number of unseen steps before it; None leaves that to the command
    line. ``number`` is the line of the file, or the line of another file that it refers to.
    """

    number: int
    action: str | None
    arguments: Mapping[str, Matches]
    exact: Mapping[str, Any]
    before: Mapping[int, Matches]
    state: Mapping[int, Matches]
    steps: bool
    skip: int | None
    data: Mapping[str, Any]

    def fits(self, step: Step) -> bool:
        """Whether the line may describe this step."""
        if self.action is not None and step.action != self.action:
            return False
        return all(matches(step.arguments[name]) for name, matches in self.arguments.items())

    def begins(self, state: State) -> bool:
        """Whether the line's step may begin in this state."""
        return all(matches(state[index]) for index, matches in self.before.items())

    def sees(self, state: State) -> bool:
        """Whether the state matches the line."""
        return all(matches(state[index]) for index, matches in self.state.items())

    def unlike(self, state: State) -> list[int]:
        """The variables, by index, that do not match the line."""
        return [index for index, matches in self.state.items() if not matches(state[index])]

    def unlike_before(self, state: State) -> list[int]:
        """The variables, by index, that do not match the observation before the step."""
        return [index for index, matches in self.before.items() if not matches(state[index])]


@dataclass(frozen=True)
class Trace:
    """The non-empty lines of a file, in order."""

    file: str
    lines: tuple[Line, ...]


def read(path: Path, model: Model) -> Trace:
    """Reads a file of JSON lines. Raises SourceError, with the line's number, for one that does not fit the model."""
    return parse(input_file.text_of(path), model, str(path))


def parse(text: str, model: Model, file: str) -> Trace:
    """The lines of ``text``; empty ones are skipped."""
    reader = _TraceReader(model)
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                lines.append(reader.line(number, line))
            except SourceError as error:
                raise SourceError(error.message, file, number) from None
    if not lines:
        raise SourceError("has no lines", file)
    return Trace(file, tuple(lines))


def _each_once(pairs: json_text.Pairs) -> dict[str, Any]:
    """A JSON object. Raises SourceError for a duplicate name: only one of its values would be compared."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise SourceError(f"an object has {next(it for it in names if names.count(it) > 1)!r} twice")
    return found


class _TraceReader:
    def __init__(self, model: Model) -> None:
        self.kinds = list(model.variable_types.items())
        self.names = [name for name, _ in self.kinds]
        self.actions = type(model).methods("action")
        initial = type(model).methods("initial")
        self.methods = {**initial, **self.actions}
        self.parameters = cache(lambda name: parameter_types(model, self.methods[name]))
        if not initial:
            self.methods["initial"] = lambda self: None

    def line(self, number: int, text: str) -> Line:
        try:
            given = json_text.parse(text, _each_once)
        except json_text.NotJsonError as error:
            raise SourceError(f"this is not JSON: {error}") from None
        if not isinstance(given, dict):
            raise SourceError('a line is an object: {"action": ..., "arguments": {...}, "state": {...}}')
        for key in given:
            if key not in _KEYS:
                raise SourceError(f"unknown key {key!r}{did_you_mean(key, _KEYS)}")
        action, skip, steps = given.get("action"), given.get("skip"), given.get("step", True)
        if action is not None and action not in self.methods:
            raise SourceError(f"the model has no action {action!r}{did_you_mean(str(action), self.methods)}")
        if skip is not None and (type(skip) is not int or skip < 0):
            raise SourceError(f"skip must be a whole number, 0 or more, not {skip!r}")
        if type(steps) is not bool:
            raise SourceError(f"step must be true or false, not {steps!r}")
        if not steps and (action is not None or skip):
            raise SourceError("a line without a step shows a state alone")
        number = given.get("line", number)
        if type(number) is not int or number < 1:
            raise SourceError(f"line must be the number of a line, not {number!r}")
        arguments = self.table(given, "arguments")
        if arguments and action is None:
            raise SourceError("arguments need an action")
        if not given:
            raise SourceError("the line says nothing")
        if given.get("before") and action not in self.actions:
            raise SourceError("an observation before a step needs an action")
        before, state = (self.state_patterns(self.table(given, key)) for key in ("before", "state"))
        patterns = self.argument_patterns(action, arguments)
        return Line(number, action, patterns, self.exact(action, arguments), before, state, steps, skip, given)

    def table(self, given: Mapping[str, Any], key: str) -> dict[str, Any]:
        table = given.get(key)
        if table is None:
            return {}
        if not isinstance(table, dict):
            raise SourceError(f"{key} must be an object, not {table!r}")
        return table

    def argument_patterns(self, action: str | None, arguments: Mapping[str, Any]) -> dict[str, Matches]:
        if action is None or not arguments:
            return {}
        kinds = self.parameters(action)
        for name in arguments:
            if name not in kinds:
                raise SourceError(f"{action} takes no argument {name!r}{did_you_mean(name, kinds)}")
        return {name: pattern(kinds[name], value, name) for name, value in arguments.items()}

    def exact(self, action: str | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that a line gives completely."""
        if action is None or not arguments:
            return {}
        kinds = self.parameters(action)
        values = {}
        for name, value in arguments.items():
            with suppress(SourceError):
                values[name] = value_of(kinds[name], value, name)
        return values

    def state_patterns(self, state: Mapping[str, Any]) -> dict[int, Matches]:
        for name in state:
            if name not in self.names:
                raise SourceError(f"the model has no variable {name!r}{did_you_mean(name, self.names)}")
        return {
            index: pattern(kind, state[name], name) for index, (name, kind) in enumerate(self.kinds) if name in state
        }
