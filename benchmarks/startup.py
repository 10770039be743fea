"""Processor time to start: ``python -m benchmarks.startup [--before CHECKOUT] [--runs N] [--gate] [--write]``.

Each command runs with an empty cache and again with the one that it left. The difference is what compiling takes; it
is user and system time of the command with all its processes. With ``--before``, the commands of an earlier checkout
run in turn with those of this one, so that a busy machine affects both alike; the ratio is of the medians. With
``--gate`` it is the whole gate that is run.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.results import section

ROOT = Path(__file__).parent.parent
COMMANDS = [
    "check specs/examples/two_phase_commit.toml",
    "check specs/alter_isr/zombie_controller.toml",
    "gate --no-cache specs/under_replicated",
]


def seconds(checkout: Path, command: str, cache: str) -> float:
    """Processor seconds of a command of a checkout."""
    path = os.pathsep.join(map(str, (checkout / "src", checkout)))
    environment = {**os.environ, "PYTHONPATH": path, "FLOODMARK_CACHE": cache}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "floodmark", *command.split()],
        cwd=checkout, env=environment, capture_output=True, check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cold_and_warm(checkout: Path, command: str) -> tuple[float, float]:
    """Seconds with an empty cache and with the one that is then there."""
    with tempfile.TemporaryDirectory() as cache:
        return seconds(checkout, command, cache), seconds(checkout, command, cache)


def measure(command: str, checkouts: list[Path], runs: int) -> list[tuple[float, float, float]]:
    """The median seconds of each checkout: with an empty cache, with a full one, and the difference."""
    found: list[list[tuple[float, float, float]]] = [[] for _ in checkouts]
    for _ in range(runs):
        for checkout, times in zip(checkouts, found, strict=True):
            cold, warm = cold_and_warm(checkout, command)
            times.append((cold, warm, cold - warm))
    return [tuple(map(statistics.median, zip(*times, strict=True))) for times in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="a checkout to compare with")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--gate", action="store_true", help="runs the whole gate instead of what is short")
    parser.add_argument("--write", action="store_true", help="puts the table into benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    checkouts = [ROOT, *([arguments.before.resolve()] if arguments.before is not None else [])]
    heading, rule = "| processor seconds | empty cache | full cache | compiling |", "|---|---|---|---|"
    if arguments.before is not None:
        heading, rule = f"{heading} these three, as shares of those before |", f"{rule}---|"
    lines = [heading, rule]
    for command in ["gate"] if arguments.gate else COMMANDS:
        now, *before = measure(command, checkouts, arguments.runs)
        row = f"| `floodmark {command}` | " + " | ".join(f"{each:.2f}" for each in now) + " |"
        for earlier in before:
            ratios = (f"{new / old:.2f}" for new, old in zip(now, earlier, strict=True))
            row += f" {' / '.join(ratios)} |"
        print(row, flush=True)
        lines.append(row)
    if arguments.write:
        options = " --before CHECKOUT" if arguments.before is not None else ""
        options += " --gate" if arguments.gate else ""
        command = f"python -m benchmarks.startup{options} --runs {arguments.runs} --write"
        section("whole gate" if arguments.gate else "start", command, lines)


if __name__ == "__main__":
    main()
