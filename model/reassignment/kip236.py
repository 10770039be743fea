"""KIP-236: a reassignment that can be cancelled, step by step, with a controller that may fail between any two steps.

Start here. Where each part of the texts is modelled; the properties of each model are in the file of the same name in
invariants/reassignment/, its known-bad designs in specs/reassignment/; this file refines replica_set.py:

    KIP-236 "Reassignment Cancellation",           kip236.py      flawed.py
      "Skip Reassignment Cancellation Scenarios"
    KIP-236 "Planned Future Changes": the queue    queue.py       flawed_queue.py
      /admin/reassign_partitions_queue
    KIP-236 "Public Interfaces": (1,2,3) =>        order.py       flawed_order.py
      (2,3,1), the preferred leader
    KIP-236 "Before writing to                     submission.py  flawed_submission.py
      /admin/reassign_partitions": two requests
    KIP-236 "the throttle will be removed", KIP-73 throttle.py    flawed_throttle.py
    KIP-236 with KIP-497                           asked_isr.py   flawed_asked_isr.py
    KIP-236, earlier version: "The new znode       requests.py    flawed_requests.py
      protocol", the legacy znode protocol, "On
      controller failover", onPartitionReassignment()
    KIP-455 with a ZooKeeper controller            kip455.py      flawed_kip455.py; refines moving_replica_set.py
    KIP-455 with a KRaft controller                kraft.py       flawed_kraft.py; refines moving_replica_set.py
    what the brokers do in all of these            replicas.py
    a planned reassignment (floodmark plan)        plan.py        flawed_plan.py
    liveness                                       progress.py, continuing.py    flawed_progress.py

An operator writes ``/admin/reassign_partitions``; the controller moves each partition from its original replicas to the
target. ``/admin/cancel_reassignment_in_progress`` makes the controller cancel every pending reassignment: it moves the
partition back. Both directions have the KIP's numbered steps (the forward ones are those of the controller before
KIP-455). Where the KIP's text is not safe, the model has the repair, as a rule, and the text itself is a known-bad
design in specs/reassignment/flawed.py. The repairs:

* a reassignment is cancelled only if an original replica can lead without loss, and if ``min.insync.replicas``, or as
  many as there are, stay in sync (``may_cancel``); the KIP checks less;
* a reassignment that has reached its target is not cancelled, even if a crash has left its entry (``is_undone``);
* the leader and the ISR without the leaving replicas are written together (``isr_led_by``), not in two steps;
* the throttle is removed before the entry, which says whose throttle it was; the KIP says only "after";
* the cancel znode is deleted when nothing is left to cancel (``may_drop_cancel``); the KIP does not say when.

A new controller reads everything from ZooKeeper, so a crash and the failover after it are one step here.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import Between, Constant, Map, Record, Set, action, initial, require, rule
from model.reassignment.replicas import Broker, Partition, ReassignedReplicas


class Entry(Record):
    """What ``/admin/reassign_partitions`` says about a partition. Only a client that knows KIP-236 adds
    ``original``.
    """

    target: Set[Broker]
    original: Set[Broker] | None


class Step(Enum):
    """What the controller does next for a partition. In ``WAITING`` and ``IDLE`` it is free for other events."""

    IDLE = "idle"
    PERSIST_BOTH = "1 assigned replicas := original and target, in ZooKeeper"
    TELL_BOTH = "2 a new leader epoch, LeaderAndIsr to all of them"
    START_ADDED = "3 start the added replicas"
    WAITING = "4 wait until the target is in sync"
    RETARGET = "5, 6 assigned replicas := target, in memory"
    LEAD_FROM_TARGET = "7 a leader from the target"
    TAKE_OLD_OFFLINE = "8 the old replicas go offline"
    DELETE_OLD = "9 the old replicas are deleted"
    PERSIST_TARGET = "10 assigned replicas := target, in ZooKeeper"
    DROP_LEGACY = "out of the znode of old clients, where there are two"
    DROP_ENTRY = "11 out of /admin/reassign_partitions"
    SPREAD = "12 UpdateMetadata to every broker"
    CANCEL_IN_MEMORY = "cancel 1 assigned replicas := original, in memory"
    LEAD_FROM_ORIGINAL = "cancel 2 a leader from the original replicas"
    TAKE_ADDED_OFFLINE = "cancel 3 the added replicas go offline"
    DELETE_ADDED = "cancel 4 the added replicas are deleted"
    PERSIST_ORIGINAL = "cancel 5 assigned replicas := original, in ZooKeeper"
    UNTHROTTLE = "cancelled, the throttle is taken off"
    DROP_CANCELLED = "cancel 6 out of /admin/reassign_partitions"
    SPREAD_CANCELLED = "cancel 7 UpdateMetadata to every broker"


class StepwiseReassignment(ReassignedReplicas):
    """The forward steps, shared by every design with ``/admin/reassign_partitions``."""

    submissions = Constant(1)
    old_clients = Constant(False)
    smallest_target = Constant(1)
    largest_target = Constant(2)

    assigned: Map[Partition, Set[Broker]]
    pending: Map[Partition, Entry | None]

    memory: Map[Partition, Set[Broker]]
    context: Map[Partition, Entry | None]
    step: Map[Partition, Step]
    unspread: Set[Partition] = Set()

    submitted: Annotated[int, Between(0, "submissions")] = 0
    before: Map[Partition, Set[Broker]]

    @initial
    def start(self) -> None:
        replicas = self.start_replicas()
        self.assigned = Map({partition: replicas for partition in Partition})
        self.pending = Map({partition: None for partition in Partition})
        self.memory = Map({partition: replicas for partition in Partition})
        self.context = Map({partition: None for partition in Partition})
        self.step = Map({partition: Step.IDLE for partition in Partition})
        self.before = Map({partition: Set[Broker]() for partition in Partition})

    def is_pending(self, partition: Partition) -> bool:
        return self.pending[partition] is not None

    # The controller's events. It handles one at a time, so it starts nothing for a partition while busy with another.

    def is_free(self) -> bool:
        return all(self.step[partition] in (Step.IDLE, Step.WAITING) for partition in Partition)

    @action
    def controller_elects(self, partition: Partition) -> None:
        """A leader is down or was taken offline: a live member of the ISR leads instead.

        ``PartitionStateMachine.electLeaderForPartitions``.
        """
        require(self.is_free() and not self.is_online(partition))
        require(len(self.electable(partition, self.memory[partition])) > 0)
        self.elect(partition, self.memory[partition])
        self.tell_leader(partition, self.memory[partition])

    @action
    def controller_fails_over(self) -> None:
        """Another controller takes over, at any point. It reads ZooKeeper and tells every replica about the
        assignment.

        ``KafkaController.onControllerFailover``.
        """
        for partition in Partition:
            self.memory[partition] = self.assigned[partition]
            self.context[partition] = None
            self.step[partition] = Step.IDLE
            self.tell_leader(partition, self.assigned[partition])
            self.start_replicas_on(partition, self.assigned[partition])
        self.unspread = Set()

    @rule
    def goes_on(self) -> bool:
        """Whether the controller starts and completes reassignments."""
        return True

    def was_taken_back(self, partition: Partition) -> bool:
        """Whether the partition's last reassignment was cancelled."""
        return False

    # Forward.

    @action
    def controller_begins(self, partition: Partition) -> None:
        """Starts a pending reassignment, or starts it again after a failover.

        ``KafkaController.maybeTriggerPartitionReassignment``.
        """
        require(self.is_free() and self.goes_on() and self.step[partition] == Step.IDLE)
        require(self.is_pending(partition))
        self.context[partition] = self.pending[partition]
        self.step[partition] = Step.PERSIST_BOTH

    @rule
    def target_of(self, partition: Partition) -> Set[Broker]:
        """The replicas that the controller moves the partition to."""
        entry = self.context[partition]
        assert entry is not None
        return entry.target

    @rule
    def old_replicas(self, partition: Partition) -> Set[Broker]:
        """The replicas to remove. They are known only while ZooKeeper still has the original replicas assigned."""
        return self.assigned[partition] - self.target_of(partition)

    @action
    def step_1_persists_both(self, partition: Partition) -> None:
        """``KafkaController.updateAssignedReplicasForPartition``."""
        require(self.step[partition] == Step.PERSIST_BOTH)
        self.assigned[partition] = self.assigned[partition] | self.target_of(partition)
        self.memory[partition] = self.assigned[partition]
        self.step[partition] = Step.TELL_BOTH

    @action
    def step_2_tells_both(self, partition: Partition) -> None:
        """A broker that still has a replica from earlier keeps it: the new leader epoch fences what would stop it.

        ``KafkaController.updateLeaderEpochAndSendRequest``.
        """
        require(self.step[partition] == Step.TELL_BOTH)
        self.tell_leader(partition, self.memory[partition])
        self.start_replicas_on(partition, self.memory[partition] & self.replication[partition].on_disk)
        self.step[partition] = Step.START_ADDED

    @action
    def step_3_starts_added(self, partition: Partition) -> None:
        """``KafkaController.startNewReplicasForReassignedPartition``."""
        require(self.step[partition] == Step.START_ADDED)
        self.start_replicas_on(partition, self.memory[partition])
        self.step[partition] = Step.WAITING

    @rule
    def is_in_sync(self, partition: Partition) -> bool:
        """The persisted ISR has the whole target."""
        return self.target_of(partition) <= self.replication[partition].isr

    def may_complete(self, partition: Partition) -> bool:
        return self.is_in_sync(partition) and len(self.electable(partition, self.target_of(partition))) > 0

    @action
    def step_4_sees_target_in_sync(self, partition: Partition) -> None:
        """The ISR has changed, and now has the whole target.

        ``KafkaController.processPartitionReassignmentIsrChange``.
        """
        require(self.is_free() and self.goes_on() and self.step[partition] == Step.WAITING)
        require(self.may_complete(partition))
        self.step[partition] = Step.RETARGET

    @action
    def step_6_retargets(self, partition: Partition) -> None:
        """``KafkaController.moveReassignedPartitionLeaderIfRequired`` begins with it."""
        require(self.step[partition] == Step.RETARGET)
        self.memory[partition] = self.target_of(partition)
        self.step[partition] = Step.LEAD_FROM_TARGET

    @rule
    def isr_led_by(self, partition: Partition, wanted: Set[Broker]) -> Set[Broker]:
        """The ISR that is written together with the leader: without the replicas to be removed."""
        return self.replication[partition].isr & wanted

    @rule
    def replicas_told(self, partition: Partition) -> Set[Broker]:
        """The replicas that are named by the LeaderAndIsr of step 7 (of step 2 when cancelling)."""
        return self.memory[partition]

    def lead_from(self, partition: Partition, wanted: Set[Broker]) -> None:
        """Elects a leader among ``wanted`` in a new leader epoch; those of them that were stopped start again."""
        self.elect(partition, wanted)
        self.replication[partition].isr = self.isr_led_by(partition, wanted)
        self.tell_leader(partition, self.replicas_told(partition))
        self.start_replicas_on(partition, wanted)
        self.unspread.add(partition)

    @action
    def step_7_leads_from_target(self, partition: Partition) -> None:
        """If the target is no longer in sync, the controller keeps waiting.

        ``KafkaController.moveReassignedPartitionLeaderIfRequired``.
        """
        require(self.step[partition] == Step.LEAD_FROM_TARGET)
        if self.may_complete(partition):
            self.lead_from(partition, self.target_of(partition))
            self.step[partition] = Step.TAKE_OLD_OFFLINE
        else:
            self.memory[partition] = self.assigned[partition]
            self.step[partition] = Step.WAITING

    @action
    def step_8_takes_old_offline(self, partition: Partition) -> None:
        """``KafkaController.stopOldReplicasOfReassignedPartition``: OfflineReplica."""
        require(self.step[partition] == Step.TAKE_OLD_OFFLINE)
        self.take_offline(partition, self.old_replicas(partition))
        self.step[partition] = Step.DELETE_OLD

    @action
    def step_9_deletes_old(self, partition: Partition) -> None:
        """``KafkaController.stopOldReplicasOfReassignedPartition``: NonExistentReplica."""
        require(self.step[partition] == Step.DELETE_OLD)
        self.stop_replicas_on(partition, self.old_replicas(partition))
        self.step[partition] = Step.PERSIST_TARGET

    @action
    def step_10_persists_target(self, partition: Partition) -> None:
        """Last, because nothing else in ZooKeeper says which replicas are to be removed.

        ``KafkaController.updateAssignedReplicasForPartition``.
        """
        require(self.step[partition] == Step.PERSIST_TARGET)
        self.assigned[partition] = self.target_of(partition)
        self.step[partition] = Step.DROP_ENTRY

    @rule
    def entries_dropped_with(self, partition: Partition) -> Set[Partition]:
        """The znode is deleted with its last entry; before that, only the partition's own entry is removed
        (KAFKA-6193).
        """
        return Set({partition})

    def drop_entry(self, partition: Partition) -> None:
        for other in self.entries_dropped_with(partition):
            self.pending[other] = None
        self.context[partition] = None

    @action
    def step_11_drops_entry(self, partition: Partition) -> None:
        """``KafkaController.removePartitionsFromReassignedPartitions``."""
        require(self.step[partition] == Step.DROP_ENTRY)
        self.drop_entry(partition)
        self.step[partition] = Step.SPREAD

    @action
    def step_12_spreads_metadata(self, partition: Partition) -> None:
        """``KafkaController.sendUpdateMetadataRequest``."""
        require(self.step[partition] == Step.SPREAD)
        self.unspread.discard(partition)
        self.step[partition] = Step.IDLE


