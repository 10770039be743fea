"""Models for testing the export, each with something that a naive translation to another language would change."""

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
    boundary,
    initial,
    invariant,
    reachable,
    require,
    transition,
)
from tests.support.record_keys import Ballots, Seats

Small = Annotated[int, Between(0, 3)]
Low = Annotated[int, Between(1, 2)]


class Server(Identifier, count="servers", prefix="s"):
    """One of a few."""


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Note(Record):
    """A note about a server."""

    about: Server | None
    mood: Mood
    seen: Set[Server]


class Division(Model):
    """// and % round down, whatever the signs are."""

    x: Annotated[int, Between(-7, 7)] = 0
    quotient: Annotated[int, Between(-8, 8)] = 0
    rest: Annotated[int, Between(-3, 3)] = 0

    @action
    def divide(self, x: Annotated[int, Between(-7, 7)], d: Annotated[int, Between(-3, 3)]) -> None:
        require(d != 0)
        self.x = x
        self.quotient = x // d
        self.rest = x % d

    @invariant
    def rounds_down(self) -> bool:
        return self.rest >= -2 and (self.quotient >= 0 or self.x != 0)


class DividesByZero(Division):
    """It does where the count comes to 0 only."""

    @action
    def divide_by_rest(self) -> None:
        self.quotient = 4 // self.rest


class Guards(Model):
    """A guard may stand anywhere, and what was done before it is undone; assignments follow each other."""

    servers = Constant(3)
    a: Small = 0
    b: Small = 3
    told: Map[Server, Mood]

    @initial
    def start(self) -> None:
        self.told = Map({server: Mood.GOOD for server in Server})

    @action
    def swap_half(self) -> None:
        self.a = self.b
        require(self.a != 0)
        self.b = self.a - 1
        require(self.b != 1)

    @action
    def tell(self, server: Server, mood: Mood) -> None:
        self.told[server] = mood
        require(sum(1 for other in Server if self.told[other] == Mood.BAD) <= 2)

    @reachable
    def two_are_told(self) -> bool:
        return sum(1 for server in Server if self.told[server] == Mood.BAD) == 2


class Lists(Model):
    """Sequences begin at 0, count from the end below it, and slices are clipped."""

    log: Annotated[Seq[Small], Capacity(3)]
    last: Small | None = None
    sorted: Annotated[Seq[Small], Capacity(3)]

    @initial
    def start(self) -> None:
        self.log = Seq()
        self.sorted = Seq()

    @action
    def write(self, value: Small) -> None:
        require(len(self.log) < 3)
        self.log.append(value)
        self.last = self.log[-1]
        self.sorted = Seq(sorted(self.log, reverse=True))

    @action
    def cut(self, low: Annotated[int, Between(-2, 2)], high: Annotated[int, Between(-2, 4)]) -> None:
        self.log = self.log[low:high]

    @action
    def overwrite(self, index: Annotated[int, Between(-3, 2)]) -> None:
        require(-len(self.log) <= index < len(self.log))
        self.log[index] = 1 if self.log[index] != 1 else 2

    @invariant
    def sorted_is_sorted(self) -> bool:
        return all(self.sorted[i] >= self.sorted[i + 1] for i in range(len(self.sorted) - 1))


class Laziness(Lists):
    """``and`` and ``any`` stop before what would fail."""

    @invariant
    def looks_first(self) -> bool:
        return (len(self.log) > 0 and self.log[0] >= 0) or self.log == []

    @invariant
    def any_stops(self) -> bool:
        return any(i >= len(self.log) or self.log[i] == 2 for i in range(9)) or not any(
            self.log[i] > 3 for i in range(len(self.log))
        )


class LooksTooFar(Lists):
    """One invariant looks at an element that need not be there."""

    @invariant
    def second_is_small(self) -> bool:
        return len(self.log) == 0 or self.log[1] <= 3


class Loops(Model):
    """Loops that are left early, from within and for good."""

    servers = Constant(3)
    notes: Set[Note]
    first: Server | None = None
    count: Small = 0

    @initial
    def start(self) -> None:
        self.notes = Set()

    @action
    def write(self, about: Server, mood: Mood) -> None:
        require(len(self.notes) < 2)
        self.notes.add(Note(about=about, mood=mood, seen=Set({about})))

    @action
    def look(self, note: Note) -> None:
        require(note in self.notes)
        self.first = self.worst()
        for server in Server:
            if server == note.about:
                continue
            if server in note.seen:
                break
            self.count = min(3, self.count + 1)

    def worst(self) -> Server | None:
        for note in self.notes:
            if note.mood == Mood.BAD:
                return note.about
        return None

    @invariant
    def worst_is_bad(self) -> bool:
        return self.first is None or any(note.about == self.first and note.mood == Mood.BAD for note in self.notes)


