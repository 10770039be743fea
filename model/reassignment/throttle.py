"""KIP-236 with throttles as Kafka keeps them: two lists of a topic, and a rate of each broker (KIP-73).

The topic's ``leader.replication.throttled.replicas`` names the replicas that a move copies from, its
``follower.replication.throttled.replicas`` those that it copies to; both are in one znode. Each broker that takes part
has a rate. A replica is slowed down if a list names it and its broker has a rate, whether or not anything is pending:
what is left behind slows down a replica that has to catch up later. All partitions are of one topic, and each batch is
submitted with a throttle; kip236.py, where to begin, has only whether a partition has one.

A tool sets lists and rates before it submits. KIP-236, "Reassignment Cancellation": those of cancelled partitions are
removed with the cancellation, those of completed ones by ``--verify``. The lists and the rates are different znodes, so
a crash can come in between; and both are shared, by partitions of the topic and by whatever a broker takes part in.
"""

from __future__ import annotations

from floodmark import Constant, Map, Set, action, initial, require, rule
from model.reassignment.kip236 import Reassignment, Step
from model.reassignment.replicas import Broker, Partition


class ThrottledReassignment(Reassignment):
    """KIP-236 with lists and rates. ``throttled`` are the partitions for which there is still something to remove."""

    throttles = Constant(True)

    leaders: Map[Partition, Set[Broker]]
    """``leader.replication.throttled.replicas``."""
    followers: Map[Partition, Set[Broker]]
    """``follower.replication.throttled.replicas``."""
    rates: Set[Broker] = Set()
    """The brokers with rates, ``leader.replication.throttled.rate`` and ``follower.replication.throttled.rate``."""
    batch: Set[Partition] = Set()
    """The partitions in the operator's file, which ``--verify`` reads."""

    @initial
    def start(self) -> None:
        super().start()
        none = Set[Broker]()
        self.leaders = Map({partition: none for partition in Partition})
        self.followers = Map({partition: none for partition in Partition})

    @action
    def client_submits(self, batch: Set[Partition], target: Set[Broker], throttle: bool, knows_original: bool) -> None:
        """Replicas are added, with a throttle: the lists of the topic are set, and the rates of all brokers that take
        part.

        ``ReassignPartitionsCommand.executeAssignment``.
        """
        require(throttle and not any(target <= self.assigned[partition] for partition in batch))
        super().client_submits(batch, target, throttle, knows_original)
        for partition in batch:
            self.leaders[partition] = self.assigned[partition]
            self.followers[partition] = target - self.assigned[partition]
            self.rates |= self.assigned[partition] | target
        self.batch = batch

    def is_listed(self, partition: Partition) -> bool:
        return len(self.leaders[partition] | self.followers[partition]) > 0

    def listed(self) -> Set[Broker]:
        """The brokers with a replica in one of the lists: those whose rate is still needed."""
        return Set(
            broker for broker in Broker for partition in Partition
            if broker in self.leaders[partition] | self.followers[partition]
        )

    @rule
    def taken_off_lists(self, partition: Partition) -> Set[Partition]:
        """The partitions whose entries go when this one's do; the topic's others keep theirs."""
        return Set({partition})

    def take_off_lists(self, partition: Partition) -> None:
        """One write of the topic's configuration."""
        for other in self.taken_off_lists(partition):
            self.leaders[other] = Set()
            self.followers[other] = Set()

    @rule
    def spared(self) -> Set[Broker]:
        """The brokers that keep their rates: those with a replica in a list, whichever tool put it there."""
        return self.listed()

    def end_throttle(self, partition: Partition) -> None:
        """Removes the rates that are no longer needed. Until then it is not forgotten that there is something to
        remove."""
        self.rates &= self.spared()
        self.throttled.discard(partition)

    # The controller, when it has cancelled.

    @action
    def cancelled_is_unthrottled(self, partition: Partition) -> None:
        """The lists first, and the rates after them, before the entry is dropped."""
        require(self.step[partition] == Step.UNTHROTTLE)
        if self.is_listed(partition):
            self.take_off_lists(partition)
        else:
            self.end_throttle(partition)
            self.step[partition] = Step.DROP_CANCELLED

    # The tool, when it verifies.

    @rule
    def is_over(self, partition: Partition) -> bool:
        """Whether ``--verify`` removes this partition's throttle: it is not pending, however it ended."""
        return not self.is_pending(partition)

    @action
    def client_verifies(self, partition: Partition) -> None:
        """Each partition separately; the tool may be run again if it did not finish.

        ``ReassignPartitionsCommand.removeThrottle``.
        """
        require(partition in self.throttled & self.batch and self.is_over(partition))
        if self.is_listed(partition):
            self.take_off_lists(partition)
        else:
            self.end_throttle(partition)
