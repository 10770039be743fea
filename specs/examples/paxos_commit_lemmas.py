"""Lemmas for proving Paxos Commit by induction, whatever the number of resource managers, acceptors and ballots.

The argument is that of Paxos: before a leader proposes in a ballot, a majority promises to vote in no earlier one, and
tells what it has voted for. So what an earlier ballot may still choose is what the leader proposes.
"""

from __future__ import annotations

from floodmark import Set, implies, lemma
from specs.examples.paxos_commit import Acceptor, Manager, PaxosCommit, Promises, ResourceManager, Value, Vote


def is_chosen(model: PaxosCommit, manager: ResourceManager, vote: Vote) -> bool:
    """Whether a majority of the acceptors has voted for this in the manager's instance."""
    voters = Set(acceptor for acceptor in Acceptor if vote in model.acceptor[manager][acceptor].votes)
    return 2 * len(voters) > model.acceptors


def may_be_chosen(model: PaxosCommit, manager: ResourceManager, vote: Vote) -> bool:
    """Whether a majority has voted for this or has joined no later ballot, so that it still may."""
    voters = Set(
        acceptor
        for acceptor in Acceptor
        if vote in model.acceptor[manager][acceptor].votes
        or model.acceptor[manager][acceptor].ballot <= vote.ballot
    )
    return 2 * len(voters) > model.acceptors


@lemma
def working_managers_have_said_nothing(model: PaxosCommit) -> bool:
    """In ballot 0 a manager proposes, when it prepares or aborts."""
    return all(
        vote.ballot > 0
        for manager in ResourceManager
        if model.state[manager] == Manager.WORKING
        for vote in model.proposed[manager]
    )


@lemma
def ballots_propose_one_value(model: PaxosCommit) -> bool:
    """No ballot of an instance has two proposals."""
    return all(
        one.value == other.value
        for manager in ResourceManager
        for one in model.proposed[manager]
        for other in model.proposed[manager]
        if one.ballot == other.ballot
    )


@lemma
def acceptors_remember_their_last_vote(model: PaxosCommit) -> bool:
    """No vote of an acceptor is in a later ballot than the one that it remembers, nor that in a later one than its
    own.
    """
    return all(
        remembers_last_vote(model.acceptor[manager][acceptor]) for manager in ResourceManager for acceptor in Acceptor
    )


def remembers_last_vote(state: Promises) -> bool:
    """Whether the vote that an acceptor remembers is the last that it gave, none if it gave none."""
    last = state.vote
    if last is None:
        return len(state.votes) == 0
    return (
        last.ballot <= state.ballot
        and last in state.votes
        and all(vote.ballot <= last.ballot for vote in state.votes)
    )


@lemma
def acceptors_vote_for_proposals(model: PaxosCommit) -> bool:
    """What an acceptor has voted for was proposed, so no ballot has two values."""
    return all(
        vote in model.proposed[manager]
        for manager in ResourceManager
        for acceptor in Acceptor
        for vote in model.acceptor[manager][acceptor].votes
    )


@lemma
def promises_are_kept(model: PaxosCommit) -> bool:
    """An acceptor that has joined a ballot has reported its last vote in earlier ones, and casts no more votes
    there."""
    return all(
        keeps_promise(model, manager, acceptor, ballot)
        for manager in ResourceManager
        for acceptor in Acceptor
        for ballot in range(model.max_ballot + 1)
    )


def keeps_promise(model: PaxosCommit, manager: ResourceManager, acceptor: Acceptor, ballot: int) -> bool:
    """Whether an acceptor's promise for a ballot still says which of its votes in earlier ones is the last."""
    state = model.acceptor[manager][acceptor]
    promise = state.promised[ballot]
    if promise is None:
        return True
    told = promise.vote
    if told is None:
        return state.ballot >= ballot and all(vote.ballot >= ballot for vote in state.votes)
    return (
        state.ballot >= ballot
        and told in state.votes
        and all(vote.ballot >= ballot or vote.ballot <= told.ballot for vote in state.votes)
    )


@lemma
def later_proposals_agree_with_what_may_be_chosen(model: PaxosCommit) -> bool:
    """What is proposed in a ballot is the only value that an earlier one may have chosen, or may still choose."""
    return all(
        implies(
            ballot < proposal.ballot and value != proposal.value,
            not may_be_chosen(model, manager, Vote(ballot=ballot, value=value)),
        )
        for manager in ResourceManager
        for proposal in model.proposed[manager]
        for ballot in range(model.max_ballot + 1)
        for value in Value
    )


@lemma
def only_the_manager_prepares(model: PaxosCommit) -> bool:
    """A leader proposes that a manager has prepared only if the manager has said so itself, in ballot 0."""
    return all(
        implies(vote.value == Value.PREPARED, Vote(ballot=0, value=Value.PREPARED) in model.proposed[manager])
        for manager in ResourceManager
        for vote in model.proposed[manager]
    )


@lemma
def commit_was_chosen_everywhere(model: PaxosCommit) -> bool:
    """A transaction commits when every instance has chosen that its manager has prepared."""
    return implies(
        model.commit_message,
        all(
            any(
                vote.value == Value.PREPARED and is_chosen(model, manager, vote)
                for acceptor in Acceptor
                for vote in model.acceptor[manager][acceptor].votes
            )
            for manager in ResourceManager
        ),
    )


@lemma
def abort_was_chosen_somewhere(model: PaxosCommit) -> bool:
    """A leader announces that a transaction aborts when an instance has chosen that."""
    return implies(
        model.abort_message,
        any(
            vote.value == Value.ABORTED and is_chosen(model, manager, vote)
            for manager in ResourceManager
            for acceptor in Acceptor
            for vote in model.acceptor[manager][acceptor].votes
        ),
    )


@lemma
def what_a_later_proposal_contradicts_was_not_chosen(model: PaxosCommit) -> bool:
    """Once another value is proposed in a later ballot, an earlier one has not chosen this value, and never will."""
    return all(
        implies(
            ballot < proposal.ballot and value != proposal.value,
            not is_chosen(model, manager, Vote(ballot=ballot, value=value)),
        )
        for manager in ResourceManager
        for proposal in model.proposed[manager]
        for ballot in range(model.max_ballot + 1)
        for value in Value
    )


@lemma
def there_is_one_decision(model: PaxosCommit) -> bool:
    """A transaction does not commit and abort."""
    return not (model.commit_message and model.abort_message)


@lemma
def everyone_prepared_before_a_commit(model: PaxosCommit) -> bool:
    """A transaction commits only if every manager has said that it has prepared."""
    return implies(
        model.commit_message,
        all(Vote(ballot=0, value=Value.PREPARED) in model.proposed[manager] for manager in ResourceManager),
    )


@lemma
def managers_do_as_they_said_or_were_told(model: PaxosCommit) -> bool:
    """A manager commits when it is told to, and aborts then or by its own decision, which it proposes."""
    return all(
        implies(model.state[manager] == Manager.COMMITTED, model.commit_message)
        and implies(
            model.state[manager] == Manager.ABORTED,
            model.abort_message or Vote(ballot=0, value=Value.ABORTED) in model.proposed[manager],
        )
        for manager in ResourceManager
    )
