"""How z3 is asked about any number of identifiers: with quantifiers, so some questions need another way of looking.

Each strategy is a way for one solver to answer the same question, so whichever says that there is no model is right.
Effort is limited in z3's own units and not in seconds, so that a busy machine gives the same answers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from floodmark.language.plurals import counted_seconds


@dataclass(frozen=True, slots=True)
class Strategy:
    """Options of z3, and how much it may do: three million units take it about a second."""

    effort: int
    options: dict[str, Any] = field(default_factory=dict)


_SUGGESTED = {"auto_config": False, "mbqi": False}
_PATTERNS = {**_SUGGESTED, "relevancy": 0}
_SHALLOW = {**_SUGGESTED, "qi.lazy_threshold": 10.0}
STRATEGIES = (
    Strategy(300_000),
    Strategy(300_000, _PATTERNS),
    Strategy(1_500_000, _SHALLOW),
    Strategy(3_000_000),
    Strategy(3_000_000, _PATTERNS),
    Strategy(6_000_000, _SUGGESTED),
    Strategy(6_000_000, {"random_seed": 7}),
    Strategy(6_000_000, {**_PATTERNS, "random_seed": 7}),
    Strategy(6_000_000, {**_SHALLOW, "random_seed": 7}),
    Strategy(20_000_000, _SUGGESTED),
    Strategy(20_000_000, {**_SHALLOW, "random_seed": 11}),
)
"""In turns: instances that also a model that z3 has in mind would break; only those that terms suggest, of all terms or
of those that matter to the case at hand; and of these, only those that do not come from many others.
"""


def answer(
    assertions: Sequence[Any], seconds: float | None = None, weaker: Sequence[Sequence[Any]] = ()
) -> tuple[Any, str]:
    """z3's answer about all assertions together, and the reason if it is unknown; within ``seconds`` if given.

    Each of ``weaker`` follows from the assertions and is tried as well: where it has no model, neither have they.
    """
    started = time.perf_counter()
    reasons: list[str] = []
    questions = [assertions, *weaker]
    for strategy in STRATEGIES:
        for asked in list(questions):
            solver = z3.SimpleSolver()
            solver.set(rlimit=strategy.effort, **strategy.options)
            if seconds is not None:
                left = seconds - (time.perf_counter() - started)
                if left <= 0:
                    return z3.unknown, f"the limit of {counted_seconds(seconds)}"
                solver.set(timeout=max(1, int(left * 1000)))
            solver.add(*asked)
            found = solver.check()
            if found == z3.unsat or (found == z3.sat and asked is assertions):
                return found, ""
            if found == z3.sat:
                questions.remove(asked)
            else:
                reasons.append(solver.reason_unknown())
    return z3.unknown, f"z3 gave up in {len(STRATEGIES)} ways: {', '.join(dict.fromkeys(reasons))}"
