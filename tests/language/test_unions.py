"""Records of several classes in one variable, one set, one bag: what CPython does with them, every engine does."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import pytest
import z3

from floodmark import (
    Bag,
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    ModelError,
    Record,
    Seq,
    Set,
    action,
    initial,
    invariant,
    reachable,
    require,
)
from floodmark.checkers.conformance.external_values import pattern, value_of
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Options
from floodmark.checkers.symbolic.terms.booleans import as_term
from floodmark.checkers.symbolic.translate.transition_system import System
from floodmark.compiler.layout import decode, encode
from floodmark.language.errors import SourceError
from floodmark.language.types import UnionType
from floodmark.language.universe import universe
from floodmark.language.values import order_key
from tests.support.agreement import assert_agrees
from tests.support.engines import ENGINES, imported, outcome, properties_of, states_of
from tests.support.symbolic_agreement import assert_steps_agree, every_model
from tests.support.symmetric_agreement import look

Term = Annotated[int, Between(0, 2)]


class Server(Identifier, count="servers", prefix="s"):
    """A server."""


class Mood(Enum):
    GOOD = 1
    BAD = 2
    WORSE = 3


class Vote(Record):
    term: Term
    to: Server


class Granted(Record):
    term: Term
    to: Server
    voter: Server


class Beat(Record):
    term: Term
    last: Term | None = None


class Parcel(Record):
    of: Granted | Vote


Message = Vote | Granted | Beat


class Votes(Model):
    """Messages of three classes in one set, some of them in a bag, one of them in a variable."""

    servers = Constant(2)
    term: Map[Server, Term]
    votes: Map[Server, Set[Server]]
    messages: Annotated[Set[Message], Capacity(4)] = Set()
    bag: Annotated[Bag[Vote | Beat], Capacity(1)] = Bag()
    last: Message | None = None
    first: Vote | Beat = Beat(term=1)

    @initial
    def start(self) -> None:
        self.term = Map({server: 0 for server in Server})
        self.votes = Map({server: Set() for server in Server})

    @action
    def asks(self, server: Server) -> None:
        require(self.term[server] < 1)
        self.term[server] += 1
        self.messages = self.messages | {Vote(term=self.term[server], to=server)}

    @action
    def grants(self, vote: Vote, server: Server) -> None:
        require(vote in self.messages)
        require(vote.to != server and vote.term > self.term[server])
        self.term[server] = vote.term
        self.messages.discard(vote)
        self.messages.add(Granted(term=vote.term, to=vote.to, voter=server))
        self.last = vote

    @action
    def counts(self, message: Message) -> None:
        require(message in self.messages)
        if isinstance(message, Granted):
            self.votes[message.to] = self.votes[message.to] | {message.voter}
            self.messages.remove(message)
            self.bag = Bag([Beat(term=message.term)])
        else:
            require(message.term == 1)
            self.last = message

    @action
    def hears(self, beat: Beat) -> None:
        require(beat in self.bag)
        self.bag.remove(beat)
        self.last = beat.replace(last=self.higher(beat))

    @action
    def forgets(self) -> None:
        self.first.term = 0

    @action
    def changes(self, message: Granted, voter: Server) -> None:
        require(message in self.messages and message.to != voter)
        last = self.last
        if isinstance(last, Vote):
            self.last = last.replace(to=voter)
        self.messages.remove(message)
        self.messages.add((last if isinstance(last, Granted) else message).replace(voter=voter, to=message.to))

    def higher(self, message: Message) -> int:
        return message.term if isinstance(message, Vote | Beat) and isinstance(message, Message) else 0

    @invariant
    def nobody_votes_for_itself(self) -> bool:
        return all(message.voter != message.to for message in self.messages if isinstance(message, Granted))

    @invariant
    def few_votes(self) -> bool:
        return sum(1 for message in self.messages if isinstance(message, (Vote, Granted))) <= 3

    @reachable
    def elected(self) -> bool:
        return any(len(self.votes[server]) > 0 for server in Server) and isinstance(self.last, Beat)


class TakesAnyMessage(Votes):
    """It believes that every message is granted."""

    @action
    def believes(self, message: Message) -> None:
        require(message in self.messages)
        self.votes[message.voter] = Set()


class TakesEveryMessageForABeat(Votes):
    """Only a beat has what is read, be it None."""

    @action
    def believes(self, message: Message) -> None:
        require(message in self.messages)
        self.last = None if message.last is None else self.last


class Forwards(Model):
    """A variable of two classes is sent as one of three, where both have other numbers."""

    servers = Constant(2)
    answer: Granted | Vote
    message: Message

    @initial
    def start(self, server: Server) -> None:
        self.answer = Vote(term=0, to=server)
        self.message = Beat(term=0)

    @action
    def grants(self, voter: Server) -> None:
        self.answer = Granted(term=1, to=Server(1), voter=voter)

    @action
    def sends(self) -> None:
        self.message = self.answer


class Keeps(Model):
    """What three classes share a variable with is kept as one of two: alone, in a record, in every container."""

    servers = Constant(2)
    message: Message | None = None
    answer: Granted | Vote | None = None
    parcel: Parcel | None = None
    answers: Annotated[Set[Granted | Vote], Capacity(2)] = Set()
    copies: Annotated[Bag[Granted | Vote], Capacity(1)] = Bag()
    log: Annotated[Seq[Granted | Vote], Capacity(1)] = Seq()
    by_server: Map[Server, Granted | Vote | None]

    @initial
    def start(self) -> None:
        self.by_server = Map({server: None for server in Server})

    @action
    def receives(self, message: Message) -> None:
        require(message.term == 1 and (isinstance(message, Granted) or self.message is None))
        self.message = message

    @action
    def keeps(self, server: Server) -> None:
        message: Any = self.message
        require(self.may_keep(message))
        self.answer = message
        self.parcel = Parcel(of=message)
        self.by_server[server] = message

    @action
    def collects(self) -> None:
        message: Any = self.message
        require(self.may_keep(message))
        self.answers = Set({message})
        self.copies = Bag([message])
        self.log = Seq([message])

    def may_keep(self, message: Message | None) -> bool:
        return isinstance(message, Granted | Vote)


class KeepsAnything(Keeps):
    """It forgets to ask for the class."""

    def may_keep(self, message: Message | None) -> bool:
        return message is not None


class KeepsNothing(Keeps):
    """It forgets that there may be no message."""

    def may_keep(self, message: Message | None) -> bool:
        return not isinstance(message, Beat)


class Hears(Forwards):
    """A variable of two classes becomes one of two of which they share one, where it is of that."""

    heard: Vote | Beat | None = None

    @action
    def hears(self) -> None:
        if isinstance(self.answer, Vote):
            self.heard = self.answer


class HearsAnything(Hears):
    """It forgets to ask for the class."""

    @action
    def hears(self) -> None:
        answer: Any = self.answer
        self.heard = answer


class Skips(Model):
    """A variable takes the first and the last of three classes, and not the one between them."""

    servers = Constant(2)
    kept: Vote | Beat = Beat(term=0)

    @action
    def keeps(self, message: Message) -> None:
        require(message.term < 2 and not isinstance(message, Granted))
        given: Any = message
        self.kept = given


class Small(Record):
    flag: bool


class Other(Record):
    flag: bool
    when: bool | None


class Masks(Model):
    """Unions whose values are enumerated: in a set without a capacity, in a parameter."""

    all_of_them: Set[Small | Other] = Set()
    held: Small | Other | None = None

    @action
    def takes(self, given: Small | Other) -> None:
        require(len(self.all_of_them) < 2)
        self.all_of_them.add(given)

    @action
    def holds(self, given: Other) -> None:
        require(given in self.all_of_them)
        self.held = given if given.when is not None else Small(flag=given.flag)

    @action
    def turns(self) -> None:
        one = self.held
        require(isinstance(one, Other))
        kinds: Set[Small | Other] = Set({Small(flag=True), Other(flag=False, when=None)})
        self.all_of_them = kinds & self.all_of_them

    @invariant
    def in_order(self) -> bool:
        log = Seq(self.all_of_them)
        return len(log) < 2 or not isinstance(log[0], Small) or isinstance(log[1], Small)


class Sorts(Model):
    """A record is of the class that a choice has asked for."""

    held: Small | Other = Small(flag=False)
    last: Small | Other = Small(flag=True)

    @action
    def takes(self, given: Small | Other) -> None:
        self.held = given

    @action
    def sorts(self) -> None:
        self.last = self.held if isinstance(self.held, Other) else self.last

    @invariant
    def never_both(self) -> bool:
        return isinstance(self.last, Other) or self.last.flag


def test_every_engine_sees_the_same() -> None:
    found = assert_agrees(Votes)
    assert (found.distinct, list(found.reached)) == (len(states_of(Votes())), ["elected"])
    assert not found.violations


def test_a_record_keeps_its_class_among_more_classes() -> None:
    assert_agrees(Forwards)


def test_a_union_may_lack_a_class_between_others() -> None:
    assert not assert_agrees(Skips, workers=(1,)).violations


def test_a_record_has_the_class_that_a_choice_asked_for() -> None:
    found = assert_agrees(Sorts, workers=(1,))
    assert not found.violations and found.distinct > 40


@pytest.mark.slow
def test_a_record_of_more_classes_is_kept_as_one_of_fewer() -> None:
    assert not assert_agrees(Keeps, workers=(1,)).violations
    assert_steps_agree(Keeps(), 3)


@pytest.mark.parametrize(("cls", "states"), [(KeepsAnything, 2), (KeepsNothing, 1)])
def test_a_record_of_a_class_that_is_not_kept_is_a_model_error_in_every_engine(cls: type[Model], states: int) -> None:
    for search in (reference.search_states, search_states):
        found = search(cls(), [], Options(workers=1))
        assert [violation.kind for violation in found.violations] == ["error"]
        assert len(found.violations[0].trace) == states
        assert "Granted | Vote" in found.violations[0].message


def test_a_record_becomes_one_of_a_union_that_shares_its_class() -> None:
    assert not assert_agrees(Hears, workers=(1,)).violations
    assert_steps_agree(Hears(), 3)
    for search in (reference.search_states, search_states):
        found = search(HearsAnything(), [], Options(workers=1))
        assert [(each.kind, len(each.trace)) for each in found.violations] == [("error", 2)]


def test_z3_takes_the_same_steps() -> None:
    assert_steps_agree(Votes(), 8)


def test_symmetry_renames_what_is_inside() -> None:
    assert look(Votes(), properties_of(Votes)) == "symmetric: holds"


@pytest.mark.parametrize(("cls", "field"), [(TakesAnyMessage, "voter"), (TakesEveryMessageForABeat, "last")])
def test_the_wrong_class_is_a_model_error_in_every_engine(cls: type[Model], field: str) -> None:
    for search in (reference.search_states, search_states):
        found = search(cls(), list(collect(cls, []).values()), Options(workers=1))
        assert found.violations[0].kind == "error"
        assert f"'Vote' object has no attribute '{field}'" in found.violations[0].message


@pytest.mark.parametrize("union", [Small | Other, Vote | Beat, Small | Other | None])
def test_z3_knows_the_values_of_a_union(union: object) -> None:
    model = Votes()
    values = System(model, {}).values
    kind = model.declared_type(union)
    one = values.fresh(kind, "one")
    solver = z3.Solver()
    solver.add(as_term(values.well_formed(kind, one)))
    leaves = tuple(leaf.term for leaf in values.components.leaves(kind, one))
    found = [values.decode(kind, one, answer) for answer in every_model(solver, leaves)]
    assert sorted(found, key=order_key) == sorted(universe(kind), key=order_key)
    assert len(found) == len(set(found))


def test_unions_whose_values_are_enumerated() -> None:
    assert not assert_agrees(Masks, workers=(1,)).violations
    kind = Masks().variable_types["held"]
    values = list(universe(kind))
    assert len(values) == 1 + 2 + 2 * 3
    codes = [encode(kind, value) for value in values]
    assert [decode(kind, code) for code in codes] == values
    assert sorted(values, key=order_key) == [decode(kind, code) for code in sorted(codes)]


def test_the_order_of_classes_in_a_union_means_nothing() -> None:
    assert Votes().declared_type(Vote | Beat) == Votes().declared_type(Beat | Vote)


def test_a_record_from_outside_says_its_class() -> None:
    kind = Masks().declared_type(Small | Other)
    assert value_of(kind, {"flag": True}, "x") == Small(flag=True)
    given = {"class": "Other", "flag": True, "when": None}
    assert value_of(kind, given, "x") == Other(flag=True, when=None)
    assert pattern(kind, {"class": "Other", "flag": True}, "x")(value_of(kind, given, "x"))
    assert not pattern(kind, {"class": "Small"}, "x")(value_of(kind, given, "x"))
    with pytest.raises(SourceError, match=r"x is one of Other \| Small; say which"):
        value_of(kind, {"flag": True, "mode": None}, "x")
    with pytest.raises(SourceError, match="did you mean 'Small'"):
        value_of(kind, {"class": "Smal", "flag": True}, "x")


class Late(Record):
    when: bool | None
    flag: bool


class Wide(Record):
    flag: Term


class Acts(Record):
    def when(self) -> bool:
        return True


@pytest.mark.parametrize(("union", "said"), [
    (Other | Late, "flag before when in Other"),
    (Other | Late, "when before flag in Late"),
    (Small | Wide, "the field flag is bool in Small and 0..2 in Wide; give it one type, or two names"),
    (Other | Acts, "when is a field of one class and a method of Acts"),
    (Small | Mood, "a union is T | None, or of records: Vote | Fetch"),
])
def test_records_without_a_union_are_refused(union: object, said: str) -> None:
    with pytest.raises(ModelError, match=said.replace("|", r"\|").replace("(", r"\(")):
        Masks().declared_type(union)


def test_a_union_knows_its_classes() -> None:
    kind = Votes().declared_type(Message)
    assert isinstance(kind, UnionType)
    assert (str(kind), [name for name, _ in kind.fields]) == (
        "Beat | Granted | Vote", ["class", "term", "last", "to", "voter"])


HEAD = """
from typing import Annotated, Any
from floodmark import *

