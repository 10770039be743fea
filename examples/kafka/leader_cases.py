"""Cases of the partition's leader that the table of docs/kafka.md settles: Kafka's ``Partition``, asking Kafka's own
controller. The caller is the network between them, the followers, and the clock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bridge import Classes
from controller import Controller
from partition_broker import Broker, State


@dataclass
class Leadership:
    """Broker 1, which leads a partition at first, its controller, and what was done."""

    kafka: Classes
    steps: list[str] = field(default_factory=list)
    controller: Any = None
    broker: Any = None
    answers: list[tuple[str, State]] = field(default_factory=list)
    """What the controller has answered, and has not arrived."""
    others: list[threading.Thread] = field(default_factory=list)

    def begin(self, replicas: tuple[int, ...] = (1, 2, 3), min_isr: int = 1, brokers: int = 4) -> Leadership:
        """All replicas are in sync."""
        everyone = list(range(1, brokers + 1))
        self.controller = Controller(self.kafka, everyone, replicas, elr=False, min_isr=min_isr, unclean=False)
        self.broker = Broker(self.kafka, 1, self.state(), min_isr)
        for each in everyone:
            self.cache(each)
        self.steps.append(f"begin(replicas={list(replicas)}, min_isr={min_isr})")
        return self

    def close(self) -> None:
        for other in self.others:
            other.join()
        if self.broker is not None:
            self.broker.close()

    def fetch_from_other(self, leader: int, follower: int, offset: int, last_epoch: int) -> str:
        """A fetch to a broker that leads now, and has nothing in its log."""
        other = Broker(self.kafka, leader, self.state())
        try:
            answer = other.fetch(follower, offset, last_epoch=last_epoch)
        finally:
            other.close()
        self.steps.append(f"{follower} fetches from {offset} of {leader} -> {answer}")
        return answer

    def told(self, what: str) -> None:
        seen = self.broker
        state = f"isr {list(seen.isr)}, maximal {list(seen.maximal_isr)}, high watermark {seen.high_watermark}"
        self.steps += [what, f"    {state} of {seen.end}" if seen.leads else "    it follows"]

    # The controller.

    def state(self) -> State:
        found = self.controller.partition()
        return State(found.leader, found.leader_epoch, found.isr, found.partition_epoch, found.replicas, found.adding,
                     found.removing)

    def control(self, action: str, *arguments: Any) -> str:
        """Something that the controller does, of which the leader knows nothing yet."""
        answer: str = getattr(self.controller, action)(*arguments)
        now = self.state()
        has = f"replicas {list(now.replicas)}, isr {list(now.isr)}, leader {now.leader}"
        self.steps += [f"{action}({', '.join(map(repr, arguments))}) -> {answer}", f"    the controller has {has}"]
        return answer

    def is_answered(self) -> str:
        """The request that is under way reaches the controller, whose answer does not arrive yet."""
        asked = self.broker.requests[0]
        members = {each: epoch if epoch >= 0 else self.controller.epoch(each) for each, epoch in asked.isr}
        error: str = self.controller.alter_partition(1, members, asked.leader_epoch, asked.partition_epoch)
        self.answers.append((error, self.state()))
        self.steps.append(f"the controller answers a request for {list(asked.members)}: {error}")
        return error

    def answer_arrives(self) -> None:
        error, state = self.answers.pop(0)
        if error == "NONE":
            self.broker.answer(state)
        else:
            self.broker.refuse(error)
        self.told("the answer arrives")

    def settle(self) -> None:
        self.is_answered()
        self.answer_arrives()

    def submit(self, partition: int) -> Any:
        """A change of another partition that it leads."""
        future = self.broker.submit(partition, (1, 2))
        self.steps += [f"a change of partition {partition}", f"    under way are requests for {self.broker.asked}"]
        return future

    def results(self, errors: dict[int, str]) -> None:
        self.broker.answer_each(errors)
        self.steps += [f"the answer says {errors}", f"    under way are requests for {self.broker.asked}"]

    # What the broker hears.

    def metadata(self, state: State | None = None) -> None:
        """The metadata log has a state; the present one unless another is given."""
        self.broker.receive(self.state() if state is None else state)
        self.told("the metadata arrives")

    def cache(self, broker: int) -> None:
        """The metadata cache has a broker's present registration."""
        known = self.broker.cached(broker)
        known.broker_epoch = self.controller.epoch(broker)
        known.fenced = self.controller.state(broker) == "fenced"
        known.shutting_down = self.controller.state(broker) == "shutting down"

    def append(self) -> str:
        answer: str = self.broker.append()
        self.told(f"a producer sends a record -> {answer}")
        return answer

    def fetch(self, follower: int, offset: int) -> str:
        answer: str = self.broker.fetch(follower, offset)
        self.told(f"{follower} fetches from {offset} -> {answer}")
        return answer

    def fetch_meanwhile(self, follower: int, offset: int, broker_epoch: int) -> None:
        """Another thread takes a fetch while the leader reads the broker epochs for its next request. The leader goes
        on when the fetch has been answered, or waits for the leader's lock.
        """
        lock = self.kafka.field(self.broker.partition, "leaderIsrUpdateLock")
        other = threading.Thread(target=lambda: self.broker.fetch(follower, offset, broker_epoch=broker_epoch))

        def fetched() -> None:
            self.broker.meanwhile = lambda: None
            other.start()
            while other.is_alive() and not lock.hasQueuedThreads():
                time.sleep(0.001)
            what = "waits" if other.is_alive() else "is answered"
            self.steps.append(f"{follower} fetches from {offset} in broker epoch {broker_epoch} meanwhile, and {what}")

        self.broker.meanwhile = fetched
        self.others.append(other)

    def shrink(self, *laggards: int) -> None:
        """Time passes, in which all but these were level with the leader."""
        self.broker.pass_time()
        for each in self.broker.isr:
            if each != 1 and each not in laggards:
                self.broker.fetch(each, self.broker.end)
        self.broker.shrink()
        self.told(f"the leader finds that {list(laggards)} has fallen behind")


