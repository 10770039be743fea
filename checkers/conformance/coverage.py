"""What of a model has been covered: the effects of its actions, and the values of its variables, each by itself.

Whole states are new nearly always, so they say little about where to go; a value of one variable that was never there,
or an action that changes what it never changed, says more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from checkers.conformance.proposals import Packed, Proposal
from model.compiler.layout import WORD, Layout

Piece = tuple[str | int, int]


class Coverage:
    """Counts how often each piece was covered."""

    def __init__(self, layout: Layout) -> None:
        self.counts: Counter[Piece] = Counter()
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

    def add(self, before: Packed, proposal: Proposal) -> None:
        self.counts.update(self.pieces(before, proposal))

    def rarity(self, before: Packed, proposal: Proposal) -> int:
        """How often the rarest piece of a step was covered before."""
        return min(self.counts[piece] for piece in self.pieces(before, proposal))


def _joined(words: Packed) -> int:
    joined = 0
    for word in reversed(words):
        joined = joined << WORD | word
    return joined
