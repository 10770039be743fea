"""Finds a known-bad design of the controller out, and shows it on a real ZooKeeper:

    python examples/zookeeper/hunt.py DropsCancelEarly

A run that breaks a property is found in the model of the design. A controller process with the same
mistake takes its steps on a real server and is where that model is; the znodes at the end are shown, and where the
controller first differs from the model without the mistake. A design without a model is found out by the last alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from reassignment_adapter import ReassignmentAdapter  # noqa: E402
from server import Server, version  # noqa: E402

import floodmark  # noqa: E402
from floodmark import Model  # noqa: E402
from floodmark.conformance import (  # noqa: E402
    Mismatch,
    drive,
    first_difference,
    hunt,
    model_of,
    side_by_side,
    tour,
)
from floodmark.replay import Step  # noqa: E402

SPECS = [
    HERE / "reassignment.toml",
    *(HERE.parent.parent / "specs" / "reassignment" / name for name in ("kip236.toml", "kip236_batch.toml")),
]


@dataclass(frozen=True)
class Design:
    """A design: its model and the property that it breaks, if it has a model, and the model without the mistake."""

    name: str
    model: Model | None
    broken: str
    good: Model


def design(name: str) -> Design:
    """A design of flawed_controllers.py, in the spec that has it."""
    for file in SPECS:
        for flawed in tomllib.loads(file.read_text(encoding="utf-8")).get("flawed", ()):
            if flawed["class"].endswith(f":{name}"):
                model = model_of(file, name)
                good = type(model_of(file))(**model.constant_values)
                return Design(name, model, flawed["property"], good)
    return Design(name, None, "", model_of(SPECS[0]))


def shortest(of: Design) -> tuple[Step, ...]:
    """A shortest run that breaks the property, from a search of all states."""
    assert of.model is not None
    run = floodmark.check(of.model, properties=[of.broken], workers=1).counterexample
    assert run is not None
    return run.steps


def show(steps: Sequence[Step]) -> None:
    for count, step in enumerate(steps, 1):
        print(f"  {count:2}  {step}")


def show_difference(mismatch: Mismatch) -> None:
    print(f"first difference from the model without the mistake, after {mismatch.steps[-1]}:")
    print(*side_by_side(mismatch), sep="\n")


def found_with_model(of: Design, adapter: type[ReassignmentAdapter], given: argparse.Namespace) -> int:
    assert of.model is not None
    if given.choice == "all":
        steps = shortest(of)
        print(f"{of.name} breaks {of.broken}: this is a shortest run")
    else:
        found = hunt(of.model, of.broken, given.choice, given.seed, given.most)
        if found is None:
            print(f"{of.name}: nothing was found in {given.most:,} steps")
            return 1
        steps = found.steps
        print(f"{of.name} breaks {of.broken}: found after {found.taken:,} steps of {given.choice} choice, shortened "
              f"from {found.length} steps to {len(steps)}")
    show(steps)
    controller = drive(of.model, adapter, steps)
    assert isinstance(controller, adapter)
    print(f"a controller on ZooKeeper {version()} took these steps, and was where the model is after each:")
    for path, value in controller.znodes().items():
        print(f"  {path}  {json.dumps(value)}")
    controller.close()
    mismatch = first_difference(of.good, adapter, steps)
    if mismatch is not None:
        show_difference(mismatch)
    return 0


def found_without(of: Design, adapter: type[ReassignmentAdapter], given: argparse.Namespace) -> int:
    found = tour(of.good, adapter, given.seed, given.most)
    if found is None or found.mismatch is None:
        print(f"{of.name}: nothing was found in {given.most:,} steps")
        return 1
    print(f"{of.name}: found after {found.taken:,} steps of a tour, and shortened to {len(found.steps)} steps")
    show(found.steps)
    show_difference(found.mismatch)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("design", help="a design of flawed_controllers.py")
    parser.add_argument("--choice", choices=["all", "uniform", "guided"], default="all",
                        help="searches all states of the model (default), or walks through it by chance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=1_000_000, help="gives up after this many steps")
    given = parser.parse_args()
    of = design(given.design)
    with Server() as server:
        adapter = type("Adapter", (ReassignmentAdapter,), {"address": server.address, "design": of.name})
        try:
            return (found_without if of.model is None else found_with_model)(of, adapter, given)
        finally:
            adapter.end()


if __name__ == "__main__":
    sys.exit(main())
