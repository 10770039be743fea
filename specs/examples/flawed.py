"""Known-bad designs of two-phase commit and of a search that loses partitions."""

from __future__ import annotations

from floodmark import require
from specs.examples.lost_partitions import Content, Files, LostPartitions, Partition
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


class RepairIgnoresLosses(LostPartitions):
    """Levels are believed because a header names them, even those of a repair during which another partition was lost.

    A level that was requested again leaves nothing of it in the files.
    """

    def believes(self, files: Files, levels: int) -> bool:
        return levels <= files.named

    def names_partial_levels(self) -> bool:
        return self.repairing


class BelievesOldHeaders(LostPartitions):
    """Levels are believed because a header names them, even one that was never accepted, when a partition moves back.

    A repair whose reports say that something was lost leaves nothing in the files.
    """

    def believes(self, files: Files, levels: int) -> bool:
        return levels <= files.named

    def names_partial_levels(self) -> bool:
        return not self.repairing


class ChangesWhatIsNamed(LostPartitions):
    """A second merge of a level leaves the header as it is until it ends, which may never happen."""

    def marks_first(self) -> bool:
        return False


class KeepsWhatIsThere(LostPartitions):
    """After the search, the states are whatever is found in the files."""

    def checks_what_it_keeps(self) -> bool:
        return False


class TellsItsOwnMergeOnly(LostPartitions):
    """An expansion that finds nothing tells only the merge of its own partition, which may have run already."""

    def misses(self, partition: Partition) -> bool:
        return self.sent[partition] == Content.LOST


class BelievesTornCheckpoints(LostPartitions):
    """A checkpoint is believed because it exists."""

    def compares_checkpoints(self) -> bool:
        return False
