"""What must hold of KIP-236's reassignment: forward, while it is cancelled, and after any crash of the controller.

Start here. What holds of every design is in replicas.py; queue.py has KIP-236's queue ("Planned Future Changes"),
order.py lists in place of sets, submission.py tools that read first and write later, throttle.py throttles,
asked_isr.py KIP-497, requests.py the protocol of KIP-236's earlier version, kip455.py and kraft.py what replaced it,
plan.py planned reassignments, progress.py liveness. model/reassignment/kip236.py maps the files to
sections of the texts.
"""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from invariants.reassignment.replicas import another_leads, lags
from model.reassignment.kip236 import Reassignment, Step, StepwiseReassignment
from model.reassignment.replicas import Partition


def is_at_rest(model: StepwiseReassignment, partition: Partition) -> bool:
    """Nothing is asked for and the controller does nothing."""
    return not model.is_pending(partition) and model.step[partition] == Step.IDLE


@invariant
def isr_is_assigned(model: StepwiseReassignment) -> bool:
    """The ISR has assigned replicas only, in ZooKeeper."""
    return all(model.replication[partition].isr <= model.assigned[partition] for partition in Partition)


@invariant
def isr_is_known_to_leader(model: StepwiseReassignment) -> bool:
    """The ISR has only replicas that the leader was told of.

    KIP-236 writes the two one after the other, in steps 2 and 3 of the cancellation; KAFKA-9672 is about the time
    between.
    """
    return all(
        model.replication[partition].isr <= model.replication[partition].known for partition in Partition
    )


@transition
def enough_replicas_stay_in_sync(old: StepwiseReassignment, new: StepwiseReassignment) -> bool:
    """A step of the controller leaves ``min.insync.replicas`` in sync, if that many were and are wanted.

    KIP-236, "Motivation", wants a safe way back; one that blocks producers is not safe.
    """
    return all(
        implies(
            new.step[partition] != old.step[partition],
            len(new.replication[partition].isr)
            >= min(
                new.min_insync_replicas,
                len(old.replication[partition].isr),
                len(new.replication[partition].known),
            ),
        )
        for partition in Partition
    )


@transition
def deleted_replicas_are_not_counted(old: StepwiseReassignment, new: StepwiseReassignment) -> bool:
    """A replica is deleted only when the leader knows that it is no longer one; else it could rejoin the ISR empty."""
    return all(
        (old.replication[partition].on_disk - new.replication[partition].on_disk).isdisjoint(
            old.replication[partition].known
        )
        for partition in Partition
    )


@invariant
def original_is_recoverable(model: Reassignment) -> bool:
    """While a reassignment is pending, ZooKeeper has the replicas from before it (KIP-236, original_replicas).

    Only an old client does not record them.
    """
    return all(recalls_original(model, partition) for partition in Partition)


def recalls_original(model: Reassignment, partition: Partition) -> bool:
    entry = model.pending[partition]
    if entry is None:
        return True
    return model.old_clients if entry.original is None else entry.original == model.before[partition]


@transition
def reassignment_ends_as_asked(old: StepwiseReassignment, new: StepwiseReassignment) -> bool:
    """An entry is removed when the partition has its target, or its former replicas again; never anything in
    between.
    """
    return all(
        implies(not new.is_pending(partition), ends_as_asked(old, new, partition)) for partition in Partition
    )


def ends_as_asked(old: StepwiseReassignment, new: StepwiseReassignment, partition: Partition) -> bool:
    entry = old.pending[partition]
    if entry is None:
        return True
    if new.was_taken_back(partition):
        return new.assigned[partition] == new.before[partition]
    return new.assigned[partition] == entry.target


@transition
def assignment_rests_unasked(old: StepwiseReassignment, new: StepwiseReassignment) -> bool:
    """Without a pending reassignment, the assigned replicas do not change."""
    return all(
        implies(
            not old.is_pending(partition) and not new.is_pending(partition),
            new.assigned[partition] == old.assigned[partition],
        )
        for partition in Partition
    )


