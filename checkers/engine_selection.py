"""Whether a check runs on Spark."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from floodmark.checkers.run import Check, Settings


def uses_spark(check: Check) -> bool:
    """Whether a check runs on Spark: when it is asked for, and in the deep tier unless another engine is."""
    settings = check.settings
    if settings.engine != "auto":
        return settings.engine == "spark"
    return check.spec.tier == "deep" or asks_for_spark(settings)


def may_move_to_spark(check: Check) -> bool:
    """Whether a search that begins natively goes on in Spark when it outgrows this process."""
    return check.settings.engine == "auto" and all(importlib.util.find_spec(name) for name in ("pyspark", "fcntl"))


def asks_for_spark(settings: Settings) -> bool:
    """Whether an option of the command line makes no sense without Spark."""
    given = (settings.master, settings.checkpoint, settings.resume, settings.keep_states, settings.keep_results)
    return settings.distribute == "always" or any(value is not None for value in given)
