"""The memory of a command under a limit: ``python -m benchmarks.memory [--write]``.

The dining philosophers are searched, 6^n states for n of them, with several limits. Meanwhile the memory of the
command's processes is sampled every 20 milliseconds: anonymous and shared pages of each, added up. (Pages shared
through a fork count in each process, so this is never too little; pages of mapped files, which the system reclaims when
it needs them, do not count.) ``--limit``, ``--engine`` and ``--seats`` run a single row.
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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.results import section
from floodmark.checkers.project import input_limits

ROOT = Path(__file__).parent.parent
SPEC = "specs/examples/philosophers.toml"
SAMPLE_SECONDS = 0.02
RUNS = [
    ("native", "100M", 9), ("native", "200M", 9), ("native", "200M", 10), ("native", "500M", 10), ("spark", "1G", 9),
    ("spark", "1500M", 9), ("spark", "2G", 9),
]
HEAD = [
    "| engine | limit | peak | of these: floodmark | Java | Python workers | mapped files at the peak "
    "| states | outgrew memory at | s of the command | s of the search |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
]


@dataclass
class Sample:
    """The memory of a command's processes, in bytes, by kind."""

    counted: dict[str, int] = field(default_factory=dict)
    mapped: int = 0

    @property
    def total(self) -> int:
        return sum(self.counted.values())


def sample(root: int) -> Sample:
    """The current memory of a process and all its descendants."""
    found = Sample()
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                parent = int((entry / "stat").read_bytes().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    processes = [root]
    for process in processes:
        processes += children.get(process, [])
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{process}/cmdline").read_bytes()
            lines = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines()
            sizes = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines if line.startswith("Rss")}
            kind = "Java" if b"java" in command[:200] else "workers" if b"pyspark.daemon" in command else "floodmark"
            found.counted[kind] = found.counted.get(kind, 0) + sizes.get("RssAnon", 0) + sizes.get("RssShmem", 0)
            found.mapped += sizes.get("RssFile", 0)
    return found


def measure(engine: str, limit: str, seats: int, extra: tuple[str, ...] = ()) -> str:
    """A row: one search under a limit."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            sys.executable, "-m", "floodmark", "check", SPEC, "--set", f"last={seats - 1}", "--engine", engine,
            "--max-memory", limit, "--json", str(report), *extra,
        ]
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        most = Sample()
        while process.poll() is None:
            now = sample(process.pid)
            most = max(most, now, key=lambda each: each.total)
            time.sleep(SAMPLE_SECONDS)
        seconds = time.perf_counter() - started
        (found,) = json.loads(report.read_text())["results"]
    is_right = found["complete"] and found["distinct"] == 6**seats
    states = f"{found['distinct']:,}" + ("" if is_right else " and not all")
    note = found["notes"][0] if found["notes"] else ""
    moved = note.split()[1] if note.startswith("at ") else note or "it fitted"
    over = " (over)" if most.total > input_limits.memory(limit) else ""
    sizes = [most.counted.get(kind, 0) for kind in ("floodmark", "Java", "workers")]
    return (
        f"| {found['engine']} | {limit} | {_mega(most.total)}{over} | " + " | ".join(map(_mega, sizes))
        + f" | {_mega(most.mapped)} | {states} | {moved} | {seconds:.0f} | {found['seconds']:.0f} |"
    )


def _mega(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


def rows() -> Iterator[str]:
    for engine, limit, seats in RUNS:
        yield measure(engine, limit, seats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit")
    parser.add_argument("--engine", choices=("native", "spark", "auto"), default="native")
    parser.add_argument("--seats", type=int, default=9)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.limit:
        print(*HEAD, measure(arguments.engine, arguments.limit, arguments.seats), sep="\n")
        return
    lines = [f"The machine's load was {os.getloadavg()[0]:.1f} when it began.", "", *HEAD]
    print(*lines, sep="\n")
    for row in rows():
        print(row, flush=True)
        lines.append(row)
    if arguments.write:
        section("memory", "python -m benchmarks.memory --write", lines)


if __name__ == "__main__":
    main()
