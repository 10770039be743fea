"""A refinement is one more step of a proof, and its initial states are looked at by every method."""

from __future__ import annotations

from pathlib import Path

import pytest

import floodmark
from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.language.errors import SourceError
from tests.support.any_size_protocols import check_of
from tests.support.engines import TooMany, imported, plain_search, properties_of
from tests.support.refinements import drawn_pair

COMMIT = "specs/examples/transaction_commit.toml"
METHODS = [ProofTask(), ProofTask(method="bmc", depth=12), ProofTask(method="k-induction", depth=12)]


def test_two_phase_commit_is_proved_to_refine_transaction_commit() -> None:
    assert prove_check(check_of(COMMIT), ProofTask()).verdict == "holds"


def test_bounded_search_finds_a_step_that_does_not_refine() -> None:
    task = ProofTask(method="bmc", depth=8, constants={"managers": 3})
    assert prove_check(check_of(COMMIT, "CommitsOnMajority"), task).verdict == "violated"


def _agrees(seed: int, directory: Path) -> str:
    """Bounded search finds what CPython finds of a drawn pair of models, at the same depth; returns the verdict."""
    with imported(drawn_pair(seed), "Impl", directory) as cls:
        try:
            plain, _ = plain_search(cls(), properties_of(cls))
        except (TooMany, SourceError):
            return "nothing"
        if plain.verdict == "error":
            return "nothing"
        depth = min(plain.depth, 5) if plain.shortest is None else plain.shortest
        found = floodmark.prove(cls, method="bmc", depth=depth).verdict
        # Another run of that depth may end in a failing step.
        assert found in (("violated", "error") if plain.verdict == "violated" else ("holds", "undetermined")), seed
        return plain.verdict


def test_bounded_search_agrees_on_drawn_pairs_of_models(tmp_path: Path) -> None:
    assert {_agrees(seed, tmp_path) for seed in range(8)} >= {"holds", "violated"}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(8, 308, 50))
def test_bounded_search_agrees_on_many_drawn_pairs_of_models(first: int, tmp_path: Path) -> None:
    assert {_agrees(seed, tmp_path) for seed in range(first, first + 50)} >= {"holds", "violated"}


STARTS_ELSEWHERE = '''
from floodmark import Model, action, refines

class Counter(Model):
    even: bool = True

    @action
    def counts(self) -> None:
        self.even = not self.even

class Begins(Model):
    odd: bool = True

    @action
    def counts(self) -> None:
        self.odd = not self.odd

    @refines
    def as_counter(self) -> Counter:
        return Counter(even=not self.odd)
'''


@pytest.mark.parametrize("task", METHODS, ids=lambda task: task.method)
def test_no_method_misses_an_initial_state_that_does_not_refine(task: ProofTask, tmp_path: Path) -> None:
    (tmp_path / "begins.py").write_text(STARTS_ELSEWHERE)
    (tmp_path / "begins.toml").write_text('model = "begins.py:Begins"\n')
    check: Check = checks(read(tmp_path / "begins.toml"), CheckSettings())[0]
    proved = prove_check(check, task)
    assert (proved.verdict, proved.broken) == ("violated", "as_counter")
