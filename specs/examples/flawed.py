"""Known-bad designs of two-phase commit."""

from __future__ import annotations

from model.language import require
from specs.examples.two_phase_commit import Coordinator, Manager, ResourceManager, TwoPhaseCommit


class CommitsOnMajority(TwoPhaseCommit):
    """The coordinator commits when most managers are prepared, as if the vote were a quorum.

    Gray and Lamport, "Consensus on Transaction Commit", section 3: every resource manager has to be prepared.
    """

    def coordinator_commits(self) -> None:
        require(self.coordinator == Coordinator.INIT and 2 * len(self.prepared) > self.managers)
        self.coordinator = Coordinator.COMMITTED
        self.commit_message = True


class AbortsAfterPrepared(TwoPhaseCommit):
    """A manager changes its mind after it has said that it is prepared.

    Gray and Lamport, "Consensus on Transaction Commit", section 3: once prepared, it waits for the decision.
    """

    def manager_chooses_to_abort(self, manager: ResourceManager) -> None:
        require(self.managers_state[manager] != Manager.COMMITTED)
        self.managers_state[manager] = Manager.ABORTED
