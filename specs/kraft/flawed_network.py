"""Known-bad designs of KIP-595 that only a late message reveals."""

from __future__ import annotations

from model.kraft.network import KraftNetwork
from model.kraft.quorum import Kind, Message, Replica, Role


class CountsLateVotes(KraftNetwork):
    """A candidate counts votes from its earlier elections."""

    def vote_counts(self, response: Message) -> bool:
        return self.role[response.destination] == Role.CANDIDATE


class AppliesRecordsAgain(KraftNetwork):
    """A follower accepts every response to a fetch of its epoch, even if that fetch had been answered before.

    A late response of an earlier epoch does no harm if it continues the log: the next fetch finds the divergence.
    """

    def answers_current_fetch(self, response: Message) -> bool:
        follower = response.destination
        return self.role[follower] == Role.FOLLOWER and response.epoch == self.quorum_state[follower].epoch


class AsksBeforeItStores(KraftNetwork):
    """A candidate asks for votes of an epoch before it has stored that epoch and its own vote."""

    def request(self, kind: Kind, source: Replica, destination: Replica) -> Message:
        request = super().request(kind, source, destination)
        asks = kind == Kind.VOTE and request.epoch < self.max_epoch
        return request.replace(epoch=request.epoch + 1) if asks else request
