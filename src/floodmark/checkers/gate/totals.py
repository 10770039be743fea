"""Predicts how many states a search will find: from its spec, else from the lock of its project."""

from __future__ import annotations

import functools
from pathlib import Path

from floodmark.checkers.gate import lock
from floodmark.checkers.gate.lock import Lock
from floodmark.checkers.gate.scope import GateScope
from floodmark.checkers.verdict.check import Check
from floodmark.language.errors import SourceError


def states_expected(check: Check) -> int | None:
    """The number of states; None if unknown, as for a known-bad design or with other constants."""
    if check.flawed is not None or check.settings.constants or check.settings.symmetry is not None:
        return None
    if check.spec.expect.distinct is not None:
        return check.spec.expect.distinct
    scope = GateScope.of(check.spec.path.parent)
    locked = _lock(scope.lock)
    if locked is None:
        return None
    entry = locked.specs.get(scope.name_of(check.spec), {})
    known = entry.get("distinct")
    same = entry.get("symmetry", False) == check.symmetry
    return known if isinstance(known, int) and same else None


@functools.cache
def _lock(path: Path) -> Lock | None:
    try:
        return lock.read(path)
    except SourceError:
        return None
