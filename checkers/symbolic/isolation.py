"""A question in a context of z3 of its own, so that its answer does not hang on what the process asked before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from floodmark.checkers.symbolic.copies import Copies
from floodmark.checkers.symbolic.facts import Known
from floodmark.checkers.symbolic.smt_text import Symbols, text
from floodmark.checkers.symbolic.strategies import Asking


@dataclass(frozen=True, slots=True)
class Isolated:
    """What was found; ``parts`` are the questions that were refuted instead of the whole one, as SMT-LIB says them."""

    answer: Any
    reason: str
    parts: tuple[str, ...]


def isolated(
    symbols: Symbols,
    goal: Any,
    assumed: Sequence[Any],
    facts: Known,
    seconds: float | None = None,
    likely: Sequence[Callable[[], Any]] = (),
    uncounted: Sequence[Any] = (),
    sets: Sequence[Any] = (),
    in_parts: bool = False,
) -> Isolated:
    """What ``Asking`` finds in an empty context, and with ``in_parts`` the parts in which it did.

    ``symbols`` names those of all questions about a system.
    """
    copies = Copies(symbols)
    (*given, asked), known = copies.with_facts([*assumed, goal], facts)

    def copied_if_any(part: Callable[[], Any]) -> Any:
        term = part()
        return None if term is None else copies.of([term])[0]

    sorts = ([*map(copies.sort, each)] for each in (uncounted, sets))
    asking = Asking(given, known.about, seconds, [partial(copied_if_any, it) for it in likely], *sorts)
    answer, reason = asking.answer(asked)
    return Isolated(answer, reason, tuple(_written(part) for part in asking.parts if in_parts))


def _written(refuted: Sequence[Any]) -> str:
    symbols = Symbols()
    return text([symbols.plain(term) for term in refuted], "unsat")
