"""The runs to which runs are mapped: every engine against an oracle that shares nothing with them."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from floodmark.checkers.project.mapped_properties import mapped_properties
from floodmark.checkers.project.properties import Property, collect
from floodmark.checkers.search_result import SearchResult
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model
from floodmark.language.reference import abstract_class
from tests.support.engines import ENGINES, Engine, imported, on_spark
from tests.support.mapped_graphs import MappedGraph, drawn_mapping


def _of_mapped_runs(cls: type[Model]) -> list[Property]:
    """The properties of mapped runs of a class with one refinement."""
    (refinement,) = (prop for prop in collect(cls, []).values() if prop.is_refinement)
    return mapped_properties(refinement, collect(abstract_class(refinement.function), []).values())


def _verdicts(found: SearchResult) -> dict[str, set[str]]:
    verdicts: dict[str, set[str]] = {}
    for finding in found.liveness:
        verdicts.setdefault(finding.property, set()).add(finding.verdict)
    return verdicts


def _judged(drawn: MappedGraph, engines: dict[str, Engine], directory: Path) -> dict[str, set[str]]:
    wanted = drawn.verdicts()
    with imported(drawn.source(), "Walk", directory) as cls:
        for name, engine in engines.items():
            found = engine(cls(), _of_mapped_runs(cls))
            assert not found.stopped
            assert _verdicts(found) == wanted, (name, drawn.source())
    return wanted


def _kinds(wanted: dict[str, set[str]]) -> list[str]:
    """What was shown of each property: which kind it is, and whether some choice of its parameters breaks it."""
    kinds = {name: name.partition("_goal")[0].rstrip("0123456789") for name in wanted}
    return [f"{kinds[name]} {'violated' in verdicts}" for name, verdicts in wanted.items()]


def test_engines_agree_with_the_oracle(tmp_path: Path) -> None:
    chance = random.Random(7)
    engines = {name: ENGINES[name] for name in ("reference", "native, 1 worker")}
    shown = Counter(kind for _ in range(30) for kind in _kinds(_judged(drawn_mapping(chance), engines, tmp_path)))
    assert len(shown) == 10 and min(shown.values()) >= 3, shown


def test_engines_agree_with_the_oracle_where_a_step_may_be_several(tmp_path: Path) -> None:
    chance = random.Random(5)
    engines = {name: ENGINES[name] for name in ("reference", "native, 1 worker")}
    drawn = (drawn_mapping(chance, steps) for _ in range(10) for steps in (2, 3))
    shown = Counter(kind for each in drawn for kind in _kinds(_judged(each, engines, tmp_path)))
    assert len(shown) == 4 and min(shown.values()) >= 3, shown


TWO_FLAGS = '''
from floodmark import *

class Both(Model):
    one: bool = False
    other: bool = False

    @action
    def is_set(self, one: bool, other: bool) -> None:
        self.one, self.other = one, other

    @eventually
    def both_are_set(self) -> bool:
        return self.one and self.other

class Flags(Model):
    one: bool = False
    other: bool = False

    @fair
    @action
    def sets_one(self) -> None:
        require(not self.one)
        self.one = True

    @fair
    @action
    def sets_other(self) -> None:
        require(not self.other)
        self.other = True

    @refines
    def as_both(self) -> Both:
        return Both(one=self.one, other=self.other)
'''


@pytest.mark.parametrize("name", ["reference", "native, 1 worker"])
def test_every_variable_that_a_mapping_reads_tells_states_apart(name: str, tmp_path: Path) -> None:
    with imported(TWO_FLAGS, "Flags", tmp_path) as cls:
        assert _verdicts(ENGINES[name](cls(), _of_mapped_runs(cls))) == {"as_both.both_are_set": {"holds"}}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_engines_agree_with_the_oracle_on_many_graphs_where_a_step_may_be_several(seed: int, tmp_path: Path) -> None:
    chance = random.Random(200 + seed)
    for _ in range(30):
        _judged(drawn_mapping(chance, chance.choice((2, 3))), ENGINES, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_engines_agree_with_the_oracle_on_many_graphs(seed: int, tmp_path: Path) -> None:
    chance = random.Random(100 + seed)
    for _ in range(60):
        _judged(drawn_mapping(chance), ENGINES, tmp_path)


@pytest.mark.slow
def test_a_cluster_agrees_with_the_oracle(tmp_path: Path) -> None:
    chance = random.Random(3)
    for _ in range(6):
        _judged(drawn_mapping(chance), {"Spark": on_spark}, tmp_path)


COUNTERS = '''
from typing import Annotated
from floodmark import *

class Hand(Identifier, count=2, prefix="h"):
    pass

Digit = Annotated[int, Between(0, 2)]

class Clock(Model):
    time: Digit = 0
    @fair
    @action
    def ticks(self) -> None:
        self.time = {next}
    @fair
    @action
    def rests(self) -> None:
        self.time = self.time
    @always_eventually
    def midnight(self) -> bool:
        return self.time == 0

class Watch(Model):
    most = Constant(2{bound})
    time: Digit = 0
    wound: Set[Hand] = Set()
    {fair}
    @action
    def ticks(self, hand: Hand) -> None:
        require(hand not in self.wound and {guard})
        self.time = (self.time + 1) % 3
        self.wound.add(hand)
    @fair
    @action
    def winds(self) -> None:
        self.wound = Set()
    @refines
    def as_clock(self) -> Clock:
        return Clock(time={time})
'''


def _watch(directory: Path, engine: str = "native, 1 worker", **changes: str) -> dict[str, set[str]]:
    values = {"next": "(self.time + 1) % 3", "bound": "", "fair": "@fair", "guard": "True",
              "time": "self.time", **changes}  # fmt: skip
    with imported(COUNTERS.format(**values), "Watch", directory) as cls:
        return _verdicts(ENGINES[engine](cls(), _of_mapped_runs(cls)))


def _said(ticks: str, midnight: str) -> dict[str, set[str]]:
    return {"as_clock.ticks": {ticks}, "as_clock.rests": {"holds"}, "as_clock.midnight": {midnight}}


@pytest.mark.parametrize("engine", ["native, 1 worker", "reference"])
def test_fairness_of_the_other_model_is_a_property_of_the_mapped_runs(engine: str, tmp_path: Path) -> None:
    assert _watch(tmp_path, engine) == _said("holds", "holds")
    assert _watch(tmp_path, engine, fair="@unfair") == _said("violated", "violated")


def test_an_action_that_changes_nothing_is_never_owed(tmp_path: Path) -> None:
    """Clock.rests is always possible, and no step takes it."""
    assert _watch(tmp_path, fair="@unfair")["as_clock.rests"] == {"holds"}


def test_what_a_mapping_hides_is_not_taken(tmp_path: Path) -> None:
    """The watch goes on and on, and the clock that it shows stands still."""
    assert _watch(tmp_path, time="min(self.time, 0)") == _said("violated", "holds")
    assert _watch(tmp_path, time="1") == _said("violated", "violated")


def test_steps_that_are_not_those_of_the_other_model_do_not_count(tmp_path: Path) -> None:
    """A clock that goes backwards changes all the time, but never ticks."""
    assert _watch(tmp_path, next="(self.time + 2) % 3") == _said("violated", "holds")


def test_a_run_that_a_bound_may_end_decides_nothing(tmp_path: Path) -> None:
    stops = _watch(tmp_path, bound=", bound=True", guard="self.time < self.most")
    assert stops == _said("undetermined", "undetermined")
    assert _watch(tmp_path, guard="self.time < self.most") == _said("violated", "violated")


@pytest.mark.parametrize(
    ("steps", "time", "following", "said"),
    [(2, "1 + self.time % 2", "(self.time + 1) % 3", {"as_clock.ticks": "holds", "as_clock.midnight": "holds"}),
     (1, "1 + self.time % 2", "(self.time + 1) % 3", {"as_clock.midnight": "violated"}),
     (2, "0", "1 - min(self.time, 1)", {"as_clock.ticks": "violated", "as_clock.midnight": "holds"})],
    ids=["from 2 to 1 by midnight", "from 2 to 1 at once", "a stutter"],
)  # fmt: skip
def test_several_steps_at_once_pass_what_is_between_them(
    steps: int, time: str, following: str, said: dict[str, str], tmp_path: Path
) -> None:
    """A step that leaves the mapped state as it is does not go there and back."""
    source = COUNTERS.replace("    @refines\n", f"    @refines(steps={steps})\n")
    values = {"next": following, "bound": "", "fair": "@fair", "guard": "True", "time": time}
    with imported(source.format(**values), "Watch", tmp_path) as cls:
        for engine in ("native, 1 worker", "reference"):
            found = _verdicts(ENGINES[engine](cls(), _of_mapped_runs(cls)))
            assert {name: found[name] for name in said} == {name: {verdict} for name, verdict in said.items()}, engine


@pytest.mark.parametrize(
    "changes",
    [("    @fair\n    @action\n    def ticks(self) -> None:\n        self.time = {next}",
      "    @fair(strong=True)\n    @action\n    def ticks(self) -> None:\n        self.time = {next}"),
     ("@always_eventually", "@eventually"), ("@always_eventually", "@eventually_always")],
    ids=["strong fairness", "what has to be first", "what must not be"],
)  # fmt: skip
def test_what_states_between_several_steps_could_break_is_refused(changes: tuple[str, str], tmp_path: Path) -> None:
    source = COUNTERS.replace("    @refines\n", "    @refines(steps=2)\n").replace(*changes)
    values = {"next": "0", "bound": "", "fair": "", "guard": "True", "time": "self.time"}
    with (
        imported(source.format(**values), "Watch", tmp_path) as cls,
        pytest.raises(ModelError, match="between several steps of the other model"),
    ):
        _of_mapped_runs(cls)


def test_a_property_that_fails_in_a_mapped_state_is_an_error(tmp_path: Path) -> None:
    source = COUNTERS.replace("return self.time == 0", "return 1 // (1 - self.time) == 1")
    values = {"next": "(self.time + 1) % 3", "bound": "", "fair": "@fair", "guard": "True",
              "time": "self.time"}  # fmt: skip
    for name in ("reference", "native, 1 worker"):
        with (
            imported(source.format(**values), "Watch", tmp_path) as cls,
            pytest.raises(SourceError, match="ZeroDivisionError"),
        ):
            ENGINES[name](cls(), _of_mapped_runs(cls))


def test_bounds_of_the_other_model_decide_nothing_either(tmp_path: Path) -> None:
    source = COUNTERS.replace("class Clock(Model):\n", "class Clock(Model):\n    most = Constant(2, bound=True)\n")
    values = {"next": "(self.time + 1) % 3", "bound": "", "fair": "@unfair", "guard": "True", "time": "self.time"}
    with imported(source.format(**values), "Watch", tmp_path) as cls:
        found = _verdicts(ENGINES["native, 1 worker"](cls(), _of_mapped_runs(cls)))
        assert found == _said("undetermined", "undetermined")


def test_states_are_told_apart_by_all_that_the_mapping_reads(tmp_path: Path) -> None:
    """It shows how many hands were wound, and nothing else."""
    for engine in ("reference", "native, 1 worker"):
        shown = _watch(tmp_path, engine, time="1 if len(self.wound) == 1 else 0")
        assert shown == _said("holds", "holds"), engine


NOW_AND_THEN = '''
from typing import Annotated
from floodmark import *

Place = Annotated[int, Between(0, 2)]

class Door(Model):
    place: Place = 0
    @fair(strong={strong})
    @action
    def opens(self) -> None:
        require(self.place == 0)
        self.place = 1
    @action
    def turns(self) -> None:
        require(self.place != 1)
        self.place = 2 - self.place

class Guest(Model):
    place: Place = 0
    @fair
    @action
    def turns(self) -> None:
        self.place = 2 - self.place
    @refines
    def as_door(self) -> Door:
        return Door(place=self.place)
'''


@pytest.mark.parametrize("engine", ["native, 1 worker", "reference"])
def test_what_is_enabled_now_and_then_is_owed_by_strong_fairness_alone(engine: str, tmp_path: Path) -> None:
    for strong, verdict in ((True, "violated"), (False, "holds")):
        with imported(NOW_AND_THEN.format(strong=strong), "Guest", tmp_path) as cls:
            assert _verdicts(ENGINES[engine](cls(), _of_mapped_runs(cls))) == {"as_door.opens": {verdict}}


BACKWARDS = '''
from typing import Annotated
from floodmark import *

Place = Annotated[int, Between(0, 2)]

class Ring(Model):
    place: Place = 0
    @action
    def turns(self) -> None:
        self.place = (self.place + 1) % 3
    @fair
    @action
    def goes_back(self) -> None:
        self.place = (self.place + 2) % 3

class Walker(Model):
    place: Place = 0
    @fair
    @action
    def turns(self) -> None:
        self.place = (self.place + 1) % 3
    @fair(strong=True)
    @action
    def leaps(self) -> None:
        require(self.place == 0)
        self.place = 2
    @fair
    @action
    def sleeps(self) -> None:
        self.place = self.place
    @refines
    def as_ring(self) -> Ring:
        return Ring(place=self.place)
'''


def test_the_smallest_fairness_counts_no_step_that_the_run_must_not_take(tmp_path: Path) -> None:
    """A walker that turns forever leaps from a state of the loop to another one, which is to go back."""
    for engine in ("native, 1 worker", "reference"):
        with imported(BACKWARDS, "Walker", tmp_path) as cls:
            (finding,) = ENGINES[engine](cls(), _of_mapped_runs(cls)).liveness
            assert (finding.verdict, finding.needs) == ("holds", ("turns weakly fair", "leaps strongly fair"))
