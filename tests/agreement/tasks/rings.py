"""Rings, philosophers, caches and consumer groups."""

from __future__ import annotations

from enum import Enum
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
    initial,
    invariant,
    reachable,
    require,
    transition,
)

SIZE = 3
Place = Annotated[int, Between(0, SIZE - 1)]
Key = Annotated[int, Between(0, 2)]


def right_of(place: int) -> int:
    return 0 if place == SIZE - 1 else place + 1


class Token(Model):
    place: Place = 0
    wants: Set[Place] = Set()
    inside: Place | None = None

    @action
    def ask(self, p: Place) -> None:
        self.wants.add(p)

    @action
    def enter(self) -> None:
        require(self.inside is None and self.place in self.wants)
        self.inside = self.place
        self.wants.discard(self.place)

    @action
    def leave(self) -> None:
        require(self.inside is not None)
        self.inside = None

    @action
    def skip(self) -> None:
        require(self.inside is None and self.place not in self.wants)
        for step in range(1, SIZE):
            other = (self.place + step) % SIZE
            if other in self.wants:
                self.place = other
                return
        self.place = right_of(self.place)

    @invariant
    def holder_is_inside(self) -> bool:
        return self.inside is None or self.inside == self.place


class Fork(Enum):
    FREE = 0
    LEFT = 1
    RIGHT = 2


class Philosophers(Model):
    """Fork i lies to the left of philosopher i."""

    forks: Map[Place, Fork]

    @initial
    def start(self) -> None:
        self.forks = Map({p: Fork.FREE for p in range(SIZE)})

    @action
    def take_left(self, p: Place) -> None:
        require(self.forks[p] == Fork.FREE)
        self.forks[p] = Fork.LEFT

    @action
    def take_right(self, p: Place) -> None:
        r = right_of(p)
        require(self.forks[p] == Fork.LEFT and self.forks[r] == Fork.FREE)
        self.forks[r] = Fork.RIGHT

    @action
    def eat(self, p: Place) -> None:
        r = right_of(p)
        require(self.forks[p] == Fork.LEFT and self.forks[r] == Fork.RIGHT)
        self.forks[p] = Fork.FREE
        self.forks[r] = Fork.FREE

    @invariant
    def no_deadlock(self) -> bool:
        return not all(fork == Fork.LEFT for fork in self.forks.values())


class Courteous(Philosophers):
    """The last one begins on the right."""

    @action
    def take_left(self, p: Place) -> None:
        if p == SIZE - 1:
            require(self.forks[right_of(p)] == Fork.RIGHT)
        require(self.forks[p] == Fork.FREE)
        self.forks[p] = Fork.LEFT

    @action
    def take_right(self, p: Place) -> None:
        r = right_of(p)
        require(self.forks[r] == Fork.FREE)
        if p != SIZE - 1:
            require(self.forks[p] == Fork.LEFT)
        self.forks[r] = Fork.RIGHT


class Entry(Record):
    key: Key
    dirty: bool = False


class LruCache(Model):
    """Two entries; the one that was not used for longest goes."""

    entries: Annotated[Seq[Entry], Capacity(2)] = Seq()
    written_back: Set[Key] = Set()

    def without(self, key: int) -> list[Entry]:
        return [e for e in self.entries if e.key != key]

    def find(self, key: int) -> Entry | None:
        for e in self.entries:
            if e.key == key:
                return e
        return None

    @action
    def use(self, key: Key, write: bool) -> None:
        found = self.find(key)
        rest = self.without(key)
        if found is None and len(rest) == 2:
            victim = rest[0]
            if victim.dirty:
                self.written_back.add(victim.key)
            rest = rest[1:]
        dirty = write or (found is not None and found.dirty)
        self.entries = rest + [Entry(key=key, dirty=dirty)]

    @action
    def flush(self) -> None:
        require(any(e.dirty for e in self.entries))
        for i, e in enumerate(self.entries):
            if e.dirty:
                self.written_back.add(e.key)
                self.entries[i].dirty = False

    @invariant
    def one_entry_a_key(self) -> bool:
        keys = [e.key for e in self.entries]
        return len(keys) == len(Set(keys))


class Line(Enum):
    MODIFIED = "M"
    SHARED = "S"
    INVALID = "I"


class Core(Identifier, count="cores"):
    """A core."""


class Msi(Model):
    """A cache line in several cores."""

    cores = Constant(3)
    line: Map[Core, Line]
    memory: Annotated[int, Between(0, 1)] = 0
    value: Map[Core, Annotated[int, Between(0, 1)] | None]

    @initial
    def start(self) -> None:
        self.line = Map({c: Line.INVALID for c in Core})
        self.value = Map({c: None for c in Core})

    def write_back(self) -> None:
        for c in Core:
            if self.line[c] == Line.MODIFIED:
                dirty = self.value[c]
                if dirty is not None:
                    self.memory = dirty
                self.line[c] = Line.SHARED
                break

    @action
    def read(self, c: Core) -> None:
        require(self.line[c] == Line.INVALID)
        self.write_back()
        self.line[c] = Line.SHARED
        self.value[c] = self.memory

    @action
    def store(self, c: Core, new: Annotated[int, Between(0, 1)]) -> None:
        self.write_back()
        for other in Core:
            if other != c:
                self.line[other] = Line.INVALID
                self.value[other] = None
        self.line[c] = Line.MODIFIED
        self.value[c] = new

    @invariant
    def modified_is_alone(self) -> bool:
        owners = sum(1 for c in Core if self.line[c] == Line.MODIFIED)
        valid = sum(1 for c in Core if self.line[c] != Line.INVALID)
        return owners == 0 or (owners == 1 and valid == 1)

    @invariant
    def shared_agree(self) -> bool:
        seen = {self.value[c] for c in Core if self.line[c] == Line.SHARED}
        return len(seen) <= 1


