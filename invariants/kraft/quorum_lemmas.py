"""Lemmas for proving elections and logs of KIP-595 by induction (see quorum.py), whatever the number of voters.

Elections: the argument is Raft's. An elected leader has the votes of a majority, no voter votes twice in an epoch, and
two majorities have a voter in common. A candidate's votes are forgotten, so the lemmas say what is left of them: after
an election a majority can no longer vote for anybody else in that epoch.

Logs: while an epoch has its leader, the leader has every record of the epoch that any replica has; so a follower that
copies from it gets the record that all others have at that offset. Once the leader has left the epoch, no record of the
epoch is written any more.

What is committed, and that later leaders have it, takes more lemmas, about what a majority has flushed: those of
specs/kraft/completeness_lemmas.py.
"""

from __future__ import annotations

from floodmark import Set, implies, lemma
from model.kraft.quorum import Kraft, Replica, Role


def counts_against(model: Kraft, voter: Replica, epoch: int, candidate: Replica) -> bool:
    """Whether a voter can no longer vote for this candidate in an epoch."""
    state = model.quorum_state[voter]
    return (
        voter not in model.votes[candidate]
        and state.epoch >= epoch
        and (
            state.epoch > epoch
            or state.leader is not None
            or (state.voted_key is not None and state.voted_key != candidate)
        )
    )


@lemma
def there_are_voters(model: Kraft) -> bool:
    """Somebody votes."""
    return len(model.current_voters) > 0


@lemma
def candidates_stand_alone(model: Kraft) -> bool:
    """A candidate has voted for itself and knows no leader."""
    return all(
        implies(
            model.role[replica] == Role.CANDIDATE,
            model.quorum_state[replica].voted_key == replica and model.quorum_state[replica].leader is None,
        )
        for replica in Replica
    )


@lemma
def candidates_have_room(model: Kraft) -> bool:
    """A candidate's log has room for the first record of its epoch."""
    return all(
        implies(model.role[replica] == Role.CANDIDATE, len(model.logs[replica]) < model.max_log) for replica in Replica
    )


@lemma
def epochs_begin_at_one(model: Kraft) -> bool:
    """Nobody stands or leads in epoch 0."""
    return all(
        implies(
            model.quorum_state[replica].voted_key is not None or model.quorum_state[replica].leader is not None,
            model.quorum_state[replica].epoch >= 1,
        )
        for replica in Replica
    )


@lemma
def only_candidates_vote_for_themselves(model: Kraft) -> bool:
    """A replica that has voted for itself is a candidate."""
    return all(
        implies(model.quorum_state[replica].voted_key == replica, model.role[replica] == Role.CANDIDATE)
        for replica in Replica
    )


@lemma
def leaders_were_elected(model: Kraft) -> bool:
    """Of the voters, a majority has voted for the leader of an epoch, or knows a leader there, or has moved on."""
    return all(
        implies(
            model.elected[epoch] is not None,
            model.is_majority(
                Set(
                    voter
                    for voter in Replica
                    if model.quorum_state[voter].epoch > epoch
                    or (
                        model.quorum_state[voter].epoch == epoch
                        and (
                            model.quorum_state[voter].leader is not None
                            or model.quorum_state[voter].voted_key == model.elected[epoch]
                        )
                    )
                )
            ),
        )
        for epoch in range(model.max_epoch + 1)
    )


@lemma
def votes_were_given(model: Kraft) -> bool:
    """Every voter that a candidate counts has voted for it, and may be in a later epoch by now."""
    return all(
        model.quorum_state[voter].epoch > model.quorum_state[candidate].epoch
        or (
            model.quorum_state[voter].epoch == model.quorum_state[candidate].epoch
            and (
                model.quorum_state[voter].voted_key == candidate
                or model.quorum_state[voter].leader is not None
            )
        )
        for candidate in Replica
        if model.role[candidate] == Role.CANDIDATE
        for voter in model.votes[candidate]
    )


@lemma
def nobody_votes_for_two(model: Kraft) -> bool:
    """Two candidates of one epoch have no vote in common."""
    return all(
        implies(
            one != other
            and model.role[one] == Role.CANDIDATE
            and model.role[other] == Role.CANDIDATE
            and model.quorum_state[one].epoch == model.quorum_state[other].epoch,
            voter not in model.votes[other],
        )
        for one in Replica
        for other in Replica
        for voter in model.votes[one]
    )


@lemma
def the_election_is_over(model: Kraft) -> bool:
    """Once an epoch has a leader, a majority can no longer vote for anybody else who stands in it."""
    return all(
        implies(
            model.role[candidate] == Role.CANDIDATE
            and model.elected[model.quorum_state[candidate].epoch] is not None,
            model.is_majority(
                Set(
                    voter
                    for voter in Replica
                    if counts_against(model, voter, model.quorum_state[candidate].epoch, candidate)
                )
            ),
        )
        for candidate in Replica
    )


@lemma
def leaders_know_of_themselves(model: Kraft) -> bool:
    """The elected leader of an epoch knows itself as its leader, or is in a later epoch."""
    return all(
        model.elected[epoch] != replica
        or model.quorum_state[replica].epoch > epoch
        or (model.quorum_state[replica].epoch == epoch and model.quorum_state[replica].leader == replica)
        for epoch in range(model.max_epoch + 1)
        for replica in Replica
    )


@lemma
def leader_or_vote(model: Kraft) -> bool:
    """The quorum-state file names a leader or a vote, never both."""
    return all(
        model.quorum_state[replica].leader is None or model.quorum_state[replica].voted_key is None
        for replica in Replica
    )


@lemma
def records_were_written_by_leaders(model: Kraft) -> bool:
    """A replica that has a record is in its epoch or a later one, and that epoch had a leader."""
    return all(
        record <= model.quorum_state[replica].epoch and model.elected[record] is not None
        for replica in Replica
        for record in model.logs[replica]
    )


@lemma
def leaders_have_every_record_of_their_epoch(model: Kraft) -> bool:
    """A log with a record of an epoch that is still led is the leader's up to there."""
    return all(
        implies(
            model.logs[other][offset] == model.quorum_state[leader].epoch,
            model.logs[other][: offset + 1] == model.logs[leader][: offset + 1],
        )
        for leader in Replica
        if model.role[leader] == Role.LEADER
        for other in Replica
        for offset in range(len(model.logs[other]))
    )


@lemma
def epochs_begin_at_one_offset(model: Kraft) -> bool:
    """Where one log has a record of an epoch, another that has a later one of that epoch has the same."""
    return all(
        implies(
            model.logs[one][offset] == model.logs[other][later],
            model.logs[one][: offset + 1] == model.logs[other][: offset + 1],
        )
        for one in Replica
        for other in Replica
        for later in range(len(model.logs[other]))
        for offset in range(min(later + 1, len(model.logs[one])))
    )
