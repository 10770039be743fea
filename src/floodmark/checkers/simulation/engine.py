"""The engine of random walks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from floodmark.checkers.engine import Engine
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import SearchResult, Watcher
from floodmark.checkers.verdict.check import Check
from floodmark.language.model import Model

if TYPE_CHECKING:
    from floodmark.checkers.simulation.walker import WalkPlan


class RandomWalks(Engine):
    """Takes random walks, if a spec or the command requests them."""

    def asked_for(self, check: Check) -> bool:
        return check.walks is not None

    def load(self) -> None:
        from floodmark.checkers.simulation import simulate  # noqa: F401 - with LLVM, which takes a while

    def search(
        self, check: Check, model: Model, properties: Sequence[Property], watch: Watcher | None
    ) -> SearchResult:
        from floodmark.checkers.simulation.simulate import simulate

        return simulate(model, properties, check.options, walking_of(check), watch)


def walking_of(check: Check) -> WalkPlan:
    """The walks that a check requests."""
    from floodmark.checkers.simulation.walker import WalkPlan, WalkStrategy

    walks = check.walks
    assert walks is not None
    return WalkPlan(walks.walks, walks.steps, walks.seed, WalkStrategy[walks.strategy.upper()])
