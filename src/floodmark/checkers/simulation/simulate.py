"""Random walks over a model: all safety properties on every state and step, on all cores, and never a green verdict.

Walks come in groups. Threads take one group after the other, in the order of their numbers; the first problem of the
lowest group that has one is the result. So the same seed finds the same counterexample with any number of workers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.adaptive_capacity import Run, search_growing
from floodmark.checkers.coverage.counter import CoverageCounter, build_coverage_code, coverage
from floodmark.checkers.coverage.places import arguments, shares
from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.kernel.stepper import Stepper
from floodmark.checkers.project.properties import Property
from floodmark.checkers.resources import cores
from floodmark.checkers.search.beginning import beginnings
from floodmark.checkers.search.driver import PROGRESS_SECONDS
from floodmark.checkers.search.store import Packed
from floodmark.checkers.search.trace import Tracer
from floodmark.checkers.search_result import (
    Coverage,
    Estimate,
    Limit,
    Options,
    Progress,
    Proportion,
    SearchResult,
    Stop,
    TraceState,
    Violation,
    WalkFigures,
    WalkProgress,
    Watcher,
)
from floodmark.checkers.simulation.compiled_walks import build_walk_code
from floodmark.checkers.simulation.sample import MIN_WALKS
from floodmark.checkers.simulation.shrinking import shrunk
from floodmark.checkers.simulation.totals import Counts, Totals
from floodmark.checkers.simulation.walker import GROUP, Problem, Walker, WalkPlan, WalkProblem, WalkStrategy
from floodmark.language.model import Model
from floodmark.language.plurals import counted
from floodmark.language.reference import holds
from floodmark.language.widths import Widths

MANY_STEPS = 1_000_000
"""The number of steps from which optimised code is worth its compilation."""


def simulate(
    model: Model, properties: Sequence[Property], options: Options, walking: WalkPlan, watch: Watcher | None = None,
    elsewhere: Elsewhere | None = None,
) -> SearchResult:
    """The result of random walks. Liveness is about infinite runs and is not checked, as a note says. ``elsewhere``
    takes the walks instead of this machine's threads.

    Raises SourceError when the model or a property cannot be read, or fails in an initial state.
    """
    of_states = [prop for prop in properties if not prop.is_liveness]

    def prepare(model: Model, options: Options, widths: Widths) -> Run:
        simulation = Simulation(model, of_states, options, walking, watch)
        if elsewhere is None:
            return lambda: simulation.run(simulation.take)
        return lambda: simulation.run(lambda first, last: elsewhere(simulation, widths, first, last))

    found = search_growing(model, options, watch, prepare)
    if len(of_states) == len(properties):
        return replace(found, engine="walks")
    count = counted(len(properties) - len(of_states), "liveness property")
    return replace(found, engine="walks", notes=[*found.notes, f"walks are finite and do not look at {count}"])


@dataclass(slots=True)
class _Groups:
    """The next group, and the lowest one that met a problem."""

    next: int
    last: int
    hit: WalkProblem | None = None

    def take(self) -> int | None:
        """The number of a group that no thread has taken; None if there is none, or a lower group has met a problem."""
        if self.next >= self.last or (self.hit is not None and self.next * GROUP > self.hit.walk):
            return None
        self.next += 1
        return self.next - 1


class Simulation:
    """The walks of one model whose containers have certain widths."""

    def __init__(
        self, model: Model, properties: Sequence[Property], options: Options, walking: WalkPlan, watch: Watcher | None
    ) -> None:
        self.model = model
        self.properties = properties
        self.options = options
        self.walking = walking
        self.watch = watch
        self.by_name = {prop.name: prop for prop in properties}
        self.functions = {prop.name: prop.function for prop in properties}
        started = time.perf_counter()
        self.code = build_walk_code(model, self.functions, walking.walks * walking.steps >= MANY_STEPS)
        layout = self.code.interface.layout
        self.coverage = build_coverage_code(model, properties, layout) if options.coverage else None
        self.compile_seconds = time.perf_counter() - started
        self.lock = threading.Lock()
        self.every = -(-walking.walks // GROUP)
        self.late = False
        self.started = self.reported_at = time.perf_counter()

    def run(self, take: Callable[[int, int], Totals]) -> SearchResult:
        """Takes all walks, and returns their result."""
        self.started = self.reported_at = time.perf_counter()
        beginning = beginnings(self.model, self.properties)
        found = SearchResult(
            "walks",
            violations=beginning.violations,
            cut=beginning.cut,
            compile_seconds=self.compile_seconds,
            state_bits=self.code.interface.layout.bits,
        )
        if beginning.within and not found.violations:
            self.initial = [self.code.interface.layout.pack(state) for state in beginning.within]
            totals = take(0, self.every)
            self.late = totals.is_late
            found = self._counted(found, totals)
        limit, walks = self.options.limits.seconds, Stop(Limit.WALKS, self.walking.walks)
        stop = Stop(Limit.SECONDS, limit) if self.late and limit is not None else walks
        return replace(found, stopped=stop, seconds=time.perf_counter() - self.started)

    def take(self, first: int, last: int) -> Totals:
        """Takes a range of groups with this machine's threads."""
        self.groups = _Groups(first, last)
        workers = min(self.options.workers or cores(), last - first) or 1
        self.walkers = [self._walker(self._counter()) for _ in range(workers)]
        with ThreadPoolExecutor(workers) as threads:
            list(threads.map(self._walk, self.walkers))
        return Totals.of(self.walkers, self.groups.hit, self.late)

    @cached_property
    def initial(self) -> list[Packed]:
        """The initial states in which walks begin."""
        layout = self.code.interface.layout
        return [layout.pack(state) for state in beginnings(self.model, self.properties).within]

    def _walker(self, coverage: CoverageCounter | None = None) -> Walker:
        return Walker(self.code, self.initial, self.walking, self._invariants(), self.options.deadlock, coverage)

    def _counter(self) -> CoverageCounter | None:
        return None if self.coverage is None else CoverageCounter(self.coverage)

    def _invariants(self) -> int:
        """The mask of the state properties that have to hold."""
        names = self.code.interface.state_predicates
        return sum(1 << place for place, name in enumerate(names) if self.by_name[name].kind == "invariant")

    def _walk(self, walker: Walker) -> None:
        """The work of one thread."""
        while True:
            with self.lock:
                group = self.groups.take()
            if group is None or self._paused(group * GROUP):
                return
            first = group * GROUP
            hit = walker.take(first, min(first + GROUP, self.walking.walks), partial(self._paused, first))
            if hit is not None:
                with self.lock:
                    self.groups.hit = min(filter(None, (self.groups.hit, hit)))

    def _paused(self, first: int) -> bool:
        """Whether the walks from ``first`` on are unnecessary; shows progress."""
        now = time.perf_counter()
        seconds = self.options.limits.seconds
        if seconds is not None and now - self.started > seconds:
            self.late = True
        if self.watch is not None and now - self.reported_at > PROGRESS_SECONDS:
            self.reported_at = now
            counts = Counts.together([Counts.of(it) for it in self.walkers])
            self.show(counts, min(self.groups.next * GROUP, self.walking.walks))
        return self.late or (self.groups.hit is not None and first > self.groups.hit.walk)

    def show(self, counts: Counts, begun: int) -> None:
        """Shows the progress of the walks so far."""
        if self.watch is None:
            return
        covered = None if counts.covered is None else self._coverage(counts.covered)
        walked = WalkProgress(
            Proportion(begun, self.walking.walks),
            counts.deepest,
            self._actions(counts),
            self._goals(counts),
            {} if covered is None else shares(covered),
            {} if covered is None else arguments(covered),
        )
        self.watch(Progress(0, 0, 0, counts.visits, time.perf_counter() - self.started, 0, walked=walked))

    def _actions(self, counts: Counts) -> dict[str, int]:
        """The steps of each action."""
        names = self.code.interface.actions
        return dict(zip(names, counts.taken[: len(names)].tolist(), strict=True))

    def _goals(self, counts: Counts) -> dict[str, int]:
        """For each ``@reachable`` property, the number of walks that reached it."""
        names = self.code.interface.state_predicates
        times = zip(names, counts.reached[: len(names)].tolist(), strict=True)
        return {name: walks for name, walks in times if self.by_name[name].kind == "reachable"}

    def _coverage(self, covered: NDArray[np.uint64]) -> Coverage:
        assert self.coverage is not None
        return coverage(self.coverage, [covered])

    def _counted(self, found: SearchResult, totals: Totals) -> SearchResult:
        """Adds the figures of the walks."""
        counts, sample, hit = totals.counts, totals.sample, totals.hit
        distinct = sample.distinct()
        goals = self._goals(counts)
        independent = self.walking.strategy is not WalkStrategy.NOVEL
        walked = WalkFigures(
            walks=counts.finished,
            steps=self.walking.steps,
            seed=self.walking.seed,
            strategy=self.walking.strategy.name.lower(),
            distinct=distinct,
            new_states=sample.new_states(counts.finished) if independent else None,
            dead_ends=counts.dead_ends,
            cut_short=counts.cut_short,
            goals=goals,
        )
        if hit is None:
            note = self._said_of_further_walks(walked.new_states)
        else:
            note = f"found by walk {hit.walk}, after {counted(hit.step, 'step')}"
        return replace(
            found,
            distinct=round(distinct.mean),
            generated=counts.visits,
            depth=counts.deepest + 1,
            actions=self._actions(counts),
            violations=[] if hit is None else self._explained(hit),
            reached={name: () for name, walks in goals.items() if walks},
            workers=min(self.options.workers or cores(), self.every) or 1,
            notes=[note, *_said_of_goals(goals)],
            walked=walked,
            coverage=None if counts.covered is None else self._coverage(counts.covered),
        )

    def _said_of_further_walks(self, estimate: Estimate | None) -> str:
        """The estimate of new states, or the reason why there is none."""
        if estimate is not None:
            mean, low, high = (f"{it:,.3g}" if it < 1000 else f"{it:,.0f}" for it in astuple(estimate))
            return f"a further walk visits about {mean} states that none of these visited (95 %: {low} to {high})"
        why = f"fewer than {MIN_WALKS} walks visited a state that no other walk visited"
        if self.walking.strategy is WalkStrategy.NOVEL:
            why = "walks for novel states depend on each other"
        return f"nothing can be said of the states that a further walk would add: {why}"

    def _explained(self, hit: WalkProblem) -> list[Violation]:
        """Replays the walk of a problem in CPython, and shortens it if possible."""
        path = self._walker().path(hit)
        kernel = build_kernel(self.model, self.functions, False)
        tracer = Tracer(self.model, kernel, _Path(path))
        tracer.initial = beginnings(self.model, self.properties).states
        trace = tracer.to_state(path[-1], len(path) - 1)
        return [
            shrunk(self.model, violation, self.by_name.get(violation.property), kernel)
            for violation in self._violations(hit, tracer, trace, Stepper(kernel.model, kernel.interface))
        ]

    def _violations(
        self, hit: WalkProblem, tracer: Tracer, trace: tuple[TraceState, ...], stepper: Stepper
    ) -> Iterable[Violation]:
        interface = self.code.interface
        of_states = [self.by_name[name] for name in interface.state_predicates]
        if hit.problem is Problem.DEAD_END:
            yield Violation("deadlock", "deadlock", trace)
        elif hit.problem is Problem.FAILED_CHECK:
            yield tracer.failing_check(trace, of_states)
        elif hit.problem is Problem.FALSE_STATE:
            for place, prop in enumerate(of_states):
                if hit.mask >> place & 1:
                    if holds(self.model, prop.function, trace[-1].state):
                        raise RuntimeError(f"{prop.name}: compiled code says false where CPython says true")
                    yield Violation("invariant", prop.name, trace)
        else:
            yield from self._wrong_steps(tracer, trace, stepper)

    def _wrong_steps(
        self, tracer: Tracer, trace: tuple[TraceState, ...], stepper: Stepper
    ) -> Iterable[Violation]:
        """The violations by steps from the last state of a walk."""
        interface = self.code.interface
        last = interface.layout.pack(trace[-1].state)
        level = len(trace) - 1
        made = stepper.expand(last)
        for place, name in enumerate(interface.transition_predicates):
            if made.broken >> place & 1:
                yield Violation("transition", name, tracer.broken_step(last, level, self.functions[name]))
        outside = ~made.inside & self._invariants()
        for place, name in enumerate(interface.state_predicates):
            if outside >> place & 1:
                yield Violation("invariant", name, tracer.step_outside(last, level, self.functions[name]))
        if made.failed:
            transitions = [self.by_name[name] for name in interface.transition_predicates]
            of_states = [self.by_name[name] for name in interface.state_predicates]
            yield tracer.failing_step(trace, transitions, of_states)


Elsewhere = Callable[[Simulation, Widths, int, int], Totals]
"""Takes a range of groups of walks, through a model whose containers have certain widths."""


class _Path:
    """A walk, as a source of the predecessors of its states."""

    def __init__(self, states: Sequence[Packed]) -> None:
        self.states = states

    def parent_in(self, level: int, target: Packed) -> Packed | None:
        """The state of the walk at a level."""
        assert target == self.states[level + 1]
        return self.states[level]


def _said_of_goals(goals: Mapping[str, int]) -> list[str]:
    """For each goal that was reached, the number of walks; a walk that ends early counts, too."""
    met = [f"{name} in {counted(walks, 'walk')}" for name, walks in goals.items() if walks]
    return [f"goals reached: {', '.join(met)}"] if met else []
