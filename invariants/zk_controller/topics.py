"""What must hold of topics that come and go (draft, section C), and of reassignments (section F); begin with
controller.py.
"""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from invariants.zk_controller.controller import after_session, decides
from model.zk_controller.controller import Broker, Partition, Phase, Watch
from model.zk_controller.topics import Reassignments, TopicChanges


@invariant
def topic_has_leader(model: TopicChanges) -> bool:
    """When all is settled, every topic has its first decision (draft, sections C and D, step 2.3)."""
    return implies(
        model.is_settled(),
        all(model.leader_and_isr[partition].version != 0 for partition in model.topics),
    )


@invariant
def deleted_topic_is_stopped(model: TopicChanges) -> bool:
    """When all is settled, a deleted topic has no decision and no running replica (draft, section C)."""
    return implies(
        model.is_settled(),
        all(
            model.leader_and_isr[partition].version == 0 and model.processes[broker].known[partition].version == 0
            for partition in Partition
            if partition not in model.topics
            for broker in model.ids
        ),
    )


@invariant
def isr_is_assigned(model: Reassignments) -> bool:
    """The ISR, and so its leader (controller.py), is part of the assigned and the requested replicas."""
    return all(
        model.leader_and_isr[partition].isr <= model.replicas(partition)
        for partition in Partition
        if partition in model.topics
    )


@transition
def assigned_data_is_kept(old: Reassignments, new: Reassignments) -> bool:
    """A replica is deleted only when it is neither assigned nor requested (draft, section F, steps 3.1 and 3.2)."""
    return all(
        broker not in new.assigned[partition] and broker not in new.requested[partition]
        for partition in new.topics
        for broker in old.stored[partition]
        if broker not in new.stored[partition]
    )


@invariant
def no_replica_is_left_over(model: Reassignments) -> bool:
    """When all is settled, live brokers have no replicas but the assigned or requested ones of existing topics."""
    return implies(
        model.is_settled(),
        all(
            broker in model.replicas(partition) and partition in model.topics
            for partition in Partition
            for broker in model.stored[partition]
            if broker in model.ids
        ),
    )


@invariant
def no_request_is_left_over(model: Reassignments) -> bool:
    """When all is settled, no request for replicas of a deleted topic is left."""
    return implies(
        model.is_settled(),
        all(len(model.requested[partition]) == 0 for partition in Partition if partition not in model.topics),
    )


@invariant
def reassignment_completes(model: Reassignments) -> bool:
    """When all is settled, no request waits whose brokers are in sync (draft, section F, step 3.1)."""
    return implies(
        model.is_settled(),
        not any(
            len(model.requested[partition]) > 0
            and model.requested[partition] <= model.leader_and_isr[partition].isr & model.ids
            for partition in Partition
        ),
    )


@reachable
def topic_is_gone(model: TopicChanges) -> bool:
    """A topic can be created, decided and deleted under one controller, and the next one reach a settled state."""
    return (
        model.is_settled()
        and model.controller_epoch > 1
        and any(partition not in model.topics and partition not in model.unused for partition in Partition)
    )


@reachable
def leader_of_a_deleted_topic(model: TopicChanges) -> bool:
    """A replica can keep leading for a while after its topic was deleted."""
    return any(
        model.leads(broker, partition) for broker in Broker for partition in Partition if partition not in model.topics
    )


@reachable
def partition_has_moved(model: Reassignments) -> bool:
    """A reassignment can move a partition off the broker that it was on, past a failover of the controller."""
    return (
        model.is_settled()
        and model.controller_epoch > 1
        and any(Broker(1) not in model.assigned[partition] for partition in model.topics)
    )


@transition
def topics_go_with_reign_and_session(old: TopicChanges, new: TopicChanges) -> bool:
    """A controller that resigned knows no topics; one whose session ends is no longer told of them (KAFKA-5310)."""
    return all(
        new.topics_watch[broker] == Watch.UNARMED and len(new.known_topics[broker]) == 0 and len(new.stops[broker]) == 0
        for broker in Broker
        if new.controllers[broker].phase == Phase.RESIGNED
    ) and all(new.topics_watch[broker] == after_session(old.topics_watch[broker]) for broker in old.ids - new.ids)


@transition
def requests_go_with_reign_and_session(old: Reassignments, new: Reassignments) -> bool:
    """A controller that resigned, or whose session ends, is no longer told of requests (KAFKA-5310)."""
    return all(
        new.requests_watch[broker] == Watch.UNARMED
        for broker in Broker
        if new.controllers[broker].phase == Phase.RESIGNED
    ) and all(new.requests_watch[broker] == after_session(old.requests_watch[broker]) for broker in old.ids - new.ids)


@transition
def requests_wait_for_an_idle_controller(old: Reassignments, new: Reassignments) -> bool:
    """Requests are taken up between other tasks, and removed last, by the current controller (draft, section F)."""
    return all(
        old.controllers[broker].phase == Phase.IDLE
        for broker in Broker
        if new.requests_watch[broker] == Watch.ARMED and old.requests_watch[broker] != Watch.ARMED
    ) and all(
        any(
            old.controllers[broker].phase == Phase.IDLE and old.controllers[broker].epoch == old.controller_epoch
            for broker in Broker
        )
        for partition in Partition
        if len(old.requested[partition]) > 0 and len(new.requested[partition]) == 0
    )


@transition
def complete_move_is_installed(old: Reassignments, new: Reassignments) -> bool:
    """A decision about a partition whose new replicas are in sync hands it to them (draft, section F, step 3)."""
    return all(
        new.assigned[partition] == old.requested[partition]
        and new.leader_and_isr[partition].isr <= old.requested[partition]
        for broker in Broker
        for partition in Partition
        if decides(old, new, broker, partition)
        and old.is_moving(broker, partition)
        and old.requested[partition] <= old.leader_and_isr[partition].isr
        and len(old.available(broker, partition) & old.requested[partition]) > 0
    )
