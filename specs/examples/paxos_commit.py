"""Paxos Commit as Gray and Lamport specify it in "Consensus on Transaction Commit" (2006), section 4 and appendix.

One instance of Paxos for each resource manager decides whether it has prepared. As in their TLA+ text no message is
ever lost or taken back, receiving is left implicit, and any process may act as the leader. Where TLC counts a step once
for each way in which its guard is true, the action has a parameter for it, so that generated states can be compared.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Between,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Set,
    action,
    initial,
    invariant,
    reachable,
    require,
)


class ResourceManager(Identifier, count="managers", prefix="rm"):
    """One participant of the transaction, and the instance of Paxos that decides about it."""


class Acceptor(Identifier, count="acceptors", prefix="a"):
    """One acceptor of every instance."""


Ballot = Annotated[int, Between(0, "max_ballot")]


class Manager(Enum):
    """What a resource manager has done."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Value(Enum):
    """What an instance may choose."""

    PREPARED = "prepared"
    ABORTED = "aborted"


class Vote(Record):
    """A value in a ballot: what a leader proposes (phase 2a) and an acceptor accepts (phase 2b)."""

    ballot: Ballot
    value: Value


class Promise(Record):
    """What an acceptor tells about itself when it joins a ballot (phase 1b)."""

    vote: Vote | None


class Promises(Record):
    """An acceptor's state in one instance: the ballot it is in, its last vote, and its promise for each ballot."""

    ballot: Ballot
    vote: Vote | None
    promised: Map[Ballot, Promise | None]
    votes: Set[Vote]


