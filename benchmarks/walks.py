"""Random walks beside published figures.

    python -m benchmarks.walks walk                          goes on where the record ends
    python -m benchmarks.walks report|membership [--write]

Flexible Paxos, of which ``walks.csv`` has a row for each size, number of walks and strategy:

I. Konnov, "All you need is a simulator? Nope" (https://protocols-made-fun.com, March 9, 2026), counts which share of
the states walks of at most 100 steps reach, beside TLC. The model has his counts of states. His walks draw a step and
its arguments, and draw again a few times where it is disabled; these draw among what is enabled.

Membership: the bug of Raft's changes of one server at a time, which D. Ongaro found in 2015: a leader changes the
members before it has committed a record of its own epoch. A simulation of Hydro's Raft finds it with 4 of 8 seeds,
first after 1.8 million executions (https://github.com/hydro-project/hydro/pull/3192). Here it is a known-bad design of
the model of KIP-853.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.flexible_paxos import FlexiblePaxos
from benchmarks.known_bad import series
from benchmarks.records import Records
from benchmarks.results import section
from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import Property, collect
from floodmark.checkers.search.beginning import beginnings
from floodmark.checkers.search_result import Options
from floodmark.checkers.simulation.compiled_walks import build_walk_code
from floodmark.checkers.simulation.sample import MAX_SAMPLE
from floodmark.checkers.simulation.simulate import simulate
from floodmark.checkers.simulation.walker import WalkPlan, WalkStrategy
from floodmark.checkers.verdict.check import CheckSettings, one_check
from floodmark.language.model import Model

REPOSITORY = Path(__file__).parents[1]
STEPS = 100
WALKS = (100_000, 1_000_000)
SEEDS = 8
MEMBERSHIP_STEPS = 3_000_000
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
    Published(FlexiblePaxos(acceptors=3, first_quorum=2), 362_361, "21 s", {100_000_000: "94.5%, 7.5 hours"}),
    Published(
        FlexiblePaxos(acceptors=4, rows=True), 11_279_393, "9 min", {100_000: "3%", 100_000_000: "60.4%, 8.5 hours"}
    ),
)


@dataclass(frozen=True)
class Row:
    """The share of the states that walks of a size reached, and the seconds of one core."""

    acceptors: int
    walks: int
    strategy: str
    share: float
    seconds: float


RECORDS = Records(__file__, Row)


def walk() -> None:
    """Takes the walks that the record has not."""
    known = {(row.acceptors, row.walks, row.strategy) for row in RECORDS.read()}
    for size in SIZES:
        for count in sorted({*WALKS, *size.shares}):
            for strategy in strategies(count):
                if (acceptors(size), count, strategy.name.lower()) not in known:
                    row = walked(size, count, strategy)
                    RECORDS.add([row])
                    print(row, flush=True)


def strategies(count: int) -> Sequence[WalkStrategy]:
    """All for the fewest walks; that of the published walks where only they are so many."""
    if count not in WALKS:
        return [WalkStrategy.ACTIONS]
    return list(WalkStrategy) if count == min(WALKS) else FEW


def walked(size: Published, count: int, strategy: WalkStrategy) -> Row:
    began = time.process_time()
    found = simulate(size.model, properties(size), Options(workers=1), WalkPlan(count, STEPS, 1, strategy))
    share, seconds = found.distinct / size.states, time.process_time() - began
    return Row(acceptors(size), count, strategy.name.lower(), round(share, 4), round(seconds, 1))


def report() -> Iterator[str]:
    yield "| acceptors | states | a search, seconds of one core | TLC (published) |"
    yield "|---|---|---|---|"
    for size in SIZES:
        began = time.process_time()
        found = search_states(size.model, properties(size), Options(workers=1))
        assert found.complete and found.distinct == size.states
        taken = time.process_time() - began
        yield f"| {acceptors(size)} | {found.distinct:,} | {taken:.1f} | {size.time} |"
    yield ""
    yield (
        f"Walks of at most {STEPS} steps; the published ones on another machine. More than {MAX_SAMPLE:,} distinct "
        "states are an estimate, whose 95 % interval is at most 1.1 % of it to either side."
    )
    yield ""
    yield "| acceptors | walks | strategy | share of the states | seconds of one core | published |"
    yield "|---|---|---|---|---|---|"
    shares = {(acceptors(size), count): share for size in SIZES for count, share in size.shares.items()}
    for row in RECORDS.read():
        published = shares.get((row.acceptors, row.walks), "") if row.strategy == "actions" else ""
        yield (
            f"| {row.acceptors} | {row.walks:,} | {row.strategy} | {row.share:.1%} | {row.seconds:.1f} | {published} |"
        )


def membership() -> Iterator[str]:
    """The walks of each seed until one meets the bug, and what a search takes."""
    check = one_check(REPOSITORY / "specs/dynamic_quorum/voters.toml", "ChangesBeforeCommit", CheckSettings(workers=1))
    wanted = check.properties()
    began = time.process_time()
    searched = search_states(check.model(), wanted, Options(workers=1))
    taken = time.process_time() - began
    yield (
        f"Ongaro's bug of changes of one server at a time, `{check.spec.name}` with ChangesBeforeCommit. A search "
        f"meets it after {searched.generated:,} generated states, {taken:.1f} s of one core with compilation; the "
        f"shortest counterexample has {len(searched.violations[0].trace)} steps. Walks of at most {STEPS} steps, "
        f"{MEMBERSHIP_STEPS:,} steps together for each seed."
    )
    yield ""
    yield "| strategy | seeds that meet it | walks of the first | median walks | median steps | median seconds |"
    yield "|---|---|---|---|---|---|"
    for strategy in WalkStrategy:
        met = at_widths(check.model(), partial(_each_seed, wanted, strategy))
        found = [it for it in met if it is not None]
        ordered = sorted(it or (math.inf, math.inf, math.inf) for it in met)
        middle = ordered[SEEDS // 2]
        shown = ["never" if math.isinf(it) else f"{it:,.0f}" for it in middle[:2]]
        seconds = "" if math.isinf(middle[2]) else f"{middle[2]:.2f}"
        first = f"{min(walks for walks, _, _ in found):,}" if found else ""
        yield f"| {strategy.name.lower()} | {len(found)} of {SEEDS} | {first} | {' | '.join(shown)} | {seconds} |"
    yield ""
    yield "Published: 4 of 8 seeds, the first after 1.8 million executions."


Met = tuple[float, float, float]
"""The walks, steps and seconds until one meets the violation."""


def _each_seed(wanted: Sequence[Property], strategy: WalkStrategy, model: Model) -> list[Met | None]:
    code = build_walk_code(model, {prop.name: prop.function for prop in wanted}, good=True)
    initial = [code.interface.layout.pack(state) for state in beginnings(model, wanted).within]
    found: list[Met | None] = []
    for seed in range(SEEDS):
        steps, seconds = series(code, initial, wanted, seed, strategy, False, MEMBERSHIP_STEPS)
        found.append(None if math.isinf(steps) else (steps // (STEPS + 1) + 1, steps, seconds))
    return found


def properties(size: Published) -> list[Property]:
    return list(collect(type(size.model), []).values())


def acceptors(size: Published) -> int:
    return size.model.constant_values["acceptors"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["walk", "report", "membership"])
    parser.add_argument("--write", action="store_true", help="puts the figures into benchmarks/RESULTS.md")
    given = parser.parse_args()
    if given.task == "walk":
        walk()
        return
    title, rows = SECTIONS[given.task]
    lines = []
    for line in rows():
        print(line, flush=True)
        lines.append(line)
    if given.write:
        section(title, f"python -m benchmarks.walks {given.task} --write", lines)


SECTIONS = {
    "report": ("walks beside published figures", report),
    "membership": ("walks to a bug of membership", membership),
}


if __name__ == "__main__":
    main()
