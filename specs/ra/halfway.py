"""The rules of flawed.py, where a search begins halfway."""

from __future__ import annotations

from model.ra.halfway import DeposedLeader, ReplacedChange, ReplacedEntry
from specs.ra.flawed import (
    AppliesUnvalidatedEntries,
    ConfirmsAnyWrittenEvent,
    CountsOtherEntries,
    KeepsLastWritten,
    TakesLowerCommit,
)


class AppliesReplacedEntry(AppliesUnvalidatedEntries, ReplacedEntry):
    """A follower that has all the entries that arrive applies what follows them in its log, and confirms it (#508)."""


class ConfirmsReplacement(ConfirmsAnyWrittenEvent, CountsOtherEntries, DeposedLeader):
    """A late event about a write that was replaced makes a follower confirm what took its place (#516). Its leader does
    not notice, as it does not compare terms."""


class KeepsReplacedWritten(KeepsLastWritten, CountsOtherEntries, DeposedLeader):
    """What was on disk stays "written" when other entries replace it (#637). The leader does not notice, as it does not
    compare terms."""


class ForgetsCluster(ReplacedChange):
    """A follower that takes a change of the cluster does not keep what was before it, and fails if it has to go back
    there (#600)."""

    def remembers_cluster(self) -> bool:
        return False


class CommitIndexGoesBack(TakesLowerCommit, ReplacedChange):
    """A follower takes over the commit index of a leader that has not committed anything yet (2.2.0 to 3.1.10)."""


class CountsDeposedLeadersEntry(CountsOtherEntries, ReplacedEntry):
    """A leader counts what a follower has written, whatever the term of the last entry is (2.2.0 to 3.1.10)."""


class CountsLateEntry(CountsOtherEntries, ReplacedChange):
    """The same; here the leader commits an entry that is on one disk."""
