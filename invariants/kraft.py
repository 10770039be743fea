"""What must hold of KIP-595, and what must be able to happen.

"Raft" is Ongaro and Ousterhout's paper, "VRAFT" Jack Vanlightly's KRaft.tla, and "simulation" Apache Kafka's
RaftEventSimulationTest, which checks some of these after every event of a random run.
"""

from __future__ import annotations

from model.kraft import Epoch, Kraft, Offset, QuorumInfo, Replica, Role
from model.language import Set, implies, invariant, reachable, transition


def epoch_of(model: Kraft, replica: Replica) -> Epoch:
    """The replica's epoch."""
    return model.quorum_state[replica].epoch


def leads(model: Kraft, replica: Replica) -> bool:
    return model.role[replica] == Role.LEADER


def was_elected_later(model: Kraft, epoch: Epoch) -> bool:
    """Whether a later epoch has a leader, or had one."""
    return any(model.elected[later] is not None and later > epoch for later in range(model.max_epoch + 1))


def leads_newest_epoch(model: Kraft, replica: Replica) -> bool:
    """Whether the replica leads, and nobody was elected in a later epoch."""
    return leads(model, replica) and not was_elected_later(model, epoch_of(model, replica))


def agree(model: Kraft, one: Replica, other: Replica, end: Offset) -> bool:
    """Both replicas have the same records below ``end``."""
    log = model.logs[one]
    other_log = model.logs[other]
    return len(log) >= end and len(other_log) >= end and log[:end] == other_log[:end]


def holds_committed(model: Kraft, replica: Replica) -> bool:
    """The replica has every record that was ever committed."""
    return model.logs[replica][: len(model.committed)] == model.committed


def last_committed_epoch(model: Kraft) -> Epoch:
    """The epoch of the last committed record."""
    return max((epoch for epoch in model.committed), default=0)


def votes_at_reach(model: Kraft, candidate: Replica) -> Set[Replica]:
    """The voters whose logs do not forbid to vote for the candidate."""
    return Set(voter for voter in model.current_voters if model.is_up_to_date(model.log_position(candidate), voter))


# Elections.


@transition
def election_safety(old: Kraft, new: Kraft) -> bool:
    """An epoch has one leader, ever (Raft, "Election Safety"; simulation, SingleLeader).

    Leaders of one epoch need not be seen at the same time, so this is about history (KAFKA-10661).
    """
    return all(
        old.elected[epoch] is None or new.elected[epoch] == old.elected[epoch] for epoch in range(new.max_epoch + 1)
    )


@invariant
def leaders_are_known_alike(model: Kraft) -> bool:
    """Replicas that know the leader of an epoch know the same one (VRAFT, NeverTwoLeadersInSameEpoch)."""
    return all(
        implies(
            epoch_of(model, one) == epoch_of(model, other)
            and model.quorum_state[one].leader is not None
            and model.quorum_state[other].leader is not None,
            model.quorum_state[one].leader == model.quorum_state[other].leader,
        )
        for one in Replica
        for other in Replica
    )


@invariant
def known_leader_was_elected(model: Kraft) -> bool:
    """Whom a replica takes for the leader was elected (Raft, section 5.2; KIP-595, "BeginQuorumEpoch")."""
    return all(
        model.elected[epoch_of(model, replica)] == model.quorum_state[replica].leader
        for replica in Replica
        if model.quorum_state[replica].leader is not None
    )


@transition
def votes_once(old: Kraft, new: Kraft) -> bool:
    """Within an epoch a vote is kept until the leader is known, and the leader for ever, restarts included.

    So nobody votes twice in an epoch (Raft, section 5.2).
    """
    return all(
        implies(
            epoch_of(new, replica) == epoch_of(old, replica),
            new.quorum_state[replica].leader == old.quorum_state[replica].leader
            if old.quorum_state[replica].leader is not None
            else old.quorum_state[replica].voted is None
            or new.quorum_state[replica].leader is not None
            or new.quorum_state[replica].voted == old.quorum_state[replica].voted,
        )
        for replica in Replica
    )


