"""The share of reachable states and steps that walks reach, and the quality of estimates, where the truth is known.

    python -m benchmarks.simulation walk [--seconds S] [--specs N]      goes on where the record ends
    python -m benchmarks.simulation report [--write]
    python -m benchmarks.simulation speed [--write]

``simulation.csv`` has a row for each spec, strategy, number of walks and seed. Specs are taken in an order that is
drawn once, so those that the record has are a sample of all of them until it has each. The truth of the estimate of new
states comes from ``MORE`` further walks of the same strategy.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.records import Records
from benchmarks.results import section
from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.codegen.jit import GOOD, MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import Word, Words, call_model, compile_loops, exported, offset
from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.kernel.loops import OUTSIDE, SEED_1, copy
from floodmark.checkers.kernel.partitioned import fingerprints
from floodmark.checkers.native.search import reachable_set
from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import find, read, read_all
from floodmark.checkers.search.beginning import beginnings
from floodmark.checkers.search_result import Estimate, Options
from floodmark.checkers.simulation import sample
from floodmark.checkers.simulation.compiled_walks import WalkCode, build_walk_code
from floodmark.checkers.simulation.walker import GROUP, Walker, WalkPlan, WalkStrategy
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

REPOSITORY = Path(__file__).parents[1]
STEPS = 100
SMALLEST, LARGEST = 2_000, 400_000
"""The number of states of the specs that are compared: fewer are reached at once, more take long."""
WALKS = (100, 1_000)
SEEDS = range(1, 5)
MORE = 3_000
PIECES, PIECE = 1000, 640
"""For the speed: the number of pieces, and of walks in each, which take some milliseconds."""
CELLS = 1 << 12
"""Cells of a small sample, which estimates what a large one counts."""
NW = 1
Array = NDArray[np.uint64]


@dataclass(frozen=True)
class Row:
    """Walks of one seed. ``states`` and ``steps`` are how many there are and how many were reached, an estimate of the
    small sample has its interval beside the truth. ``new`` is how many new states a further walk visits, with its
    standard error; the estimates of it are not numbers where there is none, those of the small sample come last."""

    spec: str
    strategy: str
    walks: int
    seed: int
    states: int
    steps: int
    visits: int
    states_reached: int
    steps_reached: int
    distinct_low: float
    distinct_high: float
    new: float
    new_error: float
    estimate: float
    estimate_low: float
    estimate_high: float
    small_low: float
    small_high: float


RECORDS = Records(__file__, Row)


@exported
def successors(expand: Word, states: Words, count: Word, out: Words, context: Words, found: Words, ends: Words) -> Word:
    """Writes all successors of some states, one after the other, and how many there are up to each state's."""
    total = 0
    for i in range(count):
        made = call_model(expand, offset(states, i * NW), out, context)
        for j in range(made):
            copy(offset(found, total * NW), offset(out, j * NW))
            total = total + 1
        ends[i] = total
    return total


def of_pairs(before: Array, after: Array) -> Array:
    """The fingerprints of steps, from those of the states."""
    return fingerprints(np.stack([before, after], axis=1), 2, SEED_1)


