"""Lets real servers take schedules of a model, several servers at once, and compares the two after every step:

    python examples/jetstream/schedules.py --release 2.12.1 --most 100
    python examples/jetstream/schedules.py --release 2.12.1 --change 7955 --most 300

Walks through the model keep a shortest run for each piece of coverage; these are the schedules, in random order. The
servers mostly wait for their election timers, so many run at once. With ``--change`` the model is that of the release
with this bug changed (``releases.py``), and the schedules end when a server contradicts it. A run that was too slow for
the server's timers is repeated, and counts only if it was in time.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import multiprocessing
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from adapter import JetStreamAdapter, Late  # noqa: E402
from driven import Driven  # noqa: E402
from library import Program, release  # noqa: E402
from releases import CHANGED, RELEASES  # noqa: E402
from server import REAL, Template, template, use_template  # noqa: E402

from floodmark.checkers.conformance.tours import longest  # noqa: E402
from floodmark.checkers.conformance.walks import Walks  # noqa: E402
from floodmark.conformance import Mismatch, side_by_side, steps_of, taken, trace_of  # noqa: E402
from floodmark.replay import Step  # noqa: E402

SIZE = {
    "servers": 3, "max_term": 5, "max_log": 5, "max_writes": 2, "in_flight": 8, "max_losses": 4, "max_restarts": 1,
    "max_timeouts": 5, "max_heartbeats": 2, "max_transfers": 1,
}
EXPLORED = 60_000
"""Steps of the walks through the model."""
TIMEOUTS = 2
"""A schedule has no more election timeouts of the real server, each of which takes four to nine seconds."""
ATTEMPTS = 4
Trace = list[dict[str, Any]]


@dataclass(frozen=True)
class Outcome:
    """What a schedule came to: a difference, shown step by step, or none; ``late`` counts the repetitions."""

    steps: int
    seconds: float
    difference: str | None
    late: int
    in_time: bool = True


def driven(server: Program) -> type[JetStreamAdapter]:
    """The adapter of a release."""
    class Server(JetStreamAdapter):
        program = server

    return Server


def begin(server: Program, size: int, made: Template) -> None:
    use_template(server, size, made)


def tried(design: type[Driven], size: dict[str, int], server: Program, trace: Trace) -> Outcome:
    """A schedule, taken by a server of its own."""
    model = design(**size)
    steps = steps_of(model, trace)
    begun = time.monotonic()
    for late in range(ATTEMPTS):
        try:
            taken(model, driven(server), steps).close()
        except Late:
            continue
        except Mismatch as found:
            shown = "\n".join([*(f"  {number:2}  {step}" for number, step in enumerate(found.steps, 1)),
                               *side_by_side(found)])
            return Outcome(len(found.steps), time.monotonic() - begun, shown, late)
        return Outcome(len(steps), time.monotonic() - begun, None, late)
    return Outcome(len(steps), time.monotonic() - begun, None, ATTEMPTS, in_time=False)


def drawn(model: Driven, seed: int, explored: int) -> Iterator[tuple[Step, ...]]:
    """The schedules of a model: those in which the real server does something."""
    walks = Walks(model, [], "guided", seed)
    walks.search(explored)
    ends = longest(walks.kept())
    random.Random(seed).shuffle(ends)
    for end in ends:
        path = end.path()
        steps = [path[0].start]
        for before, node in itertools.pairwise(path):
            assert node.proposal is not None
            steps.append(walks.proposals.step(before.state, node.proposal)[0])
        if any(concerns(step) for step in steps) and sum(map(waits, steps)) <= TIMEOUTS:
            yield tuple(steps)


def concerns(step: Step) -> bool:
    """The real server takes the step."""
    message = step.arguments.get("message")
    if message is not None:
        return step.action == "message_arrives" and repr(message.destination) == REAL
    return REAL in [repr(value) for value in step.arguments.values()]


def waits(step: Step) -> bool:
    return step.action == "election_times_out" and concerns(step)


def outcomes(
    design: type[Driven], size: dict[str, int], server: Program, schedules: list[Trace], at_once: int
) -> Iterator[tuple[int, Outcome]]:
    """What each schedule came to, as they end; ends early when the caller does."""
    made = template(server, size["servers"])
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(
        at_once, context, initializer=begin, initargs=(server, size["servers"], made)
    ) as pool:
        todo = {pool.submit(tried, design, size, server, trace): number for number, trace in enumerate(schedules, 1)}
        try:
            for done in concurrent.futures.as_completed(todo):
                yield todo[done], done.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", choices=list(RELEASES), default="2.15.1", help="of the server and of the model")
    parser.add_argument("--change", choices=sorted({bug for _, bug in CHANGED}), help="the bug that the model changes")
    parser.add_argument("--most", type=int, default=100, help="schedules")
    parser.add_argument("--at-once", type=int, default=12, help="servers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--explored", type=int, default=EXPLORED, help="steps of the walks through the model")
    given = parser.parse_args()
    server = release(given.release)
    design = RELEASES[given.release] if given.change is None else CHANGED[given.release, given.change]
    begun = time.monotonic()
    schedules = list(itertools.islice(
        (trace_of(steps) for steps in drawn(design(**SIZE), given.seed, given.explored)), given.most
    ))
    print(f"{len(schedules)} schedules of {design.__name__}, found in {time.monotonic() - begun:.0f} s", flush=True)
    begun = time.monotonic()
    tallied: list[Outcome] = []
    for number, outcome in outcomes(design, SIZE, server, schedules, given.at_once):
        tallied.append(outcome)
        if outcome.difference is not None:
            print(f"schedule {number}: {server} differs from {design.__name__}\n{outcome.difference}", flush=True)
            break
    counted = [each for each in tallied if each.in_time]
    differing = sum(1 for each in counted if each.difference is not None)
    print(f"{server} took {len(counted)} schedules of {design.__name__} with {sum(each.steps for each in counted):,} "
          f"steps in {time.monotonic() - begun:.0f} s, {given.at_once} at once: {differing} differ; "
          f"{sum(each.late for each in tallied)} runs were late, {len(tallied) - len(counted)} schedules always")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
