"""What must hold of KIP-595 (model/kraft/quorum.py, which maps all files to the KIP).

Start here. What must be able to happen is in quorum_scenarios.py; quorum_lemmas.py helps to prove elections. The others
are about models of their names: batch.py (multi-raft), clusters.py, network.py (late messages), pre_vote.py (KIP-996),
observers.py (what followers know), reads.py (clients), former_voter.py, timely.py (who deposes a leader),
end_quorum_epoch.py; liveness: progress.py, batch_progress.py, elections.py, hand_over.py, purgatory.py,
high_watermark.py (KIP-1166).

"Raft" is Ongaro and Ousterhout's paper, "VRAFT" Jack Vanlightly's KRaft.tla, and "simulation" Apache Kafka's
RaftEventSimulationTest, which checks some of these after every event of a random run.
"""

from __future__ import annotations

from floodmark import Set, implies, invariant, transition
from model.kraft.quorum import Epoch, Kraft, Offset, QuorumInfo, Replica, Role


def epoch_of(model: Kraft, replica: Replica) -> Epoch:
    """The replica's epoch."""
    return model.quorum_state[replica].epoch


def leads(model: Kraft, replica: Replica) -> bool:
    return model.role[replica] == Role.LEADER


def was_elected_later(model: Kraft, epoch: Epoch) -> bool:
    """Whether a later epoch has, or had, a leader."""
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
    """A replica takes only an elected replica for the leader (Raft, section 5.2; KIP-595, "BeginQuorumEpoch")."""
    return all(
        model.elected[epoch_of(model, replica)] == model.quorum_state[replica].leader
        for replica in Replica
        if model.quorum_state[replica].leader is not None
    )


@transition
def votes_once(old: Kraft, new: Kraft) -> bool:
    """Within an epoch a replica keeps its vote until it knows the leader, and the leader until the epoch ends, even
    across restarts.

    So nobody votes twice in an epoch (Raft, section 5.2).
    """
    return all(
        implies(
            epoch_of(new, replica) == epoch_of(old, replica),
            new.quorum_state[replica].leader == old.quorum_state[replica].leader
            if old.quorum_state[replica].leader is not None
            else old.quorum_state[replica].voted_key is None
            or new.quorum_state[replica].leader is not None
            or new.quorum_state[replica].voted_key == old.quorum_state[replica].voted_key,
        )
        for replica in Replica
    )


@transition
def epochs_never_decrease(old: Kraft, new: Kraft) -> bool:
    """A replica's epoch never falls, not even across a restart (simulation, MonotonicEpoch)."""
    return all(epoch_of(new, replica) >= epoch_of(old, replica) for replica in Replica)


@invariant
def roles_fit_what_is_stored(model: Kraft) -> bool:
    """Each role has the quorum state that belongs to it (Vanlightly's kip_996, ValidRolesAndStates; Kafka's
    QuorumState).
    """
    return all(role_fits(model, replica) for replica in Replica)


def role_fits(model: Kraft, replica: Replica) -> bool:
    """Whether role, leader and vote go together."""
    state = model.quorum_state[replica]
    role = model.role[replica]
    if role in (Role.LEADER, Role.RESIGNED):
        return state.leader == replica and state.voted_key is None
    if role == Role.FOLLOWER:
        return state.leader is not None and state.leader != replica and state.voted_key is None
    if role == Role.CANDIDATE:
        return state.leader is None and state.voted_key == replica
    if role == Role.VOTED:
        return state.leader is None and state.voted_key is not None
    return role != Role.UNATTACHED or (state.leader is None and state.voted_key is None)


@transition
def roles_end_in_order(old: Kraft, new: Kraft) -> bool:
    """Within an epoch, even across restarts, a candidate stands until its epoch has a leader or it asks for pre-votes,
    and a leader that has resigned does not lead again (Kafka's QuorumState; KAFKA-10527).
    """
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
    """Votes go only to candidates, which count them: a candidate's own vote is among them, and it has fewer votes than
    a majority (Kafka's QuorumState).
    """
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
    """A replica that got this voter's vote has stood in the voter's epoch, and may have moved on since."""
    candidate = model.quorum_state[voter].voted_key
    if candidate is None or epoch_of(model, candidate) > epoch_of(model, voter):
        return True
    stored = model.quorum_state[candidate]
    return stored.epoch == epoch_of(model, voter) and (stored.voted_key == candidate or stored.leader is not None)


@invariant
def observers_only_observe(model: Kraft) -> bool:
    """Only voters do more than wait or follow (KAFKA-17067), and there are as many as were asked for."""
    return len(model.current_voters) == model.voters and all(
        replica in model.current_voters
        for replica in Replica
        if model.role[replica] not in (Role.UNATTACHED, Role.FOLLOWER)
    )


@invariant
def nobody_is_in_an_illegal_state(model: Kraft) -> bool:
    """No replica stops because it saw something impossible (VRAFT, NoIllegalState)."""
    return not model.illegal


