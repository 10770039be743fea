"""A search of 10^9 states on one machine, whose driver is killed halfway: ``python -m benchmarks.billion [--write]``.

The states are those of ``appends.py``: every combination of nine digits. Their number is known, and their digest can be
computed without a search. The search runs on Spark with scratch on disk and a checkpoint of each level. Once half of
its states are in checkpoints, all its processes are killed; another command resumes it. ``--replicas`` makes it
smaller.

``--spec SPEC`` (with ``--set NAME=VALUE``) does the same with a protocol, whose figures are compared with those of an
undisturbed search.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.appends import Appends, Replica
from benchmarks.memory import sample
from benchmarks.results import section
from floodmark import Map
from floodmark.checkers.kernel.partitioned import fingerprints
from floodmark.checkers.project import spec as specs
from floodmark.checkers.spark.checkpoint import Manifest
from floodmark.compiler.layout import DIGEST_SEEDS, digest_text, lay_out
from floodmark.language.values import running

ROOT = Path(__file__).parent.parent
SPEC = "benchmarks/appends.toml"
SAMPLE_SECONDS = 1.0
RECORDS = 9
PARTITIONS = 16
"""More than cores: a task changes one table at a time, which has to be small against the changed pages of files that
the system keeps before it makes their writers wait (a fifth of the memory, by default)."""
FIGURES = ("distinct", "generated", "depth", "digest")


@dataclass
class Usage:
    """The peak use of a command, in bytes and seconds."""

    seconds: float = 0.0
    memory: dict[str, int] = field(default_factory=dict)
    disk: int = 0

    def add(self, process: int, folder: Path) -> None:
        for kind, size in sample(process).counted.items():
            self.memory[kind] = max(self.memory.get(kind, 0), size)
        self.disk = max(self.disk, _size(folder))


def _size(folder: Path) -> int:
    """The bytes that the files in a folder take on the disk."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_blocks * 512
    return total


class Search:
    """A command that searches on Spark, with a folder for its scratch files, its checkpoints and its results."""

    def __init__(self, folder: Path, spec: str, sets: list[str], memory: str, partitions: int) -> None:
        self.folder = folder
        self.results = folder / "results.json"
        self.kept = folder / "checkpoint"
        self.command = [
            sys.executable, "-m", "floodmark", "check", spec, *(f"--set={each}" for each in sets), "--engine", "spark",
            "--only-variant", specs.read(ROOT / spec).model_class().__name__, "--max-memory", memory,
            "--spark", f"partitions={partitions}",
            "--json", str(self.results),
        ]

    def run(self, options: list[str], until: int | None = None) -> Usage:
        """Runs the command to its end, or kills it once ``until`` states are in checkpoints."""
        usage = Usage()
        started = time.perf_counter()
        environment = os.environ | {"FLOODMARK_LOCAL_DIR": str(self.folder), "SPARK_LOCAL_DIRS": str(self.folder)}
        process = subprocess.Popen(
            [*self.command, *options], cwd=ROOT, env=environment, start_new_session=True, stdout=subprocess.DEVNULL,
        )
        while process.poll() is None:
            usage.add(process.pid, self.folder)
            if until is not None and self.saved() >= until:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                break
            time.sleep(SAMPLE_SECONDS)
        else:
            if until is not None:
                raise SystemExit("the search ended before it was to be killed")
        usage.seconds = time.perf_counter() - started
        return usage

    def saved(self) -> int:
        """The number of states in the checkpoints."""
        return sum(_states(path) for path in self.kept.glob("*/*/level-*.json"))

    def figures(self) -> dict[str, Any]:
        (found,) = json.loads(self.results.read_text())["results"]
        if not found["complete"]:
            raise SystemExit(f"the search is not complete: {found}")
        return {name: found[name] for name in FIGURES}


def _states(path: Path) -> int:
    """The states that a checkpoint adds to those before it; none if it is still being written."""
    try:
        manifest = Manifest(**json.loads(json.loads(path.read_text())["said"]))
    except (OSError, ValueError):
        return 0
    return int(manifest.counts_and_digests()[:, :, 0].sum())


# What must come out.


