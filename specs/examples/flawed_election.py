"""Known-bad designs of an election."""

from __future__ import annotations

from floodmark import require
from specs.examples.election import Election, Epoch, Voter


class VotesAgain(Election):
    """A voter forgets that it has voted.

    Ongaro, "Consensus: Bridging Theory and Practice", section 3.4: each server votes for one candidate in a term.
    """

    def voter_votes(self, epoch: Epoch, voter: Voter, candidate: Voter) -> None:
        self.vote[epoch][voter] = candidate


class OneVoteWins(Election):
    """A candidate leads when one voter has voted for it.

    Ongaro, section 3.4: a candidate wins with votes from a majority of the servers.
    """

    def candidate_wins(self, epoch: Epoch, candidate: Voter) -> None:
        require(sum(1 for voter in Voter if self.vote[epoch][voter] == candidate) > 0)
        self.leaders[epoch].add(candidate)
