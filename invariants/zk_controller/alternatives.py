"""What must hold of the alternatives where the draft of the controller on ZooKeeper leaves something open; begin with
controller.py.
"""

from __future__ import annotations

from floodmark import Set, implies, invariant, reachable, transition
from invariants.zk_controller.controller import is_decided
from model.zk_controller.alternatives import FailingReplicas, WatchesFollowers, WelcomesBrokers
from model.zk_controller.controller import Broker, Partition, Phase, Stage


@invariant
def dead_leave_the_isr(model: WatchesFollowers) -> bool:
    """When all is settled, no member of the ISR is dead, unless all of them are (KAFKA-3143)."""
    return implies(
        model.is_settled(),
        all(
            model.leader_and_isr[partition].isr <= model.ids
            for partition in Partition
            if len(model.leader_and_isr[partition].isr & model.ids) > 0
        ),
    )


@transition
def partitions_are_looked_at_once(old: WatchesFollowers, new: WatchesFollowers) -> bool:
    """A controller that is changing leaders reads a decision again only if it has changed since (draft, section A, step
    3).
    """
    return all(
        old.is_outdated(broker, partition)
        for broker in Broker
        if new.controllers[broker].phase == Phase.CHANGING
        for partition in new.controllers[broker].todo
        if old.controllers[broker].decisions[partition].version != 0
        and new.controllers[broker].decisions[partition].version == 0
    )


@invariant
def leader_has_not_failed(model: FailingReplicas) -> bool:
    """When all is settled, no leader's replica has failed if there is another one to lead (draft, question A.3)."""
    return implies(
        model.is_settled(),
        all(
            model.leader_and_isr[partition].leader not in model.failed[partition]
            for partition in Partition
            if len(model.eligible(partition) & model.ids) > 0
        ),
    )


@transition
def replicas_fail_while_their_broker_lives(old: FailingReplicas, new: FailingReplicas) -> bool:
    """A replica fails alone, and each failure is one of those that a spec allows (draft, question A.3)."""
    return all(
        old.processes[broker].stage == Stage.UP and new.faults == old.faults + 1
        for partition in Partition
        for broker in new.failed[partition] - old.failed[partition]
    )


@transition
def brokers_report_failures(old: FailingReplicas, new: FailingReplicas) -> bool:
    """What is reported is true, and by a broker that is up (KIP-112)."""
    return all(
        old.processes[broker].stage == Stage.UP and broker in old.failed[partition]
        for partition in Partition
        for broker in new.reported[partition] - old.reported[partition]
    )


@transition
def failed_replicas_take_no_part(old: FailingReplicas, new: FailingReplicas) -> bool:
    """A leader whose replica failed changes no ISR, and no broker whose replica failed is added to one (KIP-112)."""
    return all(
        old.leader_and_isr[partition].leader not in old.failed[partition]
        and new.leader_and_isr[partition].isr - old.leader_and_isr[partition].isr
        <= Set(Broker) - old.failed[partition]
        for partition in Partition
        if new.leader_and_isr[partition] != old.leader_and_isr[partition] and not is_decided(old, new, partition)
    )


@reachable
def controller_cannot_see_a_bounce(model: WelcomesBrokers) -> bool:
    """Between two looks a broker can go and come back, and be up and waiting."""
    return any(
        model.controllers[broker].phase == Phase.IDLE
        and model.seen[broker][other] != 0
        and model.sessions[other] > model.seen[broker][other]
        and model.processes[other].stage == Stage.UP
        for broker in Broker
        for other in model.ids
    )


@reachable
def failed_leader_is_replaced(model: FailingReplicas) -> bool:
    """Another broker can take over from one that is up but whose replica failed."""
    return model.is_settled() and any(
        broker in model.ids and model.processes[broker].known[partition].leader is not None
        for partition in Partition
        for broker in model.failed[partition]
    )
