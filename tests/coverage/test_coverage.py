"""Tests that compiled code counts coverage as CPython does, and that counting changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from floodmark.checkers.coverage.counter import coverage_of
from floodmark.checkers.coverage.places import BRANCHES
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.spec import read
from floodmark.checkers.search.beginning import beginnings
from floodmark.checkers.search_result import Coverage, Options, Progress, Proportion
from floodmark.checkers.simulation.compiled_walks import build_walk_code
from floodmark.checkers.simulation.simulate import simulate
from floodmark.checkers.simulation.walker import Walker, WalkPlan, WalkStrategy
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.compiler.ir import locals_in
from floodmark.compiler.layout import lay_out
from floodmark.compiler.program import read_action
from floodmark.language.enabledness import levels_of
from floodmark.language.errors import SourceError
from floodmark.language.reference import parameter_types
from floodmark.language.source import names_in, source_of
from tests.support.coverage_oracle import Oracle, covered_by_cpython
from tests.support.engines import imported, properties_of
from tests.support.model_strategy import GeneratedModel, models

STATES = 60


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Machine code of generated models is thrown away."""
    directory = tmp_path_factory.mktemp("models")
    patch = pytest.MonkeyPatch()
    patch.setenv("FLOODMARK_CACHE", str(directory))
    yield directory
    patch.undo()


def both(source: str, name: str, directory: Path) -> tuple[Coverage, Oracle, set[str]]:
    """What compiled code and CPython count; and the actions all of whose guards CPython can ask alone, and depend on
    all parameters that they mention."""
    with imported(source, name, directory) as cls:
        model = cls()
        properties = [it for it in properties_of(cls) if it.kind in ("invariant", "reachable", "transition")]
        layout = lay_out(model.variable_types)
        nothing = np.zeros((0, layout.words), dtype=np.uint64)
        sites = coverage_of(model, properties, layout, [nothing], 1)
        counted: dict[str, set[tuple[int, int]]] = {}
        alone = set()
        for action, method in cls.methods("action").items():
            of = [it for it in sites.counts if it.part == f"action {action}" and it.kind == "guard"]
            counted[action] = {(it.line, it.column) for it in of}
            levels = levels_of(source_of(method), parameter_types(model, method))
            read, asked = read_action(model, action, method), [it for level in levels.guards for it in level]
            known = {parameter.slot: parameter.name for parameter in read.parameters}
            depends = [{known[slot] for slot in locals_in(guard) if slot in known} for guard in read.guards]
            if depends == [names_in(guard) & set(known.values()) for guard in asked]:
                alone.add(action)
        path = Path(cls.methods("action")[action].__code__.co_filename)
        oracle, own = covered_by_cpython(path, name, STATES, counted)
        assert own.words == layout.words
        rows = np.array(oracle.packed, dtype=np.uint64).reshape(-1, layout.words)
        return coverage_of(model, properties, layout, [rows], 2), oracle, alone


def differences(source: str, name: str, directory: Path) -> tuple[list[str], Counter[str]]:
    """The places where the two counts differ, and how many places of each kind were compared."""
    found, oracle, alone = both(source, name, directory)
    wrong = [
        f"{part} complete: {times}, CPython {oracle.whole[part]}"
        for part, times in found.whole.items()
        if times != oracle.whole[part]
    ]
    compared: Counter[str] = Counter()
    for it in found.counts:
        if it.kind in ("guard", "require") and it.part.removeprefix("action ") not in alone:
            continue
        if it.kind in ("argument", "value"):
            expected = oracle.said[it.part, it.text]
        else:
            expected = oracle.counts[it.part, (it.kind, it.line, it.column, it.outcome)]
        compared[it.kind] += it.count > 0
        if it.count != expected:
            wrong.append(f"{it.part} {it.kind} {it.line}:{it.column} {it.outcome} {it.text}: {it.count} not {expected}")
    return wrong, compared


