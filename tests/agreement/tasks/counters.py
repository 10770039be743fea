"""Counters, clocks and rate limits."""

from __future__ import annotations

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
    reachable,
    require,
    transition,
)

Small = Annotated[int, Between(0, 2)]
LIMITS = (1, 2, 2)


class Node(Identifier, count="nodes"):
    """A node."""


def merged(a: int, b: int) -> int:
    if a > b:
        return a
    else:
        return b


class GCounter(Model):
    """A counter that only grows; replicas merge by taking the larger of each entry."""

    nodes = Constant(2)
    counts: Map[Node, Map[Node, Small]]

    @initial
    def start(self) -> None:
        self.counts = Map({a: Map({b: 0 for b in Node}) for a in Node})

    def value(self, n: Node) -> int:
        return sum(self.counts[n].values())

    @action
    def increment(self, n: Node) -> None:
        require(self.counts[n][n] < 2)
        self.counts[n][n] += 1

    @action
    def merge(self, source: Node, to: Node) -> None:
        require(source != to)
        for n in Node:
            self.counts[to][n] = merged(self.counts[to][n], self.counts[source][n])

    @invariant
    def nobody_knows_more_than_the_node(self) -> bool:
        return all(self.counts[a][b] <= self.counts[b][b] for a in Node for b in Node)

    @transition
    def values_grow(old: GCounter, new: GCounter) -> bool:
        return all(new.value(n) >= old.value(n) for n in Node)


class MergeBySum(GCounter):
    """Adds what it should compare."""

    @action
    def merge(self, source: Node, to: Node) -> None:
        require(source != to)
        for n in Node:
            total = self.counts[to][n] + self.counts[source][n]
            self.counts[to][n] = total if total <= 2 else 2


class VectorClocks(Model):
    nodes = Constant(2)
    clocks: Map[Node, Map[Node, Small]]
    sent: Map[Node, Map[Node, Small] | None]

    @initial
    def start(self) -> None:
        zero = Map({n: 0 for n in Node})
        self.clocks = Map({n: zero for n in Node})
        self.sent = Map({n: None for n in Node})

    @action
    def send(self, n: Node) -> None:
        require(self.sent[n] is None and self.clocks[n][n] < 2)
        self.clocks[n][n] += 1
        self.sent[n] = self.clocks[n]

    @action
    def receive(self, source: Node, to: Node) -> None:
        require(source != to)
        stamp = self.sent[source]
        require(stamp is not None)
        require(self.clocks[to][to] < 2)
        self.clocks[to] = Map({n: max(self.clocks[to][n], stamp[n]) for n in Node})
        self.clocks[to][to] += 1
        self.sent[source] = None

    def before(self, a: Node, b: Node) -> bool:
        mine, theirs = self.clocks[a], self.clocks[b]
        return all(mine[n] <= theirs[n] for n in Node) and any(mine[n] < theirs[n] for n in Node)

    @invariant
    def never_both(self) -> bool:
        return not any(self.before(a, b) and self.before(b, a) for a in Node for b in Node)


class VectorClocksApart(VectorClocks):
    def before(self, a: Node, b: Node) -> bool:
        mine = self.clocks[a]
        theirs = self.clocks[b]
        if any(mine[n] > theirs[n] for n in Node):
            return False
        return mine != theirs


class Lamport(Model):
    nodes = Constant(2)
    limit = Constant(3)
    clock: Map[Node, Annotated[int, Between(0, "limit")]]
    wire: Annotated[Set[Annotated[int, Between(0, "limit")]], Capacity(2)] = Set()
    last: Annotated[int, Between(0, "limit")] = 0

    @initial
    def start(self) -> None:
        self.clock = Map({n: 0 for n in Node})

    def tick(self, n: Node, seen: int = 0) -> int:
        new = max(self.clock[n], seen) + 1
        require(new <= self.limit)
        self.clock[n] = new
        return new

    @action
    def send(self, n: Node) -> None:
        require(len(self.wire) < 2)
        stamp = self.tick(n)
        self.wire.add(stamp)

    @action
    def receive(self, n: Node, stamp: Annotated[int, Between(0, "limit")]) -> None:
        require(stamp in self.wire)
        self.wire.remove(stamp)
        self.last = self.tick(n, seen=stamp)

    @invariant
    def stamps_are_positive(self) -> bool:
        return 0 not in self.wire

    @transition
    def clocks_rise(old: Lamport, new: Lamport) -> bool:
        return all(old.clock[n] <= new.clock[n] for n in Node)


class TokenBucket(Model):
    size = Constant(2)
    tokens: Annotated[int, Between(0, "size")]
    served: Annotated[int, Between(0, 4)] = 0
    filled: Annotated[int, Between(0, 2)] = 0

    @initial
    def start(self) -> None:
        self.tokens = self.size

    @action
    def refill(self, amount: Annotated[int, Between(1, 2)]) -> None:
        require(self.filled + amount <= 2)
        self.tokens = self.size if self.tokens + amount > self.size else self.tokens + amount
        self.filled += amount

    @action
    def serve(self) -> None:
        require(self.tokens)
        self.tokens -= 1
        self.served += 1

    @invariant
    def not_more_than_filled(self) -> bool:
        return self.served <= self.size + self.filled


