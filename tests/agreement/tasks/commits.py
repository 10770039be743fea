"""Commit protocols, sagas and transactions."""

from __future__ import annotations

from enum import Enum, auto
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
    lemma,
    reachable,
    require,
    rule,
)


class Participant(Identifier, count="participants"):
    """A participant."""


class Phase(Enum):
    WORKING = auto()
    PREPARED = auto()
    COMMITTED = auto()
    ABORTED = auto()


DECIDED = (Phase.COMMITTED, Phase.ABORTED)


class TwoPhase(Model):
    participants = Constant(2)
    phase: Map[Participant, Phase]
    decision: Phase | None = None

    @initial
    def start(self) -> None:
        self.phase = Map({p: Phase.WORKING for p in Participant})

    @rule
    def may_commit(self) -> bool:
        return all(self.phase[p] == Phase.PREPARED for p in Participant)

    @action
    def prepare(self, p: Participant) -> None:
        require(self.phase[p] == Phase.WORKING)
        self.phase[p] = Phase.PREPARED

    @action
    def refuse(self, p: Participant) -> None:
        require(self.phase[p] == Phase.WORKING)
        self.phase[p] = Phase.ABORTED

    @action
    def decide(self) -> None:
        require(self.decision is None)
        if self.may_commit():
            self.decision = Phase.COMMITTED
        elif any(p == Phase.ABORTED for p in self.phase.values()):
            self.decision = Phase.ABORTED
        else:
            require(False)

    @action
    def hear(self, p: Participant) -> None:
        require(self.decision is not None and self.phase[p] not in DECIDED)
        self.phase[p] = self.decision

    @invariant
    def consistent(self) -> bool:
        return not (Phase.COMMITTED in self.phase.values() and Phase.ABORTED in self.phase.values())

    @lemma
    def committed_by_decision(self) -> bool:
        return all(self.decision == Phase.COMMITTED for p in Participant if self.phase[p] == Phase.COMMITTED)


class Impatient(TwoPhase):
    """One that is prepared is enough."""

    @rule
    def may_commit(self) -> bool:
        return any(self.phase[p] == Phase.PREPARED for p in Participant)


class Step(Enum):
    PENDING = 0
    DONE = 1
    UNDONE = 2


class Saga(Model):
    """Three steps, undone in reverse when one fails."""

    STEPS = 3

    steps: Annotated[Seq[Step], Capacity(3)] = Seq([Step.PENDING, Step.PENDING, Step.PENDING])
    failed: bool = False

    def progress(self) -> int:
        count = 0
        for step in self.steps:
            if step == Step.PENDING:
                break
            count += 1
        return count

    @action
    def forward(self) -> None:
        require(not self.failed)
        at = self.progress()
        require(at < 3)
        self.steps[at] = Step.DONE

    @action
    def fail(self) -> None:
        require(not self.failed and self.progress() < 3)
        self.failed = True

    @action
    def undo(self) -> None:
        require(self.failed)
        for back in range(2, -1, -1):
            if self.steps[back] == Step.DONE:
                self.steps[back] = Step.UNDONE
                break
        else:
            require(False)

    @invariant
    def undone_from_the_end(self) -> bool:
        return all(
            not (self.steps[i] == Step.UNDONE and self.steps[j] == Step.DONE) for i in range(3) for j in range(i, 3)
        )


class SagaWithFlag(Saga):
    @action
    def undo(self) -> None:
        require(self.failed)
        found = False
        for back in range(2, -1, -1):
            if not found and self.steps[back] == Step.DONE:
                self.steps[back] = Step.UNDONE
                found = True
        require(found)


class SagaByDistance(Saga):
    @action
    def undo(self) -> None:
        require(self.failed)
        found = False
        for distance in range(3):
            back = 2 - distance
            if self.steps[back] == Step.DONE:
                self.steps[back] = Step.UNDONE
                found = True
                break
        require(found)


class Write(Record):
    key: Annotated[int, Between(0, 1)]
    value: Annotated[int, Between(0, 1)]


