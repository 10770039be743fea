"""A search, level by level, independent of the store that holds the states.

The states begin in one store and may move to another (``StoreMigration``): the order of events, the verdicts and the
traces do not depend on the store. Parents are not kept. A trace is found by expanding the earlier levels again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.adaptive_capacity import search_growing
from floodmark.checkers.kernel import loops
from floodmark.checkers.kernel.compiled_model import Kernel
from floodmark.checkers.kernel.memory import MemoryBudget
from floodmark.checkers.project.properties import Property
from floodmark.checkers.resources import cores
from floodmark.checkers.search.beginning import beginnings
from floodmark.checkers.search.store import Packed, Store, StoreFull
from floodmark.checkers.search.trace import Tracer
from floodmark.checkers.search_result import (
    Coverage,
    Limit,
    Options,
    Premise,
    Progress,
    SearchResult,
    Stop,
    TraceState,
    Violation,
    Watcher,
)
from floodmark.compiler.layout import digest_text
from floodmark.language.model import Model
from floodmark.language.reference import holds
from floodmark.language.widths import FIRST_WIDTHS, Widths

PROGRESS_SECONDS = 0.2
PATIENCE = 0.5
"""CPU seconds that each worker spends in unoptimised code before the search compiles optimised code. On a busy machine,
wall-clock time would trigger more compilations and make it busier."""
MIN_STATES_FOR_OPTIMISED_CODE = 600_000
"""A search that expects this many states begins with optimised code. Another one compiles it only after it has found
more states than it expected."""
COMPILER_BYTES = 64 << 20
"""The approximate memory of a compilation of optimised code. If the memory limit leaves less, a search keeps
unoptimised code."""
COUNTED_STATES = 4_000_000
"""Above this many states the distinct values of each variable are not counted."""


class LevelUndoneError(Exception):
    """The level begins again, in another store."""


class StoreMigration:
    """The store changes of a search, and other hooks between levels."""

    def begin(self, search: Search) -> None:
        """Is called after the initial states."""

    def before_level(self, search: Search) -> None:
        """Is called before each level that may have states."""

    def after_level(self, search: Search) -> None:
        """Is called after each completed level."""

    def outgrown(self, search: Search, why: Stop) -> None:
        """Moves the states elsewhere, or raises StoreFull. Raises LevelUndoneError if the level was undone."""
        raise StoreFull(why)

    def end(self, search: Search) -> None:
        """Is called after the last level."""


@dataclass(slots=True)
class SearchFindings:
    """The findings of a search so far, from which its result is made."""

    engine: str = "native"
    workers: int = 1
    compile_seconds: float = 0.0
    levels: list[int] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    reached: dict[str, tuple[TraceState, ...]] = field(default_factory=dict)
    cut: int = 0
    notes: list[str] = field(default_factory=list)


def search_in(
    model: Model,
    options: Options,
    watch: Watcher | None,
    prepare: Callable[[Model, Options, Widths], Search],
    then: Callable[[Search, SearchResult], SearchResult],
    widths: Widths = FIRST_WIDTHS,
) -> SearchResult:
    """The result of the search that ``prepare`` makes for a model, with the first widths that the search does not
    outgrow.

    ``then`` completes the result of a complete search while its states are still stored.
    """

    def prepared(model: Model, options: Options, widths: Widths) -> Callable[[], SearchResult]:
        search = prepare(model, options, widths)
        return closing_run(search, lambda result: then(search, result) if result.complete else result)

    return search_growing(model, options, watch, prepared, widths)


def closing_run(search: Search, then: Callable[[SearchResult], SearchResult]) -> Callable[[], SearchResult]:
    """Runs a search and closes it. ``then`` completes its result while its states are still stored."""

    def run() -> SearchResult:
        try:
            return then(search.run())
        finally:
            search.close()

    return run


def telling(watch: Watcher | None) -> Callable[[str], None] | None:
    """Reports each compilation; compiling is the only long step before the first state."""
    if watch is None:
        return None
    started = time.perf_counter()
    return lambda what: watch(Progress(0, 0, 0, 0, time.perf_counter() - started, 0, note=what))


def is_long(options: Options) -> bool:
    """Whether the search is likely to take longer than good code takes to compile."""
    return options.likely is not None and options.likely >= MIN_STATES_FOR_OPTIMISED_CODE


class Search:
    """A search in progress."""

    def __init__(
        self,
        model: Model,
        properties: Sequence[Property],
        options: Options,
        kernel: Kernel,
        store: Store,
        budget: MemoryBudget,
        moves: StoreMigration,
        watch: Watcher | None,
    ) -> None:
        self.model = model
        self.options = options
        self.store = store
        self.budget = budget
        self.moves = moves
        self.watch = watch
        self.kernel = kernel
        self.interface = kernel.interface
        self.by_name = {prop.name: prop for prop in properties}
        self.found = SearchFindings()
        kinds = {name: self.by_name[name].kind for name in self.interface.state_predicates}
        self.reachable = self._mask(name for name, kind in kinds.items() if kind == "reachable")
        self.invariants = self._mask(name for name, kind in kinds.items() if kind == "invariant")
        self.tracer = Tracer(model, kernel, store)
        self.level = 0
        self.initial = 0
        self.resumed = 0
        self.memory = self.latest = 0
        self.telling = threading.Lock()
        self.most_shown = (0, 0)
        self.looked = 0.0
        self.stop: Stop | None = None
        self.started = self.reported_at = time.perf_counter()
        self.processor_began = time.process_time()

    def _mask(self, names: Iterable[str]) -> int:
        wanted = set(names)
        return sum(1 << i for i, name in enumerate(self.interface.state_predicates) if name in wanted)

    def run(self) -> SearchResult:
        self.started = self.reported_at = time.perf_counter()
        self.processor_began = time.process_time()
        self._look_for()
        try:
            self._start()
            self._flood()
        except StoreFull as full:
            self.stop = self.stop or full.stop
        if self.options.symmetry:
            self.store.confirm_symmetry(self.kernel, self.stop is not None)
        self.found.violations.sort(key=lambda violation: len(violation.trace))
        result = self._totals()  # before what follows can reach a limit
        self.look_at_memory()
        result = self._counted(result)
        self.look_at_memory()
        coverage = self._coverage() if self.options.coverage else None
        return replace(result, coverage=coverage, memory=self.memory)

    def close(self) -> None:
        self.store.close()

    def go_on_in(self, store: Store) -> None:
        """Changes to a store that has taken over all states."""
        self.store.close()
        self.store = self.tracer.store = store
        self._look_for()

    # Levels.

    def _start(self) -> None:
        layout = self.interface.layout
        beginning = beginnings(self.model, list(self.by_name.values()))
        self.initial = len(beginning.states)
        self.tracer.initial = beginning.states
        self.found.cut += beginning.cut
        self.found.violations += beginning.violations
        packed: list[Packed] = [layout.pack(state) for state in beginning.within]
        for start in range(0, len(packed), loops.BATCH):
            batch = [self.tracer.canonical(words) for words in packed[start : start + loops.BATCH]]
            try:
                self.store.add(batch)
            except StoreFull as full:
                self.moves.outgrown(self, full.stop)
        self._check()
        self.moves.begin(self)

    def _flood(self) -> None:
        while not self.found.violations and not self.stop:
            self.moves.before_level(self)
            if self.stop or not self._level():
                break
        self.moves.end(self)

    def _level(self) -> bool:
        """Searches one level; False if there was none, or if it was not completed."""
        self.level += 1
        self.store.start_level(self.level)
        start, stop = self.store.newest_level
        if start == stop:
            self.level -= 1
            return False
        self.found.levels.append(stop - start)
        try:
            if not self._expand():
                return False
        except LevelUndoneError:
            return True
        self._look_at_steps()
        self._check()
        self.paused()
        self.moves.after_level(self)
        return True

    def undo_level(self) -> None:
        """Forgets the level in progress, which the store has undone."""
        self.found.levels.pop()
        self.level -= 1
        self.stop = None

    def _improve(self) -> None:
        """Compiles optimised code before a level of a search that has become long."""
        if self.kernel.good or time.process_time() - self.processor_began < PATIENCE * self.found.workers:
            return
        if self.store.count <= (self.options.likely or 0) or self.latest + COMPILER_BYTES > self.budget.limit:
            return
        now = time.perf_counter()
        self.kernel.improve()
        self.store.take_code()
        self.look_at_memory()
        spent = time.perf_counter() - now
        self.found.compile_seconds += spent
        self.started += spent

    def _expand(self) -> bool:
        """Expands the frontier, if necessary with a change of store; False if it was not completed."""
        self._improve()
        while not self.stop:
            try:
                if self.store.expand_level(self.paused):
                    return True
                if not self.stop:  # else a search that claims to be complete would lack the rest of the level
                    raise RuntimeError("a store left a level before its end, and nothing had ended the search")
            except StoreFull as full:
                self.moves.outgrown(self, full.stop)
        return False

    def pieces(self) -> Iterator[NDArray[np.uint64]]:
        """All states found, as rows of words in pieces."""
        return self.store.pieces()

    def paused(self) -> bool:
        """Checks the budgets and shows progress; True if the search has to stop."""
        limits = self.options.limits
        now = time.perf_counter()
        steps = 0 if limits.generated is None else self._generated()
        self.stop = self.stop or limits.reached(self.store.count, steps, now - self.started)
        if now - self.looked > PROGRESS_SECONDS or not self.store.adapts:
            self.look_at_memory()
        if self.watch is not None and now - self.reported_at > PROGRESS_SECONDS:
            self.reported_at = now
            self._tell()
        return bool(self.stop)

    def look_at_memory(self) -> None:
        """Records the memory of the command, and ends the search if it exceeds the limit."""
        self.looked = time.perf_counter()
        self.latest = self.budget.used()
        self.memory = max(self.memory, self.latest)
        if self.store.adapts:
            self.store.adapt()
        elif self.latest > self.budget.limit:
            self.stop = self.stop or Stop(Limit.MEMORY)

    def say(self, what: str) -> None:
        """Tells the user that the search continues in another way."""
        self.found.notes.append(what)
        self._tell()

    def _tell(self) -> None:
        if self.watch is None:
            return
        with self.telling:  # by one worker at a time, so that the reported progress never decreases
            # A level that was undone is found again.
            level, distinct = max(self.level, self.most_shown[0]), max(self.store.count, self.most_shown[1])
            self.most_shown = level, distinct
            frontier = self.found.levels[-1] if self.found.levels else 0
            seconds = time.perf_counter() - self.started
            note = self.found.notes[-1] if self.found.notes else ""
            generated, shuffled = self._generated(), self.store.shuffled
            self.watch(
                Progress(
                    level, frontier, distinct, generated, seconds, self.latest, shuffled, note, self.resumed,
                    self.store.progress,
                )
            )

    def show(self, what: str) -> None:
        """Shows the user a phase of the search that its result does not mention."""
        self.found.notes.append(what)
        self._tell()
        self.found.notes.pop()

    def _generated(self) -> int:
        return self.initial + int(self.store.fired.sum())

    def _coverage(self) -> Coverage:
        """The coverage of the source by the states that were found and by their steps."""
        from floodmark.checkers.coverage.counter import coverage_of

        self.show("counting coverage")
        properties = list(self.by_name.values())
        layout = self.interface.layout
        workers = min(self.found.workers, cores())  # those of a cluster are elsewhere
        coverage = coverage_of(self.model, properties, layout, self.pieces(), workers)
        self.look_at_memory()
        return coverage

    # Findings.

    def _look_for(self) -> None:
        """Selects the state predicates for which the search still needs a state."""
        self.store.wanted = self.invariants, self.reachable & ~self._mask(self.found.reached)

    def _check(self) -> None:
        """Evaluates the state predicates on the states of the last level."""
        self.store.check_level()
        for index, name in enumerate(self.interface.state_predicates):
            state = self.store.noted(loops.BEST_STATE + index)
            if state is None:
                continue
            if self.by_name[name].kind == "reachable":
                self.found.reached[name] = ()
                continue
            trace = self.tracer.to_state(state, self.level)
            self._confirm(name, trace)
            self.found.violations.append(Violation("invariant", name, trace))
        failed = self.store.noted(loops.BEST_FAILED_CHECK)
        if failed is not None:
            self.found.violations.append(self._failed_check(failed))
        self._look_for()

    def _confirm(self, name: str, trace: tuple[TraceState, ...]) -> None:
        if holds(self.model, self.by_name[name].function, trace[-1].state):
            raise RuntimeError(
                f"{name}: compiled code says false where CPython says true; the state is {trace[-1].state}"
            )

    def _look_at_steps(self) -> None:
        """Turns the marks that the expansion of a level left into violations."""
        before = self.level - 1
        for index, name in enumerate(self.interface.transition_predicates):
            state = self.store.noted(loops.BEST_STEP + index)
            if state is not None:
                trace = self.tracer.broken_step(state, before, self.by_name[name].function)
                self.found.violations.append(Violation("transition", name, trace))
        for index, name in enumerate(self.interface.state_predicates):
            state = self.store.noted(loops.BEST_OUTSIDE + index)
            if state is not None:
                trace = self.tracer.step_outside(state, before, self.by_name[name].function)
                self.found.violations.append(Violation("invariant", name, trace))
        state = self.store.noted(loops.BEST_FAILED_STEP)
        if state is not None:
            self.found.violations.append(self._failed_step(state, before))
        state = self.store.noted(loops.BEST_DEADLOCK)
        if state is not None:
            self.found.violations.append(Violation("deadlock", "deadlock", self.tracer.to_state(state, before)))

    def _failed_step(self, state: Packed, level: int) -> Violation:
        trace = self.tracer.to_state(state, level)
        transitions = [self.by_name[name] for name in self.interface.transition_predicates]
        of_states = [self.by_name[name] for name in self.interface.state_predicates]
        return self.tracer.failing_step(trace, transitions, of_states)

    def _failed_check(self, state: Packed) -> Violation:
        of_states = [self.by_name[name] for name in self.interface.state_predicates]
        return self.tracer.failing_check(self.tracer.to_state(state, self.level), of_states)

    def _counted(self, result: SearchResult) -> SearchResult:
        """Adds the figures that are computed over all states."""
        vacuous: list[Premise] = []
        values_seen: dict[str, int] = {}
        if result.complete:
            first = self.interface.first_premise
            seen = self.store.context[first : first + len(self.interface.premises)]
            vacuous = [
                Premise(site.name(name), site.at.file, site.at.line, site.text)
                for (name, site), times in zip(self.interface.premises, seen, strict=True)
                if not times
            ]
            if result.distinct <= COUNTED_STATES and not self.options.symmetry:
                values_seen = self.store.values_seen(self.budget)
        sizes = self.store.container_sizes()
        return replace(result, sizes=sizes, vacuous=vacuous, values_seen=values_seen)

    def _totals(self) -> SearchResult:
        """The result, with the totals that the store keeps."""
        seconds = time.perf_counter() - self.started
        found = self.found
        counters = self.store.context
        fired = counters[loops.COUNTERS : self.interface.first_premise]
        levels, distinct = list(found.levels), self.store.count
        depth = len(levels)
        if found.violations and distinct > sum(levels):
            depth += 1
            levels.append(distinct - sum(levels))
        return SearchResult(
            found.engine,
            complete=not self.stop and not found.violations,
            stopped=self.stop,
            distinct=distinct,
            generated=self._generated(),
            depth=depth,
            digest=digest_text(*self.store.digest.tolist()),
            levels=levels,
            actions={name: int(count) for name, count in zip(self.interface.actions, fired, strict=True)},
            violations=found.violations,
            reached=found.reached,
            cut=found.cut + int(counters[loops.CUT]),
            seconds=seconds,
            compile_seconds=found.compile_seconds,
            workers=found.workers,
            state_bits=self.interface.layout.bits,
            notes=found.notes,
        )
