"""The leader of a partition as Kafka has it: ``ShippedAlterIsr`` (model/alter_isr/core.py) with what the code adds.

``kafka.cluster.Partition`` with its ``AlterPartitionManager``. A fetch, the expansion of the ISR that it causes and the
rise of the high watermark are one step, as they are there. What the code adds to KIP-497:

* the leader knows a follower by its fetches, and only by those of its present leadership (``Replica``);
* a follower was caught up lately, or it was not: ``replica.lag.time.max.ms``, which is passed as a whole;
* the high watermark waits for such a follower, too, even if it is not in the maximal ISR (``maybeIncrementLeaderHW``);
* what the leader's metadata cache says of a broker may be out of date;
* broker epochs (KIP-903): a fetch of an earlier life of a broker is refused, and a request quotes what the leader saw;
* the next change waits until the last request is answered, even if the metadata has settled it (KAFKA-12686).

One step is as the KIP has it, and Kafka's own is another (``KafkaLeader``): only a newer state settles what is pending.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import Between, Constant, Map, Set, action, initial, require, rule
from model.alter_isr.core import (
    AlterIsrRequest,
    AlterIsrResponse,
    Broker,
    LeaderAndIsr,
    ShippedAlterIsr,
    Status,
)

BrokerEpoch = Annotated[int, Between(0, "max_restarts")]
KnownOffset = Annotated[int, Between(-1, "max_offset")]
"""-1 is ``UnifiedLog.UNKNOWN_OFFSET``."""


class ApiError(Enum):
    """What the last fetch or produce request was answered."""

    NONE = "NONE"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"
    NOT_LEADER_OR_FOLLOWER = "NOT_LEADER_OR_FOLLOWER"
    NOT_ENOUGH_REPLICAS = "NOT_ENOUGH_REPLICAS"


class Fault(Enum):
    """What is wrong with a fetch."""

    OLDER_LEADER_EPOCH = "its leader epoch is an older one"
    NEWER_LEADER_EPOCH = "its leader epoch is a newer one"
    EARLIER_LIFE = "its broker epoch is that of the follower's first registration"


class Failure(Enum):
    """What else may be answered to an AlterPartition request."""

    STALE_BROKER_EPOCH = "the whole request is refused, and sent again"
    UNKNOWN_SERVER_ERROR = "sent again, as long as it is pending"


class PartitionLeader(ShippedAlterIsr):
    """One broker's ``Partition``, which leads at first, and the controller on the other side of its channel.

    ``log_end_offset`` is what a follower has; ``fetch_offsets`` is what the leader knows of that.
    """

    max_restarts = Constant(1)

    registered: Map[Broker, BrokerEpoch]
    """The broker epoch of each broker's present registration."""
    cached: Map[Broker, Status]
    cached_epoch: Map[Broker, BrokerEpoch]
    """The leader's metadata cache."""
    fetch_offsets: Map[Broker, KnownOffset]
    fetched_broker_epoch: Map[Broker, BrokerEpoch | None]
    """The offset and the broker epoch of each follower's last fetch."""
    seen_end: Map[Broker, KnownOffset]
    """The leader's log end offset at each follower's last fetch."""
    fetched_lately: Set[Broker]
    caught_up_lately: Set[Broker]
    """Whose last fetch was, and who was level with the leader, within ``replica.lag.time.max.ms``."""
    leader_epoch_start_offset: KnownOffset = 0
    """The leader's log end offset at the start of its leader epoch."""
    quoted: Map[Broker, BrokerEpoch | None]
    """The broker epochs in the request that is awaited."""
    error: ApiError = ApiError.NONE

    @initial
    def start(self) -> None:
        super().start()
        self.registered = Map({broker: 0 for broker in Broker})
        self.cached = self.status
        self.cached_epoch = self.registered
        self.forget_followers()
        self.fetched_lately = Set()
        self.caught_up_lately = self.isr - {self.leader}
        self.quoted = self.no_epochs()

    def no_epochs(self) -> Map[Broker, BrokerEpoch | None]:
        return Map({broker: None for broker in Broker})

    def forget_followers(self) -> None:
        self.fetch_offsets = Map({broker: -1 for broker in Broker})
        self.fetched_broker_epoch = self.no_epochs()
        self.seen_end = Map({broker: -1 for broker in Broker})
        self.fetched_lately = Set()
        self.caught_up_lately = Set()

    def end(self) -> int:
        return self.log_end_offset[self.leader]

    # The log.

    @action
    def leader_appends(self) -> None:
        """A record with acks=all (``appendRecordsToLeader``)."""
        require(self.end() < self.max_offset)
        if not self.leading:
            self.error = ApiError.NOT_LEADER_OR_FOLLOWER
        elif self.is_under_min_isr():
            self.error = ApiError.NOT_ENOUGH_REPLICAS
        else:
            self.append()

    @action
    def leader_appends_for_itself(self) -> None:
        """A record with acks=1, which is taken with any ISR."""
        require(self.leading and self.end() < self.max_offset)
        self.append()

    def append(self) -> None:
        self.error = ApiError.NONE
        self.log_end_offset[self.leader] += 1
        self.advance()

    def is_under_min_isr(self) -> bool:
        return self.leading and not self.may_advance()

    @rule
    def waits_for(self, follower: Broker) -> bool:
        """Whether the high watermark waits for one that may be about to join (``shouldWaitForReplicaToJoinIsr``)."""
        return self.is_caught_up(follower) and self.is_eligible(follower)

    def replicated_offset(self) -> int:
        reached = self.end()
        for broker in Broker:
            counts = broker in self.maximal_isr() or self.waits_for(broker)
            if broker != self.leader and counts and self.fetch_offsets[broker] < reached:
                reached = self.fetch_offsets[broker]
        return reached

    def advance(self) -> None:
        """``maybeIncrementLeaderHW``."""
        if self.leading and self.may_advance() and self.replicated_offset() > self.high_watermark:
            self.high_watermark = self.replicated_offset()

    @action
    def leader_advances_high_watermark(self) -> None:
        """Never by itself: with what causes it."""
        require(False)

    # Followers fetch.

    @action
    def follower_fetches(self, follower: Broker) -> None:
        """In the leader's epoch. The answer brings one record, if there is one."""
        require(follower != self.leader)
        self.take_fetch(follower, self.registered[follower])
        if self.error == ApiError.NONE and self.log_end_offset[follower] < self.end():
            self.log_end_offset[follower] += 1

    @action
    def follower_hears_nothing(self, follower: Broker) -> None:
        """The leader has answered a fetch, and the answer is lost."""
        require(follower != self.leader and self.leading)
        self.take_fetch(follower, self.registered[follower])

    @rule
    def is_of_earlier_life(self, follower: Broker, epoch: BrokerEpoch) -> bool:
        """The cache knows a later registration of the follower (``updateFetchStateOrThrow``)."""
        return self.cached[follower] != Status.FENCED and self.cached_epoch[follower] > epoch

    def take_fetch(self, follower: Broker, epoch: BrokerEpoch) -> None:
        """``fetchRecords`` and ``updateFollowerFetchState``."""
        if not self.leading or self.is_of_earlier_life(follower, epoch):
            self.error = ApiError.NOT_LEADER_OR_FOLLOWER
        else:
            self.error = ApiError.NONE
            self.note_time(follower, self.log_end_offset[follower])
            moved = self.fetch_offsets[follower] != self.log_end_offset[follower]
            self.fetch_offsets[follower] = self.log_end_offset[follower]
            self.fetched_broker_epoch[follower] = epoch
            self.expand(follower)
            if moved:
                self.advance()

    @rule
    def note_time(self, follower: Broker, offset: int) -> None:
        """A follower is caught up when it has all that the leader had at its fetch before."""
        level = offset >= self.end() or (offset >= self.seen_end[follower] and follower in self.fetched_lately)
        if level:
            self.caught_up_lately.add(follower)
        self.seen_end[follower] = max(self.seen_end[follower], self.end())
        self.fetched_lately.add(follower)

    @action
    def time_passes(self) -> None:
        """``replica.lag.time.max.ms``, in which nothing happens."""
        require(len(self.fetched_lately | self.caught_up_lately) > 0)
        self.fetched_lately = Set()
        self.caught_up_lately = Set()

    def is_caught_up(self, follower: Broker) -> bool:
        """``ReplicaState.isCaughtUp``."""
        return self.fetch_offsets[follower] == self.end() or follower in self.caught_up_lately

    # The leader asks for changes.

    @rule
    def is_eligible(self, follower: Broker) -> bool:
        """As far as the leader's cache says (``isReplicaIsrEligible``)."""
        return (
            self.cached[follower] == Status.ACTIVE
            and self.fetched_broker_epoch[follower] == self.cached_epoch[follower]
        )

    def caught_up(self, follower: Broker) -> bool:
        return self.fetch_offsets[follower] >= max(self.high_watermark, self.first_offset())

    @rule
    def first_offset(self) -> int:
        """What a follower must have of the leader's epoch to join (KIP-320)."""
        return self.leader_epoch_start_offset

    def expand(self, follower: Broker) -> None:
        """``maybeExpandIsr``."""
        if follower not in self.isr and self.is_eligible(follower) and self.caught_up(follower):
            self.ask_for(self.isr | {follower})

    @action
    def leader_looks_for_laggards(self) -> None:
        """``maybeShrinkIsr``."""
        laggards = Set(each for each in self.isr if each != self.leader and not self.is_caught_up(each))
        if len(laggards) > 0:
            self.ask_for(self.isr - laggards)

    def ask_for(self, isr: Set[Broker]) -> None:
        """Nothing, if a change is pending or a request is under way (OPERATION_NOT_ATTEMPTED)."""
        if self.leading and self.may_propose(isr):
            self.propose(isr)

    def propose(self, isr: Set[Broker]) -> None:
        super().propose(isr)
        self.quoted = Map({broker: self.epoch_of(broker, isr) for broker in Broker})

    @rule
    def epoch_of(self, broker: Broker, isr: Set[Broker]) -> BrokerEpoch | None:
        """``addBrokerEpochToIsr``: of one that has not fetched yet, none."""
        epoch: BrokerEpoch | None = None
        if broker == self.leader:
            epoch = self.registered[broker]
        elif broker in isr:
            epoch = self.fetched_broker_epoch[broker]
        return epoch

    @action
    def leader_proposes_shrink(self, laggards: Set[Broker]) -> None:
        """As ``leader_looks_for_laggards`` only."""
        require(False)

    @action
    def leader_proposes_expand(self, follower: Broker) -> None:
        """With a fetch only."""
        require(False)

    # Answers.

    def answered(self) -> None:
        self.awaited = None
        self.quoted = self.no_epochs()

    @action
    def leader_receives_response(self, response: AlterIsrResponse) -> None:
        require(response in self.responses)
        super().leader_receives_response(response)
        self.answered()

    def on_acceptance(self, request: AlterIsrRequest) -> None:
        super().on_acceptance(request)
        self.advance()

    @action
    def request_fails(self, request: AlterIsrRequest, failure: Failure) -> None:
        """What is sent again is the same request."""
        require(request in self.requests)
        if failure == Failure.UNKNOWN_SERVER_ERROR and not self.is_pending(request):
            self.requests.discard(request)
            self.answered()

    # The metadata.

    def install(self, update: LeaderAndIsr) -> None:
        """``makeLeader`` and ``makeFollower``."""
        self.pending = Set()
        self.partition_epoch = update.partition_epoch
        if update.leader == self.leader:
            self.isr = update.isr
            if update.leader_epoch > self.leader_epoch:
                self.begin_epoch(update)
            self.leading = True
            self.advance()
        else:
            self.leading = False
            self.leader_epoch = update.leader_epoch
            self.isr = Set()
            self.leader_epoch_start_offset = -1
            self.forget_followers()

    def begin_epoch(self, update: LeaderAndIsr) -> None:
        """``Replica.resetReplicaState``."""
        if not self.keeps_what_it_knew(update):
            self.forget_followers()
        else:
            self.seen_end = Map({broker: self.end() if broker != self.leader else -1 for broker in Broker})
            self.fetched_lately = update.isr - {self.leader}
        self.caught_up_lately = update.isr - {self.leader}
        self.leader_epoch = update.leader_epoch
        self.leader_epoch_start_offset = self.end()

    @rule
    def keeps_what_it_knew(self, update: LeaderAndIsr) -> bool:
        """A leader that goes on leading knows what its followers have; but not if it has skipped a leader epoch, in
        which they may have truncated.
        """
        return self.leading and update.leader_epoch == self.leader_epoch + 1

    @action
    def cache_learns(self, broker: Broker) -> None:
        """The metadata cache has the broker's present registration."""
        require(self.cached[broker] != self.status[broker] or self.cached_epoch[broker] != self.registered[broker])
        self.cached[broker] = self.status[broker]
        self.cached_epoch[broker] = self.registered[broker]

    # The controller, and what others do.

    def is_ineligible(self, request: AlterIsrRequest) -> bool:
        return super().is_ineligible(request) or not all(self.is_of_this_life(broker) for broker in request.isr)

    @rule
    def is_of_this_life(self, broker: Broker) -> bool:
        """KIP-903."""
        return self.quoted[broker] is None or self.quoted[broker] == self.registered[broker]

    @action
    def broker_registers_again(self, broker: Broker) -> None:
        """A follower has lost its disk. Its registration takes it out of the ISR."""
        require(broker != self.leader and broker != self.controller.leader)
        require(self.registered[broker] < self.max_restarts)
        require(self.may_change() or broker not in self.controller.isr)
        self.registered[broker] += 1
        self.status[broker] = Status.FENCED
        self.log_end_offset[broker] = 0
        self.evict(broker)


