"""What must hold of KIP-497 with failover (model/alter_isr/failover.py; begin with core.py).

The names StrongIsr, WeakIsr, ValidHighWatermark and the like are those of the TLA+ models that accompany the KIPs:
hachikuji/kafka-specification (written with KIP-101, 279, 320 and 497) and Vanlightly/kafka-tlaplus (3.5 and KIP-966).
"""

from __future__ import annotations

from floodmark import Set, implies, invariant, reachable, transition
from model.alter_isr.failover import AlterIsrFailover, AlterIsrRestarts, Broker, LeaderEpoch, Offset, ReconcilesOnce


def leads_now(model: AlterIsrFailover, broker: Broker) -> bool:
    """The broker leads, according to the controller and to itself."""
    current = model.current()
    return current.leader == broker and model.known(broker).leader_epoch == current.leader_epoch


def agree(model: AlterIsrFailover, one: Broker, other: Broker, end: Offset) -> bool:
    """Both replicas have the same records below ``end``."""
    log = model.replicas[one].log
    other_log = model.replicas[other].log
    return len(log) >= end and len(other_log) >= end and log[:end] == other_log[:end]


def holds_committed(model: AlterIsrFailover, broker: Broker) -> bool:
    """The replica has every record that a leader has exposed."""
    return model.replicas[broker].log[: len(model.committed)] == model.committed


def next_epoch(model: AlterIsrFailover, broker: Broker, offset: Offset) -> LeaderEpoch:
    """The epoch of the record after the one at ``offset``; after the last one, the epoch that the replica is in."""
    log = model.replicas[broker].log
    return log[offset + 1] if offset + 1 < len(log) else model.known(broker).leader_epoch


# The leader's view of the ISR.


@invariant
def leader_assumes_superset(model: AlterIsrFailover) -> bool:
    """The leader counts every member of the controller's ISR (KIP-497, "Proposed Changes": the largest possible ISR;
    Vanlightly, ReplicationQuorumSupersetProperty)."""
    return all(model.current().isr <= model.maximal_isr(broker) for broker in Broker if leads_now(model, broker))


@invariant
def isr_counts_when_nothing_is_pending(model: AlterIsrFailover) -> bool:
    """A leader without a request in flight counts exactly the confirmed ISR."""
    return all(
        model.maximal_isr(broker) == model.known(broker).isr
        for broker in Broker
        if model.leads(broker) and not model.request_in_flight(broker)
    )


# Replicated data.


@invariant
def valid_high_watermark(model: AlterIsrFailover) -> bool:
    """Every member of the controller's ISR has reached the leader's high watermark (kafka-specification, AsyncIsr)."""
    return all(
        len(model.replicas[member].log) >= model.replicas[broker].high_watermark
        for broker in Broker
        if leads_now(model, broker)
        for member in model.current().isr
    )


@invariant
def strong_isr(model: AlterIsrFailover) -> bool:
    """A replica that believes it leads agrees with the controller's ISR below its high watermark (StrongIsr)."""
    return all(
        agree(model, broker, member, model.replicas[broker].high_watermark)
        for broker in Broker
        if model.leads(broker)
        for member in model.current().isr
    )


@invariant
def weak_isr(model: AlterIsrFailover) -> bool:
    """The same for the ISR that the believed leader knows, for members that know no other leader (WeakIsr)."""
    return all(
        agree(model, broker, member, model.replicas[broker].high_watermark)
        for broker in Broker
        if model.leads(broker)
        for member in model.known(broker).isr
        if member in model.known(member).isr
    )


@invariant
def leader_candidate_completeness(model: AlterIsrFailover) -> bool:
    """Every member of the ISR, and so every possible leader, has everything that was ever exposed (Vanlightly)."""
    return all(holds_committed(model, member) for member in model.current().isr)


@invariant
def leader_completeness(model: AlterIsrFailover) -> bool:
    """The leader has every acknowledged record (Vanlightly)."""
    return all(holds_committed(model, broker) for broker in Broker if leads_now(model, broker))


@invariant
def log_matching(model: AlterIsrFailover) -> bool:
    """Any two replicas agree below both of their high watermarks (Vanlightly)."""
    return all(
        agree(model, one, other, min(model.replicas[one].high_watermark, model.replicas[other].high_watermark))
        for one in Broker
        for other in Broker
        if one != other
    )


