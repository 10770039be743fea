"""The interface of stores of states, which are in memory, in files, or in a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.codegen.model_module import COUNTERS, Interface
from floodmark.checkers.kernel.compiled_model import Kernel
from floodmark.checkers.kernel.memory import MemoryBudget
from floodmark.checkers.search.container_sizes import LargestSizes
from floodmark.checkers.search.statistics import values_seen
from floodmark.checkers.search.symmetry import confirm_symmetry
from floodmark.checkers.search_result import ClusterProgress, LimitReached

Array = NDArray[np.uint64]
Packed = tuple[int, ...]
PIECE = 1 << 16
"""The number of states that Python processes together."""


class StoreFull(LimitReached):
    """The store has no room for more states."""


class Store(ABC):
    """The states of a search, and the code that expands them.

    States are numbered in the order in which they were found, so a level is a range of numbers.
    """

    adapts = False
    """Whether it lowers its own limit when something else takes the memory."""
    shuffled = 0
    """The number of bytes that were sent between processes."""
    progress: ClusterProgress | None = None
    """The progress of the tasks of a cluster."""

    def __init__(self, interface: Interface) -> None:
        self.interface = interface
        self.words = self.interface.layout.words
        self.wanted = (0, 0)
        """The masks of the state predicates that are noted where they are false, and where they are true."""

    @property
    @abstractmethod
    def newest_level(self) -> tuple[int, int]:
        """The range of the level that was started last; it is empty before the first one."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of states found."""

    @property
    @abstractmethod
    def context(self) -> Array:
        """The counters, as ``codegen/model_module.py`` arranges them."""

    @property
    @abstractmethod
    def digest(self) -> Array:
        """The two sums of the digest, modulo 2**64."""

    @property
    def fired(self) -> Array:
        """The number of firings of each action."""
        return self.context[COUNTERS : self.interface.first_premise]

    @abstractmethod
    def add(self, states: Sequence[Packed]) -> None:
        """Adds up to a batch of initial states. Raises StoreFull."""

    @abstractmethod
    def start_level(self, level: int) -> None:
        """Makes everything found since the last level the frontier; ``level`` counts from 1."""

    @abstractmethod
    def expand_level(self, paused: Callable[[], bool]) -> bool:
        """Expands the rest of the frontier; False when ``paused`` said to stop partway. Raises StoreFull."""

    @abstractmethod
    def check_level(self) -> None:
        """Evaluates the state predicates on the states found since the last level began."""

    @abstractmethod
    def noted(self, place: int) -> Packed | None:
        """The smallest state noted at a place, however the work was divided; clears the note."""

    @abstractmethod
    def parent_in(self, level: int, target: Packed) -> Packed | None:
        """The smallest state of a level (counted from 0) that has ``target`` as a successor."""

    @abstractmethod
    def pieces(self) -> Iterator[Array]:
        """All states, rows of words, some at a time."""

    @abstractmethod
    def values_seen(self, budget: MemoryBudget) -> dict[str, int]:
        """The number of distinct values of each variable."""

    @abstractmethod
    def confirm_symmetry(self, kernel: Kernel, stopped: bool) -> None:
        """Raises RuntimeError if a state and its copy under other names are treated differently."""

    def take_code(self) -> None:  # noqa: B027 - where code is good from the start, there is nothing to do
        """Switches to the kernel's current edition of the model's code."""

    def adapt(self) -> None:  # noqa: B027 - only for those that adapt
        """Lowers its own limit if something else has taken the memory meanwhile."""

    def container_sizes(self) -> dict[str, int]:
        """The largest size of each container with a capacity; empty where reading all states would take too long."""
        return {}

    @abstractmethod
    def close(self) -> None:
        """Releases the memory and files of the store."""


class StorePart(Protocol):
    """A part of a store whose states can be read here."""

    levels: list[tuple[int, int]]

    @property
    def count(self) -> int:
        """The number of its states."""

    def rows(self, start: int, stop: int) -> Array:
        """A slice of its states, a row of words each."""

    def give_back(self, start: int, stop: int) -> None:
        """Releases the memory of a slice of its states, which have been copied elsewhere."""


class LocalStore(Store):
    """A store on this machine, in parts."""

    @property
    @abstractmethod
    def parts(self) -> Sequence[StorePart]:
        """The parts of the store."""

    @property
    def count(self) -> int:
        return sum(part.count for part in self.parts)

    @property
    def newest_level(self) -> tuple[int, int]:
        ranges = [part.levels[-1] for part in self.parts if part.levels]
        return sum(start for start, _ in ranges), sum(stop for _, stop in ranges)

    def level_ends(self) -> list[int]:
        """The number of states found up to the end of each started level."""
        return [sum(stop for _, stop in level) for level in zip(*(part.levels for part in self.parts), strict=True)]

    @property
    def memory_bytes(self) -> int:
        """The number of bytes of memory of its states and tables."""
        return 0

    def pieces(self) -> Iterator[Array]:
        for part in self.parts:
            for start in range(0, part.count, PIECE):
                yield part.rows(start, min(start + PIECE, part.count))

    def initial(self) -> Array:
        """The words of the initial states."""
        ends = [part.levels[0][1] if part.levels else part.count for part in self.parts]
        rows = [part.rows(0, end) for part, end in zip(self.parts, ends, strict=True)]
        return np.concatenate(rows).reshape(-1)

    def handed_over(self) -> Iterator[Iterator[Array]]:
        """The words of all states, in pieces, level by level, those of the next level last. A request for the next
        level releases the memory of the previous one."""
        cuts = [[0, *(stop for _, stop in part.levels), part.count] for part in self.parts]
        for level in range(len(cuts[0]) - 1):
            yield (
                part.rows(at, min(at + PIECE, cut[level + 1])).reshape(-1)
                for part, cut in zip(self.parts, cuts, strict=True)
                for at in range(cut[level], cut[level + 1], PIECE)
            )
            for part, cut in zip(self.parts, cuts, strict=True):
                part.give_back(cut[level], cut[level + 1])

    def container_sizes(self) -> dict[str, int]:
        seen = LargestSizes(self.interface.layout)
        if seen.is_needed():
            for rows in self.pieces():
                seen.look(rows)
        return seen.largest

    def values_seen(self, budget: MemoryBudget) -> dict[str, int]:
        room = budget.room(self.memory_bytes) - self.memory_bytes
        return values_seen(self.interface.layout, self.pieces, self.count, room)

    def confirm_symmetry(self, kernel: Kernel, stopped: bool) -> None:
        confirm_symmetry(kernel, self.parts, self.fired.tolist())
