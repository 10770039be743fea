"""The verdict cache: the results of jobs whose dependences have not changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from floodmark.checkers import disk_cache
from floodmark.checkers.gate.basis import Bases, own_definitions
from floodmark.checkers.gate.job import CacheKey, Job, VerdictSubject, VerdictWithSources, is_final, unpickled
from floodmark.checkers.gate.values import NotCacheable


class Verdicts:
    """Cached verdicts by the keys of jobs; with ``used`` false none is read and none is stored.

    Create it before any model is loaded and query it after all are loaded, so that it sees every effect of one module
    on another. ``uncacheable`` counts the verdicts that cannot be cached, by reason.
    """

    def __init__(self, used: bool = True) -> None:
        self.used = used
        self.uncacheable: dict[str, int] = {}
        self._keys: dict[int, CacheKey] = {}
        self._folder = disk_cache.cache_directory() / "verdicts"
        self._at_first = own_definitions() if used else {}

    def known(self, jobs: Sequence[Job], subjects: Mapping[int, VerdictSubject]) -> dict[int, VerdictWithSources]:
        """The cached results of those jobs whose subject could be loaded, by the jobs' positions."""
        if not self.used:
            return {}
        bases = Bases(self._at_first)
        found = {at: self._get(at, jobs[at], subject, bases) for at, subject in subjects.items()}
        return {position: known for position, known in found.items() if known is not None}

    def _get(self, position: int, job: Job, subject: VerdictSubject, bases: Bases) -> VerdictWithSources | None:
        try:
            self._keys[position] = job.key(subject, bases)
        except NotCacheable as error:
            self.uncacheable[str(error)] = self.uncacheable.get(str(error), 0) + 1
            return None
        content = disk_cache.read(self._path(position))
        try:
            found = None if content is None else unpickled(job, subject, content)
        except Exception:
            return None  # stored by a version that pickled something else
        return found if found is not None and is_final(found[0]) else None

    def keep(self, position: int, content: bytes, found: VerdictWithSources) -> None:
        """Stores a verdict that more time would not change, if the files that it rests on are unchanged."""
        if position in self._keys and is_final(found[0]) and self._keys[position].basis.is_still_there():
            disk_cache.write(self._path(position), content)

    def _path(self, position: int) -> Path:
        return self._folder / self._keys[position].text