@invariant
def consistent_reads(model: AlterIsrFailover) -> bool:
    """What a replica lets consumers read (KIP-392 for followers) is what was first exposed at that offset."""
    return all(
        model.replicas[broker].log[: model.replicas[broker].high_watermark]
        == model.committed[: model.replicas[broker].high_watermark]
        for broker in Broker
    )


@invariant
def committed_records_survive(model: AlterIsrFailover) -> bool:
    """At least one replica still has the acknowledged records."""
    return any(holds_committed(model, broker) for broker in Broker)


@invariant
def epochs_never_decrease_along_a_log(model: AlterIsrFailover) -> bool:
    """Finding the end of an epoch relies on this order (KIP-101); no record has an epoch that is yet to be learned."""
    return all(
        model.replicas[broker].log[offset] <= next_epoch(model, broker, offset)
        for broker in Broker
        for offset in range(len(model.replicas[broker].log))
    )


@transition
def exposed_records_stay(old: AlterIsrFailover, new: AlterIsrFailover) -> bool:
    """The history of exposed records only grows, and so does the true high watermark, without unclean elections."""
    return new.committed[: len(old.committed)] == old.committed


@transition
def high_watermark_never_decreases(old: AlterIsrFailover, new: AlterIsrFailover) -> bool:
    """A leader's high watermark does not fall: not within its leader epoch (Vanlightly), nor when it begins to lead."""
    return all(
        not new.leads(broker)
        for broker in Broker
        if new.replicas[broker].high_watermark < old.replicas[broker].high_watermark
    )


@transition
def high_watermark_comes_from_a_leader(old: AlterIsrFailover, new: AlterIsrFailover) -> bool:
    """Only leaders find out that more is committed; others hear it from the leader that they follow (KIP-392)."""
    return all(
        new.leads(broker)
        or any(
            new.asks(broker, leader) and new.replicas[leader].high_watermark >= new.replicas[broker].high_watermark
            for leader in Broker
        )
        for broker in Broker
        if new.replicas[broker].high_watermark > old.replicas[broker].high_watermark
    )


@transition
def success_has_enough_copies(old: AlterIsrFailover, new: AlterIsrFailover) -> bool:
    """When a leader exposes a record, min.insync.replicas members of the maximal ISR have it (KAFKA-15583)."""
    return all(
        sum(1 for member in new.maximal_isr(broker) if agree(new, broker, member, new.replicas[broker].high_watermark))
        >= new.min_insync_replicas
        for broker in Broker
        if new.replicas[broker].high_watermark > old.replicas[broker].high_watermark and new.leads(broker)
    )


@invariant
def only_a_leader_remembers(model: AlterIsrFailover) -> bool:
    """A replica that does not lead remembers no fetches, no start of an epoch and no request; a leader does not fetch
    from itself.
    """
    return all(
        model.replicas[broker].fetch_offsets[broker] == 0
        and implies(
            not model.leads(broker),
            model.replicas[broker].fetch_offsets == model.no_fetch_offsets()
            and model.replicas[broker].leader_epoch_start_offset == 0
            and not model.request_in_flight(broker),
        )
        for broker in Broker
    )


@invariant
def high_watermark_keeps_up(model: AlterIsrFailover) -> bool:
    """A leader exposes what every member of the maximal ISR has as soon as it knows, if enough are in sync."""
    return all(
        any(
            model.log_end_offset(broker, member) <= model.replicas[broker].high_watermark
            for member in model.maximal_isr(broker)
        )
        for broker in Broker
        if model.leads(broker) and model.may_advance(broker)
    )


@transition
def logs_change_under_a_leader(old: AlterIsrFailover, new: AlterIsrFailover) -> bool:
    """A leader appends in its own epoch; all others copy from the leader of the epoch that they
    know, or truncate to match it (KIP-320). A fenced broker may lose records as it restarts, and the controller may
    remove a replica outside the ISR and bring it back empty.
    """
    return all(
        (
            old.leads(broker)
            and new.replicas[broker].log[: len(old.replicas[broker].log)] == old.replicas[broker].log
            and new.replicas[broker].log[len(old.replicas[broker].log)] == old.known(broker).leader_epoch
        )
        if len(new.replicas[broker].log) > len(old.replicas[broker].log) and old.leads(broker)
        else broker in old.fenced
        or (new.partition_epoch > old.partition_epoch and broker not in old.current().isr)
        or any(old.asks(broker, leader) and old.same_leader_epoch(broker, leader) for leader in Broker)
        for broker in Broker
        if new.replicas[broker].log != old.replicas[broker].log
    )


