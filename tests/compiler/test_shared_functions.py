"""Functions that calls share: code grows with the levels of calls, not with their number, and means the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest

from floodmark import (
    Between,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Set,
    action,
    boundary,
    initial,
    invariant,
    reachable,
    require,
    transition,
)
from floodmark.checkers.codegen import cost
from floodmark.checkers.codegen.model_module import parts
from floodmark.checkers.export import promela, tla
from floodmark.checkers.export.graph_queries import CannotExportError
from floodmark.checkers.symbolic.translate import statements as symbolic_statements
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.compiler import program as programs
from floodmark.compiler import statements
from floodmark.compiler.identifier_bias import first_bias
from floodmark.compiler.ir import BOOL, Action, Applied, Inline, Predicate, walk
from floodmark.compiler.program import read_program
from floodmark.compiler.renaming import symmetric_types
from floodmark.language.errors import ModelError
from floodmark.language.model import Model as AnyModel
from floodmark.language.reference import initial_states
from tests.support.agreement import assert_agrees
from tests.support.engines import imported, properties_of
from tests.support.symbolic_agreement import assert_steps_agree
from tools.campaign import Budget, Campaign

LEVEL_0 = """\
from typing import Annotated

from floodmark import Between, Model, action


class Levels(Model):
    x: Annotated[int, Between(0, 6)] = 0
    y: Annotated[int, Between(0, 6)] = 1

    def h0(self, a: int) -> int:
        if a > 3:
            return (a + self.y) % 7
        return (a * self.x + 1) % 7
"""
LEVEL = """
    def h{0}(self, a: int) -> int:
        first = self.h{1}(a)
        return (first + self.h{1}({2})) % 7
"""
ACTIONS = """
    @action
    def steps(self) -> None:
        self.x = self.h{0}(self.x)

    @action
    def moves(self) -> None:
        self.y = (self.y + 2) % 7
"""
OTHER, SAME = "(first + 1) % 7", "a"
"""The second argument at each level: another one, or the same as the first."""


def levels(count: int, second: str = OTHER) -> str:
    """A model in which each function calls the one below it twice."""
    middle = "".join(LEVEL.format(level, level - 1, second) for level in range(1, count + 1))
    return LEVEL_0 + middle + ACTIONS.format(count)


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call shares its function, however small."""
    monkeypatch.setattr(statements, "MAX_COPY", 0)


def calls(model: AnyModel) -> set[str]:
    """The functions that are shared in a model with its properties."""
    program = read_program(model, {prop.name: prop.function for prop in properties_of(type(model))})
    found = [Inline(BOOL, it.at, it.body, None) for it in program.actions]
    guards = [guard for it in program.actions for guard in it.guards]
    values = [it.value for it in (*program.predicates, *program.boundaries)]
    return {part.function.name for root in (*found, *guards, *values) for part in walk(root)
            if isinstance(part, Applied)}


@pytest.mark.slow
@pytest.mark.parametrize("second", [OTHER, SAME])
def test_code_and_graph_grow_with_the_levels_of_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str
) -> None:
    monkeypatch.setattr(statements, "MAX_COPY", 400)
    instructions, nodes = [], []
    for count in (12, 24, 36):
        with imported(levels(count, second), "Levels", tmp_path) as cls:
            program = read_program(cls(), {})
            found, _ = parts(program, None)
        instructions.append(sum(cost.size(part.module()) for part in found))
        nodes.append(len(walk(Inline(BOOL, program.actions[0].at, program.actions[0].body, None))))
    for sizes in (instructions, nodes):
        assert sizes[2] - sizes[1] < 1.2 * (sizes[1] - sizes[0]), sizes


@pytest.mark.slow
def test_many_levels_mean_what_they_mean_in_cpython(tmp_path: Path) -> None:
    with imported(levels(12), "Levels", tmp_path) as cls:
        assert calls(cls())
        assert_agrees(cls, workers=(1,))


