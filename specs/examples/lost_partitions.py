"""The protocol by which a distributed search survives losses, as in `checkers/spark/`.

A search goes level by level. Each partition of the visited set is stored in files of the machine that its tasks run on.
For a level, every partition is expanded and sends each partition what belongs there; every partition merges what
arrives, writes the level to its files, and reports to the driver. Files vanish. A partition moves to another machine,
which may have files from earlier. A merge runs a second time, however late, and may be killed on the way. The driver is
killed and resumed from a checkpoint, whose newest level may be torn.

The states of a level are left out; a level is whole or it is not, and it is whole if it was made of whole levels of
every partition. The driver compares counts and digests with those of the reports that it accepted. As long as it has
accepted only whole levels, a digest equals the accepted one if the level was whole when it was written.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Between,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Set,
    action,
    initial,
    invariant,
    reachable,
    require,
)


class Partition(Identifier, count="partitions", prefix="p"):
    """A part of the visited set."""


class Machine(Identifier, count="machines", prefix="m"):
    """A machine with its own disk, on which tasks run."""


Level = Annotated[int, Between(0, "levels - 1")]


class Files(Record):
    """What a machine has of a partition."""

    named: Annotated[int, Between(0, "levels")] = 0
    """How many levels the header names."""
    digests: Set[Level] = Set()
    """Those of them whose digest, according to the header, is the one that the driver accepted."""
    whole: Set[Level] = Set()
    """Those of them whose content is what it should be."""


class Content(Enum):
    """What a task sends or reports. Partial content looks to its reader like any other."""

    NOTHING = "nothing yet"
    LOST = "lost"
    PARTIAL = "partial"
    WHOLE = "whole"


class LostPartitions(Model):
    """A driver, ``partitions`` partitions that live on ``machines`` machines, and a search of ``levels`` levels."""

    partitions = Constant(2)
    machines = Constant(2)
    levels = Constant(3)

    files: Map[Machine, Map[Partition, Files]]
    home: Map[Partition, Machine]
    """Where a partition's tasks run."""

    accepted: Annotated[int, Between(1, "levels")]
    """How many levels the driver has accepted; it makes the first one, of the initial states, itself."""
    saved: Annotated[int, Between(1, "levels")]
    """How many of them a checkpoint has."""
    repairing: bool
    level: Level
    """The level that is being computed; 0 if none is."""
    wanted: Set[Partition]
    """The partitions that it is computed for: all of them, or those that lack it."""
    sent: Map[Partition, Content]
    """What a partition's expansion has sent to the merges that have yet to run."""
    reported: Map[Partition, Content]
    kept: Set[Partition]
    """Partitions whose states were read out after the last level; the search is complete when all were."""
    deceived: bool
    """Whether the driver has accepted, or given its user, anything that is not whole."""

    @initial
    def start(self, first: Machine) -> None:
        self.home = Map({p: first for p in Partition})
        self.saved = 1
        self.deceived = False
        self.begin(1)

    def begin(self, levels: int) -> None:
        """A driver begins with this many levels, in files that none before it has used."""
        self.accepted = levels
        self.files = Map({
            m: Map({p: self.filled(levels) if self.home[p] == m else Files() for p in Partition}) for m in Machine
        })
        self.kept = Set()
        self.repairing = False
        self.end_tasks()

    def filled(self, levels: int) -> Files:
        known = Set({level for level in range(self.levels) if level < levels})
        return Files(named=levels, digests=known, whole=known)

    def end_tasks(self) -> None:
        self.level = 0
        self.wanted = Set()
        self.sent = Map({p: Content.NOTHING for p in Partition})
        self.reported = Map({p: Content.NOTHING for p in Partition})

    # What is believed.

    def believes(self, files: Files, levels: int) -> bool:
        """Whether a task believes that these levels are those the driver accepted: it is told their digests."""
        return levels <= files.named and all(level in files.digests for level in range(self.levels) if level < levels)

    def misses(self, partition: Partition) -> bool:
        """Whether a merge knows that something was not sent: every expansion tells every merge how it ended."""
        return any(self.sent[p] == Content.LOST for p in Partition)

    def names_partial_levels(self) -> bool:
        """Whether a merge that misses something may leave the level in its files; nobody relies on its not doing so."""
        return True

    def marks_first(self) -> bool:
        """Whether a merge removes a level from the header before it changes what an earlier attempt wrote."""
        return True

    def checks_what_it_keeps(self) -> bool:
        return True

    def compares_checkpoints(self) -> bool:
        return True

    # The driver.

    def is_idle(self) -> bool:
        return self.level == 0 and not self.repairing

    def here(self, partition: Partition) -> Files:
        return self.files[self.home[partition]][partition]

    def expansion(self, partition: Partition, level: int) -> Content:
        """The result of expanding a partition for a level."""
        files = self.here(partition)
        if not self.believes(files, level):
            return Content.LOST
        return Content.WHOLE if level - 1 in files.whole else Content.PARTIAL

    def run(self, level: int, wanted: Set[Partition]) -> None:
        """The first stage of a level."""
        self.level = level
        self.wanted = wanted
        self.sent = Map({p: self.expansion(p, level) for p in Partition})

    @action
    def driver_asks_for_level(self) -> None:
        require(self.is_idle() and self.accepted < self.levels)
        self.run(self.accepted, Set(Partition))

    @action
    def driver_expands_level(self) -> None:
        """A narrow level, whose states came with the reports that were accepted; no partition is needed for it."""
        require(self.is_idle() and self.accepted < self.levels)
        self.run(self.accepted, Set(Partition))
        self.sent = Map({p: Content.PARTIAL if self.deceived else Content.WHOLE for p in Partition})

    @action
    def driver_reads_reports(self) -> None:
        require(self.level > 0 and all(self.reported[p] != Content.NOTHING for p in self.wanted))
        if any(self.reported[p] == Content.LOST for p in self.wanted):
            self.repairing = True
        elif not self.repairing:
            self.accepted += 1
            self.deceived = any(self.reported[p] != Content.WHOLE for p in self.wanted)
        self.end_tasks()

    @action
    def driver_repairs(self) -> None:
        """Asks what every partition has, and has the first level that any of them lacks computed for those that lack
        it.
        """
        require(self.repairing and self.level == 0)
        missing = [
            level for level in range(self.levels)
            if level < self.accepted and any(not self.believes(self.here(p), level + 1) for p in Partition)
        ]
        if len(missing) == 0:
            self.repairing = False
        elif missing[0] == 0:
            for p in Partition:
                if not self.believes(self.here(p), 1):
                    self.files[self.home[p]][p] = self.filled(1)
        else:
            self.run(missing[0], Set({p for p in Partition if not self.believes(self.here(p), missing[0] + 1)}))

    @action
    def driver_saves_checkpoint(self) -> None:
        require(self.is_idle() and self.saved < self.accepted)
        if all(self.believes(self.here(p), self.accepted) for p in Partition):
            self.saved = self.accepted
            self.deceived = any(self.accepted - 1 not in self.here(p).whole for p in Partition)
        else:
            self.repairing = True

    @action
    def states_are_kept(self, partition: Partition) -> None:
        require(self.is_idle() and self.accepted == self.levels and partition not in self.kept)
        files = self.here(partition)
        if self.checks_what_it_keeps() and not self.believes(files, self.levels):
            self.repairing = True
        else:
            self.kept.add(partition)
            self.deceived = not all(level in files.whole for level in range(self.levels))

    # Tasks.

    def written(self, files: Files, level: int, is_whole: bool) -> Files:
        """Files after the merge of a level that begins where the earlier levels end."""
        digests = Set({known for known in files.digests if known < level})
        whole = Set({known for known in files.whole if known < level})
        if is_whole and all(known in whole for known in range(self.levels) if known < level):
            return Files(named=level + 1, digests=digests | {level}, whole=whole | {level})
        return Files(named=level + 1, digests=digests, whole=whole)

    def without(self, files: Files, level: int) -> Files:
        """Files whose header names no level from this one on."""
        return Files(
            named=level,
            digests=Set({known for known in files.digests if known < level}),
            whole=Set({known for known in files.whole if known < level}),
        )

    @action
    def merge(self, partition: Partition) -> None:
        require(partition in self.wanted and self.reported[partition] == Content.NOTHING)
        files = self.here(partition)
        if not self.believes(files, self.level):
            self.reported[partition] = Content.LOST
            return
        complete = all(self.sent[p] == Content.WHOLE for p in Partition)
        after = self.written(files, self.level, complete)
        if self.misses(partition):
            self.reported[partition] = Content.LOST
            if not self.names_partial_levels():
                after = self.without(files, self.level)
        else:
            self.reported[partition] = Content.WHOLE if self.level in after.whole else Content.PARTIAL
        self.files[self.home[partition]][partition] = after

    @action
    def merge_runs_again(self, machine: Machine, partition: Partition, level: Level) -> None:
        """A second attempt, at any time: a stage is run again, Spark speculates, or a task was thought dead."""
        files = self.files[machine][partition]
        require(level > 0 and level < files.named and self.believes(files, level))
        self.files[machine][partition] = self.written(files, level, True)

    @action
    def second_merge_is_killed(self, machine: Machine, partition: Partition, level: Level) -> None:
        files = self.files[machine][partition]
        require(level > 0 and level < files.named and self.believes(files, level))
        after = self.without(files, level)
        self.files[machine][partition] = (
            after if self.marks_first() else Files(named=files.named, digests=files.digests, whole=after.whole)
        )

    @action
    def expansion_runs_again(self, partition: Partition) -> None:
        """What it sent was lost with the machine that kept it; the merges that have yet to run get this."""
        require(self.level > 0)
        self.sent[partition] = self.expansion(partition, self.level)

    # What goes wrong.

    @action
    def files_are_lost(self, machine: Machine, partition: Partition) -> None:
        require(self.files[machine][partition].named > 0)
        self.files[machine][partition] = Files()

    @action
    def partition_moves(self, partition: Partition, machine: Machine) -> None:
        """To another machine, with whatever files are there."""
        require(self.home[partition] != machine)
        self.home[partition] = machine

    @action
    def driver_is_resumed(self, is_torn: bool) -> None:
        """From the newest checkpoint, or from the one before it when that is torn."""
        require(not is_torn or self.saved > 1)
        levels = self.saved
        self.saved = levels - 1 if is_torn and self.compares_checkpoints() else levels
        self.begin(self.saved)
        if is_torn and not self.compares_checkpoints():
            for p in Partition:
                self.files[self.home[p]][p].whole.discard(levels - 1)

    @invariant
    def nothing_is_missing(self) -> bool:
        """What the driver accepts and gives its user is whole, whatever was lost."""
        return not self.deceived

    @reachable
    def completes_after_losses(self) -> bool:
        """A search can complete although one of its partitions has outdated files elsewhere."""
        return len(self.kept) == self.partitions and any(
            0 < self.files[m][p].named < self.levels for m in Machine for p in Partition
        )
