"""A part of a counterexample: the steps of some participants, some variables, and expressions in each state.

A participant takes part in a step if it acts, if it sends or receives a message (``sequence.py`` finds both), if an
argument of the step names it, or if the step changes its entry of a map.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from floodmark.checkers.explanation.trace import StateChange, StatePart, changes, owners, state_parts, step_with_note
from floodmark.checkers.report.sequence import ROLES, message_sequence
from floodmark.checkers.report.watched import WatchExpression, participants_of
from floodmark.checkers.search_result import Violation
from floodmark.checkers.value_text import show_arguments, show_step
from floodmark.language.errors import SourceError
from floodmark.language.model import Model


@dataclass(frozen=True, slots=True)
class TraceView:
    """A restriction of a trace: to the steps in which one of ``participants`` takes part, and to ``variables``, with
    the values of the ``watched`` expressions in each state. An empty view is false."""

    model: Model
    participants: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    watched: tuple[WatchExpression, ...] = ()

    @classmethod
    def of(cls, model: Model, words: Sequence[str]) -> TraceView:
        """The view that words select: names of participants (``b2``, ``controller``) and of variables, and expressions.
        A word without a meaning in this model is ignored."""
        known = {repr(each) for each in participants_of(model)} | ROLES
        variables = tuple(word for word in words if word in model.variable_types)
        participants = tuple(word for word in words if word in known and word not in variables)
        rest = [word for word in words if word not in variables and word not in participants]
        return cls(model, participants, variables, tuple(filter(None, (_watched(model, word) for word in rest))))

    def __bool__(self) -> bool:
        return bool(self.participants or self.variables or self.watched)

    def lines(self, violation: Violation, mark: Callable[[int], str]) -> Iterator[str]:
        """The steps of a counterexample; steps keep their numbers, and omitted ones are named."""
        trace, names = violation.trace, list(self.model.variable_types)
        shown = self._steps(violation)
        width = len(str(len(trace)))
        indent = f"{' ' * width}    "
        values: dict[str, str] = {}
        left: list[int] = []
        for number, entry in enumerate(trace, 1):
            if number not in shown:
                left.append(number)
                continue
            yield from self._left(left, indent)
            left = []
            yield f"{number:>{width}}  {step_with_note(show_step(entry.step), mark(number))}"
            parts: Sequence[StateChange | StatePart] = (
                state_parts(names, entry.state) if number == 1 else changes(names, trace[number - 2].state, entry.state)
            )
            texts = [str(part) for part in parts if self._is_about(part)]
            for each in self.watched:
                value = each.value(entry.state)
                before = values.get(each.text)
                if value != before:
                    texts.append(f"{each.text}: {value}" if before is None else f"{each.text}: {before} -> {value}")
                values[each.text] = value
            yield from (f"{indent}{text}" for text in texts)
        yield from self._left(left, indent)

    def _left(self, steps: Sequence[int], indent: str) -> Iterator[str]:
        if steps:
            which = f"step {steps[0]} is" if len(steps) == 1 else f"steps {steps[0]} to {steps[-1]} are"
            yield f"{indent}({which} without {' and '.join(self.participants)})"

    def _is_about(self, part: StateChange | StatePart) -> bool:
        if self.variables and re.split(r"[.\[]", part.path, maxsplit=1)[0] not in self.variables:
            return False
        mine = part.owner is None or repr(part.owner) in self.participants
        return mine or not any(repr(each) in self.participants for each in participants_of(self.model))

    def _steps(self, violation: Violation) -> set[int]:
        """The numbers of the shown steps; the first has the initial state."""
        trace, names = violation.trace, list(self.model.variable_types)
        if not self.participants:
            return set(range(1, len(trace) + 1))
        chart = message_sequence(self.model, trace, violation.failed_step)
        chosen = {index for index, name in enumerate(chart.participants) if name in self.participants}
        shown = {1}
        shown |= {each.number for each in chart.events if each.actor in chosen}
        named = re.compile(rf"\b({'|'.join(map(re.escape, self.participants))})\b")
        shown |= {number for number, entry in enumerate(trace, 1) if named.search(show_arguments(entry.step.arguments))}
        for message in chart.messages:
            shown |= {message.sent} if message.sender in chosen else set()
            shown |= {message.received} if message.receiver in chosen and message.received is not None else set()
        for number in range(2, len(trace) + 1):
            changed = owners(names, trace[number - 2].state, trace[number - 1].state)
            if any(repr(who) in self.participants for who in changed):
                shown.add(number)
        return shown


def _watched(model: Model, word: str) -> WatchExpression | None:
    try:
        return WatchExpression(model, word)
    except SourceError:
        return None


def require_meaning(words: Sequence[str], models: Sequence[Model]) -> None:
    """Refuses a word without a meaning in any of the models; ``models`` is empty if one of them cannot be read."""
    for word in words if models else ():
        if not any(TraceView.of(model, [word]) for model in models):
            try:
                WatchExpression(models[0], word)
            except SourceError as error:
                raise SourceError(f"--for {word}: {error.message}") from None
