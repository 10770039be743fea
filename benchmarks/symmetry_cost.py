"""The cost of a state with symmetry, beside the same search without: ``python -m benchmarks.symmetry_cost [--write]``.

Each pair of searches runs one after the other, in processor seconds of one worker, until so many states are generated.
They begin when a search has its code and its symmetry proof. The table has the pair whose ratio is in the middle.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks.results import section
from floodmark.checkers.native.search import begin
from floodmark.checkers.project import spec as specs
from floodmark.checkers.search_result import Limits, Options, SearchResult
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.language.model import sized
from floodmark.language.widths import FIRST_WIDTHS

ROOT = Path(__file__).resolve().parent.parent
GENERATED = 20_000_000
SUBJECTS = [
    *(("KIP-497 core", "alter_isr/core", "brokers", count) for count in (3, 4, 5)),
    *(("KIP-595", "kraft/quorum", "voters", count) for count in (3, 4, 5)),
]


def nanoseconds(spec: str, constant: str, count: int, symmetry: bool) -> tuple[float, SearchResult]:
    """Those for each generated state, and the result."""
    (check, *_) = checks(specs.read(ROOT / "specs" / f"{spec}.toml"), CheckSettings(constants={constant: count}))
    model = sized(check.cls()(**check.constants), FIRST_WIDTHS)
    properties = [prop for prop in check.properties() if not prop.is_liveness]
    options = Options(workers=1, symmetry=symmetry, limits=Limits(generated=GENERATED), likely=GENERATED)
    search = begin(model, properties, options)
    try:
        began = time.process_time()
        found = search.run()
        return (time.process_time() - began) / found.generated * 1e9, found
    finally:
        search.close()


def row(name: str, spec: str, constant: str, count: int, times: int) -> str:
    pairs = []
    for _ in range(times):
        plain, symmetric = (nanoseconds(spec, constant, count, symmetry) for symmetry in (False, True))
        pairs.append((symmetric[0] / plain[0], plain, symmetric))
    ratio, (plain_cost, whole), (cost, orbits) = sorted(pairs, key=lambda pair: pair[0])[times // 2]
    return (f"| {name}, {count} {constant} | {whole.distinct:,} | {plain_cost:.0f} ns | {orbits.distinct:,} "
            f"| {orbits.generated:,} | {cost:.0f} ns | {ratio:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="writes the figures to benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    lines = ["| search | states | a generated state | orbits | generated | a generated state | times that |",
             "|---|---|---|---|---|---|---|"]
    for name, spec, constant, count in SUBJECTS:
        lines.append(row(name, spec, constant, count, arguments.times))
        print(lines[-1], flush=True)
    if arguments.write:
        section("symmetry cost", f"python -m benchmarks.symmetry_cost --times {arguments.times} --write", lines)


if __name__ == "__main__":
    main()
