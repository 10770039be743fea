"""What must hold of eligible leader replicas with real logs (begin with partition.py). What alter_isr/failover.py has
of logs and high watermarks must hold here, too.
"""

from __future__ import annotations

from floodmark import Set, implies, invariant, reachable, transition
from invariants.alter_isr.failover import holds_committed, leads_now
from model.alter_isr.failover import Broker
from model.elr.logs import EligibleLeaderLogs


@invariant
def candidates_hold_committed(model: EligibleLeaderLogs) -> bool:
    """Every member of the ISR or the ELR has everything that was ever exposed (Vanlightly,
    LeaderCandidateCompleteness).
    """
    return all(holds_committed(model, broker) for broker in model.current().isr | model.elr)


@invariant
def quorum_is_superset(model: EligibleLeaderLogs) -> bool:
    """A leader that may commit counts every member of the controller's ISR and ELR (Vanlightly,
    ReplicationQuorumSuperset).
    """
    return all(
        implies(
            not model.under_min_isr(broker), model.current().isr | model.elr <= model.maximal_isr(broker)
        )
        for broker in Broker
        if leads_now(model, broker)
    )


@invariant
def isr_and_elr_are_disjoint(model: EligibleLeaderLogs) -> bool:
    """As in partition.py (Vanlightly, ValidControllerIsrAndElr)."""
    return len(model.current().isr & model.elr) == 0


@invariant
def elr_is_empty_with_min_isr(model: EligibleLeaderLogs) -> bool:
    """As in partition.py: min.insync.replicas members of the ISR are enough."""
    return implies(len(model.current().isr) >= model.min_insync_replicas, len(model.elr) == 0)


@invariant
def leader_is_an_active_member(model: EligibleLeaderLogs) -> bool:
    """As in partition.py: a leader is in the ISR, and nobody who is fenced is."""
    current = model.current()
    return (current.leader is None or current.leader in current.isr) and current.isr <= model.active()


@invariant
def nobody_leads_only_if_nobody_can(model: EligibleLeaderLogs) -> bool:
    """As in partition.py: a partition has a leader as soon as somebody eligible is active."""
    return implies(model.current().leader is None, (model.current().isr | model.elr).isdisjoint(model.active()))


@invariant
def leaderless_partition_knows_its_last_leader(model: EligibleLeaderLogs) -> bool:
    """As in partition.py: the last known leader is that of a partition without a leader."""
    return (model.current().leader is None) == (model.last_known_leader is not None)


def restarted(old: EligibleLeaderLogs, new: EligibleLeaderLogs) -> Set[Broker]:
    """Who registers in a step, after an unclean shutdown."""
    return Set(broker for broker in Broker if new.broker_epochs[broker] != old.broker_epochs[broker])


@transition
def who_leaves_a_small_isr_is_eligible(old: EligibleLeaderLogs, new: EligibleLeaderLogs) -> bool:
    """Who leaves the ISR and the ELR shut down uncleanly, unless enough are in sync (KIP-966)."""
    left = (old.current().isr | old.elr) - (new.current().isr | new.elr)
    return len(new.current().isr) >= new.min_insync_replicas or left <= restarted(old, new)


@transition
def isr_changes_for_a_reason(old: EligibleLeaderLogs, new: EligibleLeaderLogs) -> bool:
    """A leader that stays has asked for the new ISR, in the epochs that the controller has, or somebody was fenced
    (KIP-497).
    """
    leader = old.current().leader
    return implies(
        leader is not None and new.current().leader == leader and new.current().isr != old.current().isr,
        new.current().isr == old.current().isr - (new.fenced - old.fenced)
        or any(
            broker == leader
            and new.current().isr == old.replicas[broker].pending
            and old.replicas[broker].partition_epoch == old.partition_epoch
            for broker in Broker
        ),
    )


@transition
def every_partition_epoch_is_a_change(old: EligibleLeaderLogs, new: EligibleLeaderLogs) -> bool:
    """A partition epoch has another leader or another ISR than the one before."""
    before, after = old.current(), new.current()
    return new.partition_epoch == old.partition_epoch or after.leader != before.leader or after.isr != before.isr


@reachable
def eligible_replica_leads(model: EligibleLeaderLogs) -> bool:
    """A record is committed, and who leads now is alone in sync while others are eligible."""
    return len(model.committed) > 0 and model.current().leader is not None and len(model.elr) > 0


@reachable
def partition_has_nobody_in_sync(model: EligibleLeaderLogs) -> bool:
    return len(model.committed) > 0 and len(model.current().isr) == 0


@reachable
def laggard_is_eligible(model: EligibleLeaderLogs) -> bool:
    """A leader's request alone can make a member of the ISR eligible: nobody was fenced, and nobody restarted."""
    return len(model.elr) > 0 and model.fences == 0 and all(model.broker_epochs[broker] == 0 for broker in Broker)


@reachable
def everybody_is_active(model: EligibleLeaderLogs) -> bool:
    """Who is fenced can be unfenced while there is a leader."""
    return len(model.fenced) == 0 and model.partition_epoch == 0


@reachable
def leader_outlives_fenced_follower(model: EligibleLeaderLogs) -> bool:
    """A session can expire that is not the leader's."""
    return model.fences > 0 and model.current().leader is not None and model.current().leader_epoch == 0


@reachable
def leader_outlives_restarted_follower(model: EligibleLeaderLogs) -> bool:
    """A broker that does not lead can restart."""
    restarts = sum(model.broker_epochs[broker] for broker in Broker)
    return restarts > 0 and model.current().leader is not None and model.current().leader_epoch == 0


@reachable
def successor_leads_at_once(model: EligibleLeaderLogs) -> bool:
    """The change that takes a fenced leader out of the ISR can elect another one."""
    leader = model.current().leader
    fenced = Broker(1) in model.fenced and model.broker_epochs[Broker(1)] == 0
    return model.partition_epoch == 1 and fenced and leader is not None and leader != Broker(1)


@reachable
def successor_leads_after_restart(model: EligibleLeaderLogs) -> bool:
    """The registration that takes a leader out of the ISR can elect another one."""
    restarted_once = model.broker_epochs[Broker(1)] > 0 and model.partition_epoch == 1 and model.fences == 0
    return restarted_once and model.current().leader is not None


@reachable
def fenced_leader_has_no_successor(model: EligibleLeaderLogs) -> bool:
    """A partition can lose its leader because that one's session expires."""
    return any(model.last_known_leader == broker and model.broker_epochs[broker] == 0 for broker in Broker)


@reachable
def restarted_leader_has_no_successor(model: EligibleLeaderLogs) -> bool:
    """A partition can lose its leader because that one restarts, fenced, without what it had committed."""
    return len(model.committed) > 0 and any(
        model.last_known_leader == broker
        and model.broker_epochs[broker] > 0
        and broker in model.fenced
        and len(model.replicas[broker].log) == 0
        for broker in Broker
    )
