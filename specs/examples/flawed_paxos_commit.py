"""Known-bad designs of Paxos Commit."""

from __future__ import annotations

from floodmark import Set, require
from specs.examples.paxos_commit import Acceptor, Ballot, PaxosCommit, ResourceManager, Value, Vote


class VotesInEarlierBallots(PaxosCommit):
    """An acceptor that has joined a ballot still votes in an earlier one, where it was asked first.

    Gray and Lamport, "Consensus on Transaction Commit", section 4.1: a phase 1b message is a promise not to.
    """

    def acceptor_votes(self, acceptor: Acceptor, manager: ResourceManager, vote: Vote) -> None:
        require(vote in self.proposed[manager])
        self.acceptor[manager][acceptor].ballot = vote.ballot
        self.acceptor[manager][acceptor].vote = vote
        self.acceptor[manager][acceptor].votes.add(vote)


class ProposesToAbort(PaxosCommit):
    """The leader of a later ballot proposes to abort, whatever acceptors report to have voted for.

    Gray and Lamport, "Consensus on Transaction Commit", section 4.1: it proposes the vote of the highest ballot.
    """

    def safe_value(self, manager: ResourceManager, ballot: Ballot, quorum: Set[Acceptor]) -> Value:
        return Value.ABORTED
