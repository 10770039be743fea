"""An election as in Raft: a voter with the votes of a majority in an epoch leads it.

Epochs have no order here, as nothing asks for one: a voter votes once in each of them.
"""

from __future__ import annotations

from floodmark import Constant, Identifier, Map, Model, Set, action, initial, invariant, reachable, require


class Voter(Identifier, count="voters", prefix="v"):
    """Who votes, and may be voted for."""


class Epoch(Identifier, count="epochs", prefix="e"):
    """One election."""


class Election(Model):
    """``voters`` voters who choose leaders for ``epochs`` epochs."""

    voters = Constant(3)
    epochs = Constant(2)

    vote: Map[Epoch, Map[Voter, Voter | None]]
    leaders: Map[Epoch, Set[Voter]]

    @initial
    def start(self) -> None:
        self.vote = Map({epoch: Map({voter: None for voter in Voter}) for epoch in Epoch})
        self.leaders = Map({epoch: Set() for epoch in Epoch})

    @action
    def voter_votes(self, epoch: Epoch, voter: Voter, candidate: Voter) -> None:
        require(self.vote[epoch][voter] is None)
        self.vote[epoch][voter] = candidate

    @action
    def candidate_wins(self, epoch: Epoch, candidate: Voter) -> None:
        require(2 * sum(1 for voter in Voter if self.vote[epoch][voter] == candidate) > self.voters)
        self.leaders[epoch].add(candidate)

    @invariant
    def epoch_has_one_leader(self) -> bool:
        """No epoch has two leaders (Raft, "Election Safety")."""
        return all(
            one == other for epoch in Epoch for one in self.leaders[epoch] for other in self.leaders[epoch]
        )

    @reachable
    def epochs_have_different_leaders(self) -> bool:
        """Voters may choose another leader in another epoch."""
        return any(
            one != other for epoch in Epoch for later in Epoch for one in self.leaders[epoch]
            for other in self.leaders[later]
        )
