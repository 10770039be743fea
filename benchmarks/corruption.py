"""Changes bytes under a simulated distributed search: ``python -m benchmarks.corruption [--changes N] [--seed N]
[--kept FILE] [--write]``.

Each search has one change (`tests/support/corruption.py`): of words, lengths, headers, tables, order, or of what is on
the way, at a random moment of a task or between two. It stays, is taken back, or its partition is lost later; in one
search of four, files and processes are lost besides. The result has to be the native search's, or an error that says
what was damaged. ``--write`` puts the figures into RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.results import section
from tests.support.corruption import Outcome, campaign

SAID = {
    "the same": "the native search's result",
    "named": "an error that names the file and its host",
    "refused": "an error of a repair or of the driver",
    "other": "another result",
    "unclear": "any other error",
}


def lines(outcomes: Sequence[Outcome], seconds: float) -> Iterator[str]:
    """The figures of a campaign."""
    changed = [one for one in outcomes if one.done]
    whats = Counter(one.what for one in outcomes)
    ends = "; ".join(f"{said}: {whats[what]:,}" for what, said in SAID.items())
    yield (
        f"{len(outcomes):,} searches in {seconds / 60:.0f} minutes of processor time, of which {len(changed):,} met "
        f"their change. They ended with {ends}."
    )
    yield ""
    yield "| change | searches | the native result | an error | another result or an unclear error |"
    yield "|---|---|---|---|---|"
    kinds: dict[str, list[Outcome]] = {}
    for one in changed:
        kinds.setdefault(one.kind, []).append(one)
    for kind in sorted(kinds):
        found = Counter(one.what for one in kinds[kind])
        yield (
            f"| {kind} | {len(kinds[kind]):,} | {found['the same']:,} | {found['named'] + found['refused']:,} | "
            f"{found['other'] + found['unclear']:,} |"
        )


def read(kept: Path) -> dict[int, tuple[Outcome, float]]:
    """The outcomes that a file keeps, by their seeds, with the processor time of each."""
    known = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    return {each["one"]["seed"]: (Outcome(**each["one"]), each["seconds"]) for each in known}


def keep(kept: Path, seeds: Sequence[int]) -> None:
    """Runs searches and adds their outcomes to a file."""
    with tempfile.TemporaryDirectory() as folder, kept.open("a") as file:
        before = time.process_time()
        for one in campaign(seeds, Path(folder)):
            now = time.process_time()
            print(json.dumps({"one": asdict(one), "seconds": now - before}), file=file, flush=True)
            before = now
            if one.what in ("other", "unclear"):
                print(f"{one.seed}: {one.done}: {one.what}: {one.said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--kept", type=Path, help="file for the outcomes, so that an interrupted run can be continued")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.changes)
    with tempfile.TemporaryDirectory() as folder:
        kept = arguments.kept or Path(folder) / "outcomes"
        known = read(kept)
        keep(kept, [seed for seed in seeds if seed not in known])
        known = read(kept)
    outcomes = [known[seed][0] for seed in seeds]
    table = list(lines(outcomes, sum(known[seed][1] for seed in seeds)))
    print("\n".join(table))
    if arguments.write:
        section("changed bytes", f"python -m benchmarks.corruption --changes {arguments.changes} --write", table)
    sys.exit(any(one.what in ("other", "unclear") for one in outcomes))


if __name__ == "__main__":
    main()
