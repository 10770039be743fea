"""What clients may rely on when they read (begin with quorum.py)."""

from __future__ import annotations

from floodmark import invariant, reachable, transition
from invariants.kraft.quorum import epoch_of
from model.kraft.quorum import Log, Replica
from model.kraft.reads import KraftObserverReads, KraftReads


def begins_with(log: Log, earlier: Log) -> bool:
    """The log has these records, and may have more."""
    return log[: len(earlier)] == earlier


@transition
def no_read_goes_back(old: KraftReads, new: KraftReads) -> bool:
    """An active controller's answer to a client that refuses answers of earlier epochs contains everything that the
    previous answer did. So a client reads what was acknowledged to it.
    """
    return begins_with(new.answered, old.answered)


@transition
def no_observer_goes_back(old: KraftObserverReads, new: KraftObserverReads) -> bool:
    """An observer's answer contains everything that it answered before, even across restarts."""
    return all(begins_with(new.observed[observer], old.observed[observer]) for observer in Replica)


@invariant
def what_was_read_is_kept(model: KraftReads) -> bool:
    """No answer has a record that is lost afterwards: it is committed."""
    return begins_with(model.committed, model.answered)


@invariant
def what_was_observed_is_kept(model: KraftObserverReads) -> bool:
    """Nor does an observer's answer."""
    return all(begins_with(model.committed, model.observed[observer]) for observer in Replica)


@invariant
def only_observers_are_observed(model: KraftObserverReads) -> bool:
    """Voters have no clients who read what is not the active controller's (KIP-595)."""
    return all(len(model.observed[voter]) == 0 for voter in model.current_voters)


@reachable
def stale_answer_is_refused(model: KraftReads) -> bool:
    """A zombie can be an active controller, and know less than the client."""
    return any(
        model.is_active_controller(replica)
        and epoch_of(model, replica) < model.known_epoch
        and model.high_watermark[replica] < len(model.answered)
        for replica in Replica
    )


@reachable
def observer_is_stale(model: KraftObserverReads) -> bool:
    """What an observer answered last can be less than what is committed, and it serves what it knows."""
    return any(
        0 < len(model.observed[observer]) < len(model.committed) and model.serves(observer)
        for observer in Replica
        if observer not in model.current_voters
    )
