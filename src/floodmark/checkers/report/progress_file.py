"""The file of ``--json`` during a run: its progress, for programs that watch it.

The results replace it when the run ends. A run that is killed leaves it, with its last figures. It has a schema of its
own, so that no reader takes it for results.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from floodmark.checkers.report import atomic_file
from floodmark.checkers.report.progress import seconds_left
from floodmark.checkers.search_result import Progress
from floodmark.checkers.verdict.check import Check, variant_name
from floodmark.language.errors import SourceError

SCHEMA = "floodmark.progress/1"
EVERY = 1.0
"""Seconds between two versions of the file."""


class ProgressFile:
    """Writes the progress of a run of ``checks`` checks, if the path is that of an ordinary file. ``total`` is the
    number of states that a search will find, if known."""

    def __init__(self, path: Path | None, checks: int, total: Callable[[Check], int | None]) -> None:
        self.path = path if path is not None and (path.is_file() or not path.exists()) and str(path) != "-" else None
        self.checks = checks
        self.total = total
        self.done = 0
        self._last = 0.0

    def show(self, check: Check, at: Progress) -> None:
        """Writes the figures of a search, unless that was just done."""
        now = time.monotonic()
        if self.path is None or now - self._last < EVERY:
            return
        self._last = now
        total = self.total(check)
        left = seconds_left(at.seconds, at.distinct - at.resumed, (total or 0) - at.resumed)
        search = {
            "spec": str(check.spec.path), "name": check.spec.name, "variant": variant_name(check), "states": total,
            "seconds_left": None if left is None else round(left, 1), **asdict(at),
        }  # fmt: skip
        whole = {"schema": SCHEMA, "done": self.done, "checks": self.checks, "search": search}
        with contextlib.suppress(SourceError):  # the results will say so
            atomic_file.write(self.path, json.dumps(whole, indent=1) + "\n")
