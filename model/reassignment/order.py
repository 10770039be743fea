"""KIP-236 with replicas in order: the first of a partition's replicas is its preferred leader.

Everywhere else a target is a set. Here the assigned replicas, and an entry's ``replicas`` and ``original_replicas``,
are lists, as in ZooKeeper; kip236.py, where to begin, has the steps. KIP-236, "Public Interfaces", has the example
(1,2,3) => (2,3,1): nothing is added or removed, and only the preferred leader changes. Two things that sets cannot say:

* while a reassignment is pending, the list in ZooKeeper has the target first, and then the rest. Nobody has asked for
  that order, so the preferred leader is elected only when nothing is pending (``is_rebalanced``);
* a rollback restores the list that was recorded (``list_of_original``). What remains of the list in ZooKeeper when the
  added replicas are taken off is another one. KIP-455 records nothing, and so does not restore the order.

An operator asks for any preferred leader; the other replicas follow in the order of their numbers.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Capacity, Map, Seq, Set, action, initial, require, rule
from model.reassignment.kip236 import Reassignment
from model.reassignment.kip455 import listed
from model.reassignment.replicas import Broker, Partition
from model.replica_sets import followed_by

Replicas = Annotated[Seq[Broker], Capacity("brokers")]


class OrderedReassignment(Reassignment):
    """KIP-236 with lists. ``assigned``, and the sets of an entry, are the members of these."""

    order: Map[Partition, Replicas]
    """The assigned replicas, as ZooKeeper has them."""
    wanted: Map[Partition, Replicas]
    """``replicas`` of the pending entry; empty without one."""
    recorded: Map[Partition, Replicas]
    """``original_replicas`` of the pending entry; empty without one."""
    former: Map[Partition, Replicas]
    """The list before the last reassignment, whatever was recorded of it."""

    @initial
    def start(self) -> None:
        """The first replica is not the preferred leader, so that a list differs from its members in order."""
        super().start()
        replicas = Seq(self.first_brokers(self.replication_factor))
        none = Seq[Broker]()
        self.order = Map({partition: self.turned(replicas) for partition in Partition})
        self.wanted = Map({partition: none for partition in Partition})
        self.recorded = Map({partition: none for partition in Partition})
        self.former = Map({partition: none for partition in Partition})

    def turned(self, replicas: Seq[Broker]) -> Seq[Broker]:
        """The second replica becomes the preferred leader."""
        return followed_by(replicas[1:], replicas)

    # The operator.

    @action
    def client_submits(self, batch: Set[Partition], target: Set[Broker], throttle: bool, knows_original: bool) -> None:
        """Nobody submits a set: ``client_submits_list``."""
        require(False)

    @rule
    def original_list(self, partition: Partition) -> Seq[Broker]:
        """What is recorded as the original replicas: the list in ZooKeeper."""
        return self.order[partition]

    @action
    def client_submits_list(self, batch: Set[Partition], preferred: Broker, others: Set[Broker]) -> None:
        """Submits a batch with the same list for each partition, perhaps its own members in another order.

        ``ReassignPartitionsCommand.executeAssignment``.
        """
        require(preferred not in others)
        super().client_submits(batch, others | {preferred}, False, True)
        for partition in batch:
            self.wanted[partition] = listed(preferred, others)
            self.recorded[partition] = self.original_list(partition)
            self.former[partition] = self.order[partition]

    # The controller.

    @rule
    def is_rebalanced(self, partition: Partition) -> bool:
        """Whether the preferred leader is elected: not while the order is that of a pending reassignment."""
        return not self.is_pending(partition)

    @action
    def controller_elects_preferred(self, partition: Partition) -> None:
        """The first replica leads, if it can without loss, as Kafka sees to every few minutes
        (``auto.leader.rebalance.enable``).

        ``KafkaController.checkAndTriggerAutoLeaderRebalance``.
        """
        require(self.is_free() and self.is_rebalanced(partition))
        preferred = self.order[partition][0]
        require(preferred in self.electable(partition, self.memory[partition]))
        require(self.replication[partition].leader != preferred)
        self.replication[partition].leader = preferred
        self.tell_leader(partition, self.memory[partition])

    @rule
    def list_of_both(self, partition: Partition) -> Seq[Broker]:
        """The target first, as in Kafka before KIP-455, and with it."""
        return followed_by(self.wanted[partition], self.order[partition])

    @action
    def step_1_persists_both(self, partition: Partition) -> None:
        super().step_1_persists_both(partition)
        self.order[partition] = self.list_of_both(partition)

    @action
    def step_10_persists_target(self, partition: Partition) -> None:
        super().step_10_persists_target(partition)
        self.order[partition] = self.wanted[partition]

    @rule
    def list_of_original(self, partition: Partition) -> Seq[Broker]:
        """The list that a rollback writes: the one that was recorded."""
        return self.recorded[partition]

    @action
    def cancel_5_persists_original(self, partition: Partition) -> None:
        super().cancel_5_persists_original(partition)
        self.order[partition] = self.list_of_original(partition)

    def drop_entry(self, partition: Partition) -> None:
        super().drop_entry(partition)
        for each in Partition:
            if not self.is_pending(each):
                self.wanted[each] = Seq()
                self.recorded[each] = Seq()
