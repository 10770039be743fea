"""Known-bad designs of KIP-595 that take a late message to show."""

from __future__ import annotations

from model.kraft import Message, Role
from model.kraft_network import KraftNetwork


class CountsLateVotes(KraftNetwork):
    """A candidate counts votes of its earlier elections."""

    def vote_counts(self, response: Message) -> bool:
        return self.role[response.destination] == Role.CANDIDATE


class AppliesRecordsAgain(KraftNetwork):
    """A follower takes every response to a fetch of its epoch, even to one that had been answered before.

    A late response of an earlier epoch does no harm if it continues the log: the next fetch finds the divergence.
    """

    def answers_current_fetch(self, response: Message) -> bool:
        follower = response.destination
        return self.role[follower] == Role.FOLLOWER and response.epoch == self.quorum_state[follower].epoch
