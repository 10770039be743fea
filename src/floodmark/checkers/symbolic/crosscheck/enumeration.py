"""Cross-checks a proof in every reachable state, with compiled code, which is independent of z3's terms.

A proof and a search share the program's graph and nothing else. Where the states can be enumerated, a proof is reported
only after this check. A difference means that one of the two is wrong: an internal error, never a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Limits, Options, Stop, Violation
from floodmark.compiler.layout import Layout, lay_out
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State

ENUMERATION_LIMITS = Limits(states=3_000_000, generated=200_000_000)
"""The limits of the enumeration. Unlike a minute, they are the same on a busy machine."""


@dataclass(frozen=True, slots=True)
class Enumeration:
    """The result. ``reason`` is why it is incomplete: a limit, or a construct that this engine cannot run. After a
    ``violation`` nothing more is known.

    ``depth`` is the number of states of the longest of all shortest runs.
    """

    states: int = 0
    depth: int = 0
    reason: Stop | SourceError | None = None
    violation: Violation | None = None

    @property
    def complete(self) -> bool:
        return self.reason is None and self.violation is None


def enumerate_states(
    model: Model, properties: Sequence[Property], seconds: float | None = None, most: Limits | None = None
) -> Enumeration:
    """Evaluates properties, lemmas and the boundary in every reachable state, or gives up at a limit.

    ``seconds`` is the remaining time, if there is a limit, and ``most`` the limits of the search: by default
    ENUMERATION_LIMITS.
    """
    from floodmark.checkers.native.search import search_states

    judged = [replace(prop, kind="invariant") if prop.kind not in ("transition", "reachable") else prop
              for prop in properties]
    try:
        limits = replace(ENUMERATION_LIMITS if most is None else most, seconds=seconds)
        found = search_states(model, judged, Options(workers=1, limits=limits))
    except SourceError as error:  # this engine cannot run the model, or not with these numbers
        return Enumeration(reason=error)
    if found.violations:
        return Enumeration(found.distinct, found.depth, violation=found.violations[0])
    return Enumeration(found.distinct, found.depth, found.stopped)


class ReachabilityOracle:
    """Decides the reachability of states, within the same limits."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._layout: Layout | None = None
        self._rows: Any = None
        self._tried = False

    def asks(self, state: State) -> bool | None:
        """Whether a state is reachable; None if unknown."""
        rows = self._all_rows()
        if rows is None or self._layout is None:
            return None
        return bool((rows == np.array(self._layout.pack(state), dtype=np.uint64)).all(axis=1).any())

    def _all_rows(self) -> Any:
        if not self._tried:
            self._tried = True
            from floodmark.checkers.native.search import reachable_set

            try:
                self._rows, packed = reachable_set(self._model, Options(workers=1, limits=ENUMERATION_LIMITS))
                self._layout = lay_out(packed.variable_types)
            except (RuntimeError, SourceError):
                self._rows = None
        return self._rows
