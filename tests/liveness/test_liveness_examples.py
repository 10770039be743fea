"""Known answers: the fairness that the algorithms of the literature need."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import read
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.verdict.check import CheckSettings, checks

EXAMPLES = Path("specs/examples")


def example(name: str, variant: str | None = None) -> SearchResult:
    for check in checks(read(EXAMPLES / f"{name}.toml"), CheckSettings(workers=1)):
        if (check.flawed and check.flawed.name) == variant:
            result = run_check(check)
            assert result.search_result is not None, result.message
            return result.search_result
    raise AssertionError(name)


def needs(name: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for finding in example(name).liveness:
        assert finding.verdict == "holds"
        found.setdefault(finding.property, set()).update(finding.needs)
    return found


def each(kind: str, *actions: str) -> set[str]:
    return {f"{action} weakly fair for each {kind}" for action in actions}


def test_peterson_starves_nobody() -> None:
    assert needs("peterson") == {"who_wants_to_enter_does": each("process", "gives_way", "enters", "leaves")}
    stays = example("peterson", "StaysInside").violations[0]
    assert (len(stays.trace), stays.loop) == (6, 5)


def test_dekker_starves_nobody() -> None:
    wanted = each("process", "enters", "backs_off", "tries_again", "hands_over", "leaves")
    assert needs("dekker") == {"who_wants_to_enter_does": wanted}
    retries = example("dekker", "TriesAtOnce").violations[0]
    assert (len(retries.trace), retries.loop) == (5, 2)


def test_the_alternating_bit_needs_strong_fairness_of_both_channels() -> None:
    arrives = {"sends weakly fair", "receives strongly fair"}
    goes_on = arrives | {"hears strongly fair"}
    assert needs("alternating_bit") == {"a_message_arrives": arrives, "the_sender_goes_on": goes_on}
    loses = example("alternating_bit", "LosesEverything").violations[0]
    assert (len(loses.trace), loses.loop) == (3, 0)


def test_two_phase_commit_decides_if_nobody_fails() -> None:
    learns = each("manager", "manager_learns_of_commit", "manager_learns_of_abort")
    assert needs("two_phase_commit_progress") == {
        "everybody_decides": {"coordinator_aborts weakly fair"} | learns,
        "a_decision_can_be_reached": set(),
    }
    assert example("two_phase_commit_progress", "CoordinatorFails").violations[0].property == "everybody_decides"


def test_dijkstras_ring_stabilises_whoever_moves() -> None:
    moves = {"moves weakly fair"}
    assert needs("token_ring") == {
        "one_is_privileged": moves, "the_privilege_goes_round": moves, "all_can_agree": set(),
    }  # fmt: skip
    few = example("token_ring", "TooFewNumbers").violations[0]
    assert (len(few.trace), few.loop) == (9, 0)


@pytest.mark.parametrize(("numbers", "verdict"), [(2, "violated"), (3, "holds"), (4, "holds")])
def test_dijkstras_ring_needs_one_number_fewer_than_machines(numbers: int, verdict: str) -> None:
    from specs.examples.token_ring import TokenRing

    properties = [collect(TokenRing, [])["one_is_privileged"]]
    [finding] = native.search_states(TokenRing(numbers=numbers), properties, Options(workers=1)).liveness
    assert finding.verdict == verdict
