"""Walks by one thread: its memory, the calls of the compiled loop, and its counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from floodmark.checkers.codegen.model_module import CANDIDATES, MAX_CANDIDATES
from floodmark.checkers.coverage.counter import CoverageCounter
from floodmark.checkers.kernel.loops import ALL_ONES, OUTSIDE
from floodmark.checkers.kernel.memory import reserve
from floodmark.checkers.search.store import Array, Packed
from floodmark.checkers.simulation import walk_loops as loops
from floodmark.checkers.simulation.compiled_walks import WalkCode
from floodmark.checkers.simulation.sample import SAMPLE_CELLS, Sample
from floodmark.language.types import WORD

GROUP = 64
"""The number of walks that one thread takes in a row."""
SEEN_WORDS = 1 << 14
"""The number of words of the bit set in which walks for novel states record visited states: with a million states,
every second query is wrong."""


class WalkStrategy(IntEnum):
    """The distribution of a walk's next step; the names are those of the command line."""

    ACTIONS = loops.BY_ACTION
    """A uniformly drawn enabled action, then a uniformly drawn instance of it."""
    INSTANCES = loops.BY_INSTANCE
    """A uniformly drawn step."""
    PRIORITIES = loops.BY_PRIORITY
    """The enabled action of the highest priority. Each walk draws the priorities, and a few times the action that has
    just been taken becomes the last (S. Burckhardt et al., "A randomized scheduler with probabilistic guarantees of
    finding bugs", ASPLOS 2010, for actions instead of threads)."""
    SWARM = loops.SWARM
    """As by actions, but each walk excludes some actions (G. Holzmann et al., "Swarm verification techniques", IEEE TSE
    37, 2011)."""
    NOVEL = loops.NOVEL
    """As by actions, but of a few drawn steps the first to a state that this group of walks has not visited."""


@dataclass(frozen=True, slots=True)
class WalkPlan:
    """The walks to take: those with the numbers from 0 up to ``walks``, of up to ``steps`` steps each."""

    walks: int
    steps: int
    seed: int
    strategy: WalkStrategy


class Problem(IntEnum):
    """The kinds of problems that end a walk."""

    FALSE_STATE = loops.FALSE_STATE
    FAILED_CHECK = loops.FAILED_CHECK
    WRONG_STEP = loops.WRONG_STEP
    DEAD_END = loops.DEAD_END


@dataclass(frozen=True, slots=True, order=True)
class WalkProblem:
    """A problem in a walk: at the state after ``step`` steps, or at a step from it. ``mask`` are the state properties
    that are false there."""

    walk: int
    step: int
    problem: Problem
    mask: int


