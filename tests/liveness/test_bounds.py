"""Bounds: what they make undetermined, and what they leave decided, in models of a few lines."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Annotated

import pytest

from floodmark import (
    Between,
    Constant,
    Map,
    Model,
    Record,
    action,
    always_eventually,
    boundary,
    eventually,
    eventually_always,
    fair,
    initial,
    recoverable,
    require,
    unfair,
)
from floodmark.checkers.project.modules import load_file
from floodmark.checkers.report import text
from floodmark.language.bounding import larger_models
from tests.support.judged import found, only, outcome

Term = Annotated[int, Between(0, "max_term")]


class Elections(Model):
    """An election fails or succeeds, and each takes a term; without a bound on terms one eventually succeeds."""

    max_term = Constant(3, bound=True)
    term: Term = 0
    leader: bool = False

    def has_room(self) -> bool:
        return self.term < self.max_term

    @fair
    @action
    def election_fails(self) -> None:
        require(not self.leader and self.has_room())
        self.term += 1

    @fair(strong=True)
    @action
    def election_succeeds(self) -> None:
        require(not self.leader)
        require(self.has_room())
        self.term += 1
        self.leader = True

    @eventually
    def has_leader(self) -> bool:
        return self.leader

    @recoverable
    def may_have_leader(self) -> bool:
        return self.leader


class Inherits(Elections):
    """The same, whose helper that mentions the bound is a base's."""


@pytest.mark.parametrize("cls", [Elections, Inherits])
def test_a_bound_that_ends_runs_leaves_it_open(cls: type[Model]) -> None:
    by_name = {it.property: it for it in found(cls).liveness}
    assert {it.verdict for it in by_name.values()} == {"undetermined"}
    assert by_name["has_leader"].bounds == ("max_term",)
    assert by_name["has_leader"].trace[-1].state == (3, False)


def test_a_constant_that_is_no_bound_ends_runs_for_good() -> None:
    class Limited(Elections):
        max_term = Constant(3)

    assert {it.verdict for it in found(Limited).liveness} == {"violated"}


def test_a_loop_within_the_bounds_is_a_violation_whatever_lies_beyond() -> None:
    class Abdicates(Elections):
        @action
        def hides(self) -> None:
            """A leader is lost and the term with it: a loop far from the bound."""
            require(self.term == 1 and not self.leader)
            self.term = 0

        @unfair
        @action
        def election_succeeds(self) -> None:
            require(not self.leader and self.has_room())
            self.term += 1
            self.leader = True

    by_name = {it.property: it for it in found(Abdicates).liveness}
    assert by_name["has_leader"].verdict == "violated"
    assert by_name["has_leader"].bounds == ()


def test_a_boundary_counts_as_a_bound_of_liveness() -> None:
    class Bounded(Model):
        count: Annotated[int, Between(0, 9)] = 0

        @boundary
        def small(self) -> bool:
            return self.count < 3

        @fair
        @action
        def counts(self) -> None:
            self.count += 1

        @eventually
        def counts_to_five(self) -> bool:
            return self.count == 5

    assert only(Bounded).verdict == "undetermined"
    assert only(Bounded).bounds == ("small",)


def test_a_number_that_stops_at_a_bound_goes_on_beyond() -> None:
    class Clock(Model):
        horizon = Constant(3, bound=True)
        time: Annotated[int, Between(0, "horizon")] = 0
        rang: bool = False

        @fair
        @action
        def ticks(self) -> None:
            self.time = min(self.time + 1, self.horizon)

        @fair
        @action
        def rings(self) -> None:
            require(self.time == 9)
            self.rang = True

        @eventually
        def has_rung(self) -> bool:
            return self.rang

    assert only(Clock).verdict == "undetermined"


def test_a_step_that_a_bound_steers_is_no_proof() -> None:
    """Beyond the bound the clock would not go round, so this loop is none there."""

    class Wraps(Model):
        horizon = Constant(3, bound=True)
        time: Annotated[int, Between(0, "horizon")] = 0

        @fair
        @action
        def ticks(self) -> None:
            self.time = 0 if self.time == self.horizon else self.time + 1

        @eventually
        def late(self) -> bool:
            return self.time == 9

    assert only(Wraps).verdict == "undetermined"


def test_a_step_that_larger_bounds_may_steer_elsewhere_is_no_proof() -> None:
    """One more would not change where the clock goes; six more would."""

    class Wraps(Model):
        horizon = Constant(3, bound=True)
        time: Annotated[int, Between(0, 2)] = 0

        @fair
        @action
        def ticks(self) -> None:
            self.time = 0 if self.time == 2 or self.horizon > 8 else self.time + 1

        @eventually
        def late(self) -> bool:
            return self.time == 9

    assert only(Wraps).verdict == "undetermined"


def test_a_way_that_a_bound_steers_leads_to_no_proof() -> None:
    """The stall is not the bound's matter; that the run comes there is."""

    class Falls(Model):
        horizon = Constant(3, bound=True)
        fallen: bool = False

        @action
        def falls(self) -> None:
            self.fallen = self.horizon < 9

        @always_eventually
        def stands(self) -> bool:
            return not self.fallen

    assert only(Falls).verdict == "undetermined"


