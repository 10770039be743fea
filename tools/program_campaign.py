"""Compares a part of all small bodies; ``python -m benchmarks.programs`` asks for all parts."""

from __future__ import annotations

from pathlib import Path

from floodmark.checkers.codegen.jit import GOOD, UNOPTIMISED
from tests.support.any_size_programs import compare_any_size
from tests.support.program_agreement import Compared, compare
from tests.support.program_grammars import ANY_SIZE
from tests.support.small_programs import Grammar, Template

BATCH = 250
"""Bodies in one model."""
OPTIMISED = 48
"""One batch in so many is compiled as a long search would have it, and not as a short one."""


def compared(grammar: Grammar, place: Template, start: int, stop: int, directory: Path) -> Compared:
    """The results for a range of a place's bodies."""
    bodies = grammar.bodies(place)
    found = Compared()
    for first in range(start, min(stop, len(bodies)), BATCH):
        some = bodies[first : min(first + BATCH, stop)]
        if grammar in ANY_SIZE:
            found += compare_any_size(grammar, place, some, directory)
            continue
        optimised = first // BATCH % OPTIMISED == 0
        found += compare(grammar, place, some, directory, GOOD if optimised else UNOPTIMISED)
        found.counts["batches"] += 1
        found.counts["optimised"] += optimised
    return found
