"""What a follower learns of its leader's resignation. Begin with quorum.py."""

from __future__ import annotations

from floodmark import leads_to
from model.kraft.purgatory import ResigningLeader


@leads_to
def follower_learns_of_resignation(model: ResigningLeader) -> tuple[bool, bool]:
    """The follower need not wait for a record to hear that its leader has resigned (KAFKA-10677)."""
    return model.resigned, model.follower_knows
