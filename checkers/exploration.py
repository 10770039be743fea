"""What every engine takes and returns: the options of a search and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from floodmark.language.fairness import Fairness
from floodmark.language.model import State
from floodmark.language.reference import Step

Symmetry = bool | tuple[str, ...]
"""Whether states that differ only in the names of identifiers count as one; or the classes of those whose names do."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search gives up and is undetermined. ``generated`` counts steps, ``memory`` is in bytes; None means no
    limit.
    """

    states: int | None = None
    seconds: float | None = None
    memory: int | None = None
    generated: int | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """How to search. ``workers=0`` means one per core. ``likely`` is the expected number of distinct states, by which
    the native engine chooses how far to optimise the code that it compiles; the result does not depend on it."""

    workers: int = 0
    symmetry: Symmetry = False
    deadlock: bool = False
    limits: Limits = Limits()
    likely: int | None = None
    fairness: Mapping[str, Fairness | None] = field(default_factory=dict)
    """What a spec adds to the fairness of a model's actions or, by None, takes away."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a running search: ``level`` counts from 1; ``memory`` and ``shuffled``, which is what a cluster
    has moved between workers, are in bytes. ``note`` says how the search goes on since it outgrew memory. At level 0,
    before there is a search, there is only a note: what the check waits for."""

    level: int
    frontier: int
    distinct: int
    generated: int
    seconds: float
    memory: int
    shuffled: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class TraceState:
    """One state of a counterexample and the step that led to it (the initial method, for the first)."""

    step: Step
    state: State


ViolationKind = Literal["invariant", "transition", "deadlock", "error", "liveness"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A property that is false, with a shortest trace to the state in which it is.

    ``kind`` "error" means that the model left its declared types; ``message``, ``file`` and ``line`` then say how and
    where, and ``failed_step`` is the step that could not be completed from the last state of the trace. ``loop`` is the
    place in the trace from which a run that breaks a liveness property goes round for ever.
    """

    kind: ViolationKind
    property: str
    trace: tuple[TraceState, ...]
    message: str = ""
    file: str | None = None
    line: int | None = None
    failed_step: Step | None = None
    loop: int | None = None


@dataclass(frozen=True, slots=True)
class FairReason:
    """Why a loop treats an action fairly: ``assumption`` in words, and what the loop shows."""

    assumption: str
    why: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one liveness property for one choice of its parameters; ``name`` says which.

    A run that breaks it is a lasso: ``trace`` up to the place ``loop``, and what follows it for ever. The last state is
    that at ``loop`` again; where nothing follows, the run stutters. ``loop`` is None for a state from which nothing
    leads to the goal. ``bounds`` are those because of which the lasso need not be a run of the protocol: then the
    property is undetermined. ``needs`` is a smallest set of assumptions under which it holds.
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


@dataclass(frozen=True, slots=True)
class Premise:
    """A premise of a property that is true in no reachable state, so that the property says nothing."""

    property: str
    file: str
    line: int


@dataclass(slots=True)
class Exploration:
    """What a search found. ``complete`` is true when it saw the whole reachable set.

    ``values_seen`` is the number of values that each variable took. It is empty for a search of orbits, where the one
    state visited for each orbit shows only some of them.
    ``sizes`` has the largest size that each container with a capacity or a width was seen to have, by its place;
    renaming does not change a size, so a search of orbits has them, too. ``widths`` are those that were chosen for
    containers without a capacity, as far as they are larger than the first one.
    ``memory`` is the largest number of bytes that the command was seen to use; ``notes`` say what the user should know
    about how the search was done.
    ``assumed`` is the fairness that ``liveness`` rests on.
    """

    engine: str
    complete: bool = False
    stopped: str = ""
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


Watcher = Callable[[Progress], None]
