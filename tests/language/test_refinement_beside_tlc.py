"""Where TLC says something of a refinement, this says the same; docs/guide/refinement.md says where the two differ.

TLC's side is that of `Init` and `[Next]_vars` under INSTANCE, and of ``ModelChecker.doNext`` in its source, which asks
an implied action about each step, also about one to a known state or out of the constraint.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.language.errors import SourceError
from tests.support.engines import ENGINES, imported, outcome, plain_search, properties_of

SOURCE = '''
from typing import Annotated
from floodmark import *

Number = Annotated[int, Between(0, 4)]

class Hours(Model):
    hour: Number = 0
    @action
    def goes_on(self) -> None:
        require(self.hour < 4)
        self.hour += 1
{abstract}
class Minutes(Model):
    hour: Number = {start}
    half: bool = False
    @action
    def ticks(self) -> None:
        require(self.hour < 3)
        self.hour += {by} if self.half else 0
        self.half = not self.half
{concrete}
    @refines{steps}
    def as_hours(self) -> Hours:
        return Hours({mapped})
'''
BOUNDED = '''
    @boundary
    def is_early(self) -> bool:
        return self.hour < 2
'''
JUMPS = '''
    @action
    def jumps(self) -> None:
        require(self.hour == 1)
        self.hour = 3
'''
FAILS = '''
    @action
    def fails(self) -> None:
        assert self.hour < 1
        self.hour = 0
'''
WHAT = {
    "a step that leaves every variable of the other model is a stutter": ({}, "holds"),
    "two steps are not one": ({"by": "2"}, "violated"),
    "two steps are one where it is asked for": ({"by": "2", "steps": "(steps=2)"}, "holds"),
    "one step is no more than asked for": ({"steps": "(steps=2)"}, "holds"),
    "an initial state has to be one": ({"start": "1"}, "violated"),
    "the constraint of the other model does not count": ({"abstract": BOUNDED}, "holds"),
    "a step out of the constraint counts": (
        {"concrete": BOUNDED + JUMPS.replace("= 3", "= 4")}, "violated",
    ),
    "no step is asked for beyond the constraint": (
        {"concrete": BOUNDED + JUMPS.replace("== 1", "== 2").replace("= 3", "= 0")}, "holds",
    ),
    "a step to a known state counts": ({"concrete": JUMPS.replace("== 1", "== 2").replace("= 3", "= 0")}, "violated"),
    "a variable that the mapping forgets is hidden": ({"by": "2", "mapped": "hour=0"}, "holds"),
    "an action that fails is an error, also where TLC would not ask it": ({"abstract": FAILS}, "error"),
}


def _source(**parts: str) -> str:
    usual = {"abstract": "", "concrete": "", "start": "0", "by": "1", "steps": "", "mapped": "hour=self.hour"}
    return SOURCE.format(**usual | parts)


@pytest.mark.parametrize("name", WHAT)
def test_every_engine_says_of_small_models_what_the_guide_says(name: str, tmp_path: Path) -> None:
    parts, verdict = WHAT[name]
    with imported(_source(**parts), "Minutes", tmp_path) as cls:
        properties = properties_of(cls)
        plain, _ = plain_search(cls(), properties)
        assert plain.verdict == verdict
        for engine in ENGINES.values():
            assert outcome(engine, cls(), properties) == plain


def test_a_variable_of_the_same_name_is_not_mapped_by_its_name(tmp_path: Path) -> None:
    """With INSTANCE it would be."""
    with imported(_source(mapped=""), "Minutes", tmp_path) as cls:
        (mapping,) = properties_of(cls)
        with pytest.raises(SourceError, match="hour is missing"):
            ENGINES["native, 1 worker"](cls(), [mapping])
