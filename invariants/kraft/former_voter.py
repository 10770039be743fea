"""What must hold of a leader that is no longer a voter, and of its observers (begin with quorum.py)."""

from __future__ import annotations

from floodmark import leads_to, reachable, transition
from invariants.kraft.quorum import epoch_of, leads, was_elected_later
from model.kraft.former_voter import KraftFormerVoter
from model.kraft.quorum import Replica, Role


@leads_to
def former_voter_stops(model: KraftFormerVoter, replica: Replica) -> tuple[bool, bool]:
    """A leader that is no longer a voter resigns, although no message tells it to (KIP-595, "Leader Progress
    Timeout")."""
    zombie = leads(model, replica) and replica not in model.current_voters
    return zombie, not zombie


@leads_to
def former_voter_follows(model: KraftFormerVoter) -> tuple[bool, bool]:
    """Once it stands for election, a response names the leader, and it follows, as long as there is a leader (KIP-595,
    "Leader Progress Timeout").
    """
    former = model.former
    stands = former is not None and model.role[former] == Role.CANDIDATE
    waits = stands and any(leads(model, voter) for voter in model.current_voters)
    return waits, not waits


@leads_to
def observer_leaves_former_voter(model: KraftFormerVoter, observer: Replica) -> tuple[bool, bool]:
    """An observer does not follow a former voter forever, whatever the former voter answers (KIP-595, "Leader Progress
    Timeout": stale information being served to the observers).
    """
    leader = model.quorum_state[observer].leader
    stale = leader is not None and leader != observer and leader not in model.current_voters
    return stale, not stale


@transition
def former_voter_learns_by_following(old: KraftFormerVoter, new: KraftFormerVoter) -> bool:
    """A former voter takes itself for a voter until it follows a later leader, and stands no more then."""
    former = old.former
    return former is None or (new.former is None) == (new.role[former] == Role.FOLLOWER)


@transition
def former_voter_deposes_nobody(old: KraftFormerVoter, new: KraftFormerVoter) -> bool:
    """A leader does not step down for an epoch that a former voter has begun: KIP-595 does not promise this."""
    return all(
        new.former is None or leads(new, leader) or epoch_of(new, leader) != epoch_of(new, new.former)
        for leader in old.current_voters
        if leads(old, leader) and new.role[leader] == Role.UNATTACHED
    )


@reachable
def former_voter_leads_on(model: KraftFormerVoter) -> bool:
    """A former voter can lead, and be followed by an observer, while records of a later epoch are committed."""
    return any(
        leads(model, zombie)
        and zombie == model.former
        and was_elected_later(model, epoch_of(model, zombie))
        and len(model.committed) > model.high_watermark[zombie]
        and model.quorum_state[observer] == model.quorum_state[zombie]
        for zombie in Replica
        for observer in Replica
        if observer != zombie
    )


@reachable
def former_voter_asks_for_votes(model: KraftFormerVoter) -> bool:
    """A former voter can stand in the epoch of the present leader, which it does not know."""
    return any(
        model.role[zombie] == Role.CANDIDATE
        and zombie == model.former
        and leads(model, leader)
        and epoch_of(model, zombie) == epoch_of(model, leader)
        for zombie in Replica
        for leader in Replica
    )