@transition
def epochs_never_decrease(old: Kraft, new: Kraft) -> bool:
    """A replica's epoch never falls, restarts included (simulation, MonotonicEpoch)."""
    return all(epoch_of(new, replica) >= epoch_of(old, replica) for replica in Replica)


@invariant
def roles_fit_what_is_stored(model: Kraft) -> bool:
    """Each role has the quorum state that belongs to it (Vanlightly's kip_996, ValidRolesAndStates; Kafka's
    QuorumState)."""
    return all(role_fits(model, replica) for replica in Replica)


def role_fits(model: Kraft, replica: Replica) -> bool:
    """Whether role, leader and vote go together."""
    state = model.quorum_state[replica]
    role = model.role[replica]
    if role in (Role.LEADER, Role.RESIGNED):
        return state.leader == replica and state.voted is None
    if role == Role.FOLLOWER:
        return state.leader is not None and state.leader != replica and state.voted is None
    if role == Role.CANDIDATE:
        return state.leader is None and state.voted == replica
    if role == Role.VOTED:
        return state.leader is None and state.voted is not None
    return role != Role.UNATTACHED or (state.leader is None and state.voted is None)


@transition
def roles_end_in_order(old: Kraft, new: Kraft) -> bool:
    """Within an epoch, restarts included, a candidate stands until its epoch has a leader or it asks for pre-votes, and
    a leader that has resigned leads no more (Kafka's QuorumState; KAFKA-10527)."""
    return all(
        implies(
            epoch_of(new, replica) == epoch_of(old, replica),
            new.role[replica] in (Role.PROSPECTIVE, Role.LEADER, Role.FOLLOWER, Role.CANDIDATE)
            if old.role[replica] == Role.CANDIDATE
            else old.role[replica] != Role.RESIGNED or new.role[replica] == Role.RESIGNED,
        )
        for replica in Replica
    )


@invariant
def only_candidates_hold_votes(model: Kraft) -> bool:
    """Votes are given to those who stand, and counted by those who ask for them: their own is among them, and there are
    fewer than it takes to lead (Kafka's QuorumState)."""
    return all(
        (
            replica in model.votes[replica]
            if model.role[replica] in (Role.CANDIDATE, Role.PROSPECTIVE)
            else len(model.votes[replica]) == 0
        )
        and not model.is_majority(model.votes[replica])
        and has_voted_for_candidate(model, replica)
        for replica in Replica
    )


def has_voted_for_candidate(model: Kraft, voter: Replica) -> bool:
    """Whoever the voter voted for, if anyone, has stood in its epoch, and may have gone on since."""
    candidate = model.quorum_state[voter].voted
    if candidate is None or epoch_of(model, candidate) > epoch_of(model, voter):
        return True
    stored = model.quorum_state[candidate]
    return stored.epoch == epoch_of(model, voter) and (stored.voted == candidate or stored.leader is not None)


@invariant
def observers_only_observe(model: Kraft) -> bool:
    """Only voters do more than to wait or to follow (KAFKA-17067), and there are as many as were asked for."""
    return len(model.current_voters) == model.voters and all(
        replica in model.current_voters
        for replica in Replica
        if model.role[replica] not in (Role.UNATTACHED, Role.FOLLOWER)
    )


@invariant
def nobody_is_in_an_illegal_state(model: Kraft) -> bool:
    """No replica stops because it saw what cannot be (VRAFT, NoIllegalState)."""
    return not model.illegal


@transition
def zombie_cannot_win_over_newer_records(old: Kraft, new: Kraft) -> bool:
    """Whoever leads a newer epoch than any committed record has all of those, however large its epoch has grown.

    KIP-595, "Leader Progress Timeout", says that a leader that was cut off could win with a very large epoch. The size
    of its epoch does not help: a majority that has a newer committed record refuses it.
    """
    return all(
        implies(
            leads(new, replica)
            and not leads(old, replica)
            and epoch_of(new, replica) > last_committed_epoch(old)
            and old.log_position(replica).epoch > 0,
            last_committed_epoch(old) <= old.log_position(replica).epoch,
        )
        for replica in Replica
    )


