"""Proofs of KIP-497 for any number of brokers."""

from __future__ import annotations

from contextlib import suppress
from unittest.mock import patch

import pytest

from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.spec import read
from floodmark.checkers.search_result import Options
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.methods.induction import check_obligations, induction
from floodmark.checkers.symbolic.tactics import portfolio
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.checkers.verdict.check import CheckSettings, checks, variant_name
from tests.support.any_size_agreement import proved_but_refuted
from tests.support.any_size_protocols import SPECS, all_properties, as_invariants, check_of, seeded

PROVED = ["specs/alter_isr/core.toml", "specs/alter_isr/shipped.toml"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("path", PROVED)
def test_kip_497_is_proved_for_any_number_of_brokers(path: str, seed: int) -> None:
    model, properties = all_properties(check_of(path))
    names, counting = any_size_constants(model)
    assert (names, counting) == (["brokers", "max_offset", "max_partition_epoch", "max_leader_epoch"], ["brokers"])
    with patch.object(portfolio, "STRATEGIES", seeded(seed)):
        proof = induction(system_of(model, properties, names, any_size=True), properties)
    assert proof.failing() == []
    assert len(proof.obligations) > 500


@pytest.mark.slow
@pytest.mark.parametrize("brokers", [2, 3, 4])
@pytest.mark.parametrize("path", PROVED)
def test_lemmas_hold_in_the_reachable_states_of_a_few_sizes(path: str, brokers: int) -> None:
    check = check_of(path)
    _, properties = all_properties(check)
    judged = as_invariants(properties)
    smaller = {"max_offset": 1, "max_partition_epoch": 2, "max_leader_epoch": 1}
    model = type(check.model())(**{**check.spec.constants, **smaller, "brokers": brokers})
    found = search_states(model, judged, Options(workers=1))
    assert found.violations == []
    assert found.complete


@pytest.mark.slow
def test_that_there_is_room_in_a_set_is_not_assumed_where_only_the_property_would_show_it() -> None:
    """Updates with the same partition epoch would fit, too. That they do is shown by their partition epochs alone."""
    model, properties = all_properties(check_of("specs/alter_isr/core.toml", "KeepsPartitionEpoch"))
    names, _ = any_size_constants(model)
    system = system_of(model, properties, names, any_size=True)
    with patch.object(portfolio, "STRATEGIES", portfolio.STRATEGIES[:2]):
        (found,) = check_obligations(system, properties, [("controller_fences", "updates_differ_in_partition_epoch")])
    assert found.outcome == "undetermined"


FLAWED = [
    (path, variant_name(check)) for path in PROVED for check in checks(read(SPECS.parent / path), CheckSettings())
    if check.flawed is not None
]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "variant"), FLAWED)
def test_a_known_bad_design_is_not_proved(path: str, variant: str) -> None:
    """With three brokers an obligation fails, and none that fails there is proved for every number.

    Some designs cannot be said for any number, and are refused.
    """
    model, properties = all_properties(check_of(path, variant))
    sized = type(model)(**{**model.constant_values, "brokers": 3})
    failing = [it for it in induction(system_of(sized, properties), properties).failing() if it.outcome == "fails"]
    assert failing
    with suppress(UnsupportedError):
        assert proved_but_refuted(model, properties, (2, 3)) == []