class Bags(Model):
    """A bag knows how often, and what is not in it cannot be taken."""

    servers = Constant(2)
    sent: Annotated[Bag[Server], Capacity(3)]
    few: Annotated[Set[Server], Capacity(1)]

    @initial
    def start(self) -> None:
        self.sent = Bag()
        self.few = Set()

    @action
    def send(self, server: Server) -> None:
        require(len(self.sent) < 3)
        self.sent.add(server)

    @action
    def receive(self, server: Server) -> None:
        require(server in self.sent)
        self.sent.remove(server)
        self.few = self.few - {server} if server in self.few else Set({server})

    @reachable
    def three_alike(self) -> bool:
        return any(self.sent.count(server) == 3 for server in Server)


class Overflows(Bags):
    """One more than there is room for."""

    @action
    def send_too_many(self, server: Server) -> None:
        self.sent.add(server)


class Cut(Model):
    """States outside of a boundary are checked, but neither counted nor expanded."""

    x: Annotated[int, Between(0, 9)] = 0

    @action
    def up(self, by: Annotated[int, Between(1, 2)]) -> None:
        self.x = self.x + by

    @boundary
    def small(self) -> bool:
        return self.x <= 5

    @invariant
    def below_nine(self) -> bool:
        return self.x < 9

    @reachable
    def five(self) -> bool:
        return self.x == 5


class CutTooLate(Cut):
    """Seven is outside, and looked at."""

    @invariant
    def not_seven(self) -> bool:
        return self.x != 7


class Idles(Model):
    """A step that changes nothing is a step, too."""

    x: Small = 0

    @action
    def up(self) -> None:
        self.x = min(3, self.x + 1)

    @transition
    def always_grows(old, new: Idles) -> bool:  # noqa: N805
        return new.x > old.x


class NeverIdles(Idles):
    """A step that its last guard forbids is none, so no property is asked of it."""

    @action
    def up(self) -> None:
        before = self.x
        self.x = min(3, self.x + 1)
        require(self.x != before)


class Stuck(Model):
    """It ends, where a step is wanted."""

    x: Small = 0

    @action
    def up(self) -> None:
        require(self.x < 3)
        self.x += 1


class Starts(Model):
    """More than one beginning."""

    servers = Constant(2)
    leader: Server
    moods: Map[Server, Mood]

    @initial
    def start(self, leader: Server, mood: Mood) -> None:
        self.leader = leader
        self.moods = Map({server: mood if server == leader else Mood.GOOD for server in Server})

    @action
    def elect(self, server: Server) -> None:
        require(self.moods[server] == Mood.GOOD)
        self.leader = server


class Asked(Record):
    by: Server
    mood: Mood | None


class Told(Record):
    by: Server
    yes: bool


class Letters(Model):
    """Records of two classes in one set, in a bag and in a parameter."""

    servers = Constant(2)
    letters: Annotated[Set[Asked | Told], Capacity(2)] = Set()
    last: Asked | Told | None = None
    copies: Annotated[Bag[Asked | Told], Capacity(1)] = Bag()

    @action
    def asks(self, asked: Asked) -> None:
        require(len(self.letters) < 2)
        self.letters.add(asked)

    @action
    def says(self, told: Told) -> None:
        require(len(self.letters) < 2 and told.yes)
        self.letters = self.letters | {told}

    @action
    def tells(self, asked: Asked) -> None:
        require(asked in self.letters)
        require(asked.mood is not None)
        self.letters.remove(asked)
        self.last = Told(by=asked.by, yes=asked.mood == Mood.GOOD)
        self.copies = Bag([asked]) if asked.mood == Mood.BAD else Bag()

    @invariant
    def never_bad_news(self) -> bool:
        return not isinstance(self.last, Told) or self.last.yes or len(self.copies) == 1

    @reachable
    def told(self) -> bool:
        return any(isinstance(letter, Told) and letter.yes for letter in self.letters)


