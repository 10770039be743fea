"""Random models about which every engine agrees: ``python -m benchmarks.generated [--models N] [--write]``.

The campaign runs in pieces, each a process and a seed of its own. With ``--kept FOLDER`` the figures of finished pieces
stay there and are not measured again, so that a campaign can be interrupted. ``--write`` puts the table into
benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.results import section

ROOT = Path(__file__).parent.parent
PIECE = 250
ENGINES = ("reference", "native, 1 worker", "native, 2 workers", "Spark", "z3")


def piece(seed: int, models: int, spark_one_in: int, kept: Path) -> Counter[str]:
    """What one piece of the campaign counted."""
    file = kept / f"{seed}-{models}-{spark_one_in}.json"
    if not file.exists():
        command = [sys.executable, "-m", "tests.campaign", "--models", str(models), "--seed", str(seed)]
        command += ["--spark-one-in", str(spark_one_in), "--json", str(file)]
        done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
        if done.returncode != 0:
            sys.exit(f"seed {seed}:\n{done.stderr[-6000:]}")
    return Counter(json.loads(file.read_text()))


def report(counts: Counter[str], pieces: int, seed: int) -> list[str]:
    """The figures as a table."""
    yes = counts["holds"] + counts["violated"] + counts["error"]
    lines = [
        f"{counts['agreed']:,} different models in {pieces} pieces with the seeds {seed} to {seed + pieces - 1}, "
        f"{counts['seconds']:,} s one after the other with two cores shared; no disagreement. The compiler refused "
        f"{counts['refused']:,} more, {counts['too wide']:,} were too wide to be compared. Of {yes:,} compared, "
        f"{counts['holds']:,} hold, {counts['violated']:,} violate a property, {counts['error']:,} leave their types; "
        f"{counts['that moved']:,} have more than one level, {counts['of more than ten states']:,} more than "
        f"ten states. z3 has no form for {counts['without a form in z3']:,}.",
        "",
        "| engine | models | states compared | seconds |",
        "|---|---|---|---|",
    ]
    for engine in ENGINES:
        models, states = counts[f"{engine}: models"], counts[f"{engine}: states"]
        lines.append(f"| {engine} | {models:,} | {states:,} | {counts[f'{engine}: milliseconds'] / 1000:,.0f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=5500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spark-one-in", type=int, default=100)
    parser.add_argument("--kept", type=Path, help="a folder for the figures of finished pieces")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    pieces = -(-arguments.models // PIECE)
    with tempfile.TemporaryDirectory() as folder:
        kept = arguments.kept or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        for seed in range(arguments.seed, arguments.seed + pieces):
            counts += piece(seed, PIECE, arguments.spark_one_in, kept)
            print(f"{counts['agreed']:,} models", flush=True)
    lines = report(counts, pieces, arguments.seed)
    print(*lines, sep="\n")
    if arguments.write:
        section("generated", f"python -m benchmarks.generated --models {arguments.models} --write", lines)


if __name__ == "__main__":
    main()
