"""Where the good design decides otherwise than a known-bad one, as plain data for reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

How = Literal[
    "begins", "stopped", "elsewhere", "fails", "unknown", "unlike", "goes_on", "judged", "fairness", "alike",
]  # fmt: skip
"""``begins``: the good design has no such initial state. ``stopped``: one of its guards forbids the step.
``elsewhere``: the step leads it to another state. ``fails``: the step leaves the types of one design only. ``unknown``:
it has no such action. ``unlike``: the state before the step is no state of it, so nothing can be said. ``goes_on``: it
takes every step, but at the end or on the loop of the run it can do more. ``judged``: it takes every step, but the
property is true in it. ``fairness``: it takes every step, but does not repeat the loop forever, since the loop leaves
out a step to which it is fair. ``alike``: it does everything in the same way."""


@dataclass(frozen=True, slots=True)
class Said:
    """The result of one design's version of a rule; ``file`` and ``line`` are those of the method."""

    design: str
    text: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Ruling:
    """A call of an overridden method with the same arguments in the same state, and what each version says to it."""

    call: str
    good: Said
    bad: Said


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first step of a counterexample that the good design would not take.

    ``step`` counts the steps of the trace from 1; it is None where the good design takes them all. ``text`` is a
    sentence, ``reasons`` are lines that explain it; ``file`` and ``line`` are those of the guard, or of the action.
    ``ruling`` is the rule that decided, where it is one of the overridden ones.
    """

    good: str
    bad: str
    how: How
    step: int | None
    text: str
    reasons: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None
    ruling: Ruling | None = None
