"""The step at which the good design differs from a known-bad one, as plain data for reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

How = Literal[
    "begins", "stopped", "elsewhere", "fails", "unknown", "unlike", "goes_on", "judged", "fairness", "alike",
]  # fmt: skip
"""``begins``: the good design lacks this initial state. ``stopped``: one of its guards forbids the step. ``elsewhere``:
the step leads it to another state. ``fails``: the step leaves the types of one design only. ``unknown``: it lacks the
action. ``unlike``: the state before the step is not one of its states, so nothing follows. ``goes_on``: it takes every
step, but at the end or on the loop of the run it enables more. ``judged``: it takes every step, but satisfies the
property. ``fairness``: it takes every step, but does not repeat the loop forever, since the loop is unfair to one of
its steps. ``alike``: it behaves in the same way throughout."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """The result of one design's version of a rule; ``file`` and ``line`` are those of the method."""

    design: str
    text: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """A call of an overridden method with the same arguments in the same state, and the result of each version."""

    call: str
    good: RuleResult
    bad: RuleResult


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first step of a counterexample that the good design would not take.

    ``step`` counts the steps of the trace from 1; it is None if the good design takes them all. ``text`` is a sentence,
    ``reasons`` are lines that explain it; ``file`` and ``line`` are those of the guard, or of the action. ``ruling`` is
    the deciding rule, if it is one of the overridden ones.
    """

    good: str
    bad: str
    how: How
    step: int | None
    text: str
    reasons: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None
    ruling: RuleDifference | None = None
