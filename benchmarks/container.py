"""Searches in containers with little memory: ``python -m benchmarks.container [--write]``.

The dining philosophers are searched, 6^n states for n of them, without ``--max-memory``, in containers that have less
and less memory. A container is a control group with its own folder as ``/sys/fs/cgroup/memory``. Its limit counts the
pages of files, too: where the states do not fit, the system writes pages back and reads them again. It takes root and
the memory controller of control groups, version 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.memory import SPEC
from benchmarks.results import section
from floodmark.checkers.project import input_limits

ROOT = Path(__file__).parent.parent
CONTROLLER = Path("/sys/fs/cgroup/memory")
ENTER = 'mount --bind "$0" /sys/fs/cgroup/memory && echo $$ > /sys/fs/cgroup/memory/tasks && exec "$@"'
LIMITS = ("6G", "1G", "500M", "300M", "200M")
HEAD = ["| memory of the container | states | went on through files at | reclaims | s |", "|---|---|---|---|---|"]


@dataclass(frozen=True)
class Container:
    """A control group, in which commands run as in a container of their own."""

    group: Path

    def command(self, words: Sequence[str]) -> list[str]:
        """The command that runs another one in the container."""
        return ["unshare", "--mount", "bash", "-c", ENTER, str(self.group), *words]

    def reclaims(self) -> int:
        """The number of times that the limit was met, so that pages were reclaimed."""
        return int((self.group / "memory.failcnt").read_text())


def can_be_made() -> bool:
    """Whether this machine lets us make containers."""
    return os.geteuid() == 0 and os.access(CONTROLLER / "memory.limit_in_bytes", os.W_OK)


@contextlib.contextmanager
def container(limit: str) -> Iterator[Container]:
    """A container with so much memory, such as ``500M``."""
    group = CONTROLLER / f"floodmark-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(input_limits.memory(limit)))
        yield Container(group)
    finally:
        group.rmdir()


def measure(limit: str, seats: int) -> str:
    """A row: one search in a container."""
    with container(limit) as made, tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = [sys.executable, "-m", "floodmark", "check", SPEC, "--set", f"last={seats - 1}", "--json", str(report)]
        started = time.perf_counter()
        done = subprocess.run(made.command(words), cwd=ROOT, capture_output=True, text=True)
        seconds = time.perf_counter() - started
        if not report.exists():
            return f"| {limit} | the command ended with {done.returncode} | | {made.reclaims():,} | {seconds:.0f} |"
        (found,) = json.loads(report.read_text())["results"]
        is_right = found["complete"] and found["distinct"] == 6**seats
        states = f"{found['distinct']:,}" + ("" if is_right else " and not all")
        note = found["notes"][0] if found["notes"] else ""
        moved = note.split()[1] if note.startswith("at ") else note or "it fitted"
        return f"| {limit} | {states} | {moved} | {made.reclaims():,} | {seconds:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seats", type=int, default=10)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if not can_be_made():
        raise SystemExit("containers take root and the memory controller of control groups, version 1")
    lines = [f"The machine's load was {os.getloadavg()[0]:.1f} when it began.", "", *HEAD]
    print(*lines, sep="\n")
    for limit in LIMITS:
        row = measure(limit, arguments.seats)
        print(row, flush=True)
        lines.append(row)
    if arguments.write:
        section("container", "python -m benchmarks.container --write", lines)


if __name__ == "__main__":
    main()
