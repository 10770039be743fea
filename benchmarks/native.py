"""Speed and memory of the native search: ``python -m benchmarks.native [--runs N] [--write]``.

One and two workers alternate, so that a busy machine affects both alike; the best and the median run are printed.
``--write`` puts the table into benchmarks/RESULTS.md.

``--growth memory`` measures instead how the time for a state grows from a million states to ninety: one model, whose
states have the same width at each size. A virtual machine may get memory from its host only when it first touches it,
so the pages of states and tables are taken beforehand, or their time is left out. ``--growth files`` does the same with
a memory limit that sends each search into files early. ``--growth measures`` searches about ten million states without
one of the measures against this growth at a time.
"""

from __future__ import annotations

import argparse
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import section
from floodmark.checkers.codegen import loop_compiler
from floodmark.checkers.kernel import compiled_model
from floodmark.checkers.kernel import memory as kernel_memory
from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.kernel.memory import ReservedMemory
from floodmark.checkers.native import memory as native_memory
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project import spec as specs
from floodmark.checkers.project.properties import Property
from floodmark.checkers.resources import memory_of_this_process
from floodmark.checkers.search import driver
from floodmark.checkers.search_result import Limits, Options, SearchResult
from floodmark.language.model import Model

ROOT = Path(__file__).parent.parent
WORKERS = (1, 2)
FEW = 1000
"""States of a search that is to load the code and nothing else."""


@dataclass(frozen=True)
class Work:
    """A spec with other constants, which give the size that a figure needs."""

    title: str
    spec: str
    constants: dict[str, int]


WORKS = [
    Work("two-phase commit, 8 resource managers", "specs/examples/two_phase_commit.toml", {"managers": 8}),
    Work("two-phase commit, 9 resource managers", "specs/examples/two_phase_commit.toml", {"managers": 9}),
    Work("KIP-497 core", "specs/alter_isr/core.toml", {"max_partition_epoch": 3, "max_offset": 1}),
    Work("KIP-497 core, above ten million", "specs/alter_isr/core_deep.toml", {}),
    Work("KIP-497 failover with logs", "specs/alter_isr/failover.toml@three_replicas", {}),
    Work("KIP-497 failover with logs, above ten million", "specs/alter_isr/failover_reconcile_once.toml@deep", {}),
    Work("KIP-595", "specs/kraft/quorum.toml", {}),
    Work("KIP-595, four epochs, logs of three", "specs/kraft/sizes.toml@four_epochs", {}),
]


EDITIONS = [
    Work("KIP-497 core", "specs/alter_isr/core.toml", {}),
    Work("KIP-497 failover with logs", "specs/alter_isr/failover.toml@three_replicas", {}),
    Work("KIP-595", "specs/kraft/quorum.toml", {}),
]


def subject(work: Work) -> tuple[Model, list[Property]]:
    """The model to search, and its properties."""
    spec = specs.read(ROOT / work.spec)
    cls = spec.model_class()
    return cls(**{**spec.constants, **work.constants}), spec.chosen(spec.properties(cls, ()))


def compile_good(work: Work) -> None:
    """Puts optimised code into the cache, so that no run has to compile it."""
    model, properties = subject(work)
    kernel = build_kernel(model, {prop.name: prop.function for prop in properties}, symmetry=False)
    if not kernel.good:
        kernel.improve()


def runs(work: Work, count: int) -> Iterator[tuple[int, SearchResult]]:
    """(workers, what was found) of each run."""
    compile_good(work)
    model, properties = subject(work)
    for _ in range(count):
        for workers in WORKERS:
            yield workers, search_states(model, properties, Options(workers=workers))


def peak_memory(work: Work) -> tuple[float, float]:
    """The peak memory of a process beyond its use before the search: bytes per state, and the same without the constant
    cost of a search of a few states, for the code and its libraries."""
    script = f"from benchmarks.native import WORKS, own_peak; own_peak(WORKS[{WORKS.index(work)}])"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    whole, states = done.stdout.split()
    return float(whole), float(states)


def own_peak(work: Work) -> None:
    """Searches with two workers and prints the values that ``peak_memory`` returns."""
    before = peak()
    searched = subject(work)
    search_states(*searched, Options(workers=2, limits=Limits(states=FEW)))
    loaded = peak()
    found = search_states(*searched, Options(workers=2))
    print(*((peak() - each) / found.distinct for each in (before, loaded)))


