"""What must hold of a committed log of voters (model/dynamic_quorum/committed_voters.py), and so of everything that
refines it. Begin with voters.py.
"""

from __future__ import annotations

from floodmark import Seq, Set, implies, invariant, transition
from model.dynamic_quorum.committed_voters import CommittedVoters
from model.dynamic_quorum.voters import Entry
from model.kraft.quorum import Replica


def voters_of(log: Seq[Entry], position: int) -> Set[Replica]:
    """The voters that a record names."""
    voters = log[position].voters
    return Set[Replica]() if voters is None else voters


@transition
def committed_records_are_kept(old: CommittedVoters, new: CommittedVoters) -> bool:
    """Nothing that is committed changes (V853, AckedValueNotLost)."""
    return new.committed[: len(old.committed)] == old.committed


@transition
def leader_of_an_epoch_stays(old: CommittedVoters, new: CommittedVoters) -> bool:
    """An epoch has one leader, ever (Raft, "Election Safety")."""
    return all(
        old.leaders[epoch] is None or new.leaders[epoch] == old.leaders[epoch] for epoch in range(new.max_epoch + 1)
    )


@invariant
def committed_records_were_written_by_leaders(model: CommittedVoters) -> bool:
    """A record is of an epoch that has a leader, and no later record is of an earlier epoch."""
    return all(model.leaders[entry.epoch] is not None for entry in model.committed) and all(
        one.epoch <= other.epoch for one, other in zip(model.committed, model.committed[1:], strict=False)
    )


def named_next(log: Seq[Entry], one: int, two: int) -> bool:
    """Two records name voters, and none between them."""
    return (
        log[one].voters is not None
        and log[two].voters is not None
        and all(between.voters is None for between in log[one + 1 : two])
    )


@invariant
def committed_voters_change_one_at_a_time(model: CommittedVoters) -> bool:
    """A VotersRecord names the voters of the one before it, or one more, or one fewer (KIP-853)."""
    log = model.committed
    return all(
        implies(named_next(log, one, two), len(voters_of(log, one) ^ voters_of(log, two)) <= 1)
        for two in range(len(log))
        for one in range(two)
    )


@invariant
def committed_majorities_intersect(model: CommittedVoters) -> bool:
    """So a majority of the voters before a change has a voter in common with every majority of those after it
    (Ongaro's thesis, section 4.1).
    """
    log = model.committed
    return all(
        implies(
            named_next(log, one, two),
            len(voters_of(log, one)) // 2 + len(voters_of(log, two)) // 2 + 2
            > len(voters_of(log, one) | voters_of(log, two)),
        )
        for two in range(len(log))
        for one in range(two)
    )