class KafkaLeader(PartitionLeader):
    """What Kafka does: ``Partition.makeLeader`` takes a state of the partition epoch that it has, too, and forgets what
    is pending; and it keeps what it knew of followers as long as it took itself for the leader.
    """

    def is_news(self, update: LeaderAndIsr) -> bool:
        return update.partition_epoch >= self.partition_epoch

    def keeps_what_it_knew(self, update: LeaderAndIsr) -> bool:
        return self.leading


class ObservedLeader(KafkaLeader):
    """With what only a run beside Kafka is asked: wrong fetches, requests about a topic that the controller does not
    know, and terms of other leaders in between.
    """

    @action
    def follower_fetches_wrongly(self, follower: Broker, fault: Fault) -> None:
        require(follower != self.leader)
        require(fault != Fault.EARLIER_LIFE or self.registered[follower] > 0)
        require(fault != Fault.OLDER_LEADER_EPOCH or self.leader_epoch > 0)
        if fault == Fault.OLDER_LEADER_EPOCH:
            self.error = ApiError.FENCED_LEADER_EPOCH
        elif fault == Fault.NEWER_LEADER_EPOCH:
            self.error = ApiError.UNKNOWN_LEADER_EPOCH
        else:
            self.take_fetch(follower, 0)

    @action
    def topic_is_unknown(self, request: AlterIsrRequest) -> None:
        """UNKNOWN_TOPIC_ID: the leader waits for the metadata."""
        require(request in self.requests)
        self.requests.discard(request)
        self.answered()

    @action
    def controller_elects(self, successor: Broker) -> None:
        """Another than the first broker, or that one again."""
        require(self.controller.leader is not None and successor != self.controller.leader)
        require(self.may_lead(successor) and self.may_change() and self.controller.leader_epoch < self.max_leader_epoch)
        self.change(self.controller.replace(leader=successor, leader_epoch=self.controller.leader_epoch + 1))

    @action
    def follower_truncates(self, follower: Broker) -> None:
        """Another leads, or led, and the follower has dropped its last record to follow it."""
        require(self.controller.leader != self.leader and follower != self.leader)
        require(self.log_end_offset[follower] > 0)
        self.log_end_offset[follower] -= 1


WALKED = {"max_offset": 6, "max_partition_epoch": 20, "max_leader_epoch": 8, "max_restarts": 3, "in_flight": 1}
"""The bounds of a run beside Kafka."""
