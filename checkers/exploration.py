"""What every engine takes and gives: the options of a search and what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from floodmark.language.model import State
from floodmark.language.reference import Step


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search gives up, undetermined. ``memory`` is in bytes; None means no limit."""

    states: int | None = None
    seconds: float | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """How to search. ``workers`` of 0 means one for each core; ``likely`` is how many distinct states there should be,
    by which the native engine chooses how good the code is that it compiles: what is found does not depend on it."""

    workers: int = 0
    symmetry: bool = False
    deadlock: bool = False
    limits: Limits = Limits()
    likely: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """A search under way: ``level`` counts from 1, ``memory`` and what a cluster has ``shuffled`` are in bytes."""

    level: int
    frontier: int
    distinct: int
    generated: int
    seconds: float
    memory: int
    shuffled: int = 0


@dataclass(frozen=True, slots=True)
class TraceState:
    """One state of a counterexample and the step that led to it (the initial method, for the first)."""

    step: Step
    state: State


ViolationKind = Literal["invariant", "transition", "deadlock", "error"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A property that is false, with a shortest trace to where it is.

    ``kind`` "error" is a model that left its declared types; ``message``, ``file`` and ``line`` then say how and where,
    and ``failed_step`` is the step that could not be completed from the last state of the trace.
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
    """A premise of a property that no reachable state made true: the property says nothing there."""

    property: str
    file: str
    line: int


@dataclass(slots=True)
class Exploration:
    """What a search found. ``complete`` is true when the whole reachable set was seen.

    ``values_seen``, how many values each variable took, is empty for orbits: one state of each has only some of them.
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


Watcher = Callable[[Progress], None]
