"""Tests symmetry proofs on generated models: every renaming preserves every state's behaviour."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from floodmark.language.errors import ModelError, SourceError
from tests.support.engines import TooMany, imported, properties_of
from tests.support.model_strategy import GeneratedModel, models
from tests.support.symmetric_agreement import look, nameless
from tools.campaign import REFUSALS


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path))
    return tmp_path


def campaign(count: int, number: int, directory: Path) -> Counter[str]:
    """What came of so many models."""
    counts: Counter[str] = Counter()

    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=[Phase.generate], report_multiple_bugs=False)
    @given(models())
    def agree(model: GeneratedModel) -> None:
        for source in {model.source(3), nameless(model.source(3))}:
            with imported(source, model.name, directory) as cls:
                try:
                    counts[look(cls(), properties_of(cls))] += 1
                except TooMany:
                    counts["too wide"] += 1
                except ModelError as error:
                    if not any(reason in error.message for reason in REFUSALS):
                        raise
                    counts["not a model"] += 1
                except SourceError:
                    counts["fails at first"] += 1

    agree()
    return counts


def test_proved_symmetries_hold_in_every_state(own_cache: Path) -> None:
    counts = campaign(8, 1, own_cache)
    print(f"\n{dict(counts)}")
    assert counts["symmetric: holds"] >= 2
    assert counts["refused"] >= 1


@pytest.mark.slow
def test_proved_symmetries_of_many_models_hold_in_every_state(own_cache: Path) -> None:
    counts = campaign(1500, 2, own_cache)
    print(f"\n{dict(counts)}")
    assert counts["symmetric: holds"] >= 200
    assert counts["symmetric: violated"] >= 20
