"""Known-bad designs of the controller on ZooKeeper, each one rule away from a good one.

"Draft" is the third draft of the design, which leaves some of these open or has them in its text. The numbers are those
of docs/properties.md, which says what each mistake breaks; E-M20 to E-M23 and E-M5 are in flawed_topics.py. E-M15 is
left out (leaders are announced before the live brokers are, KAFKA-4443): it is about a message that the draft does not
have, since its brokers read in ZooKeeper which brokers are live.
"""

from __future__ import annotations

from floodmark import Map, Set, action, require
from model.zk_controller.alternatives import (
    FailingReplicas,
    SubscribesLast,
    Transactions,
    UncleanElections,
    WatchesFollowers,
    WelcomesBrokers,
)
from model.zk_controller.controller import Broker, LeaderAndIsr, Partition, Phase, Stage, Watch, ZkController


class ControllerWritesUnconditionally(ZkController):
    """E-M1: the controller writes whatever the version is (draft, step 4; "ideally ... conditionally").

    The leader shrinks the ISR after the controller has read it, and the controller elects a broker that was removed.
    """

    def is_outdated(self, broker: Broker, partition: Partition) -> bool:
        return False


class LeaderWritesUnconditionally(ZkController):
    """E-M2: a leader that does not know of an election yet overwrites it (draft, step 2.1.2, "critical")."""

    def leader_may_write(self, broker: Broker, partition: Partition) -> bool:
        return True


class WritesAfterReplacement(ZkController):
    """E-M3: a controller that has lost its session keeps writing (KAFKA-6082)."""

    def is_replaced(self, broker: Broker) -> bool:
        return False


class AdoptsNewestEpoch(ZkController):
    """E-M4: a controller that was paused reads its successor's epoch and uses it as its own (KAFKA-1096)."""

    def on_broker_change(self, broker: Broker) -> None:
        super().on_broker_change(broker)
        self.controllers[broker].epoch = self.controller_epoch


class FollowsAnybody(ZkController):
    """A broker follows any decision that it has not followed yet, in any order.

    Draft, section D: "can ignore decisions that it has followed already". A different decision is not thereby a newer
    one.
    """

    def is_news(self, broker: Broker, partition: Partition, decision: LeaderAndIsr) -> bool:
        return decision != self.processes[broker].known[partition]


class ComparesIdsOnly(WelcomesBrokers):
    """E-M6: the controller compares the registered ids, so a broker that went and came back is not a new one.

    It waits forever for a decision (KAFKA-1120, KAFKA-7235, KIP-380).
    """

    def is_newcomer(self, broker: Broker, other: Broker) -> bool:
        return self.seen[broker][other] == 0


class ReadsBrokersWhenWatchFires(ZkController):
    """E-M7: the brokers are read when the watch fires, which is armed again only when they are processed
    (KAFKA-5502).
    """

    seen: Map[Broker, Set[Broker]]

    def start(self) -> None:
        super().start()
        self.seen = Map({broker: Set() for broker in Broker})

    def brokers_changed(self) -> None:
        for broker in Broker:
            if self.controllers[broker].brokers_watch == Watch.ARMED:
                self.seen[broker] = self.ids
        super().brokers_changed()

    def live_brokers(self, broker: Broker) -> Set[Broker]:
        return self.seen[broker] if len(self.seen[broker]) > 0 else self.ids


class ArmsWatchAfterRead(ZkController):
    """E-M8: the controller reads the brokers and arms its watch later; anything in between is missed."""

    def watch_brokers(self, broker: Broker) -> None:
        self.controllers[broker].brokers_watch = Watch.UNARMED

    @action
    def controller_arms_watch(self, broker: Broker) -> None:
        controller = self.controllers[broker]
        require(controller.phase == Phase.IDLE and controller.brokers_watch == Watch.UNARMED)
        self.controllers[broker].brokers_watch = Watch.ARMED


class SubscribesAfterRead(SubscribesLast):
    """E-M9: a starting broker reads the decisions and subscribes afterwards, and learns of later changes only (draft,
    section E, step 4, in one reading). What was published in between lies in its queue unread.
    """

    def subscribe(self, broker: Broker) -> None:
        self.processes[broker].queue_watch = Watch.ARMED


