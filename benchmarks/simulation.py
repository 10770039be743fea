"""What random walks are worth, beside the exhaustive search: ``python -m benchmarks.simulation [--write]``.

Two tables for each strategy. On specs whose reachable set is known: the share of the states that walks reach, and two
estimates beside the truth. On known-bad designs: the steps until a walk meets the violation, over several seeds, beside
the states that a search visits. Everything but the speed, which ``--speed`` measures, is the same in every run.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.results import section
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.spec import find, read
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.simulation.simulate import simulate
from floodmark.checkers.simulation.walker import Walking, WalkStrategy
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.language.errors import SourceError

REPOSITORY = Path(__file__).parents[1]
STEPS = 100
SMALLEST, LARGEST = 2_000, 1_500_000
"""The number of states of the specs that are compared: fewer are reached at once, more take long."""
TOTALS = (100_000, 1_000_000, 10_000_000)
"""Steps of all walks together, at most."""
LIMIT = 2_000_000
"""Steps after which a violation is not found."""
CONFIDENCE = 1.96
"""Standard deviations on both sides of an estimate: 95 of 100 intervals contain the truth where its errors are normal
and its observations are independent."""


def quick_checks(one_in: int) -> Iterator[Check]:
    """Checks of the quick tier, models and designs, one in so many."""
    every = [
        check
        for address in find([REPOSITORY / "specs"], "quick")
        for check in checks(read(address), CheckSettings(workers=1))
        if check.tier == "quick" and not any(prop.is_liveness for prop in check.properties())
    ]
    yield from every[::one_in]


def walked(check: Check, walks: int, seed: int, strategy: WalkStrategy) -> SearchResult:
    """Walks through a check's model, by one worker."""
    return simulate(check.model(), check.properties(), Options(workers=1), Walking(walks, STEPS, seed, strategy))


def shares(every: Sequence[Check], totals: Sequence[int]) -> list[str]:
    """The table of what walks reach of known sets of states."""
    known = []
    for check in every:
        if check.flawed is None and SMALLEST <= (check.spec.expect.distinct or 0) <= LARGEST and not check.symmetry:
            known.append((check, check.spec.expect.distinct or 0))
    lines = [
        f"{len(known)} specs with {SMALLEST:,} to {LARGEST:,} states. The chance that the next state is new is the "
        "share of the visits whose state was visited once (Good and Turing), with an interval of 95 %; it is beside "
        "the truth where that many further steps were taken.",
        "",
        "| strategy | steps | median share of the states | least | most | interval contained the truth |",
        "|---|---|---|---|---|---|",
    ]
    for strategy in WalkStrategy:
        for total in totals:
            reached, right, asked = [], 0, 0
            for check, states in known:
                found = walked(check, total // STEPS, 1, strategy)
                assert found.walked is not None
                reached.append(found.distinct / states)
                chance = found.walked.once / found.generated
                more = walked(check, 2 * total // STEPS, 1, strategy)
                truth = max(more.distinct - found.distinct, 0) / max(more.generated - found.generated, 1)
                error = CONFIDENCE * math.sqrt(max(chance, 1 / found.generated) / found.generated)
                asked += 1
                right += abs(chance - truth) <= error
            lines.append(
                f"| {strategy.name.lower()} | {total:,} | {statistics.median(reached):.1%} | {min(reached):.2%} | "
                f"{max(reached):.1%} | {right} of {asked} |"
            )
    return lines


def designs(every: Sequence[Check], seeds: int) -> list[str]:
    """The table of how soon walks meet the violation of known-bad designs."""
    flawed = [check for check in every if check.flawed is not None]
    search = [
        search_states(check.model(), check.properties(), Options(workers=1, deadlock=check.options.deadlock)).generated
        for check in flawed
    ]
    lines = [
        f"{len(flawed)} known-bad designs of the quick tier, {seeds} seeds each, at most {LIMIT:,} steps. A search "
        f"generates {statistics.median(search):,.0f} states until it meets the violation (the median of the "
        f"designs), {max(search):,} at most.",
        "",
        "| strategy | found by every seed | by some | by none | median steps | nine in ten | fewer than a search |",
        "|---|---|---|---|---|---|---|",
    ]
    for strategy in WalkStrategy:
        steps: list[float] = []
        every_seed = some = none = fewer = 0
        for check, generated in zip(flawed, search, strict=True):
            taken = [_until(check, seed, strategy) for seed in range(seeds)]
            met = [it for it in taken if it is not None]
            every_seed += len(met) == seeds
            some += 0 < len(met) < seeds
            none += not met
            median = statistics.median(math.inf if it is None else it for it in taken)
            steps.append(median)
            fewer += median < generated
        ordered = sorted(steps)
        lines.append(
            f"| {strategy.name.lower()} | {every_seed} | {some} | {none} | {_shown(ordered[len(ordered) // 2])} | "
            f"{_shown(ordered[len(ordered) * 9 // 10])} | {fewer} |"
        )
    return lines


def _until(check: Check, seed: int, strategy: WalkStrategy) -> int | None:
    """The steps of all walks until one meets a violation; None if none does."""
    found = walked(check, LIMIT // STEPS, seed, strategy)
    return found.generated if found.violations else None


def _shown(steps: float) -> str:
    return "never" if math.isinf(steps) else f"{steps:,.0f}"


def speed(names: Sequence[str]) -> list[str]:
    """The table of steps for a second of the processor, the best of three runs."""
    lines = ["| spec | steps for a second of one core |", "|---|---|"]
    for name in names:
        check = checks(read(REPOSITORY / "specs" / f"{name}.toml"), CheckSettings())[0]
        lines.append(f"| {name} | {max(_rate(check) for _ in range(3)) / 1e6:.1f} million |")
    return lines


def _rate(check: Check) -> float:
    before = time.process_time()
    found = walked(check, 50_000, 1, WalkStrategy.ACTIONS)
    return found.generated / (time.process_time() - before)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__))
    parser.add_argument("--one-in", type=int, default=1, help="of the quick checks, one in so many")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--totals", type=int, nargs="*", default=TOTALS, help="steps of all walks together")
    parser.add_argument("--speed", action="store_true", help="measures the speed alone")
    parser.add_argument("--write", action="store_true", help="puts the figures into benchmarks/RESULTS.md")
    asked = parser.parse_args()
    if asked.speed:
        lines = speed(("alter_isr/core", "kraft/quorum"))
        print("\n".join(lines))
        if asked.write:
            section("speed of walks", "python -m benchmarks.simulation --speed --write", lines)
        return
    every = list(quick_checks(asked.one_in))
    lines = [*designs(every, asked.seeds), "", *shares(every, asked.totals)]
    print("\n".join(lines))
    if asked.write:
        more = "" if asked.one_in == 1 else f" --one-in {asked.one_in}"
        given = " ".join(map(str, asked.totals))
        command = f"python -m benchmarks.simulation --seeds {asked.seeds}{more} --totals {given} --write"
        section("simulation", command, lines)


if __name__ == "__main__":
    try:
        main()
    except SourceError as error:
        raise SystemExit(str(error)) from None
