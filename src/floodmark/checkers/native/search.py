"""The native search: breadth first, level by level, exact, on every core."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.adaptive_capacity import search_growing
from floodmark.checkers.exploration import (
    Exploration,
    Limit,
    Options,
    Premise,
    Progress,
    Stop,
    TraceState,
    Violation,
    Watcher,
)
from floodmark.checkers.kernel import loops
from floodmark.checkers.kernel.compiled_model import Kernel, build_kernel
from floodmark.checkers.kernel.memory import Budget, give_back_large_arrays
from floodmark.checkers.kernel.scratch import base_folder
from floodmark.checkers.liveness import check
from floodmark.checkers.native.container_sizes import LargestSizes
from floodmark.checkers.native.files import Files, Partition
from floodmark.checkers.native.statistics import values_seen
from floodmark.checkers.native.symmetry import confirm_symmetry
from floodmark.checkers.native.trace import Tracer
from floodmark.checkers.native.worker import Crew, Holder, OutOfRoom, Worker
from floodmark.checkers.project.properties import Property
from floodmark.checkers.resources import cores
from floodmark.compiler.layout import digest_text
from floodmark.language.errors import ModelError, SourceError, ValueOutOfRange
from floodmark.language.model import Model, sized
from floodmark.language.plurals import counted
from floodmark.language.reference import holds, initial_states, within_boundary
from floodmark.language.widths import Widths

PROGRESS_SECONDS = 0.2
PATIENCE = 0.5
"""Seconds of a processor that each worker spends in plain code before the search takes the time to compile good code.
Those of a clock would let a busy machine compile more, and be busier."""
MANY_STATES = 600_000
"""A search that is likely to find so many states begins with good code; one that is not waits until it has found more
than it was likely to."""
COMPILER_BYTES = 64 << 20
"""About what compiling good code takes for a while; where a limit of memory leaves less, a search stays with plain."""
COUNTED_STATES = 4_000_000
"""Above this many states the distinct values of each variable are not counted."""


def search_states(
    model: Model, properties: Sequence[Property], options: Options, watch: Watcher | None = None
) -> Exploration:
    """Explores ``model`` and says what it found.

    Raises SourceError when the model or a property cannot be read, or fails in an initial state.
    """
    of_states, of_runs = check.split(properties)
    check.refuse_symmetry(of_runs, options)

    def prepare(model: Model, options: Options, _: Widths) -> Callable[[], Exploration]:
        search = _prepare(model, of_states, options, watch)

        def run() -> Exploration:
            try:
                found = search.run()
                if of_runs and found.complete:
                    check.after_native(model, of_runs, options, search.pieces(), found)
                return found
            finally:
                search.close()

        return run

    return search_growing(model, options, watch, prepare)


def reachable_set(model: Model, options: Options) -> tuple[NDArray[np.uint64], Model]:
    """Every reachable state of a model, a row of packed words each, in no particular order; and the model with the
    widths with which they are packed.

    Raises SourceError when the model leaves its declared types, RuntimeError when a limit ends the search.
    """
    rows: list[NDArray[np.uint64]] = []

    def prepare(model: Model, options: Options, _: Widths) -> Callable[[], Exploration]:
        search = _prepare(model, (), options, None)

        def run() -> Exploration:
            try:
                found = search.run()
                none = np.zeros((0, search.interface.layout.words), dtype=np.uint64)
                rows[:] = [none, *search.pieces()] if found.complete else []
                return found
            finally:
                search.close()

        return run

    found = search_growing(model, options, None, prepare)
    for violation in found.violations:
        raise SourceError(violation.message, violation.file, violation.line)
    if not found.complete:
        raise RuntimeError(f"the search was ended by {found.stopped}")
    return np.concatenate(rows), sized(model, Widths(found.widths))


def _prepare(model: Model, properties: Sequence[Property], options: Options, watch: Watcher | None) -> NativeSearch:
    started = time.perf_counter()
    workers = options.workers or cores()
    functions = {prop.name: prop.function for prop in properties}
    kernel = build_kernel(model, functions, options.symmetry, workers, is_long(options), tell=telling(watch))
    compiled = time.perf_counter()
    search = NativeSearch(model, properties, options, kernel, workers, watch)
    search.found.compile_seconds = compiled - started
    return search


def telling(watch: Watcher | None) -> Callable[[str], None] | None:
    """Tells a user what is being compiled, which of all that comes before the first state may take long."""
    if watch is None:
        return None
    started = time.perf_counter()
    return lambda what: watch(Progress(0, 0, 0, 0, time.perf_counter() - started, 0, note=what))


def is_long(options: Options) -> bool:
    """Whether the search is likely to take longer than good code takes to compile."""
    return options.likely is not None and options.likely >= MANY_STATES


ADDRESSES = 1 << 46
"""Bytes of addresses that a process surely has."""


class NativeSearch:
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
        self.budget = self._budget()
        if options.limits.memory is not None:
            kernel.prepare_for_files()  # while there is room for a compiler
            give_back_large_arrays()
        try:
            crew = Crew(kernel, workers, self.budget)
        except (OSError, OverflowError):
            if workers * self.budget.limit > ADDRESSES:
                message = "what each worker reserves does not fit into memory; set --workers or --max-memory lower"
                raise SourceError(message) from None
            message = (
                f"there is no room for {counted(self.interface.most_successors, 'successor')} that a state may have; "
                "draw the parameters of actions from sets of the state: require(request in self.requests)"
            )
            raise ModelError(message, *type(model).source_position()) from None
        self.crew: Crew | None = crew
        self.workers: Sequence[Holder] = crew.workers
        self.files: Files | None = None
        self.found = Exploration("native", workers=workers, state_bits=layout.bits)
        kinds = {name: self.by_name[name].kind for name in self.interface.state_predicates}
        self.reachable = self._mask(name for name, kind in kinds.items() if kind == "reachable")
        self.invariants = self._mask(name for name, kind in kinds.items() if kind == "invariant")
        for worker in self.workers:
            worker.fields[loops.DEADLOCK] = int(options.deadlock)
        self.tracer = Tracer(model, kernel, self.workers)
        self.level = 0
        self.initial = 0
        self.memory = self.latest = 0
        self.telling = threading.Lock()
        self.looked = 0.0
        self.stop: Stop | None = None
        self.started = self.shown = time.perf_counter()
        self.processor_began = time.process_time()

    def _budget(self) -> Budget:
        return Budget(self.options.limits.memory)

    def _mask(self, names: object) -> int:
        wanted = set(names)  # type: ignore[call-overload]
        return sum(1 << i for i, name in enumerate(self.interface.state_predicates) if name in wanted)

    def run(self) -> Exploration:
        self.started = self.shown = time.perf_counter()
        self.processor_began = time.process_time()
        try:
            self._start()
            self._flood()
        except OutOfRoom as full:
            self.stop = self.stop or full.stop
        self._confirm_symmetry()
        found = self.found
        found.violations.sort(key=lambda violation: len(violation.trace))
        found.stopped = self.stop
        found.complete = not self.stop and not found.violations
        found.seconds = time.perf_counter() - self.started
        self._look_at_memory()
        self._count()
        self._look_at_memory()
        found.memory = self.memory
        return found

    def _confirm_symmetry(self) -> None:
        is_whole = self.files is not None or (self.crew is not None and self.crew.table is not None)
        if self.options.symmetry and is_whole:
            fired = [sum(counts) for counts in zip(*(worker.fired.tolist() for worker in self.workers), strict=True)]
            confirm_symmetry(self.kernel, self._holders(), fired)

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
            self.found.violations.append(Violation.of_error(error, "", ()))
        if not self.initial and not self.found.violations:
            raise ModelError(
                "the model has no initial state: every @initial method's require is false",
                *type(self.model).source_position(),
            )
        for start in range(0, len(packed), loops.BATCH):
            self._add([self.tracer.canonical(words) for words in packed[start : start + loops.BATCH]])
        self._check()

    def _add(self, states: list[tuple[int, ...]]) -> None:
        """Adds initial states."""
        if self.files is not None:
            self.files.add(states)
            return
        assert self.crew is not None
        first = self.crew.workers[0]
        done = first.add(states)
        while not done and self.crew is not None:
            self._grow(lambda task: [task(worker) for worker in self.crew.workers] if self.crew else None)
            done = self.crew is None or first.expand_level(lambda: False)

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
            self.found.violations.append(Violation.of_error(error, name, (first,)))
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
        if self.kernel.good or time.process_time() - self.processor_began < PATIENCE * len(self.workers):
            return
        if self._distinct() <= (self.options.likely or 0) or self.latest + COMPILER_BYTES > self.budget.limit:
            return
        now = time.perf_counter()
        self.kernel.improve()
        for worker in self.workers:
            worker.take_code()
        self._look_at_memory()
        spent = time.perf_counter() - now
        self.found.compile_seconds += spent
        self.started += spent

    def _expand(self, threads: ThreadPoolExecutor) -> None:
        """Expands the frontier; when one worker finds no room for what it found, all stop until there is some."""
        self._improve()
        while not self.stop:
            self._each(threads, lambda worker: worker.expand_level(self._paused))
            if self.crew is None or not self.crew.must_grow:
                return
            self._grow(lambda task: self._each(threads, task))

    def _grow(self, each: Callable[[Callable[[Worker], object]], object]) -> None:
        """Makes room for more states: in memory, or where that has none, in files."""
        assert self.crew is not None
        try:
            self.crew.grow(each)
        except OutOfRoom as full:
            self._outgrown(full.stop)

    def _outgrown(self, why: Stop) -> None:
        """Goes on where the states are not in memory, with all that was found, at this very point of the level."""
        assert self.crew is not None
        self._look_at_memory()
        at = counted(self._distinct(), "state")
        self._say(f"at {at} it outgrew {why}, and continued in files in {base_folder()}")
        self._go_on_in_files(Files(self.kernel, self.crew, self.budget))

    def _go_on_in_files(self, files: Files) -> None:
        self.files, self.crew = files, None
        self.workers = [files]
        self.tracer.workers = self.workers

    def close(self) -> None:
        """Gives back what a search has taken beside memory."""
        if self.files is not None:
            self.files.close()

    def pieces(self) -> Iterator[NDArray[np.uint64]]:
        """All states that were found, rows of words, some at a time."""
        for holder in self._holders():
            yield from holder.pieces()

    def _holders(self) -> Sequence[Worker | Partition]:
        """Those whose states can be looked at here."""
        if self.files is not None:
            return self.files.partitions
        return [] if self.crew is None else self.crew.workers

    def _each(self, threads: ThreadPoolExecutor, task: Callable[[Any], object]) -> None:
        futures = [threads.submit(task, worker) for worker in self.workers[1:]]
        try:
            task(self.workers[0])
        finally:
            ended = [future.exception() for future in futures]
        for error in ended:
            if error is not None:
                raise error

    def _paused(self) -> bool:
        """Looks at the budgets and shows progress; True when the search is to stop."""
        limits = self.options.limits
        now = time.perf_counter()
        steps = 0 if limits.generated is None else self._generated()
        self.stop = self.stop or limits.reached(self._distinct(), steps, now - self.started)
        if now - self.looked > PROGRESS_SECONDS or self.files is not None:
            self._look_at_memory()
        if self.watch is not None and now - self.shown > PROGRESS_SECONDS:
            self.shown = now
            self._tell()
        return bool(self.stop)

    def _look_at_memory(self) -> None:
        """Notes how much memory the command has, and ends the search where it is too much."""
        self.looked = time.perf_counter()
        self.latest = self.budget.used()
        self.memory = max(self.memory, self.latest)
        if self.crew is not None:
            self.crew.look_at_memory()
        elif self.latest > self.budget.limit:
            self.stop = self.stop or Stop(Limit.MEMORY)

    def _distinct(self) -> int:
        return sum(worker.count for worker in self.workers)

    def _shown(self) -> tuple[int, int]:
        """The level and the number of states, as progress shows them."""
        return self.level, self._distinct()

    def _say(self, what: str) -> None:
        """Tells the user that the search continues in another way."""
        self.found.notes.append(what)
        self._tell()

    def _tell(self) -> None:
        if self.watch is None:
            return
        with self.telling:  # by one worker at a time, so that what is told never becomes less
            level, distinct = self._shown()
            frontier = self.found.levels[-1] if self.found.levels else 0
            seconds = time.perf_counter() - self.started
            note = self.found.notes[-1] if self.found.notes else ""
            self.watch(
                Progress(
                    level, frontier, distinct, self._generated(), seconds, self.latest, self._shuffled(), note
                )
            )

    def _shuffled(self) -> int:
        """Bytes that went between processes."""
        return 0

    def _generated(self) -> int:
        return self.initial + sum(int(worker.fired.sum()) for worker in self.workers)

    # What was found.

    def _check(self, threads: ThreadPoolExecutor | None = None) -> None:
        """Evaluates the state predicates on the states that the last level found."""
        missing = self.reachable & ~self._mask(self.found.reached)

        def check(worker: Holder) -> None:
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
                return Violation.of_error(error, name, trace)
        raise self.tracer.unexplained(f"a property fails where CPython evaluates it, in {trace[-1].state}")

    def _count(self) -> None:
        found = self.found
        counters = np.stack([worker.context for worker in self.workers]).sum(axis=0, dtype=np.uint64)
        first = self.interface.first_premise
        fired = counters[loops.COUNTERS : first]
        found.actions = {name: int(count) for name, count in zip(self.interface.actions, fired, strict=True)}
        found.distinct = self._distinct()
        found.generated = self._generated()
        found.depth = len(found.levels)
        if found.violations and found.distinct > sum(found.levels):
            found.depth += 1
            found.levels.append(found.distinct - sum(found.levels))
        found.digest = digest_text(
            *(sum(int(w.fields[f]) for w in self.workers) for f in (loops.DIGEST_1, loops.DIGEST_2))
        )
        found.cut += int(counters[loops.CUT])
        found.sizes = self._sizes()
        if found.complete:
            seen = counters[first : first + len(self.interface.premises)]
            found.vacuous = [
                Premise(*premise) for premise, times in zip(self.interface.premises, seen, strict=True) if not times
            ]
            if found.distinct <= COUNTED_STATES and not self.options.symmetry:
                if self.crew is not None:
                    self.crew.drop_table()
                found.values_seen = self._values_seen()

    def _sizes(self) -> dict[str, int]:
        """The largest size of each container with a capacity; empty where the states cannot be looked at here."""
        seen = LargestSizes(self.interface.layout)
        if seen.is_needed():
            for rows in self.pieces():
                seen.look(rows)
        return seen.largest

    def _values_seen(self) -> dict[str, int]:
        held = 0 if self.crew is None else self.crew.held
        room = self.budget.room(held) - held
        return values_seen(self.interface.layout, self.pieces, self._distinct(), room)
