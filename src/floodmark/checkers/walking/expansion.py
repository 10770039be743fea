"""Every action in a state: the choices with which it is enabled, and the guards that stop the others."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from floodmark.checkers.explanation.guard import FalseGuard, guard_against
from floodmark.checkers.value_text import written_step
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, parameter_types
from floodmark.language.source import leading_guards, source_of
from floodmark.language.types import Type
from floodmark.language.universe import universe
from floodmark.language.values import running

MAX_CHOICES = 512
"""The maximum number of choices of an action's parameters for which the false guard is computed."""


@dataclass(slots=True)
class StoppingGuard:
    """A guard that is false, and the choices of parameters that it stops: its values are those for the first."""

    guard: FalseGuard
    steps: list[Step] = field(default_factory=list)


@dataclass(slots=True)
class ExpandedAction:
    """An action in a state. ``failed`` are the choices with which it leaves the declared types; ``error`` is why its
    choices are unknown."""

    name: str
    doc: str
    file: str
    line: int
    enabled: list[tuple[Step, State]] = field(default_factory=list)
    stopped: list[StoppingGuard] = field(default_factory=list)
    failed: list[tuple[Step, SourceError]] = field(default_factory=list)
    error: SourceError | None = None


@contextmanager
def without_breakpoints() -> Iterator[None]:
    """Disables ``breakpoint()`` in the block. Breakpoints that a debugger has set itself are not affected."""
    before = sys.breakpointhook
    sys.breakpointhook = lambda *_, **__: None
    try:
        yield
    finally:
        sys.breakpointhook = before


def expand(model: Model, state: State) -> list[ExpandedAction]:
    """The actions of a model, in their order, in ``state``. The reference meaning decides which are enabled."""
    with without_breakpoints():
        return [_expanded(model, state, name, method) for name, method in type(model).methods("action").items()]


def _expanded(model: Model, state: State, name: str, method: Callable[..., Any]) -> ExpandedAction:
    source = source_of(method)
    found = ExpandedAction(name, (method.__doc__ or "").strip(), source.file, source.tree.lineno)
    try:
        for step in reference.choices(model, state, name):
            _try(model, state, step, found)
        _find_guards(model, state, name, method, found)
    except SourceError as error:
        found.error = error
    return found


def _try(model: Model, state: State, step: Step, found: ExpandedAction) -> None:
    try:
        after = reference.fire(model, state, step)
    except SourceError as error:
        found.failed.append((step, error))
        return
    if after is not None:
        found.enabled.append((step, after))


def _find_guards(model: Model, state: State, name: str, method: Callable[..., Any], found: ExpandedAction) -> None:
    known = {written_step(step) for step, _ in (*found.enabled, *found.failed)}
    groups: dict[tuple[str | None, int | None, int], StoppingGuard] = {}
    drawn = _Candidates(model, state, method)
    for arguments in islice(drawn.choices({}), MAX_CHOICES):
        step = Step(name, arguments)
        if written_step(step) in known:
            continue
        try:
            guard = guard_against(model, state, step)
        except Exception:  # one that a leading guard rules out may fail behind it
            continue
        groups.setdefault((guard.file, guard.line, guard.part), StoppingGuard(guard)).steps.append(step)
    found.stopped = list(groups.values())
    if not found.stopped and not known:
        found.stopped.append(StoppingGuard(drawn.why_none()))


class _Candidates:
    """The choices of an action's parameters whether or not they are enabled: a parameter that a guard draws from a set
    takes its members, any other every value of its type."""

    def __init__(self, model: Model, state: State, method: Callable[..., Any]) -> None:
        self.model = model
        self.state = state
        self.method = method
        self.source = source_of(method)
        self.kinds = parameter_types(model, method)
        self.guards, _ = leading_guards(self.source)
        self.empty: tuple[str, ast.expr] | None = None

    def choices(self, chosen: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if len(chosen) == len(self.kinds):
            yield chosen
            return
        name = list(self.kinds)[len(chosen)]
        for value in self._values(name, self.kinds[name], chosen):
            yield from self.choices({**chosen, name: value})

    def _values(self, name: str, kind: Type, chosen: dict[str, Any]) -> Sequence[Any]:
        open_names = set(self.kinds) - set(chosen)
        for guard in self.guards:
            domain = reference.domain_of(guard, name, open_names)
            members = None if domain is None else self._evaluated(domain, chosen)
            if members is not None:
                found = reference._admitted(self.model, kind, members)
                self.empty = self.empty if found else (ast.unparse(guard), guard)
                return found
        if kind.codes > MAX_CHOICES:
            return ()
        with running(self.model):
            return list(universe(kind))

    def _evaluated(self, domain: ast.expr, chosen: dict[str, Any]) -> Any:
        self.model.load(self.state)
        return reference._evaluate(self.model, domain, reference.guard_names(self.model, self.method, chosen))

    def why_none(self) -> FalseGuard:
        """The text for an action whose parameters have no choice."""
        if self.empty is not None:
            text, guard = self.empty
            return FalseGuard(f"nothing satisfies {text}", self.source.file, guard.lineno)
        line = self.guards[0].lineno if self.guards else self.source.tree.lineno
        return FalseGuard("its guards allow no choice of its parameters", self.source.file, line)
