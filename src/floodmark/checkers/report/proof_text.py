"""The text output for a proof."""

from __future__ import annotations

from floodmark.checkers.verdict.proof_result import ProofResult


def text_lines(result: ProofResult) -> list[str]:
    """The text output for a result."""
    variant = "" if result.variant is None else f" {result.variant}"
    first = f"{result.word:<12}  {result.name}{variant}  {result.method}: {result.headline}, {result.seconds:.1f} s"
    return [first, *(f"              {line}" for line in result.lines)]
