"""The interface of the reference engine."""

from __future__ import annotations

from collections.abc import Sequence

from floodmark.checkers.engine import Engine
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import SearchResult, Watcher
from floodmark.checkers.verdict.check import Check
from floodmark.language.model import Model


class ReferenceEngine(Engine):
    """The search in CPython, which runs only if it is requested by name."""

    def asked_for(self, check: Check) -> bool:
        return False

    def search(
        self, check: Check, model: Model, properties: Sequence[Property], watch: Watcher | None
    ) -> SearchResult:
        from floodmark.checkers.reference.search import search_states

        return search_states(model, properties, check.options, watch)
