"""The input and output of every engine: the options of a search and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, assert_never

from floodmark.language.errors import CapacityExceeded, SourceError
from floodmark.language.fairness import Fairness
from floodmark.language.model import State
from floodmark.language.plurals import counted, counted_seconds
from floodmark.language.reference import Step

Symmetry = bool | tuple[str, ...]
"""Whether states that differ only in the names of identifiers count as one; or the classes of identifiers for which
they do."""


class Limit(Enum):
    """The limit that ended a search early."""

    STATES = "state"
    STEPS = "step"
    WALKS = "walk"
    SECONDS = "seconds"
    MEMORY = "memory"
    STORE = "store"
    """The store has no room for more states, whatever the limits are."""
    WIDTH = "width"
    """A container without a capacity would become too wide for a state."""
    EFFORT = "effort"
    """A limit on z3's resource units."""
    SOLVER = "solver"
    """z3 gave up by itself."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The reason why a search ended early: the limit, its ``amount`` if it has one, ``what`` reached it (the container
    without a capacity), and ``detail`` in words."""

    limit: Limit
    amount: float = 0
    what: str = ""
    detail: str = ""

    def __str__(self) -> str:
        match self.limit:
            case Limit.STATES | Limit.STEPS | Limit.WALKS:
                return f"the limit of {counted(int(self.amount), self.limit.value)}"
            case Limit.SECONDS:
                return f"the limit of {counted_seconds(self.amount)}"
            case Limit.MEMORY:
                return f"the memory limit ({self.detail})" if self.detail else "the memory limit"
            case Limit.WIDTH:
                more = counted(int(self.amount), "element")
                return f"{self.what}, which would have to hold more than {more}: {self.detail}"
            case Limit.EFFORT:
                return f"z3's limit of {int(self.amount):,} units"
            case Limit.STORE | Limit.SOLVER:
                return self.detail
        assert_never(self.limit)


class LimitReached(Exception):  # noqa: N818 - it ends a search undetermined and is not an error
    """A limit ended a search."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop)
        self.stop = stop


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a search, beyond which it is undetermined. ``generated`` counts steps, ``memory`` is in bytes; None
    means no limit."""

    states: int | None = None
    seconds: float | None = None
    memory: int | None = None
    generated: int | None = None

    def reached(self, states: int = 0, steps: int = 0, seconds: float = 0, memory: int = 0) -> Stop | None:
        """The first limit that these figures exceed, or None."""
        taken = {Limit.STATES: states, Limit.STEPS: steps, Limit.SECONDS: seconds, Limit.MEMORY: memory}
        given = (self.states, self.generated, self.seconds, self.memory)
        for (limit, amount), most in zip(taken.items(), given, strict=True):
            if most is not None and amount > most:
                return Stop(limit, most)
        return None


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a search. ``workers=0`` means one per core. ``likely`` is the expected number of distinct states,
    by which the native engine chooses how far to optimise the code that it compiles; the result does not depend on it.
    """

    workers: int = 0
    symmetry: Symmetry = False
    deadlock: bool = False
    limits: Limits = Limits()
    likely: int | None = None
    fairness: Mapping[str, Fairness | None] = field(default_factory=dict)
    """The fairness that a spec adds to a model's actions or, by None, removes."""
    coverage: bool = False
    """Whether to count which lines and branches were taken."""


@dataclass(frozen=True, slots=True)
class DiskUse:
    """A disk of a cluster: the bytes that the search has there, and those that are free."""

    used: int
    free: int


@dataclass(frozen=True, slots=True)
class ClusterProgress:
    """The progress of a search in a cluster.

    ``tasks`` are those of the running stage, of which ``done`` have ended; ``failed`` counts attempts, which Spark
    repeats. ``largest`` is the number of states in the largest partition, and ``slowest`` the time of the slowest merge
    of the last level, both as multiples of the mean: 1 means that the work is evenly divided. ``disks`` are named by
    host and folder.
    """

    tasks: int = 0
    done: int = 0
    failed: int = 0
    partitions: int = 0
    largest: float = 1.0
    slowest: float = 1.0
    disks: Mapping[str, DiskUse] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proportion:
    """The number of items that were taken, of all."""

    taken: int
    of: int


@dataclass(frozen=True, slots=True)
class WalkProgress:
    """The progress of random walks. ``walks`` counts the walks that were begun, and all; ``longest`` is the number of
    steps of the longest one; ``actions`` has the steps of each action, ``goals`` the walks that visited a state of each
    ``@reachable`` property. If coverage is counted, ``covered`` has the shares of lines, branches, guards and values,
    and ``arguments`` those of the kinds of arguments of each action."""

    walks: Proportion
    longest: int
    actions: Mapping[str, int]
    goals: Mapping[str, int]
    covered: Mapping[str, Proportion] = field(default_factory=dict)
    arguments: Mapping[str, Proportion] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a running search: ``level`` counts from 1; ``memory`` and ``shuffled``, the data that a cluster
    has moved between workers, are in bytes. ``note`` says how the search continues since it outgrew memory. At level 0,
    before the search, there is only a note: the phase of the preparation. ``resumed`` of the states were found by the
    run that wrote the checkpoint. Random walks have no level, and ``walked``; their ``generated`` counts the states
    that they visited."""

    level: int
    frontier: int
    distinct: int
    generated: int
    seconds: float
    memory: int
    shuffled: int = 0
    note: str = ""
    resumed: int = 0
    cluster: ClusterProgress | None = None
    walked: WalkProgress | None = None


@dataclass(frozen=True, slots=True)
class TraceState:
    """One state of a counterexample and the step that led to it (the initial method, for the first)."""

    step: Step
    state: State


ViolationKind = Literal["invariant", "transition", "deadlock", "error", "liveness"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A property that is false, with a shortest trace to the state in which it is.

    ``kind`` "error" means that the model left its declared types. ``message``, ``file`` and ``line`` then describe the
    error, and ``failed_step`` is the step that could not be completed from the last state of the trace; ``overfull`` is
    whether a container would exceed its capacity. ``loop`` is the index in the trace from which a run that violates a
    liveness property repeats forever.
    """

    kind: ViolationKind
    property: str
    trace: tuple[TraceState, ...]
    message: str = ""
    file: str | None = None
    line: int | None = None
    failed_step: Step | None = None
    loop: int | None = None
    overfull: bool = False

    @classmethod
    def of_error(
        cls, error: SourceError, property: str, trace: tuple[TraceState, ...], failed_step: Step | None = None
    ) -> Violation:
        """A violation: after ``trace`` the model leaves its declared types, with this error of CPython's."""
        overfull = isinstance(error, CapacityExceeded)
        return cls("error", property, trace, error.message, error.file, error.line, failed_step, overfull=overfull)


