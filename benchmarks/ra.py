"""The findings in RabbitMQ's Ra, and their cost: ``python -m benchmarks.ra [--seeds N] [--most N] [--others FOLDER ...]
[--write]``.

The shortest runs of the known-bad designs, which searches of all states find; then schedules that are drawn from what
the servers can do, without a model, until a bug shows (``examples/ra/search.py``). ``FLOODMARK_RA_LIBS`` names the
release; each further FOLDER has another one as ``ra-*/ebin``. A release that shows no bug need not be without it: as
read, #439 was repaired in 2.11.0, and #600 in 3.1.3.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.results import section
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.spec import read_all
from floodmark.checkers.search_result import Options
from floodmark.checkers.verdict.check import CheckSettings, checks

ROOT = Path(__file__).parents[1]
SPECS = ("server", "no_leader", "replaced_entry", "deposed_leader", "replaced_change")
BUGS = {"no-leader": "439", "crash": "600"}
"""The bugs that the drawn schedules look for, with their numbers in Ra's tracker."""


def searched(libs: str, what: str, seeds: int, most: int) -> tuple[str, list[tuple[int, int] | None], float]:
    """A release; of each seed the schedules until the bug and the steps of the one that shows it; and the seconds."""
    os.environ["FLOODMARK_RA_LIBS"] = libs
    sys.path.insert(0, str(ROOT / "examples" / "ra"))
    search = importlib.import_module("search")
    begun = time.monotonic()
    found = [search.found(what, seed, most) for seed in range(seeds)]
    return str(search.library()), [run and (run[0], len(run[1])) for run in found], time.monotonic() - begun


def drawn(libs: Sequence[str], seeds: int, most: int) -> Iterator[str]:
    yield "| release | bug | found with | schedules until then (median) | steps of the shortest | seconds |"
    yield "|---|---|---|---|---|---|"
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for what, number in BUGS.items():
            for folder in libs:
                release, found, seconds = pool.apply(searched, (folder, what, seeds, most))
                runs = [run for run in found if run is not None]
                median = f"{statistics.median(run[0] for run in runs):,.0f}" if runs else f"none in {seeds * most:,}"
                shortest = str(min(run[1] for run in runs)) if runs else ""
                yield (f"| {release} | #{number} | {len(runs)} of {seeds} seeds | {median} | {shortest} "
                       f"| {seconds:,.0f} |")


def designs() -> Iterator[str]:
    """The shortest run of each known-bad design. Seconds are the processor's, with the time to compile."""
    yield "| known-bad design | property | steps of the shortest run | states until then | seconds |"
    yield "|---|---|---|---|---|"
    for name in SPECS:
        for spec in read_all(ROOT / "specs" / "ra" / f"{name}.toml"):
            for check in checks(spec, CheckSettings(workers=1)):
                if check.flawed is not None:
                    begun = time.process_time()
                    found = search_states(check.model(), check.properties(), Options(workers=1))
                    yield (f"| {name} {check.flawed.name} | {check.flawed.property} | {found.depth} "
                           f"| {found.distinct:,} | {time.process_time() - begun:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--most", type=int, default=1_000, help="schedules of a seed")
    parser.add_argument("--others", nargs="*", default=[], metavar="FOLDER", help="with other releases")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    libs = [os.environ["FLOODMARK_RA_LIBS"], *given.others]
    table = [*designs(), "", *drawn(libs, given.seeds, given.most)]
    print("\n".join(table))
    if given.write:
        others = " --others FOLDER ..." if given.others else ""
        section("Ra", f"python -m benchmarks.ra --seeds {given.seeds} --most {given.most}{others} --write", table)


if __name__ == "__main__":
    main()
