"""Narrows the answer of a search as far as it still succeeds.

A search refutes a query with all assumptions, or with a likely subset. The recorded answer names the assumptions that
z3 needed, and the style with the least effort. A case that the search split into paths can often be refuted as a whole
once its assumptions are known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, get_args

import z3

from floodmark.checkers.symbolic.records.replay import REPLAY_EFFORT, SEEDS, UNSPLIT_VIEWS, QueryReplay, ways_of
from floodmark.checkers.symbolic.records.term_names import TermNames
from floodmark.checkers.symbolic.tactics.answers import Answer, Answers, Instance, Refutation, Sight, Split, Style
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.tactics.case_split import Case
from floodmark.checkers.symbolic.tactics.lazy_cardinality import LawInstance, by_set_pairs, with_laws
from floodmark.checkers.symbolic.tactics.path_questions import PathQuestions
from floodmark.checkers.symbolic.tactics.path_split import Path, sides, undecided_atom
from floodmark.checkers.symbolic.tactics.portfolio import ROUNDS, STYLES, Strategy

MAX_RECORDED_EFFORT = REPLAY_EFFORT // 3
"""The resource limit for an answer that is recorded, so that it still succeeds where it takes more effort."""
FIRST_STRATEGY_EFFORT = 300_000
"""The resource limit of a strategy that is tried before others."""
STYLE_ORDER: tuple[Style, ...] = ("late relevant", "models", "late", "all terms", "near", "terms")
"""The styles, in the order in which they are tried."""
VIEW_ORDER: tuple[Sight, ...] = ("set pairs", "simpler", "close sets")
"""The views of paths, in the order in which they are tried."""
MAX_SPLITS = 60
MAX_DROPPED = 12
"""A core with more assumptions is not minimised one by one."""

Item = TypeVar("Item")

NarrowedAnswer = tuple[Collection[str], Strategy]
"""The assumptions with which a search refuted a case, and its strategy."""


def narrow_answers(replaying: QueryReplay, found: Sequence[NarrowedAnswer]) -> Answers | None:
    """The narrowed answers of a query whose cases were refuted as ``found`` says; None if some case has none."""
    return _Narrowing(replaying).answers(found) if len(found) == len(replaying.cases) else None


def immediate_answers(replaying: QueryReplay, likely: Iterable[Collection[str]]) -> Answers | None:
    """Answers to a query without a search; None if some case has no immediate answer. ``likely`` are subsets of the
    assumptions that are likely to suffice, the cheapest to find first.
    """
    return _Narrowing(replaying).immediate_answers(CachedIterable(likely))


class CachedIterable(Generic[Item]):
    """The elements of an iterator, kept for repeated iteration."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._waiting = iter(items)
        self._known: list[Item] = []

    def __iter__(self) -> Iterator[Item]:
        yield from self._known
        for item in self._waiting:
            self._known.append(item)
            yield item


def style_of(strategy: Strategy) -> Style:
    plain = {name: value for name, value in strategy.options.items() if name != "random_seed"}
    return next(style for style in get_args(Style) if STYLES[style] == plain)


