"""Locks, leases and what goes wrong with them."""

from __future__ import annotations

from typing import Annotated

from floodmark import (
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
    rule,
)

FOREVER = 3
Time = Annotated[int, Between(0, FOREVER)]


class Client(Identifier, count="clients", prefix="c"):
    """A client."""


class Shared(Identifier, count=2):
    """A resource."""


class Mutex(Model):
    clients = Constant(3)
    owner: Client | None = None
    critical: Set[Client] = Set()

    @action
    def acquire(self, me: Client) -> None:
        if self.owner is not None:
            require(False)
        self.owner = me

    @action
    def enter(self, me: Client) -> None:
        require(self.owner == me)
        self.critical |= {me}

    @action
    def leave(self, me: Client) -> None:
        require(me in self.critical)
        self.critical -= {me}
        self.owner = None

    @invariant
    def one_at_a_time(self) -> bool:
        return len(self.critical) <= 1


class BrokenMutex(Mutex):
    """Leaving forgets to leave."""

    @action
    def leave(self, me: Client) -> None:
        require(me in self.critical)
        self.owner = None


class ReadWriteLock(Model):
    clients = Constant(3)
    readers: Set[Client] = Set()
    writer: Client | None = None
    waiting: Set[Client] = Set()

    @property
    def idle(self) -> bool:
        return not self.readers and self.writer is None

    @action
    def read(self, me: Client) -> None:
        require(self.writer is None and not self.waiting)
        self.readers.add(me)

    @action
    def ask_to_write(self, me: Client) -> None:
        require(me not in self.readers and self.writer != me)
        self.waiting.add(me)

    @action
    def write(self, me: Client) -> None:
        require(me in self.waiting)
        require(self.idle)
        self.waiting.remove(me)
        self.writer = me

    @action
    def done(self, me: Client) -> None:
        if me == self.writer:
            self.writer = None
        elif me in self.readers:
            self.readers.remove(me)
        else:
            require(False)

    @invariant
    def writers_are_alone(self) -> bool:
        return self.writer is None or len(self.readers) == 0


class ReadWriteLockByMethod(ReadWriteLock):
    """``idle`` as a method."""

    def is_idle(self) -> bool:
        return not self.readers and self.writer is None

    @action
    def write(self, me: Client) -> None:
        require(me in self.waiting)
        require(self.is_idle())
        self.waiting.remove(me)
        self.writer = me


class TicketLock(Model):
    """Customers draw numbers."""

    clients = Constant(3)
    next_ticket: Annotated[int, Between(0, 3)] = 0
    serving: Annotated[int, Between(0, 3)] = 0
    tickets: Map[Client, Annotated[int, Between(0, 2)] | None]

    @initial
    def start(self) -> None:
        self.tickets = Map({c: None for c in Client})

    @action
    def draw(self, me: Client) -> None:
        require(self.tickets[me] is None and self.next_ticket < 3)
        self.tickets[me] = self.next_ticket
        self.next_ticket += 1

    @action
    def release(self, me: Client) -> None:
        mine = self.tickets[me]
        require(mine is not None and mine == self.serving)
        self.serving += 1
        self.tickets[me] = None

    @invariant
    def tickets_are_different(self) -> bool:
        for a in Client:
            for b in Client:
                if a == b:
                    continue
                if self.tickets[a] is not None and self.tickets[a] == self.tickets[b]:
                    return False
        return True

    @invariant
    def in_order(self) -> bool:
        held = [t for t in self.tickets.values() if t is not None]
        return all(self.serving <= t < self.next_ticket for t in held)


class Lease(Model):
    """A lease ends by the clock; the holder's clock may be behind."""

    clients = Constant(3)
    drift = Constant(0)
    now: Time = 0
    holder: Client | None = None
    until: Time = 0
    believes: Map[Client, Time]

    @initial
    def start(self) -> None:
        self.believes = Map({c: 0 for c in Client})

    @rule
    def is_over(self) -> bool:
        return self.now >= self.until

    def thinks_it_holds(self, c: Client) -> bool:
        return self.now - self.drift < self.believes[c]

    @action
    def tick(self) -> None:
        require(self.now < FOREVER)
        self.now += 1

    @action
    def grant(self, c: Client) -> None:
        require(self.holder is None or self.is_over())
        require(self.now < FOREVER)
        self.holder = c
        self.until = min(FOREVER, self.now + 1)
        self.believes[c] = self.until

    @invariant
    def at_most_one(self) -> bool:
        holders = [c for c in Client if self.thinks_it_holds(c)]
        return len(holders) < 2


class LeaseByDrift(Lease):
    """With clocks that differ, two may hold it."""

    drift = Constant(1)


