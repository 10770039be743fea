"""What a mapping to the states of another model may say, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.checkers.native.search import search_states
from floodmark.checkers.search_result import Limits, Options
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.reference import STUTTER, holds, image, initial_states, successors, takes
from tests.support.command import floodmark
from tests.support.engines import ENGINES, imported, outcome, plain_search, properties_of, remember_in

SOURCE = '''
from typing import Annotated
from floodmark import *

class Hand(Identifier, count=2, prefix="h"):
    pass

Digit = Annotated[int, Between(0, "top")]

class Clock(Model):
    top = Constant(2)
    time: Digit = 0
    others: Map[Hand, Digit]
    @initial
    def start(self) -> None:
        self.others = Map({{hand: 0 for hand in Hand}})
    @action
    def ticks(self, by: Annotated[int, Between(1, 2)]) -> None:
        require(self.time + by <= self.top)
        self.time += by
    @action
    def points(self, hand: Hand) -> None:
        self.others[hand] = self.time

class Watch(Model):
    top = Constant(2)
    time: Digit = 0
    shown: Digit = 0
    hidden: bool = False
    @action
    def ticks(self) -> None:
        require(self.time < self.top)
        self.time += 1
    @action
    def shows(self) -> None:
        self.shown = self.time
    @action
    def hides(self) -> None:
        self.hidden = not self.hidden
{mapping}
'''
HANDS = "others=Map({hand: self.shown if hand == Hand(1) else 0 for hand in Hand})"
GOOD = f"""
    @refines
    def as_clock(self) -> Clock:
        return Clock(top=self.top, time=self.time, {HANDS})
