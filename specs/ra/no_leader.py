"""The rule of #439 in a cluster of which one server stops."""

from __future__ import annotations

from model.ra.one_stops import TwoLeft
from specs.ra.flawed import CandidateIgnoresPreVotes


class NobodyAnswers(CandidateIgnoresPreVotes, TwoLeft):
    """A candidate does not answer a pre-vote of its own term (#439, repaired with #442)."""