class Transactions(Model):
    """A write-ahead log: what was written is applied after the commit, and redone after a crash."""

    log: Annotated[Seq[Write], Capacity(2)] = Seq()
    committed: bool = False
    applied: Annotated[int, Between(0, 2)] = 0
    disk: Map[Annotated[int, Between(0, 1)], Annotated[int, Between(0, 1)] | None]

    @initial
    def start(self) -> None:
        self.disk = Map({k: None for k in range(2)})

    @action
    def write(self, write: Write) -> None:
        require(not self.committed and len(self.log) < 2)
        self.log.append(write)

    @action
    def commit(self) -> None:
        require(not self.committed and self.log)
        self.committed = True

    @action
    def apply(self) -> None:
        require(self.committed and self.applied < len(self.log))
        entry = self.log[self.applied]
        self.disk[entry.key] = entry.value
        self.applied += 1

    @action
    def crash(self) -> None:
        if not self.committed:
            self.log = Seq()
        self.applied = 0

    def final(self, key: int) -> int | None:
        value = None
        for entry in self.log:
            if entry.key == key:
                value = entry.value
        return value

    @invariant
    def nothing_uncommitted(self) -> bool:
        return self.committed or all(value is None for value in self.disk.values())

    @invariant
    def in_the_end_the_last_write(self) -> bool:
        if not self.committed or self.applied < len(self.log):
            return True
        return all(self.disk[k] == self.final(k) for k in range(2))


class TransactionsCounted(Transactions):
    """The length of the log, compared."""

    @action
    def commit(self) -> None:
        require(not self.committed and len(self.log) > 0)
        self.committed = True


class Outbox(Model):
    """Writes an event with the row; a relay publishes it, perhaps twice."""

    rows: Annotated[int, Between(0, 2)] = 0
    outbox: Set[Annotated[int, Between(0, 1)]] = Set()
    published: Map[Annotated[int, Between(0, 1)], Annotated[int, Between(0, 2)]]
    handled: Set[Annotated[int, Between(0, 1)]] = Set()

    @initial
    def start(self) -> None:
        self.published = Map({0: 0, 1: 0})

    @action
    def insert(self) -> None:
        require(self.rows < 2)
        self.outbox |= {self.rows}
        self.rows += 1

    @action
    def publish(self, event: Annotated[int, Between(0, 1)], crashes: bool) -> None:
        require(event in self.outbox)
        self.published[event] = min(self.published[event] + 1, 2)
        if not crashes:
            self.outbox.remove(event)

    @action
    def handle(self, event: Annotated[int, Between(0, 1)]) -> None:
        require(self.published[event] > 0)
        self.handled |= {event}

    @invariant
    def only_what_was_inserted(self) -> bool:
        return all(event < self.rows for event in self.handled)

    @reachable
    def twice(self) -> bool:
        return max(self.published.values()) == 2


class OutboxByLoop(Outbox):
    @initial
    def start(self) -> None:
        self.published = Map({event: 0 for event in range(2)})


class Escrow(Model):
    """Money moves from account to account and none is lost."""

    TOTAL = 3
    balance: Map[Participant, Annotated[int, Between(0, 3)]]
    escrow: Annotated[int, Between(0, 3)] = 0
    participants = Constant(2)
    to: Participant | None = None

    @initial
    def start(self, rich: Participant) -> None:
        self.balance = Map({p: 3 if p == rich else 0 for p in Participant})

    @action
    def deposit(self, p: Participant, to: Participant, amount: Annotated[int, Between(1, 3)]) -> None:
        require(self.to is None and p != to)
        require(amount <= self.balance[p])
        self.balance[p] -= amount
        self.escrow += amount
        self.to = to

    @action
    def settle(self) -> None:
        to = self.to
        require(to is not None)
        self.balance[to] += self.escrow
        self.escrow = 0
        self.to = None

    @invariant
    def conserved(self) -> bool:
        total = self.escrow
        for p in Participant:
            total += self.balance[p]
        return total == 3
