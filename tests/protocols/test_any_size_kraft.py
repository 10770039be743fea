"""Proofs of KIP-595 for any number of voters."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import read
from floodmark.checkers.search_result import Options
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.methods.induction import check_obligations, confirm, induction
from floodmark.checkers.symbolic.methods.lemmas import lemmas_of
from floodmark.checkers.symbolic.tactics import portfolio
from floodmark.checkers.symbolic.tactics.budget import MAX_EFFORT
from floodmark.checkers.symbolic.translate.obligations import TYPES
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.checkers.verdict.check import Check, CheckSettings, checks, variant_name
from floodmark.language.model import Model
from tests.support.any_size_protocols import SPECS, as_invariants, check_of, seeded


def _quorum(**constants: int) -> tuple[Model, list[Property]]:
    """KIP-595 with the properties that its recorded proof is about, and the lemmas."""
    spec = read(SPECS / "kraft" / "quorum.toml")
    (proving,) = (proving for proving in spec.prove if proving.any_size)
    model = Check(spec, None, CheckSettings(constants={**proving.constants, **constants})).model()
    found = spec.properties(type(model))
    return model, [*(found[name] for name in proving.properties), *lemmas_of(spec, type(model))]


@pytest.mark.slow
def test_no_vote_gives_an_epoch_two_leaders_whatever_the_number_of_voters() -> None:
    """The two obligations that Raft's argument is about: who has a majority leads, once."""
    model, every = _quorum()
    records = ("log", "record", "offset")
    properties = [it for it in every if not any(word in it.name for word in records)]
    names, counting = any_size_constants(model)
    assert (names, counting) == (["voters", "max_epoch", "max_restarts"], ["voters"])
    system = system_of(model, properties, names, any_size=True)
    wanted = [(action, "election_safety") for action in ("election_timeout", "candidate_requests_vote")]
    assert [it.outcome for it in check_obligations(system, properties, wanted)] == ["proved", "proved"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_elections_and_logs_of_kip_595_are_proved_for_any_number_of_voters_and_epochs(seed: int) -> None:
    model, properties = _quorum()
    names, _ = any_size_constants(model)
    with patch.object(portfolio, "STRATEGIES", seeded(seed)):
        proof = induction(system_of(model, properties, names, any_size=True), properties)
    assert proof.failing() == []
    assert len(proof.obligations) > 200


@pytest.mark.slow
@pytest.mark.parametrize("voters", [2, 3, 4])
def test_the_lemmas_about_elections_and_logs_hold_in_the_reachable_states(voters: int) -> None:
    smaller = {"max_epoch": 1, "max_log": 1, "max_restarts": 0} if voters == 4 else {"max_log": 1, "max_restarts": 1}
    model, properties = _quorum(voters=voters, **smaller)
    judged = as_invariants(properties)
    found = search_states(model, judged, Options(workers=1))
    assert found.violations == []
    assert found.complete


def _breaks_elections_or_logs() -> list[tuple[str, str]]:
    """The known-bad designs that break what is proved of any number of voters, with what they break."""
    spec = read(SPECS / "kraft" / "quorum.toml")
    (proving,) = (proving for proving in spec.prove if proving.any_size)
    flawed = [it for it in checks(spec, CheckSettings()) if it.flawed is not None]
    return [(variant_name(it), str(it.wanted_property)) for it in flawed if it.wanted_property in proving.properties]


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "broken"), _breaks_elections_or_logs())
def test_a_known_bad_election_is_not_proved(variant: str, broken: str) -> None:
    """At some number of voters an obligation fails, and none that fails there is proved for every number."""
    check = check_of("specs/kraft/quorum.toml", variant)
    _, properties = _quorum()
    small = {"max_epoch": 2, "max_log": 2 if broken == "log_matching" else 1, "max_restarts": 1}
    model = check.cls()(**{**check.spec.constants, **small, "lossy_restarts": True, "progress_timeout": False})
    voters = 2 if variant == "HalfIsEnough" else 3
    sized = type(model)(**{**model.constant_values, "voters": voters})
    proof = induction(system_of(sized, properties), properties, effort=MAX_EFFORT)
    failing = [it for it in proof.failing() if it.outcome == "fails"]
    assert failing
    for obligation in failing:
        confirm(sized, properties, obligation)
    names, _ = any_size_constants(model)
    system = system_of(model, properties, names, any_size=True)
    wanted = [(it.action, it.property) for it in failing]
    with patch.object(portfolio, "STRATEGIES", portfolio.STRATEGIES[:3]):
        assert [it for it in check_obligations(system, properties, wanted) if it.outcome == "proved"] == []


COMPLETE = ("leader_completeness", "committed_records_stay", "majority_holds_committed")


