"""The steps until walks meet the violation of each known-bad design, beside a search.

    python -m benchmarks.known_bad walk [--seconds S] [--designs N]     goes on where the record ends
    python -m benchmarks.known_bad report [--write]

``known_bad.csv`` has a row for each design and strategy. Designs are taken in an order that is drawn once, so those
that the record has are a sample of all of them. A series of walks ends with the first violation, or after ``--limit``
steps. Where none of the first ``FEW`` seeds meets a violation, the others are not tried and count as misses.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.records import Records
from benchmarks.results import section
from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import find, read_all
from floodmark.checkers.search.beginning import beginnings
from floodmark.checkers.search_result import Limits, Options
from floodmark.checkers.simulation.compiled_walks import WalkCode, build_walk_code
from floodmark.checkers.simulation.walker import GROUP, Walker, WalkPlan, WalkStrategy
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

REPOSITORY = Path(__file__).parents[1]
STEPS = 100
SEEDS = 30
FEW = 10
LIMIT = 200_000
MAX_STATES = 3_000_000
"""States after which a search is given up."""


@dataclass(frozen=True)
class Row:
    """A design under one strategy. ``median`` and ``worst`` are the steps of a seed, infinite where it meets no
    violation; seconds are the processor's, those of the search with its compilation."""

    spec: str
    design: str
    property: str
    generated: int
    depth: int
    search_seconds: float
    compile_seconds: float
    strategy: str
    limit: int
    found: int
    median: float
    worst: float
    median_seconds: float
    worst_seconds: float


RECORDS = Records(__file__, Row)


def designs() -> list[Check]:
    """The known-bad designs that violate a safety property, in the order in which they are taken: first those of specs
    of the quick tier, then the others."""
    quick = _designs(find([REPOSITORY / "specs"], "quick"), ("quick",))
    known = set(map(key, quick))
    every = _designs(find([REPOSITORY / "specs"], "all"), ("quick", "deep"))
    return [*quick, *(check for check in every if key(check) not in known)]


def _designs(addresses: Sequence[Path], tiers: Sequence[str]) -> list[Check]:
    found = []
    for address in sorted(addresses):
        for spec in read_all(address):
            for check in checks(spec, CheckSettings(workers=1)):
                if check.flawed is None or check.tier not in tiers:
                    continue
                if not any(prop.is_liveness for prop in check.properties()):
                    found.append(check)
    random.Random(22).shuffle(found)
    return found


def key(check: Check) -> tuple[str, str, str]:
    assert check.flawed is not None
    given = " ".join(f"{name}={value}" for name, value in sorted(check.flawed.constants.items()))
    return check.spec.name, " ".join(filter(None, (check.flawed.name, given))), check.flawed.property or ""


def measured(check: Check, limit: int) -> list[Row]:
    """The rows of one design."""
    model, properties, deadlock = check.model(), check.properties(), check.options.deadlock
    options = Options(workers=1, deadlock=deadlock, limits=Limits(states=MAX_STATES))
    began = time.process_time()
    searched = search_states(model, properties, options)
    seconds = time.process_time() - began

    def walked(sized: Model) -> list[Row]:
        return _walked(check, sized, properties, searched.generated, searched.depth, seconds, limit)

    return at_widths(model, walked)


def _walked(
    check: Check, model: Model, properties: list[Property], generated: int, depth: int, seconds: float, limit: int
) -> list[Row]:
    began = time.process_time()
    code = build_walk_code(model, {prop.name: prop.function for prop in properties}, good=True)
    compiled = time.process_time() - began
    beginning = beginnings(model, properties)
    rows = []
    for strategy in WalkStrategy:
        taken: list[tuple[float, float]] = []
        for seed in range(SEEDS):
            if len(taken) == FEW and all(math.isinf(steps) for steps, _ in taken):
                break
            if beginning.violations:
                taken.append((0, 0))
            else:
                initial = [code.interface.layout.pack(state) for state in beginning.within]
                taken.append(series(code, initial, properties, seed, strategy, check.options.deadlock, limit))
        taken += [(math.inf, math.inf)] * (SEEDS - len(taken))
        steps, times = sorted(it for it, _ in taken), sorted(it for _, it in taken)
        rows.append(Row(
            *key(check), generated, depth, round(seconds, 4), round(compiled, 2), strategy.name.lower(), limit,
            sum(not math.isinf(it) for it in steps), statistics.median_high(steps), steps[-1],
            round(statistics.median_high(times), 5), round(times[-1], 5),
        ))
    return rows


