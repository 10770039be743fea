"""The liveness that the draft promises, once nothing fails any more. Begin with controller.py."""

from __future__ import annotations

from floodmark import always_eventually, leads_to
from model.zk_controller.controller import Broker, Partition, Phase
from model.zk_controller.progress import MoveProgress, TopicProgress, ZkProgress


@always_eventually
def somebody_is_controller(model: ZkProgress) -> bool:
    """The broker in /controller does the controller's work (draft, section D; KAFKA-13407)."""
    return any(
        model.controller == broker
        and model.controllers[broker].epoch == model.controller_epoch
        and model.controllers[broker].phase != Phase.RESIGNED
        for broker in Broker
    )


@always_eventually
def controller_comes_to_rest(model: ZkProgress) -> bool:
    """The controller completes what it has begun, despite concurrent writes (draft, section A, step 4)."""
    return any(model.controller == broker and model.controllers[broker].phase == Phase.IDLE for broker in Broker)


@always_eventually
def partition_has_live_leader(model: ZkProgress, partition: Partition) -> bool:
    """A broker that lives leads, and knows it (draft, section A)."""
    return has_live_leader(model, partition)


def has_live_leader(model: ZkProgress, partition: Partition) -> bool:
    leader = model.leader_and_isr[partition].leader
    return leader is not None and leader in model.ids and model.leads(leader, partition)


@always_eventually
def decision_is_applied(model: ZkProgress, broker: Broker, partition: Partition) -> bool:
    """Each broker eventually follows the leader (draft, section B). Nobody is told of a leader's own changes of the
    ISR."""
    decided = model.leader_and_isr[partition].leader if broker in model.replicas(partition) else None
    return model.processes[broker].known[partition].leader == decided


@always_eventually
def topic_gets_leader(model: TopicProgress, partition: Partition) -> bool:
    """A topic is created with a leader, or by the next controller (draft, sections C and D, step 2.3)."""
    return partition not in model.topics or has_live_leader(model, partition)


@always_eventually
def deleted_topic_has_no_replica(model: TopicProgress, broker: Broker, partition: Partition) -> bool:
    """Every broker stops its replica of a deleted topic, however long it was away (draft, section C)."""
    return partition in model.topics or model.processes[broker].known[partition].version == 0


@leads_to
def move_completes(model: MoveProgress, partition: Partition) -> tuple[bool, bool]:
    """A partition is assigned to the brokers that were asked for, and the request goes (draft, section F)."""
    asked = len(model.requested[partition]) > 0
    return asked, not asked
