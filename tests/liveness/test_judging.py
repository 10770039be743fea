"""Tests how findings come together: what was judged elsewhere, what the driver judges, and which premises came true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
import pytest

from floodmark import (
    Between,
    Constant,
    Model,
    SourceError,
    action,
    always_eventually,
    eventually,
    fair,
    leads_to,
    refines,
    require,
    unfair,
)
from floodmark.checkers.liveness.assumptions import assumptions_of
from floodmark.checkers.liveness.check import StoreJudge, _find, _Findings
from floodmark.checkers.liveness.compiled_graph import GraphMaker
from floodmark.checkers.liveness.components import Region
from floodmark.checkers.liveness.goals import Goal, goals_of
from floodmark.checkers.liveness.graph import Graph
from floodmark.checkers.liveness.lasso import shortest_way
from floodmark.checkers.liveness.plain import PlainSolver, plain_graph
from floodmark.checkers.liveness.witness import WitnessRuns
from floodmark.checkers.project.mapped_properties import mapped_properties
from floodmark.checkers.project.properties import Property, collect
from floodmark.checkers.search_result import Finding, SearchResult
from floodmark.compiler.layout import lay_out
from floodmark.language.conditions import Condition
from floodmark.language.model import State
from floodmark.language.reference import abstract_class, initial_states, successors
from tests.support.judged import ALONE, ENGINES

Digit = Annotated[int, Between(0, 2)]


class Lamp(Model):
    """It is always lit again."""

    lit: bool = False

    @fair
    @action
    def lights(self) -> None:
        require(not self.lit)
        self.lit = True

    @action
    def goes_out(self) -> None:
        self.lit = False

    @leads_to
    def dark_leads_to_light(self) -> tuple[bool, bool]:
        return not self.lit, self.lit


class Unjudged:
    """A place where no goal is judged."""

    def finding(self, goal: Goal) -> Finding | None:
        return None

    def is_ever(self, condition: Condition) -> bool:
        return False

    def confirm(self) -> None:
        """The states are still there."""

    def close(self) -> None:
        """There is nothing to remove."""


class Gone(Unjudged):
    """A place whose states have been replaced."""

    def finding(self, goal: Goal) -> Finding | None:
        return Finding(goal.prop.name, goal.name, {}, "holds", ())

    def confirm(self) -> None:
        raise SourceError("the states are gone")


def judged(cls: type[Model], elsewhere: StoreJudge | None = None) -> _Findings:
    """What is found of a small model, in a graph that took 5 seconds to compile."""
    model = cls()
    initial = [state for _, state in initial_states(model)]
    states = list(initial)
    for state in states:
        states += [after for _, after in successors(model, state) if after not in states]

    def make(conditions: Sequence[Condition], assumptions: Any, beyond: Any) -> tuple[Graph, float]:
        layout = lay_out(model.variable_types)
        return plain_graph(model, states, initial, conditions, assumptions, beyond, layout), 5.0

    found = _Findings(assumptions_of(model, {}))
    begin = None if elsewhere is None else lambda *_: elsewhere
    liveness = [prop for prop in collect(cls, []).values() if prop.is_liveness]
    _find(model, liveness, found, make, PlainSolver(), lambda: None, begin)
    return found


def test_a_premise_that_comes_true_is_not_vacuous_and_the_time_to_compile_is_counted() -> None:
    found = judged(Lamp)
    assert [it.verdict for it in found.findings] == ["holds"]
    assert (found.vacuous, found.compile_seconds) == ([], 5.0)


def test_the_driver_contradicts_another_place_that_left_a_run_where_there_is_none() -> None:
    with pytest.raises(RuntimeError, match="elimination left a fair run, and the driver finds none"):
        judged(Lamp, Unjudged())


def test_what_another_place_found_is_not_taken_where_its_states_are_gone() -> None:
    with pytest.raises(SourceError, match="the states are gone"):
        judged(Lamp, Gone())


class Dial(Model):
    """What others show."""

    hand: Digit = 0

    @fair(strong=True)
    @action
    def jumps(self) -> None:
        require(self.hand == 0)
        self.hand = 1

    @action
    def walks(self) -> None:
        self.hand = 2 if self.hand == 0 else self.hand - 1

    @leads_to
    def one_leads_to_none(self) -> tuple[bool, bool]:
        return self.hand == 1, self.hand == 0

    @leads_to
    def two_leads_to_none(self) -> tuple[bool, bool]:
        return self.hand == 2, self.hand == 0


class Ring(Dial):
    """It is its own, and walks on."""

    @fair
    @action
    def walks(self) -> None:
        super().walks()

    @refines
    def as_dial(self) -> Dial:
        return Dial(hand=self.hand)

    @refines
    def as_switch(self) -> Switch:
        return Switch(on=self.hand == 1)


class Switch(Model):
    on: bool = False

    @unfair
    @action
    def switches(self) -> None:
        self.on = not self.on

    @always_eventually
    def off(self) -> bool:
        return not self.on

    @leads_to
    def on_leads_to_off(self) -> tuple[bool, bool]:
        return self.on, not self.on


class Low(Dial):
    """It never shows 2."""

    @fair
    @action
    def walks(self) -> None:
        require(self.hand == 1)
        self.hand = 0

    @refines
    def as_dial(self) -> Dial:
        return Dial(hand=self.hand)


def of_mapped_runs(cls: type[Model]) -> list[Property]:
    found = [prop for prop in collect(cls, []).values() if prop.is_refinement]
    return [each for prop in found
            for each in mapped_properties(prop, collect(abstract_class(prop.function), []).values())]  # fmt: skip


def mapped(cls: type[Model], engine: Callable[..., SearchResult]) -> tuple[dict[str, str], list[str]]:
    """The verdicts on mapped runs, and the properties whose premise never came true."""
    found = engine(cls(), of_mapped_runs(cls), ALONE)
    return {it.property: it.verdict for it in found.liveness}, [it.property for it in found.vacuous]


@pytest.mark.parametrize("engine", ENGINES)
def test_runs_that_are_mapped_in_two_ways_are_judged_in_both(engine: str) -> None:
    verdicts, vacuous = mapped(Ring, ENGINES[engine])
    assert set(verdicts) == {"as_dial.jumps", "as_dial.one_leads_to_none", "as_dial.two_leads_to_none",
                             "as_switch.off", "as_switch.on_leads_to_off"}
    assert set(verdicts.values()) == {"holds"} and vacuous == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mapped_premise_that_is_never_true_is_told(engine: str) -> None:
    verdicts, vacuous = mapped(Low, ENGINES[engine])
    assert set(verdicts.values()) == {"holds"} and vacuous == ["as_dial.two_leads_to_none"]


class Many(Model):
    """Its one step that matters has a label beyond those of the first word's half."""

    done: bool = False
    turns: bool = False

    @fair(each="choice")
    @action
    def works(self, choice: Annotated[int, Between(0, 50)]) -> None:
        require(choice == 45 and not self.done)
        self.done = True

    @action
    def turns_round(self) -> None:
        self.turns = not self.turns

    @eventually
    def is_done(self) -> bool:
        return self.done


