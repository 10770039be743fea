"""The cost of comparing two versions: ``python -m benchmarks.edits [--edits N] [--write]``.

The first table compares models with designs of theirs that differ by a rule, as an edit would, and has the time of that
beside the time of searching both. The second one says what a file of states would save: the time of a search, beside
that of reading its states, and that of the command where nothing has changed. The third one has the latest edits of
this repository's own models, each compared with the commit before it over the quick specs of the protocols whose files
it changed, and of those that import them: what the command takes, and what it would take to search the specs as well
that it finds the same without a search. These are searched once, as they are today, without properties, so this is the
least that they would take: to compare two versions takes more than one search. It needs git, and takes some minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import section
from floodmark.checkers.edits.comparison import compare
from floodmark.checkers.native.search import begin, search_states
from floodmark.checkers.project.spec import read
from floodmark.checkers.search_result import Limits, Options
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

REPOSITORY = Path(__file__).parents[1]
DESIGNS = (
    ("alter_isr/core", "AssumesProposedIsr"),
    ("alter_isr/core", "IgnoresPendingExpand"),
)
SECONDS = "60"
"""The limit of each search of an edit."""
FIRST = 600_000
"""Both searches of a comparison and of the models begin with optimised code."""
EDITED = ("model", "specs/*.py")
FOLDERS = ("model", "invariants", "specs")


def costs(runs: int) -> Iterator[str]:
    """The table of processor time: each of the smallest of some runs, the first of which compiles."""
    yield "| model | edited to | states | states then | seconds for both searches | for the comparison | ratio |"
    yield "|---|---|---|---|---|---|---|"
    for name, design in DESIGNS:
        every = checks(read(REPOSITORY / "specs" / f"{name}.toml"), CheckSettings())
        good = every[0].model()
        bad = next(check.model() for check in every if check.flawed is not None and check.flawed.name == design)
        options = Options(workers=1, likely=FIRST)
        plain, compared = [], []
        states: list[int] = []
        for _ in range(runs + 1):
            seconds, states = _searched([good, bad], options)
            plain.append(seconds)
            before = time.process_time()
            compare(good, bad, options)
            compared.append(time.process_time() - before)
        least, most = min(plain[1:]), min(compared[1:])
        first = f"| {type(good).__name__} ({name}) | {design} | {states[0]:,} | {states[1]:,}"
        yield f"{first} | {least:.2f} | {most:.2f} | {most / least:.2f} |"


def _searched(models: Sequence[Model], options: Options) -> tuple[float, list[int]]:
    before = time.process_time()
    found = [search_states(model, [], options) for model in models]
    return time.process_time() - before, [each.distinct for each in found]


def kept(runs: int) -> Iterator[str]:
    """The possible saving by keeping the states of a version in a file: a search, or reading its states again."""
    yield "| model | states | bytes | seconds for a search | for reading its states | for a diff without a search |"
    yield "|---|---|---|---|---|---|"
    for name in (DESIGNS[0][0], "kraft/committed_log"):
        model = checks(read(REPOSITORY / "specs" / f"{name}.toml"), CheckSettings())[0].model()
        searched, loaded, said, rows = [], [], [], np.zeros((0, 0), dtype=np.uint64)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "states.npy"
            for _ in range(runs + 1):
                search = begin(model, [], Options(workers=1, likely=FIRST))
                before = time.process_time()
                search.run()
                searched.append(time.process_time() - before)
                rows = np.concatenate([*search.pieces()])
                search.close()
                np.save(file, rows)
                before = time.process_time()
                hashlib.blake2b(np.load(file).tobytes()).digest()
                loaded.append(time.process_time() - before)
            command = [sys.executable, "-m", "floodmark", "diff", "HEAD", "--", f"specs/{name}.toml"]
            for _ in range(2):  # the first reads HEAD's files
                usage = _children()
                subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               check=False, env={**os.environ, "PYTHONPATH": str(REPOSITORY / "src")})
                said.append(_children() - usage)
        figures = f"{min(searched[1:]):.2f} | {min(loaded[1:]):.2f} | {min(said):.2f}"
        yield f"| {name} | {len(rows):,} | {rows.nbytes:,} | {figures} |"


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def edits(count: int) -> list[tuple[str, str]]:
    """The latest commits that changed a model, the latest first: name and subject."""
    said = _git("log", f"-{count}", "--no-merges", "--format=%h%x09%s", "--", *EDITED)
    return [(line.partition("\t")[0], line.partition("\t")[2]) for line in said.splitlines()]


def folders(name: str) -> list[str]:
    """The folders of specs whose protocols a commit changed, and of those whose files mention such a protocol."""
    changed = {Path(line).parts[1] for line in _git("diff", "--name-only", f"{name}~1", name, "--", *FOLDERS).split()}
    while True:
        text = "|".join(rf"(model|invariants)\.{each}\b" for each in changed)
        found = subprocess.run(["git", "grep", "-lE", text, name, "--", *FOLDERS], cwd=REPOSITORY, check=False,
                               capture_output=True, text=True).stdout.split()
        more = {Path(line.partition(":")[2]).parts[1] for line in found} | changed
        if more == changed:
            return sorted(f"specs/{each}" for each in changed if (REPOSITORY / "specs" / each).is_dir())
        changed = more


def measured(every: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The table of edits."""
    titles = "specs | same files | same graph | searched: same | differs | undetermined | seconds"
    yield f"| edit | {titles} | with a search of each spec that is the same |"
    yield "|---|---|---|---|---|---|---|---|---|"
    searches = Searches()
    for name, subject in every:
        before = _children()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "edits.json"
            subprocess.run(
                [
                    sys.executable, "-m", "floodmark", "diff", f"{name}~1", name, "--max-seconds", SECONDS,
                    "--json", file, "--", *folders(name),
                ],
                cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                env={**os.environ, "PYTHONPATH": str(REPOSITORY / "src")},
            )
            specs: list[dict[str, Any]] = json.loads(file.read_text())["specs"] if file.exists() else []
        seconds = _children() - before
        models = [entry["model"] for entry in specs if entry["model"] is not None]
        rows = [
            len(specs),
            sum(entry["unchanged"] and entry["model"] is None for entry in specs),
            sum(model["same_by"] == "graph" for model in models),
            sum(model["same_by"] == "search" for model in models),
            sum("some" in (model["added"], model["removed"]) for model in models),
            sum(entry["undetermined"] for entry in specs),
        ]
        same = [it["name"] for it in specs if (it["unchanged"] and it["model"] is None) or _is_same_graph(it)]
        anew = sum(searches.seconds(each) for each in same)
        yield f"| {subject[:60]} | {' | '.join(map(str, rows))} | {seconds:.0f} | {seconds + anew:.0f} |"


