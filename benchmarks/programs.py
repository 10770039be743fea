"""Compares all small bodies of functions: ``python -m benchmarks.programs [--processes N] [--kept FOLDER] [--write]``.

Every body up to a size of each grammar (``tests/support/program_grammars.py``) is run by compiled code, by z3's terms
and by CPython, in every state of its variables. The campaign runs in pieces. With ``--kept FOLDER`` what finished
pieces found is stored there, so that a campaign can be interrupted. ``--write`` puts the figures into
benchmarks/RESULTS.md. Faults are printed; a piece with faults is not kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from time import process_time

from benchmarks.results import section
from tests.support.program_agreement import Compared
from tests.support.program_grammars import ANY_SIZE, EVERY, GRAMMARS
from tools.program_campaign import compared

PIECE = 3000
PIECE_OF_ANY_SIZE = 300


@dataclass(frozen=True)
class Piece:
    """Some of the bodies in one place."""

    grammar: int
    place: int
    start: int
    stop: int
    digest: str

    @property
    def name(self) -> str:
        return f"{self.grammar}-{self.place}-{self.start}-{self.digest}"


_NAMED = (
    "compared", "points", "without a form in z3", "optimised", "batches", "that fail somewhere",
    "that are disabled somewhere", "with a known fingerprint", "impartial",
)
_REASONS = {
    "refused because": "refused: ",
    "no form in z3 because": "without a form in z3: ",
    "no form for any number because": "without a form for any size: ",
}


def pieces(most: int | None) -> list[Piece]:
    """All pieces, with a digest of what is in each; of each place at most the first so many bodies."""
    found = []
    for at, grammar in enumerate(EVERY):
        size = PIECE_OF_ANY_SIZE if grammar in ANY_SIZE else PIECE
        for number, place in enumerate(grammar.places):
            bodies = grammar.bodies(place)[:most]
            for start in range(0, len(bodies), size):
                some = bodies[start : start + size]
                source, _ = grammar.source(list(enumerate(some)), place)
                digest = hashlib.sha256(f"{place.shared} {source}".encode()).hexdigest()[:12]
                found.append(Piece(at, number, start, start + len(some), digest))
    return found


def measured(piece: Piece, kept: Path) -> Compared:
    """The results for a piece: stored ones, or else new ones."""
    file = kept / f"{piece.name}.json"
    if not file.exists():
        grammar = EVERY[piece.grammar]
        started = process_time()
        with tempfile.TemporaryDirectory() as directory:
            found = compared(grammar, grammar.places[piece.place], piece.start, piece.stop, Path(directory))
        found.counts["milliseconds"] = round((process_time() - started) * 1000)
        if found.faults:
            return found
        file.write_text(json.dumps({"counts": found.counts}))
    return Compared(Counter(json.loads(file.read_text())["counts"]))


def report(by_place: dict[tuple[int, int], Counter[str]], known: int, number: int) -> list[str]:
    """The figures as tables. ``known`` of the pieces were kept by earlier runs."""
    exact: Counter[str] = Counter()
    about_any: Counter[str] = Counter()
    for (at, _), counts in by_place.items():
        (exact if at < len(GRAMMARS) else about_any).update(counts)
    totals = exact + about_any
    count = {name: f"{exact[name]:,}" for name in (*exact, *_NAMED)}
    earlier = f" {known} of the {number} pieces are from earlier runs, with the checkers of then." if known else ""
    bodies = totals["compared"] + totals["refused"] + totals["without a form for any size"]
    lines = [
        f"{bodies:,} bodies in {totals['milliseconds'] / 1000:,.0f} s of processor time; {totals['faults']:,} faults. "
        f"The compiler refused {totals['refused']:,}.{earlier}",
        "",
        f"{count['compared']} were run at {count['points']} points (a state and a choice of the parameters) by "
        f"compiled code, CPython, and z3's terms but for {count['without a form in z3']}, which z3 cannot express. "
        f"{count['optimised']} of {count['batches']} models were compiled as for a long search. "
        f"{count['that fail somewhere']} bodies fail at some point, {count['that are disabled somewhere']} are not "
        f"enabled at some. {count['with a known fingerprint']} have the fingerprint of an earlier one in their model, "
        f"and do the same; {count['impartial']} favour no identifier as far as reading them tells, and commute with "
        "renaming.",
        "",
        f"{about_any['compared']:,} more are about any number of nodes. With one, two and three nodes, their terms "
        f"allow what CPython does at {about_any['points']:,} points. {about_any['without a form for any size']:,} "
        "have no form for any number.",
        "",
        "| grammar | place | enumerated | refused | points | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for (at, place), counts in by_place.items():
        grammar = EVERY[at]
        enumerated = counts["compared"] + counts["refused"] + counts["without a form for any size"]
        said = " | ".join(f"{many:,}" for many in (enumerated, counts["refused"], counts["points"]))
        seconds = f"{counts['milliseconds'] / 1000:,.0f}"
        lines.append(f"| {grammar.name} | {grammar.places[place].name} | {said} | {seconds} |")
    for heading, prefix in _REASONS.items():
        lines += ["", f"| {heading} | bodies |", "|---|---|"]
        for reason, many in totals.most_common():
            if reason.startswith(prefix):
                lines.append(f"| {reason.removeprefix(prefix)} | {many:,} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--most", type=int, help="at most so many bodies in each place")
    parser.add_argument("--kept", type=Path, help="folder for what finished pieces found")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    every = pieces(asked.most)
    by_place: dict[tuple[int, int], Counter[str]] = {(it.grammar, it.place): Counter() for it in every}
    faults: list[str] = []
    pool = ProcessPoolExecutor(asked.processes, get_context("spawn"))
    with tempfile.TemporaryDirectory() as folder, pool as processes:
        kept = asked.kept or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        known = sum((kept / f"{piece.name}.json").exists() for piece in every)
        for piece, found in zip(every, processes.map(measured, every, repeat(kept)), strict=True):
            by_place[piece.grammar, piece.place] += found.counts
            faults += found.faults
            done = sum(by_place.values(), Counter())
            print(f"{done['compared'] + done['refused']:,} bodies, {done['faults']:,} faults", flush=True)
    lines = report(by_place, known, len(every))
    print(*lines, sep="\n")
    if faults:
        raise SystemExit("\n".join([f"{len(faults)} faults, the shortest of them:", *sorted(faults, key=len)[:10]]))
    if asked.write:
        section("programs", "python -m benchmarks.programs --write", lines)


if __name__ == "__main__":
    main()
