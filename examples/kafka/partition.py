"""What Kafka's controller does with one partition: a model of ``ReplicationControlManager``, as it is.

The models in ``model/`` say what a controller should do; this one says what Kafka's does, with its mistakes, so that
the two can be held against each other (``partition_adapter.py``). Every change of the partition goes through
``change``, as in Kafka through ``PartitionChangeBuilder.build``: what the callers set are its parameters.

``PartitionControl`` knows which replicas have everything that is committed, and is searched for losses; it leaves out
what the controller refuses. It has the repairs of three mistakes; ``kafka_partition.py`` has the mistakes, and
``observed.py`` adds epochs, errors and requests that are late or wrong, for runs beside Kafka's classes.

What differs between versions is a constant. Those of 4.1 and 4.2 are the defaults.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Seq,
    Set,
    action,
    initial,
    invariant,
    require,
    rule,
)


class Broker(Identifier, count="brokers", prefix="b"):
    """A broker, and its replica of the partition."""


Replicas = Annotated[Seq[Broker], Capacity("brokers")]
MinIsr = Annotated[int, Between(1, "replication_factor")]


class Status(Enum):
    """A broker's registration. One that has been shut down is fenced until its next incarnation registers."""

    ACTIVE = "active"
    FENCED = "fenced"
    SHUTTING_DOWN = "in controlled shutdown"
    SHUT_DOWN = "shut down"
    UNREGISTERED = "unregistered"


class Election(Enum):
    """``PartitionChangeBuilder.Election``."""

    PREFERRED = "preferred"
    ONLINE = "online"
    UNCLEAN = "unclean"


class Change(Enum):
    """What came of a change of the partition."""

    NONE = "there is nothing to change"
    MADE = "made"
    FAILED = "an exception, after which nothing is written"


class Written(Enum):
    """A record of the metadata log."""

    PARTITION_CHANGE = "PartitionChangeRecord"
    CLEAR_ELR = "ClearElrRecord"
    REGISTER_BROKER = "RegisterBrokerRecord"
    BROKER_CHANGE = "BrokerRegistrationChangeRecord"
    UNREGISTER_BROKER = "UnregisterBrokerRecord"
    CONFIG = "ConfigRecord"
    FEATURE_LEVEL = "FeatureLevelRecord"


class Field(Enum):
    """A field of PartitionChangeRecord, which is empty where it says nothing."""

    ISR = "isr"
    LEADER = "leader"
    REPLICAS = "replicas"
    DIRECTORIES = "directories"
    ADDING = "addingReplicas"
    REMOVING = "removingReplicas"
    RECOVERY = "leaderRecoveryState"
    ELR = "eligibleLeaderReplicas"
    LAST_KNOWN = "lastKnownElr"


class Error(Enum):
    """What the controller answers."""

    NONE = "NONE"
    DUPLICATE_BROKER_REGISTRATION = "DUPLICATE_BROKER_REGISTRATION"
    ELECTION_NOT_NEEDED = "ELECTION_NOT_NEEDED"
    ELIGIBLE_LEADERS_NOT_AVAILABLE = "ELIGIBLE_LEADERS_NOT_AVAILABLE"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    INELIGIBLE_REPLICA = "INELIGIBLE_REPLICA"
    INVALID_REPLICA_ASSIGNMENT = "INVALID_REPLICA_ASSIGNMENT"
    INVALID_REQUEST = "INVALID_REQUEST"
    INVALID_UPDATE_VERSION = "INVALID_UPDATE_VERSION"
    NEW_LEADER_ELECTED = "NEW_LEADER_ELECTED"
    NOT_CONTROLLER = "NOT_CONTROLLER"
    NOT_LEADER_OR_FOLLOWER = "NOT_LEADER_OR_FOLLOWER"
    NO_REASSIGNMENT_IN_PROGRESS = "NO_REASSIGNMENT_IN_PROGRESS"
    PREFERRED_LEADER_NOT_AVAILABLE = "PREFERRED_LEADER_NOT_AVAILABLE"
    UNKNOWN_SERVER_ERROR = "UNKNOWN_SERVER_ERROR"


