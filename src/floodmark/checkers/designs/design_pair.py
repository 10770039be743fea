"""One design in a state of another: whether it has such a state, and its reaction to a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from floodmark.checkers.designs.rule_calls import RuleCall, first_difference, overridden, recording_calls
from floodmark.checkers.explanation.guard import guard_against
from floodmark.checkers.explanation.trace import StateChange, changes
from floodmark.checkers.value_text import show, show_step
from floodmark.checkers.verdict.divergence import How, RuleDifference
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, parameter_types
from floodmark.language.source import source_of
from floodmark.language.values import admit, running

_FOREIGN = (SourceError, AttributeError, KeyError, TypeError)
"""The result for a value outside of a type, also for one of a quite different structure."""


class StateMismatch(Exception):  # noqa: N818 - not an error
    """A state of one design that the other lacks; the text names the variable that is the reason."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A design's reaction to a step that another design takes: the same step (``how`` is None), or another.

    ``text`` is a sentence without a subject, ``reasons`` are lines that explain it.
    """

    how: How | None
    text: str = ""
    reasons: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None
    ruling: RuleDifference | None = None


@dataclass(frozen=True, slots=True)
class _StepOutcome:
    """The outcome of a step: a state, None if a guard disabled it, or an error; and the calls of rules."""

    after: State | None
    error: SourceError | None
    calls: Sequence[RuleCall]


class DesignPair:
    """``other`` in the states of ``mine``. One is derived from the other, or both from a third."""

    def __init__(self, mine: Model, other: Model) -> None:
        self.mine = mine
        self.other = other
        self.names = type(mine).__name__, type(other).__name__
        self.methods = overridden(type(other), type(mine))

    def carried(self, state: State) -> State:
        """The state of ``other`` in which its variables are as in a state of ``mine``. Raises StateMismatch if there is
        none."""
        given = dict(zip(self.mine.variable_types, state, strict=True))
        mine, other = self.names
        for name, kind in self.other.variable_types.items():
            if name not in given:
                raise StateMismatch(f"{other} has the variable {name}, which {mine} has not")
            with running(self.other):
                try:
                    admit(kind, given[name], name)
                except _FOREIGN:
                    raise StateMismatch(f"{name} is {show(given[name])}, which {other} cannot store in it") from None
        return tuple(given[name] for name in self.other.variable_types)

    def is_hidden(self, before: State, after: State) -> bool:
        """Whether a step of ``mine`` changes no variable of ``other``."""
        try:
            return self.carried(before) == self.carried(after)
        except StateMismatch:
            return False

    def begins(self, step: Step, state: State) -> Decision:
        """Whether ``other`` begins in a state, too."""
        try:
            wanted = self.carried(state)
        except StateMismatch as unlike:
            return Decision("begins", f"does not begin so: {unlike}")
        lines: tuple[str, ...] = ()
        for begun, found in reference.initial_states(self.other):
            if found == wanted:
                return Decision(None)
            if show_step(begun) == show_step(step):
                lines = self.differences(found, wanted)
        return Decision("begins", "does not begin so", lines, *type(self.other).source_position())

    def decision(self, state: State, step: Step, after: State | None) -> Decision:
        """The reaction of ``other`` to a step of ``mine``, which leads to ``after``, or fails if that is None.

        Raises StateMismatch if ``other`` lacks the state.
        """
        here = self.carried(state)
        method = type(self.other).methods("action").get(step.action)
        if method is None:
            return Decision("unknown", f"has no action {step.action}", (), *type(self.other).source_position())
        source = source_of(method)
        place = source.file, source.tree.lineno
        foreign = self._foreign_argument(step)
        if foreign:
            return Decision("stopped", foreign, (), *place)
        if self._agrees(here, step, after):
            return Decision(None)
        theirs = self._done(self.other, here, step)
        ours = self._done(self.mine, state, step)
        names = self.names[1], self.names[0]
        ruling = first_difference(self.methods, (names[0], theirs.calls), (names[1], ours.calls))
        if theirs.error is not None:
            error = theirs.error
            return Decision("fails", f"fails there: {error.message}", (), error.file, error.line, ruling)
        if theirs.after is None:
            guard = guard_against(self.other, here, step)
            text = f"does not take it: {guard.text}" if guard.text else "does not take it"
            return Decision("stopped", text, guard.reasons, guard.file, guard.line, ruling)
        if after is None:
            return Decision("fails", "takes it without an error", (), *place, ruling)
        try:
            wanted = self.carried(after)
        except StateMismatch as unlike:
            return Decision("elsewhere", f"goes elsewhere: {unlike}", (), *place, ruling)
        return Decision("elsewhere", "goes elsewhere", self.differences(theirs.after, wanted), *place, ruling)

    def _agrees(self, here: State, step: Step, after: State | None) -> bool:
        """Whether ``other`` takes the same step. This check does not record the calls of rules, which would take
        several times as long: only a difference has a deciding rule."""
        try:
            theirs = reference.fire(self.other, here, step)
        except SourceError:
            return after is None
        try:
            return theirs is not None and after is not None and theirs == self.carried(after)
        except StateMismatch:
            return False

    def _foreign_argument(self, step: Step) -> str:
        """Why the other's action cannot have the arguments of a step; empty if it can."""
        kinds = parameter_types(self.other, type(self.other).methods("action")[step.action])
        if list(kinds) != list(step.arguments):
            return f"takes other parameters: {', '.join(kinds) or 'none'}"
        with running(self.other):
            for name, value in step.arguments.items():
                try:
                    admit(kinds[name], value, name)
                except _FOREIGN:
                    return f"has no such {name}: {show(value)}"
        return ""

    def _done(self, model: Model, state: State, step: Step) -> _StepOutcome:
        which = 0 if model is self.other else 1
        with recording_calls([pair[which] for pair in self.methods.values()]) as calls:
            try:
                return _StepOutcome(reference.fire(model, state, step), None, calls)
            except SourceError as error:
                return _StepOutcome(None, error, calls)

    def differences(self, theirs: State, ours: State) -> tuple[str, ...]:
        """The differences of two states of ``other``: its value, and the one that ``mine`` has instead."""
        mine, other = self.names
        return tuple(_beside(it, other, mine) for it in changes(list(self.other.variable_types), theirs, ours))


def _beside(change: StateChange, other: str, mine: str) -> str:
    """``x: 1 in Other, 2 in Mine``."""
    if change.old is None:
        return f"{change.path}: {change.new} only in {mine}"
    if change.new is None:
        return f"{change.path}: {change.old} only in {other}"
    return f"{change.path}: {change.old} in {other}, {change.new} in {mine}"
