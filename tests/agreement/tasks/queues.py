"""Queues: bounded, with priorities, with retries, with two lanes, and a ring buffer."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Bag,
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    implies,
    initial,
    invariant,
    reachable,
    require,
    transition,
)

MAX_RETRIES = 2
NOBODY = -1


class BoundedQueue(Model):
    """Producers wait while the queue is full."""

    size = Constant(3)
    queue: Annotated[Seq[Annotated[int, Between(0, 2)]], Capacity("size")] = Seq()
    produced: Annotated[int, Between(0, 5)] = 0
    consumed: Annotated[int, Between(0, 5)] = 0

    def is_full(self) -> bool:
        if len(self.queue) < self.size:
            return False
        return True

    def next_value(self) -> int:
        return self.produced % 3

    @action
    def produce(self) -> None:
        require(not self.is_full())
        require(self.produced < 5)
        value = self.next_value()
        self.queue.append(value)
        self.produced += 1

    @action
    def consume(self) -> None:
        require(self.queue)
        head, tail = self.queue[0], self.queue[1:]
        self.queue = tail
        assert head == self.consumed % 3, "out of order"
        self.consumed += 1

    @invariant
    def nothing_is_lost(self) -> bool:
        return self.produced - self.consumed == len(self.queue)


class BoundedQueueByIndex(BoundedQueue):
    """The same without unpacking."""

    @action
    def consume(self) -> None:
        require(len(self.queue) > 0)
        head = self.queue[0]
        self.queue = self.queue[1:]
        assert head == self.consumed % 3, "out of order"
        self.consumed += 1


class Job(Record):
    priority: Annotated[int, Between(0, 2)]
    tries: Annotated[int, Between(0, 2)] = 0

    def is_last_try(self) -> bool:
        return self.tries == MAX_RETRIES

    def again(self) -> Job:
        return self.replace(tries=self.tries + 1)


class PriorityQueue(Model):
    """The job with the highest priority goes first; of those, the one that came first."""

    jobs: Annotated[Seq[Job], Capacity(2)] = Seq()
    running: Job | None = None
    done: Annotated[int, Between(0, 2)] = 0

    def best(self) -> int:
        best = -1
        index = 0
        for i, job in enumerate(self.jobs):
            if job.priority > best:
                best = job.priority
                index = i
        return index

    @action
    def submit(self, priority: Annotated[int, Between(0, 2)]) -> None:
        require(len(self.jobs) < 2)
        self.jobs = self.jobs + [Job(priority=priority)]

    @action
    def start(self) -> None:
        require(self.running is None and len(self.jobs) > 0)
        index = self.best()
        self.running = self.jobs[index]
        self.jobs = self.jobs[:index] + self.jobs[index + 1 :]

    @action
    def succeed(self) -> None:
        require(self.running is not None)
        self.running = None
        self.done = min(self.done + 1, 2)

    @action
    def fail(self) -> None:
        require(self.running is not None)
        require(len(self.jobs) < 2)
        if not self.running.is_last_try():
            self.jobs.append(self.running.again())
        self.running = None

    @invariant
    def tries_are_bounded(self) -> bool:
        return all(0 <= job.tries <= MAX_RETRIES for job in self.jobs)

    @transition
    def nobody_overtakes(old: PriorityQueue, new: PriorityQueue) -> bool:
        started = old.running is None and new.running is not None
        return not started or new.running.priority == max(job.priority for job in old.jobs)


class SortedQueue(Model):
    """Kept in order while it is filled."""

    queue: Annotated[Seq[Annotated[int, Between(0, 3)]], Capacity(3)] = Seq()

    @action
    def insert(self, value: Annotated[int, Between(0, 3)]) -> None:
        require(len(self.queue) < 3)
        self.queue = sorted([*self.queue, value])

    @action
    def insert_by_search(self, value: Annotated[int, Between(0, 3)]) -> None:
        require(len(self.queue) < 3)
        position = 0
        for other in self.queue:
            if other >= value:
                break
            position += 1
        self.queue = self.queue[:position] + [value] + self.queue[position:]

    @action
    def take(self) -> None:
        require(len(self.queue) != 0)
        self.queue = self.queue[1:]

    @invariant
    def is_sorted(self) -> bool:
        return all(a <= b for a, b in zip(self.queue, self.queue[1:]))


class SortedQueueByParts(SortedQueue):
    """``[*a, b]`` written as a sum."""

    @action
    def insert(self, value: Annotated[int, Between(0, 3)]) -> None:
        require(len(self.queue) < 3)
        self.queue = sorted(self.queue + [value])


class Consumer(Identifier, count=2):
    """A consumer."""


class Delivery(Record):
    to: Consumer
    number: Annotated[int, Between(0, 1)]


class AtLeastOnce(Model):
    """Unacknowledged messages are sent again, so they may arrive twice."""

    network: Annotated[Bag[Delivery], Capacity(3)] = Bag()
    received: Map[Consumer, Set[Annotated[int, Between(0, 1)]]]
    duplicates: Annotated[int, Between(0, 2)] = 0

    @initial
    def start(self) -> None:
        self.received = Map({c: Set() for c in Consumer})

    @action
    def send(self, to: Consumer, number: Annotated[int, Between(0, 1)]) -> None:
        require(len(self.network) < 3)
        self.network.add(Delivery(to=to, number=number))

    @action
    def deliver(self, message: Delivery) -> None:
        require(message in self.network)
        self.network.remove(message)
        if message.number in self.received[message.to]:
            self.duplicates = min(2, self.duplicates + 1)
        else:
            self.received[message.to].add(message.number)

    @invariant
    def no_more_than_sent(self) -> bool:
        return sum(len(numbers) for numbers in self.received.values()) <= 4

    @reachable
    def everybody_has_everything(self) -> bool:
        return all(len(self.received[c]) == 2 for c in Consumer)


class Mailboxes(Model):
    """Each consumer has a mailbox of its own."""

    boxes: Map[Consumer, Annotated[Seq[Annotated[int, Between(0, 2)]], Capacity(2)]]
    stolen: bool = False

    @initial
    def start(self) -> None:
        self.boxes = Map({consumer: Seq() for consumer in Consumer})

    def shortest(self) -> int:
        return min(len(box) for box in self.boxes.values())

    @action
    def put(self, consumer: Consumer, value: Annotated[int, Between(0, 2)]) -> None:
        require(len(self.boxes[consumer]) == self.shortest() < 2)
        self.boxes[consumer].append(value)

    @action
    def steal(self, thief: Consumer, victim: Consumer) -> None:
        require(thief != victim)
        require(not self.boxes[thief] and len(self.boxes[victim]) > 1)
        self.boxes[thief] = [self.boxes[victim][-1]]
        self.boxes[victim] = self.boxes[victim][:-1]
        self.stolen = True

    @action
    def read(self, consumer: Consumer) -> None:
        require(self.boxes[consumer])
        self.boxes[consumer] = self.boxes[consumer][1:]

    @invariant
    def stealing_needs_imbalance(self) -> bool:
        return implies(self.stolen, any(True for _ in Consumer))


class RingBuffer(Model):
    """Fixed slots, a head and a tail that go round."""

    slots = Constant(3)
    data: Map[Annotated[int, Between(0, "slots - 1")], Annotated[int, Between(-1, 1)]]
    head: Annotated[int, Between(0, "slots - 1")] = 0
    tail: Annotated[int, Between(0, "slots - 1")] = 0
    used: Annotated[int, Between(0, "slots")] = 0

    @initial
    def start(self) -> None:
        self.data = Map({i: NOBODY for i in range(self.slots)})

    @action
    def write(self, value: Annotated[int, Between(0, 1)]) -> None:
        require(self.used < self.slots)
        self.data[self.tail] = value
        self.tail = (self.tail + 1) % self.slots
        self.used += 1

    @action
    def read(self) -> None:
        require(self.used > 0)
        self.data[self.head] = NOBODY
        self.head = (self.head + 1) % self.slots
        self.used -= 1

    @invariant
    def window_is_filled(self) -> bool:
        for distance in range(self.slots):
            index = (self.head + distance) % self.slots
            if distance < self.used:
                if self.data[index] == NOBODY:
                    return False
            elif self.data[index] != NOBODY:
                return False
        return True


class Lane(Enum):
    FAST = "fast"
    SLOW = "slow"


class TwoLanes(Model):
    """Two queues; the slow one is served when the fast one is empty, or after two of the fast one."""

    lanes: Map[Lane, Annotated[int, Between(0, 2)]]
    in_a_row: Annotated[int, Between(0, 2)] = 0

    @initial
    def start(self) -> None:
        self.lanes = Map({lane: 0 for lane in Lane})

    @action
    def arrive(self, lane: Lane) -> None:
        require(self.lanes[lane] < 2)
        self.lanes[lane] += 1

    @action
    def serve(self) -> None:
        for lane in Lane:
            if self.lanes[lane] > 0 and not (lane == Lane.FAST and self.in_a_row == 2 and self.lanes[Lane.SLOW] > 0):
                self.lanes[lane] -= 1
                if lane == Lane.FAST:
                    self.in_a_row = min(2, self.in_a_row + 1)
                else:
                    self.in_a_row = 0
                return
        require(False)

    @transition
    def slow_lane_moves(old: TwoLanes, new: TwoLanes) -> bool:
        served = sum(new.lanes.values()) < sum(old.lanes.values())
        starving = old.in_a_row == 2 and old.lanes[Lane.SLOW] > 0
        return not (served and starving) or new.lanes[Lane.SLOW] == old.lanes[Lane.SLOW] - 1


class DeadLetters(Model):
    """What fails too often goes to another queue."""

    attempts: Map[Annotated[int, Between(0, 2)], Annotated[int, Between(0, 3)] | None]
    dead: Set[Annotated[int, Between(0, 2)]] = Set()

    @initial
    def start(self) -> None:
        self.attempts = Map({i: None for i in range(3)})

    def pending(self) -> int:
        return sum(1 for i, n in self.attempts.items() if n is not None)

    @action
    def enqueue(self, i: Annotated[int, Between(0, 2)]) -> None:
        require(self.attempts[i] is None and i not in self.dead)
        require(self.pending() < 2)
        self.attempts[i] = 0

    @action
    def fail(self, i: Annotated[int, Between(0, 2)]) -> None:
        count = self.attempts[i]
        require(count is not None)
        count += 1
        if count > MAX_RETRIES:
            self.attempts[i] = None
            self.dead.add(i)
        else:
            self.attempts[i] = count

    @action
    def ok(self, i: Annotated[int, Between(0, 2)]) -> None:
        require(self.attempts[i] is not None)
        self.attempts[i] = None

    @action
    def redrive(self) -> None:
        require(len(self.dead) == 3)
        self.dead = Set()

    @invariant
    def dead_are_not_pending(self) -> bool:
        return not any(self.attempts[i] is not None for i in self.dead)
