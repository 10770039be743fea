"""The result of comparing two versions of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from floodmark.checkers.edits.alignment import Alignment
from floodmark.checkers.edits.inclusion import Kind
from floodmark.checkers.search_result import TraceState
from floodmark.language.model import Model

VersionName = Literal["old", "new"]
Answer = Literal["none", "some", "undetermined"]
"""Whether there are behaviours that only one version has; "none" only where a complete search shows it."""
SameBy = Literal["source", "graph", "search"]


@dataclass(frozen=True)
class Reason:
    """Why a version does not take a step: the rest of a sentence whose subject is the version, and a place in its
    source."""

    text: str
    file: str | None = None
    line: int | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class DistinguishingRun:
    """A shortest run of one version that the other lacks. ``kind`` is how it differs; ``reason`` is why the other
    version does not take its last step, if known."""

    version: VersionName
    kind: Kind
    model: Model
    trace: tuple[TraceState, ...]
    reason: Reason | None = None

    @property
    def steps(self) -> int:
        """The number of steps after the initial state."""
        return len(self.trace) - 1


@dataclass(frozen=True)
class ActionChange:
    """An action that differs. ``old`` and ``new`` are its names, None where a version has no counterpart.

    ``common`` is the number of states that both versions reach. The new action has a successor that the old one lacks
    in ``more`` of them, and lacks one in ``less``. ``gone`` is whether it fired in the old version and never fires in
    the new one. ``examples`` are shortest runs that end with such a step.
    """

    old: str | None
    new: str | None
    more: int = 0
    less: int = 0
    common: int = 0
    gone: bool = False
    examples: tuple[DistinguishingRun, ...] = ()

    @property
    def name(self) -> str:
        return self.new or self.old or ""


@dataclass(frozen=True)
class VersionError:
    """A version leaves its declared types, so the runs beyond that point are unknown."""

    version: VersionName
    message: str
    file: str | None
    line: int | None
    model: Model
    trace: tuple[TraceState, ...]


@dataclass
class Difference:
    """The behaviours that an edit added and removed, and its other effects on the model.

    ``by`` is how the two versions were shown to be the same, if they are. ``stopped`` is the limit or error that ended
    the comparison early. ``states`` has the number of states that each version reaches and that both reach in the same
    way (``common``), as far as they were counted.
    """

    alignment: Alignment
    added: Answer = "undetermined"
    removed: Answer = "undetermined"
    witnesses: list[DistinguishingRun] = field(default_factory=list)
    actions: list[ActionChange] = field(default_factory=list)
    by: SameBy | None = None
    stopped: str = ""
    failure: VersionError | None = None
    states: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def is_same(self) -> bool:
        """Whether it is proved that no behaviour was added and none removed."""
        return self.added == self.removed == "none"

    @property
    def is_undetermined(self) -> bool:
        """Whether the comparison left added or removed behaviours undecided."""
        return "undetermined" in (self.added, self.removed)
