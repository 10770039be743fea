"""Looks for a run of a release that breaks a property, and repeats it on real nodes:

    python examples/pysyncobj/hunt.py --after majority_has_what_is_acknowledged \\
        --property leader_has_what_is_acknowledged

The run is found and shortened in the model of the release, and then taken by the library's own nodes in lockstep with
the model: it counts if nothing observed of them differs from the model after any step.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from adapter import ClusterAdapter  # noqa: E402
from library import library  # noqa: E402

from floodmark import Model  # noqa: E402
from floodmark.conformance import drive, hunt, model_of, side_by_side, trace_of, walk  # noqa: E402
from floodmark.replay import Step  # noqa: E402

SIZE = {"max_log": 5, "max_writes": 2, "max_term": 2, "max_restarts": 1, "max_breaks": 2, "in_flight": 4}
"""The bounds of every hunt. None of them is tuned to a property."""


def model_of_release(release: tuple[int, ...], **size: int) -> Model:
    """The model of a release: that of the latest release, up to it, that changed what is modelled."""
    variant = None if release >= (0, 3, 16) else "Release0315" if release >= (0, 3, 12) else "Release0311"
    return type(model_of(HERE / "releases.toml", variant))(**{**SIZE, **size})


def first_difference(folder: str | None, against: str, choice: Any, seed: int, most: int) -> int:
    """Compares nodes with the model of a release, or with the one without its bugs."""
    if against == "repaired":
        model = type(model_of(HERE / "raft.toml"))(**SIZE)
    else:
        model = model_of_release(tuple(int(part) for part in against.split(".")))
    found = walk(model, type("Release", (ClusterAdapter,), {"folder": folder}), choice, seed, most)
    if found is None or found.mismatch is None:
        print(f"no difference in {most:,} steps")
        return 1
    print(f"found after {found.taken:,} steps; shortened:")
    for number, step in enumerate(found.steps, 1):
        print(f"  {number:2}  {step}")
    print(*side_by_side(found.mismatch), sep="\n")
    return 0


def shown(entry: dict[str, int]) -> str:
    """An entry of a journal: its term and its content."""
    what = f"write {entry['write']}" if entry["write"] else "no-op"
    return f"{entry['term']}:{what}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--property")
    asked.add_argument("--against", metavar="RELEASE", help="compares the nodes with the model of another "
                       "release, or with the repaired one, and shows the first difference")
    parser.add_argument("--after", metavar="PROPERTY", help="looks for this first: walks begin where it is broken, "
                        "with room for one more of everything")
    parser.add_argument("--choice", choices=["uniform", "guided"], default="guided")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=1_000_000, help="gives up after this many steps")
    parser.add_argument("--folder", help="the folder of another release, from pip install --target")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="changes a bound of the model")
    parser.add_argument("--write", type=Path, metavar="FILE", help="writes the run as a trace for floodmark conform")
    given = parser.parse_args()
    used = library(given.folder)
    size = {name: int(value) for name, _, value in (each.partition("=") for each in given.set)}
    if given.against is not None:
        return first_difference(given.folder, given.against, given.choice, given.seed, given.most)
    steps: tuple[Step, ...] = ()
    for leg, name in enumerate([given.after, given.property] if given.after else [given.property]):
        model = model_of_release(used.release, **{each: count + leg for each, count in {**SIZE, **size}.items()})
        found = hunt(model, name, given.choice, given.seed, given.most, after=steps)
        if found is None:
            print(f"PySyncObj {used.version}: {name} was not broken in {given.most:,} steps")
            return 1
        steps = found.steps
        print(f"PySyncObj {used.version}: {name} is broken by a run that {given.choice} choice found after "
              f"{found.taken:,} steps, {found.length} steps long and {len(steps)} when shortened")
    for number, step in enumerate(steps, 1):
        print(f"  {number:2}  {step}")
    if given.write is not None:
        lines = map(json.dumps, trace_of(steps))
        given.write.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(*found.why, sep="\n")
    adapter = type("Release", (ClusterAdapter,), {"folder": given.folder})
    nodes = drive(model, adapter, steps)
    assert isinstance(nodes, ClusterAdapter)
    try:
        print(f"\nthe nodes of PySyncObj {used.version} took these steps and were where the model is after each:")
        for name, log in nodes.logs().items():
            entries = ", ".join(shown(it) for it in log)
            print(f"  {name}  {nodes.role()[name].lower()} of term {nodes.term()[name]}, journal {entries}, "
                  f"committed to {nodes.commit()[name]}, has applied {nodes.cluster.nodes[name].taken}")
        for name, write, reason in nodes.cluster.answers:
            print(f"  {name} told the client of write {write}: {'success' if reason == 0 else f'failure {reason}'}")
    finally:
        nodes.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
