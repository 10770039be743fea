"""Models with maps whose keys are records, among whose codes there are some of no value."""

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
)


class Server(Identifier, count="servers", prefix="s"):
    pass


class Vote(Enum):
    NO = 0
    YES = 1
    UNKNOWN = 2


Epoch = Annotated[int, Between(0, 1)]
Count = Annotated[int, Between(-1, 1)]


class Seat(Record):
    """Two epochs and three servers: 6 values among 8 codes, with a gap after each epoch's servers."""

    epoch: Epoch
    server: Server


class Ballot(Record):
    """A field that may be None, and a record within a record: 6 values among 8 codes."""

    about: Server | None
    vote: Vote


class Leaning(Record):
    """3 values among 4 codes."""

    vote: Vote


class Circle(Record):
    """A set of values among whose codes there is a gap: 8 values among 16 codes."""

    of: Set[Leaning]


class Seats(Model):
    """Entries are set and read one at a time, all at once, and through loops over keys and values."""

    servers = Constant(3)
    counts: Map[Seat, Count]
    last: Seat | None
    total: Annotated[int, Between(-6, 6)]

    @initial
    def start(self) -> None:
        self.counts = Map({Seat(server=server, epoch=epoch): 0 for epoch in range(2) for server in Server})
        self.last = None
        self.total = 0

    @action
    def raises(self, server: Server, epoch: Epoch) -> None:
        seat = Seat(server=server, epoch=epoch)
        require(self.counts[seat] < 1 and self.last != seat)
        self.counts[seat] += 1 if self.counts[seat] == 0 else 2
        self.last = seat

    @action
    def lowers_the_others(self, seat: Seat) -> None:
        require(self.counts[seat] == 1)
        self.counts = Map({other: self.counts[other] if other == seat else -1 for other in self.counts})
        self.total = sum(self.counts.values())

    @action
    def mirrors(self) -> None:
        require(self.last is not None and self.last.epoch == 1)
        self.counts = Map({
            Seat(server=server, epoch=epoch): self.counts[Seat(server=server, epoch=1 - epoch)]
            for epoch in range(2)
            for server in Server
        })
        self.last = None

    @action
    def forgets(self) -> None:
        for seat in self.counts:
            if self.counts[seat] == -1 and len(self.counts) == 6:
                self.counts[seat] = 0

    @invariant
    def none_is_below(self) -> bool:
        return all(count >= -1 for count in self.counts.values()) and len(self.counts) == 6

    @reachable
    def all_are_up(self) -> bool:
        return all(self.counts[seat] == 1 for seat in self.counts)


class Ballots(Model):
    """Keys with parts that may be None, that are sets, or that are records; and as elements of sets."""

    servers = Constant(1)
    ballots: Map[Ballot, bool]
    counted: Set[Ballot]
    circles: Map[Circle | None, bool]

    @initial
    def start(self) -> None:
        everyone = [None, *Server]
        self.ballots = Map({Ballot(vote=vote, about=about): False for vote in Vote for about in everyone})
        self.counted = Set()
        circles = [Circle(of=Set(Leaning(vote=vote) for vote in Vote if mask >> vote.value & 1)) for mask in range(8)]
        self.circles = Map({circle: False for circle in [None, *circles]})

    @action
    def votes(self, vote: Vote, server: Server) -> None:
        require(vote != Vote.UNKNOWN)
        ballot = Ballot(vote=vote, about=server)
        require(not self.ballots[ballot])
        self.ballots[ballot] = True

    @action
    def abstains(self, vote: Vote) -> None:
        ballot = Ballot(vote=vote, about=None)
        require(self.ballots[ballot] == (vote == Vote.NO))
        self.ballots[ballot] = not self.ballots[ballot]

    @action
    def counts(self) -> None:
        self.counted = Set(ballot for ballot in self.ballots if self.ballots[ballot])
        self.circles[Circle(of=Set(Leaning(vote=ballot.vote) for ballot in self.counted))] = True

    @action
    def closes(self) -> None:
        require(len(self.counted) == 2)
        self.circles = Map({circle: circle is None for circle in self.circles})

    @invariant
    def whoever_is_counted_has_voted(self) -> bool:
        return all(self.ballots[ballot] for ballot in self.counted if ballot.about is not None)


MODELS: list[type[Model]] = [Seats, Ballots]