@invariant
def rollback_is_final(model: Reassignment) -> bool:
    """Once the original replicas are assigned again, no crash makes the reassignment start again (KIP-236)."""
    return all(
        implies(partition in model.rolled_back, model.assigned[partition] == model.before[partition])
        for partition in Partition
    )


@transition
def throttle_stays_while_pending(old: Reassignment, new: Reassignment) -> bool:
    """No step removes the throttle of a partition whose reassignment continues."""
    return all(
        implies(new.is_pending(partition) and not new.was_taken_back(partition), partition in new.throttled)
        for partition in old.throttled
        if old.is_pending(partition)
    )


@invariant
def cancelled_loses_throttle(model: Reassignment) -> bool:
    """A partition whose reassignment was cancelled has no throttle left (KIP-236, "Public Interfaces")."""
    return all(
        implies(partition in model.rolled_back and is_at_rest(model, partition), partition not in model.throttled)
        for partition in Partition
    )


@invariant
def metadata_is_spread(model: StepwiseReassignment) -> bool:
    """Between two events every broker has been sent the current replicas (step 12, cancel step 7).

    What is sent then is what the event has changed.
    """
    return implies(model.is_free(), len(model.unspread) == 0) and all(
        implies(model.step[partition] in (Step.SPREAD, Step.SPREAD_CANCELLED), partition in model.unspread)
        for partition in Partition
    )


@invariant
def memory_follows_zookeeper(model: StepwiseReassignment) -> bool:
    """Between two events the controller knows the replicas that are persisted (KAFKA-9089)."""
    return implies(model.is_free(), model.memory == model.assigned)


@invariant
def brokers_know_replicas(model: StepwiseReassignment) -> bool:
    """Between two events the leader knows the persisted replicas, and all were started (steps 2 and 3)."""
    return implies(
        model.is_free(),
        all(
            model.replication[partition].known == model.assigned[partition]
            and model.assigned[partition] <= model.replication[partition].on_disk - model.replication[partition].stops
            for partition in Partition
        ),
    )


@transition
def controller_handles_one_event(old: StepwiseReassignment, new: StepwiseReassignment) -> bool:
    """The controller starts nothing in the middle of another event: it has one thread for all of them (KAFKA-5028)."""
    return all(
        implies(
            new.step[partition] != old.step[partition]
            and new.step[partition] in (Step.PERSIST_BOTH, Step.RETARGET, Step.CANCEL_IN_MEMORY),
            all(old.step[other] in (Step.IDLE, Step.WAITING) for other in Partition),
        )
        for partition in Partition
    )


@invariant
def nothing_moves_unasked(model: StepwiseReassignment) -> bool:
    """Before anybody has asked for a reassignment none is pending, and a partition has as many replicas as at first."""
    return implies(
        model.submitted == 0,
        all(
            not model.is_pending(partition) and len(model.assigned[partition]) == model.replication_factor
            for partition in Partition
        ),
    )


@invariant
def only_pending_is_cancelled(model: Reassignment) -> bool:
    """The controller cancels only what is pending, and only while the cancel znode exists (KIP-236)."""
    return implies(model.cancelling, model.cancel_requested) and all(
        model.cancelling and model.is_pending(partition) for partition in model.to_cancel
    )


@transition
def cancellation_is_one_event(old: Reassignment, new: Reassignment) -> bool:
    """While reassignments are cancelled none is started or completed, and the cancel znode is deleted after that
    (KIP-236).

    What is to be cancelled, and nothing else, is read between two events, as is a partition that is left alone.
    """
    return (
        implies(
            old.cancelling and new.cancelling,
            all(
                new.step[partition] == old.step[partition]
                or new.step[partition] not in (Step.PERSIST_BOTH, Step.RETARGET, Step.CANCEL_IN_MEMORY)
                or (partition in old.to_cancel and new.step[partition] == Step.CANCEL_IN_MEMORY)
                for partition in Partition
            ),
        )
        and implies(old.cancel_requested and not new.cancel_requested, old.cancelling and len(old.to_cancel) == 0)
        and implies(
            new.step == old.step and (new.cancelling != old.cancelling or new.to_cancel != old.to_cancel),
            new.is_free(),
        )
    )


