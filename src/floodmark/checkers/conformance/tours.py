"""Tours: an implementation executes a set of runs that together have the coverage of the walks in the model.

Walks in lockstep spend most of their steps on covered behaviour. That matters where an implementation is slow, such as
processes that use a server. On a tour the model is searched alone, by its compiled code. The implementation executes
only the runs that guided walks keep, the shortest one found for each piece of coverage, and a few random steps after
each.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.conformance.adapter import Adapter, Contract
from floodmark.checkers.conformance.coverage import WalkCoverage
from floodmark.checkers.conformance.lockstep import Lockstep, Mismatch
from floodmark.checkers.conformance.proposals import Packed, Proposal
from floodmark.checkers.conformance.walks import FURTHER, WalkFailure, WalkNode, Walks, with_short_mismatch
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

EXPLORED = 20_000
"""The number of steps of the walks through the model before a tour."""


class Tour:
    """Runs of an implementation. ``steps`` counts its steps, ``coverage`` is what they cover.

    ``walks`` is the last search of the model.

    Raises SourceError for an adapter with eager actions: the model alone does not determine when they are taken.
    """

    def __init__(self, contract: Contract, seed: int, explored: int = EXPLORED) -> None:
        if contract.eager:
            raise SourceError(f"a tour cannot take eager actions ({', '.join(contract.eager)}); use walk")
        self.contract = contract
        self.chance = random.Random(seed)
        self.explored = explored
        self.steps = 0
        self.walks = self._explore()
        self.coverage = WalkCoverage(self.walks.proposals.layout)

    def _explore(self) -> Walks:
        walks = Walks(
            self.contract.model, [], "guided", self.chance.randrange(1 << 32), allowed=self.contract.taken
        )
        walks.search(self.explored)
        return walks

    def runs(self) -> Iterator[WalkNode]:
        """The ends of the runs to be taken, in random order; then those of another search, if there are any."""
        while ends := longest(self.walks.kept_ends()):
            self.chance.shuffle(ends)
            yield from ends
            self.walks = self._explore()

    def search(self, most: int) -> WalkFailure | None:
        """Takes runs for up to ``most`` steps in total, until the implementation differs from the model."""
        for end in self.runs():
            try:
                self._take(end)
            except Mismatch as mismatch:
                return WalkFailure(mismatch.steps, None, mismatch, self.steps)
            if self.steps >= most:
                return None
        return None

    def _take(self, end: WalkNode) -> None:
        """Takes a run, and then random steps: combinations of separately covered pieces may matter."""
        path = end.path()
        run = Lockstep(self.contract, path[0].start, self.walks.proposals.layout.unpack(path[0].state))
        try:
            run.begin()
            for before, node in itertools.pairwise(path):
                assert node.proposal is not None
                self._step(run, before.state, node.proposal)
            state = end.state
            for _ in range(FURTHER):
                offered = self.walks.offer(state).proposals
                if not offered:
                    break
                proposal = self.chance.choice(offered)
                self._step(run, state, proposal)
                state = proposal.after
        finally:
            run.implementation.close()

    def _step(self, run: Lockstep, before: Packed, proposal: Proposal) -> None:
        self.steps += 1
        self.coverage.add(before, proposal)
        run.take(*self.walks.proposals.step(before, proposal))


def longest(ends: list[WalkNode]) -> list[WalkNode]:
    """The ends of the runs that are no prefix of another."""
    begun: set[tuple[object, ...]] = set()
    whole: dict[tuple[object, ...], WalkNode] = {}
    for end in ends:
        way = tuple((node.proposal and node.proposal.action, node.state) for node in end.path())
        begun.update(way[:length] for length in range(1, len(way)))
        whole[way] = end
    return [end for way, end in whole.items() if way not in begun]


def tour(
    model: Model, adapter: type[Adapter], seed: int = 1, most: int = 10_000, explored: int = EXPLORED
) -> WalkFailure | None:
    """Drives an implementation along runs that cover a model, for up to ``most`` steps.

    A difference is shortened to a run from which no step can be left out. The same seed finds the same difference. A
    tour restarts if a container without a capacity has to become wider.
    """

    def search(model: Model) -> WalkFailure | None:
        contract = Contract(model, adapter)
        return with_short_mismatch(contract, Tour(contract, seed, explored).search(most))

    return at_widths(model, search)
