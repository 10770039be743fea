"""Searches Ra's own modules, without a model, by schedules that are drawn from what its servers can do:

    python examples/ra/search.py no-leader --seeds 20
    python examples/ra/search.py crash --seeds 20

``no-leader`` looks for two servers of three that, left to themselves, never elect a leader. After a schedule one server
stops for good, and the other two are treated fairly: every message arrives, every write reaches the disk, and when
nothing else can happen, the timer of one of them ends, each as often as the other. ``crash`` looks for a server that an
exception ends, in schedules in which servers also restart, and leaders are asked to let a fourth server join, which is
never started.

No step of the schedule that is shown can be left out.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from cluster import Observed, Seen, bridge  # noqa: E402
from library import library  # noqa: E402

Step = tuple[Any, ...]
NAMES = ["n1", "n2", "n3"]
ROUNDS = 30
"""How often a timer ends without a leader before a schedule counts."""


def by_name(seen: Observed) -> dict[str, Seen]:
    return dict(zip(NAMES, seen.servers, strict=True))


def pending(seen: Observed, names: list[str]) -> list[Step]:
    """What happens by itself among some of the servers."""
    servers = by_name(seen)
    found: list[Step] = [
        ("deliver", source, to) for (source, to), sent in sorted(seen.links.items())
        if sent and source in names and to in names
    ]
    found += [("flush", name) for name in names if servers[name].waiting]
    return found + [
        ("event", name, "await_condition_timeout") for name in names if servers[name].role == "await_condition"
    ]


def prompted(seen: Observed, changes: bool) -> list[Step]:
    """What clients and timers can do; also a kill -9 of a server whose disk lags."""
    servers = by_name(seen)
    found: list[Step] = [
        ("event", name, "election_timeout") for name in NAMES if servers[name].role not in ("leader", "crashed")
    ]
    if changes:
        leaders = [name for name in NAMES if servers[name].role == "leader"]
        found += [step for name in leaders for step in (("join", name, "n4"), ("command", name, 1))]
        found += [("restart", name) for name in NAMES if servers[name].waiting]
    return found


def begun(steps: list[Step]) -> Observed:
    """The servers after the steps; those that cannot be taken are left out."""
    ask = bridge().ask
    seen = ask(("start", NAMES))
    for step in steps:
        if step in pending(seen, NAMES) or step in prompted(seen, changes=True):
            seen = ask(("take", step))
    return seen


def drawn(chance: random.Random, most: int, changes: bool) -> list[Step]:
    """A schedule of all three servers."""
    ask = bridge().ask
    seen = ask(("start", NAMES))
    steps: list[Step] = []
    for _ in range(chance.randrange(1, most)):
        offered = pending(seen, NAMES)
        step = chance.choice(offered if offered and chance.random() < 0.8 else prompted(seen, changes) or offered)
        steps.append(step)
        seen = ask(("take", step))
    return steps


def elects(steps: list[Step], stopped: str) -> bool:
    """Whether the other two have a leader some time after the steps."""
    ask = bridge().ask
    seen = begun(steps)
    names = [name for name in NAMES if name != stopped]
    for turn in range(ROUNDS):
        while offered := pending(seen, names):
            seen = ask(("take", offered[0]))
        if any(by_name(seen)[name].role == "leader" for name in names):
            return True
        seen = ask(("take", ("event", names[turn % 2], "election_timeout")))
    return False


def crashes(steps: list[Step]) -> bool:
    return any(server.role == "crashed" for server in begun(steps).servers)


def shortened(steps: list[Step], counts: Callable[[list[Step]], bool]) -> list[Step]:
    """The schedule without steps that are not needed."""
    again = True
    while again:
        again = False
        for at in reversed(range(len(steps))):
            fewer = steps[:at] + steps[at + 1 :]
            if counts(fewer):
                steps, again = fewer, True
    return steps


def no_leader(chance: random.Random) -> tuple[list[Step], str] | None:
    """A schedule, and who stops after it."""
    steps, stopped = drawn(chance, 25, changes=False), chance.choice(NAMES)
    if elects(steps, stopped):
        return None
    return shortened(steps, lambda fewer: not elects(fewer, stopped)), stopped


def crash(chance: random.Random) -> tuple[list[Step], str] | None:
    """A schedule, and the reason of the crash."""
    steps = drawn(chance, 80, changes=True)
    if not crashes(steps):
        return None
    steps = shortened(steps, crashes)
    return steps, next(server.reason for server in begun(steps).servers if server.reason is not None)


SEARCHES = {"no-leader": no_leader, "crash": crash}


def found(what: str, seed: int, most: int) -> tuple[int, list[Step], str] | None:
    """How many schedules it took, the one that was found, and what else is to be said of it."""
    chance = random.Random(seed)
    for number in range(1, most + 1):
        schedule = SEARCHES[what](chance)
        if schedule is not None:
            return number, *schedule
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(SEARCHES))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--most", type=int, default=5_000, help="gives up after so many schedules")
    given = parser.parse_args()
    runs = [run for seed in range(given.seeds) if (run := found(given.what, seed, given.most)) is not None]
    print(f"{library()}: found with {len(runs)} of {given.seeds} seeds")
    if not runs:
        return 1
    print(f"schedules until then: {statistics.median(number for number, _, _ in runs):,.0f} (the median)")
    for ending in sorted({ending for _, _, ending in runs} if given.what == "crash" else {""}):
        same = [run for run in runs if ending in ("", run[2])]
        _, steps, other = min(same, key=lambda run: len(run[1]))
        print(f"the shortest of {len(same)} has {len(steps)} steps, then " + (
            f"a server ends with {other}" if given.what == "crash" else f"{other} stops"
        ))
        for number, step in enumerate(steps, 1):
            print(f"  {number:2}  {' '.join(map(str, step))}")
        for name, server in by_name(begun(steps)).items():
            log = ", ".join(f"{term}:{write or 'noop'}" for term, write in server.entries)
            print(f"  {name}  {server.role} of term {server.term}, log [{log}]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