@transition
def controller_turns_back_for_a_reason(old: Reassignment, new: Reassignment) -> bool:
    """What is asked is done unless it would do harm: nothing else is left alone, or kept waiting in step 7.

    KIP-236, "Skip Reassignment Cancellation Scenarios", and step 4 of ``KafkaController.onPartitionReassignment``.
    """
    return all(
        implies(
            partition in old.to_cancel - new.to_cancel and new.step[partition] in (Step.IDLE, Step.WAITING),
            has_to_be_left_alone(old, partition),
        )
        and implies(
            old.step[partition] == Step.LEAD_FROM_TARGET and new.step[partition] == Step.WAITING,
            has_to_wait(old, partition),
        )
        for partition in Partition
    )


def has_to_be_left_alone(model: Reassignment, partition: Partition) -> bool:
    """The way back is not known, or is closed, or too few would be left to lead or in sync."""
    entry = model.pending[partition]
    if entry is None or entry.original is None:
        return True
    isr = model.replication[partition].isr
    left = isr & entry.original
    return not entry.original <= model.assigned[partition] or (
        left != isr and (left.isdisjoint(model.live) or len(left) < min(model.min_insync_replicas, len(isr)))
    )


def has_to_wait(model: StepwiseReassignment, partition: Partition) -> bool:
    """The target is not in sync, or none of it is alive."""
    entry = model.pending[partition]
    return entry is not None and (
        not entry.target <= model.replication[partition].isr or entry.target.isdisjoint(model.live)
    )


@invariant
def no_replica_is_stray(model: StepwiseReassignment) -> bool:
    """At rest only assigned replicas are on disk, except where a StopReplica has yet to arrive (KAFKA-16120)."""
    return all(
        implies(
            is_at_rest(model, partition),
            model.replication[partition].on_disk - model.replication[partition].stops <= model.assigned[partition],
        )
        for partition in Partition
    )


@reachable
def replica_falls_behind(model: StepwiseReassignment) -> bool:
    """A replica can lag without a reassignment."""
    return model.submitted == 0 and lags(model)


@reachable
def leader_is_replaced(model: StepwiseReassignment) -> bool:
    """And another one can lead."""
    return model.submitted == 0 and another_leads(model)


@reachable
def crash_leaves_entry(model: StepwiseReassignment) -> bool:
    """A crash between steps 10 and 11 can leave the entry of a completed reassignment."""
    return any(
        model.step[partition] == Step.IDLE
        and model.assigned[partition] != model.before[partition]
        and has_reached(model, partition)
        for partition in Partition
    )


def has_reached(model: StepwiseReassignment, partition: Partition) -> bool:
    entry = model.pending[partition]
    return entry is not None and entry.target == model.assigned[partition]


@reachable
def reassignment_completes(model: StepwiseReassignment) -> bool:
    """Everything that moves can arrive."""
    return model.submitted > 0 and all(
        is_at_rest(model, partition) and model.assigned[partition] != model.before[partition]
        and not model.was_taken_back(partition)
        for partition in Partition
    )


@reachable
def reassignment_is_cancelled(model: Reassignment) -> bool:
    """Everything that moves can be moved back, after an added replica was in sync."""
    return not model.cancel_requested and all(
        is_at_rest(model, partition) and partition in model.rolled_back for partition in Partition
    )


@reachable
def old_client_reassigns(model: Reassignment) -> bool:
    """Where there are old clients, a reassignment can be pending that cannot be cancelled."""
    return not model.old_clients or any(has_no_original(model, partition) for partition in Partition)


def has_no_original(model: Reassignment, partition: Partition) -> bool:
    entry = model.pending[partition]
    return entry is not None and entry.original is None


@reachable
def cancellation_is_skipped(model: Reassignment) -> bool:
    """A cancellation can find a partition that it must leave alone."""
    return model.is_free() and any(not model.may_cancel(partition) for partition in model.to_cancel)


@reachable
def stop_is_late_when_cancelled(model: Reassignment) -> bool:
    """A cancellation after a crash can find StopReplica requests still on their way to original replicas."""
    return any(
        model.step[partition] == Step.CANCEL_IN_MEMORY and len(model.replication[partition].late_stops) > 0
        for partition in Partition
    )