class TokenBucketCompared(TokenBucket):
    @action
    def serve(self) -> None:
        require(self.tokens != 0)
        self.tokens -= 1
        self.served += 1


class SlidingWindow(Model):
    """At most so many in the last three slots."""

    window: Annotated[Seq[Small], Capacity(3)] = [0, 0, 0]
    now: Small = 0

    def recent(self) -> int:
        total = 0
        for count in self.window:
            total += count
        return total

    @action
    def request(self) -> None:
        require(self.recent() < 2)
        self.window[-1] += 1

    @action
    def slide(self) -> None:
        self.window = self.window[1:] + [0]
        self.now = (self.now + 1) % 3

    @invariant
    def limit(self) -> bool:
        return sum(self.window) <= 2


class SlidingWindowSeq(SlidingWindow):
    window: Annotated[Seq[Small], Capacity(3)] = Seq([0, 0, 0])

    @invariant
    def limit(self) -> bool:
        return sum(count for count in self.window) <= 2


class Quotas(Model):
    """A table of limits in the module."""

    used: Map[Small, Small]

    @initial
    def start(self) -> None:
        self.used = Map({i: 0 for i in range(3)})

    @action
    def use(self, i: Small) -> None:
        require(self.used[i] < LIMITS[i])
        self.used[i] += 1

    @action
    def renew(self) -> None:
        require(all(used == limit for used, limit in zip(self.used.values(), LIMITS)))
        for i in range(3):
            self.used[i] = 0

    @invariant
    def within(self) -> bool:
        return all(self.used[i] <= LIMITS[i] for i in self.used.keys())

    @reachable
    def exhausted(self) -> bool:
        return sum(self.used[i] for i in range(3)) == 5


class IdempotentProducer(Model):
    """Sequence numbers, so that what is sent again is written once."""

    log: Annotated[Seq[Small], Capacity(3)] = Seq()
    next_sequence: Annotated[int, Between(0, 3)] = 0
    unacked: Annotated[Set[Small], Capacity(2)] = Set()

    @action
    def send(self) -> None:
        require(self.next_sequence < 3 and len(self.unacked) < 2)
        self.unacked.add(self.next_sequence)
        self.next_sequence += 1

    def expected(self) -> int:
        last = -1
        for entry in self.log:
            last = entry
        return last + 1

    @action
    def write(self, number: Small) -> None:
        require(number in self.unacked)
        expected = self.expected()
        if number < expected:
            return
        if number > expected:
            require(False)
        self.log.append(number)

    @action
    def acknowledge(self, number: Small) -> None:
        require(number in self.unacked and number in self.log)
        self.unacked.discard(number)

    @invariant
    def once_and_in_order(self) -> bool:
        return all(entry == i for i, entry in enumerate(self.log))


class NaiveProducer(IdempotentProducer):
    """Writes whatever comes."""

    @action
    def write(self, number: Small) -> None:
        require(number in self.unacked)
        require(len(self.log) < 3)
        self.log.append(number)


class Statistics(Model):
    """Loops that remember what they saw: the best, the second, the last, and whether anything was found."""

    values: Annotated[Seq[Small], Capacity(3)] = Seq()
    best: Small | None = None
    second: Small | None = None
    last: Small = 0
    sorted_already: bool = True

    @action
    def put(self, value: Small) -> None:
        require(len(self.values) < 3)
        self.values.append(value)
        self.look()

    def look(self) -> None:
        best = None
        second = None
        previous = -1
        ordered = True
        for value in self.values:
            if best is None or value > best:
                second = best
                best = value
            elif second is None or value > second:
                second = value
            if value < previous:
                ordered = False
            previous = value
        self.best = best
        self.second = second
        self.sorted_already = ordered
        for latest in self.values:
            pass
        self.last = latest

    @invariant
    def second_is_not_better(self) -> bool:
        if self.best is None or self.second is None:
            return True
        return self.second <= self.best

    @invariant
    def sorted_means_best_is_last(self) -> bool:
        return not self.sorted_already or self.best is None or self.last == self.best


class StatisticsFromZero(Statistics):
    """The last value has one before the loop."""

    def look(self) -> None:
        best, last = None, 0
        for value in self.values:
            best = value if best is None else max(best, value)
            last = value
        self.best = best
        self.last = last


class StatisticsOfOne(Statistics):
    def look(self) -> None:
        best = None
        second = None
        latest = 0
        for latest in self.values:
            if best is None or latest > best:
                second = best
                best = latest
            elif second is None or latest > second:
                second = latest
        self.best = best
        self.second = second
        self.last = latest
        self.sorted_already = all(a <= b for a, b in zip(self.values, self.values[1:]))
