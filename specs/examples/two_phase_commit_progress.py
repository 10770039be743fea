"""Two-phase commit decides if nobody fails: what Gray and Lamport say of it, as liveness (2006, section 3).

A resource manager that is prepared has to wait for the transaction manager, and waits forever if the transaction
manager stops: two-phase commit blocks. The known-bad design is the one in which it may.
"""

from __future__ import annotations

from floodmark import eventually, recoverable
from specs.examples.two_phase_commit import Coordinator, Manager, ResourceManager, TwoPhaseCommit


class DecidesSomeDay(TwoPhaseCommit):
    """Two-phase commit in which nobody fails; the spec says whose steps are fair."""

    @eventually
    def everybody_decides(self) -> bool:
        return all(
            self.managers_state[manager] in (Manager.COMMITTED, Manager.ABORTED) for manager in ResourceManager
        )

    @recoverable
    def a_decision_can_be_reached(self) -> bool:
        return self.coordinator != Coordinator.INIT
