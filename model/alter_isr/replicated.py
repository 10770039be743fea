"""KIP-497 with failover, and which records are committed, said without asking any leader.

failover.py (begin with core.py) calls a record committed once a leader has exposed it below its high watermark. That is
what clients see, but it is what a leader computed: if that is too little, nothing is missed. Here a record is committed
once every member of the controller's ISR has it, each of them in the current leader epoch, as in a textbook; that no
leader has noticed yet makes no difference.

In Kafka such a record need not stay so. A follower joins the ISR with everything below the leader's high watermark, and
a record above it, on every other member, is not committed any more. No producer or consumer was told that it was.
"""

from __future__ import annotations

from floodmark import Seq, Set, action, initial, rule
from model.alter_isr.failover import AlterIsrFailover, Broker, LeaderEpoch, Log, PartitionEpoch


class ReplicatedRecords(AlterIsrFailover):
    """The protocol is the same; ``replicated`` is a history."""

    replicated: Log
    """History: the records that every member of the ISR has had, in the current leader epoch, since the last one joined
    that lacked them.
    """

    @initial
    def start(self) -> None:
        super().start()
        self.replicated = Seq()

    def shared(self) -> Log:
        """The longest beginning that the logs of all members of the controller's ISR have."""
        isr = self.current().isr
        shared: Log = Seq()
        for broker in isr:
            log = self.replicas[broker].log
            for end in range(1, len(log) + 1):
                if self.have(isr, log[:end]):
                    shared = log[:end]
        return shared

    def have(self, brokers: Set[Broker], records: Log) -> bool:
        """Whether the logs of all these brokers begin with the records."""
        return all(self.replicas[broker].log[: len(records)] == records for broker in brokers)

    @rule
    def is_settled(self) -> bool:
        """Every member of the ISR is in the current leader epoch. One that is not may follow an earlier leader, which
        lacks what the others have, and truncates.
        """
        current = self.current()
        return all(self.known(broker).leader_epoch == current.leader_epoch for broker in current.isr)

    def observe(self) -> None:
        """Takes down what the ISR has now."""
        shared = self.shared()
        if self.is_settled() and len(shared) > len(self.replicated):
            self.replicated = shared

    @rule
    def replicated_with(self, joining: Broker) -> Log:
        """What is still replicated when this broker joins the ISR."""
        kept: Log = Seq()
        for end in range(1, len(self.replicated) + 1):
            if self.have(Set({joining}), self.replicated[:end]):
                kept = self.replicated[:end]
        return kept

    def decide(self, leader: Broker | None, leader_epoch: LeaderEpoch, isr: Set[Broker]) -> None:
        before = self.current().isr
        super().decide(leader, leader_epoch, isr)
        for broker in Broker:
            if broker in isr - before:
                self.replicated = self.replicated_with(broker)
        self.observe()

    def learn(self, broker: Broker, partition_epoch: PartitionEpoch) -> None:
        super().learn(broker, partition_epoch)
        self.observe()

    @action
    def leader_appends(self, leader: Broker) -> None:
        super().leader_appends(leader)
        self.observe()

    @action
    def follower_fetches(self, follower: Broker, leader: Broker) -> None:
        super().follower_fetches(follower, leader)
        self.observe()
