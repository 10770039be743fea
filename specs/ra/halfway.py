"""The rules of flawed.py, where a search begins halfway."""

from __future__ import annotations

from model.ra.halfway import DeposedLeader, ReplacedEntry
from specs.ra.flawed import AppliesUnvalidatedEntries, ConfirmsAnyWrittenEvent, KeepsLastWritten


class AppliesReplacedEntry(AppliesUnvalidatedEntries, ReplacedEntry):
    """A follower that has all the entries that arrive applies what follows them in its log, and confirms it (#508)."""


class ConfirmsReplacement(ConfirmsAnyWrittenEvent, DeposedLeader):
    """A late event about a write that was replaced makes a follower confirm what took its place (#516)."""


class KeepsReplacedWritten(KeepsLastWritten, DeposedLeader):
    """What was on disk stays "written" when other entries replace it (#637)."""
