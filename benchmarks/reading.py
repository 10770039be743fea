"""Measures what it costs to compare states while they are read: ``python -m benchmarks.reading [--write]``.

A partition gets the reachable states of a spec, without Spark, as one level. They are then expanded and routed as a
task does it, which copies them in pieces and adds up fingerprints (`checkers/spark/reader.py`). The copying is measured
by itself as well. So is the sum of what is sent, which sender and receiver take. The least processor time of several
rounds is reported, as whatever else the machine does only adds to it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

from benchmarks.results import section
from floodmark.checkers.native.search import begin
from floodmark.checkers.project import spec as specs
from floodmark.checkers.search_result import Options
from floodmark.checkers.spark import tasks
from floodmark.checkers.spark.code_transfer import build_code
from floodmark.checkers.spark.ledger import Array, Ledger
from floodmark.checkers.spark.memory import MAX_BUFFERS
from floodmark.checkers.spark.reader import StateReader
from floodmark.checkers.spark.shard import Shard, states_by_partition
from floodmark.checkers.spark.tasks import Checksum, ExpandedPart, LevelInput, SearchContext
from floodmark.checkers.verdict.check import CheckSettings, checks

ROOT = Path(__file__).parent.parent
SPECS: tuple[tuple[str, dict[str, int]], ...] = (
    ("specs/examples/philosophers.toml", {"last": 7}),
    ("specs/alter_isr/core.toml", {}),
)
ROUNDS = 5
OWNERS = 8


def least(do: Callable[[], object]) -> float:
    """The least processor time that it takes, in seconds."""
    times = []
    for _ in range(ROUNDS):
        before = time.process_time()
        do()
        times.append(time.process_time() - before)
    return min(times)


def measured(path: str, constants: dict[str, int]) -> str:
    """The figures of one spec, as a row of the table."""
    check = checks(specs.read(ROOT / path), CheckSettings(constants=constants, workers=1))[0]
    model, options = check.cls()(**check.constants), Options(workers=1)
    search = begin(model, [], options)
    search.run()
    states = np.concatenate([piece.reshape(-1) for piece in search.pieces()])
    code = build_code(model, {}, False).load()
    words = code.code.words
    count = len(states) // words
    ((_, digest),) = states_by_partition(states, words, 1)
    ledger = Ledger(1)
    ledger.accept([count], [digest])
    run = SearchContext("run", None, OWNERS, SimpleNamespace(value=code.code), MAX_BUFFERS, 0, None)  # type: ignore[arg-type]
    process = SimpleNamespace(code=code, shards={}, filter_words=np.zeros(0, dtype=np.uint64))
    level = LevelInput(1, ledger.upto(), 0, 0, False)
    with tempfile.TemporaryDirectory() as folder, patch.object(tasks, "_process", lambda _: process):
        shard = Shard(Path(folder), code)
        shard.put("a", 0, states.tobytes())
        shard.adopt("a", ledger.of(0))
        sent: list[Array] = []

        def read(reader: StateReader) -> None:
            for _ in shard.read(reader, 0):
                pass

        def expand() -> None:
            sent.clear()
            reader, sums = StateReader(code), [Checksum() for _ in range(OWNERS)]
            pieces = tasks.routed(run, level, reader, shard.read(reader, 0), count, ExpandedPart(0), sums)
            sent.extend(np.frombuffer(piece, dtype=np.uint64) for _, piece in pieces)

        def add_up() -> None:
            total = Checksum()
            for piece in sent:
                total.add(piece)

        copying, whole = least(lambda: read(StateReader(code))), least(expand)
        adding = least(add_up)

    def each(seconds: float) -> str:
        return f"{seconds / count * 1e9:.1f} ns"

    return (
        f"| {check.spec.name} | {count:,} | {words} | {each(whole)} | {each(copying)} ({copying / whole:.1%}) | "
        f"{each(adding)} ({adding / whole:.1%}) |"
    )


def lines() -> Iterator[str]:
    yield "| spec | states | words | expanding a state | of it copying and comparing | adding up what is sent of it |"
    yield "|---|---|---|---|---|---|"
    for path, constants in SPECS:
        yield measured(path, constants)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    found = list(lines())
    print("\n".join(found))
    if arguments.write:
        section("reading", "python -m benchmarks.reading --write", found)


if __name__ == "__main__":
    main()