@transition
def leader_resigns_only_without_majority(old: Kraft, new: Kraft) -> bool:
    """While a majority fetches from it, the leader itself counted, a leader goes on (KIP-595, "Leader Progress
    Timeout": one dead follower of three must not depose a leader; KAFKA-16144: nor does being the only voter). It never
    stands for another epoch before it has resigned (Kafka's QuorumState)."""
    return all(
        implies(
            new.progress_timeout
            and leads(old, replica)
            and new.role[replica] == Role.RESIGNED
            and new.restarts == old.restarts,
            not new.is_majority(old.leadership[replica].fetched | {replica}),
        )
        and not (leads(old, replica) and stands_next(old, new, replica))
        for replica in Replica
    )


def stands_next(old: Kraft, new: Kraft, replica: Replica) -> bool:
    """The replica stands in the epoch after its last one, or leads it."""
    state = new.quorum_state[replica]
    return state.epoch == epoch_of(old, replica) + 1 and replica in (state.voted, state.leader)


# Logs.


@invariant
def log_matching(model: Kraft) -> bool:
    """Two logs that have the same record at an offset are the same up to there (Raft, "Log Matching")."""
    return all(
        implies(
            model.logs[one][offset] == model.logs[other][offset],
            model.logs[one][: offset + 1] == model.logs[other][: offset + 1],
        )
        for one in Replica
        for other in Replica
        if one != other
        for offset in range(min(len(model.logs[one]), len(model.logs[other])))
    )


@invariant
def epochs_never_decrease_along_a_log(model: Kraft) -> bool:
    """The order that finding the end of an epoch relies on; the last record's epoch is no later than the replica's
    (KAFKA-10511)."""
    return all(
        model.logs[replica][offset]
        <= (model.logs[replica][offset + 1] if offset + 1 < len(model.logs[replica]) else epoch_of(model, replica))
        for replica in Replica
        for offset in range(len(model.logs[replica]))
    )


@transition
def records_are_written_once(old: Kraft, new: Kraft) -> bool:
    """An epoch and an offset name one record: a leader writes no other one while a replica has it (KAFKA-10527). All
    others copy what they have, and only while they follow (KIP-595, "Fetch")."""
    return all(
        implies(
            len(new.logs[replica]) > len(old.logs[replica]),
            all(
                len(old.logs[other]) <= len(old.logs[replica])
                or old.logs[other][len(old.logs[replica])] != epoch_of(new, replica)
                for other in Replica
            )
            if leads(new, replica)
            else old.role[replica] == Role.FOLLOWER,
        )
        for replica in Replica
    )


@invariant
def leader_completeness(model: Kraft) -> bool:
    """The leader of the newest epoch has every committed record (Raft, "Leader Completeness"; VRAFT,
    LeaderHasAllAckedValues)."""
    return all(holds_committed(model, replica) for replica in Replica if leads_newest_epoch(model, replica))


@transition
def committed_records_stay(old: Kraft, new: Kraft) -> bool:
    """What is committed is never replaced; the highest high watermark never falls (simulation,
    MonotonicHighWatermark, ConsistentCommittedData)."""
    return new.committed[: len(old.committed)] == old.committed


@invariant
def committed_records_agree(model: Kraft) -> bool:
    """What a replica holds below its high watermark is what was committed (simulation, ConsistentCommittedData)."""
    return all(
        len(model.logs[replica]) >= model.high_watermark[replica]
        and model.logs[replica][: model.high_watermark[replica]] == model.committed[: model.high_watermark[replica]]
        for replica in Replica
    )


@invariant
def majority_holds_committed(model: Kraft) -> bool:
    """A majority of the voters has flushed what is committed (simulation, MajorityReachedHighWatermark; VRAFT,
    CommittedEntriesReachMajority)."""
    return model.is_majority(
        Set(
            voter
            for voter in model.current_voters
            if holds_committed(model, voter) and model.flushed[voter] >= len(model.committed)
        )
    )


