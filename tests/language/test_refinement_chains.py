"""A model that refines one that refines a third: what is judged of each pair is true of the whole chain."""

from __future__ import annotations

import sys
from pathlib import Path

from floodmark.language.model import Model
from floodmark.language.values import running
from tests.support.engines import ENGINES, imported, outcome, plain_search, properties_of
from tests.support.refinements import oracle

CHAIN = '''
from typing import Annotated
from floodmark import *

Digit = Annotated[int, Between(0, 4)]

class Parity(Model):
    odd: bool = False
    @action
    def flips(self) -> None:
        self.odd = not self.odd

class Count(Model):
    count: Digit = 0
    @action
    def counts(self, by: Annotated[int, Between(1, 2)]) -> None:
        require(by {by} and self.count + by <= 4)
        self.count += by
    @refines
    def as_parity(self) -> Parity:
        return Parity(odd=self.count % 2 == 1)

class Log(Model):
    records: Annotated[Seq[Digit], Capacity(4)] = Seq()
    flushed: Digit = 0
    @action
    def appends(self, record: Digit) -> None:
        require(len(self.records) < 4 and record < 2)
        self.records.append(record)
    @action
    def flushes(self) -> None:
        require(self.flushed < len(self.records))
        self.flushed += {flushes}
    @refines{steps}
    def as_count(self) -> Count:
        return Count(count=self.flushed)
{composed}
'''
COMPOSED = '''
    @refines{steps}
    def as_parity(self) -> Parity:
        return Parity(odd=self.flushed % 2 == 1)
'''
GOOD = {"by": "== 1", "flushes": "1", "steps": "", "composed": ""}


def _verdict(name: str, directory: Path, **changes: str) -> str:
    """The verdict on the refinements of one model of the chain, on which the engines agree."""
    with imported(CHAIN.format(**{**GOOD, **changes}), name, directory) as cls:
        properties = properties_of(cls)
        plain, _ = plain_search(cls(), properties)
        for engine in ENGINES.values():
            assert outcome(engine, cls(), properties) == plain
        return plain.verdict


def _through(directory: Path, most: int, **changes: str) -> bool:
    """Whether the first model, mapped twice, does only what the third one does, as their graphs say."""
    with imported(CHAIN.format(**{**GOOD, **changes}), "Log", directory) as cls:
        module = sys.modules[cls.__module__]

        def composed(model: Model) -> Model:
            middle = module.Log.as_count(model)
            with running(middle):
                found: Model = module.Count.as_parity(middle.at(middle.snapshot()))
                return found

        refines, _, _ = oracle(cls(), composed, most, 1000)
        return refines


def test_a_chain_of_refinements_is_a_refinement(tmp_path: Path) -> None:
    assert (_verdict("Log", tmp_path), _verdict("Count", tmp_path)) == ("holds", "holds")
    assert _through(tmp_path, 1)
    assert _verdict("Log", tmp_path, composed=COMPOSED.format(steps="")) == "holds"


def test_a_link_that_is_broken_need_not_break_the_chain(tmp_path: Path) -> None:
    """Two records at once are no count, and still leave the parity as it is: each link is judged by itself."""
    two = {"flushes": "2 if self.flushed + 2 <= len(self.records) else 1"}
    assert (_verdict("Log", tmp_path, **two), _verdict("Count", tmp_path, **two)) == ("violated", "holds")
    assert _through(tmp_path, 1, **two)


def test_steps_multiply_along_a_chain(tmp_path: Path) -> None:
    """Two records at once are two counts, and two flips, which lead back: a stutter of the whole chain."""
    two = {"flushes": "min(2, len(self.records) - self.flushed)", "steps": "(steps=2)"}
    assert _verdict("Log", tmp_path, **two) == "holds"
    assert _verdict("Log", tmp_path, **{**two, "steps": ""}) == "violated"
    assert _through(tmp_path, 2, **two)
