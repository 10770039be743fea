"""What liveness refuses, with file, line and advice, and guards that only a bound keeps from failing."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from floodmark import (
    Between,
    Capacity,
    Constant,
    Map,
    Model,
    ModelError,
    Record,
    Seq,
    Set,
    action,
    always_eventually,
    enabled,
    eventually,
    fair,
    initial,
    recoverable,
    require,
)
from floodmark.checkers.liveness import check
from floodmark.checkers.liveness.assumptions import assumptions_of
from floodmark.checkers.liveness.judge import LivenessJudge
from floodmark.checkers.liveness.loops import LABEL_MASK, LABEL_SHIFT, STEERED
from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search
from floodmark.checkers.search_result import Options
from floodmark.language.bounding import beyond_bounds, is_within

Small = Annotated[int, Between(0, 3)]


def verdicts(cls: type[Model], **constants: int) -> list[str]:
    """The verdicts of both engines, which agree."""
    properties = list(collect(cls, []).values())
    found = [
        [(it.name, it.verdict, it.bounds) for it in found_by(cls(**constants), properties, Options(workers=1)).liveness]
        for found_by in (native.search_states, search.search_states)
    ]
    assert found[0] == found[1]
    return [verdict for _, verdict, _ in found[0]]


def refusal(cls: type[Model], search_states: Any = native.search_states) -> str:
    with pytest.raises(ModelError) as caught:
        search_states(cls(), list(collect(cls, []).values()), Options(workers=1))
    assert caught.value.file is not None
    return caught.value.message


class Lamp(Model):
    """On or off."""

    on: bool = False

    @fair
    @action
    def switches(self) -> None:
        self.on = not self.on


def test_a_property_returns_a_bool_on_every_path() -> None:
    class Counts(Lamp):
        @eventually
        def shines(self) -> int:
            return 1 if self.on else 0

    assert "shines has to return a bool" in refusal(Counts)
    assert "shines has to return a bool, and this is 0" in refusal(Counts, search.search_states)


def test_a_property_has_a_choice_of_simple_parameters() -> None:
    class Sets(Lamp):
        @eventually
        def shines(self, those: Set[Small]) -> bool:
            return self.on and len(those) > 0

    class Many(Lamp):
        @eventually
        def shines(self, number: Annotated[int, Between(0, 9999)]) -> bool:
            return self.on and number > 0

    class Dozens(Lamp):
        @eventually
        def shines(self, number: Annotated[int, Between(0, 99)]) -> bool:
            return self.on or number > 0

    assert "the parameter those has to be an identifier, an enum, a bool or an integer" in refusal(Sets)
    assert "shines would be more than 4096 properties, one for each choice" in refusal(Many)
    assert "liveness properties come to 100 conditions, more than 60; check them in two specs" in refusal(Dozens)


def test_an_action_is_fair_in_so_many_ways_only() -> None:
    class Wide(Lamp):
        held: Set[Annotated[int, Between(0, 9)]] = Set()

        @fair(each="those")
        @action
        def holds(self, those: Set[Annotated[int, Between(0, 12)]]) -> None:
            require(len(those) == 0)

    with pytest.raises(ModelError, match="holds would be fair in more than 4096 ways, one for each choice"):
        assumptions_of(Wide())


def test_a_property_of_runs_asks_no_action_of_a_model_with_bounds() -> None:
    class Free(Lamp):
        @always_eventually
        def can_be_switched(self) -> bool:
            return enabled(self.switches)

    class Bounded(Free):
        limit = Constant(3, bound=True)

    said = "a property of runs cannot ask enabled where the model has bounds"
    assert verdicts(Free) == ["holds"]
    assert said in refusal(Bounded)
    assert said in refusal(Bounded, search.search_states)


def test_a_bound_steers_an_action_that_is_fair_for_each_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    steered: list[set[int]] = []

    def judge(model: Model, assumptions: Any, graph: Any, *more: Any) -> LivenessJudge:
        steered.append({edge >> LABEL_SHIFT & LABEL_MASK for edge in graph.edges.tolist() if edge & STEERED})
        return LivenessJudge(model, assumptions, graph, *more)

    monkeypatch.setattr(check, "LivenessJudge", judge)

    class Steered(Lamp):
        limit = Constant(2, bound=True)
        far: Annotated[int, Between(0, "limit")] = 0

        @fair(strong=True, each="twice")
        @action
        def goes_far(self, twice: bool) -> None:
            require(self.far == 0)
            self.far = self.limit if twice else 1

        @fair
        @action
        def comes_back(self) -> None:
            self.far = 0

        @always_eventually
        def is_very_far(self) -> bool:
            return self.far > 2

        @recoverable
        def may_be_very_far(self) -> bool:
            return self.far > 2

    assert verdicts(Steered) == ["undetermined", "undetermined"]
    assert steered == [set(assumptions_of(Steered()).by_action["goes_far"].labels)] * 2


def test_a_switch_is_no_bound() -> None:
    class Switched(Lamp):
        lossy = Constant(False, bound=True)

    with pytest.raises(ModelError, match="lossy is a switch, and a bound is a number"):
        beyond_bounds(Switched())


def test_a_guard_that_fails_beyond_a_bound_rules_nothing_out() -> None:
    """Without its bound the second guard looks behind the end of the sequence."""

    class Reads(Model):
        most = Constant(2, bound=True)
        items: Annotated[Seq[Small], Capacity(2)] = Seq([1, 2])
        place: Annotated[int, Between(0, 2)] = 0
        seen: bool = False

        @fair
        @action
        def reads(self) -> None:
            require(self.place < self.most)
            require(self.items[self.place] > 0)
            self.place += 1

        @eventually
        def finds(self) -> bool:
            return self.seen

    assert verdicts(Reads) == ["undetermined"]


class Slot(Record):
    """Something that grows."""

    size: Small


def has_room(model: Records) -> bool:
    """A function of the file, which mentions the bound."""
    return model.slot.size < model.most


def is_positive(number: int) -> bool:
    """A function that mentions none."""
    return number > 0


class Records(Model):
    """Mentions its bound in a function of the file, and has a map that is as large as the bound."""

    most = Constant(2, bound=True)
    slot: Slot
    marks: Map[Annotated[int, Between(0, "most")], bool]

    @initial
    def start(self) -> None:
        self.slot = Slot(size=0)
        self.marks = Map({place: False for place in range(self.most + 1)})

    @fair
    @action
    def grows(self) -> None:
        require(has_room(self))
        self.slot.size += 1

    @fair
    @action
    def marks_all(self) -> None:
        require(any(not marked for marked in self.marks.values()) and is_positive(1))
        self.marks = Map({place: True for place in self.marks})

    @eventually
    def is_large(self) -> bool:
        return self.slot.size == 3

    @always_eventually
    def unmarked(self) -> bool:
        return not self.marks[0]


def test_bounds_are_found_in_functions_and_in_the_shape_of_maps() -> None:
    found = beyond_bounds(Records())
    assert found["grows"].ruled_out_by == {"most"}
    assert found["grows"].steered_by == frozenset()
    assert found["marks_all"].steered_by == {"most"}
    assert verdicts(Records)[0] == "undetermined"


def test_values_of_larger_models_are_compared_by_what_both_have() -> None:
    assert is_within(Map({0: True}), Map({0: True, 1: False}))
    assert not is_within(Map({0: True, 1: False}), Map({0: True}))
    assert is_within((Seq([1]), Slot(size=1)), (Seq([1]), Slot(size=1)))
    assert not is_within(Slot(size=1), Slot(size=2))
    assert not is_within(Seq([1]), Seq([1, 2]))


def test_a_type_divides_by_no_bound() -> None:
    """One more would not change the type, and several more would."""

    class Halves(Model):
        most = Constant(2, bound=True)
        count: Annotated[int, Between(0, "most // 2")] = 0

    with pytest.raises(ModelError, match="the bound 'most // 2' divides by or into a bound=True constant"):
        Halves()