@transition
def high_watermark_never_decreases(old: Kraft, new: Kraft) -> bool:
    """Within an epoch of one leader its high watermark does not fall (simulation, MonotonicHighWatermark)."""
    return all(
        implies(
            leads(old, replica) and leads(new, replica) and epoch_of(old, replica) == epoch_of(new, replica),
            new.high_watermark[replica] >= old.high_watermark[replica],
        )
        for replica in Replica
    )


@invariant
def leader_commits_in_its_own_epoch(model: Kraft) -> bool:
    """A leader begins with a record of its own epoch (LeaderChange), and its high watermark is unknown until that is
    committed (KAFKA-12619)."""
    return all(
        implies(
            leads(model, replica),
            model.log_position(replica).epoch == epoch_of(model, replica)
            and (
                model.high_watermark[replica] == 0
                or epoch_of(model, replica) in model.logs[replica][: model.high_watermark[replica]]
            ),
        )
        for replica in Replica
    )


@invariant
def only_leaders_wait_for_disks(model: Kraft) -> bool:
    """Only a leader goes on before what it wrote is flushed (KIP-595, "Fetch"; KAFKA-10533)."""
    return all(
        model.flushed[replica] <= len(model.logs[replica])
        and implies(
            not leads(model, replica) or not model.lossy_restarts,
            model.flushed[replica] == len(model.logs[replica]),
        )
        for replica in Replica
    )


@invariant
def only_leaders_keep_leadership(model: Kraft) -> bool:
    """Who fetched, and how far, only a leader knows; one that has resigned still knows how far, to rank its successors,
    and no high watermark any more (Kafka's ResignedState). A leader that watches who fetches counts voters besides
    itself, until they are a majority with it (Kafka's LeaderState)."""
    return all(
        (
            model.leadership[replica].fetched <= model.current_voters - {replica}
            and len(model.leadership[replica].fetched)
            <= (len(model.current_voters) // 2 if model.progress_timeout else 0)
        )
        if leads(model, replica)
        else len(model.leadership[replica].fetched) == 0
        and (
            model.high_watermark[replica] == 0
            if model.role[replica] == Role.RESIGNED
            else model.leadership[replica] == model.no_leadership()
        )
        for replica in Replica
    )


@transition
def truncates_above_high_watermark_only(old: Kraft, new: Kraft) -> bool:
    """A running replica never cuts its log below its high watermark (KAFKA-12460)."""
    return all(
        implies(len(new.logs[replica]) < len(old.logs[replica]), len(new.logs[replica]) >= new.high_watermark[replica])
        for replica in Replica
    )


# What others are told.


@invariant
def described_offsets_are_held(model: Kraft) -> bool:
    """DescribeQuorum reports no more of a replica than it has, as long as it follows, and of a voter nothing before it
    does (KIP-595, "DescribeQuorum")."""
    return all(
        description_holds(model, replica, other)
        for replica in Replica
        for other in Replica
        if epoch_of(model, other) <= epoch_of(model, replica)
    )


def description_holds(model: Kraft, replica: Replica, other: Replica) -> bool:
    """Whether what a replica says of another is true."""
    info = model.describe_quorum(replica)
    if info is None:
        return True
    if model.quorum_state[other] != model.quorum_state[replica]:
        return other not in model.current_voters or reported_offset(info, other) == 0
    return reported_offset(info, other) <= model.flushed[other] and agree(
        model, replica, other, reported_offset(info, other)
    )


def reported_offset(info: QuorumInfo, replica: Replica) -> Offset:
    """The log end offset that DescribeQuorum gives, among the voters or among the observers."""
    voter_end = info.current_voters[replica]
    observer_end = info.observers[replica]
    if voter_end is not None:
        return voter_end
    return observer_end if observer_end is not None else 0


@invariant
def active_controllers_lead(model: Kraft) -> bool:
    """A controller acts only where its replica leads and has what was committed before its epoch (KAFKA-15345,
    KAFKA-17333)."""
    return all(
        implies(
            model.is_active_controller(replica),
            leads(model, replica)
            and model.high_watermark[replica] >= model.leadership[replica].epoch_start,
        )
        for replica in Replica
    )


# What the model can do.


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
