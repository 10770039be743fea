"""Gossip, failure detectors and membership."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Between,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Set,
    action,
    initial,
    invariant,
    reachable,
    require,
    transition,
)

Version = Annotated[int, Between(0, 2)]


class Peer(Identifier, count="peers"):
    """A peer."""


class Rumour(Model):
    """Whoever knows tells one other."""

    peers = Constant(3)
    knows: Set[Peer] = Set()
    tired: Set[Peer] = Set()

    @action
    def begin(self, p: Peer) -> None:
        require(not self.knows)
        self.knows = {p}

    @action
    def tell(self, a: Peer, b: Peer) -> None:
        require(a in self.knows and a not in self.tired)
        if b in self.knows:
            self.tired.add(a)
            return
        self.knows.add(b)

    @invariant
    def only_who_knows_gets_tired(self) -> bool:
        return self.tired.issubset(self.knows)

    @reachable
    def everybody_knows(self) -> bool:
        return len(self.knows) == len(Peer)


class RumourBySigns(Rumour):
    @invariant
    def only_who_knows_gets_tired(self) -> bool:
        return self.tired <= self.knows


class State(Enum):
    ALIVE = 0
    SUSPECT = 1
    DEAD = 2


class View(Record):
    state: State = State.ALIVE
    incarnation: Version = 0

    def beats(self, other: View) -> bool:
        if self.incarnation != other.incarnation:
            return self.incarnation > other.incarnation
        return self.order() > other.order()

    def order(self) -> int:
        if self.state == State.ALIVE:
            return 0
        elif self.state == State.SUSPECT:
            return 1
        return 2


class Swim(Model):
    """Suspicion, and incarnations that refute it."""

    peers = Constant(2)
    views: Map[Peer, Map[Peer, View]]
    own: Map[Peer, Version]

    @initial
    def start(self) -> None:
        self.views = Map({p: Map({q: View() for q in Peer}) for p in Peer})
        self.own = Map({p: 0 for p in Peer})

    @action
    def suspect(self, p: Peer, q: Peer) -> None:
        require(p != q)
        view = self.views[p][q]
        require(view.state == State.ALIVE)
        self.views[p][q] = view.replace(state=State.SUSPECT)

    @action
    def gossip(self, p: Peer, q: Peer) -> None:
        for other in Peer:
            mine, theirs = self.views[p][other], self.views[q][other]
            if mine.beats(theirs):
                self.views[q][other] = mine

    @action
    def gossip_one_by_one(self, p: Peer, q: Peer) -> None:
        require(p != q)
        for other in Peer:
            mine = self.views[p][other]
            if mine.beats(self.views[q][other]):
                self.views[q][other] = mine

    @action
    def refute(self, p: Peer) -> None:
        seen = self.views[p][p]
        require(seen.state == State.SUSPECT and self.own[p] < 1)
        self.own[p] += 1
        self.views[p][p] = View(incarnation=self.own[p])

    @action
    def bury(self, p: Peer, q: Peer) -> None:
        require(p != q and self.views[p][q].state == State.SUSPECT)
        self.views[p][q].state = State.DEAD

    @invariant
    def nobody_invents_incarnations(self) -> bool:
        return all(self.views[p][q].incarnation <= self.own[q] for p in Peer for q in Peer)


class SwimOneByOne(Swim):
    @action
    def gossip(self, p: Peer, q: Peer) -> None:
        self.gossip_one_by_one(p, q)


class SwimAsPeople(Model):
    """As above, with helpers only."""

    peers = Constant(2)
    views: Map[Peer, Map[Peer, View]]
    own: Map[Peer, Version]

    @initial
    def start(self) -> None:
        self.views = Map({p: Map({q: View() for q in Peer}) for p in Peer})
        self.own = Map({p: 0 for p in Peer})

    @action
    def suspect(self, p: Peer, q: Peer) -> None:
        require(p != q)
        view = self.views[p][q]
        require(view.state == State.ALIVE)
        self.views[p][q] = view.replace(state=State.SUSPECT)

    @action
    def gossip(self, p: Peer, q: Peer) -> None:
        require(p != q)
        changed = False
        for other in Peer:
            mine = self.views[p][other]
            if mine.beats(self.views[q][other]):
                self.views[q][other] = mine
                changed = True
        require(changed)

    @action
    def refute(self, p: Peer) -> None:
        seen = self.views[p][p]
        require(seen.state == State.SUSPECT and self.own[p] < 1)
        self.own[p] += 1
        self.views[p][p] = View(incarnation=self.own[p])

    @invariant
    def nobody_invents_incarnations(self) -> bool:
        return all(self.views[p][q].incarnation <= self.own[q] for p in Peer for q in Peer)

    @invariant
    def own_view_is_newest(self) -> bool:
        for p in Peer:
            newest = max(self.views[q][p].incarnation for q in Peer)
            if self.views[p][p].incarnation < newest:
                return False
        return True


class Heartbeats(Model):
    """A peer that was not heard of for two rounds is taken for dead."""

    peers = Constant(2)
    missed: Map[Peer, Annotated[int, Between(0, 2)]]
    up: Map[Peer, bool]
    dead: Set[Peer] = Set()

    @initial
    def start(self) -> None:
        self.missed = Map({p: 0 for p in Peer})
        self.up = Map({p: True for p in Peer})

    @action
    def round(self, heard: Set[Peer]) -> None:
        require(all(self.up[p] for p in heard))
        for p in Peer:
            if p in heard:
                self.missed[p] = 0
                self.dead.discard(p)
                continue
            if self.missed[p] == 2:
                self.dead.add(p)
                continue
            self.missed[p] += 1

    @action
    def crash(self, p: Peer) -> None:
        require(self.up[p])
        self.up[p] = False

    @invariant
    def dead_were_missed(self) -> bool:
        return all(self.missed[p] == 2 for p in self.dead)


class AntiEntropy(Model):
    """Two replicas exchange what the other does not have."""

    peers = Constant(2)
    data: Map[Peer, Map[Annotated[int, Between(0, 1)], Version]]
    latest: Map[Annotated[int, Between(0, 1)], Version]

    @initial
    def start(self) -> None:
        self.data = Map({p: Map({k: 0 for k in range(2)}) for p in Peer})
        self.latest = Map({k: 0 for k in range(2)})

    @action
    def write(self, p: Peer, key: Annotated[int, Between(0, 1)]) -> None:
        require(self.latest[key] < 2)
        self.latest[key] += 1
        self.data[p][key] = self.latest[key]

    @action
    def exchange(self, p: Peer, q: Peer) -> None:
        require(p != q and self.data[p] != self.data[q])
        for key, version in self.data[p].items():
            other = self.data[q][key]
            if version > other:
                self.data[q][key] = version
            elif other > version:
                self.data[p][key] = other

    @invariant
    def somebody_has_the_latest(self) -> bool:
        return all(max(self.data[p][key] for p in Peer) == latest for key, latest in self.latest.items())

    @transition
    def versions_rise(old: AntiEntropy, new: AntiEntropy) -> bool:
        return all(new.data[p][k] >= old.data[p][k] for p in Peer for k in range(2))


class Membership(Model):
    """Joining and leaving by a list that a coordinator keeps; a generation for each change."""

    peers = Constant(3)
    members: Set[Peer] = Set()
    generation: Version = 0
    leader: Peer | None = None
    seen: Map[Peer, Version | None]

    @initial
    def start(self) -> None:
        self.seen = Map({p: None for p in Peer})

    def bump(self) -> None:
        require(self.generation < 2)
        self.generation = self.generation + 1

    def pick(self) -> Peer | None:
        candidates = [p for p in Peer if p in self.members]
        return candidates[0] if candidates else None

    @action
    def join(self, p: Peer) -> None:
        require(p not in self.members)
        self.bump()
        self.members.add(p)
        self.leader = self.leader if self.leader is not None else p

    @action
    def leave(self, p: Peer) -> None:
        require(p in self.members)
        self.bump()
        self.members.remove(p)
        self.seen[p] = None
        if self.leader == p:
            self.leader = self.pick()

    @action
    def sync(self, p: Peer) -> None:
        require(p in self.members and self.seen[p] != self.generation)
        self.seen[p] = self.generation

    @invariant
    def leader_is_a_member(self) -> bool:
        return self.leader is None and not self.members or self.leader in self.members