def series(
    code: WalkCode, initial: list[tuple[int, ...]], properties: Sequence[Property], seed: int, strategy: WalkStrategy,
    deadlock: bool, limit: int,
) -> tuple[float, float]:
    """The steps and seconds of a series of walks until one meets a violation; infinite if none does."""
    kinds = {prop.name: prop.kind for prop in properties}
    places = enumerate(code.interface.state_predicates)
    invariants = sum(1 << place for place, name in places if kinds[name] == "invariant")
    walker = Walker(code, initial, WalkPlan(limit, STEPS, seed, strategy), invariants, deadlock)
    began, first = time.process_time(), 0
    while walker.visits < limit:
        if walker.take(first, first + GROUP, lambda: walker.visits >= limit) is not None:
            return walker.visits, time.process_time() - began
        first += GROUP
    return math.inf, math.inf


def walk(seconds: float, most: int, limit: int) -> None:
    """Measures designs that the record has not."""
    known = {(row.spec, row.design, row.property) for row in RECORDS.read()}
    ends = time.monotonic() + seconds
    for check in designs():
        if most <= 0 or time.monotonic() > ends:
            return
        if key(check) not in known:
            most -= 1
            try:
                rows = measured(check, limit)
            except SourceError as error:
                print(f"{' '.join(key(check))}: {error}", flush=True)
                continue
            RECORDS.add(rows)
            print(*key(check), *(row.found for row in rows), flush=True)


def report() -> Iterator[str]:
    rows = RECORDS.read()
    limits = sorted({row.limit for row in rows})
    assert len(limits) == 1
    by_design: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        by_design.setdefault((row.spec, row.design, row.property), []).append(row)
    generated = sorted(several[0].generated for several in by_design.values())
    seconds = sorted(several[0].search_seconds for several in by_design.values())
    every, tenth = designs(), len(by_design) * 9 // 10
    yield (
        f"{len(by_design)} of the {len(every)} known-bad designs that violate a safety property, {SEEDS} seeds each; "
        f"walks of {STEPS} steps, at most {limits[0]:,} steps together. Where none of the first {FEW} seeds meets the "
        f"violation, the others are not tried and count as misses. A search generates "
        f"{statistics.median_high(generated):,} states in {statistics.median_high(seconds):.2f} s until it meets the "
        f"violation (the medians of the designs), and {generated[tenth]:,} in {seconds[tenth]:.2f} s in nine of ten "
        "designs; its seconds are the processor's, with the time to compile."
    )
    yield ""
    yield (
        "| strategy | found by every seed | by some | by none | median steps | nine in ten | median of the worst seed "
        "| median seconds | fewer steps than the search's states |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for strategy in WalkStrategy:
        mine = [row for row in rows if row.strategy == strategy.name.lower()]
        steps, worst = sorted(row.median for row in mine), sorted(row.worst for row in mine)
        times = sorted(row.median_seconds for row in mine)
        yield (
            f"| {strategy.name.lower()} | {sum(row.found == SEEDS for row in mine)} | "
            f"{sum(0 < row.found < SEEDS for row in mine)} | {sum(row.found == 0 for row in mine)} | "
            f"{_shown(steps[len(steps) // 2])} | {_shown(steps[len(steps) * 9 // 10])} | "
            f"{_shown(worst[len(worst) // 2])} | {times[len(times) // 2]:.3f} | "
            f"{sum(row.median < row.generated for row in mine)} |"
        )
    yield ""
    lost = {it: several for it, several in by_design.items() if all(row.found < SEEDS // 2 for row in several)}
    yield (
        f"Where walking loses: of {len(lost)} designs no strategy finds the violation with half of its seeds. These "
        "are they, with the states that the search generates, the steps of its shortest counterexample, and how many "
        f"of the {SEEDS} seeds of each strategy find it ({', '.join(it.name.lower() for it in WalkStrategy)})."
    )
    yield ""
    yield "| spec | design | states | steps | seeds |"
    yield "|---|---|---|---|---|"
    for (spec, design, _), several in sorted(lost.items()):
        found = ", ".join(str(row.found) for row in several)
        yield f"| {spec} | {design} | {several[0].generated:,} | {several[0].depth} | {found} |"


def _shown(steps: float) -> str:
    return "never" if math.isinf(steps) else f"{steps:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["walk", "report"])
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--designs", type=int, default=10_000, help="at most so many more designs")
    parser.add_argument("--limit", type=int, default=LIMIT, help="steps of a series of walks, at most")
    parser.add_argument("--write", action="store_true", help="puts the figures into benchmarks/RESULTS.md")
    given = parser.parse_args()
    if given.task == "walk":
        walk(given.seconds, given.designs, given.limit)
        return
    lines = list(report())
    print("\n".join(lines))
    if given.write:
        section("known-bad designs", "python -m benchmarks.known_bad report --write", lines)


if __name__ == "__main__":
    main()
