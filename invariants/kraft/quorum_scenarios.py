"""What must be able to happen in KIP-595: the situations that its rules exist for (begin with quorum.py).

If one of them cannot occur in a model, that model keeps the rules of quorum.py vacuously.
"""

from __future__ import annotations

from floodmark import Set, reachable
from invariants.kraft.quorum import epoch_of, last_committed_epoch, leads
from model.kraft.quorum import Kraft, Replica, Role


def votes_at_reach(model: Kraft, candidate: Replica) -> Set[Replica]:
    """The voters whose logs do not keep them from voting for the candidate."""
    return Set(voter for voter in model.current_voters if model.is_up_to_date(model.log_position(candidate), voter))


@reachable
def later_epochs_commit(model: Kraft) -> bool:
    """A record of the last epoch can be committed on top of one of an earlier epoch (where there is room for two)."""
    return (
        last_committed_epoch(model) == model.max_epoch and any(epoch < model.max_epoch for epoch in model.committed)
    ) or model.max_log < 2


@reachable
def first_epoch_commits(model: Kraft) -> bool:
    """A record of the first epoch can be committed."""
    return 1 in model.committed


@reachable
def epoch_between_commits(model: Kraft) -> bool:
    """So can one of an epoch between the first and the last; it takes three."""
    return any(1 < epoch < model.max_epoch for epoch in model.committed) or model.max_epoch < 3


@reachable
def follower_must_truncate(model: Kraft) -> bool:
    """A follower's log can diverge from its leader's (this takes three voters, as do the next ones)."""
    return any(
        model.role[follower] == Role.FOLLOWER
        and model.quorum_state[follower].leader == leader
        and leads(model, leader)
        and epoch_of(model, leader) == epoch_of(model, follower)
        and model.is_diverging(leader, model.log_position(follower))
        for follower in Replica
        for leader in Replica
    ) or len(model.current_voters) < 3


@reachable
def zombie_leads(model: Kraft) -> bool:
    """A leader can be unaware that another one has committed in a later epoch."""
    return any(
        leads(model, replica) and epoch_of(model, replica) < last_committed_epoch(model) for replica in Replica
    ) or len(model.current_voters) < 3


@reachable
def zombie_steps_down(model: Kraft) -> bool:
    """A former leader can follow the leader of a later epoch."""
    return any(
        model.role[replica] == Role.FOLLOWER
        and any(
            model.elected[epoch] == replica and epoch < epoch_of(model, replica)
            for epoch in range(model.max_epoch + 1)
        )
        for replica in Replica
    )


@reachable
def zombie_wins(model: Kraft) -> bool:
    """A former leader can lead again after another was elected that had committed nothing.

    So what KIP-595, "Leader Progress Timeout", fears can happen; zombie_cannot_win_over_newer_records is the limit. It
    takes three epochs.
    """
    return any(
        leads(model, replica)
        and any(
            model.elected[epoch] == replica
            and any(
                model.elected[between] is not None
                and model.elected[between] != replica
                and epoch < between < epoch_of(model, replica)
                for between in range(model.max_epoch + 1)
            )
            for epoch in range(model.max_epoch + 1)
        )
        for replica in Replica
    ) or model.max_epoch < 3


@reachable
def zombie_disrupts(model: Kraft) -> bool:
    """A former leader that cannot win, because a majority has newer records, can still depose the leader that committed
    them by its epoch (KIP-595, "Leader Progress Timeout": disruptive voters).
    """
    return any(
        model.role[replica] == Role.CANDIDATE
        and not model.is_majority(votes_at_reach(model, replica))
        and any(model.elected[epoch] == replica for epoch in range(model.max_epoch + 1))
        and last_committed_epoch(model) > 0
        and model.elected[last_committed_epoch(model)] != replica
        and all(epoch_of(model, other) == epoch_of(model, replica) for other in model.current_voters)
        for replica in Replica
    ) or len(model.current_voters) < 3


@reachable
def successor_elected_out_of_turn(model: Kraft) -> bool:
    """A leader can resign in favour of one voter, and another be elected in the next epoch."""
    return any(
        model.role[replica] == Role.RESIGNED
        and model.successor_rank(replica, other) > 0
        and epoch_of(model, replica) < model.max_epoch
        and leads(model, other)
        and epoch_of(model, other) == epoch_of(model, replica) + 1
        for replica in Replica
        for other in model.current_voters - {replica}
    ) or len(model.current_voters) < 3


@reachable
def vote_is_refused_for_the_log(model: Kraft) -> bool:
    """A candidate can meet a voter that has not voted in its epoch, but has the better log."""
    return any(
        model.role[candidate] == Role.CANDIDATE
        and epoch_of(model, candidate) == epoch_of(model, voter)
        and model.role[voter] == Role.UNATTACHED
        and not model.is_up_to_date(model.log_position(candidate), voter)
        for candidate in Replica
        for voter in model.current_voters
    )