class Fenced(Model):
    """Storage refuses whoever comes with an older token."""

    clients = Constant(3)
    token: Annotated[int, Between(0, 3)] = 0
    tokens: Map[Client, Annotated[int, Between(0, 3)]]
    highest: Annotated[int, Between(0, 3)] = 0
    writer: Client | None = None

    @initial
    def start(self) -> None:
        self.tokens = Map({c: 0 for c in Client})

    @action
    def lock(self, c: Client) -> None:
        require(self.token < 3)
        self.token += 1
        self.tokens[c] = self.token

    def accepts(self, token: int) -> bool:
        if token == 0:
            return False
        if token < self.highest:
            return False
        return True

    @action
    def write(self, c: Client) -> None:
        mine = self.tokens[c]
        require(self.accepts(mine))
        self.highest = mine
        self.writer = c

    @invariant
    def last_writer_had_the_highest(self) -> bool:
        return self.writer is None or max(self.tokens[c] for c in Client if c == self.writer) >= self.highest

    @reachable
    def old_client_is_refused(self) -> bool:
        return any(0 < self.tokens[c] < self.highest for c in Client)


class Semaphore(Model):
    clients = Constant(3)
    permits = Constant(2)
    holders: Set[Client] = Set()

    @property
    def free(self) -> int:
        return self.permits - len(self.holders)

    @action
    def acquire(self, c: Client) -> None:
        require(self.free > 0 and c not in self.holders)
        self.holders.add(c)

    @action
    def release(self, c: Client) -> None:
        require(c in self.holders)
        self.holders.discard(c)

    @invariant
    def permits_suffice(self) -> bool:
        return 0 <= self.free <= self.permits


class FairLock(Model):
    clients = Constant(3)
    line: Annotated[Seq[Client], Capacity(3)] = Seq()

    def position(self, c: Client) -> int:
        found = -1
        for i, other in enumerate(self.line):
            if other == c and found < 0:
                found = i
        return found

    @action
    def join(self, c: Client) -> None:
        require(self.position(c) == -1)
        self.line += [c]

    @action
    def give_up(self, c: Client) -> None:
        at = self.position(c)
        require(at > 0)
        self.line = [other for i, other in enumerate(self.line) if i != at]

    @action
    def unlock(self) -> None:
        require(len(self.line) >= 1)
        self.line = self.line[1:]

    @invariant
    def nobody_waits_twice(self) -> bool:
        return len(Set(self.line)) == len(self.line)


class WaitsFor(Record):
    who: Client
    on: Client


class DeadlockDetector(Model):
    """A table of who waits for whom, and a walk that looks for circles."""

    clients = Constant(3)
    held: Map[Shared, Client | None]
    wants: Map[Client, Shared | None]

    @initial
    def start(self) -> None:
        self.held = Map({r: None for r in Shared})
        self.wants = Map({c: None for c in Client})

    def blocks(self, waiter: Client) -> Client | None:
        wanted = self.wants[waiter]
        if wanted is None:
            return None
        owner = self.held[wanted]
        return None if owner == waiter else owner

    def would_deadlock(self, me: Client, r: Shared) -> bool:
        current = self.held[r]
        for _ in range(3):
            if current is None:
                return False
            if current == me:
                return True
            current = self.blocks(current)
        return False

    @action
    def take(self, c: Client, r: Shared) -> None:
        require(self.held[r] is None)
        require(self.wants[c] is None or self.wants[c] == r)
        self.held[r] = c
        self.wants[c] = None

    @action
    def wait(self, c: Client, r: Shared) -> None:
        require(self.wants[c] is None and self.held[r] is not None and self.held[r] != c)
        require(not self.would_deadlock(c, r))
        self.wants[c] = r

    @action
    def drop(self, r: Shared) -> None:
        owner = self.held[r]
        require(owner is not None)
        require(self.wants[owner] is None)
        self.held[r] = None

    @invariant
    def no_circle(self) -> bool:
        return not any(
            self.blocks(a) == b and self.blocks(b) == a for a in Client for b in Client if a != b
        )


class OptimisticLock(Model):
    """A version that has to be what it was when the value was read."""

    clients = Constant(3)
    version: Annotated[int, Between(0, 3)] = 0
    value: Annotated[int, Between(0, 3)] = 0
    read: Map[Client, tuple[int, int] | None]

    @initial
    def start(self) -> None:
        self.read = Map({c: None for c in Client})

    @action
    def fetch(self, c: Client) -> None:
        self.read[c] = (self.version, self.value)


class Snapshot(Record):
    version: Annotated[int, Between(0, 3)]
    value: Annotated[int, Between(0, 3)]


class OptimisticLockWithRecord(Model):
    clients = Constant(3)
    version: Annotated[int, Between(0, 3)] = 0
    value: Annotated[int, Between(0, 3)] = 0
    read: Map[Client, Snapshot | None]
    increments: Annotated[int, Between(0, 3)] = 0

    @initial
    def start(self) -> None:
        self.read = Map({c: None for c in Client})

    @action
    def fetch(self, c: Client) -> None:
        self.read[c] = Snapshot(version=self.version, value=self.value)

    @action
    def store(self, c: Client) -> None:
        seen = self.read[c]
        require(seen is not None)
        require(self.version < 3)
        if seen.version == self.version:
            self.value = seen.value + 1
            self.version += 1
            self.increments += 1
        self.read[c] = None

    @invariant
    def no_lost_update(self) -> bool:
        return self.value == self.increments

    @invariant
    def nobody_read_the_future(self) -> bool:
        return all(implies(s is not None, s is None or s.version <= self.version) for s in self.read.values())
