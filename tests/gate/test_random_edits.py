"""Tests random models, each with a small random edit: the gate says the same with cached verdicts and without."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.edit_agreement import assert_edits_are_noticed
from tests.support.model_strategy import GeneratedModel, models

EVERY = [Phase.generate]


@pytest.mark.slow
@settings(max_examples=10, derandomize=True, deadline=None, database=None, phases=EVERY,
          suppress_health_check=list(HealthCheck))
@given(models(), st.integers(0, 10**6))
def test_kept_verdicts_are_those_of_a_fresh_run(drawn: GeneratedModel, choice: int) -> None:
    assert_edits_are_noticed(drawn.source(), drawn.name, choice)


@pytest.mark.slow
@settings(max_examples=300, derandomize=True, deadline=None, database=None, phases=EVERY,
          suppress_health_check=list(HealthCheck))
@given(models(), st.integers(0, 10**6))
def test_kept_verdicts_are_those_of_a_fresh_run_of_many_models(drawn: GeneratedModel, choice: int) -> None:
    assert_edits_are_noticed(drawn.source(), drawn.name, choice)