"""


def _source(mapping: str) -> str:
    return SOURCE.format(mapping=mapping)


def _verdict(mapping: str, tmp_path: Path, **constants: int) -> str:
    """The verdict on ``Watch`` with a mapping, on which all engines agree."""
    with imported(_source(mapping), "Watch", tmp_path) as cls:
        properties = properties_of(cls)
        plain, _ = plain_search(cls(**constants), properties)
        for engine in ENGINES.values():
            assert outcome(engine, cls(**constants), properties) == plain
        return plain.verdict


def test_a_model_refines_another_whose_steps_it_takes(tmp_path: Path) -> None:
    assert _verdict(GOOD, tmp_path) == "holds"


def test_a_step_that_the_other_model_does_not_have_is_a_violation(tmp_path: Path) -> None:
    assert _verdict(GOOD.replace("time=self.time", "time=self.top - self.time"), tmp_path) == "violated"


def test_an_initial_state_that_the_other_model_does_not_have_is_a_violation(tmp_path: Path) -> None:
    mapping = GOOD.replace("time=self.time", "time=max(1, self.time)")
    with imported(_source(mapping), "Watch", tmp_path) as cls:
        (violation,) = search_states(cls(), properties_of(cls), Options()).violations
        assert (violation.kind, violation.property, len(violation.trace)) == ("transition", "as_clock", 1)


def test_a_mapping_that_forgets_what_changes_hides_it(tmp_path: Path) -> None:
    """A stutter is no violation, but the action that nothing takes any more is reported."""
    mapping = GOOD.replace(HANDS, "others=Map({hand: 0 for hand in Hand})")
    with imported(_source(mapping), "Watch", tmp_path) as cls:
        found = search_states(cls(), properties_of(cls), Options())
        assert not found.violations
        assert [(premise.property, premise.text) for premise in found.vacuous] == [
            ("as_clock.points", "no step is the action points of Clock")
        ]


def test_several_steps_count_only_where_they_are_asked_for(tmp_path: Path) -> None:
    """Both hands move at once: one step for each."""
    both = GOOD.replace(HANDS, "others=Map({hand: self.shown for hand in Hand})")
    assert _verdict(both, tmp_path) == "violated"
    assert _verdict(both.replace("@refines", "@refines(steps=2)"), tmp_path) == "holds"


def test_each_of_several_refinements_is_judged(tmp_path: Path) -> None:
    """The clock of the one mapping goes on, that of the other one goes back."""
    other = GOOD.replace("as_clock", "as_clock_backwards").replace("time=self.time", "time=self.top - self.time")
    with imported(_source(GOOD + other), "Watch", tmp_path) as cls:
        for engine in ENGINES.values():
            (violation,) = engine(cls(), properties_of(cls)).violations
            assert violation.property == "as_clock_backwards"


def test_constants_come_from_the_mapping(tmp_path: Path) -> None:
    assert _verdict(GOOD, tmp_path, top=3) == "holds"
    assert _verdict(GOOD.replace("top=self.top, ", ""), tmp_path, top=3) == "error"  # time 3 is more than 2


def test_a_mapped_value_outside_of_its_type_is_an_error(tmp_path: Path) -> None:
    assert _verdict(GOOD.replace("time=self.time", "time=self.time * 2"), tmp_path) == "error"


def test_an_abstract_action_that_fails_is_an_error_although_another_explains_the_step(tmp_path: Path) -> None:
    fails = SOURCE.replace("        require(self.time + by <= self.top)\n", "")
    with imported(fails.format(mapping=GOOD), "Watch", tmp_path) as cls:
        properties = properties_of(cls)
        plain, _ = plain_search(cls(), properties)
        assert plain.verdict == "error"
        for engine in ENGINES.values():
            assert outcome(engine, cls(), properties) == plain


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("time=self.time, ", "", "time is missing"),
        ("time=self.time", "time=self.time, hour=1", "hour"),
        ("Clock(top", "Clock(2, top", "name the constants and variables of Clock"),
        ("Clock(top", "Clock(**{}, top", "name the constants and variables of Clock"),
        ("top=self.top", "top=self.time", "has to be known before the model runs"),
        (" -> Clock", "", "annotate what as_clock returns"),
        (" -> Clock", " -> int", "not a class of models"),
        ("return Clock", "return Watch", "Clock"),
        ("@refines", "@refines(steps=4)", "1 to 3 steps"),
        ("@refines", "@refines(steps=True)", "1 to 3 steps"),
        ("(self)", "(self, hand: Hand)", "takes the model alone"),
    ],
)
def test_what_a_mapping_may_not_say_is_refused(old: str, new: str, said: str, tmp_path: Path) -> None:
    with (
        pytest.raises(SourceError, match=said),
        imported(_source(GOOD.replace(old, new)), "Watch", tmp_path) as cls,
    ):
        search_states(cls(), properties_of(cls), Options(limits=Limits(states=100)))


GUARDED = "        require(self.time + by <= self.top)\n        self.time += by\n"
LATE = "        require(self.time <= 1)\n"
IN_A_HELPER = f"        self.is_early()\n    def is_early(self) -> None:\n{LATE}"


@pytest.mark.parametrize("body", [LATE, IN_A_HELPER], ids=["in the body", "in a helper"])
def test_a_requirement_after_an_assignment_counts(body: str, tmp_path: Path) -> None:
    """The watch reaches the time 2, which the clock no longer does."""
    assert GUARDED in SOURCE
    with imported(SOURCE.replace(GUARDED, GUARDED + body).format(mapping=GOOD), "Watch", tmp_path) as cls:
        properties = properties_of(cls)
        plain, _ = plain_search(cls(), properties)
        assert (plain.verdict, plain.shortest) == ("violated", 3)
        for engine in ENGINES.values():
            assert outcome(engine, cls(), properties) == plain


def test_a_model_in_a_state_belongs_in_a_mapping(tmp_path: Path) -> None:
    mapping = "    @invariant\n    def odd(self) -> bool:\n        return Clock(top=2) == Clock(top=2)\n"
    with (
        imported(_source(mapping), "Watch", tmp_path) as cls,
        pytest.raises(SourceError, match="only a mapping, decorated with @refines"),
    ):
        search_states(cls(), properties_of(cls), Options())


def test_cpython_names_the_actions_that_explain_a_step(tmp_path: Path) -> None:
    with imported(_source(GOOD), "Watch", tmp_path) as cls:
        model: Model = cls()
        mapping = cls.as_clock  # type: ignore[attr-defined]
        ((_, first),) = initial_states(model)
        assert holds(model, mapping, first)
        explained = {
            step.action: takes(image(model, mapping, first), image(model, mapping, after), 1)
            for step, after in successors(model, first)
        }
        assert explained == {"ticks": {"ticks"}, "shows": {STUTTER}, "hides": {STUTTER}}


FIRST_EXPLAINS = '''
from typing import Annotated
from floodmark import *

class Sum(Model):
    total: Annotated[int, Between(0, 2)] = 0
    @action
    def adds(self, what: Annotated[int, Between(1, 2)]) -> None:
        self.total += what

class Count(Model):
    count: Annotated[int, Between(0, 2)] = 0
    @action
    def counts(self) -> None:
        require(self.count < 2)
        self.count += 1
    @refines
    def as_sum(self) -> Sum:
        return Sum(total=self.count)
'''


def test_a_choice_that_fails_is_an_error_although_an_earlier_one_explains_the_step(tmp_path: Path) -> None:
    with imported(FIRST_EXPLAINS, "Count", tmp_path) as cls:
        properties = properties_of(cls)
        plain, _ = plain_search(cls(), properties)
        assert plain.verdict == "error"
        for engine in ENGINES.values():
            assert outcome(engine, cls(), properties) == plain


LAST_ENTRY = '''
from typing import Annotated
from floodmark import *

Entries = Annotated[Seq[Annotated[int, Between(0, 2)]], Capacity(3)]

class Log(Model):
    entries: Entries = Seq([0, 1, 2])
    @action
    def overwrites_the_last(self) -> None:
        self.entries[-1] = 0

class Writer(Model):
    entries: Entries = Seq([0, 1, 2])
    @action
    def writes(self) -> None:
        require(self.entries[2] == 2)
        self.entries = Seq([0, 1, 0])
    @refines
    def as_log(self) -> Log:
        return Log(entries=self.entries)
'''


def test_an_index_from_the_end_is_assigned_in_a_refined_model(tmp_path: Path) -> None:
    with imported(LAST_ENTRY, "Writer", tmp_path) as cls:
        properties = properties_of(cls)
        plain, _ = plain_search(cls(), properties)
        assert plain.verdict == "holds"
        for engine in ENGINES.values():
            assert outcome(engine, cls(), properties) == plain


ABSTRACT = '''
from typing import Annotated
from floodmark import *

Digit = Annotated[int, Between(0, 2)]

class Node(Identifier, count="nodes", prefix="n"):
    pass

class Spec(Model):
    nodes = Constant(3)
    x: Digit = 0
    log: Annotated[Seq[Digit], Capacity(3)] = Seq([1, 1, 1])
    seen: Set[Node] = Set()
    def is_low(self) -> bool:
        require(self.x < 1)
        return True
    def one(self) -> int:
        require(self.x < 1)
        return 1
    def refuses(self) -> None:
        require(self.x > 1)
    @action
    def steps(self) -> None:
{body}

class Actual(Model):
    nodes = Constant(3)
    x: Digit = 0
    @action
    def steps(self) -> None:
        require(self.x == 0)
        self.x = 1
    @refines
    def as_spec(self) -> Spec:
        return Spec({constants}x=self.x, log=Seq([1, 1, 1]), seen=Set())
'''
BODIES = {
    "an index before the beginning": ("self.log[-5] = 2\nself.x = 1", "error"),
    "an index behind the end": ("self.log[3] = 2\nself.x = 1", "error"),
    "a return in a loop": ("for i in range(3):\n    if i == 1:\n        return\n    self.x = 1\nself.x = 2", "holds"),
    "a helper that refuses before what would fail": ("self.x = 1\nself.refuses()\nself.log[5] = 2", "violated"),
    "a return at the end of a loop": ("for i in range(2):\n    self.x += 1\n    return", "holds"),
    "a return before the effect": ("if self.x == 0:\n    return\nself.x = 1", "violated"),
}


def _with_body(body: str, constants: str = "") -> str:
    return ABSTRACT.format(body="\n".join(f"        {line}" for line in body.split("\n")), constants=constants)


@pytest.mark.parametrize(("body", "verdict"), BODIES.values(), ids=BODIES)
def test_statements_of_a_refined_model_mean_what_they_mean_in_python(body: str, verdict: str, tmp_path: Path) -> None:
    with imported(_with_body(body), "Actual", tmp_path) as cls:
        properties = properties_of(cls)
        plain, _ = plain_search(cls(), properties)
        assert plain.verdict == verdict
        for engine in ENGINES.values():
            assert outcome(engine, cls(), properties) == plain


@pytest.mark.parametrize("body", ["require(self.is_low())\nself.x = 1", "for i in range(self.one()):\n    self.x = 1"])
def test_a_helper_that_requires_and_returns_is_refused(body: str, tmp_path: Path) -> None:
    with (
        imported(_with_body(body), "Actual", tmp_path) as cls,
        pytest.raises(SourceError, match="must not require something and return a value"),
    ):
        search_states(cls(), properties_of(cls), Options())


def test_other_numbers_of_identifiers_are_refused(tmp_path: Path) -> None:
    with (
        imported(_with_body("self.x = 1", "nodes=2, "), "Actual", tmp_path) as cls,
        pytest.raises(SourceError, match="Spec has 2 Node, and the model 3"),
    ):
        search_states(cls(), properties_of(cls), Options())


ONE_NAME = '''
from enum import Enum
from typing import Annotated
from floodmark import *

class Node(Identifier, count=2, prefix="n"):
    pass

class Other:
    class Phase(Enum):
        OPEN = "open"
        SHUT = "shut"
    class State(Record):
        phase: "Other.Phase"
        leader: Node | None
    {node}

class Phase(Enum):
    SHUT = "shut"
    LATE = "late"
    OPEN = "open"

class State(Record):
    leader: Node | None
    phase: Phase
    epoch: Annotated[int, Between(0, 3)]

class Door(Model):
    state: "Other.State"
    {extra}
    @initial
    def start(self) -> None:
        self.state = Other.State(phase=Other.Phase.SHUT, leader=None)
    @action
    def opens(self, node: Node) -> None:
        require(self.state.phase == Other.Phase.SHUT)
        self.state = Other.State(phase=Other.Phase.OPEN, leader=node)

class House(Model):
    state: State
    @initial
    def start(self) -> None:
        self.state = State(leader=None, phase=Phase.SHUT, epoch=0)
    @action
    def goes_on(self, node: Node) -> None:
        require(self.state.epoch < 3)
        later = Phase.LATE if self.state.phase == Phase.SHUT else Phase.OPEN
        self.state = State(leader=node{leader}, phase=later, epoch=self.state.epoch + 1)
    @refines
    def as_door(self) -> Door:
        seen = self.state.replace(epoch=0)
        is_open = seen.phase == Phase.OPEN
        phase = Other.Phase.OPEN if is_open else Other.Phase.SHUT
        return Door(state=Other.State(phase=phase, leader=seen.leader if is_open else None){given})
'''


def test_classes_of_the_two_models_may_have_one_name(tmp_path: Path) -> None:
    """Both say State and Phase, with other fields and members; a leader that changes later is no step of the other."""
    for leader, verdict in ((" if self.state.leader is None else self.state.leader", "holds"), ("", "violated")):
        with imported(ONE_NAME.format(leader=leader, node="", extra="", given=""), "House", tmp_path) as cls:
            plain, _ = plain_search(cls(), properties_of(cls))
            assert plain.verdict == verdict
            for name in ("native, 1 worker", "reference"):
                assert outcome(ENGINES[name], cls(), properties_of(cls)) == plain, name


def test_identifiers_of_the_two_models_that_have_one_name_are_the_same(tmp_path: Path) -> None:
    node = "class Node(Identifier, count=2):\n        pass"
    source = ONE_NAME.format(leader="", node=node, extra="who: Other.Node = Other.Node(1)", given=", who=Other.Node(1)")
    with imported(source, "House", tmp_path) as cls, pytest.raises(SourceError, match="rename one"):
        search_states(cls(), properties_of(cls), Options())


LONG_COUNT = '''
from typing import Annotated
from floodmark import *

Number = Annotated[int, Between(0, 10000)]

class Steady(Model):
    value: Number = 0
    @action
    def counts(self) -> None:
        require(self.value < 10000)
        self.value += 1

class Jumping(Model):
    jump = Constant(2)
    value: Number = 0
    @action
    def counts(self) -> None:
        require(self.value < 9900)
        self.value += 1
    @action
    def jumps(self) -> None:
        require(self.value == 9900)
        self.value += self.jump
    @refines
    def as_steady(self) -> Steady:
        return Steady(value=self.value)
'''


@pytest.mark.parametrize("room", [1 << 8, 1 << 14, None])
@pytest.mark.parametrize(
    "jump", [1, 2, *(pytest.param(jump, marks=pytest.mark.slow) for jump in (3, 17, 64, 99))]
)
def test_what_was_judged_says_nothing_of_another_pair_of_states(
    jump: int, room: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More pairs than are remembered in so many bytes come before the wrong one."""
    if room is not None:
        remember_in(room, tmp_path, monkeypatch)
    with imported(LONG_COUNT, "Jumping", tmp_path) as cls:
        found = search_states(cls(jump=jump), properties_of(cls), Options(workers=1))
        assert [len(violation.trace) for violation in found.violations] == ([] if jump == 1 else [9902])


