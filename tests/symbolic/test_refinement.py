"""A refinement is one more step of a proof, and its initial states are looked at by every method."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.language.errors import SourceError
from tests.support.any_size_protocols import check_of

COMMIT = "specs/examples/transaction_commit.toml"
METHODS = [ProofTask(), ProofTask(method="bmc", depth=12), ProofTask(method="k-induction", depth=12)]


def test_two_phase_commit_is_proved_to_refine_transaction_commit() -> None:
    assert prove_check(check_of(COMMIT), ProofTask()).verdict == "holds"


def test_bounded_search_finds_a_step_that_does_not_refine() -> None:
    task = ProofTask(method="bmc", depth=8, constants={"managers": 3})
    assert prove_check(check_of(COMMIT, "CommitsOnMajority"), task).verdict == "violated"


def test_constants_that_are_left_open_are_refused() -> None:
    with pytest.raises(SourceError, match="constants that have values"):
        prove_check(check_of(COMMIT), ProofTask(any_size=True))


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
