"""The interface of all engines, which search a check's model for states that violate its properties.

An engine is independent of the run that it is part of. A run requests many results from a cluster at once and passes it
the function that finds one; the checks of all other engines run in processes on this machine, in parallel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import SearchResult, Watcher
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language.model import Model

RunCheck = Callable[[Check, Watcher | None], CheckResult]
"""Finds the result of one check with any engine; other processes import the function by name."""


class Engine(ABC):
    """A search engine."""

    @abstractmethod
    def asked_for(self, check: Check) -> bool:
        """Whether ``--engine auto`` selects this engine, unless it selects an earlier one."""

    def load(self) -> None:
        """Imports the modules of a search, so that processes forked from this one start with them loaded."""
        return

    @abstractmethod
    def search(
        self, check: Check, model: Model, properties: Sequence[Property], watch: Watcher | None
    ) -> SearchResult:
        """Searches the check's model with its options. Raises SourceError if the model cannot be searched."""


class ClusterEngine(Engine):
    """An engine with machines of its own."""

    @abstractmethod
    def run(
        self, every: Sequence[Check], run_check: RunCheck, watcher: Callable[[Check], Watcher | None]
    ) -> Iterator[tuple[Check, CheckResult]]:
        """Runs checks and yields each with its result as soon as that is ready."""