def test_what_is_copied_stays_within_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MAX_EXPRESSIONS", 5_000)
    monkeypatch.setattr(programs, "MIN_STEPS_TO_COUNT", 0)
    text = LEVEL_0 + ACTIONS.format(0) + "".join(
        f"        self.x = (self.x + {number}) % 7\n" for number in range(2_000))
    with imported(text, "Levels", tmp_path) as cls, pytest.raises(ModelError) as refused:
        read_program(cls(), {})
    assert refused.value.message.startswith("moves is ") and refused.value.line is not None
    assert "assign what is used several times" in refused.value.message


def test_calls_that_are_read_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "MAX_CALLS", 100)
    with imported(levels(9), "Levels", tmp_path) as cls, pytest.raises(ModelError) as refused:
        read_program(cls(), {})
    assert "more than 100 calls" in refused.value.message
    assert refused.value.line is not None and "use that several times" in refused.value.message


def test_nested_operations_evaluate_their_operand_once(tmp_path: Path) -> None:
    sizes = []
    for depth in (4, 8, 16):
        value = "self.x - self.y"
        for _ in range(depth):
            value = f"abs({value}) - 1"
        text = LEVEL_0 + ACTIONS.format(0) + f"        self.x = ({value}) % 7\n"
        with imported(text, "Levels", tmp_path) as cls:
            found, _ = parts(read_program(cls(), {}), None)
            sizes.append(sum(cost.size(part.module()) for part in found))
            assert_agrees(cls, workers=(1,))
    assert sizes[2] < 6 * sizes[0], sizes


class Peer(Identifier, count="peers", prefix="p"):
    pass


class Vote(Record):
    peer: Peer
    epoch: Annotated[int, Between(0, 3)]


class Shared(Model):
    """Calls with effects, guards, assertions, arguments of every kind, and results of several."""

    peers = Constant(2)
    epoch: Annotated[int, Between(0, 3)]
    held: Map[Peer, Annotated[int, Between(0, 3)]]
    votes: Set[Vote]
    last: Vote | None

    @initial
    def start(self) -> None:
        self.epoch = 0
        self.held = Map({peer: 0 for peer in Peer})
        self.votes = Set()
        self.last = None

    def grown(self, number: int, by: int = 1) -> int:
        return number + by

    def takes(self, peer: Peer, number: int) -> int:
        before = self.held[peer]
        self.held[peer] = number
        return before

    def needs(self, number: int) -> None:
        require(number < 3)

    def is_sure(self, number: int) -> int:
        assert number <= 3
        return number

    def newest(self, votes: Set[Vote], otherwise: Vote | None) -> Vote | None:
        for vote in votes:
            if vote.epoch == self.epoch:
                return vote
        return otherwise

    def all_below(self, numbers: Set[int], limit: int) -> bool:
        for number in numbers:  # noqa: SIM110
            if number >= limit:
                return False
        return True

    @action
    def swaps(self, peer: Peer, other: Peer) -> None:
        require(peer != other)
        self.needs(self.held[peer])
        self.needs(self.held[other])
        kept = self.takes(peer, self.grown(self.takes(other, self.held[peer])))
        self.epoch = self.grown(self.grown(kept, 0), 0)

    @action
    def votes_for(self, peer: Peer) -> None:
        self.needs(self.grown(self.held[peer]))
        vote = Vote(peer=peer, epoch=self.held[peer])
        require(vote not in self.votes)
        self.votes.add(vote)
        self.last = self.newest(self.votes, self.newest(Set(), self.last))

    @action
    def counts(self) -> None:
        total = 0
        for peer in Peer:
            if self.held[peer] > 0:
                total = self.is_sure(self.grown(total, self.held[peer]))
        require(total > 0)
        self.epoch = total

    @invariant
    def votes_are_of_peers(self) -> bool:
        return self.all_below(Set(vote.epoch for vote in self.votes), 4) and (
            self.last is None or self.all_below(Set({self.last.epoch}), 4))

    @reachable
    def some_hold_two(self) -> bool:
        return any(self.grown(self.held[peer], 1) == 3 for peer in Peer)

    @transition
    def votes_stay(old: Shared, new: Shared) -> bool:  # noqa: N805
        return old.all_below(Set(vote.epoch for vote in old.votes), 4) and len(old.votes) <= len(new.votes)

    @boundary
    def few(self) -> bool:
        return len(self.votes) < self.grown(1)