Case = Callable[[Leadership], bool]
LEADER_CASES: dict[str, Case] = {}


def case(title: str) -> Callable[[Case], Case]:
    def named(function: Case) -> Case:
        LEADER_CASES[title] = function
        return function

    return named


# Findings.


@case('"Higher version" must not mean "not lower"')
def equal_version(run: Leadership) -> bool:
    """The metadata of a shrink, whose answer has arrived, makes the leader forget an expansion that is under way. It
    commits two records of which the new member of the ISR has one, and that member is elected, cleanly.
    """
    run.begin(replicas=(1, 3, 2), min_isr=2)
    run.shrink(3)
    run.settle()
    shrunk = run.state()
    run.append()
    run.append()
    run.fetch(3, 0)
    run.metadata(shrunk)
    run.fetch(2, 2)
    acknowledged = run.broker.acknowledged(2) == "NONE"
    run.is_answered()
    run.control("fence", 1)
    return acknowledged and run.controller.partition().leader == 3


@case("A leader that skips an epoch trusts what it knew before")
def skipped_epoch(run: Leadership) -> bool:
    """Another leader is elected, and broker 1 again, before broker 1 hears of either. In between 3 has truncated what
    it had acknowledged; 2, which lacks it, too, leaves the ISR. Then 3 is elected, cleanly, without the record.
    """
    run.begin(replicas=(1, 2, 3), min_isr=2)
    run.append()
    run.fetch(2, 0)
    run.fetch(3, 1)
    run.control("reassign", [2, 1, 3])
    run.control("elect", False)
    truncates = run.fetch_from_other(2, 3, 1, last_epoch=0) == "DIVERGES AT 0"
    run.control("reassign", [1, 2, 3])
    run.control("elect", False)
    run.control("fence", 2)
    run.metadata()
    acknowledged = run.broker.acknowledged(1) == "NONE"
    run.control("fence", 1)
    return truncates and acknowledged and run.controller.partition().leader == 3


