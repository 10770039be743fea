"""In-sync replicas, high watermarks, reassignments, leader epochs."""

from __future__ import annotations

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
    boundary,
    initial,
    invariant,
    require,
    transition,
)

Offset = Annotated[int, Between(0, 2)]
Epoch = Annotated[int, Between(0, 2)]


class Broker(Identifier, count="brokers"):
    """A broker."""


class InSync(Model):
    """The leader drops whoever is behind and adds whoever caught up."""

    brokers = Constant(3)
    LEADER = 1

    end: Map[Broker, Offset]
    isr: Set[Broker]
    hw: Offset = 0

    @initial
    def start(self) -> None:
        self.end = Map({b: 0 for b in Broker})
        self.isr = Set(Broker)

    def leader_end(self) -> int:
        return self.end[Broker(self.LEADER)]

    def lag(self, b: Broker) -> int:
        return self.leader_end() - self.end[b]

    @action
    def append(self) -> None:
        require(self.leader_end() < 2)
        self.end[Broker(self.LEADER)] += 1

    @action
    def fetch(self, b: Broker) -> None:
        require(b != Broker(self.LEADER) and self.lag(b) > 0)
        self.end[b] += 1
        if b not in self.isr and self.end[b] >= self.hw:
            self.isr.add(b)

    @action
    def shrink(self) -> None:
        slow = {b for b in self.isr if self.lag(b) > 0}
        require(slow)
        self.isr -= slow

    @action
    def advance(self) -> None:
        new = min(self.end[b] for b in self.isr)
        require(new > self.hw)
        self.hw = new

    @invariant
    def committed_is_everywhere(self) -> bool:
        return all(self.end[b] >= self.hw for b in self.isr)


class InSyncNumbered(InSync):
    """The leader's number in the class of the module, not of the model."""

    def leader_end(self) -> int:
        return self.end[Broker(1)]

    @action
    def append(self) -> None:
        require(self.leader_end() < 2)
        self.end[Broker(1)] += 1

    @action
    def fetch(self, b: Broker) -> None:
        require(b != Broker(1) and self.lag(b) > 0)
        self.end[b] += 1
        if b not in self.isr and self.end[b] >= self.hw:
            self.isr.add(b)


class JoinsTooEarly(InSyncNumbered):
    @action
    def fetch(self, b: Broker) -> None:
        require(b != Broker(1) and self.lag(b) > 0)
        self.end[b] += 1
        self.isr |= {b}


class MinIsr(Model):
    """A write is refused while the ISR is too small."""

    brokers = Constant(3)
    min_isr = Constant(2)
    isr: Set[Broker]
    written: Annotated[int, Between(0, 2)] = 0
    copies: Map[Broker, Annotated[int, Between(0, 2)]]
    acked: Annotated[int, Between(0, 2)] = 0

    @initial
    def start(self) -> None:
        self.isr = Set(Broker)
        self.copies = Map({b: 0 for b in Broker})

    def enough(self) -> bool:
        return len(self.isr) >= self.min_isr

    @action
    def write(self) -> None:
        require(self.enough() and self.written < 2)
        self.written += 1

    @action
    def copy(self, b: Broker) -> None:
        require(self.copies[b] < self.written)
        self.copies[b] = self.copies[b] + 1

    @action
    def ack(self) -> None:
        require(self.enough())
        lowest = min((self.copies[b] for b in Broker if b in self.isr), default=0)
        require(lowest > self.acked)
        self.acked = lowest

    @action
    def lose(self, b: Broker) -> None:
        require(b in self.isr and len(self.isr) > 1)
        self.isr.remove(b)

    @action
    def catch_up(self, b: Broker) -> None:
        require(b not in self.isr)
        require(self.copies[b] >= self.acked)
        self.isr.add(b)

    @invariant
    def acked_is_on_enough(self) -> bool:
        return sum(1 for b in Broker if self.copies[b] >= self.acked) >= self.min_isr


