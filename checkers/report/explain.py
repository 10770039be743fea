"""Says why a property is false in a state (stub)."""
from __future__ import annotations
from collections.abc import Sequence
from checkers.exploration import TraceState
from checkers.properties import Property
from model.language.model import Model


def explain(model: Model, prop: Property, trace: Sequence[TraceState]) -> list[str]:
    return []