class Certain(Shared):
    """The same without a step that fails."""

    def is_sure(self, number: int) -> int:
        require(number <= 3)
        return number


@pytest.mark.usefixtures("shares")
def test_calls_with_effects_guards_and_failures_mean_the_same() -> None:
    assert calls(Shared()) >= {"grown", "takes", "needs", "is_sure", "newest", "all_below"}
    assert_agrees(Certain, workers=(1,))
    assert_steps_agree(Certain())
    assert_steps_agree(Shared())


def test_reading_shared_functions_finds_what_reading_copies_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def impartial(model: AnyModel) -> set[str]:
        program = read_program(model, {prop.name: prop.function for prop in properties_of(type(model))})
        kinds = symmetric_types(program.variables.values())
        every: list[Action | Predicate] = [*program.actions, *program.predicates, *program.boundaries]
        return {part.name for part in every if first_bias(part, kinds) is None}

    copied = impartial(Shared())
    monkeypatch.setattr(statements, "MAX_COPY", 0)
    assert impartial(Shared()) <= copied
    assert {"swaps", "few"} <= impartial(Shared())


class Named(Shared):
    """A function that names a peer."""

    def grown(self, number: int, by: int = 1) -> int:
        return number + by if self.held[Peer(1)] == 0 else number


@pytest.mark.usefixtures("shares")
def test_a_name_in_a_shared_function_is_found() -> None:
    program = read_program(Named(), {})
    kinds = symmetric_types(program.variables.values())
    found = {part.name: first_bias(part, kinds) for part in program.actions}
    assert all(found[name] is not None and "is named here" in found[name].what  # type: ignore[union-attr]
               for name in ("swaps", "counts"))


@pytest.mark.slow
@pytest.mark.usefixtures("shares")
def test_engines_agree_about_generated_models_whose_functions_are_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path))
    campaign = Campaign(Budget(8, seed=23, one_in={"z3": 2, "symmetry": 4}), tmp_path)
    campaign.run()
    assert campaign.counts["agreed"] >= 6 and campaign.counts["z3: models"] >= 2


def test_z3_asks_once_about_equal_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "MAX_COPY", 50)
    monkeypatch.setattr(symbolic_statements, "MAX_OUTCOMES", 40)
    with imported(levels(30, SAME), "Levels", tmp_path) as cls:
        system_of(cls(), [])


def test_z3_refuses_too_many_different_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "MAX_COPY", 50)
    monkeypatch.setattr(symbolic_statements, "MAX_OUTCOMES", 8)
    with imported(levels(30), "Levels", tmp_path) as cls, pytest.raises(UnsupportedError) as no:
        system_of(cls(), [])
    assert "too many for z3" in no.value.message
    assert no.value.file is not None and no.value.line is not None


class Tall(Model):
    """Any number up to a constant, which a proof leaves open."""

    limit = Constant(3)
    x: Annotated[int, Between(0, "limit")] = 0

    def next(self, number: int) -> int:
        return number + 1

    @action
    def grows(self) -> None:
        require(self.x < self.limit)
        self.x = self.next(self.x)


@pytest.mark.usefixtures("shares")
def test_a_proof_for_every_size_refuses_shared_functions() -> None:
    with pytest.raises(UnsupportedError, match="next with all that it calls is too large") as refused:
        system_of(Tall(), [], unbounded=["limit"])
    assert refused.value.line is not None


@pytest.mark.usefixtures("shares")
def test_other_languages_refuse_shared_functions() -> None:
    program = read_program(Tall(), {})
    start = [state for _, state in initial_states(Tall())]
    with pytest.raises(CannotExportError, match="next with all that it calls is too large") as refused:
        tla.module(program, start, {})
    assert refused.value.line is not None
    with pytest.raises(CannotExportError, match="next with all that it calls is too large"):
        promela.process(program, start, {}, [True] * len(start))