def _completeness(cls: type[Model]) -> list[Property]:
    """What the recorded proof of leader completeness is about, with its lemmas."""
    spec = read(SPECS / "kraft" / "completeness.toml")
    (proving,) = (proving for proving in spec.prove if proving.any_size)
    found = spec.properties(cls)
    return [*(found[name] for name in proving.properties), *lemmas_of(spec, cls)]


@pytest.mark.slow
@pytest.mark.parametrize("voters", [2, 3, 4])
def test_the_lemmas_about_committed_records_hold_in_the_reachable_states(voters: int) -> None:
    spec = read(SPECS / "kraft" / "completeness.toml")
    smaller = {"max_log": 1, "max_restarts": 0} if voters == 4 else {"progress_timeout": True}
    model = Check(spec, None, CheckSettings(constants={"voters": voters, **smaller})).model()
    judged = as_invariants(_completeness(type(model)))
    found = search_states(model, judged, Options(workers=1))
    assert found.violations == []
    assert found.complete


def _of_any_size() -> tuple[System, list[Property]]:
    """The same with any number of voters, epochs and restarts."""
    spec = read(SPECS / "kraft" / "completeness.toml")
    (proving,) = (proving for proving in spec.prove if proving.any_size)
    model = Check(spec, None, CheckSettings(constants=dict(proving.constants))).model()
    properties = _completeness(type(model))
    return system_of(model, properties, any_size_constants(model)[0], any_size=True), properties


ACTIONS = (
    "election_timeout",
    "candidate_requests_vote",
    "leader_sends_begin_quorum_epoch",
    "fetch_timer_expires",
    "leader_sends_end_quorum_epoch",
    "client_writes",
    "leader_flushes",
    "replica_fetches",
    "replica_restarts",
)


@pytest.mark.slow
@pytest.mark.parametrize("action", ACTIONS)
def test_an_action_preserves_leader_completeness_whatever_the_number_of_voters(action: str) -> None:
    """And every other property and lemma of the recorded proof."""
    system, properties = _of_any_size()
    assert {fired.action.name for fired in system.fired} == {*ACTIONS}
    names = [TYPES, *(it.name for it in properties)]
    found = check_obligations(system, properties, [(action, name) for name in names])
    assert {it.property: it.outcome for it in found} == dict.fromkeys(names, "proved")


@pytest.mark.slow
def test_a_leader_that_counts_unflushed_records_is_not_proved_for_any_number_of_voters() -> None:
    """Nor path by path, where questions are made simpler and less is assumed."""
    model = check_of("specs/kraft/quorum.toml", "CountsUnflushedRecords").model()
    sized = type(model)(**{**model.constant_values, "voters": 3, "progress_timeout": False})
    properties = _completeness(type(sized))
    system = system_of(sized, properties, any_size_constants(sized)[0], any_size=True)
    by_paths = [it for it in portfolio.STRATEGIES if it.paths]
    with (
        patch.object(portfolio, "STRATEGIES", by_paths),
        patch.object(portfolio, "THOROUGH", [it for it in portfolio.THOROUGH if it.view != "everything"]),
    ):
        (found,) = check_obligations(system, properties, [("client_writes", "majority_holds_committed")])
    assert found.outcome == "undetermined"


def _breaks_completeness() -> list[str]:
    flawed = [it for it in checks(read(SPECS / "kraft" / "quorum.toml"), CheckSettings()) if it.flawed is not None]
    return [variant_name(it) for it in flawed if it.wanted_property in COMPLETE]


@pytest.mark.slow
@pytest.mark.parametrize("variant", _breaks_completeness())
def test_a_design_that_loses_committed_records_is_not_proved(variant: str) -> None:
    """With logs as long as it takes to lose a record by this design; nor is it for any number of voters."""
    model = check_of("specs/kraft/quorum.toml", variant).model()
    constants = {"voters": 3, "max_epoch": 3, "max_restarts": 1, "progress_timeout": False}
    sized = type(model)(**{**model.constant_values, **constants})
    properties = _completeness(type(sized))
    proof = induction(system_of(sized, properties), properties, effort=10 * MAX_EFFORT)
    failing = [it for it in proof.failing() if it.outcome == "fails"]
    assert failing
    for obligation in failing:
        confirm(sized, properties, obligation)
    system = system_of(sized, properties, any_size_constants(sized)[0], any_size=True)
    wanted = [(it.action, it.property) for it in failing]
    (by_paths,) = (it for it in portfolio.STRATEGIES if it.paths)
    as_a_whole = [*portfolio.STRATEGIES[:3], replace(by_paths, paths=1)]
    with (
        patch.object(portfolio, "STRATEGIES", as_a_whole),
        patch.object(portfolio, "THOROUGH", portfolio.THOROUGH[:2]),
    ):
        assert [it for it in check_obligations(system, properties, wanted) if it.outcome == "proved"] == []