class WinsWithoutStarting(ZkController):
    """E-M14: a broker creates /controller, misses the answer, and ignores the znode that it then finds
    (KAFKA-13407).
    """

    def take_office(self, broker: Broker) -> None:
        pass


class ReplaysQueue(Transactions):
    """E-M10: a queue outlives its broker, which then follows whatever it finds there (draft, question A.2)."""

    def clear_queue(self, broker: Broker) -> None:
        pass

    def is_news(self, broker: Broker, partition: Partition, decision: LeaderAndIsr) -> bool:
        return True


class PublishesBeforeWrite(ZkController):
    """E-M11: a decision is published first and written once everybody was told; a crash can come in between."""

    def write(self, partition: Partition, decision: LeaderAndIsr) -> None:
        pass

    def rest(self, broker: Broker) -> None:
        for partition in Partition:
            if self.controllers[broker].decisions[partition].version > self.leader_and_isr[partition].version:
                self.leader_and_isr[partition] = self.controllers[broker].decisions[partition]
        super().rest(broker)


class PublishesToTwoLeaders(PublishesBeforeWrite):
    """E-M11 again, with its consequence: two leaders by the same version.

    The earlier leader is slow, not dead, and takes the version that the published decision has.
    """


class ForgetsPublication(ZkController):
    """E-M12: a new controller does not publish what its predecessor had only written (draft, step 2.1)."""

    def repeats_decisions(self) -> bool:
        return False


class ReusesEarlierReign(ZkController):
    """E-M13: a new controller starts from what it knew as a broker (KAFKA-5310: a context that was not cleared)."""

    def decision_at_failover(self, broker: Broker, partition: Partition) -> LeaderAndIsr:
        return self.processes[broker].known[partition]


class WatchesOnlyLeaders(WatchesFollowers):
    """E-M16: only partitions whose leader is dead are looked at, as in the draft.

    A dead follower stays in the ISR, even one that died with the old controller (KAFKA-3143, KAFKA-948).
    """

    def is_affected(self, broker: Broker, partition: Partition) -> bool:
        leader = self.controllers[broker].leaders[partition]
        return leader is None or leader not in self.controllers[broker].live


class LooksAgain(WatchesFollowers):
    """A partition that is as it should be is read again and again, and the controller gets no further."""

    def controller_changes_nothing(self, broker: Broker, partition: Partition) -> None:
        require(self.has_read(broker, partition) and self.is_as_it_should_be(broker, partition))
        self.controllers[broker].decisions[partition] = self.none()


class PrefersFirstReplica(UncleanElections):
    """E-M17: any live replica may lead, although a member of the ISR is live."""

    def candidates(self, broker: Broker, partition: Partition) -> Set[Broker]:
        return self.available(broker, partition)


class KeepsIsr(UncleanElections):
    """An unclean election leaves the ISR as it was, without the leader in it (draft, step 3.2)."""

    def new_isr(self, broker: Broker, partition: Partition, leader: Broker) -> Set[Broker]:
        return self.controllers[broker].decisions[partition].isr


class ShrinksToLeader(ZkController):
    """The new ISR is the leader alone, although other members are live (draft, step 3.2)."""

    def new_isr(self, broker: Broker, partition: Partition, leader: Broker) -> Set[Broker]:
        return Set({leader})


class KeepsVersion(ZkController):
    """The controller writes without a new version, so its decision cannot be told from the one before."""

    def write(self, partition: Partition, decision: LeaderAndIsr) -> None:
        super().write(partition, decision.replace(version=decision.version - 1))


class FillsIsr(ZkController):
    """E-M18: the new ISR is every live replica, as for a new topic; but only there are the logs empty."""

    def new_isr(self, broker: Broker, partition: Partition, leader: Broker) -> Set[Broker]:
        return self.available(broker, partition)


class KeepsCachedVersion(ZkController):
    """E-M19: a leader whose conditional write failed keeps the version that it had (KAFKA-1382).

    The write had succeeded, only the answer was lost: the leader never updates the ISR again.
    """

    def refresh(self, broker: Broker, partition: Partition) -> None:
        pass


class SplitsTransaction(Transactions):
    """E-M24: writes and publications are too large for one transaction and go in two, but are relied on as one."""

    def publishes_with_write(self) -> bool:
        return False


