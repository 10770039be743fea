"""What a comparison of two versions of a model found."""

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
    """Why a version does not take a step, as the end of a sentence that begins with it; with a place in its source."""

    text: str
    file: str | None = None
    line: int | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Witness:
    """A shortest run of one version that the other one does not have. ``kind`` is how it differs; ``reason`` is why the
    other version does not take its last step, where that can be told."""

    version: VersionName
    kind: Kind
    model: Model
    trace: tuple[TraceState, ...]
    reason: Reason | None = None

    @property
    def steps(self) -> int:
        """How many steps it has after its initial state."""
        return len(self.trace) - 1


@dataclass(frozen=True)
class ActionChange:
    """An action that differs. ``old`` and ``new`` are its names, None where a version has none like it.

    Of ``common`` states that both versions reach, it leads somewhere else too in ``more``, and nowhere that it led
    before in ``less``. ``gone`` is whether it fired in the old version and never fires in the new one. ``examples`` are
    shortest runs that end with such a step.
    """

    old: str | None
    new: str | None
    more: int = 0
    less: int = 0
    common: int = 0
    gone: bool = False
    examples: tuple[Witness, ...] = ()

    @property
    def name(self) -> str:
        return self.new or self.old or ""


@dataclass(frozen=True)
class ModelError:
    """A version leaves its declared types, so nothing is known of the runs behind that."""

    version: VersionName
    message: str
    file: str | None
    line: int | None
    model: Model
    trace: tuple[TraceState, ...]


@dataclass
class Difference:
    """The behaviours that an edit of a model added and removed, and what else it changed of it.

    ``by`` is why the two are the same, if they are. ``stopped`` is what ended the comparison before it was complete.
    ``states`` has how many states each version reaches, and both of them in the same way (``common``), as far as they
    were counted.
    """

    alignment: Alignment
    added: Answer = "undetermined"
    removed: Answer = "undetermined"
    witnesses: list[Witness] = field(default_factory=list)
    actions: list[ActionChange] = field(default_factory=list)
    by: SameBy | None = None
    stopped: str = ""
    failure: ModelError | None = None
    states: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def is_same(self) -> bool:
        """Whether it is proved that no behaviour was added and none removed."""
        return self.added == self.removed == "none"

    @property
    def is_undetermined(self) -> bool:
        """Whether something is not known: whether there are more behaviours than before, or fewer."""
        return "undetermined" in (self.added, self.removed)
