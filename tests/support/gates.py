"""Runs the gate on small repositories, in this process."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Literal

import click

from floodmark.checkers.commands.gate import GateRequest, gate
from floodmark.checkers.gate import lock
from floodmark.checkers.gate.lock import Lock
from floodmark.checkers.report.outputs import Reports
from floodmark.checkers.verdict.check import CheckSettings
from tests.support.projects import INVARIANTS, tank_project

SPEC = '''
[[flawed]]
class = "flawed:StopsHalf"
property = "gets_full"
'''
STEPS = INVARIANTS.replace("never_two", "never_four").replace("!= 2", "!= 4")
"""Properties of a tank that hold."""


@dataclass
class Ended:
    code: int
    lines: list[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def drift(self) -> list[str]:
        """The lines about drift, without places."""
        return [line.strip().rpartition("  (")[0] for line in self.lines if line.startswith("    ") and " | " in line]


def repository(
    root: Path, edits: tuple[tuple[str, str], ...] = (), spec: str = SPEC, files: Mapping[str, str] | None = None
) -> Path:
    """A repository with a tank whose files are edited: each edit replaces a text wherever it is."""
    tank_project(root, spec, **{"invariants/tank.py": STEPS, **(files or {})})
    for path in (*root.rglob("*.py"), *root.rglob("*.toml")):
        text = path.read_text()
        for old, new in edits:
            text = text.replace(old, new)
        path.write_text(text)
    return root


def edited(
    root: Path, to: Path, *edits: tuple[str, str], spec: str = SPEC, files: Mapping[str, str] | None = None
) -> Path:
    """The repository as it is after edits, with the lock of the first: modules of another folder are loaded anew."""
    repository(to, edits, spec, files)
    shutil.copy(root / "specs" / lock.NAME, to / "specs" / lock.NAME)
    return to


def forget(*folders: Path) -> None:
    """Makes this process load the modules of folders anew, as another one would."""
    below = tuple(f"{folder}{os.sep}" for folder in folders)
    for name, module in list(sys.modules.items()):
        names = vars(module) if isinstance(module, ModuleType) else {}  # what is loaded on demand stays unloaded
        file = names.get("__file__")
        places = [file] if file else [f"{place}{os.sep}" for place in names.get("__path__") or ()]
        if any(place.startswith(below) for place in places):
            del sys.modules[name]
    importlib.invalidate_caches()


def run(
    root: Path, *, update: bool = False, cache: bool = False, tier: Literal["quick", "deep"] = "quick",
    engine: Literal["reference", "native"] = "reference", reports: Reports | None = None, workers: int = 1,
) -> Ended:
    """The gate on a folder."""
    said: list[str] = []
    asked = GateRequest(root, tier, update, cache, CheckSettings(engine=engine, workers=workers))
    code = gate(asked, reports or Reports(), lambda line: said.append(click.unstyle(line)))
    return Ended(int(code), said)


def locked(root: Path, *, cache: bool = False) -> Lock:
    """Accepts what the gate finds, and gives the lock."""
    assert run(root, update=True, cache=cache).code == 0
    found = lock.read(root / "specs" / lock.NAME)
    assert found is not None
    return found
