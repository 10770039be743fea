"""The cost of liveness: ``python -m benchmarks.liveness [--runs N] [--write]``.

Each search runs without and with properties of runs, alternately, on one core, so that a busy machine affects both
alike; the ratio is that of the least processor times, with all code already compiled. It includes the attempts to do
without each fairness assumption. A further process with two workers gives wall-clock time and peak memory. ``--title``
runs the rows whose title has this text.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.native import Work as Search
from benchmarks.native import compile_good, peak, subject
from benchmarks.results import section
from floodmark import always_eventually, leads_to
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project import spec as specs
from floodmark.checkers.project.properties import Property, collect
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.language.fairness import Fairness
from floodmark.language.model import Model
from model.alter_isr.core import AlterIsr
from model.kraft.quorum import Kraft, Replica, Role

ROOT = Path(__file__).parent.parent
COMMIT = "specs/examples/two_phase_commit_progress.toml"
ISR = "specs/alter_isr/core.toml"
HEAD = [
    "| search | distinct | generated | properties of runs | safety, processor s | with liveness | ratio "
    "| two workers, s | peak memory |",
    "|---|---|---|---|---|---|---|---|---|",
]


@dataclass(frozen=True)
class Work(Search):
    """A search, and the fairness under which the properties of this file are asked of it."""

    fairness: Mapping[str, Fairness] = field(default_factory=dict)


_FAIR_ISR = {
    "leader_receives_leader_and_isr": Fairness(each=("update",)),
    "follower_fetches": Fairness(each=("follower",)),
}
WORKS = [
    Work("KIP-497 core", ISR, {}, _FAIR_ISR),
    Work("KIP-595", "specs/kraft/quorum.toml", {}, {"leader_flushes": Fairness(each=("leader",))}),
    Work("KIP-497 core, small", ISR, {"max_partition_epoch": 1}, _FAIR_ISR),
    Work("KIP-497 core, larger", ISR, {"max_partition_epoch": 3, "max_offset": 1}, _FAIR_ISR),
    *(Work(f"two-phase commit, {count} resource managers", COMMIT, {"managers": count}) for count in range(6, 10)),
]


@always_eventually
def leader_hears_of_the_latest(model: AlterIsr) -> bool:
    """The controller changes the state finitely often, and each change arrives."""
    return model.partition_epoch == model.controller.partition_epoch


@always_eventually
def followers_catch_up(model: AlterIsr) -> bool:
    """Every replica that fetches eventually has the whole log."""
    return not model.leading or all(end >= model.log_end_offset[model.leader] for end in model.log_end_offset.values())


@leads_to
def what_is_written_is_flushed(model: Kraft, leader: Replica) -> tuple[bool, bool]:
    """A leader flushes its log, or leads no more."""
    dirty = model.role[leader] == Role.LEADER and model.flushed[leader] < len(model.logs[leader])
    return dirty, not dirty


@leads_to
def candidacy_ends(model: Kraft, replica: Replica) -> tuple[bool, bool]:
    """Does not hold, as nothing here is fair that would end it: a run that stutters is found and shown."""
    return model.role[replica] == Role.CANDIDATE, model.role[replica] != Role.CANDIDATE


def subjects(work: Work) -> tuple[Model, list[Property], list[Property], Mapping[str, Fairness | None]]:
    """The model, its properties of states and steps, its properties of runs, and what is fair."""
    model, chosen = subject(work)
    own = collect(type(model), [sys.modules[__name__]]).values()
    every = {prop.name: prop for prop in [*chosen, *own]}.values()
    safety = [prop for prop in every if not prop.is_liveness]
    return model, safety, [prop for prop in every if prop.is_liveness], {
        **specs.read(ROOT / work.spec).fairness, **work.fairness,
    }  # fmt: skip


def runs(work: Work, count: int) -> Iterator[tuple[bool, float, SearchResult]]:
    """(with liveness or not, processor seconds, what was found) of each run; the first two only warm up."""
    compile_good(work)
    model, safety, liveness, fairness = subjects(work)
    for number in range(count + 1):
        for whole in (False, True):
            started = time.process_time()
            found = search_states(model, [*safety, *(liveness if whole else [])], Options(workers=1, fairness=fairness))
            taken = time.process_time() - started
            assert found.complete, f"{work.title} did not complete: {found.stopped}"
            if number:
                yield whole, taken, found


def in_own_process(work: Work) -> tuple[float, float]:
    """Wall-clock seconds with two workers, and the process's peak memory in gigabytes."""
    script = f"from benchmarks.liveness import WORKS, once; once(WORKS[{WORKS.index(work)}])"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    seconds, most = json.loads(done.stdout)
    return seconds, most


def once(work: Work) -> None:
    """Searches once with two workers, liveness included, and prints what ``in_own_process`` returns."""
    model, safety, liveness, fairness = subjects(work)
    found = search_states(model, [*safety, *liveness], Options(workers=2, fairness=fairness))
    print(json.dumps([found.seconds, peak() / 1e9]))


def row(work: Work, count: int) -> str:
    """One row of the table."""
    taken: dict[bool, list[float]] = {False: [], True: []}
    verdicts: dict[str, str] = {}
    for whole, seconds, found in runs(work, count):
        taken[whole].append(seconds)
        for finding in found.liveness:
            if verdicts.get(finding.property) != "violated":
                verdicts[finding.property] = finding.verdict
    safety, both = min(taken[False]), min(taken[True])
    said = ", ".join(f"{name} {verdict}" for name, verdict in verdicts.items())
    wall, most = in_own_process(work)
    return (
        f"| {work.title} | {found.distinct:,} | {found.generated:,} | {said} | {safety:.2f} | {both:.2f} "
        f"| {both / safety:.2f} | {wall:.1f} | {most:.1f} GB |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--title", default="")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = list(HEAD)
    print(*HEAD, sep="\n")
    for work in WORKS:
        if arguments.title in work.title:
            lines.append(row(work, arguments.runs))
            print(lines[-1], flush=True)
    if arguments.write:
        section("liveness", f"python -m benchmarks.liveness --runs {arguments.runs} --write", lines)


if __name__ == "__main__":
    main()