@case("A refused change may have been accepted")
def invalid_version(run: Leadership) -> bool:
    """After INVALID_UPDATE_VERSION the leader goes on counting whom it asked to add."""
    run.begin()
    run.shrink(3)
    run.settle()
    run.fetch(3, 0)
    run.control("fence", 2)
    error = run.is_answered()
    run.answer_arrives()
    return error == "INVALID_UPDATE_VERSION" and 3 not in run.broker.maximal_isr


@case("Refusing an offline broker needs an answer that ends the change")
def copy_of_refused(run: Leadership) -> bool:
    """INELIGIBLE_REPLICA ends the change; a copy of the request that arrives later is accepted, if there is one."""
    run.begin()
    run.shrink(3)
    run.settle()
    run.append()
    run.fetch(3, 0)
    run.control("fence", 3)
    copy = run.broker.requests[0]
    run.settle()
    run.control("unfence", 3)
    members = {each: run.controller.epoch(each) for each in copy.members}
    run.control("alter_partition", 1, members, copy.leader_epoch, copy.partition_epoch)
    run.fetch(2, 1)
    return 3 in run.controller.partition().isr and bool(run.broker.acknowledged(1) == "NONE")


@case("Acknowledged, with a copy that is deleted")
def deleted_copy(run: Leadership) -> bool:
    """With min.insync.replicas 2. A replica that is being added joins; it is fenced, and the reassignment cancelled,
    so that it deletes its log; then the leader hears that it has joined.
    """
    run.begin(replicas=(1, 2), min_isr=2)
    run.append()
    run.control("fence", 2)
    run.control("reassign", [3, 4])
    run.metadata()
    run.fetch(3, 0)
    run.fetch(3, 1)
    run.is_answered()
    run.control("fence", 3)
    run.control("reassign", None)
    run.answer_arrives()
    return 3 not in run.controller.partition().replicas and bool(run.broker.acknowledged(1) == "NONE")


@case("A false alarm returns with KRaft")
def false_alarm(run: Leadership) -> bool:
    """Both original replicas are in sync throughout; after a second reassignment the partition is under-replicated."""
    run.begin(replicas=(1, 2), brokers=6)
    run.control("reassign", [3, 4])
    run.metadata()
    before = run.broker.is_under_replicated()
    run.control("reassign", [5, 6])
    run.metadata()
    return not before and bool(run.broker.is_under_replicated())


@case("A removal is a reassignment as well")
def removal_counts(run: Leadership) -> bool:
    """A replica is to be removed, and none to be added."""
    run.begin(brokers=4)
    run.shrink(3)
    run.settle()
    run.control("reassign", [1, 3])
    run.metadata()
    removing = run.controller.partition().removing == (2,) and not run.controller.partition().adding
    return removing and not run.broker.is_reassigning()


@case("A response without the state can refer to an older one")
def older_state(run: Leadership) -> bool:
    """An answer with an earlier partition epoch ends the change that is pending."""
    run.begin()
    earlier = run.state()
    run.shrink(3)
    run.settle()
    run.fetch(3, 0)
    run.broker.answer(earlier)
    run.told("a replaced controller answers with the state that it knows")
    return not run.broker.in_flight


@case("A replaced controller refuses what it does not know yet")
def asks_again(run: Leadership) -> bool:
    """KAFKA-14154: the leader does not ask again after NOT_CONTROLLER, and waits forever."""
    run.begin()
    run.shrink(3)
    run.broker.refuse("NOT_CONTROLLER")
    return run.broker.requests == []


# Several partitions in a request (model/alter_isr/batch.py).


@case("Changes of partitions that come while a request is under way go together in the next one")
def next_request_has_all(run: Leadership) -> bool:
    run.begin()
    for partition in (1, 2, 3):
        run.submit(partition)
    first = run.broker.asked
    run.results({1: "NONE"})
    return first == [[1]] and run.broker.asked == [[2, 3]]