GOES_BACK = '''
from typing import Annotated
from floodmark import *

Number = Annotated[int, Between(0, 5)]

class Steady(Model):
    value: Number = 0
    @action
    def counts(self) -> None:
        require(self.value < 5)
        self.value += 1

class Back(Model):
    to = Constant(0)
    value: Number = 0
    @action
    def counts(self) -> None:
        require(self.value < 5)
        self.value += 1
    @action
    def goes_back(self) -> None:
        require(self.value == 4)
        self.value = self.to
    @refines
    def as_steady(self) -> Steady:
        return Steady(value=self.value)
'''


@pytest.mark.parametrize("to", range(6))
def test_a_step_is_not_judged_by_others_from_or_to_the_same_state(to: int, tmp_path: Path) -> None:
    with imported(GOES_BACK, "Back", tmp_path) as cls:
        found = search_states(cls(to=to), properties_of(cls), Options(workers=1))
        assert [len(violation.trace) for violation in found.violations] == ([] if to in (4, 5) else [6])


TWO_AT_ONCE = '''
from floodmark import *

class Pair(Model):
    first: bool = False
    second: bool = False
    @action
    def sets_first(self) -> None:
        require(not self.first)
        self.first = True
    @action
    def sets_second(self) -> None:
        require(self.first and not self.second)
        self.second = True

class Both(Model):
    done: bool = False
    @action
    def does_both(self) -> None:
        self.done = True
    @refines(steps=2)
    def as_pair(self) -> Pair:
        return Pair(first=self.done, second=self.done)
'''


