"""The scope of a gate: the specs and claims below a folder, and the lock that they are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from floodmark.checkers.gate import lock
from floodmark.checkers.project import spec_address
from floodmark.checkers.project.claim import Claim
from floodmark.checkers.project.modules import Project
from floodmark.checkers.project.paths import resolved
from floodmark.checkers.project.spec import Spec


@dataclass(frozen=True, slots=True)
class GateScope:
    """``folder`` has the specs; ``lock`` is the lock file, in the folder or in one above it."""

    folder: Path
    lock: Path

    @classmethod
    def of(cls, folder: Path) -> GateScope:
        """The scope of a folder of specs, or of a repository that has a folder ``specs``."""
        if (folder / "specs").is_dir():
            folder = folder / "specs"
        root = Project.of(folder / lock.NAME).root
        here = resolved(folder)
        above = [each for each in (here, *here.parents) if each.is_relative_to(root) and (each / lock.NAME).is_file()]
        return cls(folder, folder / lock.NAME if not above or above[0] == here else above[0] / lock.NAME)

    def name_of(self, spec: Spec) -> str:
        """The name of a spec in the lock: that of its file, with the row if it is one."""
        return spec_address.with_row(self.name(spec.path), spec.row)

    def name(self, path: Path) -> str:
        """The name of a file in the lock: its path below the lock's folder, without the suffix."""
        return resolved(path).with_suffix("").relative_to(resolved(self.lock.parent)).as_posix()

    def has(self, name: str) -> bool:
        """Whether an entry of the lock belongs to the folder."""
        below = resolved(self.folder).relative_to(resolved(self.lock.parent)).as_posix()
        return below == "." or name.startswith(f"{below}/")

    @property
    def claims(self) -> Path:
        return self.folder / "claims"

    def claim_name(self, claim: Claim) -> str:
        name = f"{Path(claim.file).stem}.{claim.name}"
        below = self.name(self.claims).rpartition("/")[0]
        return f"{below}/{name}" if below else name
