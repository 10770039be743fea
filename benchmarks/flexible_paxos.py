"""Flexible Paxos (H. Howard, D. Malkhi, A. Spiegelman, OPODIS 2016): a quorum of the first phase has to meet each
quorum of the second, and no other one of its own phase.

It is the protocol of FPaxos.tla (https://github.com/fpaxos/fpaxos-tlaplus) at the sizes of I. Konnov, "All you need is
a simulator? Nope" (https://protocols-made-fun.com, March 9, 2026), whose counts of states it has.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Identifier, Map, Model, Record, Set, action, initial, invariant, require

Ballot = Annotated[int, Between(0, "last_ballot")]
Value = Annotated[int, Between(0, "last_value")]


class Acceptor(Identifier, count="acceptors", prefix="a"):
    """A replica that promises ballots and votes in them."""


class Vote(Record):
    """The latest vote of an acceptor."""

    ballot: Ballot
    value: Value


class Promise(Record):
    """An acceptor's answer to a ballot: it takes part in no earlier one, and had voted so."""

    vote: Vote | None


class FlexiblePaxos(Model):
    """Nothing that was sent is lost or forgotten, so a message is a variable that stays as it is."""

    acceptors = Constant(2)
    last_ballot = Constant(2)
    last_value = Constant(2)
    first_quorum = Constant(1)
    second_quorum = Constant(2)
    rows = Constant(False)
    """Whether quorums of the first phase are the rows of a square, and those of the second have one of each row."""
    asked: Set[Ballot]
    joined: Map[Acceptor, Ballot | None]
    latest: Map[Acceptor, Vote | None]
    promised: Map[Ballot, Map[Acceptor, Promise | None]]
    proposed: Map[Ballot, Value | None]
    voted: Map[Ballot, Map[Acceptor, bool]]

    @initial
    def start(self) -> None:
        self.asked = Set()
        self.joined = Map({each: None for each in Acceptor})
        self.latest = Map({each: None for each in Acceptor})
        self.promised = Map({ballot: Map({each: None for each in Acceptor}) for ballot in range(self.last_ballot + 1)})
        self.proposed = Map({ballot: None for ballot in range(self.last_ballot + 1)})
        self.voted = Map({ballot: Map({each: False for each in Acceptor}) for ballot in range(self.last_ballot + 1)})

    def is_behind(self, acceptor: Acceptor, ballot: int) -> bool:
        joined = self.joined[acceptor]
        return joined is None or joined < ballot

    @action
    def asks(self, ballot: Ballot) -> None:
        self.asked.add(ballot)

    @action
    def promises(self, acceptor: Acceptor, ballot: Ballot) -> None:
        require(ballot in self.asked)
        require(self.is_behind(acceptor, ballot))
        self.joined[acceptor] = ballot
        self.promised[ballot][acceptor] = Promise(vote=self.latest[acceptor])

    def latest_in(self, ballot: int, quorum: Set[Acceptor]) -> int:
        """The latest ballot of which a quorum has told a vote, or -1."""
        found = -1
        for each in quorum:
            promise = self.promised[ballot][each]
            if promise is not None and promise.vote is not None:
                found = max(found, promise.vote.ballot)
        return found

    def told(self, ballot: int, quorum: Set[Acceptor], latest: int, value: int) -> bool:
        """Whether one of a quorum has told a vote for a value in a certain ballot."""
        for each in quorum:
            promise = self.promised[ballot][each]
            if promise is not None and promise.vote == Vote(ballot=latest, value=value):
                return True
        return False

    def is_first_quorum(self, quorum: Set[Acceptor]) -> bool:
        if self.rows:
            return quorum == Set({Acceptor(1), Acceptor(2)}) or quorum == Set({Acceptor(3), Acceptor(4)})
        return len(quorum) == self.first_quorum

    @action
    def proposes(self, ballot: Ballot, value: Value, quorum: Set[Acceptor]) -> None:
        require(self.proposed[ballot] is None)
        require(self.is_first_quorum(quorum))
        require(all(self.promised[ballot][each] is not None for each in quorum))
        latest = self.latest_in(ballot, quorum)
        require(latest == -1 or self.told(ballot, quorum, latest, value))
        self.proposed[ballot] = value

    @action
    def votes(self, acceptor: Acceptor, ballot: Ballot) -> None:
        value = self.proposed[ballot]
        joined = self.joined[acceptor]
        require(value is not None and (joined is None or joined <= ballot))
        assert value is not None
        self.joined[acceptor] = ballot
        self.latest[acceptor] = Vote(ballot=ballot, value=value)
        self.voted[ballot][acceptor] = True

    def is_chosen(self, ballot: int) -> bool:
        voters = Set(each for each in Acceptor if self.voted[ballot][each])
        if self.rows:
            first = Set({Acceptor(1), Acceptor(2)})
            return len(first & voters) > 0 and len(voters - first) > 0
        return len(voters) >= self.second_quorum

    @invariant
    def one_value_is_chosen(self) -> bool:
        """Whatever is proposed after a ballot that was chosen is its value."""
        return all(
            self.proposed[later] is None or self.proposed[later] == self.proposed[ballot]
            for ballot in range(self.last_ballot + 1)
            for later in range(self.last_ballot + 1)
            if later > ballot and self.is_chosen(ballot)
        )