@transition
def requests_are_changes_of_a_leader(old: AlterIsrFailover, new: AlterIsrFailover) -> bool:
    """A leader asks for an ISR that differs from its own and includes itself, once per partition epoch (KIP-497)."""
    return all(
        new.replicas[broker].pending == Set()
        if new.replicas[broker].partition_epoch != old.replicas[broker].partition_epoch
        else old.leads(broker)
        and not old.request_in_flight(broker)
        and broker in new.replicas[broker].pending
        and new.replicas[broker].pending != old.known(broker).isr
        for broker in Broker
        if new.replicas[broker].partition_epoch != old.replicas[broker].partition_epoch
        or new.replicas[broker].pending != old.replicas[broker].pending
    )


@transition
def leader_epoch_begins_anew(old: AlterIsrFailover, new: AlterIsrFailover) -> bool:
    """A leader's epoch starts at the end of its log. It remembers fetches only if it also led the epoch just before.
    Within an epoch it keeps what it knows.
    """
    return all(
        new.replicas[broker].leader_epoch_start_offset == len(new.replicas[broker].log)
        and all(
            new.replicas[broker].fetch_offsets[member] == 0
            or (old.leads(broker) and new.known(broker).leader_epoch == old.known(broker).leader_epoch + 1)
            for member in Broker
        )
        if new.known(broker).leader_epoch != old.known(broker).leader_epoch
        else new.replicas[broker].leader_epoch_start_offset == old.replicas[broker].leader_epoch_start_offset
        and new.replicas[broker].fetch_offsets == old.replicas[broker].fetch_offsets
        for broker in Broker
        if new.replicas[broker].partition_epoch != old.replicas[broker].partition_epoch and new.leads(broker)
    )


@transition
def broker_epochs_go_with_fetches(old: AlterIsrRestarts, new: AlterIsrRestarts) -> bool:
    """A leader that learns a newer state no longer asks for anybody to join. It keeps the broker epochs of earlier
    fetches as long as it keeps their offsets (KIP-903; Kafka's Replica.resetReplicaState).
    """
    return all(
        new.requested_broker_epochs[broker] == 0
        and new.fetched_broker_epochs[broker]
        == (
            old.fetched_broker_epochs[broker]
            if new.known(broker).leader_epoch == old.known(broker).leader_epoch
            or (
                old.leads(broker)
                and new.leads(broker)
                and new.known(broker).leader_epoch == old.known(broker).leader_epoch + 1
            )
            else new.no_epochs()
        )
        for broker in Broker
        if new.replicas[broker].partition_epoch != old.replicas[broker].partition_epoch
    )


@invariant
def only_followers_compare_logs(model: ReconcilesOnce) -> bool:
    """A leader's log is the one that the others are compared with (KIP-101)."""
    return not any(model.leads(broker) for broker in model.reconciling)


# The controller.


@invariant
def leader_is_in_isr(model: AlterIsrFailover) -> bool:
    """The leader is in the ISR, and the ISR is never empty (before KIP-966)."""
    current = model.current()
    return len(current.isr) > 0 and (current.leader is None or current.leader in current.isr)


@invariant
def isr_is_eligible(model: AlterIsrFailover) -> bool:
    """A fenced broker is in the ISR only as its last member (KIP-841)."""
    isr = model.current().isr
    return implies(len(isr) > 1, not isr & model.fenced)


@transition
def epochs_never_decrease(old: AlterIsrFailover, new: AlterIsrFailover) -> bool:
    """No epoch falls, neither the controller's nor a replica's; a new leader epoch is also a new partition epoch."""
    return (
        new.partition_epoch >= old.partition_epoch
        and new.current().leader_epoch >= old.current().leader_epoch
        and implies(new.current().leader_epoch > old.current().leader_epoch, new.partition_epoch > old.partition_epoch)
        and all(
            new.replicas[broker].partition_epoch >= old.replicas[broker].partition_epoch
            and new.known(broker).leader_epoch >= old.known(broker).leader_epoch
            for broker in Broker
        )
    )