def all_steps(model: Model, rows: Array) -> int:
    """The number of distinct steps from some states: pairs of a state and its successor."""
    kernel = build_kernel(model, {}, False)
    words = kernel.interface.layout.words
    code = object_image({"successors": str(words)}, lambda: compile_loops([copy, successors], {"NW": words}), GOOD)
    loop = MachineCode([code])
    call = loop.function("successors", 7)
    most = kernel.interface.most_successors + 1
    out, context = np.zeros(most * words, np.uint64), np.zeros(kernel.interface.context_words + 1, np.uint64)
    context[OUTSIDE] = (1 << 64) - 1
    found: list[Array] = []
    some = max(1, (1 << 22) // (most * words))
    for start in range(0, len(rows), some):
        piece = np.ascontiguousarray(rows[start : start + some])
        after, ends = np.zeros((len(piece) * most, words), np.uint64), np.zeros(len(piece), np.uint64)
        arrays = (it.ctypes.data for it in (out, context, after, ends))
        total = call(kernel.model.address("expand"), piece.ctypes.data, len(piece), *arrays)
        before = np.repeat(fingerprints(piece, words, SEED_1), np.diff(ends, prepend=np.uint64(0)).astype(np.int64))
        found.append(np.unique(of_pairs(before, fingerprints(after[:total], words, SEED_1))))
    return len(np.unique(np.concatenate(found)))


@dataclass(frozen=True)
class Taken:
    """Walks, as the fingerprints of their states, one after the other; ``ends`` are where each walk ends."""

    states: Array
    ends: list[int]
    walker: Walker

    def steps(self) -> Array:
        pairs = of_pairs(self.states[:-1], self.states[1:])
        inside = np.ones(len(pairs), dtype=bool)
        inside[np.array(self.ends[:-1], dtype=np.int64) - 1] = False
        return pairs[inside]

    def new_for_each(self, known: Array) -> Array:
        """The number of unknown states that each walk visits."""
        fresh = ~np.isin(self.states, known)
        return np.array([
            len(np.unique(self.states[start:end][fresh[start:end]]))
            for start, end in zip([0, *self.ends], self.ends, strict=False)
        ])


def take(code: WalkCode, initial: Sequence[tuple[int, ...]], walking: WalkPlan) -> Taken:
    words = code.interface.layout.words
    walker = Walker(code, initial, walking, 0, False)
    found, ends = [], [0]
    for rows in walker.paths(walking.walks):
        found.append(fingerprints(rows, words, SEED_1))
        ends.append(ends[-1] + len(rows))
    return Taken(np.concatenate(found), ends[1:], walker)


def known() -> list[Check]:
    """The models whose reachable set is known, of the sizes that are compared, in the order in which they are taken:
    first those whose specs say how many states there are, then those of which only the lock does."""
    inside = [check for check, states in counted_models() if SMALLEST <= states <= LARGEST]
    said = [check for check in inside if check.spec.expect.distinct]
    locked = [check for check in inside if not check.spec.expect.distinct]
    for some in (said, locked):
        random.Random(22).shuffle(some)
    return [*said, *locked]


def counted_models() -> list[tuple[Check, int]]:
    """The models of the quick tier with how many states they have, but for those that are searched by orbits."""
    with (REPOSITORY / "specs" / "floodmark.lock").open("rb") as opened:
        locked = tomllib.load(opened)["specs"]
    found = []
    for spec in (spec for address in sorted(find([REPOSITORY / "specs"], "quick")) for spec in read_all(address)):
        entry = locked.get(spec.name, {})
        states = spec.expect.distinct or (entry.get("distinct") if entry.get("verdict") == "holds" else None)
        check = checks(spec, CheckSettings(workers=1))[0]
        if states and not check.symmetry:
            found.append((check, states))
    return found


def measured(check: Check) -> Iterator[Row]:
    rows, model = reachable_set(check.model(), Options(workers=1))
    steps = all_steps(model, rows)
    code = build_walk_code(model, {}, good=True)
    initial = [code.interface.layout.pack(state) for state in beginnings(model, []).within]
    for strategy in WalkStrategy:
        further = take(code, initial, WalkPlan(MORE, STEPS, 0, strategy))
        for walks in WALKS:
            for seed in SEEDS:
                taken = take(code, initial, WalkPlan(walks, STEPS, seed, strategy))
                states = np.unique(taken.states)
                new = further.new_for_each(states)
                error = float(np.std(new)) / math.sqrt(MORE)
                large, small = taken.walker.sample(), _small(code, initial, WalkPlan(walks, STEPS, seed, strategy))
                assert large.distinct() == Estimate(len(states), len(states), len(states))
                told = large.new_states(walks) or Estimate(math.nan, math.nan, math.nan)
                roughly = small.new_states(walks) or Estimate(math.nan, math.nan, math.nan)
                distinct = small.distinct()
                yield Row(
                    check.spec.name, strategy.name.lower(), walks, seed, len(rows), steps, len(taken.states),
                    len(states), len(np.unique(taken.steps())), distinct.low, distinct.high,
                    round(float(np.mean(new)), 4), round(error, 4),
                    *(round(it, 4) for it in (told.mean, told.low, told.high, roughly.low, roughly.high)),
                )


def _small(code: WalkCode, initial: Sequence[tuple[int, ...]], walking: WalkPlan) -> sample.Sample:
    with patch("floodmark.checkers.simulation.walker.SAMPLE_CELLS", CELLS):
        walker = Walker(code, initial, walking, 0, False)
    for first in range(0, walking.walks, GROUP):
        walker.take(first, min(first + GROUP, walking.walks), lambda: False)
    return walker.sample()


def walk(seconds: float, most: int) -> None:
    """Measures specs that the record has not."""
    done = {row.spec for row in RECORDS.read()}
    ends = time.monotonic() + seconds
    for check in known():
        if most <= 0 or time.monotonic() > ends:
            return
        if check.spec.name not in done:
            most -= 1
            rows = list(measured(check))
            RECORDS.add(rows)
            print(check.spec.name, rows[0].states, rows[0].steps, flush=True)


def report() -> Iterator[str]:
    rows = RECORDS.read()
    specs, sizes = len({row.spec for row in rows}), [states for _, states in counted_models()]
    yield (
        f"{specs} of the {len(known())} specs of the quick tier with {SMALLEST:,} to {LARGEST:,} states; walks of "
        f"{STEPS} steps, {len(SEEDS)} seeds. Of the {len(sizes)} specs with a known number of states, "
        f"{sum(size < SMALLEST for size in sizes)} have fewer, too few to tell strategies apart, and "
        f"{sum(size > LARGEST for size in sizes)} have more, whose steps take long to count. A step is a state and its "
        "successor."
    )
    yield ""
    yield "| strategy | walks | median share of the states | least | most | median share of the steps | least | most |"
    yield "|---|---|---|---|---|---|---|---|"
    for (strategy, walks), some in by_walks(rows):
        states, steps = [it.states_reached / it.states for it in some], [it.steps_reached / it.steps for it in some]
        yield f"| {strategy} | {walks:,} | {spread(states)} | {spread(steps)} |"
    yield ""
    yield (
        f"Intervals of 95 % beside the truth. Distinct: the number of distinct states by a sample of {CELLS // 2:,} "
        "states, where there were more. New: how many new states a further walk visits; the truth comes from "
        f"{MORE:,} further walks and has an error of its own, which is added to the interval's. New, small: the same "
        "by the small sample."
    )
    yield ""
    yield "| strategy | walks | distinct | new | new, small | median half width of new |"
    yield "|---|---|---|---|---|---|"
    for (strategy, walks), some in by_walks(rows):
        given = [it for it in some if it.estimate > 0]
        thinned = [it for it in some if it.distinct_low < it.distinct_high]
        distinct = share([it.distinct_low <= it.states_reached <= it.distinct_high for it in thinned])
        new = share([contains(it, it.estimate_low, it.estimate_high) for it in given])
        small = share([contains(it, it.small_low, it.small_high) for it in thinned if it.small_high > 0])
        widths = [(it.estimate_high - it.estimate_low) / 2 / it.estimate for it in given]
        width = f"{statistics.median(widths):.0%}" if widths else ""
        yield f"| {strategy} | {walks:,} | {distinct} | {new} | {small} | {width} |"

    hits: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        if row.strategy != "novel" and row.estimate > 0:
            hits[row.spec].append(contains(row, row.estimate_low, row.estimate_high))
    worst = min(hits.values(), key=lambda some: sum(some) / len(some))
    yield ""
    yield (
        "New states by the strategies whose walks are independent: "
        f"{share([it for some in hits.values() for it in some])} of the intervals contain the truth; of the spec with "
        f"the smallest share, {share(worst)}. Walks for novel states depend on each other: no estimate of theirs is "
        "printed."
    )


def by_walks(rows: Sequence[Row]) -> list[tuple[tuple[str, int], list[Row]]]:
    found: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        found[row.strategy, row.walks].append(row)
    return list(found.items())


def spread(shares: Sequence[float]) -> str:
    return f"{statistics.median(shares):.1%} | {min(shares):.2%} | {max(shares):.1%}"


def contains(row: Row, low: float, high: float) -> bool:
    """Whether an interval contains the truth, which has an error as well."""
    middle, half = (low + high) / 2, math.hypot((high - low) / 2, sample.DEVIATIONS * row.new_error)
    return abs(row.new - middle) <= half


def share(hits: Sequence[bool]) -> str:
    return f"{sum(hits)} of {len(hits)}" + (f" ({sum(hits) / len(hits):.0%})" if hits else "")


def speed(names: Sequence[str]) -> Iterator[str]:
    yield (
        f"The fastest of {PIECES} pieces of {PIECE} walks of {STEPS} steps each, with all properties: what else the "
        "machine does slows down the others."
    )
    yield ""
    yield "| spec | steps for a second of one core |"
    yield "|---|---|"
    for name in names:
        check = checks(read(REPOSITORY / "specs" / f"{name}.toml"), CheckSettings())[0]
        rate = at_widths(check.model(), partial(_rate, check.properties()))
        yield f"| {name} | {rate / 1e6:.1f} million |"


def _rate(properties: Sequence[Property], model: Model) -> float:
    code = build_walk_code(model, {prop.name: prop.function for prop in properties}, good=True)
    initial = [code.interface.layout.pack(state) for state in beginnings(model, properties).within]
    walker = Walker(code, initial, WalkPlan(PIECES * PIECE, STEPS, 1, WalkStrategy.ACTIONS), 0, False)
    rates = []
    for first in range(0, PIECES * PIECE, PIECE):
        visits, before = walker.visits, time.thread_time()
        walker.take(first, first + PIECE, lambda: False)
        rates.append((walker.visits - visits) / (time.thread_time() - before))
    return max(rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["walk", "report", "speed"])
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--specs", type=int, default=10_000, help="at most so many more specs")
    parser.add_argument("--write", action="store_true", help="puts the figures into benchmarks/RESULTS.md")
    given = parser.parse_args()
    if given.task == "walk":
        walk(given.seconds, given.specs)
        return
    lines = list(report() if given.task == "report" else speed(("alter_isr/core", "kraft/quorum")))
    print("\n".join(lines))
    if given.write:
        name = "simulation" if given.task == "report" else "speed of walks"
        section(name, f"python -m benchmarks.simulation {given.task} --write", lines)


if __name__ == "__main__":
    try:
        main()
    except SourceError as error:
        raise SystemExit(str(error)) from None
