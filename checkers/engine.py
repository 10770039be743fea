"""What every engine is: something that searches a check's model for states that break its properties.

An engine knows nothing of the run that it is part of. A run asks a cluster for many results at once, and hands it what
finds one; the checks of any other engine run in processes of this machine, beside those of the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

from floodmark.checkers.check import Check
from floodmark.checkers.exploration import Exploration, Watcher
from floodmark.checkers.properties import Property
from floodmark.checkers.result import CheckResult
from floodmark.language.model import Model

RunCheck = Callable[[Check, Watcher | None], CheckResult]
"""Finds the result of one check, whichever engine searches; other processes import it by its name."""


class Engine(ABC):
    """A way to search."""

    @abstractmethod
    def asked_for(self, check: Check) -> bool:
        """Whether ``--engine auto`` means this engine, unless one that comes before it is meant."""

    def load(self) -> None:
        """Imports what a search takes, so that processes that fork from this one begin with it."""
        return

    @abstractmethod
    def explore(
        self, check: Check, model: Model, properties: Sequence[Property], watch: Watcher | None
    ) -> Exploration:
        """Searches the check's model as its options say. Raises SourceError for what cannot be searched."""


class Cluster(Engine):
    """An engine with machines of its own."""

    @abstractmethod
    def run(
        self, every: Sequence[Check], run_check: RunCheck, watcher: Callable[[Check], Watcher | None]
    ) -> Iterator[CheckResult]:
        """Runs checks and gives each result when it is there."""
