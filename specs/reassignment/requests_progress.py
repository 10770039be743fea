"""What must come of a reassignment by the earlier KIP-236 although controllers fail: it is completed."""

from __future__ import annotations

from floodmark import Set, action, leads_to, require
from model.reassignment.continuing import ContinuingController
from model.reassignment.kip236 import Step
from model.reassignment.replicas import Broker, Partition
from model.reassignment.requests import Drop, RequestedReassignment


class WaitsThroughFailovers(ContinuingController, RequestedReassignment):
    """Nothing fails but controllers, and these while they wait for the target, however often."""

    @action
    def controller_fails_over(self) -> None:
        require(all(self.step[partition] == Step.WAITING for partition in Partition))
        super().controller_fails_over()

    def has_begun(self, partition: Partition) -> bool:
        return super().has_begun(partition) or self.drop[partition] != Drop.NOTHING

    def continues(self, partition: Partition) -> None:
        drop = self.drop[partition]
        if drop == Drop.NOTHING and self.step[partition] == Step.DROP_LEGACY:
            self.step_10_drops_legacy(partition)
        elif drop == Drop.NOTHING:
            super().continues(partition)
        elif drop == Drop.REFUSED:
            self.refused_request_is_deleted(partition)
        elif drop == Drop.DELETE_REQUEST:
            self.request_2_is_deleted(partition)
        elif drop == Drop.OFFLINE:
            self.drop_1_offline(partition)
        elif drop == Drop.DELETE:
            self.drop_2_deleted(partition)
        else:
            self.drop_3_persisted(partition)

    @action
    def leader_commits(self, partition: Partition) -> None:
        require(False)

    @action
    def follower_leaves_isr(self, partition: Partition, follower: Broker) -> None:
        require(False)


class DropsTarget(WaitsThroughFailovers):
    """C-M7: the drop set as written includes replicas of the new target that are out of sync. Each new controller drops
    them, and one that takes longer to catch up than controllers live never does.
    """

    def spared(self, partition: Partition) -> Set[Broker]:
        return Set[Broker]()


class LeavesRefusedRequests(WaitsThroughFailovers):
    """The znode of a request that is refused stays, and is the first one again."""

    @action
    def refused_request_is_deleted(self, partition: Partition) -> None:
        require(self.drop[partition] == Drop.REFUSED)
        self.drop[partition] = Drop.NOTHING


class LeavesOldEntry(WaitsThroughFailovers):
    """An old client's entry stays until the client removes it, and becomes a request again."""

    def is_legacy_done(self, partition: Partition) -> bool:
        return False


@leads_to
def reassignment_is_completed(model: WaitsThroughFailovers, partition: Partition) -> tuple[bool, bool]:
    """A reassignment whose brokers are all alive completes eventually (KIP-236, "On controller failover")."""
    return model.is_pending(partition), not model.is_pending(partition)


@leads_to
def requests_go(model: WaitsThroughFailovers) -> tuple[bool, bool]:
    """Each request is taken or refused, and its znode deleted ("The new znode protocol")."""
    return len(model.requests) > 0, len(model.requests) == 0


@leads_to
def old_entry_goes(model: WaitsThroughFailovers, partition: Partition) -> tuple[bool, bool]:
    """What an old client asked for leaves ``/admin/reassign_partitions`` (the legacy znode protocol)."""
    return model.legacy_znode[partition] is not None, model.legacy_znode[partition] is None
