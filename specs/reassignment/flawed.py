"""Known-bad designs of KIP-236's reassignment, including the text of the KIP.

The numbers are those of docs/properties.md, which says what each mistake breaks. C-M19, a replica that is removed and
added again before the leader learns of either, needs log end offsets: it is JoinsByRememberedOffset of specs/alter_isr.
Designs that merely never finish are left out, since these are properties of single states and steps: C-M4 waits for the
old replicas too (it is WaitsForOldReplicas of specs/zk_controller, where a settled state shows it), C-M12 gives up if
an added replica is offline. C-L1, that a reassignment completes, is such a property.
"""

from __future__ import annotations

from floodmark import Map, Set, action, initial, require
from model.reassignment.kip236 import Entry, Reassignment, Step
from model.reassignment.replicas import Broker, Partition


class SkipsAsWritten(Reassignment):
    """The KIP's second rule: skip if no original replica is in the ISR and some new one is alive.

    KIP-236, "Skip Reassignment Cancellation Scenarios"; not enough if the original members of the ISR are down.
    """

    def may_cancel(self, partition: Partition) -> bool:
        entry = self.context[partition]
        if entry is None or entry.original is None:
            return False
        none_in_sync = self.original_of(partition).isdisjoint(self.replication[partition].isr)
        return not (none_in_sync and len(entry.target & self.live) > 0)


class CancelsWithoutLeader(Reassignment):
    """C-M1: the controller does not check that an original replica can lead (KAFKA-14424)."""

    def leaves_leader(self, partition: Partition) -> bool:
        return True


class ElectsAnyOriginal(CancelsWithoutLeader):
    """Any live original replica leads, in sync or not (KIP-236, step 2: "elect a new leader from OAR")."""

    def elect(self, partition: Partition, wanted: Set[Broker]) -> None:
        super().elect(partition, wanted)
        leader = self.replication[partition].leader
        if leader is None or leader not in wanted & self.live:
            for successor in Broker:
                if successor in wanted & self.live:
                    self.replication[partition].leader = successor
                    break


class RestoresIsr(Reassignment):
    """The ISR becomes the original replicas together with the assignment, although one of them may have dropped out."""

    def isr_led_by(self, partition: Partition, wanted: Set[Broker]) -> Set[Broker]:
        return wanted


class CancelsBelowMinIsr(Reassignment):
    """C-M2: the controller does not check min.insync.replicas; KIP-236 does not mention it."""

    def leaves_enough_in_sync(self, partition: Partition) -> bool:
        return True


class DecidesOnce(Reassignment):
    """What was true when the cancellation began is assumed to be true when its first step writes."""

    def still_may_cancel(self, partition: Partition) -> bool:
        return True


class CancelsFinished(Reassignment):
    """A reassignment is cancelled although it has reached its target, and only its entry is left.

    KIP-236 cancels what is in /admin/reassign_partitions; a crash between steps 10 and 11 leaves an entry there.
    """

    def is_undone(self, partition: Partition) -> bool:
        return True


class ShrinksIsrLater(Reassignment):
    """The leader learns the smaller replica set first, and the ISR shrinks a step later (KIP-236, steps 2 and 3)."""

    def isr_led_by(self, partition: Partition, wanted: Set[Broker]) -> Set[Broker]:
        return self.replication[partition].isr


class EmptiesIsr(SkipsAsWritten):
    """The leaving replicas are removed from the ISR even if nobody else is in it (KIP-236, step 3).

    With the KIP's skip rules this happens when everything is offline.
    """

    def isr_led_by(self, partition: Partition, wanted: Set[Broker]) -> Set[Broker]:
        return self.replication[partition].isr

    def isr_without(self, isr: Set[Broker], brokers: Set[Broker]) -> Set[Broker]:
        return isr - brokers


class StopsWrongSet(Reassignment):
    """Steps 3 and 4 on the set that step 2 of KIP-236 names: the original replicas without the target."""

    def leaving(self, partition: Partition) -> Set[Broker]:
        return self.original_of(partition) - self.target_of(partition)


class DropsCancelEarly(Reassignment):
    """C-M22: the cancel znode is deleted when the original replicas are persisted, before the entry is (step 5,
    not 6).
    """

    def may_drop_cancel(self) -> bool:
        return all(self.step[partition] == Step.DROP_CANCELLED for partition in self.to_cancel)


