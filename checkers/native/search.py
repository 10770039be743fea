"""The native search: breadth first, level by level, exact, on every core."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.exploration import Exploration, Options, Premise, Progress, TraceState, Violation, Watcher
from floodmark.checkers.native import loops
from floodmark.checkers.native.compiled_model import Kernel, build_kernel
from floodmark.checkers.native.memory import physical_memory
from floodmark.checkers.native.statistics import values_seen
from floodmark.checkers.native.symmetry import confirm_symmetry
from floodmark.checkers.native.trace import Tracer
from floodmark.checkers.native.worker import Crew, OutOfRoom, Worker
from floodmark.checkers.properties import Property
from floodmark.compiler.layout import digest_text
from floodmark.language.errors import ModelError, SourceError, ValueOutOfRange
from floodmark.language.model import Model
from floodmark.language.reference import holds, initial_states, within_boundary

SHARE_OF_MEMORY = 0.85
"""How much of the machine's memory a search may take when no limit is given."""
PROGRESS_SECONDS = 0.2
PATIENCE = 0.5
"""Seconds that a search runs in plain code before it takes the time to compile good code."""
MANY_STATES = 600_000
"""A search that is likely to find so many states begins with good code; one that is not waits until it has found more
than it was likely to."""
COUNTED_STATES = 4_000_000
"""Above this many states the distinct values of each variable are not counted."""


def explore(
    model: Model, properties: Sequence[Property], options: Options, watch: Watcher | None = None
) -> Exploration:
    """Explores ``model`` and says what it found.

    Raises SourceError when the model or a property cannot be read, or fails in an initial state.
    """
    return _prepare(model, properties, options, watch).run()


def reachable_set(model: Model, options: Options) -> NDArray[np.uint64]:
    """Every reachable state of a model, a row of packed words each, in no particular order.

    Raises SourceError when the model leaves its declared types, RuntimeError when a limit ends the search.
    """
    search = _prepare(model, (), options, None)
    found = search.run()
    for violation in found.violations:
        raise SourceError(violation.message, violation.file, violation.line)
    if not found.complete:
        raise RuntimeError(f"the search was ended by {found.stopped}")
    rows = [worker.store[: worker.count * worker.words].reshape(-1, worker.words) for worker in search.workers]
    return np.concatenate(rows)


def _prepare(model: Model, properties: Sequence[Property], options: Options, watch: Watcher | None) -> _Search:
    started = time.perf_counter()
    workers = options.workers or os.cpu_count() or 1
    functions = {prop.name: prop.function for prop in properties}
    kernel = build_kernel(model, functions, options.symmetry, workers, is_long(options))
    compiled = time.perf_counter()
    search = _Search(model, properties, options, kernel, workers, watch)
    search.found.compile_seconds = compiled - started
    return search


def is_long(options: Options) -> bool:
    """Whether the search is likely to take longer than good code takes to compile."""
    return options.likely is not None and options.likely >= MANY_STATES


