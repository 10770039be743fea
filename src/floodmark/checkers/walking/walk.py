"""A path of steps through a model: the texts of its steps, replayed by CPython from the beginning.

A step is identified by the text that a counterexample prints, or by its source form. If a record has a text of its own,
several steps may print alike; the source form distinguishes them, and the printed text is refused there.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from floodmark.checkers.explanation.guard import FalseGuard
from floodmark.checkers.project.paths import shown_line
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.value_text import show_step, written_step
from floodmark.checkers.walking.expansion import ExpandedAction, expand, without_breakpoints
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.plurals import counted
from floodmark.language.reference import Step

MAX_KEPT = 4096
"""The maximum number of states whose enabled steps are cached."""


def is_called(step: Step, text: str) -> bool:
    """Whether a text identifies a step."""
    return text in (show_step(step), written_step(step))


@dataclass(frozen=True, slots=True)
class WalkedPath:
    """The part of a path that the model takes. ``stop`` is the reason why the next step is not taken."""

    trace: tuple[TraceState, ...]
    stop: str = ""


@dataclass
class Walk:
    """Takes paths of one model. A path is the texts of its steps, the first that of an initial state."""

    model: Model
    expanded: dict[State, list[ExpandedAction]] = field(default_factory=dict)
    taken: dict[tuple[State | None, str], TraceState | str] = field(default_factory=dict)

    def beginnings(self) -> Iterator[TraceState]:
        """Every initial state. Raises SourceError."""
        with without_breakpoints():
            for step, state in reference.initial_states(self.model):
                yield TraceState(step, state)

    def actions(self, state: State) -> list[ExpandedAction]:
        """Every action in a state."""
        if state not in self.expanded:
            if len(self.expanded) >= MAX_KEPT:
                self.expanded.clear()
            self.expanded[state] = expand(self.model, state)
        return self.expanded[state]

    def along(self, path: Sequence[str]) -> WalkedPath:
        """The states of a path, as far as the model takes it."""
        trace: list[TraceState] = []
        for text in path:
            found = self.next(trace[-1].state if trace else None, text)
            if isinstance(found, str):
                return WalkedPath(tuple(trace), found)
            trace.append(found)
        return WalkedPath(tuple(trace))

    def next(self, state: State | None, text: str) -> TraceState | str:
        """The step of this text in a state, or in None the initial state of this text; else the reason why it is not
        taken."""
        if (state, text) not in self.taken:
            if len(self.taken) >= MAX_KEPT:
                self.taken.clear()
            self.taken[state, text] = self._initial_state(text) if state is None else self._next(state, text)
        return self.taken[state, text]

    def _initial_state(self, text: str) -> TraceState | str:
        found = [begun for begun in self.beginnings() if is_called(begun.step, text)]
        return _the_only(found, text) or f"{text} is no initial state of {type(self.model).__name__}"

    def _next(self, state: State, text: str) -> TraceState | str:
        name = text.partition("(")[0]
        if name not in type(self.model).methods("action"):
            return f"{type(self.model).__name__} has no action {name}"
        found = []
        with without_breakpoints():
            for step in reference.choices(self.model, state, name):
                if is_called(step, text):
                    try:
                        after = reference.fire(self.model, state, step)
                    except SourceError as error:
                        return f"{text} fails: {error}"
                    if after is not None:
                        found.append(TraceState(step, after))
        return _the_only(found, text) or self._why_not(state, name, text)

    def action(self, state: State, name: str) -> ExpandedAction | None:
        """An action in a state; None if the model has no such action."""
        return next((action for action in self.actions(state) if action.name == name), None)

    def _why_not(self, state: State, name: str, text: str) -> str:
        action = self.action(state, name)
        stopped = [] if action is None else action.stopped
        guards = [it.guard for it in stopped if any(is_called(step, text) for step in it.steps)]
        if not guards or guards[0].file is None:
            known = [] if action is None else [show_step(step) for step, _ in action.enabled[:3]]
            return f"{text} is not enabled" + (f"; {name} can be {' or '.join(known)}" if known else "")
        return f"{text} is not enabled: {_guard_text(guards[0])}"

    def why_none(self, state: State, name: str) -> str:
        """Why an action has no step in a state: the guards that stop it."""
        action = self.action(state, name)
        return "; ".join(_guard_text(it.guard) for it in action.stopped) if action is not None else ""

    def run(self, state: State, text: str) -> None:
        """Repeats a step, with breakpoints, for a user with a debugger. Its result is already known.

        A debugger that is left with ``continue`` keeps its handler of Ctrl-C, so the previous one is restored.
        """
        step = self._step(state, text)
        interrupted = signal.getsignal(signal.SIGINT)
        if step is None:
            return
        try:
            reference.fire(self.model, state, step)
        except SourceError:
            return
        finally:
            if signal.getsignal(signal.SIGINT) is not interrupted:
                signal.signal(signal.SIGINT, interrupted)

    def _step(self, state: State, text: str) -> Step | None:
        for action in self.actions(state):
            steps = [step for step, _ in (*action.enabled, *action.failed)]
            steps += [step for stopped in action.stopped for step in stopped.steps]
            for step in steps:
                if is_called(step, text):
                    return step
        return None


def _the_only(found: Sequence[TraceState], text: str) -> TraceState | str:
    """The step of a text, or that several have it; empty if there is none."""
    if len({each.state for each in found}) > 1:
        texts = ", ".join(written_step(each.step) for each in found[:3])
        return f"{text} is {counted(len(found), 'step')} here, write one of them: {texts}"
    return found[0] if found else ""


def _guard_text(guard: FalseGuard) -> str:
    place = "" if guard.file is None else f" ({shown_line(guard.file, guard.line)})"
    return f"{guard.text}{place}"
