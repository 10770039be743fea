"""Shrinks a failing run: leaves out steps as long as the rest fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from floodmark.checkers.project.properties import Property
from floodmark.language import reference
from floodmark.language.model import Model, State
from floodmark.language.reference import Step

Fails = Callable[[Sequence[Step]], tuple[Step, ...] | None]
"""Tries some steps, leaving out disabled ones; returns the steps taken up to the failure, or None if there is none. The
first step begins the run."""


def shrunk(steps: Sequence[Step], fails: Fails) -> tuple[Step, ...]:
    """A run from which no single step can be left out. Large pieces are tried first."""
    found = tuple(steps)
    size = len(found) // 2
    while size > 0:
        shorter = _without_piece(found, size, fails)
        if shorter is None:
            size //= 2
        else:
            found = shorter
            size = min(size, len(found) // 2)
    return found


def _without_piece(steps: tuple[Step, ...], size: int, fails: Fails) -> tuple[Step, ...] | None:
    """The run without one piece of so many steps: the last piece that can be left out."""
    for end in range(len(steps), 1, -size):
        taken = fails([*steps[: max(1, end - size)], *steps[end:]])
        if taken is not None and len(taken) < len(steps):
            return taken
    return None


def breaking(model: Model, prop: Property) -> Fails:
    """The test whether a run of the model violates a property."""

    def fails(steps: Sequence[Step]) -> tuple[Step, ...] | None:
        states = enabled_steps(model, steps)
        for index, (_, state) in enumerate(states):
            if prop.kind == "transition":
                good = index == 0 or reference.holds(model, prop.function, states[index - 1][1], state)
            else:
                good = reference.holds(model, prop.function, state)
            if not good:
                return tuple(step for step, _ in states[: index + 1])
        return None

    return fails


def enabled_steps(model: Model, steps: Sequence[Step]) -> list[tuple[Step, State]]:
    """The enabled ones of some steps, taken in turn, each with its successor."""
    state = next(state for step, state in reference.initial_states(model) if step == steps[0])
    found = [(steps[0], state)]
    for step in steps[1:]:
        after = reference.fire(model, state, step)
        if after is not None and reference.within_boundary(model, after):
            state = after
            found.append((step, state))
    return found
