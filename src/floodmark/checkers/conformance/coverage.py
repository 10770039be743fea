"""Coverage of a model: the effects of its actions and the values of its variables, separately.

Whole states are nearly always new and thus give little guidance; a new value of a variable, or an action that changes a
variable for the first time, gives more. The values of a number with a large range are excluded: there is always a
higher one, and walks would only extend the longest runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from floodmark.checkers.conformance.proposals import Packed, Proposal
from floodmark.compiler.layout import Layout, joined
from floodmark.language.types import WORD, IntType, Type

Piece = tuple[str | int, int]

MAX_COUNTED = 64
"""The maximum number of values of an integer type whose values count."""


class WalkCoverage:
    """Counts how often each piece was covered. ``states`` has the hashes of the states reached."""

    def __init__(self, layout: Layout) -> None:
        self.counts: Counter[Piece] = Counter()
        self.states: set[int] = set()
        self._slots = [
            (index, slot.word * WORD + slot.offset, (1 << slot.bits) - 1, not _goes_far(layout.variables[name]))
            for index, (name, slot) in enumerate(layout.slots.items())
        ]

    def pieces(self, before: Packed, proposal: Proposal) -> Iterator[Piece]:
        """The coverage of a step: the set of variables that the action changes, and their new values."""
        old, new = joined(before), joined(proposal.after)
        differing = old ^ new
        changed = 0
        for index, shift, mask, has_values in self._slots:
            if differing >> shift & mask:
                changed |= 1 << index
                if has_values:
                    yield index, new >> shift & mask
        yield proposal.action, changed

    def add(self, before: Packed, proposal: Proposal) -> list[Piece]:
        """Counts a step, and returns its pieces."""
        pieces = list(self.pieces(before, proposal))
        self.counts.update(pieces)
        self.states.add(hash(proposal.after))
        return pieces

    def actions(self) -> set[str]:
        """The actions that were taken."""
        return {piece[0] for piece in self.counts if isinstance(piece[0], str)}


def _goes_far(kind: Type) -> bool:
    return isinstance(kind, IntType) and kind.codes > MAX_COUNTED
