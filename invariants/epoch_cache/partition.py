"""What must hold of a partition whose epochs are read from the leader epoch cache (model/epoch_cache/partition.py)."""

from __future__ import annotations

from floodmark import always_eventually, invariant, reachable
from model.epoch_cache.partition import Broker, EpochCaches


def is_stored(model: EpochCaches, broker: Broker, offset: int) -> bool:
    """Whether the replica has a record at this offset."""
    log = model.replicas[broker].log
    return offset < len(log) and log[offset] != 0


@invariant
def leader_holds_committed(model: EpochCaches) -> bool:
    """The leader has every committed record that it has not deleted (V35, LeaderCompleteness)."""
    return all(model.holds(model.leader, offset) for offset in range(len(model.committed)))


@invariant
def isr_holds_committed(model: EpochCaches) -> bool:
    """Every member of the ISR ends no earlier than what is committed (V35, LeaderCandidateCompleteness)."""
    return all(len(model.replicas[broker].log) >= len(model.committed) for broker in model.isr)


@invariant
def committed_offsets_are_not_reused(model: EpochCaches) -> bool:
    """The leader appends after everything that was ever committed, deleted or not: a consumer that has read an offset
    does not look there again.
    """
    return len(model.replicas[model.leader].log) >= len(model.committed)


@invariant
def logs_agree_below_high_watermark(model: EpochCaches) -> bool:
    """Where two replicas know a record to be committed, it is the same one (V35, LogMatching)."""
    return all(
        model.replicas[one].log[offset] == model.replicas[other].log[offset]
        for one in Broker
        for other in Broker
        for offset in range(min(model.replicas[one].high_watermark, model.replicas[other].high_watermark))
        if is_stored(model, one, offset) and is_stored(model, other, offset)
    )


@invariant
def committed_records_survive(model: EpochCaches) -> bool:
    """What is committed and not deleted everywhere is with some member of the ISR (V35)."""
    return all(
        any(model.holds(broker, offset) for broker in model.isr) for offset in range(len(model.committed))
    )


@always_eventually
def followers_are_in_sync(model: EpochCaches) -> bool:
    """Every follower of a live leader gets into the ISR, and back into it."""
    return all(broker in model.isr for broker in Broker)


@always_eventually
def high_watermark_follows(model: EpochCaches) -> bool:
    """What is appended is committed."""
    return model.replicas[model.leader].high_watermark == len(model.replicas[model.leader].log)


@reachable
def epoch_without_records_is_cached(model: EpochCaches) -> bool:
    """A follower's last epoch can be one in which it led, and wrote nothing."""
    return any(
        broker != model.leader
        and model.latest_epoch(broker) > 0
        and model.start_offset(broker, model.latest_epoch(broker)) == len(model.replicas[broker].log)
        for broker in Broker
    )


@reachable
def follower_starts_anew(model: EpochCaches) -> bool:
    """A follower can be so far behind that everything it had is deleted at the leader."""
    return any(
        broker != model.leader
        and model.replicas[broker].log_start_offset > 0
        and model.latest_epoch(broker) == 0
        for broker in Broker
    )
