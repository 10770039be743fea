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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from adapter import JetStreamAdapter, Late  # noqa: E402
from driven import Driven  # noqa: E402
from library import Program, release  # noqa: E402
from releases import CHANGED, RELEASES  # noqa: E402
from server import REAL, Template, template, use_template  # noqa: E402

from floodmark.conformance import Mismatch, covering_runs, drive, side_by_side, steps_of, trace_of  # noqa: E402
from floodmark.replay import Step  # noqa: E402

SIZE = {
    "servers": 3, "max_term": 5, "max_log": 5, "max_writes": 2, "in_flight": 8, "max_losses": 4, "max_restarts": 1,
    "max_timeouts": 5, "max_heartbeats": 2, "max_transfers": 1,
}
EXPLORED = 20_000
"""Steps of the walks through the model."""
TIMEOUTS = 2
"""A schedule has no more election timeouts of the real server, each of which takes four to nine seconds."""
ATTEMPTS = 4
Trace = list[dict[str, Any]]
T = TypeVar("T")


@dataclass(frozen=True)
class Outcome:
    """What a schedule came to: a difference, shown step by step, or none; ``late`` counts the repetitions."""

    steps: int
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
    late: list[Late] = []
    try:
        in_time(lambda: drive(model, driven(server), steps), ATTEMPTS, late).close()
    except Late:
        return Outcome(len(steps), None, len(late), in_time=False)
    except Mismatch as found:
        shown = [f"  {number:2}  {short(step)}" for number, step in enumerate(found.steps, 1)]
        return Outcome(len(found.steps), "\n".join([*shown, *side_by_side(found)]), len(late))
    return Outcome(len(steps), None, len(late))


def in_time(run: Callable[[], T], attempts: int, late: list[Late] | None = None) -> T:
    """What the run comes to, repeated while it is too slow for the server's timers. Raises Late if it always is."""
    for attempt in range(attempts):
        try:
            return run()
        except Late as reason:
            if late is not None:
                late.append(reason)
            if attempt + 1 == attempts:
                raise
    raise AssertionError


def short(step: Step) -> str:
    """A step in a line: of a message, what its kind uses."""
    message: Any = step.arguments.get("message")
    if message is None:
        return f"{step.action}({', '.join(map(repr, step.arguments.values()))})"
    told = [f"{message.source} -> {message.destination}", f"term={message.term}"]
    told += [f"{name}={value}" for name in ("index", "log_term", "commit") if (value := getattr(message, name))]
    if message.entry is not None:
        entry = message.entry
        other = "first" if entry.successor is None else f"transfer to {entry.successor}"
        told.append(f"entry={entry.term}:{f'write {entry.write}' if entry.write else other}")
    if message.kind.name.endswith("RESPONSE"):
        told.append("success" if message.success else "refusal" if message.inbox.name == "NONE" else "asks for entries")
    return f"{step.action}({message.kind.name} {', '.join(told)})"


def drawn(model: Driven, seed: int, explored: int) -> Iterator[tuple[Step, ...]]:
    """The schedules of a model: those in which the real server does something."""
    runs = covering_runs(model, seed, explored)
    random.Random(seed).shuffle(runs)
    for steps in runs:
        if any(concerns(step) for step in steps) and sum(map(waits, steps)) <= TIMEOUTS:
            yield steps


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
) -> list[Outcome]:
    """What the schedules came to, in their order, up to the first that differs."""
    made = template(server, size["servers"])
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(
        at_once, context, initializer=begin, initargs=(server, size["servers"], made)
    ) as pool:
        todo = [pool.submit(tried, design, size, server, trace) for trace in schedules]
        found: list[Outcome] = []
        try:
            for each in todo:
                found.append(each.result())
                if found[-1].difference is not None:
                    break
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        return found


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
    found = outcomes(design, SIZE, server, schedules, given.at_once)
    differing = found and found[-1].difference is not None
    if differing:
        print(f"schedule {len(found)}: {server} differs from {design.__name__}\n{found[-1].difference}")
    late = [each for each in found if not each.in_time]
    print(f"{server} took {len(found) - len(late)} schedules of {design.__name__}, "
          f"{sum(each.steps for each in found if each.in_time):,} steps, in {time.monotonic() - begun:.0f} s, "
          f"{given.at_once} at once: {'the last one differs' if differing else 'none differs'}; "
          f"{sum(each.late for each in found)} runs were late, {len(late)} schedules always")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
