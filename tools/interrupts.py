"""Interrupts the command at random moments, as Ctrl-C does: ``python -m tools.interrupts --tries 200 [--write]``.

Six kinds of work are interrupted in turn: compiling a large model, a search in machine code, z3, liveness, a plan and a
search on Spark. A terminal sends the signal to every process of the command, a supervisor to the first one alone; both
are done. Each run must end within two seconds with the exit code 130 and one line on standard error, and leave no
process behind. A moment is drawn between the first import of Floodmark, before which Python itself decides what happens
to a signal, and the time that a run takes that nobody interrupts.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.results import section

REPOSITORY = Path(__file__).parents[1]
MOST = 2.0
"""Seconds within which everything must have ended."""
AT_ONCE = 2
"""Kinds of work that are tried side by side: most of a try is waiting."""
LONGEST = 8.0
"""The last moment for an interrupt."""
KINDS = {
    "compile": "check specs/alter_isr/failover.toml@three_replicas --only-variant AlterIsrFailover --max-states 100",
    "search": "check specs/kraft/quorum.toml --tier all --workers 2",
    "z3": "prove specs/alter_isr/shipped.toml --method induction --any-size",
    "liveness": "check specs/kraft/progress.toml",
    "plan": "plan plan.json --current current.json",
    "Spark": "check specs/alter_isr/core.toml --engine spark",
}
PLAN = (
    '{"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [5, 6, 7, 8]}]}',
    '{"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2, 3, 4]}]}',
)
_SEQUENCE = re.compile(r"(\x1b\[[0-9;?]*[A-Za-z]|\r|\n)")
_STARTED = """
import sys

def notice(event, given, noticed=[]):
    if event == "exec" and not noticed and given[0].co_filename.endswith("floodmark/__init__.py"):
        noticed.append(print(flush=True))

sys.addaudithook(notice)
sys.argv[0] = "floodmark"
from floodmark.__main__ import main
main()
"""
"""The code of the installed command, with a line that reports when Floodmark's first line runs."""


@dataclass(frozen=True, slots=True)
class InterruptTrial:
    """One interrupt. ``left`` are the processes that were still there afterwards."""

    kind: str
    moment: float
    to_all: bool
    seconds: float
    code: int
    output: tuple[str, ...]
    left: tuple[str, ...]

    @property
    def fault(self) -> str | None:
        """The error in how the command ended, or None."""
        if self.left:
            return f"{len(self.left)} processes left"
        if self.code != 130:
            return f"exit code {self.code}"
        if len(self.output) != 1 or not self.output[0].startswith("interrupted"):
            return f"{len(self.output)} lines"
        return None

    @property
    def is_late(self) -> bool:
        return self.seconds > MOST


def tries(kind: str, count: int, seed: int) -> Iterator[InterruptTrial]:
    """Interrupts one kind of work so many times; runs that ended before their moment are tried again."""
    draw = random.Random(f"{seed} {kind}")
    with tempfile.TemporaryDirectory() as place:
        for name, text in zip(("plan.json", "current.json"), PLAN, strict=True):
            (Path(place) / name).write_text(text)
        words = [f"{place}/{word}" if word.endswith(".json") else word for word in KINDS[kind].split()]
        longest, ends_with = _undisturbed(words)
        done = 0
        while done < count:
            tried = _interrupted(kind, words, draw.uniform(0, longest), draw.random() < 0.7, ends_with)
            if tried is None:
                longest *= 0.9
                continue
            done += 1
            yield tried


def _start(words: Sequence[str], cache: str, err: int) -> subprocess.Popen[bytes]:
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # which a shell's background jobs ignore
    return subprocess.Popen(
        [sys.executable, "-c", _STARTED, *words], cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=err,
        env={**os.environ, "FLOODMARK_CACHE": cache}, start_new_session=True, preexec_fn=heed,
    )  # fmt: skip


def _undisturbed(words: Sequence[str]) -> tuple[float, int]:
    """The run time of the command without an interruption, up to ``LONGEST``, and its exit code."""
    with tempfile.TemporaryDirectory() as cache:
        began = time.monotonic()
        run = _start(words, cache, subprocess.DEVNULL)
        try:
            run.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
        return time.monotonic() - began, run.returncode


