"""Known-bad designs at sizes that no search here finishes: which of them do walks find?

    python -m benchmarks.larger walk [--seconds S] [--designs N]     goes on where the record ends
    python -m benchmarks.larger report [--write]

``larger.csv`` has a row for each design and size. The strategies take turns, each with another seed, until one meets
the violation or each has taken ``LIMIT`` steps ``ROUNDS`` times.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.known_bad import RECORDS as SEARCHED
from benchmarks.known_bad import key, series
from benchmarks.records import Records
from benchmarks.results import section
from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.project.spec import read_all
from floodmark.checkers.search.beginning import beginnings
from floodmark.checkers.simulation.compiled_walks import build_walk_code
from floodmark.checkers.simulation.walker import WalkStrategy
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

REPOSITORY = Path(__file__).parents[1]
LIMIT, ROUNDS = 1_000_000, 2
TURNS = (WalkStrategy.INSTANCES, WalkStrategy.ACTIONS, WalkStrategy.PRIORITIES, WalkStrategy.NOVEL, WalkStrategy.SWARM)
SIZES: dict[str, tuple[str, Mapping[str, int]]] = {
    "KIP-595, five voters, logs of three": ("kraft/quorum", {"voters": 5, "max_log": 3}),
    "KIP-595, seven voters, logs of three": ("kraft/quorum", {"voters": 7, "max_log": 3}),
    "KIP-497 with failover, five brokers": ("alter_isr/failover", {"brokers": 5}),
    "KIP-497 and KIP-455 with logs, five brokers": ("alter_isr/reassignment", {"brokers": 5}),
    "KIP-966, five brokers": ("elr/partition", {"brokers": 5}),
    "KIP-966 with logs, five brokers": ("elr/logs", {"brokers": 5}),
    "KIP-966 and KIP-455, five brokers": ("elr/reassignment", {"brokers": 5}),
}
"""The walked models: a spec with these known-bad designs, and other constants."""

NOT_THERE = ("HalfIsEnough", "ExpectsFetchesOfNobody")
"""Known-bad designs of KIP-595 that are right with an odd number of voters, or with more than one."""


@dataclass(frozen=True)
class Row:
    """A design at a size. Without a ``strategy`` no walk met the violation, in so many ``steps`` of all strategies."""

    size: str
    spec: str
    design: str
    property: str
    strategy: str
    steps: int
    seconds: float


RECORDS = Records(__file__, Row)


def designs() -> list[tuple[str, Check]]:
    """The known-bad designs at each size, in an order that is drawn once."""
    found = []
    for size, (name, constants) in SIZES.items():
        seen = set()
        for spec in read_all(REPOSITORY / "specs" / f"{name}.toml"):
            for check in checks(spec, CheckSettings(workers=1, constants=dict(constants))):
                if check.flawed is None or any(prop.is_liveness for prop in check.properties()):
                    continue
                if check.flawed.name in NOT_THERE:
                    continue
                if (check.flawed.name, check.flawed.property) not in seen:
                    seen.add((check.flawed.name, check.flawed.property))
                    found.append((size, check))
    random.Random(22).shuffle(found)
    return found


def measured(size: str, check: Check) -> Row:
    properties, spent = check.properties(), 0

    def walked(model: Model) -> tuple[str, int, float]:
        nonlocal spent
        spent = 0
        code = build_walk_code(model, {prop.name: prop.function for prop in properties}, good=True)
        beginning = beginnings(model, properties)
        initial = [code.interface.layout.pack(state) for state in beginning.within]
        began = time.process_time()
        if beginning.violations:
            return "initial", 0, 0.0
        for seed in range(ROUNDS):
            for strategy in TURNS:
                steps, _ = series(code, initial, properties, seed, strategy, check.options.deadlock, LIMIT)
                spent += LIMIT if math.isinf(steps) else int(steps)
                if not math.isinf(steps):
                    return strategy.name.lower(), spent, time.process_time() - began
        return "", spent, time.process_time() - began

    strategy, steps, seconds = at_widths(check.model(), walked)
    spec, design, prop = key(check)
    return Row(size, spec, design, prop, strategy, steps, round(seconds, 3))


def walk(seconds: float, most: int) -> None:
    """Measures designs that the record has not."""
    known = {(row.size, row.design, row.property) for row in RECORDS.read()}
    ends = time.monotonic() + seconds
    for size, check in designs():
        _, design, prop = key(check)
        if (size, design, prop) in known:
            continue
        if most <= 0 or time.monotonic() > ends:
            return
        most -= 1
        try:
            row = measured(size, check)
        except SourceError as error:
            print(f"{size}, {design}: {error}", flush=True)
            continue
        RECORDS.add([row])
        print(*asdict(row).values(), flush=True)


def report() -> Iterator[str]:
    of_size: dict[str, list[Row]] = defaultdict(list)
    for row in RECORDS.read():
        if row.design.split()[0] not in NOT_THERE:
            of_size[row.size].append(row)
    yield (
        f"The strategies take turns, {LIMIT:,} steps each, until one meets the violation, or each has had {ROUNDS} "
        "turns."
    )
    yield ""
    yield "| size | constants | designs walked | found | in the first turn | most steps | most seconds | not found |"
    yield "|---|---|---|---|---|---|---|---|"
    every: dict[str, int] = defaultdict(int)
    for size, _ in designs():
        every[size] += 1
    for size in SIZES:
        rows = of_size[size]
        found = [row for row in rows if row.strategy]
        constants = ", ".join(f"{name} = {value}" for name, value in SIZES[size][1].items())
        missed = ", ".join(sorted(row.design.split()[0] for row in rows if not row.strategy)) or "none"
        first = sum(row.steps <= LIMIT for row in found)
        steps, seconds = (max((getattr(row, name) for row in found), default=0) for name in ("steps", "seconds"))
        yield (
            f"| {size} | `{SIZES[size][0]}`, {constants} | {len(rows)} of {every[size]} | {len(found)} | {first} | "
            f"{steps:,} | {seconds:.1f} | "
            f"{missed} |"
        )
    with (REPOSITORY / "specs" / "floodmark.lock").open("rb") as opened:
        locked = tomllib.load(opened)["specs"]
    depths: dict[bool, list[int]] = {True: [], False: []}
    missing: dict[tuple[str, str], int | None] = {}
    for row in (row for rows in of_size.values() for row in rows):
        depth = shortest(locked, row)
        if depth is not None:
            depths[row.strategy != ""].append(depth)
        if not row.strategy:
            missing[row.design.split()[0], row.spec] = depth
    yield ""
    yield (
        "Walks miss what needs many steps in one order. At the sizes of the specs, the shortest counterexamples of the "
        f"designs that were found have {statistics.median_high(depths[True])} steps (the median), those of the others "
        f"{statistics.median_high(depths[False])}. These are the others:"
    )
    yield ""
    yield "| design | spec | steps of its shortest counterexample there |"
    yield "|---|---|---|"
    for (name, spec), depth in sorted(missing.items()):
        yield f"| {name} | {spec} | {'' if depth is None else depth} |"


def shortest(locked: Mapping[str, Any], row: Row) -> int | None:
    """The steps of a shortest counterexample of a design at the size of its spec: by the lock or, for a spec that it
    has not, by the search of ``known_bad.csv``, as far as that goes."""
    name = row.design.split()[0]
    entries = locked.get(row.spec, {}).get("flawed", {})
    depths = [entry["depth"] for design, entry in entries.items() if design.split()[0] == name]
    searched = [it.depth for it in SEARCHED.read() if it.spec == row.spec and it.design.split()[0] == name]
    return next(iter([*depths, *searched]), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["walk", "report"])
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--designs", type=int, default=10_000, help="at most so many more designs")
    parser.add_argument("--write", action="store_true", help="puts the figures into benchmarks/RESULTS.md")
    given = parser.parse_args()
    if given.task == "walk":
        walk(given.seconds, given.designs)
        return
    lines = list(report())
    print("\n".join(lines))
    if given.write:
        section("known-bad designs at larger sizes", "python -m benchmarks.larger report --write", lines)


if __name__ == "__main__":
    main()