def test_every_action_of_several_steps_at_once_is_taken(tmp_path: Path) -> None:
    with imported(TWO_AT_ONCE, "Both", tmp_path) as cls:
        for engine in ENGINES.values():
            found = engine(cls(), properties_of(cls))
            assert (found.violations, found.vacuous) == ([], [])


def test_fewer_steps_than_are_allowed_at_once_are_steps_as_well(tmp_path: Path) -> None:
    one = TWO_AT_ONCE.replace("second=self.done", "second=False")
    with imported(one, "Both", tmp_path) as cls:
        for engine in ENGINES.values():
            assert not engine(cls(), properties_of(cls)).violations


DRAWN = """
from typing import Annotated
from floodmark import *

class Post(Model):
    sent: Set[Annotated[int, Between(0, 2)]] = Set()
    got: Annotated[int, Between(0, 2)] = 2
    @action
    def sends(self, letter: Annotated[int, Between(0, 2)]) -> None:
        self.sent.add(letter)
    @action
    def receives(self, letter: Annotated[int, Between(0, 2)]) -> None:
        require(letter in self.sent)
        self.sent.remove(letter)
        self.got = letter

class Office(Model):
    sent: Set[Annotated[int, Between(0, 2)]] = Set()
    read: Annotated[int, Between(0, 2)] = 0
    @action
    def writes(self, letter: Annotated[int, Between(0, 2)]) -> None:
        self.sent.add(letter)
    @action
    def takes(self, letter: Annotated[int, Between(0, 2)]) -> None:
        require(GUARD)
        self.sent.discard(letter)
        self.read = letter
    @refines
    def as_post(self) -> Post:
        return Post(sent=Set(2 - letter for letter in self.sent), got=2 - self.read)
"""


