"""The first leader of failover.py, while it leads, is the leader of core.py: KIP-497 as written.

failover.py has elections and logs; core.py has one leader and each of its messages. ``FirstLeadership`` follows
failover.py for as long as the first leader believes that it leads, also after the controller has elected another one.
``as_one_leader`` says which state of core.py that is. What failover.py does in one step is a sequence of core.py's
actions, which ``FollowedLeader`` writes down. With ``leader_may_be_fenced`` it also has the one step that core.py
leaves out.

A replica has the records of which the leader knows, since the leader commits no others. A request is in flight from the
step in which the leader asks to the controller's next decision.

This ends with the first leadership. core.py knows nothing of the logs under another leader, of truncation, or of a
leader that is elected again.
"""

from __future__ import annotations

from floodmark import Constant, Map, Set, action, boundary, initial, refines, require
from model.alter_isr import core
from model.alter_isr.failover import Broker, LeaderAndIsr, PartitionEpoch, ShrinksWithinLeaderEpoch

LEADER = Broker(1)
"""The leader that is followed."""


class FirstLeadership(ShrinksWithinLeaderEpoch):
    """Failover until the first leader learns that the controller has another one, or none."""

    leader_may_be_fenced = Constant(True)
    """Whether core.py is given the change in which the leader is fenced and another one elected."""

    @initial
    def start(self) -> None:
        """As in core.py, the first two brokers are in the ISR."""
        super().start()
        self.states[0] = LeaderAndIsr(leader=LEADER, leader_epoch=0, isr=Set({LEADER, Broker(2)}))

    @boundary
    def first_leader_leads(self) -> bool:
        return self.known(LEADER).leader_epoch == 0


def beginning() -> core.LeaderAndIsr:
    """The controller's first decision."""
    return core.LeaderAndIsr(leader=LEADER, leader_epoch=0, isr=Set({LEADER, Broker(2)}), partition_epoch=0)


class FollowedLeader(core.AlterIsr):
    """KIP-497 as written, with sequences of its actions that failover.py takes in one step."""

    leader_may_be_fenced = Constant(True)

    @action
    def leader_appends(self) -> None:
        """The leader commits in the same step. ``Partition.appendRecordsToLeader``."""
        super().leader_appends()
        self.commits()

    def commits(self) -> None:
        """Commits what can be committed."""
        if self.replicated_offset() > self.high_watermark and self.may_advance():
            self.leader_advances_high_watermark()

    @action
    def follower_fetches(self, follower: Broker) -> None:
        """The leader commits in the same step. ``Partition.updateFollowerFetchState``."""
        super().follower_fetches(follower)
        self.commits()

    @action
    def leader_hears_and_proposes_expand(self, follower: Broker, has_news: bool, is_late: bool) -> None:
        """``Partition.maybeExpandIsr``."""
        if has_news:
            self.follower_fetches(follower)
        self.leader_proposes_expand(follower)
        if is_late:
            self.refuses()

    @action
    def leader_proposes_shrink_late(self, laggards: Set[Broker]) -> None:
        """The leader does not know of the latest change. ``Partition.maybeShrinkIsr``."""
        self.leader_proposes_shrink(laggards)
        self.refuses()

    def refuses(self) -> None:
        """The controller refuses the request, and an answer changes nothing."""
        for request in self.requests:
            self.controller_refuses(request, again=False)
        for response in self.responses:
            self.leader_receives_response(response)

    @action
    def controller_applies(self) -> None:
        """The controller applies the request as soon as it arrives. ``ReplicationControlManager.alterPartition``."""
        require(len(self.requests) > 0)
        for request in self.requests:
            self.controller_acknowledges(request, again=False)
            self.controller_writes(request)

    @action
    def controller_fences_first(self, broker: Broker) -> None:
        """A broker leaves the ISR before the request arrives, which is refused then.

        ``ReplicationControlManager.handleBrokerFenced``.
        """
        self.controller_fences(broker)
        self.refuses()

    @action
    def controller_ends_leadership(self, successor: Broker) -> None:
        """Another broker is elected. Who is fenced is of no more interest, so all are as in the beginning.

        ``ReplicationControlManager.electLeader``.
        """
        self.controller_elects(successor)
        self.others_return()

    def others_return(self) -> None:
        """Whoever is fenced comes back, but for the last member of an ISR that nobody leads."""
        for broker in Broker:
            if self.status[broker] == core.Status.FENCED and broker not in self.last_member():
                self.controller_unfences(broker)

    def last_member(self) -> Set[Broker]:
        """The last member of the ISR, if nobody leads."""
        return self.controller.isr if self.controller.leader is None else Set()

    @action
    def controller_fences_only_member(self) -> None:
        """Nobody leads. ``ReplicationControlManager.handleBrokerFenced``."""
        self.controller_fences_last_replica()
        self.others_return()

    @action
    def controller_fences_leader(self, successor: Broker) -> None:
        """The leader's heartbeats stop. In one change, another member of the ISR leads and it leaves the ISR.

        core.py leaves this out: its elections keep the ISR. ``ReplicationControlManager.handleBrokerFenced``.
        """
        require(
            self.leader_may_be_fenced
            and self.controller.leader == self.leader
            and successor != self.leader
            and self.may_lead(successor)
        )
        require(self.may_change() and self.controller.leader_epoch < self.max_leader_epoch)
        self.change(
            self.controller.replace(
                leader=successor,
                leader_epoch=self.controller.leader_epoch + 1,
                isr=self.controller.isr - {self.leader},
            )
        )
        self.others_return()

    @action
    def leader_catches_up_and_commits(self, partition_epoch: PartitionEpoch) -> None:
        """The leader receives all updates up to one in which it still leads. ``Partition.makeLeader``."""
        for update in self.updates:
            if update.partition_epoch <= partition_epoch:
                self.leader_receives_leader_and_isr(update)
        require(self.leading)
        self.commits()

    @action
    def leader_learns_of_its_end(self) -> None:
        """``Partition.makeFollower``. The leader learns that it no longer leads, and is followed no longer: all is as
        in the beginning."""
        require(self.controller.leader != self.leader)
        self.start()


