"""Designs of KIP-497 with failover whose first leader does what the leader of core.py does not do."""

from __future__ import annotations

from floodmark import Set
from model.alter_isr.failover import Broker, LeaderEpoch
from model.alter_isr.one_leader import FirstLeadership


class CountsProposedIsr(FirstLeadership):
    """A-M1: the high watermark follows the ISR that was asked for while a shrink is pending."""

    def maximal_isr(self, leader: Broker) -> Set[Broker]:
        pending = self.replicas[leader].pending
        return pending if len(pending) > 0 else self.known(leader).isr


class AcceptsOlderRequest(FirstLeadership):
    """A-M4: the controller does not compare partition epochs."""

    def request_is_current(self, leader: Broker) -> bool:
        return self.current().leader == leader and self.known(leader).leader_epoch == self.current().leader_epoch


class ShrinkBeginsLeaderEpoch(FirstLeadership):
    """Kafka before 3.6: the controller's shrink begins a leader epoch under the same leader (KAFKA-15021). Expected:
    core.py counts changes of the leader.
    """

    def leader_epoch_after_shrink(self) -> LeaderEpoch:
        return self.current().leader_epoch + 1
