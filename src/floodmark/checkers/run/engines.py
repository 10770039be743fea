"""The available engines, and which of them searches a check."""

from __future__ import annotations

from collections.abc import Mapping

from floodmark.checkers.engine import ClusterEngine, Engine
from floodmark.checkers.native.engine import NativeEngine
from floodmark.checkers.reference.engine import ReferenceEngine
from floodmark.checkers.simulation.engine import RandomWalks
from floodmark.checkers.spark.engine import SparkEngine
from floodmark.checkers.verdict.check import Check, EngineName

_NATIVE, _SPARK = NativeEngine(), SparkEngine()
_NAMED: Mapping[EngineName, Engine] = {"native": _NATIVE, "spark": _SPARK, "reference": ReferenceEngine()}
_AUTOMATIC: tuple[Engine, ...] = (RandomWalks(), _SPARK, _NATIVE)
"""``--engine auto`` selects the first of these that a check requests."""


def engine_of(check: Check) -> Engine:
    """The engine that searches a check: the one named on the command line, else the one that the check requests."""
    name = check.settings.engine
    if name != "auto":
        return _NAMED[name]
    return next(engine for engine in _AUTOMATIC if engine.asked_for(check))


def cluster_of(check: Check) -> ClusterEngine | None:
    """The cluster that runs a check; None for one that runs on this machine."""
    engine = engine_of(check)
    return engine if isinstance(engine, ClusterEngine) else None