@transition
def joining_replicas_have_caught_up(old: AlterIsrFailover, new: AlterIsrFailover) -> bool:
    """A replica that enters the ISR has the leader's records up to its high watermark and to the start of its epoch,
    whatever it lost before (KIP-320, KIP-903).
    """
    return all(
        agree(
            new,
            leader,
            member,
            max(new.replicas[leader].high_watermark, new.replicas[leader].leader_epoch_start_offset),
        )
        for member in new.current().isr - old.current().isr
        for leader in Broker
        if leads_now(new, leader)
    )


@invariant
def fenced_replica_does_not_lead(model: AlterIsrFailover) -> bool:
    """Nobody leads exactly while the ISR's last member is fenced (KIP-841)."""
    return (model.current().leader is None) == (model.current().isr <= model.fenced)


@transition
def decisions_have_a_cause(old: AlterIsrFailover, new: AlterIsrFailover) -> bool:
    """A new partition epoch is an election or a new ISR, unless a replica is brought back. A broker that leaves the ISR
    was fenced, or is one that the leader asks to remove; one that joins was asked for. One that is no longer fenced
    leads if it is the only member of the ISR (KIP-497, KIP-841).
    """
    before, after = old.current(), new.current()
    changed = after.isr ^ before.isr
    asked = before.leader is not None and after.isr == old.replicas[before.leader].pending
    return (
        implies(
            new.partition_epoch != old.partition_epoch and new.replicas == old.replicas,
            after.leader != before.leader or len(changed) > 0,
        )
        and (asked or changed <= (before.isr & new.fenced) - old.fenced)
        and implies(after.leader != before.leader and len(changed) > 0, before.isr - after.isr <= {before.leader})
        and (old.fenced - new.fenced) & before.isr <= {after.leader}
    )


# What the model can do.


@reachable
def several_believe_they_lead(model: AlterIsrFailover) -> bool:
    """A deposed leader can be unaware of it."""
    return sum(1 for broker in Broker if model.leads(broker)) > 1


@reachable
def leader_lags_behind_what_was_exposed(model: AlterIsrFailover) -> bool:
    """A new leader's high watermark can be lower than its predecessor's was."""
    return any(
        leads_now(model, broker) and model.replicas[broker].high_watermark < len(model.committed) for broker in Broker
    )


@reachable
def logs_diverge(model: AlterIsrFailover) -> bool:
    """A follower can have to truncate under a leader of its own epoch."""
    return any(
        model.asks(follower, leader)
        and model.same_leader_epoch(follower, leader)
        and model.must_truncate(follower, leader)
        and model.truncation_offset(follower, leader) < len(model.replicas[follower].log)
        for leader in Broker
        for follower in Broker
    )


@reachable
def a_request_is_overtaken(model: AlterIsrFailover) -> bool:
    """A request can be in flight when the controller has moved on."""
    return any(
        model.request_in_flight(broker) and model.replicas[broker].partition_epoch < model.partition_epoch
        for broker in Broker
    )


@reachable
def nobody_leads(model: AlterIsrFailover) -> bool:
    """The ISR's last member can be fenced."""
    return model.current().leader is None


@reachable
def follower_is_fenced(model: AlterIsrFailover) -> bool:
    """The controller can remove a follower from the ISR that the leader did not ask to remove."""
    return (
        model.partition_epoch == 1
        and model.current().leader == Broker(1)
        and len(model.current().isr) < len(model.known(Broker(1)).isr)
        and not model.request_in_flight(Broker(1))
        and model.replicas[Broker(1)].partition_epoch == 0
    )


@reachable
def shrink_is_in_flight(model: AlterIsrFailover) -> bool:
    """A leader can ask to remove a follower."""
    return any(
        model.request_in_flight(broker) and model.replicas[broker].pending < model.known(broker).isr
        for broker in Broker
    )


@reachable
def follower_exposes_records(model: AlterIsrFailover) -> bool:
    """A replica that never led can let consumers read (KIP-392)."""
    return model.partition_epoch == 0 and any(
        model.replicas[broker].high_watermark > 0 for broker in Broker if broker != Broker(1)
    )


@reachable
def restarted_replica_joins(model: AlterIsrRestarts) -> bool:
    """A broker that has restarted can be in the ISR again, in its new life (KIP-903)."""
    return any(model.broker_epochs[broker] > 0 for broker in model.current().isr)
