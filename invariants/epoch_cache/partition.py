"""What must hold of a partition with a leader epoch cache. Start here. tiers.py: what must hold of remote storage."""

from __future__ import annotations

from floodmark import always_eventually, invariant, reachable, transition
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


@invariant
def cache_tells_the_epoch_of_each_record(model: EpochCaches) -> bool:
    """The last epoch that begins at or below a record's offset is the record's (``LeaderEpochFileCache``)."""
    return all(
        max((epoch for epoch in model.cached(broker) if model.start_offset(broker, epoch) <= offset), default=0)
        == model.replicas[broker].log[offset]
        for broker in Broker
        for offset in range(model.max_offset)
        if is_stored(model, broker, offset)
    )


@invariant
def cached_epochs_begin_one_after_another(model: EpochCaches) -> bool:
    """Later epochs begin at later offsets, none before the log and none behind it."""
    return all(
        model.replicas[broker].log_start_offset <= model.start_offset(broker, epoch) <= len(model.replicas[broker].log)
        and all(
            model.start_offset(broker, epoch) < model.start_offset(broker, later)
            for later in model.cached(broker)
            if later > epoch
        )
        for broker in Broker
        for epoch in model.cached(broker)
    )


@invariant
def offsets_are_in_order(model: EpochCaches) -> bool:
    """A log begins no later than its high watermark, and that is no later than its end."""
    return all(
        replica.log_start_offset <= replica.high_watermark <= len(replica.log) for replica in model.replicas.values()
    )


@invariant
def only_committed_records_are_below_high_watermarks(model: EpochCaches) -> bool:
    """Nobody takes for committed what no leader has committed."""
    return all(replica.high_watermark <= len(model.committed) for replica in model.replicas.values())


@invariant
def high_watermark_keeps_up(model: EpochCaches) -> bool:
    """What the leader knows of the whole ISR is committed, whether or not a follower fetches again."""
    return model.replicas[model.leader].high_watermark >= min(model.known_end(broker) for broker in model.isr)


@invariant
def leader_is_in_isr_and_follows_nobody(model: EpochCaches) -> bool:
    """The leader is in sync, and what it remembers of fetches is of others."""
    return model.leader in model.isr and model.fetch_offsets[model.leader] == 0


@transition
def high_watermark_of_a_leader_never_decreases(old: EpochCaches, new: EpochCaches) -> bool:
    """Neither while it leads, nor when it begins to (V35, section 6.4)."""
    return new.replicas[new.leader].high_watermark >= old.replicas[new.leader].high_watermark


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


@reachable
def leader_is_alone_before_any_election(model: EpochCaches) -> bool:
    """A leader can remove a follower that lags (``Partition.maybeShrinkIsr``)."""
    return model.leader_epoch == 1 and len(model.isr) == 1


@reachable
def former_leader_is_out_of_sync(model: EpochCaches) -> bool:
    """An election can follow the leader's end, which is not in the ISR then."""
    return model.leader_epoch == 2 and model.shrinks == 0 and len(model.isr) == 1


@reachable
def committed_log_is_deleted_to_its_end(model: EpochCaches) -> bool:
    """DeleteRecords with the high watermark leaves nothing."""
    replica = model.replicas[model.leader]
    return 0 < replica.log_start_offset == replica.high_watermark == len(replica.log)


@reachable
def restarted_replica_has_forgotten_the_high_watermark(model: EpochCaches) -> bool:
    """A member of the ISR has what is committed, and does not know that it is."""
    return len(model.committed) == model.max_offset and any(
        broker in model.isr and model.replicas[broker].high_watermark == 0 for broker in Broker
    )
