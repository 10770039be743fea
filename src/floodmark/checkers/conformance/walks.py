"""Random walks through a model, in lockstep with an implementation or alone.

A walk examines every step that the model could take next, so it never misses a violation one step away. There are two
strategies:

* ``uniform``: each walk starts in an initial state.
* ``guided``: for each piece of coverage (``checkers.conformance.coverage``), a pool keeps the shortest run that covers
  it. Most walks start at the end of a run from the pool: a few runs are drawn, and the one used least often is taken.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.conformance.adapter import Adapter, Contract
from floodmark.checkers.conformance.coverage import Piece, WalkCoverage
from floodmark.checkers.conformance.lockstep import Lockstep, Mismatch, shortened
from floodmark.checkers.conformance.proposals import Packed, Proposal, Proposals, ProposedSteps
from floodmark.checkers.project.properties import Property
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.plurals import counted
from floodmark.language.reference import Step

WalkChoice = Literal["uniform", "guided"]

LENGTH = 40
"""The number of steps of a walk from an initial state."""
FURTHER = 20
"""The number of steps of a walk from the end of a kept run."""
FRESH = 0.1
"""The share of guided walks that start in an initial state."""
DRAWN = 8
"""The number of kept runs that are drawn; the one used least often as a start is taken."""


@dataclass(frozen=True, slots=True)
class WalkFailure:
    """A run that fails: a step violates a property, or the implementation differs from the model.

    ``taken`` counts the steps of all walks so far.
    """

    steps: tuple[Step, ...]
    property: Property | None
    mismatch: Mismatch | None
    taken: int


@dataclass(frozen=True, slots=True)
class WalkNode:
    """A state of a walk, and the way to it. ``proposal`` is None for an initial state."""

    state: Packed
    start: Step
    proposal: Proposal | None
    before: WalkNode | None
    depth: int

    def path(self) -> list[WalkNode]:
        """The nodes from the beginning to this one."""
        found: list[WalkNode] = []
        node: WalkNode | None = self
        while node is not None:
            found.append(node)
            node = node.before
        return found[::-1]


@dataclass(slots=True)
class _PooledRun:
    node: WalkNode
    begun: int = 0


class Walks:
    """Walks until a failure is found. With a ``contract``, its implementation takes each step too.

    Without one, ``allowed`` are the permitted actions, if not all are. From the end of a kept run a walk takes
    ``further`` steps. ``steps`` counts the states whose proposals were examined. Returning to the end of a kept run,
    for which an implementation has to repeat that run, is not counted.
    """

    def __init__(
        self, model: Model, properties: Sequence[
            Property
        ], choice: WalkChoice, seed: int, contract: Contract | None = None,
        allowed: Collection[str] | None = None, further: int = FURTHER,
    ) -> None:
        self.model = model
        self.choice = choice
        self.further = further
        self.chance = random.Random(seed)
        self.contract = contract
        self.proposals = Proposals(model, properties)
        self.coverage = WalkCoverage(self.proposals.layout)
        self.steps = 0
        self._starts = [
            WalkNode(self.proposals.layout.pack(state), step, None, None, 0)
            for step, state in reference.initial_states(model)
        ]
        self._pool: list[_PooledRun] = []
        self._shortest: dict[Piece, _PooledRun] = {}
        taken = allowed if contract is None else contract.taken
        self._allowed = None if taken is None or set(taken) >= set(self.proposals.actions) else taken
        self._bounded = bool(type(model).methods("boundary"))

    def begin_after(self, runs: Sequence[Sequence[Step]]) -> None:
        """Makes every walk start at the end of one of the runs. Raises SourceError when one is no run of the model."""
        self._starts = [self._end(steps) for steps in runs]

    def _end(self, steps: Sequence[Step]) -> WalkNode:
        pack = self.proposals.layout.pack
        node = next(node for node in self._starts if node.start == steps[0])
        state = self.proposals.layout.unpack(node.state)
        for step in steps[1:]:
            after = reference.fire(self.model, state, step)
            if after is None:
                raise SourceError(f"{step} is not enabled after the {counted(node.depth + 1, 'step')} before it")
            proposal = next(
                each for each in self.proposals.of(node.state).proposals
                if each.action == step.action and each.after == pack(after)
                and self.proposals.step(node.state, each)[0] == step
            )
            node = WalkNode(proposal.after, node.start, proposal, node, node.depth + 1)
            state = after
        return node

    def search(self, most: int) -> WalkFailure | None:
        """Walks for up to ``most`` steps in total. Raises SourceError when the model leaves its types."""
        for node in self._starts:
            false = self.proposals.false_in(node.state)
            if false is not None:
                return WalkFailure(self._steps(node), false, None, self.steps)
        while self.steps < most:
            found = self._walk()
            if found is not None:
                return found
        return None

    def kept_ends(self) -> list[WalkNode]:
        """The ends of the runs that guided walks keep: for each piece of coverage, the shortest one that covers it."""
        return [each.node for each in self._pool]

    def _walk(self) -> WalkFailure | None:
        node = self._start()
        run = None
        try:
            if self.contract is not None:
                run, node = self._driven(node)
            for _ in range(self.further if node.depth else LENGTH):
                self.steps += 1
                offer = self.offer(node.state)
                bad = self._bad(node, offer)
                if not offer.proposals:
                    return None
                proposal = self.chance.choice(offer.proposals) if bad is None else bad[0]
                self._keep(node, proposal)
                node = self._next(node, proposal, run)
                if bad is not None:
                    return WalkFailure(self._steps(node), bad[1], None, self.steps)
        except Mismatch as mismatch:
            return WalkFailure(mismatch.steps, None, mismatch, self.steps)
        finally:
            if run is not None:
                run.implementation.close()
        return None

    def _start(self) -> WalkNode:
        if self.choice == "uniform" or not self._pool or self.chance.random() < FRESH:
            return self.chance.choice(self._starts)
        drawn = self.chance.sample(self._pool, min(DRAWN, len(self._pool)))
        kept = min(drawn, key=lambda each: each.begun)
        kept.begun += 1
        return kept.node

    def _driven(self, node: WalkNode) -> tuple[Lockstep, WalkNode]:
        """An implementation that was driven along the run of a node."""
        assert self.contract is not None
        path = node.path()
        run = Lockstep(self.contract, path[0].start, self.proposals.layout.unpack(path[0].state))
        try:
            run.begin()
            now = self._settled(path[0], run)
            for each in path[1:]:
                assert each.proposal is not None
                now = self._next(now, each.proposal, run)
        except BaseException:
            run.implementation.close()
            raise
        return run, now

    def _settled(self, node: WalkNode, run: Lockstep) -> WalkNode:
        """The model's node after the implementation's eager actions."""
        if not run.contract.eager:
            return node
        state = self.proposals.layout.pack(run.state)
        return WalkNode(state, node.start, node.proposal, node.before, node.depth)

    def _next(self, node: WalkNode, proposal: Proposal, run: Lockstep | None) -> WalkNode:
        after = WalkNode(proposal.after, node.start, proposal, node, node.depth + 1)
        if run is None:
            return after
        run.take(*self.proposals.step(node.state, proposal))
        return self._settled(after, run)

    def offer(self, state: Packed) -> ProposedSteps:
        """The steps that may be taken from a state. Raises SourceError when one leaves the model's types."""
        offer = self.proposals.of(state)
        if offer.failed:
            self._fail(self.proposals.layout.unpack(state))
        if self._bounded or self._allowed is not None:
            return ProposedSteps([each for each in offer.proposals if self._is_allowed(each)], offer.broken, False)
        return offer

    def _fail(self, state: State) -> None:
        """Raises the error that CPython finds in a step, or in a property of it."""
        for _, after in reference.successors(self.model, state):
            for prop in self.proposals.of_steps:
                reference.holds(self.model, prop.function, state, after)
        raise RuntimeError(f"compiled code says that a step fails, but CPython takes it, in {state}")

    def _is_allowed(self, proposal: Proposal) -> bool:
        if self._allowed is not None and proposal.action not in self._allowed:
            return False
        return not self._bounded or reference.within_boundary(
            self.model, self.proposals.layout.unpack(proposal.after)
        )

    def _bad(self, node: WalkNode, offer: ProposedSteps) -> tuple[Proposal, Property] | None:
        """A proposal that violates a property."""
        if not self.proposals.of_states and not offer.broken:
            return None
        for proposal in offer.proposals:
            false = self.proposals.false_in(proposal.after) if self.proposals.of_states else None
            if false is None and offer.broken:
                false = self.proposals.false_of(node.state, proposal.after)
            if false is not None:
                return proposal, false
        return None

    def _keep(self, node: WalkNode, proposal: Proposal) -> None:
        """Counts the coverage of a step, and keeps the run for each piece for which it is the shortest so far."""
        pieces = self.coverage.add(node.state, proposal)
        if self.choice == "uniform":
            return
        depth = node.depth + 1
        for piece in pieces:
            kept = self._shortest.get(piece)
            if kept is None:
                kept = self._shortest[piece] = _PooledRun(WalkNode(proposal.after, node.start, proposal, node, depth))
                self._pool.append(kept)
            elif depth < kept.node.depth:
                kept.node = WalkNode(proposal.after, node.start, proposal, node, depth)

    def _steps(self, node: WalkNode) -> tuple[Step, ...]:
        """The steps of a run, taken by CPython."""
        path = node.path()
        steps = [path[0].start]
        for before, after in itertools.pairwise(path):
            assert after.proposal is not None
            steps.append(self.proposals.step(before.state, after.proposal)[0])
        return tuple(steps)


def walk(
    model: Model, adapter: type[Adapter], choice: WalkChoice = "guided", seed: int = 1, most: int = 10_000,
    properties: Sequence[Property] = (), after: Sequence[Sequence[Step]] = (),
) -> WalkFailure | None:
    """Drives an implementation in lockstep with a model for up to ``most`` steps; each walk starts at the end of one of
    the runs ``after``, if there are any.

    A difference is shortened to a run from which no step can be left out. The same seed finds the same difference.
    Walks restart if a container without a capacity has to become wider.
    """

    def search(model: Model) -> WalkFailure | None:
        contract = Contract(model, adapter)
        walks = Walks(model, properties, choice, seed, contract)
        if after:
            walks.begin_after(after)
        return with_short_mismatch(contract, walks.search(most))

    return at_widths(model, search)


def with_short_mismatch(contract: Contract, found: WalkFailure | None) -> WalkFailure | None:
    """The failure, or where it is a difference, one after a run from which no step can be left out."""
    if found is None or found.mismatch is None:
        return found
    shorter = shortened(contract, found.mismatch)
    return WalkFailure(shorter.steps, None, shorter, found.taken)