def test_a_guard_that_waits_for_a_bound_opens_no_way() -> None:
    """The last step is taken at the bound alone: a run that takes it is no run with a larger one."""

    class GivesUp(Model):
        most = Constant(2, bound=True)
        tries: Annotated[int, Between(0, "most")] = 0
        given_up: bool = False

        @fair
        @action
        def tries_again(self) -> None:
            require(not self.given_up and self.tries < self.most)
            self.tries += 1

        @fair
        @action
        def gives_up(self) -> None:
            require(self.tries == self.most)
            self.given_up = True

        @eventually_always
        def goes_on(self) -> bool:
            return not self.given_up

    assert only(GivesUp).verdict == "undetermined"


def test_a_parameter_that_a_bound_limits_has_more_choices_beyond() -> None:
    class Jumps(Model):
        furthest = Constant(2, bound=True)
        here: Annotated[int, Between(0, "furthest")] = 0

        @fair
        @action
        def jumps(self, to: Annotated[int, Between(0, "furthest")]) -> None:
            require(to > self.here)
            self.here = to

        @eventually
        def is_far(self) -> bool:
            return self.here > 7

    assert only(Jumps).verdict == "undetermined"


def test_a_choice_that_only_a_larger_bound_has_is_fair_too() -> None:
    """The loop takes every choice that there is; the next one is never taken, and beyond the bound it could be."""

    class Rounds(Model):
        furthest = Constant(2, bound=True)
        here: Annotated[int, Between(0, "furthest")] = 0

        @fair(each="to")
        @action
        def goes(self, to: Annotated[int, Between(0, "furthest")]) -> None:
            require(to != self.here)
            self.here = to

        @eventually
        def is_far(self) -> bool:
            return self.here > 2

    assert only(Rounds).verdict == "undetermined"


def test_a_number_that_begins_at_its_bound_goes_on_beyond() -> None:
    """No step is taken here: that none changes anything is the bound's doing."""

    class Late(Model):
        horizon = Constant(3, bound=True)
        time: Annotated[int, Between(0, 9)] = 3

        @fair
        @action
        def ticks(self) -> None:
            self.time = min(self.time + 1, self.horizon)

        @eventually
        def is_late(self) -> bool:
            return self.time == 9

    assert only(Late).verdict == "undetermined"


def test_a_step_that_counts_what_a_bound_makes_is_another_beyond_it() -> None:
    class Counts(Model):
        most = Constant(2, bound=True)
        marks: Map[Annotated[int, Between(0, "most")], bool]
        total: Annotated[int, Between(0, 9)] = 0

        @initial
        def start(self) -> None:
            self.marks = Map({place: False for place in range(self.most + 1)})

        @fair
        @action
        def counts(self) -> None:
            self.total = sum(1 for marked in self.marks.values() if not marked)

        @eventually
        def are_many(self) -> bool:
            return self.total > 6

    assert only(Counts).verdict == "undetermined"


class Kept(Record):
    marks: Map[Annotated[int, Between(0, "most")], bool] | None = None


def test_a_record_that_may_hold_a_map_of_a_bound_is_known_while_it_holds_none() -> None:
    class Waits(Model):
        most = Constant(2, bound=True)
        kept: Kept = Kept()
        turned: bool = False

        @fair
        @action
        def turns(self) -> None:
            require(self.kept.marks is None)
            self.turned = not self.turned

        @unfair
        @action
        def marks(self) -> None:
            self.kept = Kept(marks=Map({place: True for place in range(self.most + 1)}))

        @eventually
        def is_marked(self) -> bool:
            return self.kept.marks is not None

    assert only(Waits).verdict == "violated"


def test_a_require_behind_the_guards_may_name_a_bound() -> None:
    class Late(Model):
        most = Constant(2, bound=True)
        count: Annotated[int, Between(0, "most")] = 0

        @fair
        @action
        def counts(self) -> None:
            further = self.count + 1
            require(further <= self.most)
            self.count = further

        @eventually
        def has_counted(self) -> bool:
            return self.count > 7

    assert only(Late).verdict == "undetermined"


def test_what_a_bound_does_not_touch_is_decided() -> None:
    """Who waits for nothing that is bounded starves for good."""

    class Two(Elections):
        @fair
        @action
        def resigns(self) -> None:
            require(self.leader and self.term > 5)
            self.leader = False

        @always_eventually
        def resigns_again(self) -> bool:
            return not self.leader

    by_name = {it.property: it for it in found(Two).liveness}
    assert by_name["resigns_again"].verdict == "violated"


def test_an_open_property_is_undetermined_because_of_its_bound(tmp_path: Path) -> None:
    result = outcome(tmp_path, Elections)
    assert (result.verdict, result.exit_code) == ("undetermined", 3)
    lines = text.lines(result)
    assert "the bound max_term ends the run" in lines[0]
    assert any("has_leader is undetermined (the bound max_term ends the run)" in line for line in lines)


def test_a_model_with_larger_bounds_has_the_same_switches(tmp_path: Path) -> None:
    source = """
        from typing import Annotated

        from floodmark import Between, Constant, Model, initial

        class Counts(Model):
            on = Constant(False)
            limit = Constant(1, bound=True)
            level: Annotated[int, Between(0, "limit")]

            @initial
            def start(self) -> None:
                self.level = 0
    """
    (tmp_path / "counts.py").write_text(dedent(source))
    model = load_file(tmp_path / "counts.py").Counts()
    larger = larger_models(model)
    assert larger is not None
    assert [each.constant_values for each in larger] == [{"on": False, "limit": 2}]
