"""Known-bad designs of AsyncIsr."""

from __future__ import annotations

from floodmark import Set
from specs.examples.async_isr import AsyncIsr, Message, Replica


class AssumesPresentIsr(AsyncIsr):
    """The leader counts on only the ISR that it knows, while the controller may have written one it asked for.

    KIP-497, "Proposed Changes": until it learns the outcome, the leader assumes the larger set.
    """

    def assumed_isr(self) -> Set[Replica]:
        return self.leader_isr


class TakesStaleUpdates(AsyncIsr):
    """The leader goes back to an ISR that the controller has replaced.

    KIP-497, "Proposed Changes": an update counts if its version is newer than the leader's.
    """

    def is_news(self, update: Message) -> bool:
        return update.version != self.leader_version
