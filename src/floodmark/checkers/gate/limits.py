"""Limits of a whole run of the gate: the time after which pending verdicts are undetermined, and the memory of all
processes.

    [tool.floodmark.gate.limits]
    seconds = 900
    memory = "8G"

in the ``pyproject.toml`` of the project; the options of the command come before it. A limit of a spec or of ``floodmark
check`` is one check's.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from floodmark.checkers.project.spec import tool_settings
from floodmark.checkers.search_result import Limits
from floodmark.language.plurals import counted_seconds


@dataclass(frozen=True, slots=True)
class RunDeadline:
    """The end of a run of the gate: ``seconds`` after its start, at ``ends`` on the clock of ``time.time``."""

    seconds: float
    ends: float

    @classmethod
    def after(cls, seconds: float | None) -> RunDeadline | None:
        return None if seconds is None else cls(seconds, time.time() + seconds)

    @property
    def left(self) -> float:
        """The remaining seconds, at least 0."""
        return max(0.0, self.ends - time.time())

    @property
    def reason(self) -> str:
        """The reason why a job has no verdict."""
        return f"the gate's limit of {counted_seconds(self.seconds)} was reached before this had a verdict"


def seconds_left(deadline: RunDeadline | None, own: float | None = None) -> float | None:
    """The time limit of a job that begins now and may have a limit of its own."""
    left = [each for each in (own, None if deadline is None else deadline.left) if each is not None]
    return min(left, default=None)


def limits_of(root: Path, given: Limits) -> Limits:
    """The limits of a project's gate: those given on the command line, else those in its ``pyproject.toml``."""
    own: Limits = tool_settings(root).get("gate", Limits())
    return Limits(
        seconds=given.seconds if given.seconds is not None else own.seconds,
        memory=given.memory if given.memory is not None else own.memory,
    )
