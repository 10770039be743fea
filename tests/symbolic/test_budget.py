"""z3 is limited in resource units, and in seconds only if a user asks: a busy machine gives the same answers."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
import z3

from floodmark.checkers.symbolic.attempts import small_sizes
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.verdict.proof_result import ProofResult
from tests.support.any_size_protocols import check_of

TWO_PHASE = "specs/examples/two_phase_commit.toml"


def _pigeons(holes: int) -> Any:
    """A solver with a question that it takes long to answer: whether each of so many pigeons has a hole of its own."""
    solver = z3.SolverFor("QF_FD")
    at = [[z3.Bool(f"{pigeon} in {hole}") for hole in range(holes)] for pigeon in range(holes + 1)]
    solver.add(*(z3.Or(own) for own in at))
    for hole in range(holes):
        for one, other in itertools.combinations(at, 2):
            solver.add(z3.Or(z3.Not(one[hole]), z3.Not(other[hole])))
    return solver


def test_effort_is_the_same_each_time_and_ends_a_question() -> None:
    spent = []
    for _ in range(2):
        deadline = Deadline(effort=100_000)
        assert deadline.check(_pigeons(9)) == z3.unknown
        assert deadline.ended
        assert str(deadline.reason) == "z3's limit of 100,000 units"
        spent.append(deadline.spent)
    assert spent[0] == spent[1] >= 100_000


def test_questions_share_the_effort_of_a_deadline() -> None:
    deadline = Deadline(effort=1_000_000)
    assert deadline.check(_pigeons(3)) == z3.unsat
    assert 0 < deadline.spent < 1_000_000
    assert not deadline.ended
    before = deadline.spent
    assert deadline.check(_pigeons(9), most=10_000) == z3.unknown
    assert not deadline.ended
    assert deadline.spent - before < 500_000


def test_seconds_that_are_asked_for_end_a_question_without_effort() -> None:
    deadline = Deadline(0.0)
    assert (deadline.ended, str(deadline.reason), deadline.left) == (True, "the limit of 0 seconds", 0.0)
    assert Deadline().left is None
    assert not Deadline().ended


PROOFS = [
    pytest.param(TWO_PHASE, None, ProofTask(any_size=True), marks=pytest.mark.slow),
    (TWO_PHASE, "CommitsOnMajority", ProofTask(any_size=True)),
    pytest.param(TWO_PHASE, None, ProofTask(method="infer"), marks=pytest.mark.slow),
    pytest.param(
        TWO_PHASE, None, ProofTask(method="k-induction", depth=14, constants={"managers": 2}), marks=pytest.mark.slow
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "variant", "task"), PROOFS)
def test_a_busy_machine_gives_the_same_answer(
    path: str, variant: str | None, task: ProofTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock on which hours go by between any two looks at it stands for a machine that does nearly nothing."""
    check = check_of(path, variant)
    expected = _answer(prove_check(check, task))
    hours = itertools.count(step=7200)
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(hours)))
    assert _answer(prove_check(check, task)) == expected


def _answer(proved: ProofResult) -> tuple[object, ...]:
    """What a proof says; of one that fails what is open, as the countermodel that is shown depends on what z3 was asked
    before in the process: the state may be reachable, or not."""
    facts = [proved.facts.get(name) for name in ("enumerated", "open", "spots")]
    return (proved.verdict, proved.headline, facts) if proved.verdict == "holds" else ("fails", facts[1])


def test_without_effort_for_proving_it_again_nothing_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_sizes, "MAX_EFFORT", 1)
    proved = prove_check(check_of(TWO_PHASE), ProofTask(any_size=True))
    assert proved.verdict == "undetermined"
    assert proved.headline.endswith("but it could not be proved again at any size")