def known_figures(replicas: int) -> dict[str, Any]:
    """The figures of a search of ``appends.py``, without a search."""
    distinct = (RECORDS + 1) ** replicas
    generated = 1 + replicas * RECORDS * (RECORDS + 1) ** (replicas - 1)
    digest = digest_of_all(replicas)
    return {"distinct": distinct, "generated": generated, "depth": RECORDS * replicas + 1, "digest": digest}


def digest_of_all(replicas: int) -> str:
    """The digest of the set of all combinations of log ends."""
    model = Appends(replicas=replicas, records=RECORDS)
    layout = lay_out(model.variable_types)
    assert layout.words == 1

    def packed(ends: tuple[int, ...]) -> int:
        with running(model):
            return layout.pack((Map(dict(zip(Replica, ends, strict=True))),))[0]

    zero = (0,) * replicas
    parts = [[packed((*zero[:i], end, *zero[i + 1 :])) for end in range(RECORDS + 1)] for i in range(replicas)]
    inner = np.zeros(1, dtype=np.uint64)
    for part in parts[:6]:
        inner = np.add.outer(inner, np.array(part, dtype=np.uint64)).reshape(-1)
    sums = [0, 0]
    for outer in itertools.product(*parts[6:]):
        states = inner + np.uint64(sum(outer))
        for place, seed in enumerate(DIGEST_SEEDS):
            sums[place] += int(fingerprints(states, 1, seed).sum(dtype=np.uint64))
    return digest_text(*sums)


# Runs.

HEAD = [
    "| search | states | generated | levels | s until killed | s after | states when killed | peak memory | disk |",
    "|---|---|---|---|---|---|---|---|---|",
]


def measure(name: str, search: Search, wanted: dict[str, Any]) -> str:
    """A search that is killed once it has saved half of its states, and resumed. Raises SystemExit if it errs."""
    first = search.run(["--spark", f"checkpoint={search.kept}"], until=wanted["distinct"] // 2)
    saved = search.saved()
    second = search.run(["--spark", f"resume={search.kept}"])
    found = search.figures()
    if found != wanted:
        raise SystemExit(f"{name}: {found}, not {wanted}")
    kinds = sorted({*first.memory, *second.memory})
    memory = ", ".join(
        f"{kind} {max(first.memory.get(kind, 0), second.memory.get(kind, 0)) / 1e9:.1f} GB" for kind in kinds
    )
    return (
        f"| {name} | {found['distinct']:,} | {found['generated']:,} | {found['depth']} | {first.seconds:,.0f} "
        f"| {second.seconds:,.0f} | {saved:,} | {memory} | {max(first.disk, second.disk) / 1e9:.1f} GB |"
    )


def rows(arguments: argparse.Namespace) -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        place = Path(folder)
        if arguments.spec is None:
            sets = [f"replicas={arguments.replicas}", f"records={RECORDS}"]
            search = Search(place, SPEC, sets, arguments.memory, arguments.partitions)
            yield measure(f"{RECORDS + 1}^{arguments.replicas}", search, known_figures(arguments.replicas))
            return
        search = Search(place, arguments.spec, arguments.set, arguments.memory, arguments.partitions)
        search.run([])
        wanted = search.figures()
        yield measure(" ".join([arguments.spec, *arguments.set]), search, wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicas", type=int, default=9)
    parser.add_argument("--spec", help="a protocol instead")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--memory", default="6G", help="what --max-memory is given")
    parser.add_argument("--partitions", type=int, default=PARTITIONS)
    parser.add_argument("--folder", help="where scratch files and checkpoints go")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = [
        f"The machine's load was {os.getloadavg()[0]:.1f} when it began. All processes were killed once half of the "
        f"states were in checkpoints. Memory is what --max-memory {arguments.memory} counts.", "", *HEAD,
    ]
    print(*lines, sep="\n")
    for row in rows(arguments):
        print(row, flush=True)
        lines.append(row)
    if arguments.write:
        name = "a billion states" if arguments.spec is None else "the largest protocol"
        section(name, " ".join(["python -m benchmarks.billion", *sys.argv[1:]]), lines)


if __name__ == "__main__":
    main()
