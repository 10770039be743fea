"""Models and claims that were once proved wrongly because a z3 number wrapped around or two symbols shared a name."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

import pytest
import z3

from floodmark import (
    Between,
    Capacity,
    Identifier,
    Map,
    Model,
    Seq,
    Set,
    action,
    boundary,
    initial,
    invariant,
    require,
)
from floodmark.checkers.project.claim import read_claims
from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.methods.bmc import search
from floodmark.checkers.symbolic.methods.claims import ClaimResult, ask
from floodmark.checkers.symbolic.methods.ic3 import infer
from floodmark.checkers.symbolic.methods.induction import induction
from floodmark.checkers.symbolic.methods.k_induction import k_induction
from floodmark.checkers.symbolic.methods.unrolling import Unrolling
from floodmark.checkers.symbolic.terms.symbols import SymbolFactory
from floodmark.checkers.symbolic.translate.transition_system import System, Transition, system_of
from floodmark.checkers.symbolic.values.types import MAX_SLOTS, UnsupportedError
from floodmark.compiler.ir import Expr
from floodmark.compiler.node_builder import NodeBuilder
from floodmark.language.types import IntType
from tests.support.projects import write
from tests.support.symbolic_agreement import assert_steps_agree
from tests.support.term_audit import assert_nothing_wraps

Offset = Annotated[int, Between(0, 6)]


class Watermarks(Model):
    """The loop's counter runs beyond what the variables hold."""

    committed: Offset = 0
    end: Offset = 0

    @action
    def append(self) -> None:
        require(self.end < 6)
        self.end += 1

    @action
    def commit(self) -> None:
        require(self.committed < self.end)
        self.committed += 1

    @invariant
    def p(self) -> bool:
        return self.committed < 3 or any(offset < self.end for offset in range(self.committed, self.end))


class Downward(Watermarks):
    @invariant
    def p(self) -> bool:
        return self.committed < 3 or any(offset > 0 for offset in range(-self.end, -self.committed - 7, -5))


class Cube(Model):
    """The third power of 2**22 has more than 64 bits."""

    x: Annotated[int, Between(0, 4194304)] = 2097152

    @action
    def double(self) -> None:
        require(self.x == 2097152)
        self.x *= 2

    @invariant
    def p(self) -> bool:
        return self.x * self.x * self.x < 100 or self.x < 4194304


class Wide(Cube):
    """So has a sum of such."""

    @invariant
    def p(self) -> bool:
        return sum(self.x * self.x * self.x for i in range(3)) > self.x * 1000000


class Role(Enum):
    """Its members are printed alike."""

    LEADER = 1
    LEARNER = 2

    def __repr__(self) -> str:
        return self.name[0]


class Votes(Model):
    votes: Map[Role, bool]

    @initial
    def start(self) -> None:
        self.votes = Map({role: False for role in Role})

    @action
    def vote(self, role: Role) -> None:
        self.votes[role] = True

    @invariant
    def p(self) -> bool:
        return not self.votes[Role.LEADER]


class Length(Model):
    """An action ``len`` with a parameter ``x`` beside a sequence ``x``."""

    x: Annotated[Seq[bool], Capacity(3)]
    y: Annotated[int, Between(0, 3)] = 0

    @initial
    def start(self) -> None:
        self.x = Seq([True, True])

    @action
    def len(self, x: Annotated[int, Between(0, 3)]) -> None:
        self.y = x

    @invariant
    def p(self) -> bool:
        return self.y in (0, 2)


class Marks(Model):
    """Variables that are called as the marks of the methods were."""

    bad: bool = False
    goal: bool = False
    x: Annotated[int, Between(0, 3)] = 0

    @action
    def up(self) -> None:
        require(self.x < 3)
        self.x += 1

    @invariant
    def p(self) -> bool:
        return self.bad or self.goal or self.x < 2


class One(Identifier, count=2, prefix="b"):
    """Printed as the identifiers of the other class are."""


class Other(Identifier, count=2, prefix="b"):
    """Printed as the identifiers of the first class are."""


class Prefixes(Model):
    ones: Set[One] = Set()
    others: Map[Other, bool]

    @initial
    def start(self) -> None:
        self.others = Map({other: False for other in Other})

    @action
    def take(self, one: One) -> None:
        self.ones.add(one)

    @action
    def pick(self, other: Other) -> None:
        require(len(self.ones) == 2)
        self.others[other] = True

    @invariant
    def p(self) -> bool:
        return not self.others[Other(2)]


VIOLATED: list[type[Model]] = [Watermarks, Downward, Cube, Votes, Length, Marks, Prefixes]


def _properties(model: Model) -> list[Property]:
    methods = type(model).methods("invariant")
    return [Property(name, "invariant", function, __file__, 1, "") for name, function in methods.items()]


def _of(cls: type[Model]) -> tuple[System, list[Property]]:
    model = cls()
    properties = _properties(model)
    return system_of(model, properties), properties


@pytest.mark.parametrize("cls", VIOLATED)
def test_what_cpython_violates_no_method_proves(cls: type[Model]) -> None:
    system, properties = _of(cls)
    assert search(system, properties, 12).violation is not None
    assert induction(system, properties).outcome == "fails"
    assert k_induction(system, properties, 12).violation is not None
    if cls is not Cube:  # which has a number with more values than inference asks about
        assert infer(system, properties).refuted


def test_a_sum_beyond_machine_words_is_exact() -> None:
    system, properties = _of(Wide)
    assert search(system, properties, 3).violation is None
    assert induction(system, properties).outcome == "proved"


