"""Known-bad designs of the per-partition protocol, including the text of the earlier KIP-236."""

from __future__ import annotations

from floodmark import Set
from model.reassignment.replicas import Broker, Partition
from model.reassignment.requests import Request, RequestedReassignment


class DropsOneMore(RequestedReassignment):
    """C-M6: ``existing[0:top-1]`` as Python reads it keeps one replica too few, and of a single one none.

    The earlier KIP-236: with top at least min.insync.replicas, producers are not blocked. They are.
    """

    def kept_count(self, top: int) -> int:
        return max(0, top - 1)


class DropsLeader(DropsOneMore):
    """C-M6 again: "since top > 0 it is impossible to drop the leader" is false if the slice is read this way."""


class DropsTarget(RequestedReassignment):
    """C-M7: the drop set as written includes replicas of the new target that are out of sync, which are then copied
    again.
    """

    def spared(self, partition: Partition) -> Set[Broker]:
        return Set[Broker]()


class DropsUntold(RequestedReassignment):
    """The leader learns of the dropped replicas only in the next step, and may have added one again by then."""

    def told_of_drop(self, partition: Partition, dropped: Set[Broker]) -> Set[Broker]:
        return self.replication[partition].known


class DropsWhileOffline(RequestedReassignment):
    """As written, nobody checks for a live leader; a dead one keeps its place, and a live replica is dropped."""

    def may_begin(self, partition: Partition) -> bool:
        return True


class AdmitsBothRoutes(RequestedReassignment):
    """A request of one route changes what the other has started, which the check of step 2 is there to prevent."""

    def is_refused(self, request: Request) -> bool:
        return False


class CreatesBelowMinIsr(RequestedReassignment):
    """Nobody compares ``top`` with min.insync.replicas when a reassignment is created."""

    def has_enough_replicas(self, request: Request) -> bool:
        return True


class ForgetsDropSet(RequestedReassignment):
    """The dropped replicas are unassigned before they are stopped, and after a crash nobody knows which they are."""

    def drop_1_offline(self, partition: Partition) -> None:
        super().drop_1_offline(partition)
        self.assigned[partition] = self.assigned[partition] - self.dropped[partition]


class DropsLaterLegacy(RequestedReassignment):
    """The old znode is emptied whatever it asks for: after a crash that can be something another client has written
    since.

    The earlier KIP-236 does not say when it is emptied.
    """

    def is_legacy_done(self, partition: Partition) -> bool:
        return True


class ChangesMemoryOnly(RequestedReassignment):
    """A request for a partition that is in flight leaves its znode unchanged, and a new controller continues with that.

    The earlier KIP-236: the controller "creates or updates" /admin/reassignments/$topic/$partition.
    """

    def request_1_is_taken(self) -> None:
        in_flight = self.pending
        super().request_1_is_taken()
        for partition in Partition:
            if in_flight[partition] is not None:
                self.pending[partition] = in_flight[partition]


class RefusesChanges(RequestedReassignment):
    """A request for a partition that is in flight is refused, whatever its route.

    The earlier KIP-236: "to cancel" is to change a reassignment to the old replicas.
    """

    def is_refused(self, request: Request) -> bool:
        return self.is_pending(request.partition)


class LeavesLegacy(RequestedReassignment):
    """The entry of an old client stays when it is reached, and is requested again.

    The earlier KIP-236 does not say who empties the old znode.
    """

    def is_legacy_done(self, partition: Partition) -> bool:
        return False


class CountsAnew(RequestedReassignment):
    """A change counts the replicas again, including those that the earlier request added, and drops fewer of them."""

    def request_1_is_taken(self) -> None:
        super().request_1_is_taken()
        self.top[self.requests[0].partition] = self.assigned[self.requests[0].partition]


class AssignsDropped(RequestedReassignment):
    """Dropped replicas stay assigned, so the forward steps give them to their brokers again."""

    def drop_3_persisted(self, partition: Partition) -> None:
        self.dropped[partition] = Set()
        super().drop_3_persisted(partition)