@reachable
def later_records_win(model: Kraft) -> bool:
    """A former leader can win again by the votes of those that have no records at all (where there is room for two)."""
    return any(
        leads(model, replica)
        and len(model.logs[replica]) > 0
        and model.logs[replica][0] < epoch_of(model, replica)
        and all(len(model.logs[other]) == 0 for other in model.current_voters - {replica})
        for replica in model.current_voters
    ) or model.max_log < 2


@reachable
def clients_records_commit(model: Kraft) -> bool:
    """A leader can commit more than the record that it begins with (where there is room for two)."""
    return any(
        model.committed[offset] == model.committed[offset + 1] for offset in range(len(model.committed) - 1)
    ) or model.max_log < 2


@reachable
def vote_is_lost(model: Kraft) -> bool:
    """A voter can have voted for a candidate that has not received the vote (where messages are lost)."""
    return any(
        model.quorum_state[voter].voted_key == candidate
        and epoch_of(model, voter) == epoch_of(model, candidate)
        and model.role[candidate] == Role.CANDIDATE
        and voter not in model.votes[candidate]
        for candidate in model.current_voters
        for voter in model.current_voters
    ) or not model.loss or len(model.current_voters) < 3


@reachable
def unflushed_record_is_lost(model: Kraft) -> bool:
    """A leader can lose its first record in a restart."""
    return any(
        model.role[replica] == Role.RESIGNED and model.log_position(replica).epoch < epoch_of(model, replica)
        for replica in Replica
    ) or not model.lossy_restarts or model.max_restarts == 0


@reachable
def restarts_before_it_leads(model: Kraft) -> bool:
    """Replicas can restart before there is a leader: not only leaders restart."""
    return (
        model.restarts > 0 and all(model.elected[epoch] is None for epoch in range(model.max_epoch + 1))
    ) or model.max_restarts == 0


@reachable
def epoch_is_heard_of_in_an_answer(model: Kraft) -> bool:
    """A voter can join an epoch without having been asked to vote in it."""
    return any(heard_in_an_answer(model, voter) for voter in model.current_voters)


@reachable
def leader_hears_of_later_epoch_in_an_answer(model: Kraft) -> bool:
    """A leader can step down because of the answer to its announcement. It has not resigned before, since it still
    knows its high watermark.
    """
    return any(
        heard_in_an_answer(model, replica) and led_before(model, replica) and model.high_watermark[replica] > 0
        for replica in model.current_voters
    )


@reachable
def resigned_leader_hears_of_later_epoch_in_an_answer(model: Kraft) -> bool:
    """A leader that resigned when it lost its first record in a restart can be told of a later epoch in answer to its
    EndQuorumEpoch.
    """
    return any(
        heard_in_an_answer(model, replica) and led_before(model, replica) and lost_record(model, replica)
        for replica in model.current_voters
    ) or not model.lossy_restarts or model.max_restarts == 0


def heard_in_an_answer(model: Kraft, voter: Replica) -> bool:
    """The voter would have voted for any replica that stands in its epoch, and has not, so nobody has asked it."""
    return (
        model.role[voter] == Role.UNATTACHED
        and epoch_of(model, voter) > 0
        and all(has_voted_for_good_log(model, other, voter) for other in model.current_voters if other != voter)
    )


def led_before(model: Kraft, replica: Replica) -> bool:
    """The replica led the epoch before its current one."""
    return any(
        model.elected[epoch] == replica and epoch + 1 == epoch_of(model, replica)
        for epoch in range(model.max_epoch + 1)
    )


def lost_record(model: Kraft, replica: Replica) -> bool:
    """The replica has no record of the epoch before its current one."""
    return model.log_position(replica).epoch + 1 < epoch_of(model, replica)


def has_voted_for_good_log(model: Kraft, voter: Replica, other: Replica) -> bool:
    """The voter has voted in the other's epoch, for a candidate that the other might also vote for."""
    candidate = model.quorum_state[voter].voted_key
    return (
        epoch_of(model, voter) == epoch_of(model, other)
        and candidate is not None
        and model.is_up_to_date(model.log_position(candidate), other)
    )


@reachable
def followers_know_what_is_committed(model: Kraft) -> bool:
    """A follower that has never led can know its leader's high watermark."""
    return any(
        model.role[replica] == Role.FOLLOWER
        and model.high_watermark[replica] > 0
        and all(model.elected[epoch] != replica for epoch in range(model.max_epoch + 1))
        for replica in Replica
    )


@reachable
def observers_know_what_is_committed(model: Kraft) -> bool:
    """So can every observer, if there are any, although nobody announces a leader to them."""
    return all(
        model.role[replica] == Role.FOLLOWER and model.high_watermark[replica] > 0
        for replica in Replica
        if replica not in model.current_voters
    )


@reachable
def leader_is_fetched_from(model: Kraft) -> bool:
    """A leader can know that a majority fetches from it (where it tracks that)."""
    return (
        any(leads(model, replica) and model.majority_fetched(replica) for replica in Replica)
        or not model.progress_timeout
    )
