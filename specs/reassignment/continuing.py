"""A controller that takes the next step of whatever it has begun: one assumption of fairness, not one per step."""

from __future__ import annotations

from floodmark import action, fair, require
from model.reassignment.kip236 import Step, StepwiseReassignment
from model.reassignment.replicas import Partition


class ContinuingController(StepwiseReassignment):
    """KIP-236's forward steps."""

    @fair
    @action
    def controller_continues(self, partition: Partition) -> None:
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
