"""KIP-966: eligible leader replicas of one partition, under a KRaft controller.

Start here. The ISR may become empty. Who leaves it while it is smaller than min.insync.replicas stays eligible: nothing
is committed meanwhile, so such a broker keeps everything that is committed unless it shuts down uncleanly.

reassignment.py    replicas that are added and removed; which elections are counted as unclean
settings.py        min.insync.replicas changes, and the feature is switched on and off
directories.py     log directories fail
progress.py        liveness
logs.py            real logs, high watermarks, and brokers that learn of each decision later

Known-bad designs are in specs/elr/: flawed.py, flawed_reassignment.py (with the metric), flawed_settings.py (with the
directories), flawed_progress.py, flawed_logs.py.

A log is complete or not, as in model/reassignment/. Each change of the partition is one record of the metadata log
(``PartitionChangeBuilder.build``), and the controller is one atomic object. All brokers are replicas here. Nothing
bounds a run: there is no count of epochs, failures or records.
"""

from __future__ import annotations

from enum import Enum

from floodmark import Constant, Identifier, Map, Model, Set, action, initial, require, rule


class Broker(Identifier, count="brokers", prefix="b"):
    """A broker, and its replica of the partition."""


class Registration(Enum):
    """What the controller knows of a broker (``BrokerRegistration``, ``BrokerControlState``)."""

    ACTIVE = "active"
    FENCED = "fenced"
    SHUTTING_DOWN = "in controlled shutdown"


