"""Tests the hashes of what a check searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.checkers.gate import job
from floodmark.checkers.gate.closure import Closure
from floodmark.checkers.gate.job import CheckJob
from floodmark.checkers.project.spec import read_all
from floodmark.checkers.verdict.check import CheckSettings, checks

SPEC = Path("specs/alter_isr/core.toml")


def jobs() -> list[CheckJob]:
    return [
        CheckJob(check.spec.name, None if check.flawed is None else check.flawed.name, check)
        for spec in read_all(SPEC)
        for check in checks(spec, CheckSettings())
    ]


def test_sources_do_not_depend_on_what_was_checked_before() -> None:
    alone = {}
    for each in jobs():
        job._model_source.cache_clear()
        alone[each.name, each.variant] = each.model_sources()
    assert len({sources["source"] for sources in alone.values()}) == len(alone), "each design has its own source"
    for order in (jobs(), jobs()[::-1]):
        assert {(each.name, each.variant): each.model_sources() for each in order} == alone


@pytest.mark.parametrize("part", ["definitions", "_known", "_loaded"])
def test_copy_of_a_closure_grows_independently(part: str) -> None:
    first, *_ = jobs()
    closure = Closure()
    closure.add([first.check.spec.model_class()])
    before = len(getattr(closure, part))
    closure.copy().add([each for prop in first.check.properties() for each in prop.functions], [Path(__file__)])
    assert len(getattr(closure, part)) == before
