"""The verdict cache: what was found of jobs whose every dependency is as it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from checkers import kept
from checkers.gate.job import Found, Job, is_final, unpickled
from model.language.errors import SourceError


class Verdicts:
    """Verdicts by the keys of jobs; with ``used`` false none is taken and none is kept."""

    def __init__(self, used: bool = True) -> None:
        self.used = used
        self._keys: dict[int, str] = {}

    def known(self, jobs: Sequence[Job]) -> dict[int, Found]:
        """What is known of the jobs, by their positions."""
        if not self.used:
            return {}
        found = {position: self._get(position, job) for position, job in enumerate(jobs)}
        return {position: known for position, known in found.items() if known is not None}

    def _get(self, position: int, job: Job) -> Found | None:
        try:
            self._keys[position] = job.key()
        except (SourceError, OSError, SyntaxError):
            return None  # which the run of the job says in its own way
        content = kept.read(self._path(position))
        try:
            found = None if content is None else unpickled(job, content)
        except Exception:
            return None  # kept by a version that pickled something else: it is found anew
        return found if found is not None and is_final(found[0]) else None

    def keep(self, position: int, content: bytes, found: Found) -> None:
        """Keeps a verdict, if it would be the same again."""
        if position in self._keys and is_final(found[0]):
            kept.write(self._path(position), content)

    def _path(self, position: int) -> Path:
        return kept.cache_directory() / "verdicts" / self._keys[position]
