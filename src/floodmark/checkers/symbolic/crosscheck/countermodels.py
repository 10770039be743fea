"""Countermodels of obligations about any number of identifiers: real ones, of a given size, that CPython confirms.

z3's model of the relaxed query is not decoded: its sets may be infinite, and their sizes obey laws only. Instead, an
obligation that was not proved is solved for one, two and three identifiers of each kind, where the translation is exact
and without quantifiers; CPython runs the models found there. If there is none, the obligation stays undetermined.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.crosscheck.enumeration import ReachabilityOracle
from floodmark.checkers.symbolic.methods.induction import (
    InductionProof,
    Obligation,
    failing_obligations,
    with_reachability,
)
from floodmark.checkers.symbolic.tactics.budget import MAX_EFFORT, Deadline
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.language.errors import ModelError
from floodmark.language.model import Model

SIZES = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Countermodel:
    """An obligation that fails, and the system, of one size, in which it does."""

    obligation: Obligation
    system: System


def at_sizes(
    model: Model, counting: Collection[str], sizes: Sequence[int | Sequence[int]]
) -> Iterator[tuple[dict[str, int], Model]]:
    """The model with so many identifiers of each kind, and the constants that define it, if there is such a model. A
    size is one number for all kinds, or one for each.

    Constants that are 0, such as the number of observers, stay so.
    """
    for size in sizes:
        each = [size] * len(counting) if isinstance(size, int) else size
        constants = {
            name: number if model.constant_values[name] else 0 for name, number in zip(counting, each, strict=True)
        }
        try:
            yield constants, type(model)(**{**model.constant_values, **constants})
        except ModelError:  # too few for the identifiers that it mentions
            continue


def countermodels(
    model: Model,
    properties: Sequence[Property],
    counting: Collection[str],
    wanted: Collection[tuple[str, str]],
    seconds: float | None = None,
) -> list[Countermodel]:
    """A countermodel of the smallest size for as many of some obligations (action, property) as have one."""
    deadline = Deadline(seconds)
    left = set(wanted)
    found: list[Countermodel] = []
    for constants, sized in at_sizes(model, counting, SIZES):
        if not left:
            break
        try:
            system = system_of(sized, properties)
            failing = failing_obligations(system, properties, left, deadline.left, MAX_EFFORT)
        except ModelError:  # no initial state at this size, or too much for z3
            continue
        marked = with_reachability(InductionProof(failing), ReachabilityOracle(sized).asks)
        for obligation in marked.obligations:
            left.discard((obligation.action, obligation.property))
            shown = obligation.counterexample
            if shown is not None:
                obligation = replace(obligation, counterexample=replace(shown, constants=constants))
            found.append(Countermodel(obligation, system))
    return found