@pytest.mark.parametrize("examples", [12, pytest.param(400, marks=pytest.mark.slow)])
def test_compiled_code_counts_what_cpython_takes(examples: int, own_cache: Path) -> None:
    compared: Counter[str] = Counter()
    found: list[str] = []

    @settings(max_examples=examples, derandomize=True, database=None, deadline=None,
              suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(models())
    def look(model: GeneratedModel) -> None:
        with suppress(SourceError):
            wrong, kinds = differences(model.source(), model.name, own_cache)
            compared.update(kinds)
            if wrong:
                found.append("\n".join([*wrong, model.source()]))

    look()
    assert not found, "\n\n".join(found[:3])
    kinds = {"line", "if", "choice", "and", "or", "guard", "argument", "value"}
    kinds |= {"condition", "premise", "require"} if examples > 100 else set()
    assert kinds <= {kind for kind, count in compared.items() if count}


HEADER = """\
from enum import Enum
from typing import Annotated
from floodmark import Between, Capacity, Constant, Identifier, Map, Model, Record, Seq, Set
from floodmark import action, implies, initial, invariant, reachable, require, transition


class Node(Identifier, count=3, prefix="n"):
    pass


class Ask(Record):
    of: Node
    votes: Annotated[int, Between(0, 2)]


class Generated(Model):
    bound = Constant(3)
    never = Constant(0)
    asks: Annotated[Set[Ask], Capacity(2)]
    votes: Map[Node, Annotated[int, Between(0, 3)]]
    leader: Node | None = None

    @initial
    def start(self) -> None:
        self.asks, self.votes = Set(), Map({n: 0 for n in Node})
"""
BY_HAND = {
    "a guard that draws, and one on each parameter": """
    @action
    def asks_once(self, one: Node, other: Node) -> None:
        require(self.leader is None and one != other and len(self.asks) < 2)
        require(self.votes[one] < 2 or self.votes[other] < 1)
        self.asks.add(Ask(of=one, votes=self.votes[one]))

    @action
    def takes(self, ask: Ask, by: Node) -> None:
        require(ask in self.asks)
        require(by != ask.of)
        self.asks.remove(ask)
        self.votes[by] = min(self.votes[by] + 1, 3)
""",
    "a require in a helper, and branches before it": """
    def bumped(self, node: Node) -> int:
        if self.votes[node] == self.never:
            return 1
        elif self.votes[node] == 1:
            total = 2
        else:
            total = 3 if self.leader is None else 0
        require(total > 0 and self.votes[node] < self.bound)
        return total

    @action
    def bumps(self, node: Node) -> None:
        if node == Node(1) and self.leader is not None:
            self.leader = None
        self.votes[node] = self.bumped(node)

    @action
    def leads(self, node: Node) -> None:
        require(self.leader is None)
        self.leader = node
""",
    "loops that are left, and those without a round": """
    @action
    def counts(self, most: Annotated[int, Between(0, 2)]) -> None:
        seen = 0
        for node in Node:
            if self.votes[node] > most:
                continue
            if seen == 2:
                break
            seen = seen + 1
            self.votes[node] = self.votes[node] + 1
        for ask in self.asks:
            self.leader = ask.of
        require(seen > 0)

    @invariant
    def some(self) -> bool:
        for node in Node:
            if self.votes[node] == 3:
                return True
        return all(self.votes[n] < 3 for n in Node if n != self.leader) or False

    @reachable
    def full(self) -> bool:
        return sum(1 for n in Node if self.votes[n] == 3 and (self.leader is None or n == self.leader)) >= 2
""",
    "premises, and helpers that properties and actions share": """
    def high(self) -> bool:
        return any(
            self.votes[n] > 1
            for n in Node
        )

    @action
    def adds(self, node: Node) -> None:
        require(not self.high() or node == Node(3))
        require(self.votes[node] < 3)
        self.votes[node] = self.votes[node] + 1

    @invariant
    def sane(self) -> bool:
        return implies(self.high(), self.votes[Node(1)] < 3) and (len(self.asks) == 0 if self.high() else True)

    @transition
    def grows(old: "Generated", new: "Generated") -> bool:
        return implies(old.high() and new.high(), all(new.votes[n] >= old.votes[n] for n in Node))

    @transition
    def one_at_a_time(old: "Generated", new: "Generated") -> bool:
        return sum(1 for n in Node if new.votes[n] != old.votes[n]) <= 1
""",
}


@pytest.mark.parametrize("what", BY_HAND)
def test_what_is_counted_by_hand(what: str, own_cache: Path) -> None:
    wrong, compared = differences(HEADER + BY_HAND[what], "Generated", own_cache)
    assert not wrong
    assert compared["line"] > 3
    found, oracle, _ = both(HEADER + BY_HAND[what], "Generated", own_cache)
    places = {(it.part, (it.kind, it.line, it.column, it.outcome)) for it in found.counts}
    assert not {place for place, count in oracle.counts.items() if count} - places
    assert all(it.text for it in found.counts if it.kind in BRANCHES)


OVERRIDING = """
    @action
    def adds(self, node: Node) -> None:
        require(self.votes[node] < 2)
        self.votes[node] = self.votes[node] + 1


class Stricter(Generated):
    def adds(self, node: Node) -> None:
        super().adds(node)
        require(self.leader is None)
        if node == Node(2):
            self.leader = node
"""


def test_the_guards_of_an_overridden_action_count(own_cache: Path) -> None:
    with imported(HEADER + OVERRIDING, "Stricter", own_cache) as cls:
        model = cls()
        found = search_states(model, [], Options(workers=1, coverage=True)).coverage
    assert found is not None
    refused = {(it.kind, it.text): it.count for it in found.counts if it.kind in ("guard", "require")}
    # 9 states without a leader, where two nodes have up to two votes, and 9 with node 2 as the leader
    assert refused == {("guard", "self.votes[node] < 2"): 6 + 6, ("require", "self.leader is None"): 3 * 9 - 6}
    assert found.states == 18
    assert found.whole == {"action adds": 21}
    assert {it.count for it in found.counts if it.kind == "if" and it.outcome} == {9}


def test_counting_changes_nothing_and_is_the_same_in_files_and_with_any_number_of_workers() -> None:
    spec = read(Path("specs/examples/two_phase_commit.toml"))
    check = checks(spec, CheckSettings())[0]
    model, properties = check.model(), check.properties()
    plain, one, two = (
        search_states(model, properties, Options(workers=workers, coverage=coverage))
        for workers, coverage in ((1, False), (1, True), (2, True))
    )
    assert plain.coverage is None
    assert one.coverage is not None
    assert one.coverage == two.coverage
    assert replace(one, coverage=None, seconds=0, compile_seconds=0, memory=0) == replace(
        plain, seconds=0, compile_seconds=0, memory=0
    )
    assert {f"action {name}": count for name, count in one.actions.items()}.items() <= one.coverage.whole.items()
    assert one.coverage.states == one.distinct


@pytest.mark.slow
def test_walks_count_what_their_states_and_the_steps_from_them_take() -> None:
    check = checks(read(Path("specs/alter_isr/core.toml")), CheckSettings())[0]
    model, properties = check.model(), check.properties()
    walking = WalkPlan(130, 20, 3, WalkStrategy.ACTIONS)
    one, two = (
        simulate(model, properties, Options(workers=workers, coverage=True), walking) for workers in (1, 2)
    )
    assert one.coverage == two.coverage is not None
    code = build_walk_code(model, {it.name: it.function for it in properties}, False)
    initial = [code.interface.layout.pack(state) for state in beginnings(model, properties).within]
    walker = Walker(code, initial, walking, 0, False)
    visited = [state for walk in range(130) for state in walker.states(walk)]
    rows = np.array(visited, dtype=np.uint64)
    assert one.generated == len(visited)
    assert coverage_of(model, properties, code.interface.layout, [rows], 1) == one.coverage


def test_walks_say_while_they_run_how_many_lines_were_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("floodmark.checkers.simulation.simulate.PROGRESS_SECONDS", 0.0)
    check = checks(read(Path("specs/examples/two_phase_commit.toml")), CheckSettings())[0]
    told: list[Progress] = []
    walking = WalkPlan(70_000, 3, 3, WalkStrategy.ACTIONS)
    found = simulate(check.model(), [], Options(workers=1, coverage=True), walking, told.append)
    assert found.coverage is not None
    lines = {(it.file, it.line) for it in found.coverage.counts if it.kind == "line"}
    taken = {(it.file, it.line) for it in found.coverage.counts if it.kind == "line" and it.count}
    last = told[-1].walked
    assert last is not None
    assert last.covered["lines"] == Proportion(len(taken), len(lines))


PAIRED = '''
from floodmark import *

class Peer(Identifier, count=2, prefix="p"):
    """A peer."""

class Pairs(Model):
    met: Set[Peer] = Set()
    @action
    def meets(self, one: Peer, other: Peer, third: Peer) -> None:
        require(one != other)
        self.met.add(one)
'''


def test_whether_two_parameters_are_the_same_identifier_is_counted_of_each_pair(tmp_path: Path) -> None:
    with imported(PAIRED, "Pairs", tmp_path) as cls:
        found = search_states(cls(), [], Options(workers=1, coverage=True))
    assert found.coverage is not None
    counts = {it.text: it.count for it in found.coverage.counts if it.kind == "argument"}
    assert counts == {
        "one == other": 0, "one != other": 16, "one == third": 8, "one != third": 8, "other == third": 8,
        "other != third": 8,
    }  # fmt: skip
