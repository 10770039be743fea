"""Controllers that take the next step of whatever they have begun: one assumption of fairness, not one per step.

kip236.py is where to begin. The liveness properties are in invariants/reassignment/progress.py.
"""

from __future__ import annotations

from floodmark import action, fair, require
from model.reassignment.kip236 import Reassignment, Step, StepwiseReassignment
from model.reassignment.kip455 import Kip455Reassignment
from model.reassignment.kip455 import Step as Kip455Step
from model.reassignment.replicas import Partition


class ContinuingController(StepwiseReassignment):
    """KIP-236's forward steps."""

    @fair
    @action
    def controller_continues(self, partition: Partition) -> None:
        """``KafkaController.onPartitionReassignment``: its next step."""
        require(self.has_begun(partition))
        self.continues(partition)

    def has_begun(self, partition: Partition) -> bool:
        """Whether there is a next step that waits for nothing."""
        return self.step[partition] not in (Step.IDLE, Step.WAITING)

    def continues(self, partition: Partition) -> None:
        step = self.step[partition]
        if step == Step.PERSIST_BOTH:
            self.step_1_persists_both(partition)
        elif step == Step.TELL_BOTH:
            self.step_2_tells_both(partition)
        elif step == Step.START_ADDED:
            self.step_3_starts_added(partition)
        elif step == Step.RETARGET:
            self.step_6_retargets(partition)
        elif step == Step.LEAD_FROM_TARGET:
            self.step_7_leads_from_target(partition)
        elif step == Step.TAKE_OLD_OFFLINE:
            self.step_8_takes_old_offline(partition)
        elif step == Step.DELETE_OLD:
            self.step_9_deletes_old(partition)
        elif step == Step.PERSIST_TARGET:
            self.step_10_persists_target(partition)
        elif step == Step.DROP_ENTRY:
            self.step_11_drops_entry(partition)
        else:
            self.step_12_spreads_metadata(partition)


class ContinuingReassignment(ContinuingController, Reassignment):
    """KIP-236's steps in both directions."""

    def continues(self, partition: Partition) -> None:
        step = self.step[partition]
        if step == Step.CANCEL_IN_MEMORY:
            self.cancel_1_in_memory(partition)
        elif step == Step.LEAD_FROM_ORIGINAL:
            self.cancel_2_leads_from_original(partition)
        elif step == Step.TAKE_ADDED_OFFLINE:
            self.cancel_3_takes_added_offline(partition)
        elif step == Step.DELETE_ADDED:
            self.cancel_4_deletes_added(partition)
        elif step == Step.PERSIST_ORIGINAL:
            self.cancel_5_persists_original(partition)
        elif step == Step.UNTHROTTLE:
            self.cancelled_is_unthrottled(partition)
        elif step == Step.DROP_CANCELLED:
            self.cancel_6_drops_entry(partition)
        elif step == Step.SPREAD_CANCELLED:
            self.cancel_7_spreads_metadata(partition)
        else:
            super().continues(partition)


class ContinuingKip455(Kip455Reassignment):
    """The phases of KIP-455 with a ZooKeeper controller."""

    @fair
    @action
    def controller_continues(self, partition: Partition) -> None:
        """``KafkaController.onPartitionReassignment``: its next step."""
        require(self.step[partition] != Kip455Step.IDLE)
        step = self.step[partition]
        if step == Kip455Step.REMEMBER:
            self.u2_remembers(partition)
        elif step == Kip455Step.STOP_UNNEEDED:
            self.u3_stops_unneeded(partition)
        elif step == Kip455Step.TELL_BOTH:
            self.a1_tells_both(partition)
        elif step == Kip455Step.START_ADDING:
            self.a2_starts_adding(partition)
        elif step == Kip455Step.RETARGET:
            self.b2_retargets(partition)
        elif step == Kip455Step.LEAD_FROM_TARGET:
            self.b3_leads_from_target(partition)
        elif step == Kip455Step.TAKE_REMOVING_OFFLINE:
            self.b4_takes_removing_offline(partition)
        elif step == Kip455Step.DELETE_REMOVING:
            self.b5_deletes_removing(partition)
        elif step == Kip455Step.PERSIST_TARGET:
            self.b6_persists_target(partition)
        elif step == Kip455Step.DROP_LEGACY:
            self.b7_drops_legacy(partition)
        else:
            self.b8_spreads_metadata(partition)
