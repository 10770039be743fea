"""What must hold of KIP-853 (model/dynamic_quorum/voters.py).

Start here. The properties of disks.py, snapshots.py and pre_vote.py are in the files of these names, the liveness is in
progress.py, what a log of committed voters has in committed_voters.py. "Raft" is Ongaro and Ousterhout's paper, "V853"
Jack Vanlightly's kip_853 specification, and "simulation" what KAFKA-16580 adds to Apache Kafka's
RaftEventSimulationTest.
"""

from __future__ import annotations

from floodmark import Seq, Set, implies, invariant, reachable, transition
from model.dynamic_quorum.voters import DynamicQuorum, Entry
from model.kraft.quorum import Epoch, Replica, Role


def epoch_of(model: DynamicQuorum, replica: Replica) -> Epoch:
    return model.quorum_state[replica].epoch


def leads(model: DynamicQuorum, replica: Replica) -> bool:
    return model.role[replica] == Role.LEADER


def leads_newest_epoch(model: DynamicQuorum, replica: Replica) -> bool:
    """Whether the replica leads, and nobody was elected in a later epoch."""
    return leads(model, replica) and all(
        model.elected[later] is None or later <= epoch_of(model, replica) for later in range(model.max_epoch + 1)
    )


def holds_committed(model: DynamicQuorum, replica: Replica) -> bool:
    """The replica has every record that was ever committed."""
    return model.logs[replica][: len(model.committed)] == model.committed


def committed_voters(model: DynamicQuorum) -> Set[Replica]:
    """The voters of the last VotersRecord that is committed."""
    voters = Set[Replica]()
    for entry in model.committed:
        if entry.voters is not None:
            voters = entry.voters
    return voters


# Elections.