class _Search:
    """One search under way."""

    def __init__(
        self,
        model: Model,
        properties: Sequence[Property],
        options: Options,
        kernel: Kernel,
        workers: int,
        watch: Watcher | None,
    ) -> None:
        self.model = model
        self.options = options
        self.kernel = kernel
        self.interface = kernel.interface
        self.watch = watch
        self.by_name = {prop.name: prop for prop in properties}
        layout = self.interface.layout
        per_state = layout.words * 8 + 18
        self.memory_limit = options.limits.memory or int(SHARE_OF_MEMORY * physical_memory())
        least = 4 * (loops.BATCH + self.interface.most_successors)
        most_states = max(self.memory_limit // per_state // workers * 2, least)
        try:
            self.crew = Crew(kernel, workers, most_states)
        except (OSError, OverflowError):
            message = (
                f"there is no room for the {self.interface.most_successors:,} successors that a state may have; draw "
                "the parameters of actions from sets of the state: require(request in self.requests)"
            )
            raise ModelError(message, *type(model).source_position()) from None
        self.workers = self.crew.workers
        self.found = Exploration("native", workers=workers, state_bits=layout.bits)
        kinds = {name: self.by_name[name].kind for name in self.interface.state_predicates}
        self.reachable = self._mask(name for name, kind in kinds.items() if kind == "reachable")
        self.invariants = self._mask(name for name, kind in kinds.items() if kind == "invariant")
        for worker in self.workers:
            worker.fields[loops.DEADLOCK] = int(options.deadlock)
        self.tracer = Tracer(model, kernel, self.workers)
        self.level = 0
        self.initial = 0
        self.stop = ""
        self.started = self.shown = time.perf_counter()

    def _mask(self, names: object) -> int:
        wanted = set(names)  # type: ignore[call-overload]
        return sum(1 << i for i, name in enumerate(self.interface.state_predicates) if name in wanted)

    def run(self) -> Exploration:
        self.started = self.shown = time.perf_counter()
        try:
            self._start()
            self._flood()
        except OutOfRoom:
            self.stop = self.stop or "the memory limit"
        self._confirm_symmetry()
        found = self.found
        found.violations.sort(key=lambda violation: len(violation.trace))
        found.stopped = self.stop
        found.complete = not self.stop and not found.violations
        found.seconds = time.perf_counter() - self.started
        self._count()
        return found

    def _confirm_symmetry(self) -> None:
        if self.options.symmetry:
            confirm_symmetry(self.kernel, self.workers)

    # Levels.

    def _start(self) -> None:
        layout = self.interface.layout
        packed: list[tuple[int, ...]] = []
        try:
            for step, state in initial_states(self.model):
                self.initial += 1
                self.tracer.initial.append((step, state))
                if self._starts_within(TraceState(step, state)):
                    packed.append(layout.pack(state))
        except ValueOutOfRange as error:
            self.found.violations.append(Violation("error", "", (), error.message, error.file, error.line))
        if not self.initial and not self.found.violations:
            raise ModelError(
                "the model has no initial state: every @initial method's require is false",
                *type(self.model).source_position(),
            )
        self.workers[0].add([self.tracer.canonical(words) for words in packed])
        self._check()

    def _starts_within(self, first: TraceState) -> bool:
        """Whether an initial state lies within the boundary; one outside is only checked."""
        name = ""
        try:
            if within_boundary(self.model, first.state):
                return True
            self.found.cut += 1
            for prop in self.by_name.values():
                name = prop.name
                if prop.kind == "transition":
                    continue
                is_true = holds(self.model, prop.function, first.state)
                if prop.kind == "invariant" and not is_true:
                    self.found.violations.append(Violation("invariant", name, (first,)))
        except ValueOutOfRange as error:
            self.found.violations.append(Violation("error", name, (first,), error.message, error.file, error.line))
        return False

    def _flood(self) -> None:
        with ThreadPoolExecutor(len(self.workers)) as threads:
            while not self.found.violations and not self.stop:
                self.level += 1
                for worker in self.workers:
                    worker.start_level(self.level)
                width = sum(stop - start for start, stop in (worker.levels[-1] for worker in self.workers))
                if width == 0:
                    self.level -= 1
                    break
                self.found.levels.append(width)
                self._expand(threads)
                if self.stop:
                    break
                self._look_at_steps()
                self._check(threads)
                self._paused()

    def _improve(self) -> None:
        """Before a level of a search that has become long: compiles code that is worth it."""
        now = time.perf_counter()
        if self.kernel.good or now - self.started < PATIENCE:
            return
        if sum(worker.count for worker in self.workers) <= (self.options.likely or 0):
            return
        self.kernel.improve()
        for worker in self.workers:
            worker.take_code()
        spent = time.perf_counter() - now
        self.found.compile_seconds += spent
        self.started += spent

    def _expand(self, threads: ThreadPoolExecutor) -> None:
        """Expands the frontier; when one worker finds the table too full, all stop until it has grown."""
        self._improve()
        while not self.stop:
            self._each(threads, lambda worker: worker.expand_level(self._paused))
            if not self.crew.must_grow:
                return
            try:
                self.crew.grow(lambda task: self._each(threads, task))
            except OutOfRoom:
                self.stop = self.stop or "the memory limit"

    def _each(self, threads: ThreadPoolExecutor, task: Callable[[Worker], object]) -> None:
        futures = [threads.submit(task, worker) for worker in self.workers[1:]]
        try:
            task(self.workers[0])
        except OutOfRoom:
            self.stop = self.stop or "the memory limit"
        for future in futures:
            try:
                future.result()
            except OutOfRoom:
                self.stop = self.stop or "the memory limit"

    def _paused(self) -> bool:
        """Looks at the budgets and shows progress; True when the search is to stop."""
        limits = self.options.limits
        now = time.perf_counter()
        distinct = sum(worker.count for worker in self.workers)
        memory = sum(worker.memory for worker in self.workers)
        if limits.seconds is not None and now - self.started > limits.seconds:
            self.stop = self.stop or f"the limit of {limits.seconds:g} seconds"
        if limits.states is not None and distinct > limits.states:
            self.stop = self.stop or f"the limit of {limits.states:,} states"
        if memory > self.memory_limit:
            self.stop = self.stop or "the memory limit"
        if self.watch is not None and now - self.shown > PROGRESS_SECONDS:
            self.shown = now
            frontier = self.found.levels[-1] if self.found.levels else 0
            seconds = now - self.started
            self.watch(Progress(self.level, frontier, distinct, self._generated(), seconds, memory, self._shuffled()))
        return bool(self.stop)

    def _shuffled(self) -> int:
        """Bytes that went between processes."""
        return 0

    def _generated(self) -> int:
        return self.initial + sum(int(worker.fired.sum()) for worker in self.workers)

    # What was found.

    def _check(self, threads: ThreadPoolExecutor | None = None) -> None:
        """Evaluates the state predicates on the states that the last level found."""
        missing = self.reachable & ~self._mask(self.found.reached)

        def check(worker: Worker) -> None:
            worker.check_level(self.invariants, missing)

        if threads is None:
            for worker in self.workers:
                check(worker)
        else:
            self._each(threads, check)
        for index, name in enumerate(self.interface.state_predicates):
            state = self._smallest(loops.BEST_STATE + index)
            if state is None:
                continue
            if self.by_name[name].kind == "reachable":
                self.found.reached[name] = ()
                continue
            trace = self.tracer.to_state(state, self.level)
            self._confirm(name, trace)
            self.found.violations.append(Violation("invariant", name, trace))
        failed = self._smallest(loops.BEST_FAILED_CHECK)
        if failed is not None:
            self.found.violations.append(self._failed_check(failed))

    def _smallest(self, place: int) -> tuple[int, ...] | None:
        """The smallest state that any worker noted at a place: the same for any number of workers."""
        noted = [state for worker in self.workers if (state := worker.noted(place)) is not None]
        return min(noted, default=None)

    def _confirm(self, name: str, trace: tuple[TraceState, ...]) -> None:
        if holds(self.model, self.by_name[name].function, trace[-1].state):
            raise RuntimeError(
                f"{name}: compiled code says false where CPython says true; the state is {trace[-1].state}"
            )

    def _look_at_steps(self) -> None:
        """Turns what was noted while the level was expanded into violations."""
        before = self.level - 1
        for index, name in enumerate(self.interface.transition_predicates):
            state = self._smallest(loops.BEST_STEP + index)
            if state is not None:
                trace = self.tracer.broken_step(state, before, self.by_name[name].function)
                self.found.violations.append(Violation("transition", name, trace))
        for index, name in enumerate(self.interface.state_predicates):
            state = self._smallest(loops.BEST_OUTSIDE + index)
            if state is not None:
                trace = self.tracer.step_outside(state, before, self.by_name[name].function)
                self.found.violations.append(Violation("invariant", name, trace))
        state = self._smallest(loops.BEST_FAILED_STEP)
        if state is not None:
            self.found.violations.append(self._failed_step(state, before))
        state = self._smallest(loops.BEST_DEADLOCK)
        if state is not None:
            self.found.violations.append(Violation("deadlock", "deadlock", self.tracer.to_state(state, before)))

    def _failed_step(self, state: tuple[int, ...], level: int) -> Violation:
        trace = self.tracer.to_state(state, level)
        transitions = [self.by_name[name] for name in self.interface.transition_predicates]
        of_states = [self.by_name[name] for name in self.interface.state_predicates]
        return self.tracer.failing_step(trace, transitions, of_states)

    def _failed_check(self, state: tuple[int, ...]) -> Violation:
        trace = self.tracer.to_state(state, self.level)
        for name in self.interface.state_predicates:
            try:
                holds(self.model, self.by_name[name].function, trace[-1].state)
            except SourceError as error:
                return Violation("error", name, trace, error.message, error.file, error.line)
        raise self.tracer.unexplained(f"a property fails where CPython evaluates it, in {trace[-1].state}")

    def _count(self) -> None:
        found = self.found
        counters = np.stack([worker.context for worker in self.workers]).sum(axis=0, dtype=np.uint64)
        first = self.interface.first_premise
        fired = counters[loops.COUNTERS : first]
        found.actions = {name: int(count) for name, count in zip(self.interface.actions, fired, strict=True)}
        found.distinct = sum(worker.count for worker in self.workers)
        found.generated = self._generated()
        found.depth = len(found.levels)
        if found.violations and found.distinct > sum(found.levels):
            found.depth += 1
            found.levels.append(found.distinct - sum(found.levels))
        found.digest = digest_text(
            *(sum(int(w.fields[f]) for w in self.workers) for f in (loops.DIGEST_1, loops.DIGEST_2))
        )
        found.cut += int(counters[loops.CUT])
        found.memory = sum(worker.memory for worker in self.workers)
        if found.complete:
            seen = counters[first : first + len(self.interface.premises)]
            found.vacuous = [
                Premise(*premise) for premise, times in zip(self.interface.premises, seen, strict=True) if not times
            ]
            if found.distinct <= COUNTED_STATES and not self.options.symmetry:
                stores = [worker.store[: worker.count * worker.words] for worker in self.workers]
                found.values_seen = values_seen(self.interface.layout, stores)
