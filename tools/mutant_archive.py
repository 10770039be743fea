"""The archive of ``tools.mutants``: the results for the changed functions of each whole job, one line of JSON each.

A campaign takes hours, so another machine goes on where one was stopped: a job counts as done as long as its changed
functions have the same texts. It was done with the sources of the commit that its line names.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ARCHIVE = Path(__file__).with_name("mutants.jsonl")


@dataclass(frozen=True)
class Summary:
    """The results for some changed functions: ``changes`` is their number, ``fates`` counts each result."""

    changes: int = 0
    fates: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    """The numbers of steps, predicates and initial states that were compared; ``elsewhere`` in other models than the
    smallest."""
    idle: Counter[str] = field(default_factory=Counter)
    """For each function, the number of changed lines that CPython runs in no question."""
    reasons: Counter[str] = field(default_factory=Counter)
    """The reasons for which there are no terms."""
    seconds: float = 0.0
    """Processor time."""

    def __add__(self, other: Summary) -> Summary:
        return Summary(
            self.changes + other.changes, self.fates + other.fates, self.asked + other.asked, self.idle + other.idle,
            self.reasons + other.reasons, self.seconds + other.seconds,
        )


def summary(entries: Iterable[Mapping[str, Any]]) -> Summary:
    """The sum of the results of single changes."""
    return sum(map(_summary, entries), Summary())


def _summary(entry: Mapping[str, Any]) -> Summary:
    asked, fate = Counter(entry.get("asked", {})), entry["fate"]
    if "steps" in entry:
        asked["states"] = sum(entry["steps"])
        fate = fate if entry["steps"] else "without a counterexample"
    agreed = "asked" in entry and fate == "agreed"
    asked["elsewhere"] = agreed and entry["asked of"] != entry["subject"]
    idle = [entry["function"]] if agreed and not asked["runs"] else []
    reasons = [entry["why"]] if fate == "without terms" else []
    return Summary(1, Counter([fate]), +asked, Counter(idle), Counter(reasons), entry["seconds"])


@dataclass(frozen=True)
class ArchivedJob:
    """A job whose functions were all compared, the ``content`` being a hash of their texts."""

    question: str
    job: str
    content: str
    commit: str
    summary: Summary


def read(path: Path | None = None) -> list[ArchivedJob]:
    path = path or ARCHIVE
    lines = path.read_text().splitlines() if path.exists() else []
    return [_done(**json.loads(line)) for line in lines]


def _done(summary: Mapping[str, Any], **names: str) -> ArchivedJob:
    counts: dict[str, Any] = {
        name: Counter(value) if isinstance(value, dict) else value for name, value in summary.items()
    }
    return ArchivedJob(**names, summary=Summary(**counts))


def write(every: Sequence[ArchivedJob], path: Path | None = None) -> None:
    """Adds jobs to the archive, each in place of what it has of the same job."""
    path = path or ARCHIVE
    known = {(done.question, done.job): done for done in [*read(path), *every]}
    lines = [json.dumps({**vars(done), "summary": _written(done.summary)}) for _, done in sorted(known.items())]
    path.write_text("".join(f"{line}\n" for line in lines))


def _written(summary: Summary) -> dict[str, Any]:
    """The counts that are not zero."""
    return {name: value for name, value in vars(summary).items() if value} | {"seconds": round(summary.seconds, 1)}


def commit() -> str:
    """The last commit that changed the package."""
    command = ["git", "-C", str(Path(__file__).parent.parent), "log", "-1", "--format=%h", "--abbrev=8", "--", "src"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
