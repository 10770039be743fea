"""Known-bad designs of KIP-236 with replicas in order."""

from __future__ import annotations

from floodmark import Seq, action
from model.reassignment.kip236 import Step
from model.reassignment.order import OrderedReassignment
from model.reassignment.replicas import Broker, Partition
from model.replica_sets import without


class RecordsMembers(OrderedReassignment):
    """C-M24: the original replicas are recorded as a set, as the set differences of KIP-236 suggest.

    A rollback writes its members in the order of their numbers.
    """

    def original_list(self, partition: Partition) -> Seq[Broker]:
        return Seq(self.assigned[partition])


class TakesAddedOffList(OrderedReassignment):
    """C-M24 again: a rollback takes the added replicas off the list in ZooKeeper, which has the target first, as in
    KIP-455.
    """

    def list_of_original(self, partition: Partition) -> Seq[Broker]:
        return without(self.order[partition], self.leaving(partition))


class DropsOrderAlone(OrderedReassignment):
    """C-M25: a reassignment to the replicas that there are is taken for done, whatever their order."""

    @action
    def controller_begins(self, partition: Partition) -> None:
        super().controller_begins(partition)
        if self.target_of(partition) == self.assigned[partition]:
            self.step[partition] = Step.DROP_ENTRY
            self.unspread.add(partition)


class RebalancesWhilePending(OrderedReassignment):
    """C-M26: the preferred leader is elected by the list in ZooKeeper at any time.

    While a reassignment is pending, its target comes first there.
    """

    def is_rebalanced(self, partition: Partition) -> bool:
        return True