class PartitionControl(Model):
    """The partition, the brokers' registrations, and which replicas have everything that is committed.

    ``complete`` is what only the brokers know; ``lossy`` says that the controller has announced a loss (it elected
    uncleanly, and the leader's recovery state was RECOVERING). ``wanted`` is the target that was accepted last.
    """

    brokers = Constant(4)
    replication_factor = Constant(2)
    largest_target = Constant(2)
    min_insync_replicas = Constant(2)
    elr_enabled = Constant(True)
    unclean_elections = Constant(False)
    requests = Constant(2)
    failures = Constant(1)
    switches = Constant(0)
    """How often the operator switches the ELR on or off."""

    forgets_last_known_early = Constant(False)
    """4.0: the last known leader is the one under which the ISR became empty."""
    elects_dead_last_known = Constant(False)
    """4.0: KAFKA-19522."""
    assignment_forgets_elr = Constant(True)
    """Before 4.3: AssignReplicasToDirs clears the ELR (pull request 20716)."""

    awaits_adding_only = Constant(False)
    """Since 4.3: KAFKA-19975."""

    replicas: Replicas
    adding: Set[Broker]
    removing: Set[Broker]
    isr: Set[Broker]
    elr: Set[Broker]
    last_known: Set[Broker]
    last_known_is_nobody: bool
    leader: Broker | None
    recovering: bool
    status: Map[Broker, Status]
    min_isr: MinIsr
    elr_is_on: bool

    wanted: Set[Broker]
    complete: Set[Broker]
    lossy: bool
    asked: Annotated[int, Between(0, "requests")]
    failed: Annotated[int, Between(0, "failures")]
    switched: Annotated[int, Between(0, "switches")]

    @initial
    def start(self) -> None:
        self.replicas = Seq(Broker)[: self.replication_factor]
        self.adding = Set()
        self.removing = Set()
        self.isr = Set(self.replicas)
        self.elr = Set()
        self.last_known = Set()
        self.last_known_is_nobody = False
        self.leader = Broker(1)
        self.recovering = False
        self.status = Map({broker: Status.ACTIVE for broker in Broker})
        self.min_isr = self.min_insync_replicas
        self.elr_is_on = self.elr_enabled
        self.wanted = Set(self.replicas)
        self.complete = Set(self.replicas)
        self.lossy = False
        self.asked = 0
        self.failed = 0
        self.switched = 0

    # PartitionChangeBuilder.

    def effective_min_isr(self) -> int:
        """``getTopicEffectiveMinIsr``: no more than partition 0 has replicas now."""
        return min(self.min_isr, len(self.replicas))

    def active(self) -> Set[Broker]:
        """``ClusterControlManager.isActive``."""
        return Set(broker for broker in Broker if self.status[broker] == Status.ACTIVE)

    def default_election(self) -> Election:
        """What the setting unclean.leader.election.enable says."""
        return Election.UNCLEAN if self.unclean_elections else Election.ONLINE

    def elected_cleanly(
        self, replicas: Seq[Broker], valid: Set[Broker], election: Election
    ) -> Broker | None:
        """``electPreferredLeader`` and ``electAnyLeader``, as far as they are clean."""
        leader = self.leader
        if election == Election.PREFERRED and replicas[0] in valid:
            return replicas[0]
        if leader is not None and leader in valid:
            return leader
        for replica in replicas:
            if replica in valid:
                return replica
        return None

    def elected_uncleanly(
        self, replicas: Seq[Broker], isr: Set[Broker], elr: Set[Broker], acceptable: Set[Broker], election: Election,
        elr_on: bool,
    ) -> Broker | None:
        """``canElectLastKnownLeader``, and then any live replica if that is allowed."""
        if elr_on and len(isr) == 0 and len(elr) == 0:
            if self.elects_dead_last_known and self.last_known_is_nobody:
                return None
            for broker in self.last_known:
                if self.may_lead_again(broker) and (broker in acceptable or self.elects_dead_last_known):
                    return broker
        if election == Election.UNCLEAN:
            for replica in replicas:
                if replica in acceptable:
                    return replica
        return None

    def change(
        self, replicas: Seq[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker],
        acceptable: Set[Broker], unclean_shutdown: Set[Broker], election: Election, elr_on: bool, recovering: bool,
        copies: int,
    ) -> Change:
        """``build``, and ``merge`` of the record that it makes."""
        to_replicas = replicas
        to_isr = isr
        to_adding = adding
        to_removing = removing
        # completeReassignmentIfNeeded
        staying = Set(replica for replica in replicas if replica not in removing)
        is_under_way = len(adding) > 0 or len(removing) > 0
        awaited = self.awaited(staying, adding, removing)
        if is_under_way and len(isr - removing) > 0 and len(staying) > 0 and awaited <= isr - removing:
            to_replicas = Seq(replica for replica in replicas if replica not in removing)
            to_isr = isr - removing
            to_adding = Set[Broker]()
            to_removing = Set[Broker]()
        # maybePopulateTargetElr
        to_elr = self.elr
        if elr_on:
            if len(to_isr) >= self.effective_min_isr():
                to_elr = Set[Broker]()
            else:
                to_elr = self.eligible((self.elr | self.isr) - to_isr - unclean_shutdown, to_replicas)
        # tryElection
        valid = (to_isr if len(to_isr) > 0 else to_elr) & acceptable
        clean = self.elected_cleanly(to_replicas, valid, election)
        node = clean
        if clean is not None and self.is_lost(clean):
            return Change.FAILED
        asks_last_known = clean is None and elr_on and len(to_isr) == 0 and len(to_elr) == 0
        if asks_last_known and any(self.is_lost_again(broker) for broker in self.last_known & acceptable):
            return Change.FAILED
        if clean is None:
            node = self.elected_uncleanly(to_replicas, to_isr, to_elr, acceptable, election, elr_on)
        is_unclean = clean is None and node is not None and node != self.leader
        sets_leader = node != self.leader
        sets_isr = False
        if node is not None and node != self.leader and node in to_elr:
            to_isr = Set({node})
            to_elr = to_elr - {node}
        to_recovering = self.recovering
        if node is not None and is_unclean:
            to_isr = Set({node})
            sets_isr = True
            to_recovering = True
        # triggerLeaderEpochBumpForReplicaReassignmentIfNeeded
        bumps = sets_leader or not Set(self.replicas) <= Set(to_replicas)
        # maybeUpdateRecordElr
        if sets_isr or not elr_on:
            to_elr = Set[Broker]()
        if not sets_isr and len(to_isr) == 0 and not elr_on:
            to_isr = self.isr
        # maybeUpdateLastKnownLeader
        to_last_known = self.last_known
        to_nobody = self.last_known_is_nobody
        before = self.leader
        if elr_on and self.names_leader(node, to_isr, bumps) and (before is not None or self.names_nobody()):
            to_last_known = Set({before}) if before is not None else Set[Broker]()
            to_nobody = before is None
        elif elr_on and self.drops_last_known(node, bumps):
            to_last_known = Set[Broker]()
            to_nobody = False
        if recovering != self.recovering:
            to_recovering = recovering
        fields = Set[Field]()
        if sets_isr or to_isr != self.isr:
            fields |= {Field.ISR}
        if bumps:
            fields |= {Field.LEADER}
        if to_replicas != self.replicas:
            fields |= {Field.REPLICAS, Field.DIRECTORIES}
        if to_adding != self.adding:
            fields |= {Field.ADDING}
        if to_removing != self.removing:
            fields |= {Field.REMOVING}
        if to_recovering != self.recovering:
            fields |= {Field.RECOVERY}
        if to_elr != self.elr:
            fields |= {Field.ELR}
        if to_last_known != self.last_known or to_nobody != self.last_known_is_nobody:
            fields |= {Field.LAST_KNOWN}
        if len(fields) > 0:
            self.list_elr(to_elr)
            self.write_change(fields, copies)
            self.lossy = self.lossy or is_unclean
            self.replicas = to_replicas
            self.adding = to_adding
            self.removing = to_removing
            self.isr = to_isr
            self.elr = to_elr
            self.last_known = to_last_known
            self.last_known_is_nobody = to_nobody
            self.leader = node
            self.recovering = to_recovering
            return Change.MADE
        return Change.NONE

    def names_leader(self, leader: Broker | None, isr: Set[Broker], bumps: bool) -> bool:
        """``maybeUpdateLastKnownLeader`` takes down who leads, or led; that may be nobody."""
        if self.forgets_last_known_early:
            before = self.leader
            is_it = not self.last_known_is_nobody and before is not None and self.last_known == Set({before})
            is_nobody = self.last_known_is_nobody and before is None
            return isr != self.isr and len(isr) == 0 and not is_it and not is_nobody
        return bumps and leader is None and len(self.last_known) == 0 and not self.last_known_is_nobody

    def drops_last_known(self, leader: Broker | None, bumps: bool) -> bool:
        """``maybeUpdateLastKnownLeader`` clears what it has taken down, as there is a leader."""
        if self.forgets_last_known_early:
            return (bumps and leader is not None) or (self.leader is not None and not (bumps and leader is None))
        return bumps and leader is not None

    def awaited(self, target: Set[Broker], adding: Set[Broker], removing: Set[Broker]) -> Set[Broker]:
        """``maybeCompleteReassignment``: who has to be in sync."""
        if self.awaits_adding_only:
            return adding | target if len(adding) < len(removing) else adding
        return target

    @rule
    def eligible(self, elr: Set[Broker], replicas: Seq[Broker]) -> Set[Broker]:
        """Only a replica may be in the ELR: others delete their logs."""
        return elr & Set(replicas)

    @rule
    def may_lead_again(self, broker: Broker) -> bool:
        """Only a replica can be elected as the last known leader."""
        return broker in Set(self.replicas)

    def is_lost(self, broker: Broker) -> bool:
        """``LeaderAcceptor`` asks for the directory of a candidate, and throws for one that is no replica."""
        return broker not in Set(self.replicas)

    def is_lost_again(self, broker: Broker) -> bool:
        """Of the last known leader this is asked since 4.1."""
        return not self.elects_dead_last_known and self.may_lead_again(broker) and self.is_lost(broker)

    @rule
    def names_nobody(self) -> bool:
        """Only somebody can be the last known leader."""
        return False

    @rule
    def changed_from(self) -> Set[Broker]:
        """A request starts from the origin, not from where an earlier one was going (KIP-455)."""
        return Set(self.replicas) - self.adding

    @rule
    def staying(self, replicas: Set[Broker]) -> Set[Broker]:
        """The members of the ISR that the partition still has."""
        return self.isr & replicas

    @rule
    def assigned(self, asked: Set[Broker], before: Set[Broker]) -> Set[Broker]:
        """Who is added, or removed: what this request says, and nothing of an earlier one."""
        return asked

    @rule
    def write_change(self, fields: Set[Field], copies: int) -> None:
        """A PartitionChangeRecord. Records and epochs are not searched."""

    @rule
    def write(self, record: Written) -> None:
        """A record of another kind."""

    @rule
    def write_before_change(self, record: Written) -> None:
        """A record that comes before the partition's in the same answer."""

    @rule
    def write_cleared(self) -> None:
        """The partition that a ClearElrRecord changes."""

    @rule
    def list_elr(self, elr: Set[Broker]) -> None:
        """``BrokersToElrs.update``."""

    @rule
    def times_listed(self, broker: Broker) -> int:
        """How often the partition is listed under a broker in ``BrokersToElrs``."""
        return 1 if broker in self.elr else 0

    @rule
    def answer(self, error: Error) -> None:
        """What is refused changes nothing, and is not searched."""
        require(error == Error.NONE)

    def leave(self, broker: Broker, uncleanly: bool, copies: int) -> Error:
        """``generateLeaderAndIsrUpdates`` with a broker that leaves."""
        if copies == 0:
            return Error.NONE
        return self.error_of(self.change(
            self.replicas, self.adding, self.removing, self.isr - {broker}, self.active() - {broker},
            Set({broker}) if uncleanly else Set[Broker](), self.default_election(), self.elr_is_on,
            self.recovering, copies,
        ))

    def error_of(self, change: Change) -> Error:
        return Error.UNKNOWN_SERVER_ERROR if change == Change.FAILED else Error.NONE

    def is_listed(self, broker: Broker) -> int:
        return 1 if broker in self.isr else 0

    # Brokers.

    @rule
    def fail(self) -> None:
        """A broker fails, or comes back."""
        require(self.failed < self.failures)
        self.failed += 1

    @action
    def broker_is_fenced(self, broker: Broker) -> None:
        """``maybeFenceOneStaleBroker``: its session has expired."""
        require(self.status[broker] in (Status.ACTIVE, Status.SHUTTING_DOWN))
        self.fail()
        error = self.leave(broker, False, self.is_listed(broker))
        if error == Error.NONE:
            self.status[broker] = Status.FENCED if self.status[broker] == Status.ACTIVE else Status.SHUT_DOWN
            self.write(Written.BROKER_CHANGE)
        self.answer(error)

    @action
    def broker_is_unfenced(self, broker: Broker) -> None:
        """``handleBrokerUnfenced``: a partition without a leader may have one now."""
        require(self.status[broker] == Status.FENCED)
        changed = Change.NONE
        if self.leader is None:
            changed = self.change(
                self.replicas, self.adding, self.removing, self.isr, self.active() | {broker}, Set[Broker](),
                self.default_election(), self.elr_is_on, self.recovering, 1,
            )
        if changed != Change.FAILED:
            self.status[broker] = Status.ACTIVE
        if changed == Change.MADE:
            self.write_before_change(Written.BROKER_CHANGE)
        elif changed == Change.NONE:
            self.write(Written.BROKER_CHANGE)
        self.answer(self.error_of(changed))

    @action
    def broker_shuts_down(self, broker: Broker) -> None:
        """``processBrokerHeartbeat`` with wantShutDown: at once if it leads nothing; as long as it does, it waits."""
        require(self.status[broker] in (Status.ACTIVE, Status.SHUTTING_DOWN))
        self.fail()
        leads = self.leader is not None and self.leader == broker
        error = Error.NONE
        if self.status[broker] == Status.ACTIVE or not leads:
            error = self.leave(broker, False, self.is_listed(broker))
            if error == Error.NONE:
                self.status[broker] = Status.SHUTTING_DOWN if leads else Status.SHUT_DOWN
                if leads:
                    self.write_before_change(Written.BROKER_CHANGE)
                else:
                    self.write(Written.BROKER_CHANGE)
        self.answer(error)

    @action
    def broker_registers(self, broker: Broker, clean: bool) -> None:
        """``registerBroker`` of a new incarnation. It may be before the one before it was fenced (KAFKA-18106).

        Whether a shutdown was clean is not known of a broker that was unregistered since.
        """
        self.fail()
        uncleanly = self.elr_is_on and (not clean or self.status[broker] == Status.UNREGISTERED)
        listed = self.is_listed(broker) + (self.times_listed(broker) if uncleanly else 0)
        error = self.leave(broker, uncleanly, listed)
        if error == Error.NONE:
            self.status[broker] = Status.FENCED
            self.write(Written.REGISTER_BROKER)
        if not clean:
            self.complete.discard(broker)
            self.lossy = self.lossy or len(self.complete) == 0 or self.leads_again(broker)
        self.answer(error)

    def leads_again(self, broker: Broker) -> bool:
        """Without the ELR whoever was in sync last leads again, whatever it has lost."""
        return not self.elr_is_on and self.isr <= Set({broker})

    @action
    def broker_is_unregistered(self, broker: Broker) -> None:
        """``unregisterBroker``."""
        require(self.status[broker] != Status.UNREGISTERED)
        self.fail()
        error = self.leave(broker, False, self.is_listed(broker) + self.times_listed(broker))
        if error == Error.NONE:
            self.status[broker] = Status.UNREGISTERED
            self.write(Written.UNREGISTER_BROKER)
        self.answer(error)

    # The operator.

    @rule
    def ask(self) -> None:
        require(self.asked < self.requests)
        self.asked += 1

    def assignment_error(self, target: Seq[Broker]) -> Error:
        """``validateManualPartitionAssignment``: a fenced broker will do."""
        if any(self.status[broker] == Status.UNREGISTERED for broker in target):
            return Error.INVALID_REPLICA_ASSIGNMENT
        return Error.NONE

    @action
    def operator_reassigns(self, preferred: Broker, others: Set[Broker]) -> None:
        """``changePartitionReassignment``."""
        require(preferred not in others and len(others) < self.largest_target)
        self.ask()
        target = Seq([preferred]) + Seq(others)
        adding = Set(target) - self.changed_from()
        removing = self.changed_from() - Set(target)
        isr = self.staying(Set(target) | removing)
        error = self.assignment_error(target)
        if error == Error.NONE and len(isr) == 0 and len(self.isr) > 0:
            error = Error.INVALID_REPLICA_ASSIGNMENT
        if error == Error.NONE:
            error = self.error_of(self.change(
                target + Seq(replica for replica in Seq(removing)), self.assigned(adding, self.adding),
                self.assigned(removing, self.removing), isr, self.active(), Set[Broker](), Election.ONLINE,
                self.elr_is_on, self.recovering, 1,
            ))
        if error == Error.NONE:
            self.wanted = Set(target)
        self.answer(error)

    @action
    def operator_cancels(self) -> None:
        """``cancelPartitionReassignment``, ``PartitionReassignmentRevert``."""
        self.ask()
        error = Error.NONE
        original = Seq(replica for replica in self.replicas if replica not in self.adding)
        isr = self.isr - self.adding
        if len(self.adding) == 0 and len(self.removing) == 0:
            error = Error.NO_REASSIGNMENT_IN_PROGRESS
        elif len(original) == 0 or (len(isr) == 0 and not self.unclean_elections):
            error = Error.INVALID_REPLICA_ASSIGNMENT
        else:
            self.lossy = self.lossy or len(isr) == 0
            self.wanted = Set(original)
            error = self.error_of(self.change(
                original, Set[Broker](), Set[Broker](), isr if len(isr) > 0 else Set({original[0]}),
                self.active(), Set[Broker](), self.default_election(), self.elr_is_on, self.recovering, 1,
            ))
        self.answer(error)

    @action
    def operator_elects(self, unclean: bool) -> None:
        """``electLeader``."""
        error = Error.NONE
        before = self.lossy
        if self.leader is not None and (unclean or self.leader == self.replicas[0]):
            error = Error.ELECTION_NOT_NEEDED
        else:
            changed = self.change(
                self.replicas, self.adding, self.removing, self.isr, self.active(), Set[Broker](),
                Election.UNCLEAN if unclean else Election.PREFERRED, self.elr_is_on, self.recovering, 1,
            )
            error = self.error_of(changed)
            if changed == Change.NONE:
                error = Error.ELIGIBLE_LEADERS_NOT_AVAILABLE if unclean else Error.PREFERRED_LEADER_NOT_AVAILABLE
        self.lossy = self.lossy or before
        self.answer(error)

    @action
    def operator_sets_min_isr(self, number: MinIsr) -> None:
        """``incrementalAlterConfig``, whose ClearElrRecord ``BrokersToElrs`` does not hear of."""
        self.ask()
        if number != self.min_isr:
            self.min_isr = number
            self.write(Written.CONFIG)
            if self.elr_is_on:
                self.write(Written.CLEAR_ELR)
            if self.elr_is_on and (len(self.elr) > 0 or len(self.last_known) > 0 or self.last_known_is_nobody):
                self.elr = Set()
                self.last_known = Set()
                self.last_known_is_nobody = False
                self.write_cleared()
        self.answer(Error.NONE)

    @rule
    def switch(self) -> None:
        require(self.switched < self.switches)
        self.switched += 1

    @action
    def operator_switches_elr(self) -> None:
        """``ConfigurationControlManager.updateFeatures``: eligible.leader.replicas.version is 1, or 0 again."""
        self.switch()
        self.elr_is_on = not self.elr_is_on
        self.write(Written.FEATURE_LEVEL)
        self.forget_elr()
        self.answer(Error.NONE)

    @rule
    def forget_elr(self) -> None:
        """Nobody is eligible because of what was in sync before the ELR was switched."""
        self.list_elr(Set[Broker]())
        self.elr = Set()
        self.last_known = Set()
        self.last_known_is_nobody = False

    # The leader and its followers.

    @action
    def leader_alters_isr(self, isr: Set[Broker]) -> None:
        """``alterPartition``, of a leader that knows the present state. Followers join once they have caught up."""
        leader = self.leader
        require(leader is not None and leader in isr and isr <= Set(self.replicas) and isr != self.isr)
        require(isr - self.isr <= self.complete and isr <= self.active())
        self.change(
            self.replicas, self.adding, self.removing, isr, self.active(), Set[Broker](), self.default_election(),
            self.elr_is_on, False, 1,
        )
        self.answer(Error.NONE if self.leader == leader else Error.NEW_LEADER_ELECTED)

    @action
    def leader_commits(self) -> None:
        """A record with acks=all: whoever is not in the ISR lacks it."""
        require(self.leader is not None and len(self.isr) >= self.effective_min_isr())
        require(not self.complete <= self.isr)
        self.complete &= self.isr

    @action
    def follower_catches_up(self, follower: Broker) -> None:
        """From a leader that has everything."""
        leader = self.leader
        require(leader is not None and leader in self.complete and follower in Set(self.replicas) - self.complete)
        require(self.status[follower] != Status.UNREGISTERED)
        self.complete.add(follower)

    @action
    def broker_deletes_replica(self, broker: Broker) -> None:
        """A broker that is no replica any more deletes its log."""
        require(broker in self.complete - Set(self.replicas))
        self.complete.discard(broker)

    @action
    def broker_assigns_directory(self, broker: Broker) -> None:
        """``handleAssignReplicasToDirs``, with the directory that it has."""
        error = Error.NONE
        require(self.status[broker] != Status.UNREGISTERED)
        if broker not in Set(self.replicas):
            error = Error.NOT_LEADER_OR_FOLLOWER
        else:
            error = self.error_of(self.change(
                self.replicas, self.adding, self.removing, self.isr, self.active(), Set[Broker](), Election.ONLINE,
                self.elr_is_on and not self.assignment_forgets_elr, self.recovering, 1,
            ))
        self.answer(error)

    # What Kafka promises.

    @invariant
    def clean_leader_has_what_is_committed(self) -> bool:
        """Unless a loss was announced, whoever leads has everything that was acknowledged with acks=all."""
        return self.lossy or self.leader is None or self.leader in self.complete

    @invariant
    def accepted_target_is_reached(self) -> bool:
        """Once no reassignment is under way, the replicas are those that were asked for last."""
        return len(self.adding) > 0 or len(self.removing) > 0 or Set(self.replicas) == self.wanted

    @invariant
    def nobody_is_added_and_removed(self) -> bool:
        return self.adding.isdisjoint(self.removing)

    @invariant
    def elr_is_of_replicas(self) -> bool:
        """KIP-966: the ELR is a part of the replicas."""
        return self.elr <= Set(self.replicas)

    @invariant
    def last_known_leader_is_somebody(self) -> bool:
        return not self.last_known_is_nobody

    @invariant
    def leader_is_a_replica(self) -> bool:
        return self.leader is None or self.leader in Set(self.replicas)

    @invariant
    def isr_and_elr_are_disjoint(self) -> bool:
        return self.isr.isdisjoint(self.elr)
