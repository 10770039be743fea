"""KIP-236's reassignment with what only a real controller can suffer: how it ends, and that it may not know.

model/reassignment/kip236.py has one action for the end of a controller and the beginning of the next. Here it is killed
between two steps (``controller_fails_over``), or in the middle of one, when ZooKeeper has what it wrote and no broker
has heard of it; or its session expires while the process stands still, and later it goes on as if it were still the
controller. Nothing that it does then may change anything.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, action, require
from model.reassignment.kip236 import Reassignment, Step
from model.reassignment.replicas import Partition


class ReassignmentOnZooKeeper(Reassignment):
    """One controller process after the other."""

    failovers = Constant(2)

    failed: Annotated[int, Between(0, "failovers")] = 0
    stands_still: bool = False
    """There is a process whose session has expired, and which does not know it yet."""

    def fail(self) -> None:
        require(self.failed < self.failovers)
        self.failed += 1

    def controller_fails_over(self) -> None:
        """kill -9, between two steps."""
        self.fail()
        super().controller_fails_over()

    @action
    def controller_dies_leading(self, partition: Partition) -> None:
        """kill -9 in step 7, or in step 2 of a cancellation: leader and ISR are written, and nobody is told."""
        if self.step[partition] == Step.LEAD_FROM_TARGET:
            self.step_7_leads_from_target(partition)
        else:
            self.cancel_2_leads_from_original(partition)
        self.controller_fails_over()

    @action
    def controller_dies_taking_offline(self, partition: Partition) -> None:
        """kill -9 in step 8, or in step 3 of a cancellation."""
        if self.step[partition] == Step.TAKE_OLD_OFFLINE:
            self.step_8_takes_old_offline(partition)
        else:
            self.cancel_3_takes_added_offline(partition)
        self.controller_fails_over()

    @action
    def controller_session_expires(self) -> None:
        """The process stands still, in the middle of whatever it does, and another one takes over."""
        require(not self.stands_still)
        self.stands_still = True
        self.controller_fails_over()

    @action
    def replaced_controller_goes_on(self) -> None:
        """It takes the step that it was about to take. ZooKeeper refuses the write, and brokers the requests."""
        require(self.stands_still)
        self.stands_still = False
