"""KIP-966 and KIP-858: a broker loses the log directory of its replica, and replicas are assigned to directories.

Begin with partition.py. A broker with several directories runs on when one of them fails. The controller learns of
it by a heartbeat or by AssignReplicasToDirs, and counts the replica as out of sync. The broker gets an empty replica in
another directory when it restarts.
"""

from __future__ import annotations

from floodmark import Set, action, initial, require, rule
from model.elr.partition import Broker, EligibleLeaders


class LostDirectories(EligibleLeaders):
    """Losing a directory is like an unclean shutdown of the replica, of a broker that goes on."""

    failed: Set[Broker]
    """The brokers whose replica is in a directory that has failed."""
    reported: Set[Broker]
    """Those of them of which the controller knows (``BrokerRegistration.hasOnlineDir``)."""

    @initial
    def start(self, leader: Broker, followers: Set[Broker]) -> None:
        super().start(leader, followers)
        self.failed = Set()
        self.reported = Set()

    def serving(self) -> Set[Broker]:
        return self.running - self.failed

    @action
    def directory_fails(self, broker: Broker) -> None:
        """The log is lost, and the broker runs on. ``ReplicaManager.handleLogDirFailure``."""
        require(broker in self.running - self.failed)
        self.failed.add(broker)
        self.complete.discard(broker)
        self.unclean.add(broker)

    @action
    def broker_reports_failure(self, broker: Broker, successor: Broker | None) -> None:
        """A heartbeat names the directory (``ReplicationControlManager.handleDirectoriesOffline``), or
        AssignReplicasToDirs says LOST: the replica leaves the ISR, and may stay in the ELR.
        """
        require(broker in self.running & self.failed - self.reported)
        self.reported.add(broker)
        self.change(self.isr_without(broker), Set[Broker](), self.active(), successor)

    @rule
    def electable(self, isr: Set[Broker], elr: Set[Broker]) -> Set[Broker]:
        """Only a replica with a directory may lead (``LeaderAcceptor``)."""
        return super().electable(isr, elr) - self.reported

    @rule
    def may_elect_last_known_leader(self, isr: Set[Broker], elr: Set[Broker], active: Set[Broker]) -> bool:
        """Its replica is in a directory that is online (``PartitionChangeBuilder.canElectLastKnownLeader``)."""
        last = self.last_known_leader
        return last not in self.reported and super().may_elect_last_known_leader(isr, elr, active)

    @rule
    def write_file(self, broker: Broker) -> None:
        """Each directory has a clean shutdown file, and they count only if none is missing
        (``readBrokerEpochFromCleanShutdownFiles``).
        """
        if broker not in self.failed:
            self.clean_file.add(broker)

    @action
    def broker_registers(self, broker: Broker, successor: Broker | None) -> None:
        """The new incarnation has an empty replica, in a directory that works.

        ``ClusterControlManager.registerBroker``.
        """
        self.failed.discard(broker)
        self.reported.discard(broker)
        super().broker_registers(broker, successor)

    @action
    def broker_assigns_directory(self, broker: Broker, successor: Broker | None) -> None:
        """AssignReplicasToDirs with a directory that works (``ReplicationControlManager.handleAssignReplicasToDirs``):
        nothing else changes.
        """
        require(broker in self.running - self.failed)
        self.change(self.isr, Set[Broker](), self.active(), successor)
        self.forget_elr()

    @rule
    def forget_elr(self) -> None:
        """The builder knows that the feature is on, so the ELR stays (pull request 20716)."""
