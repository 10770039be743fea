"""The sizes at which suggestions are tested, and reachable states of these sizes."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from floodmark.checkers.search_result import Options
from floodmark.checkers.symbolic.crosscheck.enumeration import ENUMERATION_LIMITS
from floodmark.checkers.symbolic.suggestions.batches import Batch, batch_of, batch_of_packed
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import initial_states, successors

SMALL_SIZE = 2
"""The number of identifiers of each kind at the smallest size."""
SAMPLED = 40_000
"""The maximum number of reachable states of one size that serve as examples."""
RUNS, STEPS = 100, 60
"""The number of random runs of a model that is too large to be explored, and their length."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Models of one class: those whose steps z3 is queried about, the smallest first; those whose reachable states are
    examples; and one that is only sampled by walks."""

    queried: Sequence[Model]
    explored: Sequence[Model]
    walked: Sequence[Model]


def sizes_of(model: Model, unbounded: Collection[str], counting: Collection[str]) -> Sizes:
    """A few identifiers and those of the spec, for queries; for examples, also larger bounds of integers, and larger
    values of all constants. A constant that is 0 disables a feature, and stays 0."""
    given = {name: int(model.constant_values[name]) for name in unbounded}
    few = {name: min(SMALL_SIZE, given[name]) for name in counting}
    larger = {name: value + 1 for name, value in given.items() if value}
    largest = {name: value + 2 for name, value in given.items() if value}
    smaller = list(_with_constants(model, {**larger, **few}))
    return Sizes(
        [*smaller, model],
        [*smaller, model, *_with_constants(model, {**largest, **few})],
        list(_with_constants(model, larger)),
    )


def _with_constants(model: Model, constants: Mapping[str, int]) -> Iterator[Model]:
    """The model with other constants, if there is one and they differ."""
    if any(model.constant_values[name] != value for name, value in constants.items()):
        try:
            yield type(model)(**{**model.constant_values, **constants})
        except ModelError:  # too few for the identifiers that it mentions
            return


def reachable_states(sizes: Sizes) -> Iterator[Batch]:
    """Reachable states, initial ones among them, the same ones each time."""
    for model in sizes.explored:
        yield batch_of(model, [state for _, state in initial_states(model)])
        yield _explored(model) or _walked(model)
    for model in sizes.walked:
        yield _walked(model)


def _explored(model: Model) -> Batch | None:
    """A sample of all reachable states; None if there are too many."""
    from floodmark.checkers.native.search import reachable_set

    try:
        rows, packed = reachable_set(model, Options(workers=1, limits=ENUMERATION_LIMITS))
    except (RuntimeError, SourceError):
        return None
    rows = rows[np.lexsort(rows.T)]
    chosen = random.Random(0).sample(range(len(rows)), min(SAMPLED, len(rows)))
    return batch_of_packed(model, packed, rows[sorted(chosen)])


def _walked(model: Model) -> Batch:
    """The states of some runs; each enabled action is equally likely."""
    chance = random.Random(0)
    starts = [state for _, state in initial_states(model)]
    found = []
    for _ in range(RUNS if starts else 0):
        state = chance.choice(starts)
        for _ in range(STEPS):
            after = _any_successor(model, state, chance)
            if after is None:
                break
            state = after
            found.append(state)
    return batch_of(model, found)


def _any_successor(model: Model, state: State, chance: random.Random) -> State | None:
    by_action: dict[str, list[State]] = {}
    try:
        for step, after in successors(model, state):
            by_action.setdefault(step.action, []).append(after)
    except SourceError:  # the model leaves its types here, which an induction will say
        return None
    return chance.choice(by_action[chance.choice(list(by_action))]) if by_action else None
