"""The text about the step at which the good design differs from a known-bad one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from floodmark.checkers.search_result import Violation
from floodmark.checkers.value_text import show_step
from floodmark.checkers.verdict.divergence import Divergence, RuleResult

_MARKS = {
    "begins": "does not begin so",
    "stopped": "does not take it",
    "elsewhere": "goes elsewhere",
    "fails": "decides otherwise",
    "unknown": "has no such action",
    "unlike": "has no such state before it",
    "goes_on": "can continue otherwise",
}
Locate = Callable[[str, int | None], str]
"""Formats a line of a file for a report."""


def mark(found: Divergence | None, step: int) -> str:
    """The note next to a step of the trace, numbered from 1; empty for all but the first step that differs."""
    return f"{found.good} {_MARKS[found.how]}" if found is not None and found.step == step else ""


def headline(found: Divergence) -> str:
    """The headline above ``where``."""
    return f"where {found.good} decides otherwise"


def where(found: Divergence, violation: Violation) -> str:
    """``step 4, leader_advances_high_watermark()``."""
    steps = [entry.step for entry in violation.trace] + list(filter(None, [violation.failed_step]))
    if found.how == "unlike":
        return "not known"
    if found.step is None:
        return "in none of the steps"
    place = f"after step {found.step}" if found.how == "goes_on" else f"step {found.step}"
    return f"{place}, {show_step(steps[found.step - 1])}"


def sentence(found: Divergence, locate: Locate) -> str:
    """The good design's reaction, with the location of the guard or action that decides it."""
    return found.text if found.file is None else f"{found.text} ({locate(found.file, found.line)})"


def lines(found: Divergence, violation: Violation, locate: Locate) -> list[str]:
    """The whole finding as text, with the deciding rule last."""
    lines = [f"{headline(found)}: {where(found, violation)}", f"  {sentence(found, locate)}"]
    lines += [f"    {line}" for line in found.reasons]
    if found.ruling is not None:
        lines += [f"  the rule {found.ruling.call}", *(f"    {answer(it, locate)}" for it in versions(found))]
    return lines


def versions(found: Divergence) -> tuple[RuleResult, ...]:
    """The results of both designs' versions of the rule, the good one's first."""
    return () if found.ruling is None else (found.ruling.good, found.ruling.bad)


def answer(result: RuleResult, locate: Locate) -> str:
    """``AlterIsr (model/alter_isr/core.py:175): {b1,b2}``."""
    return f"{result.design} ({locate(result.file, result.line)}): {result.text}"


def divergence_entry(found: Divergence | None) -> dict[str, Any] | None:
    """The finding for JSON."""
    return None if found is None else asdict(found)
