"""The scope of a gate: the specs and claims below a folder, and the lock that they are compared with, from which a
check knows how many states to expect.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from floodmark.checkers.gate import lock
from floodmark.checkers.gate.lock import Lock
from floodmark.checkers.project import input_file, spec_address
from floodmark.checkers.project.claim import Claim
from floodmark.checkers.project.modules import Project
from floodmark.checkers.project.paths import resolved
from floodmark.checkers.project.spec import Spec
from floodmark.checkers.verdict.check import Check
from floodmark.language.errors import SourceError


@dataclass(frozen=True, slots=True)
class GateScope:
    """``folder`` has the specs, or is a spec's file; ``lock`` is the lock file, in the folder or in one above it."""

    folder: Path
    lock: Path

    @classmethod
    def of(cls, folder: Path) -> GateScope:
        """The scope of a folder of specs, of a repository that has a folder ``specs``, or of a spec's file."""
        if (folder / "specs").is_dir():
            folder = folder / "specs"
        place = folder if folder.is_dir() else folder.parent
        root = Project.of(place / lock.NAME).root
        here = resolved(place)
        above = [each for each in (here, *here.parents) if each.is_relative_to(root) and (each / lock.NAME).is_file()]
        return cls(folder, place / lock.NAME if not above or above[0] == here else above[0] / lock.NAME)

    def files(self) -> list[Path]:
        """The files of the specs."""
        return input_file.below(self.folder, spec_address.SUFFIX) if self.folder.is_dir() else [self.folder]

    def name_of(self, spec: Spec) -> str:
        """The name of a spec in the lock: that of its file, with the row if it is one."""
        return spec_address.with_row(self.name(spec.path), spec.row)

    def name(self, path: Path) -> str:
        """The name of a file in the lock: its path below the lock's folder, without the suffix."""
        return resolved(path).with_suffix("").relative_to(resolved(self.lock.parent)).as_posix()

    def has(self, name: str) -> bool:
        """Whether an entry of the lock belongs to the folder, or to the spec."""
        if not self.folder.is_dir():
            own = self.name(self.folder)
            return name == own or name.startswith((f"{own}{spec_address.SIGN}", f"{own} "))
        below = resolved(self.folder).relative_to(resolved(self.lock.parent)).as_posix()
        return below == "." or name.startswith(f"{below}/")

    def claim_folders(self) -> list[Path]:
        """The folders of claims: those with the name ``claims``."""
        if not self.folder.is_dir():
            return []
        return [each for each in input_file.below(self.folder, "claims") if each.name == "claims" and each.is_dir()]

    def claim_name(self, claim: Claim) -> str:
        """The name of a claim in the lock: that of its file and its own, below the folder with the folder of claims."""
        file = Path(claim.file)
        name = f"{file.stem}.{claim.name}"
        below = self.name(file.parent).rpartition("/")[0]
        return f"{below}/{name}" if below else name


def states_expected(check: Check) -> int | None:
    """The number of states; None if unknown, as for a known-bad design or with other constants."""
    if check.flawed is not None or check.settings.constants or check.settings.symmetry is not None:
        return None
    if check.spec.expect.distinct is not None:
        return check.spec.expect.distinct
    scope = GateScope.of(check.spec.path.parent)
    locked = _lock(scope.lock)
    if locked is None:
        return None
    entry = locked.specs.get(scope.name_of(check.spec), {})
    known = entry.get("distinct")
    same = entry.get("symmetry", False) == check.symmetry
    return known if isinstance(known, int) and same else None


@functools.cache
def _lock(path: Path) -> Lock | None:
    try:
        return lock.read(path)
    except SourceError:
        return None
