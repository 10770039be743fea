"""Checks that all engines agree on random models: ``python -m benchmarks.generated [--models N] [--write]``.

The campaign runs in pieces, each a process with its own seed, ``--processes`` of them at a time. With ``--kept FOLDER``
the figures of finished pieces are stored there and not measured again, so that a campaign can be interrupted.
``--write`` puts the table into benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import coverage
from hypothesis import HealthCheck, Phase, given, seed, settings

from benchmarks.results import section
from floodmark.compiler.program import read_program
from floodmark.language.errors import ModelError
from tests.support.engines import imported, properties_of
from tests.support.model_strategy import GeneratedModel
from tests.support.model_strategy import models as generated

ROOT = Path(__file__).parent.parent
PIECE = 1000
ENGINES = ("reference", "native, 1 worker", "native, 2 workers", "Spark", "z3", "proofs", "symmetry", "edits")
METHODS = ("bmc", "induction", "k-induction", "infer")


def kept_file(seed: int, models: int, one_in: list[str], kept: Path) -> Path:
    """The file with the counts of one piece."""
    return kept / f"{'-'.join([str(seed), str(models), *one_in])}.json"


def piece(seed: int, models: int, one_in: list[str], kept: Path) -> Counter[str] | None:
    """The counts of one piece of the campaign. None when engines disagreed, which a file in ``kept`` then tells."""
    file = kept_file(seed, models, one_in, kept)
    if not file.exists():
        command = [sys.executable, "-m", "tools.campaign", "--models", str(models), "--seed", str(seed)]
        command += [word for share in one_in for word in ("--one-in", share)]
        command += ["--json", str(file)]
        done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
        if done.returncode != 0:
            failure = kept / f"{seed}.failure"
            failure.write_text(done.stderr)
            print(f"seed {seed} failed: {failure}", flush=True)
            return None
    return Counter(json.loads(file.read_text()))


def report(counts: Counter[str], pieces: int, seed: int, known: int) -> list[str]:
    """The figures as a table. ``known`` pieces were kept by earlier runs."""
    yes = counts["holds"] + counts["violated"] + counts["error"]
    earlier = f" {known} of the pieces are from earlier runs, with the checkers of then." if known else ""
    lines = [
        f"{counts['agreed']:,} different models in {pieces} pieces with seeds {seed} to {seed + pieces - 1}, "
        f"{counts['seconds']:,} s summed over all processes; no disagreement. The compiler refused "
        f"{counts['refused']:,} more, and {counts['too wide']:,} were too wide to compare. Of the {yes:,} compared, "
        f"{counts['holds']:,} hold, {counts['violated']:,} violate a property and {counts['error']:,} leave their "
        f"types; {counts['that moved']:,} have more than one level, {counts['of more than ten states']:,} more than "
        f"ten states. z3 cannot express {counts['without a form in z3']:,}.{earlier}",
        "",
        "| engine | models | states compared | seconds |",
        "|---|---|---|---|",
    ]
    for engine in ENGINES:
        models, states = counts[f"{engine}: models"], counts[f"{engine}: states"]
        lines.append(f"| {engine} | {models:,} | {states:,} | {counts[f'{engine}: milliseconds'] / 1000:,.0f} |")
    lines += [
        "",
        "Verdicts of the methods of `floodmark prove`; in CPython, everything they prove holds and everything they "
        "refute fails:",
        "",
        "| method | holds | violated or in error | undetermined |",
        "|---|---|---|---|",
    ]
    for method in METHODS:
        said = {verdict: counts[f"{method}: {verdict}"] for verdict in ("holds", "violated", "error", "undetermined")}
        wrong = said["violated"] + said["error"]
        lines.append(f"| {method} | {said['holds']:,} | {wrong:,} | {said['undetermined']:,} |")
    symmetric = sum(counts[f"symmetry: symmetric: {verdict}"] for verdict in ("holds", "violated", "error"))
    refused, edits = counts["symmetry: refused"], counts["edits: models"]
    lines += [
        "",
        f"{symmetric:,} models were proved symmetric, and the search of orbits agreed with that of all states; "
        f"{refused:,} were not proved symmetric. {edits:,} models were checked by the gate with cached verdicts, "
        "edited, and checked again.",
    ]
    return lines


def language(models: int) -> list[str]:
    """The coverage of the compiler by the generator, as a table with the uncovered lines, except refusals."""
    measured = coverage.Coverage(data_file=None, branch=True, include=["*/floodmark/compiler/*"], config_file=False)
    with tempfile.TemporaryDirectory() as folder:
        measured.start()
        refused = _read(models, Path(folder))
        measured.stop()
        file = Path(folder) / "measured.json"
        with contextlib.redirect_stdout(io.StringIO()):
            measured.json_report(outfile=str(file))
        files = json.loads(file.read_text())["files"]
    lines = [
        f"Coverage of the compiler's functions by {models:,} generated models, {refused:,} of them refused:",
        "",
        "| file | lines | branches | not reached, except refusals |",
        "|---|---|---|---|",
    ]
    for name, found in sorted(files.items()):
        text = (ROOT / name).read_text().splitlines()
        totals: Counter[str] = Counter()
        left = []
        for function, part in found["functions"].items():
            if not function:
                continue
            totals += Counter({key: value for key, value in part["summary"].items() if isinstance(value, int)})
            missing = [line for line in part["missing_lines"] if not _refuses(text, line)]
            if missing:
                left.append(f"{function.rpartition('.')[2]} ({', '.join(map(str, missing))})")
        lines.append(
            f"| {name} | {totals['covered_lines']} of {totals['num_statements']} "
            f"| {totals['covered_branches']} of {totals['num_branches']} | {', '.join(left)} |"
        )
    return lines


def _refuses(text: list[str], line: int) -> bool:
    """Whether a line belongs to an error: it raises one or makes its message."""
    around = "".join(text[line - 1 : line + 2])
    return "raise " in around or "message = " in text[line - 1] or "hint = " in text[line - 1]


def _read(models: int, folder: Path) -> int:
    """Lets the compiler read generated models; returns how many it refused."""
    refused = 0

    @seed(1)
    @settings(max_examples=models, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=[Phase.generate])
    @given(generated())
    def read(model: GeneratedModel) -> None:
        nonlocal refused
        with imported(model.source(), model.name, folder) as cls:
            try:
                read_program(cls(), {prop.name: prop.function for prop in properties_of(cls)})
            except ModelError:
                refused += 1

    read()
    return refused


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one-in", action="append", default=[], metavar="NAME=N", help="as for tools.campaign")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="folder for the figures of finished pieces")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    pieces = -(-arguments.models // PIECE)
    with tempfile.TemporaryDirectory() as folder:
        kept = arguments.kept or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(arguments.processes) as threads:
            seeds = range(arguments.seed, arguments.seed + pieces)
            known = sum(kept_file(seed, PIECE, arguments.one_in, kept).exists() for seed in seeds)
            failed = False
            for found in threads.map(lambda seed: piece(seed, PIECE, arguments.one_in, kept), seeds):
                failed = failed or found is None
                counts += found or Counter()
                print(f"{counts['agreed']:,} models", flush=True)
        if failed:
            raise SystemExit(f"engines disagreed: {', '.join(path.read_text() for path in kept.glob('*.failure'))}")
    lines = [*report(counts, pieces, arguments.seed, known), "", *language(2000)]
    print(*lines, sep="\n")
    if arguments.write:
        shares = "".join(f" --one-in {share}" for share in arguments.one_in)
        section("generated", f"python -m benchmarks.generated --models {arguments.models}{shares} --write", lines)


if __name__ == "__main__":
    main()
