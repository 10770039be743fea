"""Random walks through Flexible Paxos beside published figures: ``python -m benchmarks.walks [--write]``.

I. Konnov, "All you need is a simulator? Nope" (https://protocols-made-fun.com, March 9, 2026), counts which share of
the states walks of at most 100 steps reach, beside TLC. The model has his counts of states. His walks draw a step and
its arguments, and draw again a few times where it is disabled; these draw among what is enabled.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.flexible_paxos import FlexiblePaxos
from benchmarks.results import section
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import Property, collect
from floodmark.checkers.search_result import Options
from floodmark.checkers.simulation.simulate import simulate
from floodmark.checkers.simulation.walker import Walking, WalkStrategy

STEPS = 100
FEW = (WalkStrategy.ACTIONS, WalkStrategy.INSTANCES)
"""The strategies of which more walks are taken."""


@dataclass(frozen=True)
class Published:
    """A size, and what is published of it: the states, TLC's time, and the shares that so many walks reached."""

    model: FlexiblePaxos
    states: int
    time: str
    shares: dict[int, str]


SIZES = (
    Published(FlexiblePaxos(), 36_953, "4 s", {100_000: "77.5%"}),
    Published(FlexiblePaxos(acceptors=3, first_quorum=2), 362_361, "21 s", {100_000_000: "94.5%"}),
    Published(FlexiblePaxos(acceptors=4, rows=True), 11_279_393, "9 min", {100_000: "3%", 100_000_000: "60.4%"}),
)


def rows(walks: list[int]) -> Iterator[str]:
    yield "| acceptors | states | a search, seconds of one core | TLC (published) |"
    yield "|---|---|---|---|"
    for size in SIZES:
        began = time.process_time()
        found = search_states(size.model, properties(size), Options(workers=1))
        assert found.complete and found.distinct == size.states
        taken = time.process_time() - began
        yield f"| {acceptors(size)} | {found.distinct:,} | {taken:.1f} | {size.time} |"
    yield ""
    yield f"Walks of at most {STEPS} steps; the published ones on another machine."
    yield ""
    yield "| acceptors | walks | strategy | share of the states | seconds of one core | published |"
    yield "|---|---|---|---|---|---|"
    for size in SIZES:
        for count in walks:
            for strategy in WalkStrategy if count == min(walks) else FEW:
                began = time.process_time()
                walked = simulate(size.model, properties(size), Options(workers=1), Walking(count, STEPS, 1, strategy))
                taken = time.process_time() - began
                share = walked.distinct / size.states
                published = size.shares.get(count, "") if strategy is WalkStrategy.ACTIONS else ""
                name = strategy.name.lower()
                yield f"| {acceptors(size)} | {count:,} | {name} | {share:.1%} | {taken:.1f} | {published} |"
    most = ", ".join(
        f"{share} of the states with {acceptors(size)} acceptors"
        for size in SIZES
        for count, share in size.shares.items()
        if count > max(walks)
    )
    yield ""
    yield f"Published for 100,000,000 walks, which took 7.5 and 8.5 hours: {most}."


def properties(size: Published) -> list[Property]:
    return list(collect(type(size.model), []).values())


def acceptors(size: Published) -> int:
    return size.model.constant_values["acceptors"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = []
    for line in rows(given.walks):
        print(line, flush=True)
        lines.append(line)
    if given.write:
        counts = " ".join(map(str, given.walks))
        section("walks beside published figures", f"python -m benchmarks.walks --walks {counts} --write", lines)


if __name__ == "__main__":
    main()
