"""What every engine takes and returns: the options of a search and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from floodmark.language.model import State
from floodmark.language.reference import Step


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search gives up and is undetermined. ``memory`` is in bytes; None means no limit."""

    states: int | None = None
    seconds: float | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """How to search. ``workers=0`` means one per core. ``likely`` is the expected number of distinct states, by which
    the native engine chooses how far to optimise the code that it compiles; the result does not depend on it."""

    workers: int = 0
    symmetry: bool = False
    deadlock: bool = False
    limits: Limits = Limits()
    likely: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a running search: ``level`` counts from 1; ``memory`` and ``shuffled``, which is what a cluster
    has moved between workers, are in bytes. ``note`` says how the search goes on since it outgrew memory."""

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


ViolationKind = Literal["invariant", "transition", "deadlock", "error"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A property that is false, with a shortest trace to the state in which it is.

    ``kind`` "error" means that the model left its declared types; ``message``, ``file`` and ``line`` then say how and
    where, and ``failed_step`` is the step that could not be completed from the last state of the trace.
    """

    kind: ViolationKind
    property: str
    trace: tuple[TraceState, ...]
    message: str = ""
    file: str | None = None
    line: int | None = None
    failed_step: Step | None = None


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
    ``memory`` is the largest number of bytes that the command was seen to use; ``notes`` say what the user should know
    about how the search was done.
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
    cut: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    memory: int = 0
    workers: int = 1
    state_bits: int = 0
    notes: list[str] = field(default_factory=list)


Watcher = Callable[[Progress], None]
