"""Looks for a run of Ra that shows a bug, and lets Ra's own servers take it:

    python examples/ra/hunt.py 508

Walks find the run in the model of the release and shorten it; it counts if the servers take it in lockstep with the
model. A hunt has legs: each begins where the run of the one before it ends. The first begins at the start.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from adapter import RaAdapter  # noqa: E402
from cluster import Seen  # noqa: E402
from hunted import Hunted, Without508, Without516, Without608, Without637, WithoutLostWrite  # noqa: E402
from library import library  # noqa: E402

import floodmark  # noqa: E402
from floodmark.conformance import drive, first_difference, hunt, side_by_side, steps_of, trace_of  # noqa: E402
from floodmark.replay import Step  # noqa: E402
from invariants.ra import server as invariants  # noqa: E402
from model.ra.server import Ra  # noqa: E402

FIRST = {"max_term": 2, "max_log": 3, "max_writes": 1, "in_flight": 6, "unwritten": 3, "max_losses": 0,
         "max_restarts": 0, "max_timeouts": 2, "max_ticks": 0, "max_suspensions": 0}
LATER = {**FIRST, "max_log": 5, "max_writes": 4, "max_losses": 3, "max_suspensions": 1}
ANY = {**FIRST, "max_term": 3, "max_log": 4, "max_writes": 2, "in_flight": 4, "max_losses": 3, "max_timeouts": 6}

LOST = {**FIRST, "max_term": 4, "max_log": 5, "max_writes": 3, "in_flight": 8, "unwritten": 4, "max_losses": 4,
        "max_restarts": 1, "max_timeouts": 6}


@dataclass(frozen=True)
class Hunt:
    """What is wrong, the properties that the legs break, and the sizes of the first leg and of the others."""

    what: str
    legs: tuple[str, ...]
    first: dict[str, int]
    later: dict[str, int]
    repaired: type[Ra]


HUNTS = {
    "508": Hunt(
        "a follower applies an entry that no leader has committed",
        ("nobody_contradicts_a_leader", "nobody_contradicts_a_leader_that_waits", "nobody_is_owed_what_is_committed",
         "only_committed_entries_are_applied"),
        FIRST, LATER, Without508,
    ),
    "516": Hunt(
        "a late event about a write confirms what took its place", ("late_events_confirm_nothing",), ANY, ANY,
        Without516,
    ),
    "608": Hunt("a pre-vote replaces a vote", ("vote_is_given_once",), ANY, ANY, Without608),
    "lost-write": Hunt(
        "an acknowledged write is lost", ("leader_has_what_is_acknowledged",), LOST, LOST, WithoutLostWrite
    ),
    "637": Hunt("a leader counts what is not on a follower's disk", ("match_index_is_on_disk",), ANY, ANY, Without637),
}


def searched(one: Hunt, seed: int, walks: int, most: int) -> tuple[tuple[Step, ...], list[str]] | None:
    """The run, shortened, and what each leg took."""
    wanted = getattr(invariants, one.legs[0], one.legs[0])
    result = floodmark.simulate(
        Hunted, walks=walks, steps=100, seed=seed, strategy="priorities", properties=[wanted], constants=one.first
    )
    if result.counterexample is None:
        return None
    model = Hunted(**one.later)
    steps = tuple(steps_of(model, trace_of(result.counterexample.steps)))
    note = next(line for line in str(result).splitlines() if "found by walk" in line)
    told = [f"{one.legs[0]}: {note.partition('note: ')[2]}, {len(steps)} steps when shortened"]
    for leg in one.legs[1:]:
        found = hunt(model, leg, "guided", seed, most, after=steps)
        if found is None:
            return None
        steps = found.steps
        told.append(f"{leg}: after {found.taken:,} steps of guided walks, {len(steps)} steps when shortened")
    return steps, told


def shown(name: str, server: Seen) -> str:
    entries = ", ".join(f"{term}:{f'write {write}' if write else 'noop'}" for term, write in server.entries)
    return (f"  {name}  {server.role} of term {server.term}, log [{entries}], written to {server.written[0]}, "
            f"on disk {len(server.stored)}, commit index {server.commit}, has applied {server.applied} entries, "
            f"writes {server.done}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", choices=list(HUNTS), help="in Ra's tracker, if it is there")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--walks", type=int, default=2_000_000, help="of the first leg")
    parser.add_argument("--most", type=int, default=1_000_000, help="steps of each other leg")
    parser.add_argument("--run", type=Path, metavar="FILE", help="takes the run in this file instead")
    parser.add_argument("--write", type=Path, metavar="FILE", help="writes the run as a trace")
    given = parser.parse_args()
    one = HUNTS[given.number]
    model = Hunted(**one.later)
    if given.run is not None:
        trace = [json.loads(line) for line in given.run.read_text(encoding="utf-8").splitlines()]
        steps = tuple(steps_of(model, trace))
    else:
        found = searched(one, given.seed, given.walks, given.most)
        if found is None:
            print(f"{given.number}: not found")
            return 1
        steps, told = found
        print(*told, sep="\n")
    for number, step in enumerate(steps, 1):
        print(f"  {number:2}  {step}")
    if given.write is not None:
        lines = "".join(json.dumps(each) + "\n" for each in trace_of(steps))
        given.write.write_text(lines, encoding="utf-8")
    servers = drive(model, RaAdapter, steps)
    assert isinstance(servers, RaAdapter)
    print(f"{given.number}, {one.what}: the servers of {library()} took these steps, in lockstep with the model")
    for name, server in zip(servers.names, servers.seen.servers, strict=True):
        print(shown(name, server))
    parts = first_difference(one.repaired(**one.later), RaAdapter, steps)
    if parts is not None:
        print(f"they part from the model without this bug after step {len(parts.steps)}:")
        print(*side_by_side(parts), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
