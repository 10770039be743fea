"""Known-bad designs of KIP-497 while brokers are upgraded."""

from __future__ import annotations

from floodmark import require
from model.alter_isr.core import Broker
from model.alter_isr.upgrade import MixedVersions


class StopsWatching(MixedVersions):
    """KIP-497 as written: a controller that is upgraded watches no more, although a leader that is not yet writes
    itself. The controller and all other brokers keep an old state for as long as nothing else happens.
    """

    def watches(self) -> bool:
        return False


class WritesAnyVersion(MixedVersions):
    """An old leader writes whatever the version is, and overwrites the election that has ended its leadership."""

    def may_write(self) -> bool:
        return True


class DecidesFromMemory(MixedVersions):
    """The controller trusts that nobody else writes, and decides from what it remembers (KIP-497, "Motivation": the
    exclusive ability to update the state). It brings a replica back into the ISR that the leader has removed.
    """

    def evict(self, broker: Broker) -> None:
        if broker in self.cached.isr:
            require(self.may_change())
            self.change(self.cached.replace(isr=self.cached.isr - {broker}))
