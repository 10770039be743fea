"""KIP-595: a leader that resigns answers the fetches that it has parked.

Until it does, its followers wait for records that will not come, instead of electing its successor; a fetch that times
out here does so never, as in high_watermark.py, of which this is the continuation. quorum.py is where to begin.
"""

from __future__ import annotations

from floodmark import action, require, rule
from model.kraft.high_watermark import HighWatermark


class ResigningLeader(HighWatermark):
    """One leader that may resign, and one follower, which learns of it in the response to a fetch."""

    resigned: bool = False
    follower_knows: bool = False

    @rule
    def completes_parked(self) -> bool:
        """The parked fetch is answered with NOT_LEADER_OR_FOLLOWER (KAFKA-10677)."""
        return True

    @action
    def leader_resigns(self) -> None:
        """``QuorumState.transitionToResigned``."""
        require(not self.resigned)
        self.resigned = True
        if self.parked is not None and self.completes_parked():
            self.refuse()

    def refuse(self) -> None:
        self.parked = None
        self.follower_knows = True

    @action
    def client_writes(self) -> None:
        require(not self.resigned)
        super().client_writes()

    @action
    def follower_fetches(self) -> None:
        require(not self.follower_knows)
        super().follower_fetches()
        if self.resigned:
            self.refuse()

    @action
    def leader_answers(self) -> None:
        require(not self.resigned)
        super().leader_answers()