class Rebound(Model):
    """Loops whose bodies assign the loop's variable, which keeps its value after the loop."""

    servers = Constant(2)
    numbers: Annotated[Seq[Small], Capacity(2)]
    sums: Map[Server, Small]
    last: Server
    place: Small = 0
    total: Annotated[int, Between(0, 9)] = 0

    @initial
    def start(self, first: Small, both: bool, last: Server) -> None:
        self.numbers = Seq([first, 2]) if both else Seq([first])
        self.sums = Map({server: 0 for server in Server})
        self.last = last

    @action
    def assigned(self) -> None:
        for server in Server:
            if len(self.numbers) == 1:
                server = self.last
            self.sums[server] = min(3, self.sums[server] + 1)
        total = 0
        for i, number in enumerate(self.numbers):
            if i == 1:
                continue
            number = min(3, number + i + 1)
            i = number % 2
            total = min(9, total + number + i)
        self.total = total

    @action
    def kept(self) -> None:
        i = 3
        number = 0
        for i, number in enumerate(self.numbers):
            for number in range(i + number):  # noqa: B020 - the inner loop's variable is the outer one's
                if number == 1:
                    break
            if number == 0:
                break
        self.place = min(i, number)
        last = self.last
        for last in Server:
            if self.sums[last] > 1:
                break
        self.last = last

    @invariant
    def one_of_one_is_all(self) -> bool:
        return all(self.sums[server] == 0 or server == self.last or len(self.numbers) > 1 for server in Server)

    @reachable
    def the_first_is_left(self) -> bool:
        return self.place == 1 and self.last == Server(1)


class Widens(Model):
    """Values go where more is allowed, and back where it is known that they fit."""

    servers = Constant(2)
    some: Set[Low] = Set()
    more: Set[Small] = Set()
    kept: Annotated[Set[Small], Capacity(2)] = Set()
    row: Annotated[Seq[Low], Capacity(2)] = Seq()
    rest: Annotated[Seq[Small], Capacity(3)] = Seq()
    each: Map[Server, Low]
    all_of: Map[Server, Small]
    last: Low | None = None
    any_of: Small | None = None

    @initial
    def start(self) -> None:
        self.each = Map({server: 1 for server in Server})
        self.all_of = Map({server: 0 for server in Server})

    @action
    def puts(self, low: Low) -> None:
        require(len(self.row) < 2)
        self.some.add(low)
        self.row.append(low)
        self.each[Server(1)] = low
        self.last = low

    @action
    def widens(self) -> None:
        self.more = self.some
        self.kept = self.some
        self.rest = self.row
        self.all_of = self.each
        self.any_of = self.last

    @action
    def narrows(self) -> None:
        require(len(self.more) > 0 and 3 not in self.more)
        self.some = self.more
        self.row = self.rest
        self.each = self.all_of
        self.last = self.any_of

    @action
    def grows(self) -> None:
        require(len(self.more) == 1)
        self.more.add(3)
        self.any_of = 3

    @invariant
    def what_is_kept_is_low(self) -> bool:
        return all(0 < low < 3 for low in self.kept) and self.kept <= self.more

    @reachable
    def all_are_there(self) -> bool:
        return self.more == Set([1, 2]) and self.rest == Seq([2, 1]) and self.any_of == 1


class Fine(Record):
    degrees: Low


class Wet(Record):
    sunny: bool


class Foggy(Record):
    haze: Low


class Weather(Model):
    """Records of three classes, which are numbered through, and a value of which one branch of two has to be made."""

    seen: Set[Fine | Wet | Foggy] = Set()
    row: Annotated[Seq[Low], Capacity(2)] = Seq([1, 2])
    other: Annotated[Seq[Low], Capacity(2)] = Seq()

    @action
    def changes(self, now: Fine | Wet | Foggy) -> None:
        require(len(self.seen) < 2)
        self.seen.add(now)

    @action
    def ends(self, then: Fine | Wet | Foggy) -> None:
        require(then in self.seen)
        self.seen.remove(then)
        self.other = self.row if len(self.seen) == 0 else Seq([number for number in self.row if number > 1])

    @invariant
    def is_in_order(self) -> bool:
        return len(self.other) < 2 or self.other[0] < self.other[1]

    @reachable
    def is_short(self) -> bool:
        return self.other == Seq([2]) and Foggy(haze=2) in self.seen


class Unbounded(Model):
    """A sum whose bounds nobody knows."""

    x: Small = 0

    @action
    def add(self) -> None:
        total = 0
        for _ in range(self.x):
            total = total * 3 + 1
        self.x = total % 4


EXPORTED = (Division, DividesByZero, Guards, Lists, Laziness, LooksTooFar, Loops, Bags, Overflows, Cut, CutTooLate,
            Idles, NeverIdles, Stuck, Starts, Seats, Ballots, Letters, Rebound, Widens,
            Weather)
