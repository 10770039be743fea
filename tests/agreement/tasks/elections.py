"""Elections: by majority, by rank, round a ring, of a preferred leader."""

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
    implies,
    initial,
    invariant,
    reachable,
    require,
    transition,
)

Epoch = Annotated[int, Between(0, 2)]
Rank = Annotated[int, Between(0, 2)]


class Voter(Identifier, count="voters", prefix="v"):
    """A voter."""


class Role(Enum):
    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


def majority(votes: int, of: int) -> bool:
    return votes > of // 2


class ByMajority(Model):
    voters = Constant(3)
    epoch: Map[Voter, Epoch]
    role: Map[Voter, Role]
    voted: Map[Voter, Voter | None]

    @initial
    def start(self) -> None:
        self.epoch = Map({v: 0 for v in Voter})
        self.role = Map({v: Role.FOLLOWER for v in Voter})
        self.voted = Map({v: None for v in Voter})

    def supporters(self, c: Voter) -> set[Voter]:
        return {v for v in Voter if self.voted[v] == c and self.epoch[v] == self.epoch[c]}

    @action
    def stand(self, v: Voter) -> None:
        require(self.role[v] != Role.LEADER)
        require(self.epoch[v] < 1)
        self.epoch[v] += 1
        self.role[v] = Role.CANDIDATE
        self.voted[v] = v

    @action
    def vote(self, v: Voter, c: Voter) -> None:
        require(v != c)
        require(self.role[c] == Role.CANDIDATE)
        if self.epoch[c] > self.epoch[v]:
            self.epoch[v] = self.epoch[c]
            self.role[v] = Role.FOLLOWER
            self.voted[v] = c
        elif self.epoch[c] == self.epoch[v] and self.voted[v] is None:
            self.voted[v] = c
        else:
            require(False)

    @action
    def win(self, c: Voter) -> None:
        require(self.role[c] == Role.CANDIDATE)
        require(majority(len(self.supporters(c)), len(Voter)))
        self.role[c] = Role.LEADER

    @invariant
    def one_leader(self) -> bool:
        leaders = {v for v in Voter if self.role[v] is Role.LEADER}
        return all(a == b or self.epoch[a] != self.epoch[b] for a in leaders for b in leaders)


class ByMajorityCompared(ByMajority):
    """Enum members compared by ``==``."""

    @invariant
    def one_leader(self) -> bool:
        leaders = {v for v in Voter if self.role[v] == Role.LEADER}
        return all(a == b or self.epoch[a] != self.epoch[b] for a in leaders for b in leaders)

    @reachable
    def somebody_leads(self) -> bool:
        return Role.LEADER in self.role.values()