class DropsEntryFirst(Reassignment):
    """Steps 5 and 6 in reverse order: the entry is deleted while both replica sets are assigned."""

    def cancel_4_deletes_added(self, partition: Partition) -> None:
        super().cancel_4_deletes_added(partition)
        self.step[partition] = Step.DROP_CANCELLED

    def cancel_6_drops_entry(self, partition: Partition) -> None:
        context = self.context[partition]
        super().cancel_6_drops_entry(partition)
        self.context[partition] = context
        self.step[partition] = Step.PERSIST_ORIGINAL

    def cancel_5_persists_original(self, partition: Partition) -> None:
        super().cancel_5_persists_original(partition)
        self.context[partition] = None
        self.step[partition] = Step.SPREAD_CANCELLED


class CompletesWithAdded(Reassignment):
    """C-M3: the controller waits for the added replicas, but not for the ones that stay (KAFKA-15665)."""

    def is_in_sync(self, partition: Partition) -> bool:
        return self.target_of(partition) - self.before[partition] <= self.replication[partition].isr


class PersistsTargetFirst(Reassignment):
    """C-M5: the target is persisted before the old replicas are stopped, and it is no longer known which those are."""

    def step_7_leads_from_target(self, partition: Partition) -> None:
        super().step_7_leads_from_target(partition)
        if self.step[partition] == Step.TAKE_OLD_OFFLINE:
            self.assigned[partition] = self.target_of(partition)


class ResumesResignedContext(Reassignment):
    """C-M8: of two alternating controllers, each resumes what it was doing when it resigned (KAFKA-5310)."""

    resigned: Map[Partition, Entry | None]

    @initial
    def start(self) -> None:
        super().start()
        self.resigned = Map({partition: None for partition in Partition})

    def controller_fails_over(self) -> None:
        resigning = self.context
        super().controller_fails_over()
        for partition in Partition:
            if self.resigned[partition] is not None and self.is_pending(partition):
                self.context[partition] = self.resigned[partition]
                self.step[partition] = Step.PERSIST_BOTH
        self.resigned = resigning


class DropsWholeZnode(Reassignment):
    """C-M11: the znode is deleted when one partition is done, although another is pending (KAFKA-6193)."""

    def entries_dropped_with(self, partition: Partition) -> Set[Partition]:
        return Set(Partition)


class KeepsOldLeaderEpoch(Reassignment):
    """C-M13: the controller forgets the leader epoch that it has bumped, so its next LeaderAndIsr is dropped as old.

    KAFKA-9212.
    """

    behind: Set[Partition] = Set()

    def tell_leader(self, partition: Partition, replicas: Set[Broker]) -> None:
        if partition not in self.behind:
            super().tell_leader(partition, replicas)
        self.behind.add(partition)


class HeedsLateStop(Reassignment):
    """C-M14: StopReplica has no epoch, so a late one deletes a replica that was given back (KAFKA-9539, KIP-570)."""

    def heeds_late_stop(self) -> bool:
        return True


class KeepsStoppedReplica(Reassignment):
    """C-M15: a removed replica is only stopped, not deleted (KAFKA-16120)."""

    def deletes_stopped(self) -> bool:
        return False


class KeepsLeaderEpoch(Reassignment):
    """C-M16: without a new leader epoch a leader that stays ignores the LeaderAndIsr (KAFKA-16121)."""

    def lead_from(self, partition: Partition, wanted: Set[Broker]) -> None:
        leader = self.replication[partition].leader
        known = self.replication[partition].known
        super().lead_from(partition, wanted)
        if self.replication[partition].leader == leader:
            self.replication[partition].known = known


class TellsBoth(Reassignment):
    """C-M17: the LeaderAndIsr still names both replica sets, so the leader adds a leaving replica back to the ISR.

    KIP-236, step 2, says what its own set is for.
    """

    def replicas_told(self, partition: Partition) -> Set[Broker]:
        return self.assigned[partition]


class DecidesByCachedIsr(Reassignment):
    """C-M18: whether the target is in sync is read from a cache, not from ZooKeeper (KAFKA-1170)."""

    cached: Set[Broker] = Set()

    @action
    def controller_hears_isr(self, partition: Partition) -> None:
        require(self.step[partition] == Step.WAITING)
        self.cached = self.replication[partition].isr

    def is_in_sync(self, partition: Partition) -> bool:
        return self.target_of(partition) <= self.cached


class AdmitsEdits(Reassignment):
    """C-M23: a client writes another target to the znode while the controller is at work (KAFKA-7854)."""

    @action
    def client_edits(self, partition: Partition, target: Set[Broker]) -> None:
        entry = self.pending[partition]
        require(entry is not None and len(target) == self.replication_factor)
        self.pending[partition] = Entry(target=target, original=self.before[partition])


class RemovesThrottleOfBatch(Reassignment):
    """A cancelled partition also loses the throttle of the others, which are skipped and continue."""

    def unthrottled_with(self, partition: Partition) -> Set[Partition]:
        return Set(Partition)


