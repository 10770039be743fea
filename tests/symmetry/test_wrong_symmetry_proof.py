"""A search whose symmetry proof is wrong meets a state that is not as symmetric as it says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest

from floodmark import Between, Constant, Identifier, Model, Set, action, invariant, require
from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.native.search import search_states
from floodmark.checkers.search import symmetry
from floodmark.checkers.search_result import Options
from floodmark.checkers.symmetry import proof
from tests.support.engines import properties_of


class Bee(Identifier, count="bees", prefix="b"):
    """A bee."""


class Strikes(Model):
    """The second bee alone may strike, and only in one of all the places where there can be one."""

    bees = Constant(3)
    landed: Set[Bee] = Set()
    x: Annotated[int, Between(0, 60)] = 0
    y: Annotated[int, Between(0, 60)] = 0
    struck: bool = False

    def may(self, bee: Bee) -> bool:
        require(bee == Bee(2))
        return True

    @action
    def goes_right(self) -> None:
        require(self.x < 60)
        self.x += 1

    @action
    def goes_up(self) -> None:
        require(self.y < 60)
        self.y += 1

    @action
    def lands(self, bee: Bee) -> None:
        require(len(self.landed) == 0)
        self.landed = self.landed | {bee}

    @action
    def strikes(self, bee: Bee) -> None:
        require(bee in self.landed and self.x == 50 and self.y == 17)
        require(self.may(bee))
        self.struck = True

    @invariant
    def nobody_strikes(self) -> bool:
        return not self.struck


class Knows(Strikes):
    """All may do the same, and a property knows one of them."""

    def may(self, bee: Bee) -> bool:
        return True

    @invariant
    def nobody_strikes(self) -> bool:
        return not (self.x == 50 and self.y == 17 and Bee(2) in self.landed)


@pytest.fixture
def granted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """z3 proves whatever it is asked."""
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path))
    monkeypatch.setattr(proof, "_require_proof", lambda *_: None)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("cls", [Strikes, Knows])
def test_a_wrong_symmetry_proof_is_an_internal_error(cls: type[Model], workers: int, granted: None) -> None:
    with pytest.raises(RuntimeError, match=r"a permitted renaming, to .*b2.*, is not one of the compiled code"):
        search_states(cls(), properties_of(cls), Options(workers=workers, symmetry=True))


def test_a_symmetry_proof_names_the_parts_that_z3_proved(granted: None) -> None:
    for cls, proved_by_z3 in ((Strikes, ("strikes",)), (Lands, ())):
        kernel = build_kernel(cls(), {}, True)
        assert kernel.symmetry_proof is not None
        assert tuple(kernel.interface.actions[place] for place in kernel.symmetry_proof.proved_by_z3) == proved_by_z3


class Lands(Model):
    """All bees are alike."""

    bees = Constant(3)
    landed: Set[Bee] = Set()

    @action
    def lands(self, bee: Bee) -> None:
        self.landed = self.landed | {bee}


@pytest.mark.parametrize(("steps", "part", "least", "most"), [(1 << 16, 256, 20, 20), (48, 1, 1, 20), (8, 256, 0, 3)])
def test_a_small_search_compares_all_its_states_and_a_large_one_some(
    steps: int, part: int, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []
    confirm = symmetry._Comparison.confirm

    def counting(self: symmetry._Comparison, rows: symmetry.Rows, expand: str) -> None:
        confirm(self, rows, expand)
        compared.append(self.compared)

    monkeypatch.setattr(symmetry._Comparison, "confirm", counting)
    monkeypatch.setattr(symmetry, "STEPS", steps)
    monkeypatch.setattr(symmetry, "PART", part)
    found = search_states(Lands(), [], Options(workers=1, symmetry=True))
    assert found.distinct == 4
    assert least <= compared[-1] <= most