class PaxosCommit(Model):
    """``managers`` instances of Paxos over ``acceptors`` acceptors, and the decision that follows from them."""

    managers = Constant(2)
    acceptors = Constant(3)
    max_ballot = Constant(1)

    state: Map[ResourceManager, Manager]
    acceptor: Map[ResourceManager, Map[Acceptor, Promises]]
    started: Map[ResourceManager, Set[Ballot]]
    proposed: Map[ResourceManager, Set[Vote]]
    commit_message: bool
    abort_message: bool

    @initial
    def start(self) -> None:
        nothing = Map({ballot: None for ballot in range(self.max_ballot + 1)})
        fresh = Promises(ballot=0, vote=None, promised=nothing, votes=Set())
        self.state = Map({manager: Manager.WORKING for manager in ResourceManager})
        self.acceptor = Map({manager: Map({acceptor: fresh for acceptor in Acceptor}) for manager in ResourceManager})
        self.started = Map({manager: Set() for manager in ResourceManager})
        self.proposed = Map({manager: Set() for manager in ResourceManager})
        self.commit_message = False
        self.abort_message = False

    def is_majority(self, quorum: Set[Acceptor]) -> bool:
        """A smallest set that has a member in common with every other one."""
        return len(quorum) == self.acceptors // 2 + 1

    # Resource managers. Preparing or aborting is a proposal in ballot 0 of the own instance.

    @action
    def manager_prepares(self, manager: ResourceManager) -> None:
        require(self.state[manager] == Manager.WORKING)
        self.state[manager] = Manager.PREPARED
        self.proposed[manager].add(Vote(ballot=0, value=Value.PREPARED))

    @action
    def manager_chooses_to_abort(self, manager: ResourceManager) -> None:
        require(self.state[manager] == Manager.WORKING)
        self.state[manager] = Manager.ABORTED
        self.proposed[manager].add(Vote(ballot=0, value=Value.ABORTED))

    @action
    def manager_learns_of_commit(self, manager: ResourceManager) -> None:
        require(self.commit_message)
        self.state[manager] = Manager.COMMITTED

    @action
    def manager_learns_of_abort(self, manager: ResourceManager) -> None:
        require(self.abort_message)
        self.state[manager] = Manager.ABORTED

    # The leader.

    @action
    def leader_starts_ballot(self, manager: ResourceManager, ballot: Ballot) -> None:
        """Phase 1a."""
        require(ballot > 0)
        self.started[manager].add(ballot)

    @action
    def leader_proposes(self, manager: ResourceManager, ballot: Ballot, quorum: Set[Acceptor]) -> None:
        """Phase 2a: the vote of the highest ballot that a majority reports, or to abort if there is none."""
        require(ballot > 0 and self.is_majority(quorum))
        require(all(vote.ballot != ballot for vote in self.proposed[manager]))
        require(all(self.acceptor[manager][acceptor].promised[ballot] is not None for acceptor in quorum))
        self.proposed[manager].add(Vote(ballot=ballot, value=self.safe_value(manager, ballot, quorum)))

    def safe_value(self, manager: ResourceManager, ballot: Ballot, quorum: Set[Acceptor]) -> Value:
        """What may have been chosen already; otherwise to abort."""
        highest = -1
        value = Value.ABORTED
        for acceptor in quorum:
            promise = self.acceptor[manager][acceptor].promised[ballot]
            if promise is not None and promise.vote is not None and promise.vote.ballot > highest:
                highest = promise.vote.ballot
                value = promise.vote.value
        return value

    def has_chosen(self, manager: ResourceManager, vote: Vote, quorum: Set[Acceptor]) -> bool:
        return self.is_majority(quorum) and all(vote in self.acceptor[manager][acceptor].votes for acceptor in quorum)

    @action
    def leader_commits(
        self, ballots: Map[ResourceManager, Ballot], quorums: Map[ResourceManager, Set[Acceptor]]
    ) -> None:
        require(
            all(
                self.has_chosen(manager, Vote(ballot=ballots[manager], value=Value.PREPARED), quorums[manager])
                for manager in ResourceManager
            )
        )
        self.commit_message = True

    @action
    def leader_aborts(self, manager: ResourceManager, ballot: Ballot, quorum: Set[Acceptor]) -> None:
        require(self.has_chosen(manager, Vote(ballot=ballot, value=Value.ABORTED), quorum))
        self.abort_message = True

    # Acceptors.

    @action
    def acceptor_promises(self, acceptor: Acceptor, manager: ResourceManager, ballot: Ballot) -> None:
        """Phase 1b."""
        require(ballot in self.started[manager] and self.acceptor[manager][acceptor].ballot < ballot)
        promise = Promise(vote=self.acceptor[manager][acceptor].vote)
        self.acceptor[manager][acceptor].ballot = ballot
        self.acceptor[manager][acceptor].promised[ballot] = promise

    @action
    def acceptor_votes(self, acceptor: Acceptor, manager: ResourceManager, vote: Vote) -> None:
        """Phase 2b."""
        require(vote in self.proposed[manager] and self.acceptor[manager][acceptor].ballot <= vote.ballot)
        self.acceptor[manager][acceptor].ballot = vote.ballot
        self.acceptor[manager][acceptor].vote = vote
        self.acceptor[manager][acceptor].votes.add(vote)

    @invariant
    def consistent(self) -> bool:
        """No resource manager has committed while another has aborted (TCConsistent)."""
        return not (
            any(self.state[manager] == Manager.COMMITTED for manager in ResourceManager)
            and any(self.state[manager] == Manager.ABORTED for manager in ResourceManager)
        )

    @invariant
    def promises_answer_ballots(self) -> bool:
        """A promise is for a ballot that a leader has started, and reports a vote in an earlier one (phase 1b)."""
        return all(
            self.is_promise(manager, ballot, self.acceptor[manager][acceptor].promised[ballot])
            for manager in ResourceManager
            for acceptor in Acceptor
            for ballot in range(self.max_ballot + 1)
        )

    def is_promise(self, manager: ResourceManager, ballot: Ballot, promise: Promise | None) -> bool:
        if promise is None:
            return True
        return ballot in self.started[manager] and (promise.vote is None or promise.vote.ballot < ballot)

    @invariant
    def proposals_rest_on_promises(self) -> bool:
        """In a ballot after the first a leader proposes when a majority has joined it (phase 2a)."""
        return all(
            2 * sum(1 for acceptor in Acceptor if self.acceptor[manager][acceptor].promised[vote.ballot] is not None)
            > self.acceptors
            for manager in ResourceManager
            for vote in self.proposed[manager]
            if vote.ballot > 0
        )

    @invariant
    def votes_are_for_proposals(self) -> bool:
        """An acceptor votes for what was proposed in its instance (phase 2b)."""
        return all(
            self.acceptor[manager][acceptor].votes <= self.proposed[manager]
            for manager in ResourceManager
            for acceptor in Acceptor
        )

    @reachable
    def all_committed(self) -> bool:
        """A transaction can commit."""
        return all(self.state[manager] == Manager.COMMITTED for manager in ResourceManager)

    @reachable
    def refusal_aborts(self) -> bool:
        """A manager that chooses to abort is enough, in ballot 0."""
        return self.abort_message and all(len(self.started[manager]) == 0 for manager in ResourceManager)

    @reachable
    def prepared_managers_abort(self) -> bool:
        """A leader can have a transaction aborted, although every resource manager has prepared."""
        return all(
            self.state[manager] == Manager.ABORTED and Vote(ballot=0, value=Value.PREPARED) in self.proposed[manager]
            for manager in ResourceManager
        )

    @reachable
    def later_ballot_prepares(self) -> bool:
        """A leader can propose in a later ballot that a resource manager has prepared (phase 2a)."""
        return any(
            vote.ballot > 0 and vote.value == Value.PREPARED
            for manager in ResourceManager
            for vote in self.proposed[manager]
        )