def peak() -> int:
    """The peak memory of this process so far, in bytes (on Linux, getrusage would count the parent's)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise OSError("the peak of this process's memory is not known")


def measure(work: Work, count: int) -> list[str]:
    """One row of the table for each number of workers."""
    seconds: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    found = None
    for workers, found in runs(work, count):
        assert found.complete, f"{work.title} did not complete"
        seconds[workers].append(found.seconds)
    assert found is not None
    whole, used = peak_memory(work)
    allowed = 2.5 * found.state_bits / 8 + 8
    rows = []
    for workers in WORKERS:
        best, middle = min(seconds[workers]), statistics.median(seconds[workers])
        rate, made = found.distinct / best / 1e6, found.generated / best / 1e6
        speedup = min(seconds[1]) / best
        rows.append(
            f"| {work.title} | {workers} | {found.distinct:,} | {found.generated:,} | {best:.2f} | {middle:.2f} "
            f"| {rate:.2f} | {made:.1f} | {speedup:.2f} | {found.state_bits} | {whole:.0f} | {used:.0f} "
            f"| {allowed:.0f} |"
        )
    return rows


def editions(work: Work) -> str:
    """One row: seconds of processor time to compile and to search, in plain and in optimised code."""
    model, properties = subject(work)
    functions = {prop.name: prop.function for prop in properties}
    patience, driver.PATIENCE = driver.PATIENCE, float("inf")
    kept = os.environ.get("FLOODMARK_CACHE")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FLOODMARK_CACHE"] = cache
        started = time.process_time()
        kernel = build_kernel(model, functions, symmetry=False)
        plain = time.process_time()
        search_states(model, properties, Options(workers=1))
        searched = time.process_time()
        kernel.improve()
        good = time.process_time()
        found = search_states(model, properties, Options(workers=1))
        ended = time.process_time()
    driver.PATIENCE = patience
    if kept is None:
        del os.environ["FLOODMARK_CACHE"]
    else:
        os.environ["FLOODMARK_CACHE"] = kept
    times = [plain - started, searched - plain, good - searched, ended - good]
    return f"| {work.title} | {found.distinct:,} | " + " | ".join(f"{seconds:.2f}" for seconds in times) + " |"


def start_up() -> list[str]:
    """Wall-clock seconds of the whole command on a small spec: with an empty cache, then with a full one."""
    command = [sys.executable, "-m", "floodmark", "check", "alter_isr/failover@small"]
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for title in ("first run on a machine", "later runs"):
            start = time.perf_counter()
            subprocess.run(
                command, cwd=ROOT, env={**os.environ, "FLOODMARK_CACHE": cache}, check=True, capture_output=True
            )
            rows.append(f"| {title} | {time.perf_counter() - start:.2f} |")
    return rows


GROWING = [
    Work(f"max_offset {offset}", "specs/examples/async_isr.toml", {"max_version": 7, "max_offset": offset})
    for offset in (0, 1, 4)
]
MEASURED = [GROWING[1], WORKS[1]]
LITTLE_MEMORY = 48 << 20
"""Bytes that a search in files may take beyond what the process has before it."""


def without(measure: str) -> None:
    """Takes one measure back."""
    constants: dict[str, int] = {}
    match measure:
        case "huge pages":
            kernel_memory._HUGE_FROM = 1 << 62
        case "prefetching":
            constants = {"NO_PREFETCH": 1}
            loop_compiler._FunctionCompiler._prefetch = lambda self, pointer: None  # type: ignore[method-assign]
        case "filter and hints":
            compiled_model.RECENT_BITS = 0
        case "hints":
            constants = {"HINT_BITS": 0}
        case "windows within a line":
            constants = {"CELLS_OF_LINE": 1 << 62}
        case "groups of 128: 64":
            constants = {"GROUP": 64}
        case "doubling: by half":
            native_memory.GROWTH = 1.5
    known = compiled_model.loop_constants
    compiled_model.loop_constants = lambda *given: {**known(*given), **constants}


MEASURES = [
    "", "huge pages", "prefetching", "filter and hints", "hints", "windows within a line", "groups of 128: 64",
    "doubling: by half",
]


MAX_TOUCHED = 2 << 30
"""Bytes of a store whose pages are taken before a search of which the time is measured without that of taking them."""


class TouchedMemory(ReservedMemory):
    """Memory whose pages are taken at once, and the seconds that this took for the tables of the search so far.

    A search takes the pages of its states and of its tables when it first writes to them. How long that takes is a
    matter of the system and, on a virtual machine, of its host; the system's own account of it is too coarse.
    """

    seconds = 0.0

    def __init__(self, size: int) -> None:
        started = time.perf_counter()
        super().__init__(size)
        self.bytes[: MAX_TOUCHED : mmap.PAGESIZE] = 0
        if size <= MAX_TOUCHED:  # stores are larger, and made before the search begins
            TouchedMemory.seconds += time.perf_counter() - started


def own_growth(work: Work, workers: int, in_files: bool, measure: str) -> None:
    """Searches once and prints states, generated states, and seconds; in memory without those of taking pages."""
    without(measure)
    compile_good(work)
    searched = subject(work)
    search_states(*searched, Options(workers=workers, limits=Limits(states=FEW, memory=1 << 40)))
    limit = memory_of_this_process() + LITTLE_MEMORY if in_files else None
    if not in_files:
        native_memory.ReservedMemory = TouchedMemory  # type: ignore[attr-defined]
    found = search_states(*searched, Options(workers=workers, limits=Limits(memory=limit)))
    assert found.complete, f"{work.title} did not complete"
    assert in_files == any("continued in files" in note for note in found.notes)
    print(found.distinct, found.generated, found.seconds - TouchedMemory.seconds)


def grown(work: Work, workers: int, in_files: bool, measure: str = "", count: int = 1) -> tuple[float, ...]:
    """The output of ``own_growth`` for the median of some searches, each in a process of its own."""
    script = f"from benchmarks.native import Work, own_growth; own_growth({work}, {workers}, {in_files}, {measure!r})"
    found = []
    for _ in range(count):
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
        found.append(tuple(map(float, done.stdout.split())))
    return sorted(found, key=lambda it: it[2])[count // 2]


def growth(in_files: bool, count: int) -> Iterator[str]:
    """A table: each size with one and two workers; the median search of each, and one search of the largest size."""
    yield "| states | generated | workers | ns for a generated state | of the smallest |"
    yield "|---|---|---|---|---|"
    first: dict[int, float] = {}
    for work in GROWING:
        for workers in WORKERS:
            states, made, seconds = grown(work, workers, in_files, count=1 if work is GROWING[-1] else count)
            each = seconds / made * 1e9
            ratio = each / first.setdefault(workers, each)
            yield f"| {states:,.0f} | {made:,.0f} | {workers} | {each:.1f} | {ratio:.2f} |"


def measures(count: int) -> Iterator[str]:
    """A table: each measure taken back, in searches of about ten million states with one worker."""
    yield "| without | " + " | ".join(f"{work.spec.split('/')[-1].removesuffix('.toml')}" for work in MEASURED) + " |"
    yield "|---|" + "---|" * len(MEASURED)
    times: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    for measure, found in times.items():
        for work in MEASURED:
            _, made, seconds = grown(work, 1, False, measure, count)
            found.append(seconds / made)
        ratios = [f"{each * 1e9:.1f} ns, {each / first:.2f}" for each, first in zip(found, times[""], strict=True)]
        yield f"| {measure or 'nothing'} | {' | '.join(ratios)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--growth", choices=("memory", "files", "measures"))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.growth:
        lines = []
        by_size = growth(arguments.growth == "files", arguments.runs)
        for line in measures(arguments.runs) if arguments.growth == "measures" else by_size:
            print(line, flush=True)
            lines.append(line)
        if arguments.write:
            command = f"python -m benchmarks.native --growth {arguments.growth} --runs {arguments.runs} --write"
            section(f"native, growth, {arguments.growth}", command, lines)
        return
    lines = [
        "| search | workers | distinct | generated | best s | median s | M distinct/s | M generated/s | speed-up "
        "| bits | peak bytes per state | without the code | 2.5 x packed + 8 |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for work in WORKS:
        rows = measure(work, arguments.runs)
        print(*rows, sep="\n", flush=True)
        lines += rows
    lines += ["", "| `floodmark check alter_isr/failover@small` | seconds |", "|---|---|", *start_up()]
    lines += [
        "",
        "| processor seconds | distinct | compile plain | search | compile optimised | search |",
        "|---|---|---|---|---|---|",
        *map(editions, EDITIONS),
    ]
    print(*lines[-10:], sep="\n")
    if arguments.write:
        section("native", f"python -m benchmarks.native --runs {arguments.runs} --write", lines)


if __name__ == "__main__":
    main()