def decision(model: FirstLeadership, partition_epoch: PartitionEpoch) -> core.LeaderAndIsr:
    """What the controller decided, as core.py has it."""
    state = model.state_at(partition_epoch)
    return core.LeaderAndIsr(
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=state.isr,
        partition_epoch=partition_epoch,
    )


def last_decision(model: FirstLeadership) -> PartitionEpoch:
    """The partition epoch that ended the leadership, or the current one. What comes after is not followed."""
    known = model.replicas[LEADER].partition_epoch
    for partition_epoch in range(model.max_partition_epoch + 1):
        if (
            known < partition_epoch
            and partition_epoch <= model.partition_epoch
            and model.state_at(partition_epoch).leader_epoch > 0
        ):
            return partition_epoch
    return model.partition_epoch


def is_fenced(model: FirstLeadership, broker: Broker) -> bool:
    """Whether the controller has fenced a broker, as far as it matters to the leadership."""
    last = model.state_at(last_decision(model))
    return broker in model.fenced if last.leader_epoch == 0 else last.leader is None and broker in last.isr


def requests(model: FirstLeadership) -> Set[core.AlterIsrRequest]:
    """The request of the leader, unless the controller has changed the ISR of its leadership since."""
    leader = model.replicas[LEADER]
    newer = leader.partition_epoch + 1
    is_judged = newer <= model.partition_epoch and model.state_at(newer).leader_epoch == 0
    if len(leader.pending) == 0 or is_judged:
        return Set()
    return Set({core.AlterIsrRequest(leader_epoch=0, isr=leader.pending, partition_epoch=leader.partition_epoch)})


@refines
def as_one_leader(model: FirstLeadership) -> FollowedLeader:
    """While the first leader believes that it leads, it and the controller do what KIP-497 as written does."""
    leader = model.replicas[LEADER]
    is_followed = model.known(LEADER).leader_epoch == 0
    last = last_decision(model) if is_followed else 0
    return FollowedLeader(
        brokers=model.brokers,
        leader_may_be_fenced=model.leader_may_be_fenced,
        max_offset=model.max_offset,
        max_partition_epoch=model.max_partition_epoch,
        max_leader_epoch=model.max_leader_epoch,
        min_insync_replicas=model.min_insync_replicas,
        in_flight=1,
        controller=decision(model, last) if is_followed else beginning(),
        status=Map(
            {
                broker: core.Status.FENCED if is_followed and is_fenced(model, broker) else core.Status.ACTIVE
                for broker in Broker
            }
        ),
        leader=LEADER,
        leading=True,
        leader_epoch=0,
        isr=model.known(LEADER).isr if is_followed else beginning().isr,
        partition_epoch=leader.partition_epoch if is_followed else 0,
        pending=Set({leader.pending}) if is_followed and len(leader.pending) > 0 else Set(),
        high_watermark=leader.high_watermark if is_followed else 0,
        log_end_offset=Map({broker: model.log_end_offset(LEADER, broker) if is_followed else 0 for broker in Broker}),
        requests=requests(model) if is_followed else Set(),
        responses=Set(),
        updates=Set(
            {
                decision(model, partition_epoch)
                for partition_epoch in range(model.max_partition_epoch + 1)
                if is_followed and leader.partition_epoch < partition_epoch and partition_epoch <= last
            }
        ),
        acknowledged=Set(),
    )
