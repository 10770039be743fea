"""Looks for a run of a release that loses an acknowledged write, and lets a real server of the release take it:

    python examples/jetstream/hunt.py --release 2.12.1

Walks find the run among five members in the model of the release and shorten it; it counts if the real server, which is
one of them, takes it in lockstep with the model. A hunt has legs: each begins where the run of the one before it ends.
``--run`` takes a run from a file instead.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

import lost  # noqa: E402
from adapter import JetStreamAdapter  # noqa: E402
from driven import Driven  # noqa: E402
from library import NoServer, Program, release  # noqa: E402
from schedules import ATTEMPTS, driven, in_time, short  # noqa: E402

import floodmark  # noqa: E402
from floodmark.conformance import drive, first_difference, hunt, side_by_side, steps_of, trace_of  # noqa: E402
from floodmark.replay import Step  # noqa: E402

ANY = {
    "servers": 5, "max_term": 9, "in_flight": 12, "max_losses": 6, "max_restarts": 0, "max_timeouts": 8,
    "max_heartbeats": 0, "max_transfers": 0,
}
SIZES = {"2.12.1": {**ANY, "max_log": 5, "max_writes": 4}, "2.12.5": {**ANY, "max_log": 6, "max_writes": 5}}
SEEDS = {"2.12.1": 1, "2.12.5": 2}
LENGTHS = {"2.12.1": 60, "2.12.5": 70}
"""Steps of a walk of the first leg."""
WALKS, MOST = 400_000, 400_000
"""Walks of the first leg, and steps of each other one."""
REPAIRED_IN = "2.15.1"
LEGS = (
    "no_answer_outlives_two_entries", "no_leader_serves_before_what_is_gone", "majority_has_what_is_acknowledged",
    "leader_has_what_is_acknowledged", "real_server_keeps_what_it_acknowledged",
)


@dataclass(frozen=True)
class Leg:
    """What it took to find a run, so many steps long, at whose end a property is false."""

    broken: str
    found: str
    steps: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.broken}: {self.found}, {self.steps} steps, {self.seconds:.0f} s"


def searched(version: str, seed: int, walks: int, most: int) -> tuple[tuple[Step, ...], list[Leg]] | None:
    """The run, and what each leg took; None if a leg ends without one."""
    design = lost.RELEASES[version]
    size = SIZES[version]
    model = design(**size)
    begun = time.monotonic()
    result = floodmark.simulate(
        design, walks=walks, steps=LENGTHS[version], seed=seed, strategy="priorities", properties=[LEGS[0]],
        constants=size,
    )
    if result.counterexample is None:
        return None
    steps = tuple(steps_of(model, trace_of(result.counterexample.steps)))
    note = next(line for line in str(result).splitlines() if "found by walk" in line)
    legs = [Leg(LEGS[0], note.partition("note: ")[2], len(steps), time.monotonic() - begun)]
    for leg in LEGS[1:]:
        begun = time.monotonic()
        found = hunt(model, leg, "guided", seed, most, after=steps)
        if found is None:
            return None
        steps = found.steps
        legs.append(Leg(leg, f"{found.taken:,} steps of guided walks", len(steps), time.monotonic() - begun))
    return steps, legs


def shown(server: JetStreamAdapter) -> str:
    entries = ", ".join(f"{entry['term']}:{named(entry)}" for entry in server.log())
    return (f"  n1  {server.role().lower()} of term {server.term()}, log [{entries}] after the snapshot, "
            f"commit index {server.commit()}")


def named(entry: dict[str, Any]) -> str:
    return f"write {entry['write']}" if entry["write"] else "first" if entry["successor"] is None else "transfer"


def taken_by(design: type[Driven], size: dict[str, int], program: Program, steps: tuple[Step, ...]) -> JetStreamAdapter:
    """The real server after the steps; those that are not possible in the design are left out."""
    model = design(**size)
    server = in_time(lambda: drive(model, driven(program), steps), ATTEMPTS)
    assert isinstance(server, JetStreamAdapter)
    return server


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", choices=list(lost.REPAIRED), default="2.12.1")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--walks", type=int, default=WALKS, help="of the first leg")
    parser.add_argument("--most", type=int, default=MOST, help="steps of each other leg")
    parser.add_argument("--run", type=Path, metavar="FILE", help="takes the run in this file")
    parser.add_argument("--write", type=Path, metavar="FILE", help="writes the run as a trace")
    given = parser.parse_args()
    version, size = given.release, SIZES[given.release]
    if given.run is not None:
        trace = [json.loads(line) for line in given.run.read_text(encoding="utf-8").splitlines()]
        steps = tuple(steps_of(lost.RELEASES[version](**size), trace))
    else:
        found = searched(version, given.seed or SEEDS[version], given.walks, given.most)
        if found is None:
            print("not found")
            return 1
        steps, legs = found
        print(*legs, sep="\n")
    if given.write is not None:
        given.write.write_text("".join(json.dumps(each) + "\n" for each in trace_of(steps)), encoding="utf-8")
    for number, step in enumerate(steps, 1):
        print(f"  {number:2}  {short(step)}")
    program = release(version)
    tell(f"{program} took these steps, in lockstep with the model",
         taken_by(lost.RELEASES[version], size, program, steps))
    parts = in_time(lambda: first_difference(lost.REPAIRED[version](**size), driven(program), steps), ATTEMPTS)
    if parts is not None:
        print(f"it parts from the model without #7955 after step {len(parts.steps)}, {short(parts.steps[-1])}:")
        print(*side_by_side(parts), sep="\n")
    try:
        later = release(REPAIRED_IN)
    except NoServer as missing:
        print(missing)
        return 0
    tell(f"{later} took those that are possible in its release, in lockstep with its model",
         taken_by(lost.RELEASES[REPAIRED_IN], size, later, steps))
    return 0


def tell(what: str, server: JetStreamAdapter) -> None:
    server.close()
    print(f"{what}:", shown(server), sep="\n")
    for write, answer in sorted(server.told.items()):
        print(f"  its client was told of write {write}: {answer}")


if __name__ == "__main__":
    sys.exit(main())