@pytest.mark.parametrize("engine", ENGINES)
def test_each_of_many_choices_is_treated_fairly(engine: str) -> None:
    found = ENGINES[engine](Many(), list(collect(Many, []).values()), ALONE)
    assert [it.verdict for it in found.liveness] == ["holds"]


class Shared(Model):
    """It goes round between 0 and 1."""

    hand: Digit = 0

    @fair(each="to")
    @action
    def goes(self, to: Digit) -> None:
        require(to == (self.hand + 1) % 3 and to != 2)
        self.hand = to

    @fair
    @action
    def comes_back(self) -> None:
        require(self.hand == 1)
        self.hand = 0

    @eventually
    def is_two(self) -> bool:
        return self.hand == 2


class Bounded(Model):
    """It goes round between 0 and 1, far below its bound."""

    most = Constant(3, bound=True)
    hand: Annotated[int, Between(0, "most")] = 0

    @fair
    @action
    def goes(self) -> None:
        require(self.hand < self.most)
        self.hand = 1 - self.hand

    @eventually
    def is_two(self) -> bool:
        return self.hand == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_that_no_bound_could_change_is_a_violation(engine: str) -> None:
    (finding,) = ENGINES[engine](Bounded(), list(collect(Bounded, []).values()), ALONE).liveness
    assert (finding.verdict, finding.bounds) == ("violated", ())


