"""Times a hard question of bounded search, asked in three ways: ``python -m benchmarks.bounded [--write]``.

``--write`` writes the table to benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from unittest.mock import patch

import z3

from benchmarks.results import section
from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.methods import runs
from floodmark.checkers.symbolic.methods.runs import Runs
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.terms.booleans import as_term, disj, negation
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.symmetry.obligations import interchangeable
from floodmark.checkers.verdict.check import CheckSettings, checks

SPECS = Path(__file__).parent.parent / "specs"
QUESTIONS = [
    ("kraft/quorum", "StepsDownUnflushed", 11),
    ("kraft/quorum", "CommitsAtEpochStart", 11),
    ("zk_controller/topics", "StopsWithoutLooking", 16),
]
WAYS = ("shared solver", "separate solver", "separate solver, names in order")


def measured(spec: str, name: str, length: int, way: str) -> float:
    """Processor seconds to learn that no run of ``length`` states violates the property, if no shorter one does."""
    check = next(iter(checks(read(SPECS / f"{spec}.toml"), CheckSettings(only_variant=name))))
    properties = [prop for prop in check.properties() if prop.kind == "invariant"]
    system = system_of(check.cls()(**check.constants), properties)
    asked = Runs(system, properties)
    judged = [system.judge(system.predicates[prop.name], system.now.state) for prop in properties]
    bad = as_term(disj(negation(one.truth) for one in judged))
    for known in range(1, length):
        asked.add(z3.Not(asked.at(bad, known - 1)))
        asked.extend()
    most = 2**32 - 1 if way == WAYS[0] else 0
    proof = interchangeable if way == WAYS[2] else lambda *_: []
    start = time.process_time()
    with patch.object(runs, "MAX_CONFLICTS", most), patch.object(runs, "interchangeable", proof):
        found = asked.ask(asked.at(bad, length - 1), Deadline())
    if found is not None:
        raise SystemExit(f"{spec} {name}: {found}")
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = [
        "Seconds of processor time to learn that no run of this many states violates the property, given that no "
        "shorter one does. The last column includes the proof that considering names in order is enough.",
        "",
        f"| known-bad design | states | {' | '.join(WAYS)} |",
        f"|---|---|{'---|' * len(WAYS)}",
    ]
    for spec, name, length in QUESTIONS:
        taken = [f"{measured(spec, name, length, way):.1f}" for way in WAYS]
        lines.append(f"| {spec} {name} | {length} | {' | '.join(taken)} |")
        print(lines[-1], flush=True)
    if arguments.write:
        section("bounded search", "python -m benchmarks.bounded --write", lines)


if __name__ == "__main__":
    main()
