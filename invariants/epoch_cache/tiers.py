"""What must hold of a log whose older records are in remote storage (model/epoch_cache/tiers.py); see partition.py."""

from __future__ import annotations

from floodmark import invariant, reachable
from model.epoch_cache.partition import Broker
from model.epoch_cache.tiers import TieredLogs


@invariant
def local_log_is_the_end_of_the_log(model: TieredLogs) -> bool:
    """The local log begins no earlier than the log, and no later than it ends."""
    return all(
        replica.log_start_offset <= model.local_log_start_offset[broker] <= len(replica.log)
        for broker, replica in model.replicas.items()
    )


@invariant
def deleted_records_are_not_stored(model: TieredLogs) -> bool:
    """Nothing is stored below the local log start offset."""
    return all(
        model.replicas[broker].log[offset] == 0
        for broker in Broker
        for offset in range(model.local_log_start_offset[broker])
    )


@invariant
def cache_tells_the_epoch_of_each_remote_record(model: TieredLogs) -> bool:
    """The cache covers the whole log, also what is only in remote storage: a replica that leads has to say where its
    epochs ended (``TierStateMachine.buildRemoteLogAuxState``).
    """
    return all(
        max((epoch for epoch in model.cached(broker) if model.start_offset(broker, epoch) <= offset), default=0)
        == model.committed[offset]
        for broker in Broker
        for offset in range(len(model.committed))
        if model.replicas[broker].log_start_offset <= offset < model.local_log_start_offset[broker]
    )


@reachable
def local_log_is_empty(model: TieredLogs) -> bool:
    """All of a leader's log can be in remote storage, and there only."""
    replica = model.replicas[model.leader]
    start = model.local_log_start_offset[model.leader]
    return replica.log_start_offset < start == model.remote_end == replica.high_watermark == len(replica.log)