class Walker:
    """Takes walks, one group after the other. ``invariants`` is the mask of the state properties that must hold; for
    each of the others, the walks in which it holds somewhere are counted. ``coverage`` counts the coverage of the
    visited states."""

    def __init__(
        self, code: WalkCode, initial: Sequence[Packed], walking: WalkPlan, invariants: int, deadlock: bool,
        coverage: CoverageCounter | None = None,
    ) -> None:
        self.coverage = coverage
        interface = code.interface
        self.code = code
        self.words = interface.layout.words
        self._walk, self._settle = code.loop.function("walk", 1), code.loop.function("settle", 1)
        self._fields = reserve(loops.WALKER_FIELDS)
        count = len(code.actions)
        self._current = reserve(self.words)
        self._context = reserve(interface.context_words + 1)
        self.taken = reserve(count)
        self.reached = reserve(WORD)
        self._seen = reserve(SEEN_WORDS)
        self._tables = [reserve(SAMPLE_CELLS), reserve(SAMPLE_CELLS)]
        self._kept = {
            loops.CURRENT: self._current,
            loops.CONTEXT: self._context,
            loops.OUT: reserve((interface.most_successors + 1) * self.words),
            loops.ACTIONS: np.array(code.actions, dtype=np.uint64),
            loops.INITIAL: np.array(initial, dtype=np.uint64).reshape(-1),
            loops.ORDER: reserve(count),
            loops.ENDS: reserve(count),
            loops.TAKEN: self.taken,
            loops.GOALS: self.reached,
            loops.SEEN: self._seen,
            loops.SAMPLE: self._tables[0],
            loops.SPARE: self._tables[1],
            loops.JUDGED: reserve(loops.JUDGED_STATES * (self.words + 1)),
        }
        for field, array in self._kept.items():
            self._fields[field] = array.ctypes.data
        given = {
            loops.CHECK: code.model.address("check"),
            loops.ACTION_COUNT: count,
            loops.INITIAL_COUNT: len(initial),
            loops.SEED: walking.seed,
            loops.STEPS: walking.steps,
            loops.STRATEGY: walking.strategy,
            loops.FALSE_WANTED: invariants,
            loops.TRUE_WANTED: ALL_ONES & ~invariants,
            loops.DEADLOCK: int(deadlock),
            loops.SAMPLE_SIZE: SAMPLE_CELLS,
            loops.SEEN_SIZE: SEEN_WORDS,
        }
        if count <= MAX_CANDIDATES:
            given[loops.CANDIDATES] = code.model.address(CANDIDATES)
        for field, value in given.items():
            self._fields[field] = value
        if coverage is not None:
            self._fields[loops.COVER] = coverage.code.address
            self._fields[loops.COVER_CONTEXT] = coverage.context.ctypes.data
            self._fields[loops.COVER_AFTER] = coverage.after.ctypes.data
        self._context[OUTSIDE] = ALL_ONES

    def take(self, first: int, last: int, paused: Callable[[], bool]) -> WalkProblem | None:
        """Takes the walks of a group from ``first`` up to ``last``, exclusive, until there is a problem, which it
        returns. ``paused`` may end it early."""
        self._seen[:] = 0
        return self._take(first, last, paused)

    def _take(self, first: int, last: int, paused: Callable[[], bool]) -> WalkProblem | None:
        self._fields[loops.WALK] = first
        self._fields[loops.LAST_WALK] = last
        self._fields[loops.STEP] = ALL_ONES
        self._fields[loops.FOUND] = 0
        while True:
            match self._walk(self._fields.ctypes.data):
                case loops.DONE:
                    return None
                case loops.FOUND_SOMETHING:
                    at = (int(self._fields[field]) for field in (loops.WALK, loops.STEP, loops.FOUND, loops.MASK))
                    walk, step, problem, mask = at
                    self._context[: OUTSIDE + 1] = [0] * OUTSIDE + [ALL_ONES]
                    return WalkProblem(walk, step, Problem(problem), mask)
            if paused():
                return None

    def path(self, hit: WalkProblem) -> list[Packed]:
        """The states of the walk of a hit, up to the hit."""
        rows, again = self._again(hit.walk)
        if again != hit:
            raise RuntimeError(f"a walk that was taken again is another one: {again}, not {hit}")
        return rows[: hit.step + 1]

    def states(self, walk: int) -> list[Packed]:
        """The states of a walk, up to its problem, if it meets one."""
        return self._again(walk)[0]

    def paths(self, walks: int) -> Iterator[Array]:
        """The states of each walk up to ``walks``, rows of words, up to its problem, if it meets one."""
        rows = self._room()
        self._fields[loops.PATH] = rows.ctypes.data
        for walk in range(walks):
            if walk % GROUP == 0:
                self._seen[:] = 0
            self._take(walk, walk + 1, lambda: False)
            yield rows[: int(self._fields[loops.NOTED]) + 1].copy()
        self._fields[loops.PATH] = 0

    def ends(self, walks: int) -> list[Packed]:
        """The last state of each walk up to ``walks``, until a problem occurs."""
        found: list[Packed] = []
        for walk in range(walks):
            self.take(walk, walk + 1, lambda: False)
            found.append(self.state)
        return found

    @property
    def state(self) -> Packed:
        """The last state that was visited."""
        return tuple(self._current[: self.words].tolist())

    def _again(self, walk: int) -> tuple[list[Packed], WalkProblem | None]:
        """Repeats a walk, and returns its states. Its whole group is repeated, because a walk for novel states depends
        on the previous ones in the group."""
        rows = self._room()
        self._fields[loops.PATH] = rows.ctypes.data
        hit = self.take(walk - walk % GROUP, walk + 1, lambda: False)
        self._fields[loops.PATH] = 0
        noted = rows[: int(self._fields[loops.NOTED]) + 1]
        return [tuple(int(word) for word in row) for row in noted], hit

    def _room(self) -> Array:
        """Rows for the states of a walk, however long it may be: pages that it does not write take no memory."""
        return reserve((int(self._fields[loops.STEPS]) + 1) * self.words).reshape(-1, self.words)

    # Counts.

    @property
    def visits(self) -> int:
        """The number of visited states of all walks, with repetitions."""
        return int(self._fields[loops.VISITS])

    @property
    def finished(self) -> int:
        """The walks that were taken to their end."""
        return int(self._fields[loops.FINISHED])

    @property
    def dead_ends(self) -> int:
        """Walks that ended where no action is enabled."""
        return int(self._fields[loops.DEAD_ENDS])

    @property
    def cut_short(self) -> int:
        """Walks that ended where every step leaves the boundary."""
        return int(self._fields[loops.CUT_SHORT])

    @property
    def deepest(self) -> int:
        """The maximum number of steps of a walk."""
        return int(self._fields[loops.DEEPEST])

    def sample(self) -> Sample:
        """The sample of the distinct states."""
        self._settle(self._fields.ctypes.data)
        table = next(it for it in self._tables if it.ctypes.data == int(self._fields[loops.SAMPLE]))
        return Sample.of_table(table, int(self._fields[loops.LEVEL]))
