"""What must hold of eligible leader replicas with real logs (begin with partition.py). What alter_isr/failover.py has
of logs and high watermarks must hold here, too.
"""

from __future__ import annotations

from floodmark import implies, invariant, reachable
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


@reachable
def eligible_replica_leads(model: EligibleLeaderLogs) -> bool:
    """A record is committed, and who leads now is alone in sync while others are eligible."""
    return len(model.committed) > 0 and model.current().leader is not None and len(model.elr) > 0


@reachable
def partition_has_nobody_in_sync(model: EligibleLeaderLogs) -> bool:
    return len(model.committed) > 0 and len(model.current().isr) == 0
