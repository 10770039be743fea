"""Collects the text of a Promela model: lines, labels, and variables for intermediate results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from floodmark.checkers.export.names import Names
from floodmark.checkers.export.promela_values import CellAddress


class Text:
    """Lines, and the temporary variables that they use.

    A temporary is free again after the statement that needed it, so few are needed in total.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.lines: list[str] = []
        self.temporaries: dict[str, int] = {}
        """Each temporary variable with its cells."""
        self._used: Counter[tuple[str, int]] = Counter()
        self._known: dict[tuple[str, int, int], str] = {}
        self._indent = 0
        self._labels = 0

    def emit(self, line: str) -> None:
        self.lines.append("  " * self._indent + line)

    @contextmanager
    def indented(self) -> Iterator[None]:
        self._indent += 1
        yield
        self._indent -= 1

    @contextmanager
    def aside(self) -> Iterator[list[str]]:
        """Collects lines separately."""
        saved, self.lines = self.lines, []
        yield self.lines
        self.lines = saved

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Emits the statements of the block so that they run only if the condition is true."""
        self.emit(f"if :: {condition} ->")
        with self.indented():
            before = len(self.lines)
            yield
            if len(self.lines) == before:
                self.emit("skip")
        self.emit(":: else fi;")

    @contextmanager
    def loop(self, low: str, high: str, step: int = 1) -> Iterator[str]:
        """Iterates over the integers from ``low`` to ``high``, exclusive."""
        index = self.temporary("i", 1)
        counter = index.cell("0")
        self.emit(f"{counter} = {low};")
        self.emit(f"do :: {counter} {'<' if step > 0 else '>'} {high} ->")
        with self.indented():
            yield counter
            self.emit(f"{counter} = {counter} + {step}" if step > 0 else f"{counter} = {counter} - {-step}")
        self.emit(":: else -> break od;")

    def label(self, name: str) -> str:
        self._labels += 1
        return f"{name}_{self._labels}"

    def temporary(self, name: str, cells: int) -> CellAddress:
        """Cells that nothing else uses until the statement ends. They are C globals, so their names must not clash
        with C's."""
        key = (name, cells)
        self._used[key] += 1
        slot = (name, cells, self._used[key])
        if slot not in self._known:
            self._known[slot] = self.names.fresh(f"t_{name}")
            self.temporaries[self._known[slot]] = cells
        return CellAddress(self._known[slot], None if cells == 1 else "0")

    @contextmanager
    def statement(self) -> Iterator[None]:
        """A statement; its temporaries are free again at its end."""
        saved = self._used.copy()
        yield
        self._used = saved
