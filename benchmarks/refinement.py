"""What refinements cost and what they notice: ``python -m benchmarks.refinement [--write]``.

The cost is the time of a search that judges a refinement beside the same search without properties. What is noticed is
the number of known-bad designs of the quick tier that do not refine the abstract model, with no other property.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import section
from benchmarks.simulation import quick_checks
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import Property, is_about
from floodmark.checkers.project.spec import read
from floodmark.checkers.search_result import Limits, Options
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.language.errors import SourceError
from floodmark.language.reference import abstract_class

REPOSITORY = Path(__file__).parents[1]
SPECS = ("alter_isr/atomic", "kraft/committed_log", "reassignment/replica_set")
STATES = 3_000_000
"""A design that has so many states and refines is taken to go unnoticed."""


@dataclass(frozen=True)
class Family:
    """A spec whose only property is a refinement."""

    name: str
    check: Check
    refinement: Property


def families() -> list[Family]:
    """The specs of refinements."""
    found = []
    for name in SPECS:
        check = checks(read(REPOSITORY / "specs" / f"{name}.toml"), CheckSettings())[0]
        found.append(Family(name, check, next(prop for prop in check.properties() if prop.is_refinement)))
    return found


def costs(every: Sequence[Family], runs: int) -> list[str]:
    """The table of processor time."""
    lines = [
        "| spec | generated states | seconds without properties | with the refinement | ratio |",
        "|---|---|---|---|---|",
    ]
    for family in every:
        plain, judged, generated = [], [], 0
        for _ in range(runs + 1):  # the first compiles
            plain.append(_seconds(family.check, [])[0])
            seconds, generated = _seconds(family.check, [family.refinement])
            judged.append(seconds)
        least, most = min(plain[1:]), min(judged[1:])
        lines.append(f"| {family.name} | {generated:,} | {least:.2f} | {most:.2f} | {most / least:.2f} |")
    return lines


def _seconds(check: Check, properties: Sequence[Property]) -> tuple[float, int]:
    before = time.process_time()
    found = search_states(check.model(), properties, Options(workers=1, likely=10_000_000))
    return time.process_time() - before, found.generated


def noticed(every: Sequence[Family]) -> list[str]:
    """The table of known-bad designs that a refinement alone notices."""
    lines = ["| refines | known-bad designs | do not refine it |", "|---|---|---|"]
    own = {family.check.spec.path for family in every}  # which have some designs of other specs again
    designs = [check for check in quick_checks(1) if check.flawed is not None and check.spec.path not in own]
    for family in every:
        tally: Counter[bool] = Counter()
        for check in designs:
            model = check.model()
            if is_about(family.refinement.function, type(model)):
                options = Options(workers=1, limits=Limits(states=STATES))
                tally[bool(search_states(model, [family.refinement], options).violations)] += 1
        name = abstract_class(family.refinement.function).__name__
        lines.append(f"| {name} ({family.name}) | {tally.total()} | {tally[True]} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="puts the figures into benchmarks/RESULTS.md")
    asked = parser.parse_args()
    every = families()
    lines = [*costs(every, asked.runs), "", *noticed(every)]
    print("\n".join(lines))
    if asked.write:
        section("refinement", f"python -m benchmarks.refinement --runs {asked.runs} --write", lines)


if __name__ == "__main__":
    try:
        main()
    except SourceError as error:
        raise SystemExit(str(error)) from None
