"""Kafka's controller on ZooKeeper with logs: a wrong ISR loses what was committed.

The draft is about leaders and ISRs (controller.py, where to begin). What they are for is added here, as far as the
draft says it: a leader writes; followers fetch, and first truncate (the draft's step 4.1); a record is committed when
every member of the ISR that the leader knows has it; and only a follower that has caught up joins the ISR.

A log has room for one record, which is enough to lose it, or to have another one in its place. A record is the version
of the decision by which its leader led: no two leaders have the same (``one_leader_for_a_version``). A fetch takes over
the leader's log as it is. A crash loses nothing that is in a log; a replica that comes back without its log is the
subject of model/alter_isr/failover.py, and so are high watermarks and late fetches.

The draft does not say what a leader does while it does not know whether its change of the ISR was written, nor what it
does when a second attempt is refused. The broker that it has asked to add may be in the ISR, and be elected, and the
leader does not count that one. So it commits nothing until it knows (``may_commit``), and if it finds another leader in
ZooKeeper, it no longer leads (``refresh``).
"""

from __future__ import annotations

from floodmark import Map, action, initial, require, rule
from model.zk_controller.controller import Broker, Partition, Stage, Version, ZkController


class ReplicatedLogs(ZkController):
    """Every broker has a log of at most one record for each partition; 0 is an empty log."""

    logs: Map[Partition, Map[Broker, Version]]
    committed: Map[Partition, Version]
    """What was committed first, and so may have been acknowledged to a producer and read by a consumer."""
    replaced: bool = False
    """Whether another record was committed in its place since."""

    @initial
    def start(self) -> None:
        super().start()
        self.logs = Map({partition: Map({broker: 0 for broker in Broker}) for partition in Partition})
        self.committed = Map({partition: 0 for partition in Partition})

    @action
    def leader_writes(self, broker: Broker, partition: Partition) -> None:
        """A producer's record goes to a broker that believes that it leads. ``Partition.appendRecordsToLeader``."""
        require(self.leads(broker, partition) and self.logs[partition][broker] == 0)
        self.logs[partition][broker] = self.processes[broker].known[partition].version

    @rule
    def may_fetch(self, follower: Broker, leader: Broker, partition: Partition) -> bool:
        """A broker fetches from the leader that it knows, and is refused unless that one believes that it leads."""
        process = self.processes[follower]
        return process.stage != Stage.DOWN and process.known[partition].leader == leader

    @action
    def follower_fetches(self, follower: Broker, leader: Broker, partition: Partition) -> None:
        """Truncates what the leader does not have, and copies what it has.

        The draft, "end-to-end latency during a broker failure", step 4.1 (``AbstractFetcherThread.doWork``).
        """
        require(follower != leader and self.leads(leader, partition) and self.may_fetch(follower, leader, partition))
        self.logs[partition][follower] = self.logs[partition][leader]

    @rule
    def refresh(self, broker: Broker, partition: Partition) -> None:
        """A leader whose write was refused follows what it finds: its own write, or a leader from an ISR that it does
        not know.
        """
        self.processes[broker].known[partition] = self.leader_and_isr[partition]

    @rule
    def may_commit(self, broker: Broker, partition: Partition) -> bool:
        """The leader knows which ISR is in ZooKeeper, unless it was replaced."""
        return partition not in self.processes[broker].unanswered

    @action
    def leader_commits(self, broker: Broker, partition: Partition) -> None:
        """Every member of the ISR that the leader knows has the record. ``Partition.maybeIncrementLeaderHW``."""
        record = self.logs[partition][broker]
        require(self.leads(broker, partition) and self.may_commit(broker, partition) and record != 0)
        require(all(self.logs[partition][member] == record for member in self.processes[broker].known[partition].isr))
        require(self.committed[partition] != record)
        if self.committed[partition] == 0:
            self.committed[partition] = record
        else:
            self.replaced = True

    @rule
    def may_join(self, broker: Broker, member: Broker, partition: Partition) -> bool:
        """A follower joins the ISR when it has what the leader has."""
        return super().may_join(broker, member, partition) and (
            self.logs[partition][member] == self.logs[partition][broker]
        )
