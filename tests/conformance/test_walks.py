"""Walks in which a model proposes: what they propose, that they come again, what they find, and how it is told."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, ClassVar

import pytest

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Set,
    action,
    boundary,
    implies,
    initial,
    invariant,
    require,
    transition,
)
from floodmark.checkers.conformance.adapter import Contract
from floodmark.checkers.conformance.coverage import WalkCoverage
from floodmark.checkers.conformance.lockstep import Mismatch, shortened, side_by_side
from floodmark.checkers.conformance.proposals import Proposal, Proposals
from floodmark.checkers.conformance.shrinking import breaking, enabled_steps, shrunk
from floodmark.checkers.conformance.tours import Tour, longest, tour
from floodmark.checkers.conformance.walks import FURTHER, WalkChoice, Walks
from floodmark.checkers.project.properties import Property, collect
from floodmark.conformance import Adapter, model_of, observable
from floodmark.language import reference
from floodmark.language.errors import SourceError
from tests.support.command import found_in

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "conformance"
TWO_PHASE = ROOT / "specs" / "examples" / "two_phase_commit.toml"
LOST = ROOT / "specs" / "examples" / "lost_partitions.toml"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def prop_of(model: Model, name: str) -> Property:
    return collect(type(model), [])[name]


@pytest.mark.parametrize("spec", [TWO_PHASE, LOST])
def test_what_is_proposed_is_what_cpython_can_do(spec: Path) -> None:
    model = model_of(spec)
    proposals = Proposals(model, [])
    pack = proposals.layout.pack
    states = [state for _, state in reference.initial_states(model)][:1]
    for state in states:
        offered = sorted((each.action, each.after) for each in proposals.of(pack(state)).proposals)
        steps = list(reference.successors(model, state))
        assert offered == sorted((step.action, pack(after)) for step, after in steps)
        taken = [proposals.step(pack(state), each) for each in proposals.of(pack(state)).proposals]
        assert sorted(map(repr, taken)) == sorted(map(repr, steps)), "the same arguments lead to the same states"
        if len(states) < 30:
            states += [after for _, after in steps[-2:]]


class Node(Identifier, count="nodes"):
    """Who calls."""


class Tone(Enum):
    LOW = "low"
    HIGH = "high"


class Asked(Record):
    by: Node
    about: Annotated[Set[Node], Capacity(2)]


class Telephone(Model):
    """Steps that only their arguments tell apart, of every kind of type, some drawn and some not."""

    nodes = Constant(3)

    asked: Annotated[Set[Asked], Capacity(3)] = Set()
    calls: Annotated[int, Between(0, 1)] = 0

    @action
    def ask(self, by: Node, about: Set[Node]) -> None:
        require(len(self.asked) < 3 and by not in about)
        self.asked.add(Asked(by=by, about=about))

    @action
    def answer(self, asked: Asked, loud: bool, times: Annotated[int, Between(-1, 2)]) -> None:
        require(asked in self.asked)
        if times < 0:
            require(loud)
        self.calls = 1

    @action
    def pass_on(self, tones: Map[Node, Tone], to: Node | None) -> None:
        require(to is None or tones[to] == Tone.HIGH)
        self.calls = 0


def test_steps_to_the_same_state_are_proposed_with_their_arguments() -> None:
    model = Telephone()
    proposals = Proposals(model, [])
    pack = proposals.layout.pack
    states = [state for _, state in reference.initial_states(model)]
    for state in states:
        taken = [proposals.step(pack(state), each) for each in proposals.of(pack(state)).proposals]
        steps = list(reference.successors(model, state))
        assert sorted(map(repr, taken)) == sorted(map(repr, steps))
        if len(states) < 8:
            states += [after for _, after in steps if after not in states][:3]
    assert max(len(proposals.of(pack(state)).proposals) for state in states) > 40


def test_a_step_that_cpython_takes_elsewhere_is_an_error() -> None:
    model = Telephone()
    proposals = Proposals(model, [])
    state = proposals.layout.pack(next(iter(reference.initial_states(model)))[1])
    offered = proposals.of(state).proposals
    asked = [each for each in offered if each.action == "ask"]
    wrong = Proposal("ask", asked[0].after, asked[1].arguments)
    with pytest.raises(RuntimeError, match="and CPython took it to"):
        proposals.step(state, wrong)


@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_a_walk_finds_a_known_mistake_and_comes_again(choice: WalkChoice) -> None:
    model = model_of(TWO_PHASE, "CommitsOnMajority")
    prop = prop_of(model, "consistent")
    found = Walks(model, [prop], choice, seed=1).search(20_000)
    assert found is not None
    assert found.property == prop
    assert found == Walks(model, [prop], choice, seed=1).search(20_000)
    assert breaking(model, prop)(found.steps) == found.steps


def test_no_step_is_left_that_can_be_left_out() -> None:
    model = model_of(TWO_PHASE, "CommitsOnMajority")
    prop = prop_of(model, "consistent")
    found = Walks(model, [prop], "guided", seed=2).search(20_000)
    assert found is not None
    fails = breaking(model, prop)
    steps = shrunk(found.steps, fails)
    assert len(steps) <= len(found.steps)
    assert [step for step, _ in enabled_steps(model, steps)] == list(steps)
    for index in range(1, len(steps)):
        assert fails([*steps[:index], *steps[index + 1 :]]) is None


def test_walks_go_on_after_a_run() -> None:
    model = model_of(TWO_PHASE)
    steps = [step for step, _ in list(reference.initial_states(model))[:1]]
    state = next(iter(reference.initial_states(model)))[1]
    for _ in range(3):
        step, state = next(iter(reference.successors(model, state)))
        steps.append(step)
    walks = Walks(model, [], "guided", seed=1)
    walks.begin_after([steps])
    assert walks.search(50) is None
    with pytest.raises(SourceError, match="is not enabled after the 4 steps"):
        Walks(model, [], "guided", seed=1).begin_after([[*steps, steps[1]]])


@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_an_implementation_is_driven(choice: WalkChoice) -> None:
    loaded("broker")
    example = loaded("test_broker")
    contract = Contract(example.MODEL, example.PartitionAdapter)
    assert Walks(example.MODEL, [], choice, seed=1, contract=contract).search(150) is None

    class Buggy(example.PartitionAdapter):  # type: ignore[misc, name-defined]
        bug = example.Bug.COUNTS_PROPOSED_ISR

    found = Walks(example.MODEL, [], choice, seed=1, contract=Contract(example.MODEL, Buggy)).search(2_000)
    assert found is not None
    assert found.mismatch is not None
    assert len(shortened(Contract(example.MODEL, Buggy), found.mismatch).steps) == 2


def test_both_sides_are_told_where_they_part() -> None:
    differences = [
        ("level", 1, 2),
        ("log", {"n1": [1, 2], "n2": []}, {"n1": [1], "n2": []}),
    ]
    assert side_by_side(Mismatch("they part", [], differences)) == [
        "              model  implementation",
        "level         1      2",
        "log['n1'][1]  2      (nothing)",
    ]


@pytest.mark.slow
def test_the_page_runs_as_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"<!-- (.+?) -->\n```\w+\n(.*?)```", page, re.DOTALL))
    for name, text in blocks.items():
        if " " not in name:
            (tmp_path / name).write_text(text, encoding="utf-8")
    for command, expected in [("-m floodmark check copy.toml", "holds"), ("copy_adapter.py", None)]:
        words = [sys.executable, *command.split()]
        run = subprocess.run(words, cwd=tmp_path, env=found_in(), capture_output=True, text=True, check=True)
        assert run.stdout == blocks["python copy_adapter.py"] if expected is None else expected in run.stdout


class Stairs(Model):
    """Somebody on stairs, with a lamp."""

    most = Constant(6)
    level: Annotated[int, Between(0, "most")] = 0
    lit: bool = False

    @initial
    def start(self) -> None:
        """At the bottom, in the dark."""

    @action
    def climbs(self) -> None:
        require(self.level < self.most)
        self.level += 1

    @action
    def falls(self) -> None:
        self.level = 0

    @action
    def switches(self) -> None:
        self.lit = not self.lit

    @action
    def says(self, number: Annotated[int, Between(0, 40)]) -> None:
        """Means nothing, but for one number, high up."""
        require(self.level == 0)
        if number == 40:
            self.level = 3

    @boundary
    def is_low(self) -> bool:
        return self.level <= 4

    @invariant
    def not_at_three(self) -> bool:
        return self.level != 3

    @transition
    def falls_from_low(self, new: Stairs) -> bool:
        return implies(new.level < self.level, self.level <= 2)


class StairsAdapter(Adapter):
    """Stairs with a list of what was done; with ``loose`` the lamp does not go on from level 3 on."""

    unsupported: ClassVar[tuple[str, ...]] = ("says",)
    loose: ClassVar[bool] = False
    highest: ClassVar[int] = 0
    open: ClassVar[int] = 0

    def __init__(self, start: Any) -> None:
        type(self).open += 1
        self.at, self.on = 0, False

    def close(self) -> None:
        type(self).open -= 1

    def climbs(self) -> None:
        self.at += 1
        type(self).highest = max(self.highest, self.at)

    def falls(self) -> None:
        self.at = 0

    def switches(self) -> None:
        self.on = not self.on and not (self.loose and self.at >= 3)

    @observable
    def level(self) -> int:
        return self.at

    @observable
    def lit(self) -> bool:
        return self.on


class LooseStairs(StairsAdapter):
    loose = True


LOOSE = ["start", "climbs", "climbs", "climbs", "switches"]


def names(steps: Any) -> list[str]:
    return [step.action for step in steps]


@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_a_walk_stays_within_the_boundary_and_what_is_supported(choice: WalkChoice) -> None:
    class Seen(StairsAdapter):
        pass

    walks = Walks(Stairs(), [], choice, seed=1, contract=Contract(Stairs(), Seen))
    assert walks.search(600) is None
    assert Seen.highest == 4
    assert Seen.open == 0
    assert walks.coverage.actions() == {"climbs", "falls", "switches"}
    alone = Walks(Stairs(), [], choice, seed=1, allowed={"climbs"})
    alone.search(600)
    assert alone.coverage.actions() == {"climbs"}


@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_a_violation_that_is_one_step_away_is_never_missed(choice: WalkChoice) -> None:
    found = Walks(Stairs(), [prop_of(Stairs(), "not_at_three")], choice, seed=1).search(100)
    assert found is not None
    assert found.taken == 1
    assert found.steps[1].arguments == {"number": 40}


@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_a_step_that_breaks_a_property_is_found_and_shortened(choice: WalkChoice) -> None:
    prop = prop_of(Stairs(), "falls_from_low")
    found = Walks(Stairs(), [prop], choice, seed=1, allowed={"climbs", "falls", "switches"}).search(2_000)
    assert found is not None
    assert found.property == prop
    fails = breaking(Stairs(), prop)
    assert fails(found.steps[:-1]) is None
    assert fails([*found.steps, found.steps[1]]) == found.steps
    assert names(shrunk(found.steps, fails)) == ["start", "climbs", "climbs", "climbs", "falls"]


def test_the_shortest_run_is_kept_for_what_it_covers() -> None:
    walks = Walks(Stairs(), [], "guided", seed=1, allowed={"climbs", "falls", "switches"})
    walks.search(3_000)
    for level in (1, 2, 3, 4):
        assert level == min(node.depth for node in walks.kept_ends() if level == level_of(walks, node.state))
    assert all(node.depth == len(node.path()) - 1 for node in walks.kept_ends())
    assert max(node.depth for node in walks.kept_ends()) <= 5


def level_of(walks: Walks, state: Any) -> int:
    now = Stairs().at(walks.proposals.layout.unpack(state))
    assert isinstance(now, Stairs)
    return now.level


def test_a_step_covers_what_it_changes_and_to_what() -> None:
    proposals = Proposals(Stairs(), [])
    coverage = WalkCoverage(proposals.layout)
    state = proposals.layout.pack(next(iter(reference.initial_states(Stairs())))[1])
    offered = {each.action: each for each in proposals.of(state).proposals if each.action != "says"}
    assert sorted(coverage.pieces(state, offered["climbs"]), key=str) == [("climbs", 1), (0, 1)]
    assert sorted(coverage.pieces(state, offered["switches"]), key=str) == [("switches", 2), (1, 1)]
    up = offered["climbs"].after
    falls = next(each for each in proposals.of(up).proposals if each.action == "falls")
    assert sorted(coverage.add(up, falls), key=str) == [("falls", 1), (0, 0)]
    assert coverage.actions() == {"falls"}
    assert coverage.states == {hash(state)}


def test_what_leaves_the_types_is_an_error() -> None:
    class Breaking(Stairs):
        @action
        def climbs(self) -> None:
            self.level += 1

        @boundary
        def is_low(self) -> bool:
            return True

    with pytest.raises(SourceError, match="level"):
        Walks(Breaking(), [], "guided", seed=1, allowed={"climbs"}).search(100)


def test_a_step_beyond_the_boundary_is_left_out_of_a_run() -> None:
    steps = [step for step, _ in list(reference.initial_states(Stairs()))]
    climb = next(step for step, _ in reference.successors(Stairs(), next(reference.initial_states(Stairs()))[1])
                 if step.action == "climbs")
    assert len(enabled_steps(Stairs(), [*steps, *[climb] * 6])) == 5


def test_large_pieces_go_and_then_single_ones() -> None:
    tried: list[int] = []

    def fails(steps: Any) -> Any:
        tried.append(len(steps))
        return tuple(steps) if {13, 71} <= set(steps) else None

    assert shrunk(range(100), fails) == (0, 13, 71)  # type: ignore[arg-type, comparison-overlap]
    assert tried[0] == 50
    assert len(tried) < 60


def test_a_difference_is_shortened() -> None:
    contract = Contract(Stairs(), LooseStairs)
    found = Walks(Stairs(), [], "uniform", seed=4, contract=contract).search(2_000)
    assert found is not None
    assert found.mismatch is not None
    shorter = shortened(contract, found.mismatch)
    assert names(shorter.steps) == LOOSE
    assert shorter.differences == (("lit", True, False),)
    assert side_by_side(shorter) == ["     model  implementation", "lit  True   False"]
    assert LooseStairs.open == 0


def test_a_difference_is_not_shortened_beyond_the_boundary() -> None:
    class TallStairs(StairsAdapter):
        @observable
        def level(self) -> int:
            return min(self.at, 4)

    start, state = next(iter(reference.initial_states(Stairs())))
    climb = next(step for step, _ in reference.successors(Stairs(), state) if step.action == "climbs")
    given = Mismatch("they part", [start, *[climb] * 6])
    assert shortened(Contract(Stairs(), TallStairs), given) is given


@pytest.mark.parametrize("choice", ["uniform", "guided"])
def test_a_walk_stays_within_the_boundary_if_all_is_supported(choice: WalkChoice) -> None:
    class Seen(StairsAdapter):
        unsupported: ClassVar[tuple[str, ...]] = ()

        def says(self, number: int) -> None:
            self.at = 3 if number == 40 else self.at

    assert Walks(Stairs(), [], choice, seed=1, contract=Contract(Stairs(), Seen)).search(600) is None
    assert Seen.highest == 4


class Once(Model):
    """A lamp that is lit once; then nothing happens any more."""

    lit: bool = False

    @initial
    def start(self) -> None:
        """In the dark."""

    @action
    def lights(self) -> None:
        require(not self.lit)
        self.lit = True


class OnceAdapter(Adapter):
    def __init__(self, start: Any) -> None:
        self.on = False

    def lights(self) -> None:
        self.on = True

    @observable
    def lit(self) -> bool:
        return self.on


def test_a_tour_ends_a_run_where_no_step_is_possible() -> None:
    assert tour(Once(), OnceAdapter, most=5, explored=10) is None


def test_a_tour_takes_all_that_walks_keep() -> None:
    contract = Contract(Stairs(), StairsAdapter)
    held = Tour(contract, seed=1, explored=2_000)
    ends = longest(held.walks.kept_ends())
    steps = sum(end.depth + FURTHER for end in ends)
    first = held.walks
    assert held.search(steps) is None
    assert held.steps == steps
    assert held.coverage.actions() == {"climbs", "falls", "switches"}
    assert set(held.coverage.counts) >= set(held.walks.coverage.counts)
    assert held.walks is first
    assert StairsAdapter.open == 0
    ways = [[node.state for node in end.path()] for end in held.walks.kept_ends()]
    whole = [[node.state for node in end.path()] for end in longest(held.walks.kept_ends())]
    assert all(any(way == each[: len(way)] for each in whole) for way in ways)
    assert not any(one != other and one == other[: len(one)] for one in whole for other in whole)


def test_a_tour_finds_a_difference_and_comes_again() -> None:
    found = tour(Stairs(), LooseStairs, seed=3, explored=500)
    assert found is not None
    assert names(found.steps).count("climbs") == 3
    assert names(found.steps)[-1] == "switches"
    again = tour(Stairs(), LooseStairs, seed=3, explored=500)
    assert again is not None
    assert (again.steps, again.taken) == (found.steps, found.taken)


def test_a_tour_cannot_take_eager_actions() -> None:
    class Falling(StairsAdapter):
        eager = ("says",)
        unsupported: ClassVar[tuple[str, ...]] = ()

    with pytest.raises(SourceError, match="cannot take eager actions"):
        tour(Stairs(), Falling)


def test_each_side_can_have_more_than_the_other() -> None:
    differences = [("log", [1], [1, 2]), ("on", True, 1), ("of", {"a": 1}, {"b": 1}), ("text", "x" * 80, "y")]
    lines = [line.split() for line in side_by_side(Mismatch("they part", [], differences))]
    assert lines == [
        ["model", "implementation"],
        ["log[1]", "(nothing)", "2"],
        ["on", "True", "1"],
        ["of['a']", "1", "(nothing)"],
        ["of['b']", "(nothing)", "1"],
        ["text", "x" * 66, "...", "y"],
    ]
