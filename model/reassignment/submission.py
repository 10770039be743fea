"""KIP-236's submission in two requests: the assignment is read, and /admin/reassign_partitions is written later.

KIP-236, "Reassignment Cancellation": "Before writing to /admin/reassign_partitions, the current assigned replicas
(original replicas) are read from Zookeeper and added". Elsewhere (kip236.py, where to begin) that is one step. Here
something can happen in between: another tool submits, the controller moves the partition, or both. The text has two
answers to who reads:

* the tool, since its version decides whether the original replicas are missing ("Skip Reassignment Cancellation
  Scenarios", 1): ``SubmittedByTools``. It creates the znode, which fails if there is one. That alone is not enough:
  what the tool has read is out of date if a reassignment came and went. One transaction also checks the version of the
  topic's znode, which has the assignment (``has_read_the_present``);
* the controller ("the controller will be adding "original_replicas""): ``RecordedByController``. Only it writes the
  assignment, so it reads the present one; but it writes an entry that is a tool's, and that a tool may have replaced
  since the controller read it, as operators do (KAFKA-7854). So it quotes the znode's version (``has_read_the_last``).

If a znode still has the version that a tool read, nothing has written it since: ``outdated``, ``edited``.
"""

from __future__ import annotations

from floodmark import Constant, Identifier, Map, Record, Set, action, initial, require, rule
from model.reassignment.kip236 import Entry, Reassignment
from model.reassignment.replicas import Broker, Partition


class Tool(Identifier, count="tools", prefix="t"):
    """A run of kafka-reassign-partitions.sh. It reads and writes, and starts over when its write is refused."""


class Draft(Record):
    """What a tool is about to write, and the assigned replicas as it has read them."""

    partition: Partition
    target: Set[Broker]
    original: Set[Broker]


class SubmittedByTools(Reassignment):
    """Tools read the original replicas, and write them later together with the target."""

    tools = Constant(2)

    drafts: Map[Tool, Draft | None]
    outdated: Set[Tool] = Set()
    """The tools that have not read the assignment since it was written last."""
    written: Map[Partition, Set[Broker] | None]
    """The target that was written last, by whichever tool."""

    @initial
    def start(self) -> None:
        super().start()
        self.drafts = Map({tool: None for tool in Tool})
        self.written = Map({partition: None for partition in Partition})

    @action
    def client_submits(self, batch: Set[Partition], target: Set[Broker], throttle: bool, knows_original: bool) -> None:
        """Nobody reads and writes in one step: ``tool_reads``, ``tool_writes``.

        ``ReassignPartitionsCommand.executeAssignment``.
        """
        require(False)

    @action
    def tool_reads(self, tool: Tool, partition: Partition, target: Set[Broker]) -> None:
        """Reads the assignment, whether or not it is about to change.

        KIP-236, "Reassignment Cancellation": "read from Zookeeper".
        """
        require(self.submitted < self.submissions and self.drafts[tool] is None)
        require(self.smallest_target <= len(target) <= self.largest_target)
        self.drafts[tool] = Draft(partition=partition, target=target, original=self.assigned[partition])
        self.outdated.discard(tool)

    def assignment_is_written(self) -> None:
        """The topic's znode, which holds every partition's assignment, gets its next version."""
        self.outdated = Set(Tool)

    @action
    def step_1_persists_both(self, partition: Partition) -> None:
        super().step_1_persists_both(partition)
        self.assignment_is_written()

    @action
    def step_10_persists_target(self, partition: Partition) -> None:
        super().step_10_persists_target(partition)
        self.assignment_is_written()

    @action
    def cancel_5_persists_original(self, partition: Partition) -> None:
        super().cancel_5_persists_original(partition)
        self.assignment_is_written()

    @rule
    def finds_no_znode(self) -> bool:
        """The znode is created, which fails if there is one."""
        return not any(self.is_pending(partition) for partition in Partition)

    @rule
    def has_read_the_present(self, tool: Tool) -> bool:
        """The write depends on the version of the assignment that the tool has read."""
        return tool not in self.outdated

    def may_write(self, tool: Tool, partition: Partition) -> bool:
        """What the transaction of the tool's write depends on."""
        return self.finds_no_znode() and self.has_read_the_present(tool)

    def original_in(self, draft: Draft) -> Set[Broker] | None:
        """What the tool writes as the original replicas: what it has read."""
        return draft.original

    @action
    def tool_writes(self, tool: Tool) -> None:
        """Submits its draft. What is submitted beside a cancel znode may be cancelled with the rest.

        ``ReassignPartitionsCommand.executeAssignment``.
        """
        draft = self.drafts[tool]
        require(draft is not None and self.submitted < self.submissions)
        assert draft is not None
        partition = draft.partition
        require(self.may_write(tool, partition))
        self.submitted += 1
        if not self.is_pending(partition):
            self.before[partition] = self.assigned[partition]
        self.pending[partition] = Entry(target=draft.target, original=self.original_in(draft))
        self.written[partition] = draft.target
        self.rolled_back.discard(partition)
        self.drafts[tool] = None

    @action
    def tool_starts_over(self, tool: Tool) -> None:
        """Its write was refused, or its operator thinks better of it.

        ``ReassignPartitionsCommand.executeAssignment``.
        """
        require(self.drafts[tool] is not None)
        self.drafts[tool] = None


class RecordedByController(SubmittedByTools):
    """The controller adds the original replicas to what a tool has written, before it does anything else.

    Until then another tool may replace an entry.
    """

    seen: Map[Partition, Entry | None]
    """The entry that the controller has read and is about to write with its original replicas."""
    edited: Set[Partition] = Set()
    """The entries that a tool has written since the controller read them."""

    @initial
    def start(self) -> None:
        super().start()
        self.seen = Map({partition: None for partition in Partition})

    def is_recorded(self, partition: Partition) -> bool:
        entry = self.pending[partition]
        return entry is not None and entry.original is not None

    def may_write(self, tool: Tool, partition: Partition) -> bool:
        return not self.is_recorded(partition)

    def original_in(self, draft: Draft) -> Set[Broker] | None:
        return None

    @action
    def tool_writes(self, tool: Tool) -> None:
        draft = self.drafts[tool]
        require(draft is not None)
        assert draft is not None
        super().tool_writes(tool)
        self.edited.add(draft.partition)

    @action
    def controller_reads_entry(self, partition: Partition) -> None:
        """KIP-236, "Public Interfaces": the controller adds "original_replicas"."""
        require(self.is_free() and self.is_pending(partition) and not self.is_recorded(partition))
        require(self.seen[partition] is None)
        self.seen[partition] = self.pending[partition]
        self.edited.discard(partition)

    @rule
    def has_read_the_last(self, partition: Partition) -> bool:
        """The write quotes the version of the znode that the controller has read."""
        return partition not in self.edited

    @action
    def controller_adds_original(self, partition: Partition) -> None:
        """Writes what it has read together with the original replicas, or reads again. KIP-236, "Public Interfaces"."""
        entry = self.seen[partition]
        require(entry is not None)
        assert entry is not None
        if self.has_read_the_last(partition):
            self.pending[partition] = Entry(target=entry.target, original=self.recorded_original(partition))
        self.seen[partition] = None

    @rule
    def waits_for_original(self, partition: Partition) -> bool:
        """Nothing begins before the way back is recorded."""
        return not self.is_recorded(partition)

    @action
    def controller_begins(self, partition: Partition) -> None:
        require(not self.waits_for_original(partition))
        super().controller_begins(partition)

    @action
    def controller_fails_over(self) -> None:
        super().controller_fails_over()
        self.seen = Map({partition: None for partition in Partition})
