"""Coverage of a model: the effects of its actions and the values of its variables, separately.

Whole states are nearly always new, so they guide little; a new value of a variable, or an action that changes a
variable for the first time, guides more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from floodmark.checkers.conformance.proposals import Packed, Proposal
from floodmark.compiler.layout import Layout
from floodmark.language.types import WORD

Piece = tuple[str | int, int]


class Coverage:
    """Counts how often each piece was covered. ``states`` has the hashes of the states reached."""

    def __init__(self, layout: Layout) -> None:
        self.counts: Counter[Piece] = Counter()
        self.states: set[int] = set()
        self._slots = [
            (index, slot.word * WORD + slot.offset, (1 << slot.bits) - 1)
            for index, slot in enumerate(layout.slots.values())
        ]

    def pieces(self, before: Packed, proposal: Proposal) -> Iterator[Piece]:
        """What a step covers: which variables the action changes, and to what."""
        old, new = _joined(before), _joined(proposal.after)
        differing = old ^ new
        changed = 0
        for index, shift, mask in self._slots:
            if differing >> shift & mask:
                changed |= 1 << index
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


def _joined(words: Packed) -> int:
    joined = 0
    for word in reversed(words):
        joined = joined << WORD | word
    return joined
