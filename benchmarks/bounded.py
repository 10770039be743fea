"""Bounded search with and without what makes hard questions easier: ``python -m benchmarks.bounded [--write]``.

``--write`` puts the table into benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from unittest.mock import patch

from benchmarks.results import section
from checkers.run import Settings, checks
from checkers.spec import read
from checkers.symbolic import runs
from checkers.symbolic.bmc import search
from checkers.symbolic.system import system_of

SPECS = Path(__file__).parent.parent / "specs"
DESIGNS = [
    ("kraft/quorum", "StepsDownUnflushed", 10),
    ("kraft/quorum", "CommitsAtEpochStart", 10),
    ("zk_controller/topics", "StopsWithoutLooking", 16),
    ("zk_controller/reassignments", "LeavesIsrToLeader", 12),
]
Patches = list[Callable[[], AbstractContextManager[object]]]
WAYS: dict[str, Patches] = {
    "one solver": [lambda: patch.object(runs, "MOST_CONFLICTS", 2**32 - 1)],
    "hard questions in their own": [lambda: patch.object(runs, "interchangeable", lambda *_: [])],
    "and names in order": [],
}


def measured(spec: str, name: str, depth: int, ways: Patches) -> float:
    """Seconds of processor time for all runs of up to ``depth`` states."""
    check = next(iter(checks(read(SPECS / f"{spec}.toml"), Settings(only_variant=name))))
    properties = [prop for prop in check.properties() if prop.kind != "reachable"]
    model = check.cls()(**check.constants)
    start = time.process_time()
    with ExitStack() as changed:
        for way in ways:
            changed.enter_context(way())
        found = search(system_of(model, properties), properties, depth)
    if found.stopped:
        raise SystemExit(f"{spec} {name}: {found.stopped}")
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = [
        "Seconds of processor time to ask of every length up to the number of states:",
        "",
        f"| known-bad design | states | {' | '.join(WAYS)} |",
        f"|---|---|{'---|' * len(WAYS)}",
    ]
    for spec, name, depth in DESIGNS:
        taken = [f"{measured(spec, name, depth, ways):.1f}" for ways in WAYS.values()]
        lines.append(f"| {spec} {name} | {depth} | {' | '.join(taken)} |")
        print(lines[-1], flush=True)
    if arguments.write:
        section("bounded search", "python -m benchmarks.bounded --write", lines)


if __name__ == "__main__":
    main()
