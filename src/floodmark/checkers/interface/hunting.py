"""Searches running code for faults: an implementation takes runs of a model that break a property."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.conformance.adapter import Adapter, Contract
from floodmark.checkers.conformance.lockstep import Lockstep, Mismatch, is_given
from floodmark.checkers.conformance.shrinking import breaking, enabled_steps, shrunk
from floodmark.checkers.conformance.tours import longest
from floodmark.checkers.conformance.walks import WalkChoice, WalkFailure, Walks
from floodmark.checkers.explanation.false_property import explain
from floodmark.checkers.interface.subject import class_spec
from floodmark.checkers.project.properties import choose
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.simulation import deep_runs as simulated
from floodmark.checkers.simulation.walker import WalkPlan, WalkStrategy
from floodmark.checkers.value_text import plain
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step


@dataclass(frozen=True, slots=True)
class MinimalCounterexample:
    """A run of a model that breaks the property ``broken``, from which no step can be left out.

    It was ``length`` steps long when walks came upon it, after ``taken`` steps in all. ``why`` says, line by line, why
    the property is false at its end.
    """

    steps: tuple[Step, ...]
    broken: str
    length: int
    taken: int
    why: tuple[str, ...]


def covering_runs(model: Model, seed: int = 1, explored: int = 20_000) -> list[tuple[Step, ...]]:
    """Runs that cover a model as far as guided walks of so many steps do: for each piece of coverage the shortest that
    was found, without those with which another one begins. The same seed finds the same runs."""
    walks = Walks(model, [], "guided", seed)
    walks.search(explored)
    found = []
    for end in longest(walks.kept_ends()):
        path = end.path()
        steps = [path[0].start]
        for before, node in pairwise(path):
            assert node.proposal is not None
            steps.append(walks.proposals.step(before.state, node.proposal)[0])
        found.append(tuple(steps))
    return found


def deep_runs(
    model: Model, walks: int = 1000, steps: int = 100, seed: int = 0, most: int = 20
) -> list[tuple[Step, ...]]:
    """Runs to states that few of so many random walks visit, the rarest first: places to begin a test. The same seed
    finds the same runs."""
    walking = WalkPlan(walks, steps, seed, WalkStrategy.ACTIONS)
    runs = at_widths(model, lambda sized: simulated.deep_runs(sized, walking, most))
    return [tuple(at.step for at in run) for run in runs]


def hunt(
    model: Model, broken: str, choice: WalkChoice = "guided", seed: int = 1, most: int = 1_000_000,
    after: Sequence[Step] = (),
) -> MinimalCounterexample | None:
    """Walks through a model, for up to ``most`` steps, until a run breaks the property of this name; then shortens it.

    With ``after`` every walk begins where that run ends. None means that nothing was found, not that nothing is there.
    The same seed finds the same run. Raises SourceError for an unknown property, or if ``after`` is no run.
    """
    spec = class_spec(model, None, {}, ())
    [prop] = choose(spec.properties(type(model)), [broken], str(spec.path), None)

    def search(model: Model) -> WalkFailure | None:
        walks = Walks(model, [prop], choice, seed)
        if after:
            walks.begin_after([after])
        return walks.search(most)

    found = at_widths(model, search)
    if found is None:
        return None
    steps = shrunk(found.steps, breaking(model, prop))
    trace = [TraceState(step, state) for step, state in enabled_steps(model, steps)]
    return MinimalCounterexample(steps, broken, len(found.steps), found.taken, tuple(explain(model, prop, trace)))


def drive(model: Model, adapter: type[Adapter], steps: Sequence[Step]) -> Adapter:
    """Drives an implementation through the steps of a run, in lockstep with the model, and returns it; the caller
    closes it.

    Steps that are not enabled in the model are left out. Raises Mismatch where the two differ.
    """
    states = enabled_steps(model, steps)
    run = Lockstep(Contract(model, adapter), *states[0])
    try:
        run.begin()
        for step, state in states[1:]:
            if step.action not in run.contract.eager:
                run.take(step, state)
    except BaseException:
        run.implementation.close()
        raise
    return run.implementation


def first_difference(model: Model, adapter: type[Adapter], steps: Sequence[Step]) -> Mismatch | None:
    """The first difference between an implementation that takes the steps and a model that takes those that it can;
    None if there is none. It shows how a faulty implementation differs from a model without the fault."""
    state = next(state for step, state in reference.initial_states(model) if step == steps[0])
    run = Lockstep(Contract(model, adapter), steps[0], state)
    try:
        run.begin()
        for step in steps[1:]:
            after = reference.fire(model, run.state, step)
            run.take(step, run.state if after is None else after)
    except Mismatch as found:
        return found
    finally:
        run.implementation.close()
    return None


def trace_of(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """The steps in the form of a trace file, as ``replay`` and ``floodmark conform --trace`` read them."""
    return [
        {"action": step.action, "arguments": {name: plain(value) for name, value in step.arguments.items()}}
        for step in steps
    ]


def steps_of(model: Model, trace: Iterable[Mapping[str, Any]]) -> list[Step]:
    """The steps that the entries of a trace mean. Raises SourceError for an entry that the model cannot take."""
    steps: list[Step] = []
    state: State = ()
    for number, entry in enumerate(trace, 1):
        name, arguments = entry["action"], entry.get("arguments", {})
        if not steps:
            offered = [(step, after) for step, after in reference.initial_states(model) if step.action == name]
        else:
            drawn = reference.choices(model, state, name) if name in type(model).methods("action") else []
            fired = [(step, reference.fire(model, state, step)) for step in drawn]
            offered = [(step, after) for step, after in fired if after is not None]
        meant = next((it for it in offered if is_given(model, it[0], arguments)), None)
        if meant is None:
            raise SourceError(f"step {number}: {name}({dict(arguments)}) is not enabled")
        steps.append(meant[0])
        state = meant[1]
    return steps