class LeavesThrottle(Reassignment):
    """A cancelled partition stays throttled, as a completed one does until --verify."""

    def unthrottled_with(self, partition: Partition) -> Set[Partition]:
        return Set[Partition]()


class UnthrottlesLast(Reassignment):
    """The throttle is removed after the entry ("after the reassignments are cancelled"); a crash in between leaves it
    on.
    """

    def cancel_5_persists_original(self, partition: Partition) -> None:
        super().cancel_5_persists_original(partition)
        self.step[partition] = Step.DROP_CANCELLED

    def cancel_6_drops_entry(self, partition: Partition) -> None:
        super().cancel_6_drops_entry(partition)
        if partition in self.throttled:
            self.step[partition] = Step.UNTHROTTLE

    def cancelled_is_unthrottled(self, partition: Partition) -> None:
        super().cancelled_is_unthrottled(partition)
        self.step[partition] = Step.SPREAD_CANCELLED


class SkipsMetadata(Reassignment):
    """The cancellation ends without UpdateMetadata, so brokers keep naming replicas that are gone (step 7)."""

    def cancel_6_drops_entry(self, partition: Partition) -> None:
        super().cancel_6_drops_entry(partition)
        self.step[partition] = Step.IDLE


class CommitsWithoutMinIsr(Reassignment):
    """A record is committed by any number of in-sync replicas, as with acks=1."""

    @action
    def leader_commits(self, partition: Partition) -> None:
        state = self.replication[partition]
        require(self.is_online(partition) and state.isr <= self.live and not state.complete <= state.isr)
        self.replication[partition].complete &= state.isr


class ServesUnknownFollowers(Reassignment):
    """A leader lets any broker fetch, replica or not (KAFKA-13837)."""

    @action
    def follower_catches_up(self, partition: Partition, follower: Broker) -> None:
        state = self.replication[partition]
        require(self.is_online(partition) and follower in self.live & state.on_disk - state.complete)
        self.replication[partition].complete.add(follower)


class EvictsWhileOffline(Reassignment):
    """A broker that no longer leads still removes followers from the ISR (KIP-497, "Motivation")."""

    @action
    def follower_leaves_isr(self, partition: Partition, follower: Broker) -> None:
        state = self.replication[partition]
        require(follower in state.isr and follower != state.leader)
        self.replication[partition].isr.discard(follower)


class ElectsAnew(Reassignment):
    """Each election takes the first replica that can lead, although the current leader could continue."""

    def elect(self, partition: Partition, wanted: Set[Broker]) -> None:
        for successor in Broker:
            if successor in self.electable(partition, wanted):
                self.replication[partition].leader = successor
                break


class KeepsDeletedOffsets(Reassignment):
    """A deleted replica counts as complete when it is given back, as if its log were there."""

    def delete_replica(self, partition: Partition, broker: Broker) -> None:
        self.replication[partition].on_disk.discard(broker)


class CrashesAtWill(Reassignment):
    """More brokers crash than the spec assumes; not a controller's mistake, but nothing is shown of such runs."""

    @action
    def broker_crashes(self, broker: Broker) -> None:
        require(broker in self.live)
        self.live.discard(broker)


class WaitsWithTarget(Reassignment):
    """The controller waits for a target that has fallen out of sync, and has meanwhile forgotten the former
    replicas.
    """

    def step_7_leads_from_target(self, partition: Partition) -> None:
        memory = self.memory[partition]
        super().step_7_leads_from_target(partition)
        self.memory[partition] = memory


class HandlesEventsAtOnce(Reassignment):
    """Each kind of event has a thread of its own (before KAFKA-5028)."""

    def is_free(self) -> bool:
        return True


class ReplacesDeadBrokers(Reassignment):
    """The controller moves a partition off brokers that are down, although nobody has asked for that."""

    @action
    def controller_replaces(self, partition: Partition) -> None:
        require(self.is_free() and not self.is_pending(partition) and not self.assigned[partition] <= self.live)
        self.before[partition] = self.assigned[partition]
        self.pending[partition] = Entry(target=self.live, original=self.assigned[partition])


class GoesOnWhileCancelling(Reassignment):
    """Other reassignments are started and completed between two that are cancelled."""

    def goes_on(self) -> bool:
        return True


class CancelsUnasked(Reassignment):
    """A new controller cancels whatever is pending, without a cancel znode."""

    def controller_fails_over(self) -> None:
        super().controller_fails_over()
        self.read_cancel()


class WantsAllOriginals(Reassignment):
    """A reassignment is cancelled only if every original replica is in sync.

    Then a single one that is down prevents the cancellation, although the others suffice.
    """

    def leaves_enough_in_sync(self, partition: Partition) -> bool:
        return self.original_of(partition) <= self.replication[partition].isr
