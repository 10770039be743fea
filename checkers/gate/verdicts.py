"""The verdict cache: what was found of jobs whose every dependency is as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from floodmark.checkers import disk_cache
from floodmark.checkers.gate.basis import Bases, own_definitions
from floodmark.checkers.gate.job import Found, Job, Key, Subject, is_final, unpickled
from floodmark.checkers.gate.values import NotKept


class Verdicts:
    """Verdicts by the keys of jobs; with ``used`` false none is taken and none is kept.

    It is made before any model is loaded, and asked when all are: what a module does to others is done by then.
    ``unkept`` says why there are verdicts that cannot be kept, and of how many that is so.
    """

    def __init__(self, used: bool = True) -> None:
        self.used = used
        self.unkept: dict[str, int] = {}
        self._keys: dict[int, Key] = {}
        self._at_first = dict(own_definitions()) if used else {}

    def known(self, jobs: Sequence[Job], subjects: Mapping[int, Subject]) -> dict[int, Found]:
        """What is known of the jobs, by their positions, of which those have a subject that could be loaded."""
        if not self.used:
            return {}
        bases = Bases(self._at_first)
        found = {at: self._get(at, jobs[at], subject, bases) for at, subject in subjects.items()}
        return {position: known for position, known in found.items() if known is not None}

    def _get(self, position: int, job: Job, subject: Subject, bases: Bases) -> Found | None:
        try:
            self._keys[position] = job.key(subject, bases)
        except NotKept as error:
            self.unkept[str(error)] = self.unkept.get(str(error), 0) + 1
            return None
        content = disk_cache.read(self._path(position))
        try:
            found = None if content is None else unpickled(job, content)
        except Exception:
            return None  # kept by a version that pickled something else: it is found anew
        return found if found is not None and is_final(found[0]) else None

    def keep(self, position: int, content: bytes, found: Found) -> None:
        """Keeps a verdict, if it would be the same again."""
        if position in self._keys and is_final(found[0]) and self._keys[position].basis.is_still_there():
            disk_cache.write(self._path(position), content)

    def _path(self, position: int) -> Path:
        return disk_cache.cache_directory() / "verdicts" / self._keys[position].text