CONSTANTS = LEVEL_0 + """
    def plus(self, number: int, by: int) -> int:
        return (number + by) % 7

    @action
    def adds(self) -> None:
        self.x = self.plus(self.x, 1)
        self.y = self.plus(self.y, 2)
"""
FAILURES = LEVEL_0 + """
    def checked(self, number: int) -> int:
        assert self.y != 3
        return number

    @action
    def copies(self) -> None:
        if self.x != 2:
            self.x = self.checked(self.y)

    @action
    def moves(self) -> None:
        self.y = (self.y + 2) % 7
"""
EFFECTS = LEVEL_0.replace("action", "action, require") + """
    def inner(self) -> int:
        self.y = 2
        return 1

    def outer(self) -> int:
        value = self.inner()
        return value

    @action
    def waits(self) -> None:
        require(self.outer() > 0)
        self.x = 1
"""
ORDERS = """\
from typing import Annotated

from floodmark import Between, Model, Set, action


class Orders(Model):
    x: Annotated[int, Between(0, 6)] = 0

    def last(self, numbers: Set[int]) -> int:
        found = 0
        for number in numbers:
            found = number
        return found

    @action
    def takes(self) -> None:
        self.x = self.last(Set({{1, self.x}}))
        self.x = self.last({})
"""


STATES = LEVEL_0 + """
    def total(self) -> int:
        return (self.x + self.y) % 7

    def resets(self, number: int) -> None:
        self.y = number

    @action
    def sums(self) -> None:
        before = self.total()
        self.y = (self.y + 1) % 7
        if self.x > 2:
            self.resets(before)
        self.x = (before + self.total() * 2) % 7
"""


@pytest.mark.usefixtures("shares")
def test_calls_in_other_states_and_on_other_paths_share_nothing(tmp_path: Path) -> None:
    with imported(STATES, "Levels", tmp_path) as cls:
        assert calls(cls()) >= {"total", "resets"}
        assert_agrees(cls, workers=(1,))
        assert_steps_agree(cls())


ASSIGNED = LEVEL_0 + """
    def total(self) -> int:
        return (self.x + 2 * self.y) % 7

    def difference(self) -> int:
        return (self.x - self.y) % 7

    @action
    def assigns(self) -> None:
        self.x = 1
        self.y = 2
        first = self.total()
        self.y = 3
        self.x = (self.total() - first) % 7

    @action
    def compares(self) -> None:
        self.x = (self.total() + 3 * self.difference()) % 7
"""


@pytest.mark.usefixtures("shares")
def test_a_call_shares_neither_with_one_of_other_constants_nor_with_another_function(tmp_path: Path) -> None:
    with imported(ASSIGNED, "Levels", tmp_path) as cls:
        assert calls(cls()) == {"total", "difference"}
        assert_steps_agree(cls())


@pytest.mark.usefixtures("shares")
def test_an_effect_within_shared_functions_is_seen(tmp_path: Path) -> None:
    with imported(EFFECTS, "Levels", tmp_path) as cls, pytest.raises(ModelError) as refused:
        read_program(cls(), {})
    assert "a guard must not change the state" in refused.value.message


@pytest.mark.usefixtures("shares")
def test_a_failure_in_a_shared_function_is_one_of_its_caller(tmp_path: Path) -> None:
    with imported(FAILURES, "Levels", tmp_path) as cls:
        assert_steps_agree(cls(), count=49)


@pytest.mark.usefixtures("shares")
def test_calls_with_other_constants_share_nothing(tmp_path: Path) -> None:
    with imported(CONSTANTS, "Levels", tmp_path) as cls:
        assert_agrees(cls, workers=(1,))
        assert_steps_agree(cls())


@pytest.mark.usefixtures("shares")
def test_a_set_without_an_order_does_not_share_with_one_that_has_it(tmp_path: Path) -> None:
    with imported(ORDERS.format("Set({2, self.x})"), "Orders", tmp_path) as cls:
        assert calls(cls()) == {"last"}
    with imported(ORDERS.format("{2, self.x}"), "Orders", tmp_path) as cls, pytest.raises(ModelError) as refused:
        read_program(cls(), {})
    assert "no fixed order" in refused.value.message