class _Narrowing:
    """Narrows the answers of the cases of a query. The answer to one case is tried first for the next."""

    def __init__(self, replaying: QueryReplay) -> None:
        self._query = replaying
        self._last: Refutation | None = None

    def answers(self, found: Sequence[NarrowedAnswer]) -> Answers | None:
        """The answers of all cases."""
        answers = []
        for case, (names, strategy) in zip(self._query.cases, found, strict=True):
            answer = self._by_paths(case, names) if strategy.paths else self._as_a_whole(case, names, strategy)
            if answer is None:
                return None
            self._last = next(ways_of(answer), None)
            answers.append(answer)
        return tuple(answers)

    def immediate_answers(self, likely: Iterable[Collection[str]]) -> Answers | None:
        """The answers of all cases, none of which was searched for."""
        answers = []
        for case in self._query.cases:
            answer = self._at_once(case, likely)
            if answer is None:
                return None
            self._last = answer
            answers.append(answer)
        return tuple(answers)

    def _at_once(self, case: Case, likely: Iterable[Collection[str]]) -> Refutation | None:
        every = tuple(self._query.statements)
        plain = self._last is None or self._last.view in UNSPLIT_VIEWS
        whole = self._query.plain(case, Refutation("models", every))
        if plain and self._query.spent(whole, "models", effort=FIRST_STRATEGY_EFFORT) is not None:
            return self._as_a_whole(case, every, Strategy(0))
        for names in likely:
            needed = tuple(it for it in every if it in names)
            if plain:
                for style in STYLE_ORDER[:3]:
                    terms = self._query.plain(case, Refutation(style, needed))
                    if self._query.spent(terms, style, effort=FIRST_STRATEGY_EFFORT) is not None:
                        return self._as_a_whole(case, needed, Strategy(0, dict(STYLES[style])))
            asking = self._query.on_paths(case, needed)
            for way in self._ways_of(asking, asking.whole, needed, (FIRST_STRATEGY_EFFORT,)):
                return way
        return None

    def _as_a_whole(self, case: Case, names: Collection[str], strategy: Strategy) -> Refutation | None:
        own = style_of(strategy)
        view: Sight = strategy.view if strategy.view in UNSPLIT_VIEWS else "everything"
        styles: list[Style] = [*dict.fromkeys((own, *STYLE_ORDER))]
        core = self._core(case, names, own) if view == "everything" else None
        for needed in (core, tuple(names)):
            if needed is not None:
                fewer = self._fewer(case, Refutation(own, needed, view))
                sights: list[Sight] = [*dict.fromkeys(("everything", view))]
                best = self._best(case, [Refutation(style, fewer, sight) for sight in sights for style in styles])
                if best is not None:
                    return best
        return None

    def _core(self, case: Case, names: Collection[str], style: Style) -> tuple[str, ...] | None:
        """The assumptions that z3 needs; None if it does not find a core."""
        _, *terms = self._query.plain(case, Refutation(style, tuple(names)))
        marked = {name: self._query.statements[name] for name in names}
        core = self._needed([self._query.always, *terms], [*marked.values()], style, MAX_RECORDED_EFFORT)
        return None if core is None else tuple(name for at, name in enumerate(marked) if at in core)

    def _needed(self, terms: Sequence[Any], others: Sequence[Any], style: Style, effort: int) -> set[int] | None:
        """The indices of the terms in z3's unsatisfiable core with the others; None if z3 does not find one."""
        solver = z3.SimpleSolver(ctx=self._query.always.ctx)
        solver.set(**STYLES[style])
        solver.add(*terms)
        marks = [z3.Bool(f"needs {at}", solver.ctx) for at in range(len(others))]
        for mark, term in zip(marks, others, strict=True):
            solver.assert_and_track(term, mark)
        if Deadline(None).check(solver, most=effort) != z3.unsat:
            return None
        core = {it.get_id() for it in solver.unsat_core()}
        return {at for at, mark in enumerate(marks) if mark.get_id() in core}

    def _fewer(self, case: Case, way: Refutation) -> tuple[str, ...]:
        """The assumptions of a strategy, minimised: those without which it still succeeds are dropped one by one."""
        spent = self._query.spent(self._query.plain(case, way), way.style, effort=MAX_RECORDED_EFFORT)
        kept = list(way.assumptions)
        if spent is None or len(kept) > MAX_DROPPED:
            return way.assumptions
        for name in way.assumptions:
            trial = self._query.plain(case, Refutation(way.style, tuple(it for it in kept if it != name), way.view))
            if self._query.spent(trial, way.style, effort=2 * spent + FIRST_STRATEGY_EFFORT // 10) is not None:
                kept.remove(name)
        return tuple(kept)

    def _best(self, case: Case, ways: Sequence[Refutation]) -> Refutation | None:
        """The first strategy that does not depend on z3's random seed, with little effort; else the first that refutes
        the case."""
        asked = [(way, self._query.plain(case, way)) for way in ways]
        for seeds, effort in (
            (SEEDS[:3], FIRST_STRATEGY_EFFORT), (SEEDS[:3], MAX_RECORDED_EFFORT), (SEEDS[:1], MAX_RECORDED_EFFORT)
        ):
            for way, terms in asked:
                if all(self._query.spent(terms, way.style, seed, effort) is not None for seed in seeds):
                    return way
        return None

    def _by_paths(self, case: Case, names: Collection[str]) -> Answer | None:
        """The answer of a case that was split into paths: as a whole, or else by the conditions that split it."""
        if self._last is None or self._last.view in UNSPLIT_VIEWS:
            for style in STYLE_ORDER[:2]:
                terms = self._query.plain(case, Refutation(style, tuple(names)))
                if self._query.spent(terms, style, effort=FIRST_STRATEGY_EFFORT) is not None:
                    return self._as_a_whole(case, names, Strategy(0, dict(STYLES[style])))
        for needed in dict.fromkeys((tuple(names), tuple(self._query.statements))):
            asking = self._query.on_paths(case, needed)
            answer = self._of_path(asking, asking.whole, needed, [MAX_SPLITS])
            if answer is not None:
                return answer
        return None

    def _of_path(self, asking: PathQuestions, path: Path, needed: tuple[str, ...], left: list[int]) -> Answer | None:
        """The answer of a path, or of the two into which a condition splits it."""
        condition = undecided_atom(path) if left[0] else None
        whole = path is asking.whole
        for way in self._ways_of(asking, path, needed, (
            FIRST_STRATEGY_EFFORT, MAX_RECORDED_EFFORT
        ) if condition is None or whole else (FIRST_STRATEGY_EFFORT,)):
            return way
        if condition is None:
            return None
        left[0] -= 1
        text = TermNames([*path.conditions, *path.known]).of(condition)
        found: list[Answer | None] = []
        for side in sides(path, condition):
            answer = None if side is None else self._of_path(asking, side, needed, left)
            if side is not None and answer is None:
                return None
            found.append(answer)
        return Split(text, *found)

    def _ways_of(
        self, asking: PathQuestions, path: Path, needed: tuple[str, ...], efforts: Sequence[int]
    ) -> Iterator[Refutation]:
        """Strategies that refute a path."""
        last: Sight = "set pairs" if self._last is None or self._last.view in UNSPLIT_VIEWS else self._last.view
        tried: list[tuple[Style, Sight, int]] = [(STYLE_ORDER[0], last, MAX_RECORDED_EFFORT)]
        tried += [(style, view, effort) for effort in efforts for style in STYLE_ORDER[:2] for view in VIEW_ORDER]
        for style, view, effort in tried:
            way = Refutation(style, needed, view)
            if view == "set pairs":
                laws = self._laws(asking, path, needed, style, effort)
                if laws is not None:
                    yield Refutation(style, needed, view, laws)
            elif self._query.spent(self._query.of_path(asking, path, way), style, effort=effort) is not None:
                yield way

    def _laws(
        self, asking: PathQuestions, path: Path, needed: tuple[str, ...], style: Style, effort: int
    ) -> tuple[Instance, ...] | None:
        """The instances of cardinality laws with which a path is refuted; None if it is not."""
        terms = asking.on(path, 0, closely=True)
        solver = z3.SimpleSolver(ctx=terms[0].ctx)
        solver.set(**STYLES[style])
        limit = Deadline(None, ROUNDS * effort)
        lines: list[LawInstance] = []
        about, sets = [*path.conditions, *path.known], self._query.sets
        found, _ = by_set_pairs(terms, about, sets, solver, lambda: limit.check(solver, most=effort), lines)
        if found != z3.unsat:
            return None
        without = with_laws(terms, sets, [])
        instances = [with_laws(terms, sets, [one])[len(without)] for one in lines]
        core = self._needed(without, instances, style, effort)
        names = TermNames(terms)
        for chosen in ([] if core is None else [lines[at] for at in sorted(core)], lines):
            if self._query.spent(with_laws(terms, sets, chosen), style, effort=effort) is not None:
                return tuple(Instance(law, tuple(map(names.of, its))) for law, its in chosen)
        return None