@pytest.mark.parametrize("cls", [*VIOLATED, Wide])
def test_nothing_wraps_around_in_their_terms(cls: type[Model]) -> None:
    assert_nothing_wraps(_of(cls)[0])


@pytest.mark.parametrize("cls", [Watermarks, Downward, Votes, Length, Prefixes])
def test_their_steps_are_those_of_cpython(cls: type[Model]) -> None:
    assert_steps_agree(cls())


class Difference(Model):
    x: Offset = 0
    y: Offset = 3

    @action
    def subtract(self) -> None:
        self.y = self.x - self.y

    @invariant
    def p(self) -> bool:
        return True


def test_a_number_is_compared_with_its_range_where_the_compiler_sees_no_need() -> None:
    """The mistake planted: the compiler's interval of a subtraction is the variable's range."""
    real = NodeBuilder.arithmetic

    def planted(self: NodeBuilder, *arguments: Any) -> Expr:
        made = real(self, *arguments)
        made.type = IntType(0, 6)
        return made

    with patch.object(NodeBuilder, "arithmetic", planted):
        system, properties = _of(Difference)
    found = search(system, properties, 2)
    assert found.violation is not None
    assert found.violation.kind == "error"
    assert induction(system, properties).outcome == "fails"


# Symbols.


def _names(terms: Sequence[object]) -> list[str]:
    return [str(term) for term in terms]


@pytest.mark.parametrize("cls", [Votes, Length, Marks, Prefixes])
def test_no_two_symbols_of_a_system_have_one_name(cls: type[Model]) -> None:
    system, _ = _of(cls)
    runs = Unrolling(system)
    runs.extend()
    runs.extend()
    step = Transition(system)
    names = _names([
        *system.now.terms, *(term for state in runs.states for term in state.terms), *step.next.terms, *step.chosen,
        *(term for chosen in runs.choices for term in chosen),
        *(term for own in step.parameters for term in own),
        *(term for taken in runs.parameters for own in taken for term in own),
    ])
    assert len(names) == len(set(names))


def test_a_symbol_that_is_called_as_another_is_another() -> None:
    """The mistake planted: a name without its number."""
    solver = z3.Solver()
    symbols = SymbolFactory()
    solver.add(symbols.truth("bad"), z3.Not(symbols.truth("bad")), symbols.relation("bad", [z3.IntSort()])(1))
    assert solver.check() == z3.sat


# Sets of many slots.


class Many(Model):
    s: Annotated[Set[Annotated[int, Between(0, 2)]], Capacity(65)] = Set()

    @action
    def put(self, v: Annotated[int, Between(0, 2)]) -> None:
        require(len(self.s) < 2)
        self.s.add(v)

    @boundary
    def few(self) -> bool:
        return len(self.s) < 2

    @invariant
    def p(self) -> bool:
        return len(self.s) <= 1


class TooMany(Many):
    s: Annotated[Set[Annotated[int, Between(0, 2)]], Capacity(MAX_SLOTS + 1)] = Set()


def test_a_set_may_have_many_slots() -> None:
    system, properties = _of(Many)
    found = search(system, properties, 3)
    assert found.violation is not None
    assert len(found.violation.trace) == 3
    assert induction(system, properties).outcome == "fails"


def test_a_set_of_too_many_slots_is_refused_where_it_is_declared() -> None:
    with pytest.raises(UnsupportedError, match=f"up to {MAX_SLOTS + 1} elements") as caught:
        _of(TooMany)
    assert caught.value.file == __file__
    assert caught.value.line is not None
    assert "s: Annotated[Set[" in Path(__file__).read_text().splitlines()[caught.value.line - 1]


# Claims.

CLAIMS = """
from __future__ import annotations
from typing import Annotated
from floodmark.claims import fails, holds
from floodmark import Between

FAR = 2305843009213693951

@holds("nowhere")
def squares_are_small(x: Annotated[int, Between(0, 300)]) -> bool:
    return x * x <= 32767

@holds("nowhere")
def large_numbers_have_squares(x: Annotated[int, Between(0, 100000)]) -> bool:
    return x * x >= x and x * x <= 10000000000

@holds("nowhere")
def sums_are_small(x: Annotated[int, Between(-FAR, FAR)], y: Annotated[int, Between(0, FAR)]) -> bool:
    return x + y + y + y <= FAR + FAR + FAR

@holds("nowhere")
def any_number_may_meet_a_bounded_one(x: int, y: Annotated[int, Between(0, 40000)]) -> bool:
    return x * 1 + y >= x

@fails("nowhere")
def counters_stay_below(x: Annotated[int, Between(0, 6)], y: Annotated[int, Between(0, 6)]) -> bool:
    return any(i < y for i in range(x, y)) or x < 3
"""


@pytest.fixture
def answers(tmp_path: Path) -> dict[str, ClaimResult]:
    path = write(tmp_path, {"specs/claims/mine.py": CLAIMS}) / "specs/claims/mine.py"
    return {claim.name: ask(claim) for claim in read_claims(path)}


@pytest.mark.slow
def test_claims_are_about_integers(answers: dict[str, ClaimResult]) -> None:
    assert {name: answered.answer for name, answered in answers.items()} == {
        "squares_are_small": "fails", "large_numbers_have_squares": "holds", "sums_are_small": "fails",
        "any_number_may_meet_a_bounded_one": "holds", "counters_stay_below": "fails",
    }
    assert answers["squares_are_small"].witness == {"x": 182}
    assert answers["counters_stay_below"].witness == {"x": 3, "y": 0}