@case("Each partition's change is settled by its own result")
def own_result(run: Leadership) -> bool:
    """Two of a request are answered, one of them with an error, and the third is sent again."""
    run.begin()
    futures = {partition: run.submit(partition) for partition in (1, 2, 3, 4)}
    run.results({1: "NONE"})
    run.results({2: "NONE", 3: "INELIGIBLE_REPLICA"})
    settled = {partition: bool(future.isDone()) for partition, future in futures.items()}
    refused = [partition for partition, future in futures.items() if future.isCompletedExceptionally()]
    return settled == {1: True, 2: True, 3: True, 4: False} and refused == [3] and run.broker.asked == [[4]]


@case("A request that is refused as a whole settles none of its changes")
def refused_as_a_whole(run: Leadership) -> bool:
    run.begin()
    futures = [run.submit(partition) for partition in (1, 2, 3)]
    run.results({1: "NONE"})
    run.submit(4)
    run.broker.fail("STALE_BROKER_EPOCH")
    run.told("the request is refused, STALE_BROKER_EPOCH, and time passes")
    return [bool(each.isDone()) for each in futures] == [True, False, False] and run.broker.asked == [[2, 3, 4]]


# What a broker's metrics say (model/under_replicated/metric.py).


@case("UnderReplicated compares numbers: an added replica in sync makes up for one that is not")
def added_makes_up(run: Leadership) -> bool:
    """What KAFKA-8834 adopted: 2, which was a replica before, is out of sync."""
    run.begin(replicas=(1, 2))
    run.control("reassign", [1, 2, 3])
    run.metadata()
    run.shrink(2)
    run.settle()
    alone = bool(run.broker.is_under_replicated())
    run.fetch(3, 0)
    run.settle()
    return alone and run.broker.isr == (1, 3) and not run.broker.is_under_replicated()


@case("UnderMinIsr asks for no more than there are replicas")
def no_more_than_replicas(run: Leadership) -> bool:
    run.begin(replicas=(1, 2), min_isr=3)
    return not run.broker.is_under_min_isr() and bool(run.broker.is_at_min_isr())


@case("A replica that is being added is counted for UnderMinIsr before it is in sync")
def adding_is_counted(run: Leadership) -> bool:
    """With min.insync.replicas 3 and two replicas, producers are refused once a third is being added."""
    run.begin(replicas=(1, 2), min_isr=3)
    before = run.append()
    run.control("reassign", [1, 2, 3])
    run.metadata()
    return before == "NONE" and bool(run.broker.is_under_min_isr()) and run.append() == "NOT_ENOUGH_REPLICAS"


@case("Only the leader has metrics of a partition")
def follower_has_none(run: Leadership) -> bool:
    """A broker that follows counts it neither as under-replicated nor as below min.insync.replicas."""
    run.begin(replicas=(1, 2), min_isr=2)
    run.shrink(2)
    run.settle()
    led = bool(run.broker.is_under_replicated() and run.broker.is_under_min_isr())
    now = run.state()
    run.metadata(replace(now, leader=2, leader_epoch=now.leader_epoch + 1, partition_epoch=now.partition_epoch + 1))
    return led and not run.broker.is_under_replicated() and not run.broker.is_under_min_isr()


# What the models assume of the leader, and mistakes that Kafka once made.


@case("The high watermark waits for a follower outside the ISR that has caught up lately")
def waits_for_caught_up(run: Leadership) -> bool:
    """The third set of `maybeIncrementLeaderHW`, which KIP-497 does not have: a change of 3 is refused."""
    run.begin()
    run.shrink(3)
    run.settle()
    run.fetch(3, 0)
    run.control("shut_down", 3)
    run.settle()
    run.append()
    run.fetch(2, 1)
    return bool(run.broker.high_watermark == 0)


