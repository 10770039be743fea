"""Finds the overridden rule that returns something else, by recording the calls of overridden methods during a step."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType
from typing import Any

from floodmark.checkers.explanation.trace import change_lines
from floodmark.checkers.value_text import show
from floodmark.checkers.verdict.divergence import RuleDifference, RuleResult
from floodmark.language.model import Model, State
from floodmark.language.source import source_of

_MAX_EFFECTS = 3


@dataclass(slots=True)
class RuleCall:
    """One call of a method: its state and arguments, its result, and what it changed.

    ``answer`` is None for a call that a guard or an error ended.
    """

    name: str
    arguments: tuple[Any, ...]
    texts: tuple[str, ...]
    before: dict[str, Any]
    after: dict[str, Any] = field(default_factory=dict)
    answer: tuple[Any] | None = None

    def is_same_question(self, other: RuleCall) -> bool:
        """Whether two designs were called with the same values. Only variables that both have can differ for both."""
        common = self.before.keys() & other.before.keys()
        return (
            self.name == other.name
            and self.arguments == other.arguments
            and all(self.before[name] == other.before[name] for name in common)
        )

    def is_same_answer(self, other: RuleCall) -> bool:
        common = self.after.keys() & other.after.keys()
        return self.answer == other.answer and all(self.after[name] == other.after[name] for name in common)

    def result_text(self) -> str:
        """``{b1}``, or what the call changes, where it returns nothing."""
        if self.answer is None:
            return "stops"
        if self.answer[0] is not None:
            return show(self.answer[0])
        names = [name for name in self.before if name in self.after]
        old: State = tuple(self.before[name] for name in names)
        lines = change_lines(names, old, tuple(self.after[name] for name in names))
        more = [f"{len(lines) - _MAX_EFFECTS} more"] if len(lines) > _MAX_EFFECTS else []
        return "; ".join([*lines[:_MAX_EFFECTS], *more]) if lines else "changes nothing"


def overridden(good: type[Model], bad: type[Model]) -> dict[str, tuple[FunctionType, FunctionType]]:
    """The methods of which the two designs have different versions, by name."""
    found = {}
    for name in dir(good):
        ours, theirs = getattr(good, name, None), getattr(bad, name, None)
        if isinstance(ours, FunctionType) and isinstance(theirs, FunctionType) and ours is not theirs:
            found[name] = (ours, theirs)
    return found


@contextmanager
def recording_calls(methods: Sequence[Callable[..., Any]]) -> Iterator[list[RuleCall]]:
    """The calls of these methods while it lasts, in the order in which they end: an inner one before an outer one.

    It listens as a profiler does, so a debugger can be used at the same time.
    """
    codes = {method.__code__: method.__name__ for method in methods}
    ended: list[RuleCall] = []
    under_way: dict[FrameType, RuleCall] = {}
    before = sys.getprofile()

    def listen(frame: FrameType, event: str, answer: Any) -> None:
        if event == "call":
            if frame.f_code in codes:
                under_way[frame] = _call(codes[frame.f_code], frame)
        elif event == "return" and frame in under_way:
            call = under_way.pop(frame)
            call.after = dict(_subject(frame)._values)
            call.answer = None if answer is None and not _returns(frame) else (answer,)
            ended.append(call)

    sys.setprofile(listen)
    try:
        yield ended
    finally:
        sys.setprofile(before)


def _returns(frame: FrameType) -> bool:
    """Whether a frame is left by a return: its last instruction is one. An exception leaves it at another."""
    name = _instructions(frame.f_code).get(frame.f_lasti, "")
    return name.startswith(("RETURN", "INSTRUMENTED_RETURN"))


def _instructions(code: CodeType) -> dict[int, str]:
    return {it.offset: it.opname for it in dis.get_instructions(code)}


def _subject(frame: FrameType) -> Model:
    subject: Model = frame.f_locals[frame.f_code.co_varnames[0]]
    return subject


def _call(name: str, frame: FrameType) -> RuleCall:
    code = frame.f_code
    given = tuple(frame.f_locals[each] for each in code.co_varnames[1 : code.co_argcount])
    return RuleCall(name, given, tuple(map(show, given)), dict(_subject(frame)._values))


def first_difference(
    methods: dict[str, tuple[FunctionType, FunctionType]],
    good: tuple[str, Sequence[RuleCall]],
    bad: tuple[str, Sequence[RuleCall]],
) -> RuleDifference | None:
    """The first call in the good design to which the bad one gave another answer; each comes with its design's name."""
    for call in good[1]:
        for other in bad[1]:
            if call.is_same_question(other) and not call.is_same_answer(other):
                ours, theirs = methods[call.name]
                return RuleDifference(
                    f"{call.name}({', '.join(call.texts)})",
                    _rule_result(good[0], call, ours),
                    _rule_result(bad[0], other, theirs),
                )
    return None


def _rule_result(design: str, call: RuleCall, method: FunctionType) -> RuleResult:
    source = source_of(method)
    return RuleResult(design, call.result_text(), source.file, source.tree.lineno)
