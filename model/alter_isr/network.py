"""KIP-497 with failover over a bad network: fetches and their answers are late, overtaken, delivered twice, or lost.

In failover.py (begin with core.py) a fetch and its answer are one step, and so are they here if both are on time. One
that is late waits and arrives in any later state, or never: at a leader that has been replaced, from a follower that
has lost its log since, or at a follower that follows somebody else by now. So a few late messages at a time cover a
lot, as in model/kraft/network.py.

The other messages are late in failover.py already: AlterIsr requests and answers, which count only at the partition
epoch that they quote, and the controller's decisions, which each replica learns when it will. A request is sent again
until it is answered, so a late fetch may arrive more than once. A response does not, and is lost with its connection.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Capacity, Constant, Record, Set, action, initial, require, rule
from model import replica_log
from model.alter_isr.failover import AlterIsrRestarts, Broker, BrokerEpoch, LeaderEpoch, Offset


class Fetch(Record):
    """A follower's fetch: the end of its log, and the epochs by which it is fenced (KIP-320, KIP-595, KIP-903)."""

    follower: Broker
    leader: Broker
    leader_epoch: LeaderEpoch
    broker_epoch: BrokerEpoch
    offset: Offset
    last_epoch: LeaderEpoch
    """The epoch of the last record; 0 if there is none."""


class Answer(Record):
    """A leader's answer to ``fetch``: a record, if there is one, with the leader's high watermark in ``bound``; or the
    largest epoch that both may have, and in ``bound`` where it ends.
    """

    fetch: Fetch
    diverging: bool
    epoch: LeaderEpoch | None
    bound: Offset


