"""The coverage of walks and tours on a real ZooKeeper: ``python -m benchmarks.zookeeper --write``.

Steps in lockstep per second of this process's processor time; the share of actions and of reachable states that they
come to; steps until a server contradicts each mistaken belief of mistaken.py; and steps, in its model, until each
known-bad design of the controller breaks its property. Needs Java, for PySpark's ZooKeeper server.
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
from floodmark.checkers.conformance.tours import Tour
from floodmark.checkers.conformance.walks import WalkChoice, Walks
from floodmark.checkers.native.search import search_states
from floodmark.checkers.search_result import Options
from floodmark.conformance import model_of

EXAMPLE = Path(__file__).parent.parent / "examples" / "zookeeper"
CHOICES: tuple[WalkChoice, ...] = get_args(WalkChoice)
SIZE = {"clients": 2, "nodes": 2, "max_writes": 6, "max_faults": 4}
EXPLORED = 200_000
"""Steps through the model before a tour."""
BELIEVED = 1_500
"""The steps after which a mistaken belief is given up."""
BROKEN = 50_000
"""The steps after which a design is."""


class Example:
    """The example's modules and a server."""

    def __init__(self, server: Any) -> None:
        self.hunt = importlib.import_module("hunt")
        self.mistaken = importlib.import_module("mistaken")
        self.flawed = importlib.import_module("flawed_controllers")
        self.znodes = importlib.import_module("semantics").Znodes(**SIZE)
        self.clients = importlib.import_module("semantics_adapter").ZnodesAdapter
        self.controllers = importlib.import_module("reassignment_adapter").ReassignmentAdapter
        self.reassignment = model_of(EXAMPLE / "reassignment.toml")
        self.clients.address = self.controllers.address = server.address


def _median(taken: list[int], most: int) -> str:
    median = statistics.median(taken)
    count = sum(steps <= most for steps in taken)
    return f"{f'over {most:,}' if median > most else f'{median:,.0f}'} ({count} of {len(taken)})"


def _held(choice: WalkChoice | None, contract: Contract) -> Walks | Tour:
    """Walks by a choice, or a tour."""
    return Tour(contract, 1, EXPLORED) if choice is None else Walks(contract.model, [], choice, 1, contract)


def _lockstep(example: Example, steps: int) -> Iterator[str]:
    yield "| held | way | steps | for a second of the processor | actions | states |"
    yield "|---|---|---|---|---|---|"
    for title, model, adapter, most in [
        ("clients", example.znodes, example.clients, steps),
        ("controllers", example.reassignment, example.controllers, steps // 4),
    ]:
        for choice in (*CHOICES, None):
            contract = Contract(model, adapter)
            held = _held(choice, contract)
            begun = time.process_time()
            found = held.search(most)
            used = time.process_time() - begun
            assert found is None, found
            actions = f"{len(held.coverage.actions())} of {len(contract.taken)}"
            yield (f"| {title} | {choice or 'tour'} | {held.steps:,} | {held.steps / used:,.0f} | {actions} | "
                   f"{len(held.coverage.states):,} |")


def _covered(example: Example, steps: int) -> Iterator[str]:
    model = example.reassignment
    every = search_states(model, [], Options(workers=1)).distinct
    for choice in CHOICES:
        walks = Walks(model, [], choice, 1)
        walks.search(steps)
        states, actions = len(walks.coverage.states), len(walks.coverage.actions())
        yield (f"- {choice} choice, controllers, in the model alone: {walks.steps:,} steps come to {states:,} of "
               f"{every:,} reachable states ({100 * states / every:.1f} %) and take {actions} of "
               f"{len(type(model).methods('action'))} actions.")


def _beliefs(example: Example, seeds: int) -> Iterator[str]:
    yield "| mistaken belief, held against the server | " + " | ".join(f"{choice} choice" for choice in CHOICES) + " |"
    yield "|---" * (1 + len(CHOICES)) + "|"
    for belief in example.mistaken.BELIEFS:
        cells = []
        for choice in CHOICES:
            taken = []
            for seed in range(seeds):
                model = belief(**SIZE)
                found = Walks(model, [], choice, seed, Contract(model, example.clients)).search(BELIEVED)
                taken.append(BELIEVED + 1 if found is None else found.taken)
            cells.append(_median(taken, BELIEVED))
        yield f"| {belief.__name__} | {' | '.join(cells)} |"


def _designs(example: Example, seeds: int) -> Iterator[str]:
    yield "| design, in its model | property | " + " | ".join(f"{choice} choice" for choice in CHOICES) + " |"
    yield "|---" * (2 + len(CHOICES)) + "|"
    for kind in example.flawed.DESIGNS:
        design = example.hunt.design(kind.__name__)
        if design.model is None:
            continue
        cells = []
        for choice in CHOICES:
            found = [example.hunt.in_the_model(design, choice, seed, BROKEN) for seed in range(seeds)]
            cells.append(_median([BROKEN + 1 if each is None else each.taken for each in found], BROKEN))
        yield f"| {design.name} | {design.prop.name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--steps", type=int, default=2_000, help="in lockstep; controllers take a quarter of them")
    parser.add_argument("--write", action="store_true", help="into benchmarks/RESULTS.md")
    given = parser.parse_args()
    sys.path.insert(0, str(EXAMPLE))
    lines = []
    with importlib.import_module("server").Server() as server:
        example = Example(server)
        try:
            for part in (
                _lockstep(example, given.steps), _covered(example, 100_000), _designs(example, given.seeds),
                _beliefs(example, given.seeds),
            ):
                for line in part:
                    lines.append(line)
                    print(line, flush=True)
                lines.append("")
        finally:
            example.controllers.end()
    if given.write:
        section("ZooKeeper", "python -m benchmarks.zookeeper --write", lines[:-1])


if __name__ == "__main__":
    main()