@pytest.mark.parametrize(
    ("guard", "verdict"),
    [
        ("letter in self.sent", "holds"),
        ("letter not in self.sent", "violated"),
        ("2 - letter in self.sent", "violated"),
    ],
)
def test_a_parameter_is_drawn_from_the_mapped_state(guard: str, verdict: str, tmp_path: Path) -> None:
    """What the model has sent is not what the refined model has."""
    with imported(DRAWN.replace("GUARD", guard), "Office", tmp_path) as cls:
        properties = properties_of(cls)
        plain, _ = plain_search(cls(), properties)
        assert plain.verdict == verdict
        for engine in ENGINES.values():
            assert outcome(engine, cls(), properties) == plain


@pytest.mark.parametrize(
    ("listed", "code", "said"),
    [
        ("as_clock.points", 0, "1 check, each as expected"),
        ("as_clock.ticks", 1, "the premise of as_clock.ticks is met, although the spec lists it as vacuous"),
        ("as_clock", 2, "there is no property 'as_clock'"),
    ],
)
def test_a_spec_lists_the_actions_of_a_refined_model_that_no_step_takes(
    listed: str, code: int, said: str, tmp_path: Path
) -> None:
    mapping = GOOD.replace(HANDS, "others=Map({hand: 0 for hand in Hand})")
    (tmp_path / "watch.py").write_text(_source(mapping))
    (tmp_path / "watch.toml").write_text(f'model = "watch.py:Watch"\nvacuous = ["{listed}"]\n')
    ended = floodmark("check", "watch.toml", "--engine", "reference", at=tmp_path)
    assert ended.code == code
    assert said in ended.out