@case("KAFKA-15021: a broker that shuts down holds back the high watermark")
def shut_down_holds_back(run: Leadership) -> bool:
    """As above, and the leader's metadata cache knows of the shutdown."""
    run.begin()
    run.control("shut_down", 3)
    run.cache(3)
    run.metadata()
    run.fetch(3, 0)
    run.append()
    run.fetch(2, 1)
    return bool(run.broker.high_watermark == 0)


@case("KAFKA-13091: the high watermark stays where it is when an answer shrinks the ISR")
def stays_after_shrink(run: Leadership) -> bool:
    run.begin(replicas=(1, 2))
    run.append()
    run.shrink(2)
    run.settle()
    return bool(run.broker.high_watermark == 0)


@case("KAFKA-12751: an answer with the version that the leader has is ignored")
def equal_answer(run: Leadership) -> bool:
    """The change stays pending, and no other can be asked for."""
    run.begin()
    run.shrink(3)
    run.broker.answer(run.state())
    return bool(run.broker.in_flight)


@case("KAFKA-12686: a second request goes out before the first is answered")
def second_request(run: Leadership) -> bool:
    """The metadata settles the change, and the leader finds another one."""
    run.begin()
    run.shrink(3)
    run.is_answered()
    run.metadata()
    run.fetch(3, 0)
    return len(run.broker.requests) > 1


@case("KAFKA-14010: a change that is to be sent again is lost")
def lost_retry(run: Leadership) -> bool:
    run.begin()
    run.shrink(3)
    run.broker.refuse("UNKNOWN_SERVER_ERROR")
    return run.broker.requests == [] and bool(run.broker.in_flight)


@case("KAFKA-15583: the high watermark rises with fewer in sync than min.insync.replicas")
def below_min_isr(run: Leadership) -> bool:
    run.begin(replicas=(1, 2), min_isr=2)
    run.append()
    run.shrink(2)
    run.settle()
    return bool(run.broker.high_watermark > 0)


@case("KAFKA-15109: a shrink within a leader epoch does not reach the leader")
def shrink_within_epoch(run: Leadership) -> bool:
    run.begin()
    run.control("fence", 3)
    run.metadata()
    return 3 in run.broker.isr


@case("KAFKA-13837: the fetch of a broker that is no replica counts")
def stranger_fetches(run: Leadership) -> bool:
    run.begin(replicas=(1, 2), brokers=3)
    return run.fetch(3, 0) == "NONE"


@case("KAFKA-14139: a broker that lost its disk joins by a fetch from before")
def lost_disk(run: Leadership) -> bool:
    """KIP-903: the request quotes the broker epoch of the fetch."""
    run.begin()
    run.shrink(3)
    run.settle()
    run.fetch(3, 0)
    run.control("register_anew", 3, False)
    run.control("unfence", 3)
    run.settle()
    return 3 in run.controller.partition().isr


@case("KAFKA-15221: offset and broker epoch of a follower are read from two fetches")
def two_fetches(run: Leadership) -> bool:
    """3 is back without its log. Another thread takes its first fetch, after the leader has judged by the one before it
    that 3 is in sync, and before it reads the broker epoch of 3 for its request.
    """
    run.begin()
    run.append()
    run.fetch(2, 1)
    run.shrink(3)
    run.settle()
    run.control("register_anew", 3, False)
    anew = run.controller.epoch(3)
    run.fetch_meanwhile(3, 0, anew)
    run.fetch(3, 1)
    return dict(run.broker.requests[0].isr)[3] == anew


ENDED_IN_LEADER: Mapping[str, str] = {
    "A leader of an older version writes the ISR to ZooKeeper itself": "kafka.server.ZkAlterPartitionManager",
}
"""What a class of an earlier version did, and its name."""


def settled(kafka: Classes, judge: Case, run: Leadership | None = None) -> bool:
    """Whether it happens. The log of the broker is deleted afterwards."""
    run = Leadership(kafka) if run is None else run
    try:
        return judge(run)
    finally:
        run.close()