@dataclass(frozen=True, slots=True)
class FairReason:
    """Why a loop is fair to an action: ``assumption`` in words, and the evidence in the loop."""

    assumption: str
    why: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one liveness property for one choice of its parameters, which ``name`` contains.

    A run that violates it is a lasso: ``trace`` up to the index ``loop``, and the rest forever. The last state equals
    that at ``loop``; if nothing follows, the run stutters. ``loop`` is None for a state from which the goal is
    unreachable. ``bounds`` are those because of which the lasso need not be a run of the protocol: then the property is
    undetermined. ``needs`` is a smallest set of assumptions under which it holds. ``mapped`` is the refined model's
    view of a run that violates a property of mapped runs.
    """

    property: str
    name: str
    arguments: Mapping[str, Any]
    verdict: Literal["holds", "violated", "undetermined"]
    trace: tuple[TraceState, ...] = ()
    loop: int | None = None
    fair: tuple[FairReason, ...] = ()
    bounds: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    mapped: tuple[str, ...] = ()

    def ended_by(self) -> str:
        """``the bound max_epoch ends the run``."""
        many = len(self.bounds) > 1
        return f"the bound{'s' * many} {', '.join(self.bounds)} end{'' if many else 's'} the run"


@dataclass(frozen=True, slots=True)
class Premise:
    """A premise of a property that holds in no reachable state, so that the property is vacuous; ``text`` says so.

    A refinement has one for each action of the refined model; ``property`` is then ``as_store.deletes``, for example.
    """

    property: str
    file: str
    line: int
    text: str = "its premise is never true"


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimated mean, and the ends of an interval that contains the true one in 95 of 100 cases."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class WalkFigures:
    """The coverage of a model by random walks: ``walks`` of up to ``steps`` steps each, drawn from ``seed``.

    ``distinct`` is the number of distinct states, an estimate unless its interval is a point; ``new_states`` is the
    expected number of states that a further walk visits and these have not, or None. ``dead_ends`` are the walks that
    ended where no action is enabled, ``cut_short`` those that ended where every step leaves the boundary. ``goals`` are
    the walks that visited a state of each ``@reachable`` property.
    """

    walks: int
    steps: int
    seed: int
    strategy: str
    distinct: Estimate
    new_states: Estimate | None
    dead_ends: int
    cut_short: int
    goals: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CoverageCount:
    """The number of times that an action or a property, its ``part``, took an outcome of a place in the source.

    ``kind`` is the kind of the place (``floodmark.compiler.marks``), ``text`` its text, or the value of an argument or
    a variable; ``outcome`` is the counted truth value of a condition.
    """

    part: str
    kind: str
    file: str
    line: int
    column: int
    outcome: bool | None
    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """The evaluations in ``states`` (those of a search; of walks each as often as it was visited) and in all steps from
    them. ``whole`` counts the completions of each part: the steps of an action, the evaluations of a property."""

    states: int
    whole: dict[str, int]
    counts: tuple[CoverageCount, ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search. ``complete`` is whether it found all reachable states; ``stopped`` is the limit that
    ended an incomplete one.

    ``values_seen`` is the number of values that each variable took. It is empty for a search of orbits, whose
    representatives show only some values. ``sizes`` has the largest observed size of each container with a capacity or
    a width, by its place; renaming preserves sizes, so a search of orbits has them, too. ``widths`` are those that were
    chosen for containers without a capacity, as far as they exceed the first one. ``memory`` is the largest observed
    number of bytes of the command; ``notes`` are remarks for the user on how the search was done. ``assumed`` is the
    fairness that ``liveness`` rests on. ``walked`` is there for random walks alone: their ``generated`` counts visited
    states, ``depth`` the states of the longest walk.
    """

    engine: str
    complete: bool = False
    stopped: Stop | None = None
    distinct: int = 0
    generated: int = 0
    depth: int = 0
    digest: str = ""
    levels: list[int] = field(default_factory=list)
    actions: dict[str, int] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    reached: dict[str, tuple[TraceState, ...]] = field(default_factory=dict)
    vacuous: list[Premise] = field(default_factory=list)
    values_seen: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    widths: dict[str, int] = field(default_factory=dict)
    liveness: list[Finding] = field(default_factory=list)
    assumed: tuple[str, ...] = ()
    cut: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    memory: int = 0
    workers: int = 1
    state_bits: int = 0
    notes: list[str] = field(default_factory=list)
    walked: WalkFigures | None = None
    coverage: Coverage | None = None

    @property
    def undetermined(self) -> list[Finding]:
        """The findings that a bound leaves undetermined."""
        return [finding for finding in self.liveness if finding.verdict == "undetermined"]


Watcher = Callable[[Progress], None]