class HalfIsEnough(ByMajorityCompared):
    """One vote too few."""

    @action
    def win(self, c: Voter) -> None:
        require(self.role[c] == Role.CANDIDATE)
        require(len(self.supporters(c)) >= len(Voter) // 2)
        self.role[c] = Role.LEADER


class Bully(Model):
    """The highest that is alive leads."""

    alive: Map[Rank, bool]
    leader: Rank | None = None
    asked: Set[Rank] = Set()

    @initial
    def start(self) -> None:
        self.alive = Map({r: True for r in range(3)})

    def highest(self) -> int:
        return max((r for r in range(3) if self.alive[r]), default=-1)

    @action
    def crash(self, r: Rank) -> None:
        require(self.alive[r])
        self.alive[r] = False
        if r == self.leader:
            self.leader = None
        self.asked.discard(r)

    @action
    def recover(self, r: Rank) -> None:
        require(not self.alive[r])
        self.alive[r] = True

    @action
    def ask(self, r: Rank) -> None:
        require(self.alive[r] and (self.leader is None or r > self.leader))
        self.asked.add(r)

    @action
    def answer(self, r: Rank) -> None:
        require(self.alive[r])
        lower = [other for other in self.asked if other < r]
        require(lower)
        for other in lower:
            self.asked.discard(other)
        self.asked.add(r)

    @action
    def announce(self) -> None:
        require(self.asked)
        best = max(self.asked)
        require(best == self.highest())
        self.leader = best
        self.asked = Set()

    @invariant
    def leader_is_alive(self) -> bool:
        return self.leader is None or self.alive[self.leader]


class BullyInOrder(Bully):
    """Loops in the order of ranks."""

    @action
    def answer(self, r: Rank) -> None:
        require(self.alive[r])
        found = False
        for other in range(r):
            if other in self.asked:
                self.asked.discard(other)
                found = True
        require(found)
        self.asked.add(r)


class RingElection(Model):
    """The largest number goes round the ring (Chang and Roberts)."""

    nodes = Constant(3)
    inbox: Map[Annotated[int, Between(0, "nodes - 1")], Annotated[Set[Annotated[int, Between(0, "nodes - 1")]], Capacity(3)]]
    begun: Set[Annotated[int, Between(0, "nodes - 1")]] = Set()
    elected: Annotated[int, Between(0, "nodes - 1")] | None = None

    @initial
    def start(self) -> None:
        self.inbox = Map({i: Set() for i in range(self.nodes)})

    def after(self, i: int) -> int:
        return (i + 1) % self.nodes

    @action
    def begin(self, i: Annotated[int, Between(0, "nodes - 1")]) -> None:
        require(i not in self.begun)
        self.begun.add(i)
        self.inbox[self.after(i)].add(i)

    @action
    def forward(self, i: Annotated[int, Between(0, "nodes - 1")], number: Annotated[int, Between(0, "nodes - 1")]) -> None:
        require(number in self.inbox[i])
        self.inbox[i].remove(number)
        if number == i:
            self.elected = i
        elif number > i:
            self.inbox[self.after(i)].add(number)

    @invariant
    def the_largest_that_began(self) -> bool:
        return self.elected is None or all(self.elected >= i for i in self.begun if i in self.begun) or self.elected in self.begun


class PreferredLeader(Model):
    """The first live replica in the order of the assignment leads."""

    voters = Constant(3)
    assignment: Annotated[Seq[Voter], Capacity(3)]
    live: Set[Voter]
    leader: Voter | None

    @initial
    def start(self) -> None:
        self.assignment = [v for v in Voter]
        self.live = Set(Voter)
        self.leader = self.assignment[0]

    def choose(self) -> Voter | None:
        for candidate in self.assignment:
            if candidate in self.live:
                return candidate
        return None

    @action
    def fail(self, v: Voter) -> None:
        require(v in self.live)
        self.live.remove(v)
        if self.leader == v:
            self.leader = self.choose()

    @action
    def come_back(self, v: Voter) -> None:
        require(v not in self.live)
        self.live.add(v)
        if self.leader is None:
            self.leader = v

    @action
    def rotate(self) -> None:
        self.assignment = self.assignment[1:] + self.assignment[:1]

    @action
    def prefer(self) -> None:
        preferred = self.choose()
        require(preferred is not None and preferred != self.leader)
        self.leader = preferred

    @invariant
    def leader_is_live(self) -> bool:
        return implies(self.leader is not None, self.leader in self.live)

    @invariant
    def somebody_leads(self) -> bool:
        return bool(self.leader) or not self.live


class PreferredLeaderChecked(PreferredLeader):
    """What was refused, said otherwise."""

    @invariant
    def leader_is_live(self) -> bool:
        return self.leader is None or self.leader in self.live

    @invariant
    def somebody_leads(self) -> bool:
        return self.leader is not None or not self.live


class Unclean(Model):
    """Elects from the ISR, or when it is empty of live ones, anybody: records are lost."""

    voters = Constant(3)
    unclean = Constant(True)
    isr: Set[Voter]
    live: Set[Voter]
    leader: Voter | None
    has: Map[Voter, bool]
    committed: bool = False

    @initial
    def start(self) -> None:
        self.isr = Set(Voter)
        self.live = Set(Voter)
        self.leader = None
        self.has = Map({v: False for v in Voter})

    @action
    def elect(self) -> None:
        require(self.leader is None)
        chosen = None
        clean = False
        for v in Voter:
            if v in self.live and v in self.isr:
                chosen = v
                clean = True
                break
        if not clean and self.unclean:
            for v in Voter:
                if v in self.live:
                    chosen = v
                    self.isr = Set({v})
                    break
        require(chosen is not None)
        self.leader = chosen

    @action
    def write(self) -> None:
        leader = self.leader
        require(leader is not None)
        for v in Voter:
            if v == leader:
                self.has[v] = True

    @action
    def replicate(self, v: Voter) -> None:
        leader = self.leader
        require(leader is not None and v in self.live and self.has[leader])
        self.has[v] = True

    @action
    def shrink(self, v: Voter) -> None:
        require(self.leader is not None and v != self.leader and v in self.isr)
        self.isr.remove(v)

    @action
    def commit(self) -> None:
        require(self.leader is not None)
        require(all(self.has[v] for v in Voter if v in self.isr))
        self.committed = True

    @action
    def die(self, v: Voter) -> None:
        require(v in self.live)
        self.live -= {v}
        if v == self.leader:
            self.leader = None

    @invariant
    def committed_is_kept(self) -> bool:
        return not self.committed or self.leader is None or self.has[self.leader]


class Clean(Unclean):
    unclean = Constant(False)


class Ballot(Record):
    voter: Voter
    choice: Voter


class BallotBox(Model):
    """Votes are papers in a box, counted when it is opened."""

    voters = Constant(3)
    box: Annotated[Set[Ballot], Capacity(3)] = Set()
    result: Voter | None = None
    open: bool = False

    def count(self, choice: Voter) -> int:
        total = 0
        for voter in Voter:
            for other in Voter:
                if other == choice and Ballot(voter=voter, choice=other) in self.box:
                    total += 1
        return total

    @action
    def cast(self, voter: Voter, choice: Voter) -> None:
        require(not self.open)
        require(not any(ballot.voter == voter for ballot in self.box))
        self.box.add(Ballot(voter=voter, choice=choice))

    @action
    def open_box(self) -> None:
        require(not self.open)
        require(len(self.box) == len(Voter))
        self.open = True
        best = 0
        for v in Voter:
            votes = self.count(v)
            if votes > best:
                best = votes
                self.result = v

    @invariant
    def winner_has_most(self) -> bool:
        if self.result is None:
            return True
        return self.count(self.result) == max(self.count(v) for v in Voter)

    @transition
    def result_stays(old: BallotBox, new: BallotBox) -> bool:
        return old.result is None or old.result == new.result
