"""The interface of the native engine."""

from __future__ import annotations

from collections.abc import Sequence

from floodmark.checkers.engine import Engine
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import SearchResult, Watcher
from floodmark.checkers.verdict.check import Check
from floodmark.language.model import Model


class NativeEngine(Engine):
    """Searches in machine code, on this machine: the default engine."""

    def asked_for(self, check: Check) -> bool:
        return True

    def load(self) -> None:
        from floodmark.checkers.native import search  # noqa: F401 - with LLVM, which takes a while

    def search(
        self, check: Check, model: Model, properties: Sequence[Property], watch: Watcher | None
    ) -> SearchResult:
        from floodmark.checkers.native import search

        return search.search_states(model, properties, check.options, watch)
