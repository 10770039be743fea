"""Runs TLC and Spin, where they are installed, on an exported model.

TLC is found by the environment variable TLA2TOOLS, which is a class path such as ``/opt/tla2tools.jar``; Spin on PATH.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from floodmark.checkers.export.promela import Process
from floodmark.checkers.export.tla import TlaModule
from floodmark.checkers.search_result import SearchResult

TLA2TOOLS = os.environ.get("TLA2TOOLS", "")
HAS_TLC = bool(TLA2TOOLS) and shutil.which("java") is not None
HAS_SPIN = shutil.which("spin") is not None and shutil.which("gcc") is not None

ERROR = "error"
DEADLOCK = "deadlock"


@dataclass(frozen=True)
class Verdict:
    """The result of a search: the number of states if it is complete, or the violated property and its trace's length.

    A model error is the property "error"; its trace has the step that cannot be completed.
    """

    distinct: int | None = None
    broken: str | None = None
    length: int | None = None


def ours(found: SearchResult) -> set[Verdict]:
    """The possible results of another checker: each of the violations of the first level with any, or all states.

    A property that cannot be evaluated is an error to one checker and false to another.
    """
    if not found.violations:
        return {Verdict(distinct=found.distinct)}
    verdicts = {
        Verdict(None, name, len(v.trace) + (v.failed_step is not None))
        for v in found.violations
        for name in ([ERROR, v.property] if v.kind == "error" else [v.property])
    }
    first = min(verdict.length or 0 for verdict in verdicts)
    return {verdict for verdict in verdicts if verdict.length == first}


def ask_tlc(module: TlaModule, folder: Path, reach: str | None = None, seconds: float = 600) -> Verdict:
    """TLC's result; with ``reach``, the negation of a reachability property, the state in which that becomes true."""
    config = module.config + (f"INVARIANT {reach}\n" if reach else "")
    (folder / f"{module.name}.tla").write_text(module.text, encoding="utf-8")
    (folder / f"{module.name}.cfg").write_text(config, encoding="utf-8")
    said = _said(["java", "-Xmx4g", "-XX:+UseSerialGC", "-cp", TLA2TOOLS, "tlc2.TLC", "-workers", "1", "-nowarning",
                  "-noGenerateSpecTE", module.name], folder, seconds)
    counted = re.search(r"states generated, (\d+) distinct", said)
    if "No error has been found" in said and counted:
        return Verdict(distinct=int(counted[1]))
    length = len(re.findall(r"^State \d+:", said, re.M)) or 1
    if "Deadlock reached" in said:
        return Verdict(None, DEADLOCK, length)
    broken = re.search(r"(?:Invariant|Action property) (\w+) is violated", said)
    assert broken, said
    name = broken[1]
    if name == "NoFailure" or name.startswith("Defined_"):
        name = ERROR
    if name.startswith("Idle_"):  # the step that changes nothing is not in the trace
        return Verdict(None, name.removeprefix("Idle_"), length + 1)
    return Verdict(None, name, length)


def ask_spin(
    process: Process, folder: Path, shortest: bool, macros: Sequence[str] = (), deadlock: bool = False,
    seconds: float = 600,
) -> Verdict:
    """Spin's result: by a breadth-first search if the ``shortest`` counterexample is requested."""
    (folder / "model.pml").write_text(process.text, encoding="utf-8")
    macros = [*macros, *(["SHORTEST"] if shortest else [])]
    said = _said(["spin", *(f"-D{macro}" for macro in macros), "-o1", "-o2", "-o3", "-a", "model.pml"], folder, seconds)
    assert "rror" not in said, said
    search = ["-DBFS"] if shortest else []
    said = _said(["gcc", "-w", "-O1", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=65536", *search, "-o", "pan", "pan.c"],
                 folder, seconds)
    assert "error" not in said, said
    said = _said(["./pan", "-m5000000", "-w22", *([] if deadlock else ["-E"])], folder, seconds)
    if "invalid end state" in (said.split("\n(Spin")[0]):
        found = re.search(r"invalid end state \(at depth (\d+)\)", said)
        assert found, said
        return Verdict(None, DEADLOCK, int(found[1]) // process.steps)
    broken = re.search(r"assertion violated (.+) \(at depth (\d+)\)", said)
    if broken:
        flag = broken[1].strip("()")
        return Verdict(None, flag if flag in process.flags else ERROR, int(broken[2]) // process.steps + 1)
    counted = re.search(r"(\d+) states, stored", said)
    assert counted and "errors: 0" in said and "max search depth too small" not in said, said
    return Verdict(distinct=int(counted[1]) - 1)


def _said(command: list[str], folder: Path, seconds: float) -> str:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
    return ended.stdout + ended.stderr
