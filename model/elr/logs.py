"""KIP-966 with real logs: eligible leader replicas, high watermarks, and brokers that learn of each decision later.

partition.py is where to begin: there a log is complete or not, and brokers know at once what the controller decides.
Here the leader, the followers and the fetches are those of model/alter_isr/failover.py, and the controller is
KIP-966's. A leader may count an ISR that is no longer the controller's, and several replicas may believe that they
lead.

A crash and the registration after it are one step: a broker that is down does nothing that anybody could notice. As in
Kafka since 3.6, a shrink begins no leader epoch (KAFKA-15021).
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Set, action, initial, require, rule
from model.alter_isr.failover import AlterIsrRestarts, Broker, LeaderAndIsr, LeaderEpoch, Offset


class EligibleLeaderLogs(AlterIsrRestarts):
    """Every change of the partition is a new partition epoch ("version"). ``max_fences``, ``max_shrinks`` and
    ``max_records`` bound what would go on for ever.
    """

    max_fences = Constant(1)
    max_shrinks = Constant(1)
    max_records = Constant(1)
    first_isr = Constant(3)
    """How many replicas are in sync at first; the others are fenced."""

    elr: Set[Broker]
    last_known_leader: Broker | None
    fences: Annotated[int, Between(0, "max_fences")]
    shrinks: Annotated[int, Between(0, "max_shrinks")]
    records: Annotated[int, Between(0, "max_records")]

    @initial
    def start(self) -> None:
        super().start()
        first = Set[Broker]()
        for broker in Broker:
            if len(first) < self.first_isr:
                first = first | {broker}
        self.states[0] = LeaderAndIsr(leader=Broker(1), leader_epoch=0, isr=first)
        self.fenced = Set(Broker) - first
        self.elr = Set()
        self.last_known_leader = None
        self.fences = 0
        self.shrinks = 0
        self.records = 0

    def leader_epoch_after_shrink(self) -> LeaderEpoch:
        return self.current().leader_epoch

    # The controller: PartitionChangeBuilder, as in partition.py.

    @rule
    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        """``maybePopulateTargetElr``."""
        if len(isr) >= self.min_insync_replicas:
            return Set[Broker]()
        return (self.elr | self.current().isr) - isr - unclean_shutdown

    def change(
        self, isr: Set[Broker], unclean_shutdown: Set[Broker], active: Set[Broker], successor: Broker | None
    ) -> None:
        """``build``: the ELR, an election if it is needed, and a new version if anything has changed."""
        before = self.current()
        elr = self.target_elr(isr, unclean_shutdown)
        candidates = (isr if len(isr) > 0 else elr) & active
        last = self.last_known_leader
        if before.leader is not None and before.leader in candidates:
            require(successor == before.leader)
        elif len(candidates) > 0:
            require(successor is not None and successor in candidates)
        elif len(isr) == 0 and len(elr) == 0 and last is not None and last in active:
            require(successor == last)
        else:
            require(successor is None)
        if successor is not None and successor not in isr:
            isr = Set(broker for broker in Broker if broker == successor)
            elr = elr - isr
        if successor is not None:
            self.last_known_leader = None
        elif before.leader is not None:
            self.last_known_leader = before.leader
        self.elr = elr
        if successor != before.leader:
            require(self.may_elect())
            self.decide(successor, before.leader_epoch + 1, isr)
        elif isr != before.isr:
            require(self.may_decide())
            self.decide(successor, before.leader_epoch, isr)

    def active(self) -> Set[Broker]:
        return Set(Broker) - self.fenced

    @action
    def controller_accepts(self, leader: Broker) -> None:
        """AlterPartition: the leader stays, and who leaves an ISR that becomes too small is eligible
        (``ReplicationControlManager.alterPartition``).
        """
        require(self.request_in_flight(leader) and self.may_decide())
        require(self.request_is_current(leader) and self.members_are_eligible(leader))
        self.change(self.replicas[leader].pending, Set[Broker](), self.active(), leader)

    @action
    def controller_fences_leader(self, leader: Broker, successor: Broker) -> None:
        """A leader's session expires, and somebody in sync or eligible leads
        (``ReplicationControlManager.handleBrokerFenced``).
        """
        require(self.current().leader == leader and leader != successor)
        self.fence(leader, successor)

    @action
    def controller_fences(self, broker: Broker) -> None:
        """A session expires, and the leader stays, or nobody leads.

        ``ReplicationControlManager.handleBrokerFenced``.
        """
        leader = self.current().leader
        self.fence(broker, None if leader == broker else leader)

    def fence(self, broker: Broker, successor: Broker | None) -> None:
        """``handleBrokerFenced``: the broker leaves the ISR, even as its last member."""
        require(broker not in self.fenced and self.fences < self.max_fences)
        self.fences += 1
        self.leave(broker, Set[Broker](), successor)
        self.fenced.add(broker)

    def leave(self, broker: Broker, suspect: Set[Broker], successor: Broker | None) -> None:
        self.change(self.current().isr - {broker}, suspect, self.active() - {broker}, successor)

    @action
    def controller_unfences(self, broker: Broker) -> None:
        """``ReplicationControlManager.handleBrokerUnfenced``: it leads if nobody does, and it is eligible."""
        require(broker in self.fenced)
        leader = self.current().leader
        if leader is None:
            last = len(self.elr) == 0 and len(self.current().isr) == 0 and self.last_known_leader == broker
            leads = broker in self.elr or last
            self.change(self.current().isr, Set[Broker](), self.active() | {broker}, broker if leads else None)
        self.fenced.discard(broker)

    @action
    def broker_restarts(self, broker: Broker, kept: Offset) -> None:
        """An unclean shutdown that does not need another leader; see ``leader_restarts``.

        ``ReplicationControlManager.handleBrokerUncleanShutdown``.
        """
        leader = self.current().leader
        self.register(broker, kept, None if leader == broker else leader)

    @action
    def leader_restarts(self, leader: Broker, successor: Broker, kept: Offset) -> None:
        """An unclean shutdown of the leader, while somebody else can lead.

        ``ReplicationControlManager.handleBrokerUncleanShutdown``.
        """
        require(self.current().leader == leader and leader != successor)
        self.register(leader, kept, successor)

    def register(self, broker: Broker, kept: Offset, successor: Broker | None) -> None:
        """The new incarnation has the first ``kept`` records, and registers (``registerBroker``)."""
        require(kept <= len(self.replicas[broker].log))
        require(sum(self.broker_epochs[other] for other in Broker) < self.max_restarts)
        self.leave_at_registration(broker, successor)
        self.fenced.add(broker)
        self.broker_epochs[broker] += 1
        self.begin_again(broker, kept)

    @rule
    def leave_at_registration(self, broker: Broker, successor: Broker | None) -> None:
        """After an unclean shutdown a broker is neither in sync nor eligible (``handleUncleanBrokerShutdown``)."""
        self.leave(broker, Set([broker]), successor)

    # The leader.

    @action
    def leader_appends(self, leader: Broker) -> None:
        """With acks=all: refused while the confirmed ISR is too small (``appendRecordsToLeader``)."""
        require(self.records < self.max_records and not self.under_min_isr(leader))
        super().leader_appends(leader)
        self.records += 1

    @action
    def leader_proposes_shrink(self, leader: Broker, laggards: Set[Broker]) -> None:
        require(self.shrinks < self.max_shrinks)
        super().leader_proposes_shrink(leader, laggards)
        self.shrinks += 1
