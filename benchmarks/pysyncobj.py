"""Uniform and guided walks on PySyncObj: ``python -m benchmarks.pysyncobj --write``.

Steps until each bug of a release, with 30 seeds; steps in lockstep with real nodes per second of processor time; and
the share of a small model's reachable states that walks reach. Needs PySyncObj (installed, or in the folder that
``PYSYNCOBJ`` names) for the lockstep only: the other figures count steps of the releases' models.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from benchmarks.results import section
from floodmark.checkers.conformance.adapter import Contract
from floodmark.checkers.conformance.walks import WalkChoice, Walks
from floodmark.checkers.native.search import search_states
from floodmark.checkers.search_result import Options

EXAMPLE = Path(__file__).parent.parent / "examples" / "pysyncobj"
BUGS = [
    ("166, the commit index decreases", (0, 3, 11), "commit_index_never_decreases", 50_000),
    ("167, the match index decreases", (0, 3, 11), "match_index_never_decreases", 50_000),
    ("167, the next index is not above the match index", (0, 3, 11), "next_index_is_above_match_index", 50_000),
    ("169, an entry of an earlier term is committed", (0, 3, 11), "leader_commits_its_own_term", 50_000),
    ("202, the term is forgotten", (0, 3, 15), "term_never_decreases", 50_000),
    ("an acknowledged write is cut off", (0, 3, 17), "majority_has_what_is_acknowledged", 200_000),
]
SMALL = {"max_term": 1, "max_log": 3, "max_writes": 1, "max_restarts": 0, "max_breaks": 0, "in_flight": 2}
CHOICES: tuple[WalkChoice, ...] = get_args(WalkChoice)


def _until(hunt: Any, release: tuple[int, ...], name: str, choice: WalkChoice, most: int, seeds: int) -> str:
    """The median of the steps until a property is broken, and how many seeds broke it."""
    model = hunt.model_of_release(release)
    prop = hunt.properties(model)[name]
    taken = []
    for seed in range(seeds):
        found = Walks(model, [prop], choice, seed).search(most)
        taken.append(most + 1 if found is None else found.taken)
    median = statistics.median(taken)
    count = sum(steps <= most for steps in taken)
    return f"{f'over {most:,}' if median > most else f'{median:,.0f}'} ({count} of {seeds})"


def _bugs(hunt: Any, seeds: int) -> Iterator[str]:
    yield "| bug | release | " + " | ".join(f"{choice} choice" for choice in CHOICES) + " |"
    yield "|---" * (2 + len(CHOICES)) + "|"
    for title, release, name, most in BUGS:
        cells = [_until(hunt, release, name, choice, most, seeds) for choice in CHOICES]
        yield f"| {title} | {'.'.join(map(str, release))} | {' | '.join(cells)} |"


def _lockstep(hunt: Any, steps: int) -> Iterator[str]:
    release = hunt.library().release
    model = hunt.model_of_release(release)
    for choice in CHOICES:
        walks = Walks(model, [], choice, 1, Contract(model, hunt.ClusterAdapter))
        begun = time.process_time()
        found = walks.search(steps)
        used = time.process_time() - begun
        assert found is None, found
        yield (f"- {choice} choice, in step with the nodes of {hunt.library().version}: {walks.steps:,} steps, "
               f"{walks.steps / used:,.0f} for a second of the processor")


def _covered(hunt: Any, steps: int) -> Iterator[str]:
    model = type(hunt.model_of_release((0, 3, 17)))(**SMALL)
    every = search_states(model, [], Options(workers=1)).distinct
    for choice in CHOICES:
        walks = Walks(model, [], choice, 1)
        walks.search(steps)
        states, actions = len(walks.coverage.states), walks.coverage.actions()
        yield (f"- {choice} choice: {walks.steps:,} steps come to {states:,} of {every:,} reachable states "
               f"({100 * states / every:.1f} %) and take {len(actions)} actions: {', '.join(sorted(actions))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--steps", type=int, default=2_000, help="in lockstep")
    parser.add_argument("--write", action="store_true", help="into benchmarks/RESULTS.md")
    given = parser.parse_args()
    sys.path.insert(0, str(EXAMPLE))
    hunt = importlib.import_module("hunt")
    lines = []
    for part in (_lockstep(hunt, given.steps), _covered(hunt, 100_000), _bugs(hunt, given.seeds)):
        for line in part:
            lines.append(line)
            print(line, flush=True)
        lines.append("")
    if given.write:
        section("walks", "python -m benchmarks.pysyncobj --write", lines[:-1])


if __name__ == "__main__":
    main()