class Reassignment(Model):
    """KIP-455 in small: adding, removing, and the replicas."""

    brokers = Constant(3)
    replicas: Set[Broker]
    adding: Set[Broker] = Set()
    removing: Set[Broker] = Set()
    isr: Set[Broker]

    @initial
    def start(self) -> None:
        self.replicas = Set({Broker(1), Broker(2)})
        self.isr = self.replicas

    def target(self) -> set[Broker]:
        return (self.replicas | self.adding) - self.removing

    @action
    def begin(self, target: Set[Broker]) -> None:
        require(not self.adding and not self.removing)
        require(len(target) == 2 and target != self.replicas)
        self.adding = target - self.replicas
        self.removing = self.replicas - target
        self.replicas = self.replicas | target

    @action
    def cancel(self) -> None:
        require(self.adding or self.removing)
        self.replicas -= self.adding
        self.isr &= self.replicas
        self.adding, self.removing = Set(), Set()

    @action
    def join(self, b: Broker) -> None:
        require(b in self.replicas - self.isr)
        self.isr.add(b)

    @action
    def complete(self) -> None:
        require(self.adding <= self.isr and (self.adding or self.removing))
        self.replicas = self.target()
        self.isr &= self.replicas
        self.adding = Set()
        self.removing = Set()

    @invariant
    def isr_within_replicas(self) -> bool:
        return self.isr <= self.replicas

    @invariant
    def never_empty(self) -> bool:
        return len(self.isr) > 0


class ReassignmentStepByStep(Reassignment):
    """One assignment at a time."""

    @action
    def cancel(self) -> None:
        require(self.adding or self.removing)
        self.replicas -= self.adding
        self.isr &= self.replicas
        self.adding = Set()
        self.removing = Set()


class ReassignmentCounted(ReassignmentStepByStep):
    """Whether one is under way, as a helper; and the ISR shrinks as well."""

    def is_under_way(self) -> bool:
        return len(self.adding) + len(self.removing) > 0

    @action
    def cancel(self) -> None:
        require(self.is_under_way())
        self.replicas -= self.adding
        self.isr &= self.replicas
        self.adding = Set()
        self.removing = Set()

    @action
    def complete(self) -> None:
        require(self.is_under_way())
        require(self.adding <= self.isr)
        self.replicas = self.target()
        self.isr &= self.replicas
        self.adding = Set()
        self.removing = Set()

    @action
    def fall_behind(self, b: Broker) -> None:
        require(b in self.isr and len(self.isr) > 1)
        self.isr.remove(b)

    @transition
    def two_replicas_stay(old: ReassignmentCounted, new: ReassignmentCounted) -> bool:
        return len(new.replicas - new.adding) >= 2


class ReassignmentLeavesIsr(ReassignmentCounted):
    """Completes without a look at the ISR, which may then be empty."""

    @action
    def complete(self) -> None:
        require(self.is_under_way())
        self.replicas = self.target()
        self.isr &= self.replicas
        self.adding = Set()
        self.removing = Set()


class EpochEntry(Record):
    epoch: Epoch
    start: Annotated[int, Between(0, 2)]


class LeaderEpochCache(Model):
    """Where each leader's epoch begins; truncation asks it."""

    log: Annotated[Seq[Epoch], Capacity(2)] = Seq()
    cache: Annotated[Seq[EpochEntry], Capacity(3)] = Seq()
    epoch: Epoch = 0

    def latest(self) -> int:
        return self.cache[-1].epoch if self.cache else -1

    def end_of(self, epoch: int) -> int:
        for entry in self.cache:
            if entry.epoch > epoch:
                return entry.start
        return len(self.log)

    @action
    def append(self) -> None:
        require(len(self.log) < 2)
        if self.latest() < self.epoch:
            self.cache.append(EpochEntry(epoch=self.epoch, start=len(self.log)))
        self.log.append(self.epoch)

    @action
    def new_epoch(self) -> None:
        require(self.epoch < 2)
        self.epoch += 1

    @action
    def truncate(self, to: Annotated[int, Between(0, 2)]) -> None:
        require(to < len(self.log))
        self.log = self.log[:to]
        self.cache = [entry for entry in self.cache if entry.start < to]

    @invariant
    def cache_says_what_the_log_says(self) -> bool:
        return all(
            self.log[i] == epoch
            for epoch in range(3)
            for i in range(len(self.log))
            if any(e.epoch == epoch and e.start <= i for e in self.cache) and i < self.end_of(epoch)
        )

    @invariant
    def epochs_rise(self) -> bool:
        pairs = zip(self.cache, self.cache[1:])
        return all(a.epoch < b.epoch and a.start < b.start for a, b in pairs)