def run_of(cls: type[Model]) -> tuple[Goal, list[State]]:
    """The goal of a model, and its initial state with the next one."""
    model = cls()
    liveness = [prop for prop in collect(cls, []).values() if prop.is_liveness]
    ((_, state),) = initial_states(model)
    return goals_of(model, liveness)[0], [state, next(after for _, after in successors(model, state) if after != state)]


class Blinks(Model):
    lit: bool = False

    @fair
    @action
    def switches(self) -> None:
        self.lit = not self.lit

    @always_eventually
    def is_lit(self) -> bool:
        return self.lit


def test_a_run_that_reaches_its_goal_is_no_counterexample() -> None:
    """Whatever compiled code says of it."""
    goal, (dark, lit) = run_of(Blinks)
    runs = WitnessRuns(Blinks(), assumptions_of(Blinks(), {}), {})
    with pytest.raises(RuntimeError, match="compiled code says that a run misses the goal, CPython that it does not"):
        runs.lasso(goal, [dark], [lit, dark])


def test_a_search_that_lost_an_initial_state_is_an_error() -> None:
    goal, (dark, lit) = run_of(Blinks)
    model, layout = Blinks(), lay_out(Blinks().variable_types)
    for kept, lost in ((lit, dark), (dark, lit)):
        rows = np.array([layout.pack(kept)], dtype=np.uint64)
        maker = GraphMaker(model, [rows], 1, 1, goal.conditions, assumptions_of(model, {}), {}, lambda: None)
        if lost is lit:
            assert maker.graph().initial.tolist() == [0]
            continue
        with pytest.raises(RuntimeError, match="an initial state is none of those that the search found"):
            maker.graph()


def test_a_state_to_which_no_run_leads_is_an_error() -> None:
    nothing = np.zeros(0, dtype=np.uint64)
    graph = Graph(np.zeros(3, dtype=np.uint64), nothing, np.zeros(2, dtype=np.uint64), np.zeros(1, dtype=np.int64),
                  lambda place: (place,), lambda place: (place,))  # fmt: skip
    every = np.ones(2, dtype=np.bool_)
    with pytest.raises(RuntimeError, match="a component was found to which no run leads"):
        shortest_way(graph, Region(every, every, every), np.array([False, True]))


class Halts(Dial):
    """It does not do what the dial has to."""

    @unfair
    @action
    def jumps(self) -> None:
        super().jumps()

    @refines
    def as_dial(self) -> Dial:
        return Dial(hand=self.hand)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_mapped_run_waits_for_is_said_where_it_is_a_step(engine: str) -> None:
    found = {it.property: it for it in ENGINES[engine](Halts(), of_mapped_runs(Halts), ALONE).liveness}
    said = found["as_dial.jumps"].mapped[-1]
    assert said == "from step 1 on: jumps() is again and again enabled, and no step takes it"
    broken = found["as_dial.one_leads_to_none"]
    assert broken.verdict == "violated" and not any(said.startswith("from step") for said in broken.mapped)


def test_a_fair_run_tells_of_every_assumption_why_it_is_fair() -> None:
    (finding,) = ENGINES["native"](Shared(), list(collect(Shared, []).values()), ALONE).liveness
    said = [each.assumption for each in finding.fair]
    assert finding.verdict == "violated"
    assert len(said) == 4, said
