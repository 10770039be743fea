"""The cost of testing a symmetry proof on the states of a search.

    python -m benchmarks.symmetry_checks --write

The processor's time of a search is compared with that of the same search without its tests, which is told apart in the
search itself: so how busy the machine is matters little. Of several searches the one in the middle is told, and the
least and the largest.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.results import section
from floodmark.checkers.native import search
from floodmark.checkers.project.spec import read
from floodmark.checkers.search import driver, store, symmetry
from floodmark.checkers.search_result import Options
from floodmark.checkers.verdict.check import Check, CheckSettings

ROOT = Path(__file__).resolve().parent.parent
SECTION = "symmetry checks"
SEARCHES: dict[str, tuple[str, dict[str, int]]] = {
    "election, 5 voters": ("examples/election", {"voters": 5}),
    "KIP-595, two epochs": ("kraft/quorum", {"max_epoch": 2, "max_restarts": 0}),
    "KIP-497": ("alter_isr/core", {}),
    "KIP-595, two epochs and a restart": ("kraft/quorum", {"max_epoch": 2, "max_restarts": 1}),
}
"""Specs, and the constants that are changed."""


class _Timed:
    """The processor's seconds of the calls of a function."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.seconds = 0.0

    def __call__(self, *arguments: Any) -> Any:
        began = time.process_time()
        try:
            return self.function(*arguments)
        finally:
            self.seconds += time.process_time() - began


def measured(spec: str, constants: dict[str, int], times: int) -> dict[str, Any]:
    """The number of orbits, the seconds of a search without the tests, and the ratios with them."""
    check = Check(read(ROOT / "specs" / f"{spec}.toml"), None, CheckSettings())
    given = check.model()
    model = type(given)(**{**given.constant_values, **constants})
    ratios, seconds, orbits = [], [], 0
    for _ in range(times):
        whole, tests = _Timed(driver.Search.run), _Timed(symmetry.confirm_symmetry)
        ran = lambda its, whole=whole: whole(its)  # noqa: E731 - a method of the class
        with patch.object(driver.Search, "run", ran), patch.object(store, "confirm_symmetry", tests):
            found = search.search_states(model, check.properties(), Options(workers=1, symmetry=True))
        orbits = found.distinct
        seconds.append(whole.seconds - tests.seconds)
        ratios.append(whole.seconds / (whole.seconds - tests.seconds))
    ratios.sort()
    middle = ratios[len(ratios) // 2]
    return {"orbits": orbits, "seconds": min(seconds), "ratio": middle, "least": ratios[0], "largest": ratios[-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="writes the figures to benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    lines = ["| search | orbits | seconds without the tests | with them, times that |", "|---|---|---|---|"]
    for name, (spec, constants) in SEARCHES.items():
        found = measured(spec, constants, arguments.times)
        print(json.dumps({"search": name, **found}), flush=True)
        ratio = f"{found['ratio']:.3f} ({found['least']:.3f} to {found['largest']:.3f})"
        lines.append(f"| {name} | {found['orbits']:,} | {found['seconds']:.2f} | {ratio} |")
    if arguments.write:
        section(SECTION, f"python -m benchmarks.symmetry_checks --times {arguments.times} --write", lines)


if __name__ == "__main__":
    main()