class LeaderEpochCacheInOneLine(LeaderEpochCache):
    @invariant
    def epochs_rise(self) -> bool:
        return all(a.epoch < b.epoch and a.start < b.start for a, b in zip(self.cache, self.cache[1:]))


class Fetch(Record):
    broker: Broker
    offset: Offset


class Response(Record):
    broker: Broker
    offset: Offset
    hw: Offset


class FetchProtocol(Model):
    """Requests and responses in a network that may be reordered."""

    brokers = Constant(1)
    leader_end: Offset = 0
    leader_hw: Offset = 0
    end: Map[Broker, Offset]
    hw: Map[Broker, Offset]
    known: Map[Broker, Offset]
    net: Annotated[Bag[Fetch | Response], Capacity(2)] = Bag()

    @initial
    def start(self) -> None:
        self.end = Map({b: 0 for b in Broker})
        self.hw = Map({b: 0 for b in Broker})
        self.known = Map({b: 0 for b in Broker})

    @action
    def produce(self) -> None:
        require(self.leader_end < 2)
        self.leader_end += 1

    @action
    def ask(self, b: Broker) -> None:
        require(len(self.net) < 2)
        self.net.add(Fetch(broker=b, offset=self.end[b]))

    @action
    def serve(self, message: Fetch | Response) -> None:
        require(message in self.net)
        require(isinstance(message, Fetch))
        self.net.remove(message)
        self.known[message.broker] = max(self.known[message.broker], message.offset)
        self.leader_hw = max(self.leader_hw, min(self.known.values()))
        next_offset = message.offset + 1 if message.offset < self.leader_end else message.offset
        self.net.add(Response(broker=message.broker, offset=next_offset, hw=self.leader_hw))

    @action
    def receive(self, message: Fetch | Response) -> None:
        require(message in self.net)
        if isinstance(message, Response):
            self.net.remove(message)
            if message.offset > self.end[message.broker]:
                self.end[message.broker] = message.offset
            self.hw[message.broker] = min(message.hw, self.end[message.broker])
        else:
            require(False)

    @invariant
    def followers_are_behind(self) -> bool:
        return all(self.hw[b] <= self.leader_hw <= self.leader_end and self.end[b] <= self.leader_end for b in Broker)

    @transition
    def high_watermarks_rise(old: FetchProtocol, new: FetchProtocol) -> bool:
        return all(new.hw[b] >= old.hw[b] for b in Broker)


class BoundedLog(Model):
    """Without a limit of its own; the boundary ends it."""

    brokers = Constant(2)
    logs: Map[Broker, Seq[Annotated[int, Between(0, 1)]]]

    @initial
    def start(self) -> None:
        self.logs = Map({b: Seq() for b in Broker})

    @boundary
    def short(self) -> bool:
        return max(len(log) for log in self.logs.values()) <= 2

    @action
    def append(self, b: Broker, value: Annotated[int, Between(0, 1)]) -> None:
        self.logs[b].append(value)

    @action
    def replicate(self, source: Broker, to: Broker) -> None:
        length = len(self.logs[to])
        require(length < len(self.logs[source]))
        require(self.logs[source][:length] == self.logs[to])
        self.logs[to] = self.logs[source][: length + 1]

    @invariant
    def values_are_bits(self) -> bool:
        return all(0 <= value <= 1 for log in self.logs.values() for value in log)
