"""Known-bad designs of eligible leader replicas when settings change or a directory is lost. Begin with ``flawed.py``.
"""

from __future__ import annotations

from floodmark import Set, require
from model.elr.directories import LostDirectories
from model.elr.partition import Broker
from model.elr.settings import ChangedMinIsr, SwitchedElr

# min.insync.replicas


class IgnoresNewMinIsr(ChangedMinIsr):
    """F-M26: a new min.insync.replicas leaves the ELR as it is, as long as KAFKA-16540 was open."""

    def revise_elr(self, successor: Broker | None) -> None:
        require(successor == self.leader)


class ClearsElr(ChangedMinIsr):
    """F-M27: any new min.insync.replicas empties the ELR, as KAFKA-16540 was mended (``ClearElrRecord``): nobody is
    eligible, though nobody shut down uncleanly.
    """

    def revise_elr(self, successor: Broker | None) -> None:
        require(successor == self.leader)
        self.elr = Set()


class KeepsElrAfterElection(ChangedMinIsr):
    """F-M28: the ELR is judged before the election only. With min.insync.replicas = 1 the elected leader commits alone.
    """

    def settled(self, isr: Set[Broker], elr: Set[Broker]) -> Set[Broker]:
        return elr


class LearnsFromTheAnswer(ChangedMinIsr):
    """F-M29: the answer to AlterPartition reaches the leader before it has replayed the new min.insync.replicas. It
    commits by the old value, while the controller counts who left as eligible.
    """

    def leader_alters_isr(self, isr: Set[Broker], successor: Broker | None) -> None:
        known = self.known_min_isr
        super().leader_alters_isr(isr, successor)
        self.known_min_isr = known


# The feature


class ClearsElrWhileOff(SwitchedElr):
    """F-M30: while the feature is off each record of the partition empties the ELR, whoever leads
    (``maybeUpdateRecordElr``). A partition that had nobody in sync when it was switched off stays without a leader.
    """

    def elr_while_off(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        return Set[Broker]()


class KeepsElrWhileOff(SwitchedElr):
    """F-M31: the ELR stays as it was while the feature is off, and counts again when it is on."""

    def elr_while_off(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        return self.elr - isr - unclean_shutdown


# Directories


class ForgetsElrOnAssignment(LostDirectories):
    """F-M32: AssignReplicasToDirs builds its change as if the feature were off, which empties the ELR (before pull
    request 20716).
    """

    def forget_elr(self) -> None:
        self.elr = Set()


class OverlooksLostDirectory(LostDirectories):
    """F-M33: the clean shutdown files of the other directories are enough: a replica that was lost counts as clean."""

    def write_file(self, broker: Broker) -> None:
        self.clean_file.add(broker)


class ElectsWithoutDirectory(LostDirectories):
    """F-M34: a replica is electable although its directory has failed."""

    def electable(self, isr: Set[Broker], elr: Set[Broker]) -> Set[Broker]:
        return isr if len(isr) > 0 else elr
