"""Known-bad designs of KIP-236's submission, where somebody reads first and writes later."""

from __future__ import annotations

from floodmark import Set, action, require
from model.reassignment.replicas import Broker, Partition
from model.reassignment.submission import RecordedByController, SubmittedByTools, Tool


class CreatesOnly(SubmittedByTools):
    """C-M27: the tool's write depends on nothing but that there is no znode. What it has read may be out of date."""

    def has_read_the_present(self, tool: Tool) -> bool:
        return True


class LooksBeforehand(SubmittedByTools):
    """C-M28: the tool looks whether there is a znode, and then writes whether or not there is one by now."""

    @action
    def tool_reads(self, tool: Tool, partition: Partition, target: Set[Broker]) -> None:
        require(not self.is_pending(partition))
        super().tool_reads(tool, partition, target)

    def finds_no_znode(self) -> bool:
        return True


class WritesAnyVersion(RecordedByController):
    """C-M29: the controller adds the original replicas to what it has read, and undoes what was written since.

    Kafka's controller, too, writes the znode without the znode's version (setOrCreatePartitionReassignment, as read).
    """

    def has_read_the_last(self, partition: Partition) -> bool:
        return True


class BeginsAtOnce(RecordedByController):
    """C-M30: the controller moves the partition first, and records what is assigned by then."""

    def waits_for_original(self, partition: Partition) -> bool:
        return False
