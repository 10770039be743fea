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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from reassignment_adapter import ReassignmentAdapter  # noqa: E402
from server import Server, version  # noqa: E402

from floodmark.checkers.conformance.adapter import Contract  # noqa: E402
from floodmark.checkers.conformance.lockstep import Lockstep, Mismatch, replayed, shortened  # noqa: E402
from floodmark.checkers.conformance.shrinking import breaking, shrunk  # noqa: E402
from floodmark.checkers.conformance.tours import Tour  # noqa: E402
from floodmark.checkers.conformance.walks import Choice, Found, Walks  # noqa: E402
from floodmark.checkers.exploration import Options  # noqa: E402
from floodmark.checkers.native.search import explore  # noqa: E402
from floodmark.checkers.properties import Property  # noqa: E402
from floodmark.checkers.report.value import plain, show_step  # noqa: E402
from floodmark.checkers.spec import read  # noqa: E402
from floodmark.conformance import side_by_side  # noqa: E402
from floodmark.language import reference  # noqa: E402
from floodmark.language.model import Model  # noqa: E402
from floodmark.language.reference import Step  # noqa: E402

SPECS = [
    HERE / "reassignment.toml",
    *(HERE.parent.parent / "specs" / "reassignment" / name for name in ("kip236.toml", "kip236_batch.toml")),
]


@dataclass(frozen=True)
class Design:
    """A design: its model and the property that it breaks, if it has a model, and the model without the mistake."""

    name: str
    model: Model | None
    prop: Property | None
    good: Model


def design(name: str) -> Design:
    """A design of flawed_controllers.py, in the spec that has it."""
    for file in SPECS:
        spec = read(file)
        for flawed in spec.flawed:
            if flawed.name == name:
                constants = {**spec.constants, **flawed.constants}
                model = spec.flawed_class(flawed)(**constants)
                props = spec.properties(type(model))
                return Design(name, model, props[flawed.property], spec.model_class()(**constants))
    spec = read(SPECS[0])
    return Design(name, None, None, spec.model_class()(**spec.constants))


def in_the_model(of: Design, choice: Choice, seed: int, most: int) -> Found | None:
    """A run of the design's model that breaks its property."""
    assert of.model is not None and of.prop is not None
    return Walks(of.model, [of.prop], choice, seed).search(most)


def shortest(of: Design) -> tuple[Step, ...]:
    """A shortest run that breaks the property, from a search of all states."""
    assert of.model is not None and of.prop is not None
    found = explore(of.model, [of.prop], Options(workers=1))
    return tuple(state.step for state in found.violations[0].trace)


def trace(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The steps in JSON form."""
    return [
        {"action": step.action, "arguments": {name: plain(value) for name, value in step.arguments.items()}}
        for step in steps
    ]


def show(steps: Sequence[Step]) -> None:
    for count, step in enumerate(steps, 1):
        print(f"  {count:2}  {show_step(step)}")


def first_difference(contract: Contract, steps: Sequence[Step]) -> Mismatch | None:
    """Takes the steps with an implementation, and in the model as long as it can take them; else the model stays."""
    state = next(state for step, state in reference.initial_states(contract.model) if step == steps[0])
    run = Lockstep(contract, steps[0], state)
    try:
        run.begin()
        for step in steps[1:]:
            after = reference.fire(contract.model, run.state, step)
            run.take(step, run.state if after is None else after)
    except Mismatch as found:
        return found
    finally:
        run.implementation.close()
    return None


def show_difference(mismatch: Mismatch) -> None:
    print(f"first difference from the model without the mistake, after {show_step(mismatch.steps[-1])}:")
    print(*side_by_side(mismatch), sep="\n")


def found_with_model(of: Design, adapter: type[ReassignmentAdapter], given: argparse.Namespace) -> int:
    assert of.model is not None and of.prop is not None
    if given.choice == "all":
        steps = shortest(of)
        print(f"{of.name} breaks {of.prop.name}: this is a shortest run")
    else:
        found = in_the_model(of, given.choice, given.seed, given.most)
        if found is None:
            print(f"{of.name}: nothing was found in {given.most:,} steps")
            return 1
        steps = shrunk(found.steps, breaking(of.model, of.prop))
        print(f"{of.name} breaks {of.prop.name}: found after {found.taken:,} steps of {given.choice} choice, shortened "
              f"from {len(found.steps)} steps to {len(steps)}")
    show(steps)
    run = replayed(Contract(of.model, adapter), trace(steps))
    assert run is not None and isinstance(run.implementation, adapter)
    print(f"a controller on ZooKeeper {version()} took these steps, and was where the model is after each:")
    for path, value in run.implementation.znodes().items():
        print(f"  {path}  {json.dumps(value)}")
    run.implementation.close()
    mismatch = first_difference(Contract(of.good, adapter), steps)
    if mismatch is not None:
        show_difference(mismatch)
    return 0


def found_without(of: Design, adapter: type[ReassignmentAdapter], given: argparse.Namespace) -> int:
    contract = Contract(of.good, adapter)
    tour = Tour(contract, given.seed)
    found = tour.search(given.most)
    if found is None or found.mismatch is None:
        print(f"{of.name}: nothing was found in {tour.steps:,} steps")
        return 1
    mismatch = shortened(contract, found.mismatch)
    print(f"{of.name}: found after {found.taken:,} steps of a tour, shortened from {len(found.steps)} steps to "
          f"{len(mismatch.steps)}")
    show(mismatch.steps)
    show_difference(mismatch)
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
