"""Known-bad designs of the controller on ZooKeeper, and what they cost: records that were committed.

Some are mistakes of flawed.py, made where there are records; the others are about records alone.
"""

from __future__ import annotations

from model.zk_controller.controller import Broker, LeaderAndIsr, Partition, Phase, ZkController
from model.zk_controller.logs import ReplicatedLogs
from specs.zk_controller.flawed import (
    AdoptsNewestEpoch,
    ControllerWritesUnconditionally,
    FillsIsr,
    FollowsAnybody,
    LeaderWritesUnconditionally,
    PrefersFirstReplica,
    PublishesBeforeWrite,
    ReplaysQueue,
    WritesAfterReplacement,
)


class CommitsUnanswered(ReplicatedLogs):
    """A leader commits while it does not know whether the broker that it asked to add is in the ISR."""

    def may_commit(self, broker: Broker, partition: Partition) -> bool:
        return True


class GoesOnWhenRefused(ReplicatedLogs):
    """A leader whose write was refused, and that finds another leader, continues with the ISR that it knew.

    Its first attempt had been written. The broker that it had asked to add was elected, and is not counted.
    """

    def refresh(self, broker: Broker, partition: Partition) -> None:
        ZkController.refresh(self, broker, partition)


class JoinsBeforeCaughtUp(ReplicatedLogs):
    """A follower joins the ISR when it fetches, whatever it lacks."""

    def may_join(self, broker: Broker, member: Broker, partition: Partition) -> bool:
        return ZkController.may_join(self, broker, member, partition)


class LosesWhatLeaderCommitted(ControllerWritesUnconditionally, ReplicatedLogs):
    """E-M1 again: the leader has removed a broker and committed without it, and the controller, which had read the ISR
    before, elects that broker.
    """


class OverwritesElection(LeaderWritesUnconditionally, ReplicatedLogs):
    """E-M2 again: a leader that was replaced writes an ISR of its own, and commits by it."""


class WritesWhenReplaced(WritesAfterReplacement, ReplicatedLogs):
    """E-M3 again, which costs no records: the version of the znode orders the writes."""


class AdoptsEpoch(AdoptsNewestEpoch, ReplicatedLogs):
    """E-M4 again, which costs no records: the version of the znode orders the writes."""


class FollowsReplacedController(ReplicatedLogs):
    """E-M5 again: what a replaced controller publishes is followed, however old it is (KAFKA-1188).

    A leader goes back to an ISR without the broker that it has added since.
    """

    def is_news(self, broker: Broker, partition: Partition, decision: LeaderAndIsr) -> bool:
        return super().is_news(broker, partition, decision) or any(
            self.controllers[other].epoch < self.controller_epoch
            and self.controllers[other].phase == Phase.PUBLISHING
            and self.controllers[other].decisions[partition] == decision
            for other in Broker
        )


class GoesBackToAnEarlierIsr(FollowsAnybody, ReplicatedLogs):
    """A broker follows any decision that it does not follow, also one from before its own change of the ISR.

    Draft, section D: "can ignore decisions that it has followed already".
    """


class ReplaysQueuedLeaders(ReplaysQueue, ReplicatedLogs):
    """E-M10 again: a broker that comes back follows what its queue still has."""


class CommitsBeforeWrite(PublishesBeforeWrite, ReplicatedLogs):
    """E-M11 again: a leader acts on a decision that is not written yet, and commits by its ISR."""


class ElectsOutsideIsr(PrefersFirstReplica, ReplicatedLogs):
    """E-M17 again: any live replica may lead, although a member of the ISR is live."""


class FillsIsrWithoutRecords(FillsIsr, ReplicatedLogs):
    """E-M18 again: the new ISR is every live replica, also one that lacks what was committed."""
