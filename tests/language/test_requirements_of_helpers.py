"""Tests what a ``require`` in a function means that a guard, a condition or a comprehension calls: where evaluation
gets to it, and it is false, the action is not taken.

Each action below is one place for such a call; z3 and the compiled search have to lead where CPython leads.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.methods.bmc import search
from floodmark.checkers.symbolic.methods.induction import induction
from floodmark.checkers.symbolic.methods.k_induction import k_induction
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.checkers.symmetry.proof import AsymmetryError, prove_symmetry
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.compiler.program import read_program
from floodmark.language.errors import ModelError
from tests.support.engines import ENGINES, imported, outcome, properties_of
from tests.support.projects import write
from tests.support.symbolic_agreement import assert_steps_agree

HEADER = '''\
from __future__ import annotations

from typing import Annotated

from floodmark import *


class Bee(Identifier, count="bees", prefix="b"):
    """One of some."""


class Drawn(Model):
    """A model with functions that require something."""

    bees = Constant(2)
    x: Annotated[int, Between(0, 3)]
    low: Set[Bee]
    few: Annotated[Set[Bee], Capacity(2)]

    @initial
    def start(self) -> None:
        self.x = 0
        self.low = Set()
        self.few = Set()

    def is_small(self) -> bool:
        require(self.x < 3)
        return self.x != 1

    def is_low(self, bee: Bee) -> bool:
        require(bee in self.few or self.x % 2 == 0)
        return bee in self.low

    def number(self, bee: Bee) -> int:
        require(bee not in self.low)
        return 1 if bee in self.few else 0

    def checked(self, bee: Bee) -> bool:
        require(bee in self.low)
        assert self.x < 4
        return self.is_small()

    @action
    def joins(self, bee: Bee) -> None:
        self.low.add(bee)

    @action
    def is_chosen(self, bee: Bee) -> None:
        require(len(self.few) < 2)
        self.few.add(bee)
'''

PLACES = {
    "the guard": "require(self.is_small())",
    "what is not": "require(not self.is_small())",
    "a guard after another": "require(self.x != 2)\n        require(self.is_small())\n        require(self.x != 0)",
    "what may not be asked": "require(self.x == 0 or self.is_small())",
    "both sides": "require(implies(self.x == 3, self.is_small()))",
    "a choice": "require(self.is_small() if self.x > 1 else True)",
    "each of all": "require(all(self.is_low(bee) for bee in Bee))",
    "each of some": "require(any(self.is_low(bee) for bee in self.few))",
    "pairs": "require(any(self.is_low(a) or a == b for a in self.few for b in Bee))",
    "a condition of some": "require(not any(bee in self.few for bee in Bee if self.is_low(bee)))",
    "a set": "require(len(Set(bee for bee in Bee if self.is_low(bee))) > 0)",
    "a sum": "require(sum(self.number(bee) for bee in Bee) > 0)",
    "the largest": "require(max((self.number(bee) for bee in self.few), default=1) > 0)",
    "a call in a call, and an assertion": "require(any(self.checked(bee) for bee in self.few))",
    "the body": "if self.is_small():\n            self.low = Set()",
    "a loop": "for bee in Bee:\n            if self.is_low(bee):\n                break",
}


def test_a_requirement_of_a_function_means_what_it_means_in_cpython_in_every_place(tmp_path: Path) -> None:
    text = HEADER.replace("    few: A", f"    last: Annotated[int, Between(0, {len(PLACES)})] = 0\n    few: A")
    for number, statements in enumerate(PLACES.values(), 1):
        text += f"\n    @action\n    def acts{number}(self) -> None:\n        {statements}\n"
        text += f"        require(self.x < 3)\n        self.x += 1\n        self.last = {number}\n"
    with imported(text, "Drawn", tmp_path) as cls:
        one, other = (outcome(ENGINES[name], cls(), []) for name in ("reference", "native, 1 worker"))
        assert (one.verdict, one.distinct) == (other.verdict, other.distinct) == ("holds", 505)
        assert_steps_agree(cls(), 40)


SAFE = HEADER + '''
    @action
    def acts(self) -> None:
        require(self.is_small())
        self.x += 1

    @invariant
    def law(self) -> bool:
        return self.x <= 3
'''


def test_every_method_proves_what_a_function_of_a_guard_keeps_true(tmp_path: Path) -> None:
    with imported(SAFE, "Drawn", tmp_path) as cls:
        system, properties = system_of(cls(), properties_of(cls)), properties_of(cls)
        assert search(system, properties, 6).violation is None
        assert induction(system, properties).outcome == "proved"
        assert k_induction(system, properties, 1).outcome == "proved"


RUNS = """\
from typing import Annotated