@transition
def zombie_cannot_win_over_newer_records(old: Kraft, new: Kraft) -> bool:
    """A replica with a log, as a former leader has, that begins to lead an epoch newer than any committed record has a
    last record as new as those, however large its epoch. That it then has all of them: ``leader_completeness``.

    KIP-595, "Leader Progress Timeout", says that a leader that was partitioned could win with a very large epoch. The
    size of its epoch does not help: a majority that has a newer committed record refuses it.
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
    """A leader keeps leading while a majority, counting itself, fetches from it (KIP-595, "Leader Progress Timeout":
    one dead follower of three must not depose a leader; KAFKA-16144: nor must being the only voter).
    """
    return all(
        not new.is_majority(old.leader_state[replica].fetched_voters | {replica})
        for replica in Replica
        if new.progress_timeout
        and new.restarts == old.restarts
        and leads(old, replica)
        and (new.role[replica] == Role.RESIGNED or stands_next(old, new, replica))
    )


@transition
def leader_resigns_before_it_stands(old: Kraft, new: Kraft) -> bool:
    """A leader does not stand for another epoch before it has resigned.

    Kafka's QuorumState only: in KIP-595, a leader from which no majority fetches "would begin a new election" at once.
    """
    return all(not (leads(old, replica) and stands_next(old, new, replica)) for replica in Replica)


def stands_next(old: Kraft, new: Kraft, replica: Replica) -> bool:
    """The replica stands in the epoch after its last one, or leads it."""
    state = new.quorum_state[replica]
    return state.epoch == epoch_of(old, replica) + 1 and replica in (state.voted_key, state.leader)


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
    """Finding the end of an epoch relies on this order; the last record's epoch is no later than the replica's
    (KAFKA-10511).
    """
    return all(
        model.logs[replica][offset]
        <= (model.logs[replica][offset + 1] if offset + 1 < len(model.logs[replica]) else epoch_of(model, replica))
        for replica in Replica
        for offset in range(len(model.logs[replica]))
    )


@transition
def records_are_written_once(old: Kraft, new: Kraft) -> bool:
    """An epoch and an offset name one record: a leader writes no other one while any replica has it (KAFKA-10527). All
    others copy what exists, and only while they follow (KIP-595, "Fetch").
    """
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
    """A committed record is never replaced; the highest high watermark never falls (simulation, MonotonicHighWatermark,
    ConsistentCommittedData).
    """
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
    """A majority of the voters has flushed everything committed (simulation, MajorityReachedHighWatermark; VRAFT,
    CommittedEntriesReachMajority).
    """
    return model.is_majority(
        Set(
            voter
            for voter in model.current_voters
            if holds_committed(model, voter) and model.flushed[voter] >= len(model.committed)
        )
    )


@transition
def high_watermark_never_decreases(old: Kraft, new: Kraft) -> bool:
    """Within an epoch its leader's high watermark does not fall (simulation, MonotonicHighWatermark)."""
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
    committed (KAFKA-12619).
    """
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
    """Only a leader continues before its writes are flushed (KIP-595, "Fetch"; KAFKA-10533)."""
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
    """Only a leader knows who fetched, and how far. One that has resigned still knows how far, to rank its successors,
    but no longer has a high watermark (Kafka's ResignedState). A leader that tracks who fetches counts voters other
    than itself, until they are a majority together with it (Kafka's LeaderState).
    """
    return all(
        (
            model.leader_state[replica].fetched_voters <= model.current_voters - {replica}
            and len(model.leader_state[replica].fetched_voters)
            <= (len(model.current_voters) // 2 if model.progress_timeout else 0)
        )
        if leads(model, replica)
        else len(model.leader_state[replica].fetched_voters) == 0
        and (
            model.high_watermark[replica] == 0
            if model.role[replica] == Role.RESIGNED
            else model.leader_state[replica] == model.no_leader_state()
        )
        for replica in Replica
    )


@transition
def truncates_above_high_watermark_only(old: Kraft, new: Kraft) -> bool:
    """A running replica never cuts its log below the high watermark that it had (KAFKA-12460), nor by lowering it."""
    return all(
        implies(
            len(new.logs[replica]) < len(old.logs[replica]) and new.restarts == old.restarts,
            len(new.logs[replica]) >= old.high_watermark[replica],
        )
        for replica in Replica
    )


# What others are told.


@invariant
def described_offsets_are_held(model: Kraft) -> bool:
    """DescribeQuorum never reports more of a replica's log than it has, as long as the replica follows, and nothing of
    a voter before it follows (KIP-595, "DescribeQuorum").
    """
    return all(
        description_holds(model, replica, other)
        for replica in Replica
        for other in Replica
        if epoch_of(model, other) <= epoch_of(model, replica)
    )


def description_holds(model: Kraft, replica: Replica, other: Replica) -> bool:
    """Whether what a replica says about another is true."""
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
    """A controller acts only if its replica leads and has everything committed before its epoch (KAFKA-15345,
    KAFKA-17333).
    """
    return all(
        implies(
            model.is_active_controller(replica),
            leads(model, replica)
            and model.high_watermark[replica] >= model.leader_state[replica].epoch_start_offset,
        )
        for replica in Replica
    )
