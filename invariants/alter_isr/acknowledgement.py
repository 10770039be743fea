"""What producers are promised (model/alter_isr/acknowledgement.py; begin with core.py)."""

from __future__ import annotations

from floodmark import invariant, reachable, transition
from invariants.alter_isr.failover import leads_now
from model.alter_isr.acknowledgement import AcknowledgedWrites, Write
from model.alter_isr.failover import Broker


def has(model: AcknowledgedWrites, broker: Broker, write: Write) -> bool:
    """The replica has the record of this write at its offset."""
    log = model.replicas[broker].log
    return len(log) > write.offset and log[write.offset] == write.epoch


@invariant
def acknowledged_writes_stay_committed(model: AcknowledgedWrites) -> bool:
    """What was acknowledged under acks=all is on every member of the ISR, and so on every possible leader, and on the
    leader (KIP-101, KIP-497).
    """
    return all(
        has(model, broker, write)
        for write in model.acknowledged
        for broker in Broker
        if broker in model.current().isr or leads_now(model, broker)
    )


@transition
def acknowledged_writes_have_enough_copies(old: AcknowledgedWrites, new: AcknowledgedWrites) -> bool:
    """As a write is acknowledged, at least min.insync.replicas have it, where no broker loses records (KAFKA-15583)."""
    return all(
        sum(1 for broker in Broker if has(new, broker, write)) >= new.min_insync_replicas
        for write in new.acknowledged
        if write not in old.acknowledged
    )


@reachable
def acknowledged_write_outlives_its_leader(model: AcknowledgedWrites) -> bool:
    """A write can be acknowledged by a leader that another one has replaced."""
    return any(model.current().leader != write.leader for write in model.acknowledged)


@reachable
def unacknowledged_write_is_committed(model: AcknowledgedWrites) -> bool:
    """A record whose write failed can be committed all the same: a producer that sends it again writes it twice."""
    return len(model.committed) > 0 and model.waiting is None and len(model.acknowledged) == 0


@reachable
def unacknowledged_record_is_lost(model: AcknowledgedWrites) -> bool:
    """A record that was not acknowledged under acks=all can be lost with its leader: the next one writes another record
    at its offset. That is all that acks=1 promises.
    """
    return any(
        len(model.replicas[broker].log) > 0
        and len(model.committed) > 0
        and model.replicas[broker].log[0] != model.committed[0]
        for broker in Broker
    )