from floodmark import Between, Constant, Model, action, eventually, fair, initial, invariant, ranking, require


class Drawn(Model):
    n = Constant(2)
    x: Annotated[int, Between(0, "n")]

    @initial
    def start(self) -> None:
        self.x = self.n

    def may_fall(self) -> bool:
        require(self.x <= 2)
        return True

    @fair
    @action
    def falls(self) -> None:
        require(self.x > 0)
        require(self.may_fall())
        self.x -= 1

    @eventually
    def ends(self) -> bool:
        return self.x == 0


@ranking("ends", helped_by="falls")
def level(model: Drawn) -> int:
    return model.x
"""


def test_a_helper_of_a_ranking_is_not_enabled_where_a_function_of_its_guard_requires_otherwise(tmp_path: Path) -> None:
    write(tmp_path, {"drawn.py": RUNS, "mine.toml": 'model = "drawn.py:Drawn"\ninvariant_files = ["drawn.py"]\n'})
    check = Check(read(tmp_path / "mine.toml"), None, CheckSettings())
    found = prove_check(check, ProofTask(method="ranking", unbounded=True))
    assert found.verdict == "undetermined"
    assert "ends: no helper is enabled" in found.lines
    assert prove_check(check, ProofTask(method="ranking")).verdict == "holds"


NAMED = HEADER + """
    def is_second(self, bee: Bee) -> bool:
        require(bee == Bee(2))
        return True

    @action
    def acts(self, bee: Bee) -> None:
        require(self.x < 3)
        require(self.is_second(bee))
        self.x += 1
"""


def test_a_name_that_only_a_function_of_a_guard_requires_prevents_the_symmetry_proof(tmp_path: Path) -> None:
    with imported(NAMED, "Drawn", tmp_path) as cls, pytest.raises(AsymmetryError, match=r"Bee\(2\) is named here"):
        prove_symmetry(cls(), {}, read_program(cls(), {}))


IN_NO_ORDER = (
    "require(any(self.is_low(bee) for bee in Bee))",
    "require(all(bee not in self.few for bee in Bee if self.is_low(bee)))",
    "require(all(self.is_low(bee) for bee in self.few))",
    "self.low = Set(bee for bee in Bee if self.is_low(bee))",
    "require(sum(1 for bee in Bee if self.is_low(bee)) < 2)",
    "found = self.low\n        for bee in Bee:\n            if self.is_low(bee):\n"
    "                found = found | {bee}\n        self.low = found",
    "most = 0\n        for bee in Bee:\n            if self.number(bee) > most:\n"
    "                most = self.number(bee)\n        require(most > 0)",
)


@pytest.mark.parametrize("statement", IN_NO_ORDER)
def test_a_requirement_for_each_of_any_number_is_refused_with_its_line(statement: str, tmp_path: Path) -> None:
    text = f"{HEADER}\n    @action\n    def acts(self) -> None:\n        {statement}\n        self.x += 1\n"
    with imported(text, "Drawn", tmp_path) as cls:
        names, _ = any_size_constants(cls())
        with pytest.raises(UnsupportedError, match="let the function return a bool") as raised:
            system_of(cls(), [], names, any_size=True)
        assert raised.value.line is not None
        assert text.splitlines()[raised.value.line - 1].strip().startswith("require(bee ")


def test_a_requirement_before_any_number_is_asked_holds_for_any_number(tmp_path: Path) -> None:
    with imported(SAFE, "Drawn", tmp_path) as cls:
        names, _ = any_size_constants(cls())
        properties = properties_of(cls)
        assert induction(system_of(cls(), properties, names, any_size=True), properties).outcome == "proved"


def test_a_requirement_where_python_has_no_order_is_refused(tmp_path: Path) -> None:
    guard = "require(any(self.number(bee) > 0 for bee in {node for node in self.low}))"
    text = f"{HEADER}\n    @action\n    def acts(self) -> None:\n        {guard}\n"
    with imported(text, "Drawn", tmp_path) as cls, pytest.raises(ModelError, match="has a require"):
        system_of(cls(), [])


def test_a_property_requires_nothing(tmp_path: Path) -> None:
    """The compiler refuses it, and CPython as soon as what is required is false."""
    text = f"{HEADER}\n    @invariant\n    def law(self) -> bool:\n        return self.number(Bee(1)) >= 0\n"
    with imported(text, "Drawn", tmp_path) as cls:
        with pytest.raises(ModelError, match="a property returns a bool instead"):
            read_program(cls(), {"law": cls.methods("invariant")["law"]})
        assert outcome(ENGINES["reference"], cls(), properties_of(cls)).verdict == "error"
