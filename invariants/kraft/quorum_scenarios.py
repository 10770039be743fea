"""What must be able to happen in KIP-595: the situations for which its rules are there.

A model in which one of them cannot come about keeps the rules of kraft.py for nothing.
"""

from __future__ import annotations

from floodmark import Set, reachable
from invariants.kraft.quorum import epoch_of, last_committed_epoch, leads
from model.kraft.quorum import Kraft, Replica, Role


def votes_at_reach(model: Kraft, candidate: Replica) -> Set[Replica]:
    """The voters whose logs do not forbid to vote for the candidate."""
    return Set(voter for voter in model.current_voters if model.is_up_to_date(model.log_position(candidate), voter))


@reachable
def later_epochs_commit(model: Kraft) -> bool:
    """A record of the last epoch is committed on top of one of an earlier epoch (where there is room for two)."""
    return (
        last_committed_epoch(model) == model.max_epoch and any(epoch < model.max_epoch for epoch in model.committed)
    ) or model.max_log < 2


@reachable
def first_epoch_commits(model: Kraft) -> bool:
    """A record of the first epoch is committed."""
    return 1 in model.committed


@reachable
def epoch_between_commits(model: Kraft) -> bool:
    """So is one of an epoch after the first and before the last; it takes three."""
    return any(1 < epoch < model.max_epoch for epoch in model.committed) or model.max_epoch < 3


@reachable
def follower_must_truncate(model: Kraft) -> bool:
    """A follower's log diverges from its leader's (it takes three voters, as the next ones do)."""
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
    """A leader does not know yet that another one has committed in a later epoch."""
    return any(
        leads(model, replica) and epoch_of(model, replica) < last_committed_epoch(model) for replica in Replica
    ) or len(model.current_voters) < 3


@reachable
def zombie_steps_down(model: Kraft) -> bool:
    """A former leader follows the leader of a later epoch."""
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
    """A former leader leads again after another had been elected, which had committed nothing.

    So it may come to what KIP-595, "Leader Progress Timeout", fears; zombie_cannot_win_over_newer_records is the limit.
    It takes three epochs.
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
    """A former leader cannot win, as a majority has newer records, and yet its epoch has deposed the leader that
    committed them (KIP-595, "Leader Progress Timeout": disruptive voters)."""
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
    """A leader resigned in favour of one voter, and another is elected in the next epoch."""
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
    """A candidate meets a voter that has not voted in its epoch, but has the better log."""
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
    """A former leader wins again by the votes of those that have no records at all (where there is room for two)."""
    return any(
        leads(model, replica)
        and len(model.logs[replica]) > 0
        and model.logs[replica][0] < epoch_of(model, replica)
        and all(len(model.logs[other]) == 0 for other in model.current_voters - {replica})
        for replica in model.current_voters
    ) or model.max_log < 2


@reachable
def clients_records_commit(model: Kraft) -> bool:
    """A leader commits more than the record that it begins with (where there is room for two)."""
    return any(
        model.committed[offset] == model.committed[offset + 1] for offset in range(len(model.committed) - 1)
    ) or model.max_log < 2


@reachable
def vote_is_lost(model: Kraft) -> bool:
    """A voter has voted for a candidate, and that has not heard of it (where messages are lost)."""
    return any(
        model.quorum_state[voter].voted == candidate
        and epoch_of(model, voter) == epoch_of(model, candidate)
        and model.role[candidate] == Role.CANDIDATE
        and voter not in model.votes[candidate]
        for candidate in model.current_voters
        for voter in model.current_voters
    ) or not model.loss or len(model.current_voters) < 3


@reachable
def unflushed_record_is_lost(model: Kraft) -> bool:
    """A leader has lost its first record in a restart."""
    return any(
        model.role[replica] == Role.RESIGNED and model.log_position(replica).epoch < epoch_of(model, replica)
        for replica in Replica
    ) or not model.lossy_restarts or model.max_restarts == 0


@reachable
def restarts_before_it_leads(model: Kraft) -> bool:
    """Somebody restarts before there is a leader: it is not only leaders that do."""
    return (
        model.restarts > 0 and all(model.elected[epoch] is None for epoch in range(model.max_epoch + 1))
    ) or model.max_restarts == 0


@reachable
def epoch_is_heard_of_in_an_answer(model: Kraft) -> bool:
    """A voter joins an epoch without having been asked to vote in it."""
    return any(heard_in_an_answer(model, voter) for voter in model.current_voters)


@reachable
def leader_hears_of_later_epoch_in_an_answer(model: Kraft) -> bool:
    """A leader steps down for what it is told in answer to its announcement. It has not resigned before, as it still
    knows its high watermark."""
    return any(
        heard_in_an_answer(model, replica) and led_before(model, replica) and model.high_watermark[replica] > 0
        for replica in model.current_voters
    )


@reachable
def resigned_leader_hears_of_later_epoch_in_an_answer(model: Kraft) -> bool:
    """A leader has resigned as it lost its first record in a restart, and is told of a later epoch in answer to its
    goodbye."""
    return any(
        heard_in_an_answer(model, replica) and led_before(model, replica) and lost_record(model, replica)
        for replica in model.current_voters
    ) or not model.lossy_restarts or model.max_restarts == 0


def heard_in_an_answer(model: Kraft, voter: Replica) -> bool:
    """The voter would have voted for whoever stands in its epoch, and has not, so nobody has asked it."""
    return (
        model.role[voter] == Role.UNATTACHED
        and epoch_of(model, voter) > 0
        and all(has_voted_for_good_log(model, other, voter) for other in model.current_voters if other != voter)
    )


def led_before(model: Kraft, replica: Replica) -> bool:
    """The replica led the epoch before its present one."""
    return any(
        model.elected[epoch] == replica and epoch + 1 == epoch_of(model, replica)
        for epoch in range(model.max_epoch + 1)
    )


def lost_record(model: Kraft, replica: Replica) -> bool:
    """The replica has no record of the epoch before its present one."""
    return model.log_position(replica).epoch + 1 < epoch_of(model, replica)


def has_voted_for_good_log(model: Kraft, voter: Replica, other: Replica) -> bool:
    """The voter has voted in the other's epoch, and for a candidate that the other might vote for as well."""
    candidate = model.quorum_state[voter].voted
    return (
        epoch_of(model, voter) == epoch_of(model, other)
        and candidate is not None
        and model.is_up_to_date(model.log_position(candidate), other)
    )


@reachable
def followers_know_what_is_committed(model: Kraft) -> bool:
    """A follower that has never led has heard of its leader's high watermark."""
    return any(
        model.role[replica] == Role.FOLLOWER
        and model.high_watermark[replica] > 0
        and all(model.elected[epoch] != replica for epoch in range(model.max_epoch + 1))
        for replica in Replica
    )


@reachable
def observers_know_what_is_committed(model: Kraft) -> bool:
    """So has every observer, if there are any, though nobody announces a leader to them."""
    return all(
        model.role[replica] == Role.FOLLOWER and model.high_watermark[replica] > 0
        for replica in Replica
        if replica not in model.current_voters
    )


@reachable
def leader_is_fetched_from(model: Kraft) -> bool:
    """A leader knows that a majority fetches from it (where it watches that)."""
    return (
        any(leads(model, replica) and model.majority_fetched(replica) for replica in Replica)
        or not model.progress_timeout
    )