class Reassignment(StepwiseReassignment):
    """KIP-236 with the repairs."""

    throttles = Constant(False)

    cancel_requested: bool = False
    throttled: Set[Partition] = Set()

    cancelling: bool = False
    to_cancel: Set[Partition] = Set()

    rolled_back: Set[Partition] = Set()

    # The operator.

    @rule
    def recorded_original(self, partition: Partition) -> Set[Broker]:
        """What is recorded as the original replicas: those that are assigned in ZooKeeper."""
        return self.assigned[partition]

    @action
    def client_submits(self, batch: Set[Partition], target: Set[Broker], throttle: bool, knows_original: bool) -> None:
        """Submits a batch once the last one is done. An old client does not record the original replicas.

        ``ReassignPartitionsCommand.executeAssignment``.
        """
        require(self.submitted < self.submissions and len(batch) > 0)
        require(self.smallest_target <= len(target) <= self.largest_target)
        require((knows_original or self.old_clients) and (self.throttles or not throttle))
        require(not any(self.is_pending(partition) for partition in Partition) and not self.cancel_requested)
        self.submitted += 1
        for partition in batch:
            original = self.recorded_original(partition) if knows_original else None
            self.pending[partition] = Entry(target=target, original=original)
            self.before[partition] = self.assigned[partition]
            self.rolled_back.discard(partition)
        if throttle:
            self.throttled |= batch

    @action
    def client_cancels(self) -> None:
        """Creates the cancel znode, which asks to cancel every reassignment that is pending, not those that are
        done.

        KIP-236, "Reassignment Cancellation".
        """
        require(not self.cancel_requested and any(self.is_pending(partition) for partition in Partition))
        self.cancel_requested = True

    @action
    def client_verifies(self, partition: Partition) -> None:
        """``--verify`` removes the throttle of a partition whose reassignment has ended.

        ``ReassignPartitionsCommand.verifyAssignment``.
        """
        require(partition in self.throttled and not self.is_pending(partition))
        self.throttled.discard(partition)

    # Cancel.

    @rule
    def goes_on(self) -> bool:
        """No reassignment continues while a cancellation is in progress."""
        return not self.cancelling

    def was_taken_back(self, partition: Partition) -> bool:
        return partition in self.rolled_back

    @action
    def controller_fails_over(self) -> None:
        """The new controller looks for the cancel znode before it starts anything."""
        super().controller_fails_over()
        self.cancelling = False
        self.to_cancel = Set()
        if self.cancel_requested:
            self.read_cancel()

    def read_cancel(self) -> None:
        """Reads all pending reassignments, which are to be cancelled."""
        self.cancelling = True
        for partition in Partition:
            if self.is_pending(partition):
                self.to_cancel.add(partition)
                self.context[partition] = self.pending[partition]

    @action
    def controller_reads_cancel(self) -> None:
        """The watch on the cancel znode fires. KIP-236, "Reassignment Cancellation"."""
        require(self.is_free() and self.cancel_requested and not self.cancelling)
        self.read_cancel()

    def original_of(self, partition: Partition) -> Set[Broker]:
        entry = self.context[partition]
        assert entry is not None
        assert entry.original is not None
        return entry.original

    @rule
    def leaves_leader(self, partition: Partition) -> bool:
        """An original replica is both in sync and alive, so that it can lead without loss.

        KIP-236, "Skip Reassignment Cancellation Scenarios", checks the ISR and checks who is alive, but not that one
        replica is both (KAFKA-14424).
        """
        return len(self.electable(partition, self.original_of(partition))) > 0

    @rule
    def leaves_enough_in_sync(self, partition: Partition) -> bool:
        """As many stay in sync as producers need, or as there are. The KIP does not check ``min.insync.replicas``."""
        isr = self.replication[partition].isr
        return len(isr & self.original_of(partition)) >= min(self.min_insync_replicas, len(isr))

    @rule
    def is_undone(self, partition: Partition) -> bool:
        """The original replicas are still assigned. After step 10 the reassignment is done, and only its entry is
        left.
        """
        return self.original_of(partition) <= self.assigned[partition]

    @rule
    def may_cancel(self, partition: Partition) -> bool:
        """Whether a reassignment can be cancelled. Nothing is lost if no added replica is in the ISR."""
        entry = self.context[partition]
        if entry is None or entry.original is None or not self.is_undone(partition):
            return False
        if self.replication[partition].isr <= self.original_of(partition):
            return True
        return self.leaves_leader(partition) and self.leaves_enough_in_sync(partition)

    @action
    def controller_skips(self, partition: Partition) -> None:
        """A reassignment that cannot be cancelled continues (KIP-236, "Skip Reassignment Cancellation Scenarios")."""
        require(self.is_free() and partition in self.to_cancel and not self.may_cancel(partition))
        self.to_cancel.discard(partition)

    @action
    def controller_begins_cancel(self, partition: Partition) -> None:
        """KIP-236, "Skip Reassignment Cancellation Scenarios"."""
        require(self.is_free() and partition in self.to_cancel and self.may_cancel(partition))
        self.step[partition] = Step.CANCEL_IN_MEMORY

    @rule
    def leaving(self, partition: Partition) -> Set[Broker]:
        """The replicas that only the reassignment has added: the target without the original replicas."""
        return self.target_of(partition) - self.original_of(partition)

    @action
    def cancel_1_in_memory(self, partition: Partition) -> None:
        """KIP-236, "Reassignment Cancellation", step 1."""
        require(self.step[partition] == Step.CANCEL_IN_MEMORY)
        self.memory[partition] = self.original_of(partition)
        self.step[partition] = Step.LEAD_FROM_ORIGINAL

    @rule
    def still_may_cancel(self, partition: Partition) -> bool:
        """Nothing has been written yet, so it is not too late to check again."""
        return self.may_cancel(partition)

    @action
    def cancel_2_leads_from_original(self, partition: Partition) -> None:
        """KIP-236, "Reassignment Cancellation", step 2."""
        require(self.step[partition] == Step.LEAD_FROM_ORIGINAL)
        if self.still_may_cancel(partition):
            self.lead_from(partition, self.original_of(partition))
            self.step[partition] = Step.TAKE_ADDED_OFFLINE
        else:
            self.memory[partition] = self.assigned[partition]
            self.to_cancel.discard(partition)
            self.step[partition] = Step.IDLE

    @action
    def cancel_3_takes_added_offline(self, partition: Partition) -> None:
        """KIP-236, "Reassignment Cancellation", step 3."""
        require(self.step[partition] == Step.TAKE_ADDED_OFFLINE)
        self.take_offline(partition, self.leaving(partition))
        self.step[partition] = Step.DELETE_ADDED

    @action
    def cancel_4_deletes_added(self, partition: Partition) -> None:
        """KIP-236, "Reassignment Cancellation", step 4."""
        require(self.step[partition] == Step.DELETE_ADDED)
        self.stop_replicas_on(partition, self.leaving(partition))
        self.step[partition] = Step.PERSIST_ORIGINAL

    @action
    def cancel_5_persists_original(self, partition: Partition) -> None:
        """KIP-236, "Reassignment Cancellation", step 5."""
        require(self.step[partition] == Step.PERSIST_ORIGINAL)
        self.assigned[partition] = self.original_of(partition)
        self.rolled_back.add(partition)
        self.step[partition] = Step.UNTHROTTLE if partition in self.throttled else Step.DROP_CANCELLED

    @rule
    def unthrottled_with(self, partition: Partition) -> Set[Partition]:
        """A cancelled partition loses its throttle; the others in the batch keep theirs."""
        return Set({partition})

    @action
    def cancelled_is_unthrottled(self, partition: Partition) -> None:
        """KIP-236, "Reassignment Cancellation": "the throttle will be removed"."""
        require(self.step[partition] == Step.UNTHROTTLE)
        self.throttled -= self.unthrottled_with(partition)
        self.step[partition] = Step.DROP_CANCELLED

    @action
    def cancel_6_drops_entry(self, partition: Partition) -> None:
        """KIP-236, "Reassignment Cancellation", step 6."""
        require(self.step[partition] == Step.DROP_CANCELLED)
        self.to_cancel.discard(partition)
        self.drop_entry(partition)
        self.step[partition] = Step.SPREAD_CANCELLED

    @action
    def cancel_7_spreads_metadata(self, partition: Partition) -> None:
        """KIP-236, "Reassignment Cancellation", step 7."""
        require(self.step[partition] == Step.SPREAD_CANCELLED)
        self.unspread.discard(partition)
        self.step[partition] = Step.IDLE

    @rule
    def may_drop_cancel(self) -> bool:
        """The cancel znode outlives the last entry that it applies to; otherwise a new controller would start that one
        again.
        """
        return self.is_free() and len(self.to_cancel) == 0

    @action
    def controller_drops_cancel(self) -> None:
        """KIP-236, "Reassignment Cancellation": the znode is gone when all is done."""
        require(self.cancelling and self.may_drop_cancel())
        self.cancel_requested = False
        self.cancelling = False
