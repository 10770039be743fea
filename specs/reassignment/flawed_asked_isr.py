"""Known-bad designs of KIP-236 with KIP-497."""

from __future__ import annotations

from floodmark import Set
from model.reassignment.asked_isr import AskedIsr
from model.reassignment.replicas import Broker, Partition


class AssumesHeldIsr(AskedIsr):
    """The leader commits by the ISR that it was told of, while another member may have been added."""

    def assumed(self, partition: Partition) -> Set[Broker]:
        return self.held[partition]


class AssumesAskedIsr(AskedIsr):
    """The leader commits by the ISR that it has asked for, although it may be refused."""

    def assumed(self, partition: Partition) -> Set[Broker]:
        asked = self.asked[partition]
        return self.held[partition] if asked is None else asked


class AcceptsLateRequests(AskedIsr):
    """C-M35: the controller's own writes take no version, so a request from before them is accepted after them.

    A rollback has removed a replica, and the request that was pending meanwhile adds it to the ISR again.
    """

    def is_of_this_version(self) -> bool:
        return True
