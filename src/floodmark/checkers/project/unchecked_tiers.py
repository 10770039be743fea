"""Counts the specs, known-bad designs and proofs that a run of one tier leaves to the other."""

from __future__ import annotations

from collections.abc import Iterable

from floodmark.checkers.project.spec import Spec
from floodmark.language.plurals import counted


def left_out(specs: Iterable[Spec], tier: str, proofs: bool = True) -> str:
    """The contents of the other tier, as a sentence; empty if it has none. Without ``proofs``, only its checks."""
    specs = list(specs)
    other = "deep" if tier == "quick" else "quick"
    numbers = {
        "spec": sum(spec.tier == other for spec in specs),
        "known-bad design": sum(spec.tier_of(flawed) == other for spec in specs for flawed in spec.flawed),
        "proof": sum(proving.tier == other for spec in specs for proving in spec.prove if proofs),
    }
    parts = [counted(number, what) for what, number in numbers.items() if number]
    return f"left to the {other} tier (--tier {other}): {', '.join(parts)}" if parts else ""