@transition
def election_safety(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """An epoch has one leader, ever, whichever voters elected it (Raft, "Election Safety")."""
    return all(
        old.elected[epoch] is None or new.elected[epoch] == old.elected[epoch] for epoch in range(new.max_epoch + 1)
    )


@invariant
def leaders_are_known_alike(model: DynamicQuorum) -> bool:
    """Whoever knows the leader of an epoch knows the one that was elected (V853, NeverTwoLeadersInSameEpoch)."""
    return all(
        model.elected[epoch_of(model, replica)] == model.quorum_state[replica].leader
        for replica in Replica
        if model.quorum_state[replica].leader is not None
    )


@invariant
def nobody_is_in_an_illegal_state(model: DynamicQuorum) -> bool:
    """No replica stops because it saw something impossible (V853, NoIllegalState)."""
    return not model.illegal


@transition
def epochs_never_decrease(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    return all(epoch_of(new, replica) >= epoch_of(old, replica) for replica in Replica)


@invariant
def roles_fit_what_is_stored(model: DynamicQuorum) -> bool:
    """A follower names its leader, which is another; a leader names itself, also when it has resigned, and nobody else
    does; a prospective replica may remember another's leadership (``QuorumState.initialize``, ``ProspectiveState``).
    """
    return all(
        implies(model.role[replica] == Role.UNATTACHED, model.quorum_state[replica].leader is None)
        and implies(model.role[replica] == Role.FOLLOWER, model.quorum_state[replica].leader not in (None, replica))
        and (model.role[replica] in (Role.LEADER, Role.RESIGNED)) == (model.quorum_state[replica].leader == replica)
        for replica in Replica
    )


@invariant
def votes_come_from_voters(model: DynamicQuorum) -> bool:
    """A replica counts votes, and pre-votes, of the voters in its own log only."""
    return all(model.votes[replica] <= model.voter_set[replica] for replica in Replica)


@transition
def leader_is_known_until_the_epoch_ends(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """Whoever knows the leader of its epoch remembers it, unless it stood in that epoch and restarts: a pre-vote makes
    nobody forget.
    """
    return all(
        implies(
            epoch_of(new, replica) == epoch_of(old, replica) and old.quorum_state[replica].leader is not None,
            new.quorum_state[replica].leader == old.quorum_state[replica].leader or new.restarts > old.restarts,
        )
        for replica in Replica
    )


@transition
def roles_end_in_order(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """Within an epoch, a candidate stands until the epoch has a leader, and a leader that has resigned does not lead
    again (``QuorumState``; KAFKA-10527).
    """
    return all(
        implies(
            epoch_of(new, replica) == epoch_of(old, replica),
            new.role[replica] in (Role.CANDIDATE, Role.LEADER, Role.FOLLOWER, Role.RESIGNED)
            if old.role[replica] == Role.CANDIDATE
            else old.role[replica] != Role.RESIGNED or new.role[replica] == Role.RESIGNED,
        )
        for replica in Replica
    )


@transition
def leader_resigns_before_it_stands(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """A leader does not stand for another epoch before it has resigned (``KafkaRaftClient.pollLeader``)."""
    return all(
        new.role[replica] == Role.UNATTACHED or new.role[replica] == Role.FOLLOWER
        for replica in Replica
        if leads(old, replica) and epoch_of(new, replica) > epoch_of(old, replica)
    )


@transition
def epochs_begin_for_a_reason(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """A replica joins the epoch of another one, or stands in the next, or leaves that which it has led to voters of
    which it is none any more (``KafkaRaftClient.pollResigned``).
    """
    return all(
        any(epoch_of(old, other) >= epoch_of(new, replica) for other in Replica)
        or new.role[replica] in (Role.CANDIDATE, Role.LEADER)
        or (old.role[replica] == Role.RESIGNED and replica not in old.voter_set[replica])
        for replica in Replica
        if epoch_of(new, replica) > epoch_of(old, replica)
    )


@invariant
def only_candidates_hold_votes(model: DynamicQuorum) -> bool:
    """A candidate counts its own vote, and has too few until it leads; nobody else counts any (``CandidateState``)."""
    return all(
        replica in model.votes[replica] and not model.is_majority(model.votes[replica], model.voter_set[replica])
        if model.role[replica] == Role.CANDIDATE
        else len(model.votes[replica]) == 0
        for replica in Replica
    )


@invariant
def only_leaders_keep_leadership(model: DynamicQuorum) -> bool:
    """Only a leader knows how far others have fetched, and nobody has fetched beyond the end of its log
    (``LeaderState``). One that has resigned has no high watermark (``ResignedState``).
    """
    return all(
        all(model.end_offsets[replica][other] <= len(model.logs[replica]) for other in Replica)
        if leads(model, replica)
        else model.end_offsets[replica] == model.no_offsets()
        and implies(model.role[replica] == Role.RESIGNED, model.high_watermark[replica] == 0)
        for replica in Replica
    )


# Logs.


@invariant
def leader_completeness(model: DynamicQuorum) -> bool:
    """The leader of the newest epoch has every committed record (Raft, "Leader Completeness"; V853,
    LeaderHasAllAckedValues).
    """
    return all(holds_committed(model, replica) for replica in Replica if leads_newest_epoch(model, replica))


@transition
def committed_records_stay(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """What was acknowledged is never replaced (V853, AckedValueNotLost)."""
    return new.committed[: len(old.committed)] == old.committed


@invariant
def committed_records_agree(model: DynamicQuorum) -> bool:
    """What a replica holds below its high watermark is what was committed (V853, NoLogDivergence)."""
    return all(
        len(model.logs[replica]) >= model.high_watermark[replica]
        and model.logs[replica][: model.high_watermark[replica]] == model.committed[: model.high_watermark[replica]]
        for replica in Replica
    )


@invariant
def log_matching(model: DynamicQuorum) -> bool:
    """Two logs that have a record of one epoch at an offset are the same up to there (Raft, "Log Matching")."""
    return all(
        implies(
            model.logs[one][offset].epoch == model.logs[other][offset].epoch,
            model.logs[one][: offset + 1] == model.logs[other][: offset + 1],
        )
        for one in Replica
        for other in Replica
        if one != other
        for offset in range(min(len(model.logs[one]), len(model.logs[other])))
    )


@invariant
def epochs_never_decrease_along_a_log(model: DynamicQuorum) -> bool:
    """The end of an epoch is found by this order, and the last record's epoch is no later than the replica's."""
    return all(
        entry.epoch
        <= (model.logs[replica][offset].epoch if offset < len(model.logs[replica]) else epoch_of(model, replica))
        for replica in Replica
        for offset, entry in enumerate(model.logs[replica], 1)
    )


@transition
def high_watermark_never_decreases(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """Within an epoch its leader's high watermark does not fall (simulation, MonotonicHighWatermark)."""
    return all(
        new.high_watermark[replica] >= old.high_watermark[replica]
        for replica in Replica
        if leads(old, replica) and leads(new, replica) and epoch_of(old, replica) == epoch_of(new, replica)
    )


@invariant
def leader_commits_in_its_own_epoch(model: DynamicQuorum) -> bool:
    """A leader has a record of its own epoch (LeaderChange), and its high watermark is unknown until that is committed
    (KAFKA-12619).
    """
    return all(
        model.last_epoch(replica) == epoch_of(model, replica)
        and (
            model.high_watermark[replica] == 0
            or model.logs[replica][model.high_watermark[replica] - 1].epoch == epoch_of(model, replica)
        )
        for replica in Replica
        if leads(model, replica)
    )


@transition
def logs_grow_by_fetches(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """A leader writes one record at a time; another replica has only records that its leader has (KIP-595, "Fetch")."""
    return all(
        implies(
            len(new.logs[replica]) > len(old.logs[replica]),
            len(new.logs[replica]) == len(old.logs[replica]) + 1
            and new.logs[replica][len(old.logs[replica])].epoch == epoch_of(new, replica)
            if leads(new, replica) or new.role[replica] == Role.RESIGNED
            else old.role[replica] in (Role.FOLLOWER, Role.UNATTACHED)
            and any(
                leads(old, leader) and new.logs[leader][: len(new.logs[replica])] == new.logs[replica]
                for leader in Replica
            ),
        )
        for replica in Replica
    )


@transition
def truncates_above_high_watermark_only(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """Nobody cuts its log below the high watermark that it had (KAFKA-12460)."""
    return all(
        len(new.logs[replica]) >= min(len(old.logs[replica]), old.high_watermark[replica]) for replica in Replica
    )


# Voters.


@invariant
def voters_are_those_of_the_log(model: DynamicQuorum) -> bool:
    """The voters that a replica knows are those of the last VotersRecord in its log."""
    return all(model.voter_set[replica] == model.voters_below(replica, len(model.logs[replica])) for replica in Replica)


@invariant
def one_change_at_a_time(model: DynamicQuorum) -> bool:
    """At most one VotersRecord in a log is not committed (simulation)."""
    return all(
        sum(
            1
            for offset, entry in enumerate(model.logs[replica])
            if entry.voters is not None and (offset >= len(model.committed) or model.committed[offset] != entry)
        )
        <= 1
        for replica in Replica
    )


def voter_sets(log: Seq[Entry]) -> Seq[Set[Replica]]:
    return Seq(entry.voters for entry in log if entry.voters is not None)


@invariant
def majorities_of_consecutive_sets_intersect(model: DynamicQuorum) -> bool:
    """Whoever is a majority of one voter set in a log has a voter in common with every majority of the next one
    (Ongaro's thesis, section 4.1; ``VoterSet.hasOverlappingMajority``).
    """
    return all(
        len(one) // 2 + len(other) // 2 + 2 > len(one | other)
        for replica in Replica
        for one, other in zip(voter_sets(model.logs[replica]), voter_sets(model.logs[replica])[1:], strict=False)
    )


@invariant
def every_majority_knows_committed(model: DynamicQuorum) -> bool:
    """Every majority of the committed voters has a replica with everything committed, so none can elect a leader
    without it.
    """
    lagging = Set(replica for replica in Replica if not holds_committed(model, replica))
    return not model.is_majority(lagging, committed_voters(model))


@invariant
def majority_holds_committed(model: DynamicQuorum) -> bool:
    """A majority of the committed voters, or of the set that some replica knows, has everything committed (simulation,
    MajorityReachedHighWatermark). This fails if the change whose voters committed a record is taken back.
    """
    holders = Set(replica for replica in Replica if holds_committed(model, replica))
    return model.is_majority(holders, committed_voters(model)) or any(
        model.is_majority(holders, model.voter_set[replica]) for replica in Replica
    )


@transition
def voters_in_the_log_commit(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """A record is committed once a majority has it of the voters that its leader knows, whose record may be the one
    that is committed (KIP-853, "using the majority of the new voters set").
    """
    holders = Set(replica for replica in Replica if holds_committed(new, replica))
    return new.committed == old.committed or any(
        new.is_majority(holders, new.voter_set[replica]) for replica in Replica if replica in holders
    )


@transition
def added_voter_has_caught_up(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """Who is added has everything that its leader knows to be committed (KIP-853, "AddVoter"). A leader that has been
    deposed, and does not know it, may add a replica that lacks what its successor has committed.
    """
    return all(
        old.logs[replica][: old.high_watermark[leader]] == old.committed[: old.high_watermark[leader]]
        for leader in Replica
        for replica in Replica
        if new.adds > old.adds and replica in new.voter_set[leader] - old.voter_set[leader]
    )


@transition
def requests_change_the_voters(old: DynamicQuorum, new: DynamicQuorum) -> bool:
    """A request adds a replica that is no voter yet (else DUPLICATE_VOTER), or removes one that is a voter (else
    VOTER_NOT_FOUND), and somebody is left; an update leaves the voters as they are (``VoterSet``).
    """
    return all(
        implies(
            leads(old, leader) and len(voter_sets(new.logs[leader])) > len(voter_sets(old.logs[leader])),
            len(new.voter_set[leader]) > 0
            and len(new.voter_set[leader] - old.voter_set[leader]) == new.adds - old.adds
            and len(old.voter_set[leader] - new.voter_set[leader]) == new.removes - old.removes,
        )
        for leader in Replica
    )


@invariant
def observers_only_observe(model: DynamicQuorum) -> bool:
    """Who is no voter by its own log does not stand (KAFKA-17067). It leads only until its removal is committed."""
    return all(
        model.role[replica] in (Role.UNATTACHED, Role.FOLLOWER, Role.RESIGNED)
        or (leads(model, replica) and model.last_change(replica) > model.high_watermark[replica])
        for replica in Replica
        if not model.is_voter(replica)
    )


# What must be able to happen.


@reachable
def change_is_committed_across_epochs(model: DynamicQuorum) -> bool:
    """A change of an earlier leader can be committed by a later one, which has begun to use it before."""
    return any(
        entry.voters is not None and entry.epoch < model.committed[len(model.committed) - 1].epoch and offset > 0
        for offset, entry in enumerate(model.committed)
    )


@reachable
def removed_leader_resigns(model: DynamicQuorum) -> bool:
    """A leader can commit its own removal."""
    return any(model.role[replica] == Role.RESIGNED and not model.is_voter(replica) for replica in Replica)


@reachable
def observer_votes(model: DynamicQuorum) -> bool:
    """The vote of a replica that does not know yet that it is a voter can be needed."""
    return any(model.quorum_state[replica].voted_key is not None and not model.is_voter(replica) for replica in Replica)


@reachable
def values_are_committed_in_each_epoch(model: DynamicQuorum) -> bool:
    """A value of the first leader can be committed, and one that a later leader wrote after its LeaderChange record."""
    first = any(entry.epoch == 1 and entry.voters is None for entry in model.committed)
    return first and sum(1 for entry in model.committed if entry.epoch == 2 and entry.voters is None) > 1


@reachable
def leader_resigns_as_a_voter(model: DynamicQuorum) -> bool:
    """A leader that is not removed can resign, before anything restarts."""
    resigned = any(model.role[replica] == Role.RESIGNED and model.is_voter(replica) for replica in Replica)
    return resigned and model.restarts == 0


@reachable
def follower_learns_what_is_committed(model: DynamicQuorum) -> bool:
    """A voter that never led, and without which nothing is committed, can know that the leader's whole log is
    committed: a response without records has told it.
    """
    return any(
        leads(model, leader)
        and model.logs[leader] == model.logs[replica]
        and len(model.logs[replica]) > 1
        and model.high_watermark[replica] == len(model.logs[replica])
        and model.is_voter(replica)
        and len(model.voter_set[replica]) == 2
        and all(model.elected[epoch] != replica for epoch in model.elected)
        for leader in Replica
        for replica in Replica
    )


@reachable
def replaced_record_is_given_up(model: DynamicQuorum) -> bool:
    """A leader can give up a record that it never committed for one of a later leader, although another replica still
    has it (KIP-595, "Fetch").
    """
    return any(
        model.elected[entry.epoch] == leader
        and offset < len(model.logs[leader])
        and model.logs[leader][offset].epoch > entry.epoch
        for holder in Replica
        for leader in Replica
        for offset, entry in enumerate(model.logs[holder])
    )