class PublishesToThoseSeen(ZkController):
    """Question A.2: the controller tells the brokers that were live when it looked.

    A broker that registers and reads between that look and the write is never told anything.
    """

    def is_told(self, broker: Broker, recipient: Broker) -> bool:
        return recipient in self.controllers[broker].live


class EmptiesIsr(ZkController):
    """Question A.1: the new ISR is the live members as always: here none, and nobody knows who has the records."""

    def isr_without_leader(self, broker: Broker, partition: Partition) -> Set[Broker]:
        return Set()


class GivesUpPartition(ZkController):
    """Question A.1: a partition without a leader is left alone when brokers return."""

    def is_affected(self, broker: Broker, partition: Partition) -> bool:
        leader = self.controllers[broker].leaders[partition]
        return leader is not None and leader not in self.controllers[broker].live


class SeesOnlyBrokers(FailingReplicas):
    """Question A.3: the controller knows of no failures except brokers that go down, as in the draft."""

    def counts_as_dead(self, partition: Partition) -> Set[Broker]:
        return Set()


class FailsUncounted(FailingReplicas):
    """A replica fails beyond the number of failures that the spec allows."""

    def replica_fails(self, broker: Broker, partition: Partition) -> None:
        faults = self.faults
        super().replica_fails(broker, partition)
        self.faults = faults


class ReportsBeforehand(FailingReplicas):
    """A broker reports a replica that has not failed."""

    def broker_reports_failure(self, broker: Broker, partition: Partition) -> None:
        require(self.processes[broker].stage == Stage.UP and broker not in self.reported[partition])
        self.reported[partition].add(broker)
        self.brokers_changed()


class AddsFailedReplicas(FailingReplicas):
    """A leader adds a follower whose replica has failed."""

    def may_join(self, broker: Broker, member: Broker, partition: Partition) -> bool:
        return ZkController.may_join(self, broker, member, partition)


class ResumesReign(ZkController):
    """A broker whose session expired registers again and continues as the controller that it was."""

    def broker_registers(self, broker: Broker) -> None:
        controller = self.controllers[broker]
        super().broker_registers(broker)
        self.controllers[broker] = controller


class OverwritesController(ZkController):
    """A broker takes /controller from another one that is alive and does not hear of it."""

    def on_controller_failover(self, broker: Broker) -> None:
        require(self.processes[broker].stage == Stage.UP and self.controller_epoch < self.max_controller_epoch)
        self.controller = broker
        self.controller_epoch += 1
        self.take_office(broker)


class KeepsDecisions(ZkController):
    """What was published stays in the controller's memory, and is published again with whatever comes next."""

    def rest(self, broker: Broker) -> None:
        self.controllers[broker].phase = Phase.IDLE


class RemembersOldLeaders(ZkController):
    """The controller writes a new leader and remembers the old one, whose return it would not notice."""

    def decide(self, broker: Broker, partition: Partition, leader: Broker | None, isr: Set[Broker]) -> None:
        leaders = self.controllers[broker].leaders
        super().decide(broker, partition, leader, isr)
        self.controllers[broker].leaders = leaders


class TakesNewestBatch(ZkController):
    """A broker takes the newest batch of its queue as the whole queue; what the others say about other partitions is
    lost.
    """

    def on_leader_assignment_change(self, broker: Broker) -> None:
        if len(self.queues[broker]) > 1:
            self.queues[broker] = self.queues[broker][1:]
        super().on_leader_assignment_change(broker)


class AddsAnybody(ZkController):
    """A leader adds brokers to the ISR that do not fetch from it."""

    def may_join(self, broker: Broker, member: Broker, partition: Partition) -> bool:
        return True


class ElectsAnew(ZkController):
    """Whenever brokers come or go the controller elects for every partition, whether or not its leader is live."""

    def is_affected(self, broker: Broker, partition: Partition) -> bool:
        return True


class TellsTheAbsent(ZkController):
    """Question A.2: the controller also publishes to brokers that are not registered, which read it much later."""

    def is_told(self, broker: Broker, recipient: Broker) -> bool:
        return True


class CrashesUncounted(ZkController):
    """Brokers crash more often than ``max_faults`` says, and the specs would promise more than they show."""

    def broker_crashes(self, broker: Broker) -> None:
        faults = self.faults
        super().broker_crashes(broker)
        self.faults = faults