def _interrupted(kind: str, words: Sequence[str], moment: float, to_all: bool, ends_with: int) -> InterruptTrial | None:
    """One try; None if the command ended before the moment, or in it: with its own exit code and no line.

    Standard error is a terminal, on which progress is a line that is taken back.
    """
    with tempfile.TemporaryDirectory() as cache:
        terminal, err = os.openpty()
        run = _start(words, cache, err)
        os.close(err)
        assert run.stdout is not None
        run.stdout.readline()
        time.sleep(moment)
        if run.poll() is not None:
            os.close(terminal)
            return None
        if to_all:
            os.killpg(run.pid, signal.SIGINT)
        else:
            run.send_signal(signal.SIGINT)
        began = time.monotonic()
        text = _read(terminal)
        run.wait()
        seconds = _until_gone(run.pid, began)
        left, lines = _kill_group(run.pid), lines_of_terminal(text)
        if run.returncode == ends_with and not lines and not left:
            return None
        return InterruptTrial(kind, moment, to_all, seconds, run.returncode, lines, left)


def lines_of_terminal(text: str) -> tuple[str, ...]:
    """The lines that a terminal shows in the end: progress goes back to a line's beginning, or one up, and erases."""
    lines = [""]
    at = 0
    for part in _SEQUENCE.split(text):
        match part:
            case "\n":
                at += 1
                lines += [""] * (at == len(lines))
            case "\x1b[1A":
                at = max(0, at - 1)
            case "\x1b[2K":
                lines[at] = ""
            case _ if not _SEQUENCE.fullmatch(part):
                lines[at] += part
    return tuple(filter(str.strip, lines))


def _read(terminal: int) -> str:
    """The output on a terminal until its other end is closed."""
    output = b""
    try:
        while some := os.read(terminal, 65536):
            output += some
    except OSError:
        pass  # as Linux reports that the other end is closed
    finally:
        os.close(terminal)
    return output.decode(errors="replace")


def _group(group: int) -> list[int]:
    """The processes of a session that are alive."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                _, _, rest = (entry / "stat").read_text().rpartition(")")
            except OSError:
                continue
            state, _, _, session, *_ = rest.split()
            if int(session) == group and state != "Z":
                found.append(int(entry.name))
    return found


def _until_gone(group: int, began: float) -> float:
    """Seconds until no process of a session is left, or thirty."""
    while _group(group) and time.monotonic() - began < 30:
        time.sleep(0.02)
    return time.monotonic() - began


def _kill_group(group: int) -> tuple[str, ...]:
    """Kills what is left of a session, and returns the command lines."""
    left = []
    for process in _group(group):
        left.append((Path("/proc") / str(process) / "cmdline").read_text().replace("\0", " "))
        os.kill(process, signal.SIGKILL)
    return tuple(left)


def _row(kind: str, found: Sequence[InterruptTrial]) -> str:
    seconds = sorted(each.seconds for each in found)
    cells = [
        kind, f"`floodmark {KINDS[kind]}`", len(found), sum(each.fault is None for each in found),
        sum(not each.is_late for each in found), f"{seconds[len(seconds) // 2]:.2f}", f"{seconds[-1]:.2f}",
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def _all(seed: int, kind: str, count: int) -> list[InterruptTrial]:
    found = []
    for tried in tries(kind, count, seed):
        found.append(tried)
        if tried.fault is not None:
            print(f"{tried.fault}: {tried}", flush=True)
        elif tried.is_late:
            print(f"late: {tried}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=KINDS, action="append")
    parser.add_argument("--write", action="store_true", help="replaces the section in benchmarks/RESULTS.md")
    asked = parser.parse_args()
    kinds = asked.only or list(KINDS)
    counts = [asked.tries // len(kinds) + (place < asked.tries % len(kinds)) for place in range(len(kinds))]
    load = os.getloadavg()[0]
    rows = ["| work | command | interrupts | ended well | within 2 s | median s | most s |",
            "|---|---|---|---|---|---|---|"]
    faults = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for kind, found in zip(kinds, pool.map(partial(_all, asked.seed), kinds, counts), strict=True):
            faults += sum(tried.fault is not None or tried.is_late for tried in found)
            rows.append(_row(kind, found))
            print(rows[-1], flush=True)
    if asked.write:
        section("interrupts", f"python -m tools.interrupts --tries {asked.tries} --seed {asked.seed}", [
            "Seconds are from the signal until no process is left. To end well is to exit with code 130 and one line, "
            f"and to leave no process. The machine's load was {load:.1f} at the start; on a busy one the seconds are "
            "upper bounds.", "", *rows,
        ])
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