class One(Record):
    a: bool
    def is_fine(self) -> bool:
        return self.a

class Two(Record):
    a: bool
    b: bool
    def is_fine(self) -> bool:
        return self.b
    def both(self) -> bool:
        return self.a and self.b

class M(Model):
    x: One | Two = One(a=True)
    done: bool = False

    @action
    def step(self) -> None:
        {line}
"""


@pytest.mark.parametrize(("line", "said"), [
    ("self.x.b = True", "only some of One | Two have the field b; make a new record (common to all: a)"),
    ("self.x = self.x.replace(c=True)", "One | Two has no field 'c'; it has a"),
    ("self.done = self.x.c", "One | Two has no field 'c'; it has a"),
    ("self.done = self.x.both()", "One | Two has no method 'both'; write a function that takes the record and asks"),
    ("self.done = self.x.is_fine()", "One | Two has no method 'is_fine'; write a function that takes the record"),
    ("self.done = isinstance(self.done, One)", "isinstance asks for the class of a record, and this is bool"),
    ("self.done = isinstance(self.x, bool)", "bool is not a class of records"),
    ("self.done = isinstance(self.x)", "isinstance takes a record and a class"),
])
def test_unions_outside_the_language_are_refused(tmp_path: Path, line: str, said: str) -> None:
    from floodmark.checkers.project.modules import Project
    from floodmark.compiler.program import read_program

    (tmp_path / "m.py").write_text(HEAD.format(line=line), encoding="utf-8")
    cls = vars(Project.of(tmp_path / "m.py").load(tmp_path / "m.py"))["M"]
    with pytest.raises(ModelError) as caught:
        read_program(cls(), {})
    assert said in caught.value.message
    assert caught.value.line == HEAD.splitlines().index("        {line}") + 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("cls", "verdict"), [("One", "error"), ("Two", "holds")])
def test_a_record_has_the_fields_of_its_own_class_replaced_alone(
    engine: str, cls: str, verdict: str, tmp_path: Path
) -> None:
    first = "Two(a=True, b=False)" if cls == "Two" else "One(a=True)"
    text = HEAD.format(line="self.x = self.x.replace(b=True)").replace("= One(a=True)", f"= {first}")
    with imported(text, "M", tmp_path) as model:
        assert outcome(ENGINES[engine], model(), []).verdict == verdict
