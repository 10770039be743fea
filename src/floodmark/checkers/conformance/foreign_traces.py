"""Traces in foreign formats, which a Python file of the user reads as steps of a model.

The file has ``SUFFIXES``, the suffixes of the names of such traces, and ``lines(text)``, which yields an object with a
line of a trace for each step; its ``"line"`` is the line of the text that it comes from. It raises SourceError, with
the number of a line, for a text that it cannot read. It may have ``CONSTANTS``: sizes of the model that are large
enough for such traces; a spec's own are those at which its model can be explored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from floodmark.checkers.project.modules import load_file
from floodmark.language.errors import SourceError


@dataclass(frozen=True)
class TraceReader:
    """A trace reader of the user."""

    suffixes: tuple[str, ...]
    lines: Callable[[str], Iterable[dict[str, Any]]]
    constants: Mapping[str, int]

    def read(self, text: str) -> str:
        """A trace as JSON lines."""
        return "\n".join(json.dumps(line) for line in self.lines(text))


@lru_cache
def reader_of(path: Path) -> TraceReader:
    """The reader in a file. Raises SourceError for a file without one."""
    module = load_file(path)
    suffixes, lines = getattr(module, "SUFFIXES", None), getattr(module, "lines", None)
    if not isinstance(suffixes, tuple) or not all(isinstance(suffix, str) for suffix in suffixes):
        raise SourceError('a reader of traces has SUFFIXES, a tuple such as (".ndjson",)', str(path))
    if not callable(lines):
        raise SourceError("a reader of traces has lines(text), which yields its steps", str(path))
    return TraceReader(suffixes, lines, getattr(module, "CONSTANTS", {}))
