"""Recorded runs of etcd's Raft: ``python -m benchmarks.etcd --traces FOLDER --kept FILE [--mutants N] [--runs N]
[--write]``, and its interaction tests: ``python -m benchmarks.etcd --logs --traces FOLDER --kept FILE [--mutants N]
[--write]``.

FOLDER has what docs/etcd.md names. Judged are the traces in it; the beginnings of its longest one, which says how the
time grows with the length; and mutants (``examples/etcd/mutants.py``), each of which the model must not accept if the
replay in plain Python (``examples/etcd/replay.py``) refuses it. Of a changed log the library's own output says whether
it is right (``examples/etcd/outputs.py``). ``--write`` puts the figures into RESULTS.md.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from benchmarks.results import section
from floodmark.checkers import processes
from floodmark.checkers.conformance.foreign_traces import reader_of
from floodmark.checkers.conformance.traces import TraceComparison, judge_text
from floodmark.checkers.project.modules import load_file
from floodmark.checkers.resources import cores
from floodmark.checkers.verdict.check import CheckSettings, one_check

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "etcd"
SPEC = ROOT / "specs" / "etcd_raft" / "recorded.toml"
INTERACTIVE = SPEC.with_name("interactive.toml")
LONG = 500_000
"""Mutants are made of traces with at most so many characters."""


@functools.cache
def work(reader: Path = EXAMPLE / "reader.py", spec: Path = SPEC) -> TraceComparison:
    check = one_check(spec, None, CheckSettings(constants=dict(reader_of(reader).constants)))
    return TraceComparison(check, reader=reader, runs=False)


def judged(files: Sequence[Path]) -> Iterator[str]:
    """The number of accepted traces, and the events per second."""
    comparison, replay = work(), load_file(EXAMPLE / "replay.py").replay
    outcomes, agree, seconds = [], 0, 0.0
    for file in files:
        text = file.read_text()
        began = time.process_time()
        outcomes.append(judge_text(comparison, (file.name, text)))
        seconds += time.process_time() - began
        agree += (outcomes[-1].verdict == "accepted") == (replay(text) is None)
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    events = sum(outcome.matched for outcome in outcomes)
    yield (
        f"{len(files):,} traces: {verdicts['accepted']:,} accepted, {verdicts['rejected']:,} rejected; the replay in "
        f"plain Python agrees on {agree:,}. {events:,} lines fit, {events / seconds:,.0f} a second of one core."
    )


def growth(file: Path, runs: int) -> Iterator[str]:
    """The time for the beginnings of a trace."""
    comparison = work()
    rows = file.read_text().split("\n")
    yield f"Beginnings of {file.name}, the best of {runs} runs:"
    yield ""
    yield "| lines | verdict | seconds | lines a second | median s |"
    yield "|---|---|---|---|---|"
    for part in (8, 4, 2, 1):
        text = "\n".join(rows[: len(rows) // part])
        times = []
        for _ in range(runs):
            began = time.process_time()
            outcome = judge_text(comparison, (file.name, text))
            times.append(time.process_time() - began)
        best, median = min(times), statistics.median(times)
        yield f"| {outcome.lines:,} | {outcome.verdict} | {best:.2f} | {outcome.lines / best:,.0f} | {median:.2f} |"


def tried(texts: Mapping[str, str], seed: int) -> dict[str, Any]:
    """The results of the model and of the replay for a mutant."""
    mutants, replay = load_file(EXAMPLE / "mutants.py"), load_file(EXAMPLE / "replay.py")
    name = sorted(texts)[seed % len(texts)]
    how, text = mutants.mutant(texts[name], random.Random(seed))
    verdict = judge_text(work(), (name, text)).verdict
    return {"seed": seed, "trace": name, "how": how, "verdict": verdict, "replay": replay.replay(text)}


def tried_log(texts: Mapping[str, str], seed: int) -> dict[str, Any]:
    """The same of a changed log, of which the library's own output is the replay."""
    mutants, outputs = load_file(EXAMPLE / "mutants.py"), load_file(EXAMPLE / "outputs.py")
    name = sorted(texts)[seed % len(texts)]
    how, line, text = mutants.log_mutant(texts[name], random.Random(seed))
    verdict = judge_text(work(EXAMPLE / "interactions.py", INTERACTIVE), (name, text)).verdict
    return {"seed": seed, "trace": name, "line": line, "how": how, "verdict": verdict,
            "replay": outputs.difference(texts[name], text)}


def keep(
    kept: Path, files: Sequence[Path], count: int, judge: Callable[[Mapping[str, str], int], dict[str, Any]] = tried
) -> list[dict[str, Any]]:
    """The results of mutants 0 to ``count``, of which a file keeps those of an earlier run."""
    texts = {file.name: file.read_text() for file in files if file.stat().st_size <= LONG}
    known = [json.loads(row) for row in kept.read_text().splitlines()] if kept.exists() else []
    seeds = sorted(set(range(count)) - {each["seed"] for each in known})
    with kept.open("a") as out:
        for _, each in processes.run_each(functools.partial(judge, texts), seeds, cores(), lambda _: None):
            if isinstance(each, Exception):
                raise each
            print(json.dumps(each), file=out, flush=True)
            known.append(each)
    return [each for each in known if each["seed"] < count]


def holes(results: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Mutants that the model accepts and the replay refuses."""
    return [each for each in results if each["verdict"] == "accepted" and each["replay"] is not None]


def mutants(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    traces = {each["trace"] for each in results}
    yield f"{len(results):,} mutants of {len(traces):,} traces:"
    yield ""
    yield "| change | mutants | accepted by the model | by the replay | by the model and not by the replay |"
    yield "|---|---|---|---|---|"
    for how in (*sorted({each["how"] for each in results}), "all"):
        some = [each for each in results if how in (each["how"], "all")]
        accepted = sum(each["verdict"] == "accepted" for each in some)
        replayed = sum(each["replay"] is None for each in some)
        yield f"| {how} | {len(some):,} | {accepted:,} | {replayed:,} | {len(holes(some)):,} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=Path, required=True)
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--kept", type=Path, required=True, help="file for mutants, so that a run can be continued")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--logs", action="store_true", help="mutants of the logs of interaction tests, and only these")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.logs:
        files = sorted((arguments.traces / "etcd-raft" / "datadriven").glob("*.txt"))
        results = keep(arguments.kept, files, arguments.mutants, tried_log)
        ended(arguments, "logs of etcd", f"--logs --mutants {arguments.mutants}", [*mutants(results)], results)
    files = sorted((arguments.traces / "etcd-raft").rglob("*.ndjson"))
    results = keep(arguments.kept, files, arguments.mutants)
    table = [*judged(files), "", *growth(max(files, key=lambda file: file.stat().st_size), arguments.runs), "",
             *mutants(results)]
    ended(arguments, "traces of etcd", f"--mutants {arguments.mutants} --runs {arguments.runs}", table, results)


def ended(
    arguments: argparse.Namespace, title: str, options: str, table: list[str], results: Sequence[Mapping[str, Any]]
) -> NoReturn:
    """Prints the figures, and each hole."""
    print("\n".join(table))
    for hole in holes(results):
        print(json.dumps(hole))
    if arguments.write:
        section(title, f"python -m benchmarks.etcd --traces FOLDER --kept FILE {options} --write", table)
    sys.exit(bool(holes(results)))


if __name__ == "__main__":
    main()