class MetadataCache(Model):
    """A client's copy of the metadata; an older update is ignored."""

    version: Annotated[int, Between(0, 3)] = 0
    cached: Annotated[int, Between(0, 3)] = 0
    updates: Annotated[Set[Annotated[int, Between(0, 3)]], Capacity(2)] = Set()

    @action
    def change(self) -> None:
        require(self.version < 3)
        self.version += 1
        if len(self.updates) < 2:
            self.updates.add(self.version)

    @action
    def update(self, v: Annotated[int, Between(0, 3)]) -> None:
        require(v in self.updates)
        self.updates.remove(v)
        if v <= self.cached:
            return
        self.cached = v

    @transition
    def never_back(old: MetadataCache, new: MetadataCache) -> bool:
        return new.cached >= old.cached


class Member(Identifier, count="members"):
    """A consumer of a group."""


class RangeAssignor(Model):
    """Partitions in ranges: the first members get one more."""

    members = Constant(2)
    PARTITIONS = 3
    joined: Set[Member] = Set()
    owner: Map[Key, Member | None]
    generation: Annotated[int, Between(0, 3)] = 0

    @initial
    def start(self) -> None:
        self.owner = Map({p: None for p in range(3)})

    def assign(self) -> None:
        names = [m for m in Member if m in self.joined]
        if not names:
            for p in range(3):
                self.owner[p] = None
            return
        each = 3 // len(names)
        extra = 3 % len(names)
        p = 0
        for i, m in enumerate(names):
            share = each + 1 if i < extra else each
            for _ in range(share):
                self.owner[p] = m
                p += 1

    @action
    def join(self, m: Member) -> None:
        require(m not in self.joined and self.generation < 3)
        self.joined.add(m)
        self.generation += 1
        self.assign()

    @action
    def leave(self, m: Member) -> None:
        require(m in self.joined and self.generation < 3)
        self.joined.remove(m)
        self.generation += 1
        self.assign()

    @invariant
    def balanced(self) -> bool:
        counts = [sum(1 for p in range(3) if self.owner[p] == m) for m in Member if m in self.joined]
        return not counts or max(counts) - min(counts) <= 1

    @invariant
    def assigned_to_members(self) -> bool:
        return all(o is None or o in self.joined for o in self.owner.values())


class RoundRobin(RangeAssignor):
    """Partitions dealt out like cards."""

    def assign(self) -> None:
        names = [m for m in Member if m in self.joined]
        for p in range(3):
            self.owner[p] = names[p % len(names)] if len(names) > 0 else None


class Sticky(RangeAssignor):
    """Whoever has a partition keeps it while that is balanced."""

    def load_of(self, m: Member) -> int:
        return sum(1 for o in self.owner.values() if o == m)

    def assign(self) -> None:
        for p in range(3):
            o = self.owner[p]
            if o is not None and o not in self.joined:
                self.owner[p] = None
        for p in range(3):
            if self.owner[p] is None:
                best = None
                for m in Member:
                    if m in self.joined and (best is None or self.load_of(m) < self.load_of(best)):
                        best = m
                self.owner[p] = best
        for m in Member:
            for n in Member:
                if m in self.joined and n in self.joined and self.load_of(m) > self.load_of(n) + 1:
                    for p in range(3):
                        if self.owner[p] == m:
                            self.owner[p] = n
                            break


class Offsets(Model):
    """Committed offsets; a consumer that comes back goes on from there."""

    members = Constant(2)
    committed: Map[Key, Annotated[int, Between(0, 2)]]
    position: Map[Member, Map[Key, Annotated[int, Between(0, 2)] | None]]
    done: Map[Key, Annotated[int, Between(0, 2)]]

    @initial
    def start(self) -> None:
        self.committed = Map({k: 0 for k in range(3)})
        self.position = Map({m: Map({k: None for k in range(3)}) for m in Member})
        self.done = Map({k: 0 for k in range(3)})

    @action
    def fetch(self, m: Member, k: Key) -> None:
        require(k == 0 and self.position[m][k] is None)
        require(all(self.position[other][k] is None for other in Member))
        self.position[m][k] = self.committed[k]

    @action
    def process(self, m: Member, k: Key) -> None:
        at = self.position[m][k]
        require(at is not None and at < 2)
        self.position[m][k] = at + 1
        self.done[k] = max(self.done[k], at + 1)

    @action
    def commit(self, m: Member, k: Key) -> None:
        at = self.position[m][k]
        require(at is not None and self.committed[k] < at)
        self.committed[k] = at

    @action
    def die(self, m: Member) -> None:
        require(any(at is not None for at in self.position[m].values()))
        for k in self.position[m].keys():
            self.position[m][k] = None

    @invariant
    def committed_is_done(self) -> bool:
        return all(self.committed[k] <= self.done[k] for k in range(3))

    @reachable
    def done_again(self) -> bool:
        return any(at is not None and at < self.done[0] for m in Member for at in [self.position[m][0]])


class OffsetsInLoops(Offsets):
    @reachable
    def done_again(self) -> bool:
        for m in Member:
            at = self.position[m][0]
            if at is not None and at < self.done[0]:
                return True
        return False
