"""What must hold of pre-votes (KIP-996), and of a healthy leader when one voter is partitioned (begin with
quorum.py)."""

from __future__ import annotations

from floodmark import Set, implies, invariant, reachable, transition
from model.kraft.pre_vote import DisruptiveVoter, KeepsVoteBesideLeader, KraftPreVote
from model.kraft.quorum import Replica, Role


@transition
def pre_votes_are_not_votes(old: KraftPreVote, new: KraftPreVote) -> bool:
    """A replica that is or was prospective keeps its vote in its epoch (KIP-996; comments in Kafka's
    ProspectiveState).
    """
    return all(
        implies(
            Role.PROSPECTIVE in (old.role[replica], new.role[replica])
            and old.quorum_state[replica].epoch == new.quorum_state[replica].epoch
            and old.quorum_state[replica].voted_key is not None
            and new.quorum_state[replica].leader is None,
            new.quorum_state[replica].voted_key == old.quorum_state[replica].voted_key,
        )
        for replica in Replica
    )


@transition
def epochs_begin_with_pre_votes(old: KraftPreVote, new: KraftPreVote) -> bool:
    """Except by a restart, only a prospective voter becomes a candidate (KIP-996)."""
    return all(
        implies(
            new.role[replica] == Role.CANDIDATE and old.role[replica] != Role.CANDIDATE,
            old.role[replica] == Role.PROSPECTIVE or new.restarts > old.restarts,
        )
        for replica in Replica
    )


@invariant
def prospective_voters_fit_what_is_stored(model: KraftPreVote) -> bool:
    """A prospective voter names a leader other than itself, or may have voted (KIP-996)."""
    return all(
        implies(
            model.role[replica] == Role.PROSPECTIVE and model.quorum_state[replica].leader is not None,
            model.quorum_state[replica].leader != replica and model.quorum_state[replica].voted_key is None,
        )
        for replica in Replica
    )


@invariant
def prospective_voters_are_few(model: KraftPreVote) -> bool:
    """A replica with a majority of pre-votes is no longer prospective (KIP-996)."""
    return all(
        implies(model.role[replica] == Role.PROSPECTIVE, not model.is_majority(model.votes[replica]))
        for replica in Replica
    )


@transition
def vote_is_kept_beside_leader(old: KeepsVoteBesideLeader, new: KeepsVoteBesideLeader) -> bool:
    """Within an epoch a replica keeps its vote, whether it knows the leader or not, even across restarts; and the
    leader, unless it has stood itself (``QuorumState.initialize``).
    """
    return all(
        implies(
            new.quorum_state[replica].epoch == old.quorum_state[replica].epoch
            and Role.LEADER not in (old.role[replica], new.role[replica]),
            (
                old.quorum_state[replica].voted_key is None
                or new.quorum_state[replica].voted_key == old.quorum_state[replica].voted_key
            )
            and (
                old.quorum_state[replica].leader is None
                or new.quorum_state[replica].leader == old.quorum_state[replica].leader
                or old.quorum_state[replica].voted_key == replica
            ),
        )
        for replica in Replica
    )


@transition
def candidates_could_win(old: KraftPreVote, new: KraftPreVote) -> bool:
    """A replica that an answer on time makes a candidate is no staler than a majority in its epoch (KIP-996).

    Among three voters: with more, those that agreed earlier may have moved on.
    """
    return all(
        implies(
            old.role[replica] == Role.PROSPECTIVE
            and new.role[replica] == Role.CANDIDATE
            and len(old.late) == 0
            and new.restarts == old.restarts
            and len(old.current_voters) <= 3,
            new.is_majority(
                Set(
                    voter
                    for voter in Replica
                    if voter == replica
                    or (
                        old.is_up_to_date(old.log_position(replica), voter)
                        and new.quorum_state[voter].epoch <= old.quorum_state[replica].epoch
                    )
                )
            ),
        )
        for replica in Replica
    )


@transition
def followers_remember_their_fetches(old: KraftPreVote, new: KraftPreVote) -> bool:
    """A follower whose log has changed has fetched, and no longer misses its leader (KIP-996; KAFKA-17641)."""
    return all(
        implies(
            new.role[replica] == Role.FOLLOWER
            and new.logs[replica] != old.logs[replica]
            and new.restarts == old.restarts,
            replica in new.has_fetched,
        )
        for replica in Replica
    ) and all(new.role[replica] == Role.FOLLOWER for replica in new.has_fetched)


@reachable
def prospective_voter_remembers_a_leader(model: KraftPreVote) -> bool:
    """A follower can ask for pre-votes and go back to its leader."""
    return any(
        model.role[replica] == Role.PROSPECTIVE and model.quorum_state[replica].leader is not None
        for replica in Replica
    )


@reachable
def prospective_voter_remembers_a_vote(model: KraftPreVote) -> bool:
    """A candidate that did not win can ask for pre-votes, and may not vote for another in its epoch."""
    return any(
        model.role[replica] == Role.PROSPECTIVE and model.quorum_state[replica].voted_key is not None
        for replica in Replica
    )


@invariant
def healthy_leader_stays(model: DisruptiveVoter) -> bool:
    """A voter that was partitioned does not depose a leader from which a majority fetches (KIP-996, "Motivation").

    In ``DisruptiveVoter``, Replica 1 is that leader, and only another voter has trouble. KIP-595 alone does not promise
    this ("Leader Progress Timeout": disruptive voters).
    """
    return model.role[Replica(1)] == Role.LEADER


@reachable
def troubled_voter_is_back(model: DisruptiveVoter) -> bool:
    """The voter that was partitioned can follow again, and have the records written meanwhile."""
    return any(
        model.troubled == replica
        and model.cut_off is None
        and model.role[replica] == Role.FOLLOWER
        and len(model.logs[replica]) > 1
        for replica in Replica
    )


@reachable
def leader_and_vote_are_stored(model: KeepsVoteBesideLeader) -> bool:
    """A replica can store the leader of its epoch and a vote for another candidate."""
    return any(
        model.quorum_state[replica].leader is not None
        and model.quorum_state[replica].voted_key is not None
        and model.quorum_state[replica].leader != model.quorum_state[replica].voted_key
        for replica in Replica
    )


@reachable
def follower_stands_after_restart(model: KeepsVoteBesideLeader) -> bool:
    """A voter that had stood, and followed the leader that won, can be a candidate of that very epoch again.

    It has a record of that epoch: nobody has one who stands for the first time.
    """
    return any(
        model.role[replica] == Role.CANDIDATE and model.quorum_state[replica].epoch in model.logs[replica]
        for replica in Replica
    )
