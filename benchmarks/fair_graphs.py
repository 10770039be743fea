"""Checks liveness on random graphs with random fairness: ``python -m benchmarks.fair_graphs [--graphs N] [--write]``.

Each graph is judged as data by both solvers, compiled and plain, and some are also searched as models: by the native
engine with one worker and with two, and by CPython. Every verdict on each kind of property has to be that of an
independent Streett check; on graphs with few enough steps that oracle has to agree with one that enumerates all loops.
``--write`` puts the figures into benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections import Counter

from benchmarks.results import section
from tests.liveness.test_liveness_graphs import assert_oracles_agree, judged, small, verdicts
from tests.liveness.test_liveness_solvers import SOLVERS, finding
from tests.support.fair_graphs import KINDS, FairGraph, random_graph, verdict

VERDICTS = ("holds", "violated", "undetermined")
SEARCHES = (("native", 1), ("native", 2), ("reference", 1))


class DisagreementError(AssertionError):
    """Somebody's verdicts on a graph are not the oracle's."""

    def __init__(self, who: str, found: dict[str, str], wanted: dict[str, str], graph: FairGraph) -> None:
        wrong = "; ".join(f"{kind}: {found[kind]}, not {wanted[kind]}" for kind in KINDS if found[kind] != wanted[kind])
        super().__init__(f"{who}: {wrong}\n{graph}")


def campaign(graphs: int, seed: int, one_in: int) -> Counter[str]:
    """Judges so many graphs, one in so many of them also as models. Raises DisagreementError."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    for number in range(graphs):
        graph = random_graph(chance)
        wanted = {kind: verdict(graph, kind, "streett") for kind in KINDS}
        counts.update(f"{kind}: {said}" for kind, said in wanted.items())
        counts["strong"] += any(graph.fair.values())
        counts["each"] += bool(graph.each)
        counts["bounded"] += graph.bound is not None
        if small(graph):
            assert_oracles_agree(graph)
            counts["lassos"] += 1
        for name, solver in SOLVERS.items():
            _compare(name, {kind: finding(graph, kind, solver).verdict for kind in KINDS}, wanted, graph)
        if number % one_in == 0:
            counts["models"] += 1
            for engine, workers in SEARCHES:
                found = verdicts(judged(graph, engine, workers))
                _compare(f"{engine}, {workers}", {kind: found[kind] for kind in KINDS}, wanted, graph)
    return counts


def _compare(who: str, found: dict[str, str], wanted: dict[str, str], graph: FairGraph) -> None:
    if found != wanted:
        raise DisagreementError(who, found, wanted, graph)


def report(counts: Counter[str], graphs: int, seconds: float) -> list[str]:
    """The figures as a table."""
    return [
        f"{graphs:,} graphs of one to six states and one to three actions in {seconds:,.0f} s of processor time; no "
        f"disagreement. {counts['strong']:,} have a strongly fair action, {counts['each']:,} one that is fair for each "
        f"choice, {counts['bounded']:,} a bound. Of {counts['lassos']:,}, all loops were enumerated. "
        f"{counts['models']:,} were also searched as models, by the native engine with one worker and with two and by "
        "CPython.",
        "",
        "| property | holds | violated | undetermined |",
        "|---|---|---|---|",
        *(" | ".join([f"| {kind}", *(f"{counts[f'{kind}: {said}']:,}" for said in VERDICTS)]) + " |" for kind in KINDS),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one-in", type=int, default=10, help="so many graphs to one that is also a model")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    started = time.process_time()
    with tempfile.TemporaryDirectory() as directory:
        os.environ["FLOODMARK_CACHE"] = directory
        counts = campaign(arguments.graphs, arguments.seed, arguments.one_in)
    lines = report(counts, arguments.graphs, time.process_time() - started)
    print(*lines, sep="\n")
    if arguments.write:
        command = f"python -m benchmarks.fair_graphs --graphs {arguments.graphs} --seed {arguments.seed} "
        section("fair graphs", f"{command}--one-in {arguments.one_in} --write", lines)


if __name__ == "__main__":
    main()