class EligibleLeaders(Model):
    """The partition as the controller has it, the brokers' lives, and which replicas have everything committed."""

    brokers = Constant(3)
    min_insync_replicas = Constant(2)
    """min.insync.replicas of the topic. The controller and the brokers agree on it (KAFKA-16540)."""

    isr: Set[Broker]
    elr: Set[Broker]
    leader: Broker | None
    last_known_leader: Broker | None
    """Who led last, while nobody leads. Kafka writes nobody else into the record's list LastKnownElr. KIP-966 lists
    there every former member of the ELR, for an unclean recovery that is not in Kafka: only tests clear
    ``PartitionChangeBuilder.useLastKnownLeaderInBalancedRecovery``.
    """
    registration: Map[Broker, Registration]

    running: Set[Broker]
    clean_file: Set[Broker]
    """The brokers whose clean shutdown file has the broker epoch of their present registration."""

    complete: Set[Broker]
    """History: the replicas that have everything committed. What an unclean election keeps counts as committed then."""
    unclean: Set[Broker]
    """History: the brokers that shut down uncleanly since the ISR last had min.insync.replicas complete members, and
    have not joined it since.
    """

    @initial
    def start(self, leader: Broker, followers: Set[Broker]) -> None:
        """Somebody leads, and all replicas are in sync."""
        require(self.may_begin(leader, followers))
        self.isr = followers | {leader}
        self.elr = Set()
        self.leader = leader
        self.last_known_leader = None
        self.registration = Map({broker: Registration.ACTIVE for broker in Broker})
        self.running = Set(Broker)
        self.clean_file = Set()
        self.complete = followers | {leader}
        self.unclean = Set()

    def may_begin(self, leader: Broker, followers: Set[Broker]) -> bool:
        """Whether these are the replicas at first."""
        return leader not in followers and followers | {leader} == Set(Broker)

    def assigned(self) -> Set[Broker]:
        """The brokers that are replicas of the partition."""
        return Set(Broker)

    def min_isr_of(self, replicas: Set[Broker]) -> int:
        """Producers need no more than there are replicas."""
        return min(self.min_insync_replicas, len(replicas))

    # The controller's rules: methods of PartitionChangeBuilder.

    def active(self) -> Set[Broker]:
        """Registered, not fenced, not in controlled shutdown (``ClusterControlManager.isActive``)."""
        return Set(broker for broker in Broker if self.registration[broker] == Registration.ACTIVE)

    @rule
    def controller_min_isr(self) -> int:
        """What the controller takes for min.insync.replicas (``getTopicEffectiveMinIsr``)."""
        return self.min_isr_of(self.assigned())

    @rule
    def isr_without(self, broker: Broker) -> Set[Broker]:
        """A broker that is fenced leaves the ISR even as its last member (KIP-966, "Eligible Leader Replicas")."""
        return self.isr - {broker}

    @rule
    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        """Who leaves an ISR that is too small to commit stays eligible, unless its log is suspect
        (``maybePopulateTargetElr``; KIP-966, "Eligible Leader Replicas").
        """
        if self.has_min_isr(isr):
            return Set[Broker]()
        return (self.elr | self.isr) - isr - unclean_shutdown

    @rule
    def has_min_isr(self, isr: Set[Broker]) -> bool:
        """With so many in sync the leader commits again, so nobody else is sure to have everything
        (``PartitionChangeBuilder.maybePopulateTargetElr``).
        """
        return len(isr) >= self.controller_min_isr()

    @rule
    def electable(self, isr: Set[Broker], elr: Set[Broker]) -> Set[Broker]:
        """The ISR, and if it is empty the ELR (``isValidNewLeader``)."""
        return isr if len(isr) > 0 else elr

    @rule
    def may_elect_last_known_leader(self, isr: Set[Broker], elr: Set[Broker], active: Set[Broker]) -> bool:
        """If nobody is left who is sure to have everything, the last known leader, once it is back
        (``canElectLastKnownLeader``; KAFKA-19522). This election is unclean.
        """
        last = self.last_known_leader
        return len(isr) == 0 and len(elr) == 0 and last is not None and last in active

    def change(
        self, isr: Set[Broker], unclean_shutdown: Set[Broker], active: Set[Broker], successor: Broker | None
    ) -> None:
        """One PartitionChangeRecord: the new ELR, and an election if it is needed (``build``).

        ``successor`` is who leads from now on. A leader stays if it can; among others any may be elected, as the order
        of replicas plays no role for what is committed.
        """
        elr = self.target_elr(isr, unclean_shutdown)
        candidates = self.electable(isr, elr) & active
        stays = self.leader is not None and self.leader in candidates
        if stays:
            require(successor == self.leader)
        elif len(candidates) > 0:
            require(successor is not None and successor in candidates)
        elif self.may_elect_last_known_leader(isr, elr, active):
            require(successor == self.last_known_leader)
        else:
            require(successor is None)
        if successor is not None and successor not in isr:
            if successor not in elr:
                self.announce_loss(successor)
                elr = Set[Broker]()
            isr = self.only(successor)
            elr = elr - isr
        if successor is not None:
            self.last_known_leader = None
        elif self.leader is not None:
            self.last_known_leader = self.leader
        self.leader = successor
        self.isr = isr
        self.elr = self.settled(isr, elr)
        self.forget_repaired()

    @rule
    def settled(self, isr: Set[Broker], elr: Set[Broker]) -> Set[Broker]:
        """Who was elected from the ELR may be enough to commit, if min.insync.replicas is 1 by now
        (``PartitionChangeBuilder.maybeUpdateRecordElr``).
        """
        return Set[Broker]() if self.has_min_isr(isr) else elr

    def only(self, leader: Broker | None) -> Set[Broker]:
        """The set of just this broker."""
        return Set(broker for broker in Broker if broker == leader)

    def announce_loss(self, leader: Broker | None) -> None:
        """An unclean election: the leader recovery state says that records may be lost (KIP-704)."""
        self.complete = self.only(leader)

    def forget_repaired(self) -> None:
        """History: an unclean shutdown no longer matters once enough others have everything."""
        self.unclean = self.unclean - (self.isr & self.complete & self.serving())
        if self.has_min_isr(self.isr):
            self.unclean = self.unclean & self.isr

    def promised_copies(self) -> int:
        """As many unclean shutdowns, and no fewer, may lose what is committed."""
        return self.leader_min_isr()

    def is_tracked(self) -> bool:
        """Whether the controller maintains the ELR."""
        return True

    def kept_in_isr(self) -> Set[Broker]:
        """Members of the ISR that may be fenced: none, as the ISR may be empty instead."""
        return Set[Broker]()

    # The controller's events.

    @action
    def controller_fences(self, broker: Broker, successor: Broker | None) -> None:
        """A session has expired (``ReplicationControlManager.handleBrokerFenced``). The broker may still run."""
        require(self.registration[broker] != Registration.FENCED)
        self.change(self.isr_without(broker), Set[Broker](), self.active() - {broker}, successor)
        self.registration[broker] = Registration.FENCED

    @action
    def controller_unfences(self, broker: Broker, successor: Broker | None) -> None:
        """A broker has caught up with the metadata log (``ReplicationControlManager.handleBrokerUnfenced``): it may
        be elected if nobody leads.
        """
        require(self.registration[broker] == Registration.FENCED and broker in self.running)
        if self.leader is None:
            self.change(self.isr, Set[Broker](), self.active() | {broker}, successor)
        else:
            require(successor == self.leader)
        self.registration[broker] = Registration.ACTIVE

    @action
    def controller_starts_shutdown(self, broker: Broker, successor: Broker | None) -> None:
        """A heartbeat asks for a controlled shutdown (KIP-841,
        ``ReplicationControlManager.handleBrokerInControlledShutdown``).
        """
        require(self.registration[broker] == Registration.ACTIVE and broker in self.running)
        self.change(self.isr_without(broker), Set[Broker](), self.active() - {broker}, successor)
        self.registration[broker] = Registration.SHUTTING_DOWN

    @action
    def controller_moves_leader(self, successor: Broker) -> None:
        """The preferred replica is in sync and leads (``ReplicationControlManager.electLeader``)."""
        require(self.leader is not None and successor != self.leader and successor in self.isr & self.active())
        self.leader = successor

    # The brokers' lives.

    @action
    def broker_stops(self, broker: Broker) -> None:
        """A clean shutdown: everything is flushed, and the file has the broker epoch (KIP-966, "Broker restart";
        ``CleanShutdownFileHandler.write``).
        """
        require(broker in self.running)
        self.running.discard(broker)
        self.write_file(broker)

    @rule
    def write_file(self, broker: Broker) -> None:
        """The last thing that a clean shutdown does (``LogManager.shutdown``)."""
        self.clean_file.add(broker)

    @action
    def broker_crashes(self, broker: Broker) -> None:
        """An unclean shutdown: some of what was not flushed is lost.

        The environment: the process ends without ``CleanShutdownFileHandler.write``.
        """
        require(broker in self.running)
        self.running.discard(broker)
        self.complete.discard(broker)
        self.unclean.add(broker)

    @action
    def broker_registers(self, broker: Broker, successor: Broker | None) -> None:
        """A new incarnation registers; its broker epoch is new, and the clean shutdown file is gone
        (``ClusterControlManager.registerBroker``). The controller may not have fenced the one before (KAFKA-18106).
        """
        require(broker not in self.running)
        suspect = Set[Broker]() if self.was_clean(broker) else self.only(broker)
        self.leave_at_registration(broker, suspect, successor)
        self.registration[broker] = Registration.FENCED
        self.running.add(broker)
        self.remove_file(broker)

    @rule
    def was_clean(self, broker: Broker) -> bool:
        """The request quotes the broker epoch that the controller has (``previousBrokerEpoch``)."""
        return broker in self.clean_file

    @rule
    def remove_file(self, broker: Broker) -> None:
        """What a file said of an earlier incarnation is not true of the next (``CleanShutdownFileHandler.delete``)."""
        self.clean_file.discard(broker)

    @rule
    def leave_at_registration(self, broker: Broker, suspect: Set[Broker], successor: Broker | None) -> None:
        """The partition changes as if the broker had been fenced (``handleUncleanBrokerShutdown``, KAFKA-18106)."""
        self.change(self.isr_without(broker), suspect, self.active() - {broker}, successor)

    # The leader and its followers.

    @rule
    def leader_min_isr(self) -> int:
        """What brokers take for min.insync.replicas (``Partition.effectiveMinIsr``)."""
        return self.min_isr_of(self.assigned())

    @rule
    def may_commit(self) -> bool:
        """The high watermark advances only with enough in sync (KIP-966, "Additional High Watermark advancement
        requirement"; KAFKA-15583).
        """
        return len(self.isr) >= self.leader_min_isr()

    def serving(self) -> Set[Broker]:
        """The brokers whose replica can be read and written."""
        return self.running

    def leads(self) -> bool:
        """Somebody leads, and runs."""
        return self.leader is not None and self.leader in self.serving()

    @action
    def leader_commits(self) -> None:
        """A record that the whole ISR has. Who is outside lacks it until it fetches
        (``Partition.maybeIncrementLeaderHW``).
        """
        require(self.leads() and self.isr <= self.serving() and self.may_commit())
        self.complete = self.complete & self.isr

    @action
    def leader_alters_isr(self, isr: Set[Broker], successor: Broker | None) -> None:
        """``ReplicationControlManager.alterPartition``: members that lag are removed, or followers that have caught up
        are added. It may end a reassignment that removes the leader.
        """
        require(self.leads() and self.leader in isr and isr != self.isr)
        require(self.may_join(isr - self.isr))
        self.change(isr, Set[Broker](), self.active(), successor)

    @rule
    def may_join(self, joining: Set[Broker]) -> bool:
        """Who joins has everything committed, runs, and is not fenced (``ineligibleReplicasForIsr``, KIP-903)."""
        return joining <= self.complete & self.serving() & self.active()

    @action
    def follower_follows(self, follower: Broker) -> None:
        """A follower truncates what its leader does not have, and fetches what it lacks.

        ``AbstractFetcherThread.doWork``.
        """
        require(self.leads() and follower in self.serving())
        if self.leader in self.complete:
            self.complete.add(follower)
        else:
            self.complete.discard(follower)
