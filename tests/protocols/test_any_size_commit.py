"""Proofs of two-phase commit and of Paxos Commit for any number of managers."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from floodmark.checkers.native.search import search_states
from floodmark.checkers.search_result import Options
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.attempts.attempt import NO_INTEGER_LIMIT
from floodmark.checkers.symbolic.crosscheck.countermodels import countermodels
from floodmark.checkers.symbolic.methods.induction import check_obligations, confirm, induction
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.tactics import portfolio
from floodmark.checkers.symbolic.tactics.budget import MAX_EFFORT
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.verdict.result import ExitCode
from tests.support.any_size_protocols import all_properties, as_invariants, check_of, seeded


@pytest.mark.slow
def test_two_phase_commit_is_consistent_for_any_number_of_managers() -> None:
    proved = prove_check(check_of("specs/examples/two_phase_commit.toml"), ProofTask(any_size=True))
    assert proved.verdict == "holds"
    assert "for every managers with managers >= 1; true of all 288 reachable states" in proved.headline
    searched, again, limit = proved.lines
    assert searched.endswith("managers = 3 (288 states); managers = 4 (1,568 states); managers = 5 (8,832 states)")
    assert again == "proved again with managers = 1; managers = 2"
    assert limit == NO_INTEGER_LIMIT


@pytest.mark.slow
def test_a_countermodel_has_a_size_and_cpython_takes_its_step() -> None:
    proved = prove_check(
        check_of("specs/examples/two_phase_commit.toml", "CommitsOnMajority"), ProofTask(any_size=True)
    )
    assert (proved.verdict, proved.exit_code) == ("undetermined", ExitCode.UNDETERMINED)
    assert proved.lines[:2] == [
        "coordinator_commits does not preserve everyone_prepared_before_a_commit",
        "    in a state, with managers = 3, which is not reachable: a lemma that excludes it is missing:",
    ]


PAXOS = "specs/examples/paxos_commit.toml"
LATER = "later_proposals_agree_with_what_may_be_chosen"
HARD = [
    ("leader_proposes", LATER),
    ("acceptor_promises", LATER),
    ("leader_commits", "there_is_one_decision"),
    ("leader_aborts", "there_is_one_decision"),
    ("leader_commits", "commit_was_chosen_everywhere"),
]
"""What z3 does not answer with all assumptions about everything."""


@pytest.mark.slow
def test_paxos_commit_chooses_one_value_whatever_the_number_of_managers_acceptors_and_ballots() -> None:
    """Paxos's own argument, with what is assumed looked at as said of witnesses, and of what few managers need."""
    model, properties = all_properties(check_of(PAXOS))
    names, counting = any_size_constants(model)
    assert (names, counting) == (["managers", "acceptors", "max_ballot"], ["managers", "acceptors"])
    system = system_of(model, properties, names, any_size=True)
    views = [it for it in portfolio.STRATEGIES if it.view != "everything"]
    witnesses = [replace(it, effort=times * it.effort) for times in (1, 10) for it in views]
    with patch.object(portfolio, "STRATEGIES", witnesses):
        assert [it.outcome for it in check_obligations(system, properties, HARD)] == ["proved"] * len(HARD)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_paxos_commit_is_proved_for_any_number_of_managers_acceptors_and_ballots(seed: int) -> None:
    model, properties = all_properties(check_of(PAXOS))
    names, _ = any_size_constants(model)
    with patch.object(portfolio, "STRATEGIES", seeded(seed)):
        proof = induction(system_of(model, properties, names, any_size=True), properties)
    assert proof.failing() == []
    assert len(proof.obligations) > 150


@pytest.mark.slow
@pytest.mark.parametrize(("managers", "acceptors", "max_ballot"), [(1, 4, 2), (2, 3, 1), (3, 2, 1), (4, 1, 1)])
def test_lemmas_about_paxos_commit_hold_in_the_reachable_states(managers: int, acceptors: int, max_ballot: int) -> None:
    model, properties = all_properties(check_of(PAXOS))
    sized = type(model)(managers=managers, acceptors=acceptors, max_ballot=max_ballot)
    found = search_states(sized, as_invariants(properties), Options(workers=1))
    assert found.violations == []
    assert found.complete


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["VotesInEarlierBallots", "ProposesToAbort"])
def test_a_paxos_commit_that_chooses_twice_is_not_proved(variant: str) -> None:
    """With two managers an obligation fails, and none that fails there is proved for every number."""
    model, properties = all_properties(check_of(PAXOS, variant))
    proof = induction(system_of(model, properties), properties, effort=10 * MAX_EFFORT)
    failing = [it for it in proof.failing() if it.outcome == "fails"]
    assert failing
    for obligation in failing:
        confirm(model, properties, obligation)
    names, _ = any_size_constants(model)
    wanted = [(it.action, it.property) for it in failing]
    with patch.object(portfolio, "STRATEGIES", portfolio.STRATEGIES[:8]):
        found = check_obligations(system_of(model, properties, names, any_size=True), properties, wanted)
    assert [it for it in found if it.outcome == "proved"] == []


def test_a_countermodel_is_a_function_of_the_question() -> None:
    """Whatever z3 was asked before in this process, about the same design or another."""
    path = "specs/examples/election.toml"
    first = {variant: shown_of(path, variant) for variant in ("OneVoteWins", "VotesAgain")}
    later = {variant: shown_of(path, variant) for variant in ("VotesAgain", "OneVoteWins")}
    assert first == later
    assert all(first.values())


def shown_of(path: str, variant: str) -> list[str]:
    model, properties = all_properties(check_of(path, variant))
    _, counting = any_size_constants(model)
    wanted = [(action, prop.name) for action in type(model).methods("action") for prop in properties]
    return [str(it.obligation.counterexample) for it in countermodels(model, properties, counting, wanted)]