def _is_same_graph(entry: dict[str, Any]) -> bool:
    return entry["model"] is not None and entry["model"]["same_by"] == "graph"


class Searches:
    """The duration of a search of a spec in its present form, with the reading of its source; each is searched once."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def seconds(self, name: str) -> float:
        """Processor seconds; 0 for a spec that is no longer there."""
        if name not in self._seconds:
            file, _, _ = name.partition("@")
            self._seconds[name] = self._searched(name) if (REPOSITORY / "specs" / f"{file}.toml").is_file() else 0.0
        return self._seconds[name]

    def _searched(self, name: str) -> float:
        file, sign, row = name.partition("@")
        try:
            every = checks(read(REPOSITORY / "specs" / f"{file}.toml{sign}{row}"), CheckSettings(workers=1))
        except SourceError:  # a row that has another name by now
            return 0.0
        before = time.process_time()
        search_states(every[0].model(), [], Options(workers=1, likely=FIRST, limits=Limits(seconds=float(SECONDS))))
        return time.process_time() - before


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--edits", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="puts the figures into benchmarks/RESULTS.md")
    asked = parser.parse_args()
    lines = []
    for line in itertools.chain(costs(asked.runs), [""], kept(asked.runs), [""], measured(edits(asked.edits))):
        print(line, flush=True)
        lines.append(line)
    if asked.write:
        section("edits", f"python -m benchmarks.edits --runs {asked.runs} --edits {asked.edits} --write", lines)


if __name__ == "__main__":
    try:
        main()
    except SourceError as error:
        raise SystemExit(str(error)) from None
