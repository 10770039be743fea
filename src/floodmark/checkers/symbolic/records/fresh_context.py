"""Runs each query in a fresh context, so that earlier queries cannot affect it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from floodmark.checkers.symbolic.records.narrowing import NarrowedAnswer, immediate_answers, narrow_answers
from floodmark.checkers.symbolic.records.replay import QueryReplay, ways_of
from floodmark.checkers.symbolic.tactics.answers import Answers
from floodmark.checkers.symbolic.tactics.portfolio import PortfolioQuery, Strategy
from floodmark.checkers.symbolic.terms.axioms import KnownAxioms
from floodmark.checkers.symbolic.terms.canonical import CanonicalCopies
from floodmark.checkers.symbolic.terms.smt_text import SmtNames, text


@dataclass(frozen=True, slots=True)
class FreshResult:
    """The result; ``parts`` are the SMT-LIB queries that were refuted in place of the whole one, and ``by`` has for
    each case the numbers of the assumptions and the strategy that refuted it."""

    answer: Any
    reason: str
    parts: tuple[str, ...]
    by: Sequence[tuple[int, Strategy]] = field(default=())


def in_fresh_context(
    symbols: SmtNames,
    goal: Any,
    assumed: Sequence[Any],
    axioms: KnownAxioms,
    seconds: float | None = None,
    likely: Sequence[Callable[[], Any]] = (),
    uncounted: Sequence[Any] = (),
    sets: Sequence[Any] = (),
    in_parts: bool = False,
) -> FreshResult:
    """The result of ``PortfolioQuery`` in a fresh context, and with ``in_parts`` the parts that it refuted.

    ``symbols`` names those of all questions about a system.
    """
    copies = CanonicalCopies(symbols)
    (*given, asked), known = copies.with_axioms([*assumed, goal], axioms)

    def copied_if_any(part: Callable[[], Any]) -> Any:
        term = part()
        return None if term is None else copies.of([term])[0]

    sorts = ([*map(copies.sort, each)] for each in (uncounted, sets))
    query = PortfolioQuery(given, known.about, seconds, [partial(copied_if_any, it) for it in likely], *sorts)
    try:
        answer, reason = query.answer(asked)
        parts = tuple(_written(part) for part in query.parts if in_parts)
        return FreshResult(answer, reason, parts, query.answered_by)
    finally:
        copies.forget()


@dataclass(frozen=True, slots=True)
class RecordedQuery:
    """The query for a recorded answer: a goal, the assumptions that are ``always`` made, and the optional ones, by
    name."""

    symbols: SmtNames
    goal: Any
    always: Any
    statements: Mapping[str, Any]
    axioms: KnownAxioms
    uncounted: Sequence[Any] = ()
    sets: Sequence[Any] = ()

    @contextmanager
    def copied(self, names: Iterable[str], seconds: float | None) -> Iterator[QueryReplay]:
        """The query in a fresh context, with the assumptions of some names, for the duration of the block."""
        kept = {name: self.statements[name] for name in self.statements if name in names}
        copies = CanonicalCopies(self.symbols)
        (goal, always, *statements), known = copies.with_axioms([self.goal, self.always, *kept.values()], self.axioms)
        sorts = ([*map(copies.sort, each)] for each in (self.uncounted, self.sets))
        try:
            yield QueryReplay(goal, always, dict(zip(kept, statements, strict=True)), known.about, seconds, *sorts)
        finally:
            copies.forget()

    def replay(self, answers: Answers, seconds: float | None, in_parts: bool) -> tuple[bool, tuple[str, ...]]:
        """Whether recorded answers succeed again, and with ``in_parts`` the queries that z3 refuted."""
        needed = {name for answer in answers for way in ways_of(answer) for name in way.assumptions}
        with self.copied(needed, seconds) as query:
            through = query.goes_through(answers)
            return through, tuple(_written(part) for part in query.refuted if in_parts)

    def narrow_answers(self, found: Sequence[NarrowedAnswer]) -> Answers | None:
        """The narrow answers from a search's result; None if there are none."""
        with self.copied(self.statements, None) as query:
            return narrow_answers(query, found)

    def immediate_answers(self, likely: Iterable[Collection[str]]) -> Answers | None:
        """Answers that need no search; None if there are none."""
        with self.copied(self.statements, None) as query:
            return immediate_answers(query, likely)


def _written(refuted: Sequence[Any]) -> str:
    symbols = SmtNames()
    return text([symbols.plain(term) for term in refuted], "unsat")
