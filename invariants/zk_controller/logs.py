"""What must hold of the records under the controller on ZooKeeper (begin with controller.py)."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model.zk_controller.controller import Broker, Partition
from model.zk_controller.logs import ReplicatedLogs


@invariant
def isr_holds_committed(model: ReplicatedLogs) -> bool:
    """Every member of the ISR in ZooKeeper, which may be elected, has what was committed (draft, step 3.2)."""
    return all(
        model.logs[partition][member] == model.committed[partition]
        for partition in Partition
        if model.committed[partition] != 0
        for member in model.leader_and_isr[partition].isr
    )


@invariant
def committed_records_survive(model: ReplicatedLogs) -> bool:
    """A record that was committed is never replaced by another one, and some broker has it."""
    return not model.replaced and all(
        any(model.logs[partition][broker] == model.committed[partition] for broker in Broker)
        for partition in Partition
        if model.committed[partition] != 0
    )


@transition
def commits_need_the_isr(old: ReplicatedLogs, new: ReplicatedLogs) -> bool:
    """What is committed is in the log of every member of the ISR in ZooKeeper at that moment."""
    return all(
        implies(
            new.committed[partition] != old.committed[partition],
            all(
                old.logs[partition][member] == new.committed[partition]
                for member in old.leader_and_isr[partition].isr
            ),
        )
        for partition in Partition
    )


@transition
def logs_change_under_a_leader(old: ReplicatedLogs, new: ReplicatedLogs) -> bool:
    """A broker writes as a leader, what was not there before, or copies from a leader that it knows (draft, section B).
    """
    return all(
        new.logs[partition][broker] == old.logs[partition][broker]
        or (
            old.leads(broker, partition)
            and old.logs[partition][broker] == 0
            and new.logs[partition][broker] == old.processes[broker].known[partition].version
        )
        or any(
            new.logs[partition][broker] == old.logs[partition][leader] and old.leads(leader, partition)
            for leader in Broker
            if leader == old.processes[broker].known[partition].leader and leader != broker
        )
        for partition in Partition
        for broker in Broker
    )


@reachable
def commits_after_an_election(model: ReplicatedLogs) -> bool:
    """Another leader than the first can lead with what that one has written and committed."""
    return any(
        model.committed[partition] == 1 and model.logs[partition][broker] == 1 and model.leads(broker, partition)
        for partition in Partition
        for broker in Broker
        if broker != Broker(1)
    )


@reachable
def uncommitted_record_is_replaced(model: ReplicatedLogs) -> bool:
    """A record that was not committed can be lost, with another one committed in its place."""
    return any(
        model.committed[partition] not in (0, 1) and any(model.logs[partition][broker] == 1 for broker in Broker)
        for partition in Partition
    )
