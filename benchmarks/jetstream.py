"""Real servers of NATS JetStream beside the models of their releases: ``python -m benchmarks.jetstream PART [--most N]
[--at-once N] [--write]``.

PART is ``bugs``: each release takes schedules of its own model in which one bug is changed, repaired where the release
has it and added where it has not, until the server contradicts the model; ``schedules``: each release takes the
schedules of its own model, none of which may differ; ``lost``: walks look for a run that loses an acknowledged write,
and servers take it (``examples/jetstream/hunt.py``). ``FLOODMARK_NATS_RELEASES`` names the folder with the releases.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.results import section

EXAMPLE = Path(__file__).parents[1] / "examples" / "jetstream"
SEED = 1
MOST = {"bugs": 60, "schedules": 120}
"""Schedules, unless ``--most`` says another number."""


def module(name: str) -> Any:
    if str(EXAMPLE) not in sys.path:
        sys.path.insert(0, str(EXAMPLE))
    return importlib.import_module(name)


def taken(version: str, design: Any, most: int, at_once: int) -> tuple[list[Any], float, float]:
    """The outcomes of a model's schedules; the seconds to draw them, and those that the servers took."""
    schedules = module("schedules")
    begun = time.monotonic()
    drawn = schedules.drawn(design(**schedules.SIZE), SEED, schedules.EXPLORED)
    traces = [schedules.trace_of(steps) for steps in itertools.islice(drawn, most)]
    between = time.monotonic()
    found = schedules.outcomes(design, schedules.SIZE, module("library").release(version), traces, at_once)
    return found, between - begun, time.monotonic() - between


def steps(found: list[Any]) -> int:
    return sum(each.steps for each in found if each.in_time)


def bugs(most: int, at_once: int) -> Iterator[str]:
    releases = module("releases")
    yield f"Up to {most:,} schedules each, {at_once} servers at once:"
    yield ""
    yield ("| release | bug | the release has it | contradicted by schedule | steps in all | seconds of the servers "
           "| seconds to draw the schedules |")
    yield "|---|---|---|---|---|---|---|"
    for (version, bug), design in releases.CHANGED.items():
        found, drawing, seconds = taken(version, design, most, at_once)
        place = f"{len(found)}" if found[-1].difference is not None else f"none of {len(found):,}"
        yield (f"| {version} | {bug} | {'yes' if releases.HAS[bug][version] else 'no'} | {place} "
               f"| {steps(found):,} | {seconds:,.0f} | {drawing:,.0f} |")


def own(most: int, at_once: int) -> Iterator[str]:
    yield f"{at_once} servers at once:"
    yield ""
    yield "| release | schedules | steps | seconds of the servers | that differ | late, and repeated | always late |"
    yield "|---|---|---|---|---|---|---|"
    for version, design in module("releases").RELEASES.items():
        found, _, seconds = taken(version, design, most, at_once)
        in_time = [each for each in found if each.in_time]
        yield (f"| {version} | {len(in_time):,} | {steps(found):,} | {seconds:,.0f} "
               f"| {sum(each.difference is not None for each in found)} | {sum(each.late for each in in_time)} "
               f"| {len(found) - len(in_time)} |")


def lost() -> Iterator[str]:
    hunt = module("hunt")
    releases, sizes = module("lost"), hunt.SIZES
    runs = {}
    yield "| release | property that is false at the end of a leg | found by | steps of the run | seconds |"
    yield "|---|---|---|---|---|"
    for version in releases.REPAIRED:
        found = hunt.searched(version, hunt.SEEDS[version], hunt.WALKS, hunt.MOST)
        if found is None:
            yield f"| {version} | | no run: {hunt.WALKS:,} walks, then {hunt.MOST:,} steps for each leg | | |"
            continue
        runs[version], legs = found
        for leg in legs:
            yield f"| {version} | {leg.broken} | {leg.found} | {leg.steps} | {leg.seconds:,.0f} |"
    yield ""
    yield "| server | takes the run of | its client was told of | of that, not in its log at the end |"
    yield "|---|---|---|---|"
    for version, run in runs.items():
        for server in (version, hunt.REPAIRED_IN):
            program = module("library").release(server)
            end = hunt.taken_by(releases.RELEASES[server], sizes[version], program, run)
            end.close()
            told = [f"write {write}: {answer}" for write, answer in sorted(end.told.items())]
            kept = {entry["write"] for entry in end.log()}
            gone = [f"write {write}" for write in sorted(end.told) if write not in kept]
            yield f"| {server} | {version} | {', '.join(told) or 'nothing'} | {', '.join(gone) or 'nothing'} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*MOST, "lost"])
    parser.add_argument("--most", type=int, help="schedules")
    parser.add_argument("--at-once", type=int, default=10, help="servers")
    parser.add_argument("--write", action="store_true", help="into benchmarks/RESULTS.md")
    given = parser.parse_args()
    most = given.most or MOST.get(given.part, 0)
    rows = lost() if given.part == "lost" else {"bugs": bugs, "schedules": own}[given.part](most, given.at_once)
    table = []
    for row in rows:
        table.append(row)
        print(row, flush=True)
    if given.write:
        options = "" if given.part == "lost" else f" --most {most} --at-once {given.at_once}"
        section(f"JetStream, {given.part}", f"python -m benchmarks.jetstream {given.part}{options} --write", table)


if __name__ == "__main__":
    main()