class LateFetches(AlterIsrRestarts):
    """Replicas that restart and lose records, and messages of theirs that outlive that."""

    late_fetches = Constant(1)
    late_answers = Constant(1)
    """How many may be late at a time."""
    duplicates = Constant(True)
    """Whether a late fetch may arrive more than once."""

    fetches: Annotated[Set[Fetch], Capacity("late_fetches")]
    answers: Annotated[Set[Answer], Capacity("late_answers")]

    @initial
    def start(self) -> None:
        super().start()
        self.fetches = Set()
        self.answers = Set()

    def fetch_by(self, follower: Broker, leader: Broker) -> Fetch:
        """What the follower asks for, as its log is now."""
        log = self.replicas[follower].log
        return Fetch(
            follower=follower,
            leader=leader,
            leader_epoch=self.known(follower).leader_epoch,
            broker_epoch=self.broker_epochs[follower],
            offset=len(log),
            last_epoch=log[len(log) - 1] if len(log) > 0 else 0,
        )

    # What is late.

    @action
    def fetch_is_late(self, follower: Broker, leader: Broker) -> None:
        """A fetch is on its way to a broker that leads, as far as the follower knows.

        ``RemoteLeaderEndPoint.fetch``.
        """
        require(follower != leader and self.known(follower).leader == leader and len(self.fetches) < self.late_fetches)
        self.fetches.add(self.fetch_by(follower, leader))

    @action
    def answer_is_late(self, follower: Broker, leader: Broker) -> None:
        """A fetch is on time, its answer is not. ``Partition.fetchRecords``."""
        require(self.asks(follower, leader) and len(self.answers) < self.late_answers)
        fetch = self.fetch_by(follower, leader)
        require(self.may_answer(fetch))
        self.answers.add(self.answer_to(fetch))
        self.record(fetch)

    @action
    def answer_is_lost(self, follower: Broker, leader: Broker) -> None:
        """A fetch is on time, its answer never arrives. ``Partition.fetchRecords``."""
        require(self.asks(follower, leader))
        fetch = self.fetch_by(follower, leader)
        require(self.may_answer(fetch))
        self.record(fetch)

    @action
    def late_fetch_arrives(self, fetch: Fetch, again: bool) -> None:
        """Its answer is on time, and may arrive ``again`` (``Partition.fetchRecords``)."""
        require(fetch in self.fetches and self.may_answer(fetch) and (self.duplicates or not again))
        answer = self.answer_to(fetch)
        self.record(fetch)
        self.take(answer)
        if not again:
            self.fetches.discard(fetch)

    @action
    def late_fetch_is_answered_late(self, fetch: Fetch) -> None:
        """``Partition.fetchRecords``."""
        require(fetch in self.fetches and self.may_answer(fetch) and len(self.answers) < self.late_answers)
        self.answers.add(self.answer_to(fetch))
        self.record(fetch)
        self.fetches.discard(fetch)

    @action
    def late_fetch_lets_follower_join(self, fetch: Fetch) -> None:
        """It shows the leader that the follower has caught up, or had (``Partition.updateFollowerFetchState``). Its
        answer is lost.
        """
        require(fetch in self.fetches and self.may_answer(fetch) and not self.is_diverging(fetch))
        self.record(fetch)
        self.propose_expand(fetch.leader, fetch.follower)
        self.fetches.discard(fetch)

    @action
    def late_answer_arrives(self, answer: Answer) -> None:
        """``AbstractFetcherThread.processFetchRequest``."""
        require(answer in self.answers)
        self.answers.discard(answer)
        self.take(answer)

    @action
    def late_fetch_is_lost(self, fetch: Fetch) -> None:
        """Or it is refused: the leader's epoch is another one by now, or the follower's broker epoch.

        ``Partition.checkCurrentLeaderEpoch``.
        """
        require(fetch in self.fetches)
        self.fetches.discard(fetch)

    @action
    def late_answer_is_lost(self, answer: Answer) -> None:
        """The environment: its connection is closed."""
        require(answer in self.answers)
        self.answers.discard(answer)

    # The leader.

    def may_answer(self, fetch: Fetch) -> bool:
        """The receiver leads in the follower's leader epoch, and in the life of the follower that it knows."""
        return self.leads(fetch.leader) and self.leader_epoch_is_valid(fetch) and self.broker_epoch_is_valid(fetch)

    @rule
    def leader_epoch_is_valid(self, fetch: Fetch) -> bool:
        """The leader answers a fetch of its own leader epoch only (KIP-320)."""
        return fetch.leader_epoch == self.known(fetch.leader).leader_epoch

    @rule
    def broker_epoch_is_valid(self, fetch: Fetch) -> bool:
        """A fetch of an earlier life of the follower says nothing about its log (KIP-903; Kafka compares with the
        broker epoch in the leader's metadata cache, in Replica.updateFetchStateOrThrow).
        """
        return fetch.broker_epoch >= self.fetched_broker_epochs[fetch.leader][fetch.follower]

    def is_diverging(self, fetch: Fetch) -> bool:
        """The follower's log cannot be a prefix of the leader's (KIP-595, "Fetch")."""
        log = self.replicas[fetch.leader].log
        epoch = replica_log.epoch_up_to(log, fetch.last_epoch)
        end = replica_log.end_offset_for_epoch(log, fetch.last_epoch)
        return fetch.offset > 0 and (epoch < fetch.last_epoch or end < fetch.offset)

    def answer_to(self, fetch: Fetch) -> Answer:
        log = self.replicas[fetch.leader].log
        if self.is_diverging(fetch):
            return Answer(
                fetch=fetch,
                diverging=True,
                epoch=replica_log.epoch_up_to(log, fetch.last_epoch),
                bound=replica_log.end_offset_for_epoch(log, fetch.last_epoch),
            )
        return Answer(
            fetch=fetch,
            diverging=False,
            epoch=log[fetch.offset] if fetch.offset < len(log) else None,
            bound=self.replicas[fetch.leader].high_watermark,
        )

    def record(self, fetch: Fetch) -> None:
        """What a fetch tells the leader, unless the follower has to truncate first."""
        if not self.is_diverging(fetch):
            self.replicas[fetch.leader].fetch_offsets[fetch.follower] = fetch.offset
            self.fetched_broker_epochs[fetch.leader][fetch.follower] = fetch.broker_epoch
            self.advance_high_watermark(fetch.leader)

    # The follower.

    def take(self, answer: Answer) -> None:
        """Appends the record, or truncates. What is no longer of use is dropped."""
        follower = answer.fetch.follower
        epoch = answer.epoch
        if self.is_connected(answer) and self.is_of_this_epoch(answer) and self.is_of_this_log(answer):
            if not answer.diverging:
                if epoch is not None:
                    self.replicas[follower].log.append(epoch)
                self.replicas[follower].high_watermark = min(answer.bound, len(self.replicas[follower].log))
            elif epoch is not None:
                self.truncate(follower, self.end_in_common(follower, epoch, answer.bound))

    def end_in_common(self, follower: Broker, epoch: LeaderEpoch, end: Offset) -> Offset:
        """Where the follower truncates if the leader's records of ``epoch`` and earlier end at ``end``, as in
        replica_log.py, where the leader's log is at hand.
        """
        log = self.replicas[follower].log
        own_end = replica_log.end_offset_for_epoch(log, epoch)
        return own_end if replica_log.epoch_up_to(log, epoch) < epoch else min(own_end, end)

    def is_connected(self, answer: Answer) -> bool:
        """The follower has not restarted since it asked. Its fetch may still be in a queue; its connection is
        closed."""
        return answer.fetch.broker_epoch == self.broker_epochs[answer.fetch.follower]

    @rule
    def is_of_this_epoch(self, answer: Answer) -> bool:
        """The follower follows the leader that it asked, in the same leader epoch
        (``AbstractFetcherThread.processFetchRequest``).
        """
        follower = answer.fetch.follower
        return not self.leads(follower) and answer.fetch.leader_epoch == self.known(follower).leader_epoch

    @rule
    def is_of_this_log(self, answer: Answer) -> bool:
        """The follower's log ends where it ended when it asked, with a record of the same epoch.

        Kafka compares offsets only. It can, since a follower has one fetch in flight to a leader, so that an answer is
        late only if the leader epoch is another one.
        """
        asked = self.fetch_by(answer.fetch.follower, answer.fetch.leader)
        return asked.offset == answer.fetch.offset and asked.last_epoch == answer.fetch.last_epoch
